//! What a replay is given, and what follows from that alone.

use super::conditions::Conditions;
use super::guard::enough;
use super::intake::{Gauge, Intake, cut_item, whole_item};
use super::retention::Fates;
use crate::context::{Context, Ends, Item, Replacement, SeenItem, State as ItemState};
use crate::estimate::{Extent, Guess, Unit};
use crate::list::Gather;
use crate::policy::{Cut, Mask, NoInflate, Plan, Preview, Rule, Truncate, cut, own_text};
use crate::trace::{Evidence, MessageRow, PartRow, Trace};
use crate::transcript::Role;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a replay is given.
#[derive(Clone)]
pub(super) struct Inputs<'a> {
    pub trace: &'a Trace,
    pub plan: &'a Plan,
    pub conditions: &'a Conditions,
    /// The session's messages as they enter.
    pub intake: Rc<Intake>,
    /// What masks leave of the session's parts.
    masks: Rc<Masks>,
}

/// What masks leave of the parts of a session, by rule and part: worked out when a rule first asks, for however many runs.
type Masks = Vec<OnceCell<Left>>;

/// What a mask leaves of each part: most leave the same of most parts, so that each replacement is held once.
#[derive(Default)]
struct Left {
    replacements: Vec<Replacement>,
    /// By part the place of its replacement among them; none where nothing is replaced.
    of: Vec<u32>,
}

impl Left {
    fn get(&self, part: u32) -> Option<Replacement> {
        self.replacements.get(*self.of.get(part as usize)? as usize).copied()
    }
}

impl<'a> Inputs<'a> {
    /// The messages have been seen by the plan's limits.
    pub fn new(trace: &'a Trace, plan: &'a Plan, conditions: &'a Conditions, intake: Rc<Intake>) -> Inputs<'a> {
        let masks = Rc::new(plan.rule.iter().map(|_| OnceCell::new()).collect());
        Inputs { trace, plan, conditions, intake, masks }
    }

    /// A part of the trace.
    pub fn part(&self, part: u32) -> Option<Cow<'a, PartRow>> {
        self.trace.parts.get(part as usize)
    }

    /// Broken references by the rule that broke them, with its name; `recorded` for what the log itself takes away.
    pub fn named(&self, broken_by: &BTreeMap<(Evidence, u32), Fates>) -> BTreeMap<(Evidence, String), Fates> {
        let name = |rule: u32| self.plan.rule.get(rule as usize).map_or_else(|| "recorded".to_owned(), |rule| rule.id.clone());
        broken_by.iter().map(|((kind, rule), fates)| ((*kind, name(*rule)), *fates)).gather()
    }

