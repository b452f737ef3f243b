//! What a session's parts are once the ingestion limits of a policy have seen them: worked out once, for however many runs.

use super::conditions::{Conditions, Guesses};
use super::needs::costs;
use super::retention::Category;
use crate::context::{Ends, Item, Region, State};
use crate::estimate::{Estimator, Guess};
use crate::policy::{Cut, Hook, Plan, Rule, Switch};
use crate::trace::{MessageRow, PartRow, Trace};
use crate::transcript::{Role, Text};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// All messages of a session as they enter a context.
#[derive(Debug, Default)]
pub(super) struct Intake {
    items: Vec<Item>,
    cuts: Vec<Ingested>,
    /// For each message the places of its items and of its cuts.
    places: Vec<(Range<u32>, Range<u32>)>,
    /// What it is where it is another one but for some messages.
    instead: Option<Instead>,
    /// What is the same under all policies.
    common: Rc<Common>,
}

/// Another intake, and the messages that enter otherwise, in order.
#[derive(Debug)]
struct Instead {
    of: Rc<Intake>,
    messages: Vec<(u32, Rc<Entering>)>,
}

/// A message as the limits let it in.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Entering {
    pub items: Vec<Item>,
    /// Those of the items that were cut.
    pub cuts: Vec<Ingested>,
}

/// What does not depend on a policy: worked out when a run first asks.
#[derive(Debug, Default)]
struct Common {
    /// By the number of calls that the session has.
    needed_tokens: RefCell<BTreeMap<usize, u64>>,
    categories: OnceCell<Vec<Category>>,
}

/// What the messages of a session are to policies: worked out once for all for which they enter alike.
pub(super) struct Intakes<'t, 'p> {
    trace: &'t Trace,
    make: fn(&Trace, &Plan, &Conditions) -> Intake,
    known: Vec<(&'p Plan, Guesses, Rc<Intake>)>,
    common: Rc<Common>,
}

impl<'t, 'p> Intakes<'t, 'p> {
    /// No policy has seen them yet; each sees them in this way.
    pub fn new(trace: &'t Trace, make: fn(&Trace, &Plan, &Conditions) -> Intake) -> Intakes<'t, 'p> {
        Intakes { trace, make, known: Vec::new(), common: Rc::default() }
    }

    /// The messages for this policy.
    pub fn of(&mut self, plan: &'p Plan, conditions: &Conditions) -> Rc<Intake> {
        let guesses = conditions.guesses;
        let known = self.known.iter().find(|(other, of, _)| *of == guesses && enter_alike(other, plan));
        if let Some((.., intake)) = known {
            return Rc::clone(intake);
        }
        let common = Rc::clone(&self.common);
        let intake = Rc::new(Intake { common, ..(self.make)(self.trace, plan, conditions) });
        self.known.push((plan, guesses, Rc::clone(&intake)));
        intake
    }
}

/// Do messages enter under these two policies alike?
fn enter_alike(one: &Plan, other: &Plan) -> bool {
    one.estimator == other.estimator && one.agents == other.agents && limits(one).eq(limits(other))
}

/// The rules that messages enter through, with their places in the plan.
pub(super) fn limits(plan: &Plan) -> impl Iterator<Item = (usize, &Rule)> {
    plan.rule.iter().map(Arc::as_ref).enumerate().filter(|(_, rule)| rule.at == Hook::Ingest)
}

/// An item that the limits have cut.
#[derive(Debug, PartialEq)]
pub(super) struct Ingested {
    /// Its place among the items of its message.
    pub offset: u32,
    /// What the limits left of the item's text.
    pub text: Text,
    /// The last rule that cut it, by its place in the plan.
    pub rule: usize,
    /// Actual tokens of the item as it arrived.
    pub before: u64,
    /// Actual tokens of what is left.
    pub after: u64,
}

impl Intake {
    /// Sees every message of a session once.
    pub fn new(trace: &Trace, plan: &Plan, conditions: &Conditions) -> Intake {
        let gauge = Gauge::new(&plan.estimator, conditions);
        let mut intake = Intake::default();
        intake.items.reserve_exact(trace.parts.len());
        intake.places.reserve_exact(trace.messages.len());
        for row in &trace.messages {
            let (items, cuts) = (intake.items.len() as u32, intake.cuts.len() as u32);
            enter_through(trace, plan, &gauge, row, &mut intake.items, &mut intake.cuts);
            intake.places.push((items..intake.items.len() as u32, cuts..intake.cuts.len() as u32));
        }
        intake
    }

