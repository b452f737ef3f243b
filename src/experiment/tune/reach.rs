//! Which sessions a policy touches, or nearly: the others say nothing of its settings.

use crate::corpus::Corpus;
use crate::experiment::replay::{Ready, ReplaySettings};
use crate::policy::{Hook, Plan, Policy, PolicyError, Trigger};
use crate::sim::{EventKind, Refetching, SharedSession, Totals};
use rayon::prelude::*;

/// A session comes near a limit where its largest context reaches so many percent of it.
const NEAR: u64 = 80;

/// What a policy does to a context.
const DEEDS: [EventKind; 5] = [EventKind::Truncate, EventKind::Prune, EventKind::Compact, EventKind::Drop, EventKind::Reset];

/// Does a policy do anything, or would it have had to?
pub(super) fn acts(totals: &Totals) -> bool {
    totals.overflows > 0 || DEEDS.iter().any(|kind| totals.events_of(*kind) > 0)
}

/// By session: does the policy act in it, or does it come near the lowest of its limits?
pub fn near(corpus: &Corpus, policy: &Policy, replay: &ReplaySettings<'_>) -> Result<Vec<bool>, PolicyError> {
    let ready = Ready::new(corpus, policy, replay)?;
    let is_near = |(place, trace)| {
        let Some(limit) = ready.session(place).map(|(plan, conditions)| lowest(plan).unwrap_or(conditions.prompt_limit)) else {
            return false;
        };
        let totals = ready.outcome(&mut SharedSession::new(trace), place, Refetching::Never).totals;
        acts(&totals) || totals.peak_tokens.saturating_mul(100) >= limit.saturating_mul(NEAR)
    };
    Ok(corpus.traces.par_iter().enumerate().map(is_near).collect())
}

/// The lowest size at which a rule of the policy looks at the context.
fn lowest(plan: &Plan) -> Option<u64> {
    let levels = plan.rule.iter().filter(|rule| rule.at != Hook::Overflow).filter_map(|rule| match &rule.when {
        Some(Trigger::Level(level)) => level.ge.or(level.gt),
        _ => None,
    });
    levels.map(|limit| limit.max(0.0) as u64).min()
}