    /// A message of the trace.
    #[inline]
    pub fn message(&self, message: u32) -> Option<&'a MessageRow> {
        self.trace.messages.get(message as usize)
    }

    /// What the policy takes items for.
    pub fn gauge(&self) -> Gauge<'a> {
        Gauge::new(&self.plan.estimator, self.conditions)
    }

    /// The items of a message, as it enters.
    pub fn items(&self, message: u32) -> Cow<'_, [Item]> {
        let held = self.intake.items(message);
        let Some(row) = self.message(message).filter(|_| held.is_empty()) else { return Cow::Borrowed(held) };
        let parts = row.parts().zip(self.trace.parts_of(row));
        parts.map(|(index, part)| whole_item(&self.gauge(), row, &part, index)).collect()
    }

    /// What the policy takes a whole message for.
    pub fn estimate_of(&self, message: u32) -> u64 {
        let Some(row) = self.message(message) else { return 0 };
        let guesses = self.trace.parts_of(row).map(|part| self.gauge().part(&part, &part.text, part.truth, row.role));
        self.plan.estimator.message(guesses.fold(Guess::default(), Guess::plus), row.role)
    }

    /// What a cut leaves of an item.
    pub fn cut(&self, context: &Context, id: u32, cut: &Cut) -> Option<Replacement> {
        let item = context.item(id)?;
        let by = cut_item(&self.gauge(), &item, &*self.part(item.part?)?, cut, context.role_of(id)?);
        // What an earlier cut has taken does not come back.
        let ends = if item.state == ItemState::Whole { cut.ends } else { cut.ends.least(item.ends) };
        Some(by.replacement(ItemState::Truncated, ends))
    }

    /// The items that a mask would replace, and by what; none where a guard forbids it.
    pub fn maskable(&self, context: &Context, index: usize, rule: &Rule, mask: &Mask, items: &[SeenItem]) -> Vec<(u32, Replacement)> {
        let (mut gross, mut comes) = (0, 0);
        let mut replacements = Vec::with_capacity(items.len());
        for item in items {
            let by = self.masked(context, index, rule, mask, item.id);
            gross += gross_of(rule, item.alone, by.is_some());
            if let Some(by) = by {
                comes += rule.select.size(context.estimator(), by.guess, by.alone);
                replacements.push((item.id, by));
            }
        }
        if enough(rule.min_saving.as_ref(), gross, comes) { replacements } else { Vec::new() }
    }

    /// What a mask leaves of an item; `None` where it replaces nothing.
    pub fn masked(&self, context: &Context, index: usize, rule: &Rule, mask: &Mask, id: u32) -> Option<Replacement> {
        let item = context.item(id)?;
        let by = self.masks.get(index)?.get_or_init(|| self.left_by(mask)).get(item.part?)?;
        masked_as(context, rule, &item, by)
    }

    /// What a mask of a program's leaves of an item; `None` where it replaces nothing.
    pub fn masked_by(&self, context: &Context, rule: &Rule, mask: &Mask, id: u32) -> Option<Replacement> {
        let item = context.item(id)?;
        let by = self.left_of(mask, &own_marker(mask), &item, context.role_of(id)?)?;
        masked_as(context, rule, &item, by)
    }

    /// What a mask leaves of each part of the session.
    fn left_by(&self, mask: &Mask) -> Left {
        let marker = own_marker(mask);
        let mut left = Left { replacements: Vec::new(), of: vec![u32::MAX; self.trace.parts.len()] };
        let mut known: FxHashMap<Replacement, u32> = FxHashMap::default();
        for (message, row) in self.trace.messages.iter().enumerate() {
            for item in self.items(message as u32).iter() {
                let slot = item.part.and_then(|part| left.of.get_mut(part as usize));
                if let Some((slot, by)) = slot.zip(self.left_of(mask, &marker, item, row.role)) {
                    *slot = *known.entry(by).or_insert_with(|| {
                        left.replacements.push(by);
                        left.replacements.len() as u32 - 1
                    });
                }
            }
        }
        left
    }

    /// What a mask leaves of an item of the log.
    fn left_of(&self, mask: &Mask, marker: &Cut, item: &Item, role: Role) -> Option<Replacement> {
        let part = self.part(item.part?)?;
        let tool = part.tool.get().and_then(|tool| self.trace.tools.get(tool as usize));
        let text = match preview(mask, tool.map(String::as_str)) {
            None => marker.clone(),
            Some(limits) => cut(&limits, &part.text)?,
        };
        let by = cut_item(&self.gauge(), item, &part, &text, role);
        Some(by.replacement(ItemState::Masked, text.ends))
    }
}

fn masked_as(context: &Context, rule: &Rule, item: &Item, by: Replacement) -> Option<Replacement> {
    // What an earlier cut has taken does not come back.
    let ends = if item.state == ItemState::Whole { by.ends } else { by.ends.least(item.ends) };
    let size = |guess, alone| rule.select.size(context.estimator(), guess, alone);
    let shrinks = || size(by.guess, by.alone) < size(item.guess, item.alone);
    (rule.no_inflate == NoInflate::Off || shrinks()).then_some(Replacement { ends, ..by })
}

fn own_marker(mask: &Mask) -> Cut {
    Cut { text: own_text(&mask.text), kept_tokens: 0, ends: Ends::default() }
}

/// The cut that leaves a mask's preview of a result of this tool; `None` where the mask has none.
fn preview(mask: &Mask, tool: Option<&str>) -> Option<Truncate> {
    let of = |known: &String| tool.is_some_and(|tool| known.eq_ignore_ascii_case(tool));
    let Preview { head, tail, unit, .. } = mask.preview.iter().find(|preview| preview.tools.is_empty() || preview.tools.iter().any(of))?;
    let stay = u64::from(head + tail);
    let limits = Truncate { head: f64::from(*head) / stay.max(1) as f64, marker: mask.text.clone(), ..Truncate::default() };
    let unit = match unit {
        Extent::Lines => return Some(Truncate { max_lines: Some(stay), ..limits }),
        Extent::Bytes => Unit::Bytes,
        Extent::Utf16 => Unit::Utf16,
        Extent::Chars => Unit::Chars,
        Extent::Tokens => Unit::Tokens,
    };
    Some(Truncate { unit, max: Some(0), keep: Some(stay), ..limits })
}

/// What an item that a mask looks at adds to the gross saving. Where a placeholder must be smaller than the text, that stops it and not the count (Gemini CLI counts all outputs
/// beyond the protected ones, and leaves out the short ones as it writes).
pub(super) fn gross_of(rule: &Rule, alone: u64, is_replaced: bool) -> u64 {
    if is_replaced || rule.no_inflate != NoInflate::Off { alone } else { 0 }
}