    /// Sees every message once, and holds those that a limit cuts: the others are made when they are asked for. Where a session is long, what many runs
    /// share takes more memory than it saves one of them.
    pub fn of_cut(trace: &Trace, plan: &Plan, conditions: &Conditions) -> Intake {
        let rows = (0..).zip(&trace.messages).filter(|_| limits(plan).next().is_some());
        let entering = rows.map(|(message, row)| (message, Entering::of(trace, plan, conditions, row)));
        let cut = entering.filter(|(_, entering)| !entering.cuts.is_empty()).map(|(message, entering)| (message, Rc::new(entering)));
        Intake::instead(&Rc::default(), cut.collect())
    }

    /// As another one, but for some messages, in order.
    pub fn instead(other: &Rc<Intake>, messages: Vec<(u32, Rc<Entering>)>) -> Intake {
        Intake { common: Rc::clone(&other.common), instead: Some(Instead { of: Rc::clone(other), messages }), ..Intake::default() }
    }

    /// The items of a message; none where it is not held.
    pub fn items(&self, message: u32) -> &[Item] {
        if let Some(Instead { of: other, .. }) = &self.instead {
            return self.own(message).map_or_else(|| other.items(message), |own| &own.items);
        }
        self.places.get(message as usize).map_or(&[], |(items, _)| within(&self.items, items))
    }

    fn own(&self, message: u32) -> Option<&Entering> {
        let own = &self.instead.as_ref()?.messages;
        let place = own.binary_search_by_key(&message, |(own, _)| *own).ok()?;
        own.get(place).map(|(_, entering)| entering.as_ref())
    }

    /// What each part of the session is.
    pub fn categories(&self, trace: &Trace) -> &[Category] {
        self.common.categories.get_or_init(|| Category::of_all(trace))
    }

    /// What keeping most references to lines of the first so many calls takes, whatever is done.
    pub fn needed_tokens(&self, trace: &Trace, calls: usize) -> u64 {
        *self.common.needed_tokens.borrow_mut().entry(calls).or_insert_with(|| {
            let costs = costs(trace, calls);
            costs.iter().take((costs.len() * 99).div_ceil(100)).sum()
        })
    }

    /// Those of the message's items that were cut.
    pub fn cuts(&self, message: u32) -> &[Ingested] {
        if let Some(Instead { of: other, .. }) = &self.instead {
            return self.own(message).map_or_else(|| other.cuts(message), |own| &own.cuts);
        }
        self.places.get(message as usize).map_or(&[], |(_, cuts)| within(&self.cuts, cuts))
    }
}

fn within<'l, T>(list: &'l [T], places: &Range<u32>) -> &'l [T] {
    list.get(places.start as usize..places.end as usize).unwrap_or(&[])
}

impl Entering {
    /// A message as it enters through the limits of a policy.
    pub fn of(trace: &Trace, plan: &Plan, conditions: &Conditions, row: &MessageRow) -> Entering {
        let mut entering = Entering::default();
        enter_through(trace, plan, &Gauge::new(&plan.estimator, conditions), row, &mut entering.items, &mut entering.cuts);
        entering
    }
}

fn enter_through(trace: &Trace, plan: &Plan, gauge: &Gauge<'_>, row: &MessageRow, items: &mut Vec<Item>, cuts: &mut Vec<Ingested>) {
    for (offset, part) in trace.parts_of(row).enumerate() {
        let mut item = whole_item(gauge, row, &part, row.first_part + offset as u32);
        if let Some((cut, rule)) = ingest(trace, plan, row, &part, &item) {
            let before = item.actual;
            item = Item { by: Some(rule as u32), ..cut_item(gauge, &item, &part, &cut, row.role) };
            cuts.push(Ingested { offset: offset as u32, text: cut.text, rule, before, after: item.actual });
        }
        items.push(item);
    }
}

