//! Classes of settings that go through a session beside their leader: by how much they differ, kept up call by call.
//!
//! Their limits have cut messages otherwise, so that their contexts hold the same items in other sizes. As long as all act alike, all that
//! they come to follows from the leader's figures and these differences. Nothing is worked out here that the loop works out: a class that
//! would act otherwise parts, and the loop goes on with it.

use super::cuts::{Cuts, Way};
use super::delta::{Beliefs, Delta};
use super::family::Family;
use crate::context::{Item, Presence, State as ItemState};
use crate::policy::{AfterRewrite, Select, Sight, Verdict};
use crate::sim::belief::read_of;
use crate::sim::judge::references_of;
use crate::sim::ledger::Detail;
use crate::sim::outcome::CallOutcome;
use crate::sim::retention::{Fate, fate, fate_by};
use crate::sim::state::State;
use crate::statistics::sorted;
use crate::trace::{CallRow, Evidence, Place, Reference};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The classes beside one leader.
#[derive(Clone)]
pub(super) struct Deltas<'c> {
    cuts: &'c Cuts,
    /// The number of the leader's class.
    leader: u32,
    pub all: Vec<Delta>,
    /// Of the messages that enter in several ways, those that have entered: which of their items are dead weight; `None` where the message is gone.
    standing: Vec<Option<Vec<u32>>>,
    /// Edits, dead weight and how much of it is not masked, when the context was last looked at.
    seen: (u64, u64, u64),
}

/// What a class says at a rule of one of its settings.
pub(super) struct Said<'v> {
    pub member: u32,
    pub verdict: &'v Verdict,
    /// The actual size with the safety buffer.
    pub reach: f64,
    /// Does it stand in another context than the leader?
    pub differs: bool,
}

