//! Why a context overflowed, and what users should be warned of.

use super::note::Note;
use super::outcome::{Cause, EventKind, Warning};
use super::state::{Conditions, State};
use crate::policy::{Hook, Plan, Trigger};
use std::collections::BTreeSet;

/// A policy's last look at its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The rule that looked, by its place in the plan.
    pub rule: usize,
    /// B(k).
    pub belief: u64,
    /// What it was held against.
    pub limit: f64,
    /// The actual size of all that the belief knew of.
    pub covers: u64,
    /// The actual size of everything at that moment.
    pub whole: u64,
    /// The actual size after the rule that looked had done its work; `None` where it did not fire.
    pub left: Option<u64>,
}

impl State<'_> {
    /// The provider refuses the call: counts it, and says why.
    pub fn overflow(&mut self, actual: u64) {
        let cause = self.cause(self.look);
        self.ask_referee(|referee, state| referee.overflow(state, cause));
        let tool = self.blame_tool();
        let totals = &mut self.outcome.totals;
        *totals.causes.entry(cause).or_default() += 1;
        totals.missed += u64::from(matches!(cause, Cause::BlindSpot | Cause::Drift | Cause::Reserve));
        let note = Note {
            kind: EventKind::Overflow,
            belief: self.look.map(|look| look.belief),
            limit: Some(self.conditions.prompt_limit),
            before: actual,
            after: actual,
            cause: Some(cause),
            tool,
            ..self.event(None)
        };
        self.note(note);
    }

    /// Why the call overflows after this look.
    pub fn cause(&self, look: Option<Look>) -> Cause {
        if !looks_at_size(self.plan) {
            return Cause::NoTrigger;
        }
        if self.summariser_refused {
            return Cause::Summariser;
        }
        let limit = self.conditions.prompt_limit;
        match look {
            // It fired: either that was not enough, or what came afterwards was too much.
            Some(Look { left: Some(left), .. }) if left > limit => Cause::NothingLeft,
            Some(Look { left: Some(_), .. }) => Cause::BlindSpot,
            Some(look) if look.limit >= limit as f64 => Cause::Reserve,
            // Had it known the truth of what it looked at, it would have fired.
            Some(look) if look.covers as f64 > look.limit => Cause::Drift,
            _ => Cause::BlindSpot,
        }
    }
}

fn looks_at_size(plan: &Plan) -> bool {
    let shrinking = plan.rule.iter().filter(|rule| rule.at != Hook::Overflow && rule.shrinks());
    shrinking.filter_map(|rule| rule.when.as_ref()).any(Trigger::looks_at_size)
}

/// What stands out in a replay.
pub(super) fn warnings(events: &[Note]) -> BTreeSet<Warning> {
    let mut found = BTreeSet::new();
    let compactions: Vec<&Note> = events.iter().filter(|event| matches!(event.kind, EventKind::Compact | EventKind::Reset)).collect();
    if compactions.windows(2).any(|pair| matches!(pair, [a, b] if b.call - a.call <= 2)) {
        found.insert(Warning::RepeatedCompaction);
    }
    if compactions.windows(3).any(|three| matches!(three, [a, _, c] if c.call - a.call <= 10)) {
        found.insert(Warning::Oscillation);
    }
    let shrinking = |event: &&Note| matches!(event.kind, EventKind::Compact | EventKind::Reset | EventKind::Prune | EventKind::Drop);
    if events.iter().filter(shrinking).any(|event| event.before.saturating_sub(event.after) * 20 < event.before) {
        found.insert(Warning::NoGain);
    }
    found
}

/// Does no limit of the policy lie below what the provider takes?
pub(super) fn never_fires(plan: &Plan, conditions: &Conditions) -> bool {
    let limits: Vec<f64> =
        plan.rule.iter().filter(|rule| rule.at != Hook::Overflow).filter_map(|rule| rule.when.as_ref()).flat_map(limits_of).collect();
    !limits.is_empty() && limits.iter().all(|limit| *limit >= conditions.prompt_limit as f64)
}

fn limits_of(trigger: &Trigger) -> Vec<f64> {
    match trigger {
        Trigger::Level(level) => level.gt.or(level.ge).into_iter().collect(),
        // What does not depend on size can fire in any window.
        Trigger::Count(_) | Trigger::Idle(_) => vec![0.0],
        Trigger::Any(triggers) | Trigger::All(triggers) => triggers.iter().flat_map(limits_of).collect(),
    }
}