/// What a policy takes items for: by its own estimator, or for what they really are.
#[derive(Clone, Copy)]
pub(super) struct Gauge<'a> {
    estimator: &'a Estimator,
    guesses: Guesses,
}

impl<'a> Gauge<'a> {
    pub fn new(estimator: &'a Estimator, conditions: &Conditions) -> Gauge<'a> {
        Gauge { estimator, guesses: conditions.guesses }
    }

    /// What the policy takes a part for whose text is this and which really costs so much.
    pub fn part(&self, part: &PartRow, text: &Text, actual: u64, role: Role) -> Guess {
        match self.guesses {
            Guesses::Own => self.estimator.part(part, text, role),
            Guesses::True => Guess::whole(actual),
        }
    }

    /// The same where protected ends are counted.
    fn end_units(&self, part: &PartRow, text: &Text, role: Role) -> u32 {
        self.estimator.end_units(|ends| ends.part(part, text, role))
    }

    /// The same for the text by itself.
    fn alone(&self, text: &Text, actual: u64) -> u64 {
        match self.guesses {
            Guesses::Own => self.estimator.text(text),
            Guesses::True => actual,
        }
    }
}

/// A part as an item that nothing has cut.
pub(super) fn whole_item(gauge: &Gauge<'_>, row: &MessageRow, part: &PartRow, index: u32) -> Item {
    Item {
        part: Some(index),
        tool: part.tool.get(),
        region: Region::of(row.role, part.kind),
        state: State::Whole,
        error: part.error,
        expires: part.expires,
        ends: Ends::default(),
        superseded: false,
        by: None,
        guess: gauge.part(part, &part.text, part.truth, row.role),
        alone: gauge.alone(&part.text, part.truth),
        end_units: gauge.end_units(part, &part.text, row.role),
        actual: part.truth,
        anchored: if part.anchored { part.truth } else { 0 },
    }
}

/// An item after a cut: the share of the truth that its kept tokens have, and the marker.
pub(super) fn cut_item(gauge: &Gauge<'_>, item: &Item, part: &PartRow, cut: &Cut, role: Role) -> Item {
    let (text, kept) = (&cut.text, cut.kept_tokens);
    let original = u128::from(part.text.tokens.max(1));
    let share = u128::from(part.truth) * u128::from(kept.min(part.text.tokens)) / original;
    let marker = u64::from(text.tokens.saturating_sub(kept));
    let actual = share as u64 + marker;
    Item {
        state: State::Truncated,
        ends: cut.ends,
        guess: gauge.part(part, text, actual, role),
        alone: gauge.alone(text, actual),
        end_units: gauge.end_units(part, text, role),
        actual,
        anchored: if part.anchored { share as u64 } else { 0 },
        ..*item
    }
}

/// What the ingestion limits leave of a part, and the last rule that cut it.
fn ingest(trace: &Trace, plan: &Plan, row: &MessageRow, part: &PartRow, item: &Item) -> Option<(Cut, usize)> {
    let mut result: Option<(Cut, usize)> = None;
    // What the system's own agent has cut has been through these limits.
    let has_been_cut = part.text.truncated && plan.agents.contains(&trace.agent);
    for (index, rule) in limits(plan) {
        let Some(limits) = &rule.truncate else { continue };
        if (has_been_cut && limits.cuts_marked == Switch::Off)
            || !rule.select.wants_arrival(item.region, row.role, part.tool.get(), &trace.tools)
        {
            continue;
        }
        let text = result.as_ref().map_or(&part.text, |(cut, _)| &cut.text);
        if let Some(cut) = rule.arrives(text) {
            let kept_tokens = result.as_ref().map_or(cut.kept_tokens, |(before, _)| cut.kept_tokens.min(before.kept_tokens));
            let ends = result.as_ref().map_or(cut.ends, |(before, _)| cut.ends.least(before.ends));
            result = Some((Cut { kept_tokens, ends, ..cut }, index));
        }
    }
    result
}