impl<'c> Deltas<'c> {
    /// Nothing has entered yet. These members are not of the leader's class.
    pub fn new(cuts: &'c Cuts, family: &Family<'_>, leader: u32, members: &[u32]) -> Deltas<'c> {
        let all = by_class(cuts, family, members).into_iter().filter(|(class, _)| *class != leader);
        Deltas {
            cuts,
            leader,
            all: all.map(|(class, members)| Delta::new(class, members)).collect(),
            standing: Vec::new(),
            seen: (0, 0, 0),
        }
    }

    /// The same under another leader, for some of the members.
    pub fn under(&self, family: &Family<'_>, leader: u32, members: &[u32]) -> Deltas<'c> {
        let led = self.of(leader);
        let others = by_class(self.cuts, family, members).into_iter().filter(|(class, _)| *class != leader);
        let beyond = |(class, members): (u32, Vec<u32>)| {
            let differs =
                |place: &usize| self.standing.get(*place).is_some_and(Option::is_some) && !self.cuts.same_way(*place, class, leader);
            let differing = (0..self.standing.len()).filter(differs).count() as u32;
            let mut delta = self.of(class).beyond(&led);
            (delta.members, delta.differing) = (members, differing);
            delta
        };
        Deltas { cuts: self.cuts, leader, all: others.map(beyond).collect(), standing: self.standing.clone(), seen: self.seen }
    }

    /// What a class has beyond the leader.
    fn of(&self, class: u32) -> Delta {
        self.all.iter().find(|delta| delta.class == class).cloned().unwrap_or_else(|| Delta::new(class, Vec::new()))
    }

    /// The classes of these members alone.
    pub fn of_members(mut self, members: impl Iterator<Item = u32>) -> Deltas<'c> {
        let wanted: BTreeSet<u32> = members.collect();
        self.all.retain(|delta| delta.members.iter().any(|member| wanted.contains(member)));
        self
    }

    /// Is there no other class than the leader's?
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Turns the leader's state at the beginning of a call into that of a class.
    pub fn put_on(&self, class: u32, state: &mut State<'_>) {
        if class == self.leader {
            return;
        }
        // What has been sent stays the leader's: no bill can be made of it.
        state.ledger.detail = Detail::Sums;
        let trace = state.inputs.trace;
        if let Some(intake) = self.cuts.intake(class) {
            state.inputs.intake = Rc::clone(intake);
        }
        for (place, parting) in self.cuts.messages().iter().enumerate().take(self.standing.len()) {
            let ways = self.cuts.way(place, self.leader).zip(self.cuts.way(place, class));
            let Some((led, own)) = ways.filter(|_| !self.cuts.same_way(place, class, self.leader)) else { continue };
            let first = trace.messages.get(parting.message as usize).map_or(0, |row| row.first_part);
            state.window.exchange(first, &led.entering, &own.entering);
        }
        let delta = self.of(class);
        let Beliefs { usage, pending, after_reply, look } = delta.beliefs;
        let belief = &mut state.belief;
        if let Some((prompt, _)) = &mut belief.usage {
            *prompt = prompt.saturating_add_signed(usage);
        }
        belief.pending = belief.pending.saturating_add_signed(pending);
        belief.actual_after_reply = belief.actual_after_reply.saturating_add_signed(after_reply);
        if let Some(last) = &mut belief.look {
            let [tokens, covers, whole, left] = look;
            last.belief = last.belief.saturating_add_signed(tokens);
            last.covers = last.covers.saturating_add_signed(covers);
            last.whole = last.whole.saturating_add_signed(whole);
            last.left = last.left.map(|size| size.saturating_add_signed(left));
        }
        delta.rewrite(&mut state.ledger);
        state.ledger.broken_by = delta.broken_by(&state.ledger.broken_by);
    }

    /// Looks at what has entered the context, and what has left it.
    pub fn sync(&mut self, state: &State<'_>) {
        if self.all.is_empty() {
            return;
        }
        let known = self.standing.len();
        while self.cuts.messages().get(self.standing.len()).is_some_and(|parting| parting.message < state.window.next_message) {
            self.enter(state);
        }
        let context = &state.window.context;
        let seen = (context.edits(), context.dead_weight(), context.view().superseded_count());
        if known == self.standing.len() && seen == self.seen {
            return;
        }
        self.seen = seen;
        for place in 0..self.standing.len() {
            let now = self.stands(state, place);
            if self.standing.get(place) != Some(&now) {
                self.moves(place, &now);
                if let Some(standing) = self.standing.get_mut(place) {
                    *standing = now;
                }
            }
        }
    }

    /// One more of the messages has entered.
    fn enter(&mut self, state: &State<'_>) {
        let place = self.standing.len();
        self.standing.push(None);
        let row = self.cuts.messages().get(place).and_then(|parting| state.inputs.message(parting.message));
        let pends = row.is_some_and(|row| !row.copy);
        for (delta, own, led) in differing(self.cuts, self.leader, &mut self.all, place) {
            delta.sums.cuts += own.entering.cuts.len() as i64 - led.entering.cuts.len() as i64;
            delta.beliefs.pending += if pends { own.weight.estimated - led.weight.estimated } else { 0 };
        }
    }

    /// The items of a message that are dead weight; `None` where it is gone.
    fn stands(&self, state: &State<'_>, place: usize) -> Option<Vec<u32>> {
        let row = self.cuts.messages().get(place).and_then(|parting| state.inputs.message(parting.message))?;
        let standing = |part: u32| state.window.context.standing(part).map(|(_, item)| item);
        row.parts().any(|part| standing(part).is_some()).then(|| {
            let dead = |part: &u32| standing(*part).is_some_and(|item| item.superseded);
            row.parts().filter(dead).map(|part| part - row.first_part).collect()
        })
    }

    /// A message has come or gone, or is dead weight from now on.
    fn moves(&mut self, place: usize, now: &Option<Vec<u32>>) {
        let before = self.standing.get(place).cloned().flatten();
        let was = self.standing.get(place).is_some_and(Option::is_some);
        let by = i64::from(now.is_some()) - i64::from(was);
        let dead = |way: &Way, offsets: &[u32]| -> i64 {
            offsets.iter().filter_map(|offset| way.entering.items.get(*offset as usize)).map(|item| item.actual as i64).sum()
        };
        let (before, now) = (before.unwrap_or_default(), now.clone().unwrap_or_default());
        for (delta, own, led) in differing(self.cuts, self.leader, &mut self.all, place) {
            delta.larger = [None; 2];
            delta.differing = delta.differing.saturating_add_signed(by as i32);
            delta.actual += by * (own.weight.actual - led.weight.actual);
            delta.anchored += by * (own.weight.anchored - led.weight.anchored);
            delta.estimated += by * (own.weight.estimated - led.weight.estimated);
            delta.dead += dead(own, &now) - dead(led, &now) - dead(own, &before) + dead(led, &before);
        }
    }

    /// Works out how much larger a selection may find the items of each class, at most.
    pub fn measure(&mut self, state: &State<'_>, select: &Select) {
        let (cuts, leader, standing) = (self.cuts, self.leader, &self.standing);
        let estimator = state.window.context.estimator();
        let size = |item: &Item| select.size(estimator, item.guess, item.alone);
        for delta in self.all.iter_mut().filter(|delta| delta.larger_for(select).is_none()) {
            let places = standing.iter().enumerate().filter(|(_, standing)| standing.is_some()).map(|(place, _)| place);
            let ways = places.filter_map(|place| cuts.way(place, delta.class).zip(cuts.way(place, leader)));
            let pairs = ways.flat_map(|(own, led)| own.entering.items.iter().zip(&led.entering.items));
            let larger = pairs.map(|(own, led)| size(own).saturating_sub(size(led))).sum();
            delta.larger.get_mut(select.sizes as usize).into_iter().for_each(|slot| *slot = Some(larger));
        }
    }

    /// The trigger of a rule has spoken for the leader: what it says for the others, each with other figures before it.
    pub fn verdict(
        &mut self,
        family: &Family<'_>,
        state: &State<'_>,
        rule: usize,
        verdict: &Verdict,
        before: u64,
        judge: &mut dyn FnMut(&Said<'_>),
    ) {
        self.sync(state);
        if self.all.is_empty() || state.waits_for(rule) {
            return;
        }
        let sight = state.sight(rule);
        let led = state.inputs.plan;
        let Some(trigger) = led.rule.get(rule).and_then(|rule| rule.when.as_ref()) else { return };
        for delta in &mut self.all {
            let level = delta.is_level();
            if level && delta.members.iter().all(|member| family.rule(*member, rule).and_then(|rule| rule.when.as_ref()) == Some(trigger)) {
                continue;
            }
            let beyond = prompt(state, delta.actual) as i64 - prompt(state, 0) as i64;
            let size = before.saturating_add_signed(beyond);
            let own = own_sight(&sight, delta, size);
            let mut known: Option<(u32, Verdict)> = None;
            for member in &delta.members {
                let number = family.trigger(rule, *member);
                let said = match known {
                    Some((of, said)) if of == number => said,
                    _ => family.rule(*member, rule).and_then(|rule| rule.when.as_ref()).map_or(*verdict, |when| when.evaluate(&own)),
                };
                known = Some((number, said));
                let reach = size as f64 + led.window.safety_buffer as f64;
                judge(&Said { member: *member, verdict: &said, reach, differs: delta.differing > 0 });
            }
            if let Some((level, (_, own))) = verdict.level.zip(known) {
                let tokens = own.level.map_or(level.tokens, |level| level.tokens);
                let covers = if level.sees_pending { beyond } else { delta.beliefs.after_reply };
                delta.beliefs.look = [tokens as i64 - level.tokens as i64, covers, beyond, 0];
            }
        }
    }

    /// The history was rewritten.
    pub fn rewritten(&mut self, state: &State<'_>) {
        self.sync(state);
        let view = state.window.context.view();
        for delta in self.all.iter_mut().filter(|delta| !delta.is_level()) {
            delta.beliefs.after_reply = prompt(state, delta.actual) as i64 - prompt(state, 0) as i64;
            match state.inputs.plan.belief.after_rewrite {
                AfterRewrite::Estimate => {
                    delta.beliefs.usage = view.request_with(delta.estimated) as i64 - view.request() as i64;
                    delta.beliefs.pending = 0;
                }
                AfterRewrite::Unknown => delta.beliefs.usage = 0,
                AfterRewrite::Stale => {}
            }
        }
    }

    /// The call was made.
    pub fn made(&mut self, state: &State<'_>, row: &CallOutcome, call: &CallRow) {
        self.sync(state);
        let context = &state.window.context;
        let (visible, view, index) = (context.size().actual.0, context.view(), state.window.index as u32);
        let missing = |visible: u64, prompt: u64| (call.hidden + visible).saturating_sub(prompt) as i64;
        for delta in &mut self.all {
            if delta.is_level() {
                delta.note_prompt(index, 0);
                continue;
            }
            let actual = prompt(state, delta.actual);
            let by = actual as i64 - row.actual as i64;
            delta.note_prompt(index, by);
            let (anchored, own) = (context.anchored().saturating_add_signed(delta.anchored), visible.saturating_add_signed(delta.actual));
            delta.sums.anchored += call.anchored_in(anchored, own, actual) as i64 - row.anchored as i64;
            delta.sums.missing += missing(own, actual) - missing(visible, row.actual);
            if row.recorded.get().is_some() {
                delta.sums.estimates[0] += view.request_with(delta.estimated) as i64 - row.estimated as i64;
                delta.sums.estimates[1] += by;
                if let Some(look) = state.belief.look {
                    let [tokens, _, whole, _] = delta.beliefs.look;
                    delta.sums.beliefs[0] += tokens;
                    delta.sums.beliefs[1] += if look.left.is_some() { whole } else { by };
                }
            }
            delta.beliefs.usage = read_of(&state.inputs, call, actual) as i64 - read_of(&state.inputs, call, row.actual) as i64;
        }
    }

    /// What a reply refers to was looked for.
    pub fn judged(&mut self, state: &State<'_>, message: u32) {
        let (trace, context) = (state.inputs.trace, &state.window.context);
        for delta in self.all.iter_mut().filter(|delta| delta.differing > 0) {
            delta.sums.dead += delta.dead;
            delta.sums.carried += delta.actual;
        }
        let referring: Vec<u32> = self.cuts.referring(message).collect();
        if referring.is_empty() || self.all.iter().all(|delta| delta.differing == 0) {
            return;
        }
        let first = trace.references.partition_point(|reference| reference.message < message) as u32;
        let lost = |reference: &Reference| reference.kind == Evidence::Line && fate(context, trace, reference) != Fate::Kept;
        let others = references_of(trace, message).iter().zip(first..).filter(|(_, number)| referring.binary_search(number).is_err());
        let broken = others.map(|(reference, _)| reference).any(lost);
        let categories = state.inputs.intake.categories(trace);
        let leader = self.leader;
        let mut lines = vec![broken; self.all.len()];
        let mut led_lines = broken;
        for reference in referring.iter().filter_map(|number| trace.references.get(*number as usize)) {
            let Some((source, category)) = reference.sources.first().and_then(|place| Some((place, *categories.get(place.part as usize)?)))
            else {
                continue;
            };
            let led = (fate(context, trace, reference), context.taken_by(source.part));
            led_lines |= reference.kind == Evidence::Line && led.0 != Fate::Kept;
            let places: Vec<Option<(usize, usize)>> = reference.places().map(|place| self.in_several_ways(state, place.part)).collect();
            for (delta, lines) in self.all.iter_mut().zip(&mut lines) {
                let own =
                    if delta.differing > 0 { own_fate(self.cuts, (delta.class, leader), state, reference, &places, led) } else { led };
                *lines |= reference.kind == Evidence::Line && own.0 != Fate::Kept;
                if own != led {
                    delta.note_fate((reference.kind, category), (own.0, led.0), (own.1, led.1));
                }
            }
        }
        for (delta, lines) in self.all.iter_mut().zip(lines) {
            delta.sums.broken_calls += i64::from(lines) - i64::from(led_lines);
        }
    }

    /// Where a part stands that enters in several ways: the message's place, and the item's; `None` where it is gone, or enters in one.
    fn in_several_ways(&self, state: &State<'_>, part: u32) -> Option<(usize, usize)> {
        let (place, item) = self.cuts.parting_of(state.inputs.trace, part)?;
        let stands = self.standing.get(place).is_some_and(Option::is_some) && state.window.context.standing(part).is_some();
        stands.then_some((place, item))
    }

    /// The reply has entered.
    pub fn replied(&mut self, state: &State<'_>) {
        self.sync(state);
        for delta in self.all.iter_mut().filter(|delta| !delta.is_level()) {
            delta.beliefs.pending = 0;
            delta.beliefs.after_reply = prompt(state, delta.actual) as i64 - prompt(state, 0) as i64;
        }
    }

    /// Would the call as it stands be refused?
    pub fn is_refused(state: &State<'_>, delta: &Delta) -> bool {
        prompt(state, delta.actual) > state.inputs.conditions.prompt_limit
    }
}

