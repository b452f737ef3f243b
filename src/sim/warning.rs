//! What users should be warned of.

use super::conditions::Conditions;
use super::event::{EventKind, Warning};
use super::note::Note;
use crate::policy::{Hook, Plan, Rule, Trigger};
use std::collections::BTreeSet;

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
    if events.iter().filter(shrinking).any(gains_little) {
        found.insert(Warning::NoGain);
    }
    found
}

/// Does it free less than 5 % of the context?
fn gains_little(event: &Note) -> bool {
    event.before.saturating_sub(event.after) * 20 < event.before
}

/// Compactions and resets that free less than 5 % of the context, and rules for compacting that fire without effect.
pub(super) fn without_gain(plan: &Plan, events: &[Note]) -> u64 {
    let by_rule = |event: &Note| event.rule.and_then(|rule| plan.rule.get(rule)).is_some_and(|rule| rule.summarise.is_some());
    let summarises = |event: &Note| event.failed || by_rule(event);
    let counts = |event: &&Note| match event.kind {
        EventKind::Compact | EventKind::Reset => gains_little(event),
        EventKind::NoGain | EventKind::Discard => summarises(event),
        _ => false,
    };
    events.iter().filter(counts).count() as u64
}

/// Does nothing but a refusal make the policy shrink what stands in the context? No limit on it lies below what the provider takes, and no rule acts
/// whatever its size is. `looked_at` is the lowest limit that its program has named.
pub(super) fn never_fires(plan: &Plan, conditions: &Conditions, looked_at: Option<f64>) -> bool {
    let rules = || plan.rule.iter().filter(|rule| rule.at != Hook::Overflow && (rule.at != Hook::Ingest || rule.asks()));
    let limits: Vec<f64> = rules().filter_map(|rule| rule.when.as_ref()).flat_map(limits_of).chain(looked_at).collect();
    // Without `when` a rule acts always, but for one that runs in the place of another alone. What a program asks for is known by what it looks at.
    let acts_always = |rule: &Rule| {
        let shrinks = rule.mask.is_some() || rule.truncate.is_some() || rule.drop.is_some() || rule.summarise.is_some();
        rule.when.is_none() && rule.at != Hook::Manual && (shrinks || rule.asks() && looked_at.is_none())
    };
    !limits.is_empty() && limits.iter().all(|limit| *limit >= conditions.prompt_limit as f64) && !rules().any(|rule| acts_always(rule))
}

pub(super) fn limits_of(trigger: &Trigger) -> Vec<f64> {
    match trigger {
        // What does not depend on size can fire in any window, and so can what falls with the context.
        Trigger::Level(level) => vec![level.before_refusals().unwrap_or(0.0)],
        Trigger::Count(_) | Trigger::Idle(_) => vec![0.0],
        Trigger::Any(triggers) | Trigger::All(triggers) => triggers.iter().flat_map(limits_of).collect(),
    }
}