/// Members by their classes.
pub(super) fn by_class(cuts: &Cuts, family: &Family<'_>, members: &[u32]) -> Vec<(u32, Vec<u32>)> {
    if cuts.classes() == 1 || members.is_empty() {
        return if members.is_empty() { Vec::new() } else { vec![(0, members.to_vec())] };
    }
    let sorted = sorted(members.iter().map(|member| (cuts.class_of(family.ingest(*member)), *member)));
    let group = |group: &[(u32, u32)]| Some((group.first()?.0, group.iter().map(|(_, member)| *member).collect()));
    sorted.chunk_by(|one, other| one.0 == other.0).filter_map(group).collect()
}

/// The classes for which a message enters otherwise than for the leader, and both ways.
fn differing<'s>(
    cuts: &'s Cuts,
    leader: u32,
    all: &'s mut [Delta],
    place: usize,
) -> impl Iterator<Item = (&'s mut Delta, &'s Way, &'s Way)> {
    let led = cuts.way(place, leader);
    let others = all.iter_mut().filter(move |delta| !cuts.same_way(place, delta.class, leader));
    others.filter_map(move |delta| {
        let own = cuts.way(place, delta.class)?;
        Some((delta, own, led?))
    })
}

/// The prompt of the call at hand, of so many more tokens of the log.
fn prompt(state: &State<'_>, beyond: i64) -> u64 {
    let context = &state.window.context;
    let visible = context.size().actual.0.saturating_add_signed(beyond);
    state.window.call.map_or(visible, |call| call.prompt(visible, context.recorded().saturating_add_signed(beyond)))
}

fn own_sight<'v>(sight: &Sight<'v>, delta: &Delta, next_prompt: u64) -> Sight<'v> {
    let Beliefs { usage, pending, .. } = delta.beliefs;
    Sight {
        beyond: delta.estimated,
        usage: sight.usage.map(|(prompt, output)| (prompt.saturating_add_signed(usage), output)),
        pending: sight.pending.saturating_add_signed(pending),
        next_prompt,
        ..*sight
    }
}

/// What has become of a reference for a class, and the rule that took its first source. `places` are those of its parts that stand in a
/// message that enters in several ways.
fn own_fate(
    cuts: &Cuts,
    (class, leader): (u32, u32),
    state: &State<'_>,
    reference: &Reference,
    places: &[Option<(usize, usize)>],
    led: (Fate, Option<u32>),
) -> (Fate, Option<u32>) {
    let (trace, context) = (state.inputs.trace, &state.window.context);
    let item = |source: usize| {
        let (place, item) = places.get(source).copied().flatten().filter(|(place, _)| !cuts.same_way(*place, class, leader))?;
        cuts.way(place, class)?.entering.items.get(item)
    };
    let presence = |source: usize, place: &Place| match item(source).map(|item| (item.state, item.ends)) {
        Some((ItemState::Whole, _)) => Presence::Whole,
        Some((ItemState::Truncated, ends)) => Presence::Cut(ends),
        _ => context.presence(place.part),
    };
    (fate_by(trace, reference, presence), item(0).map_or(led.1, |item| item.by))
}
