//! What could have been kept of the references to lines, now that the whole session is known: by the oracle, and by anybody at most.
//!
//! Both stand beside a policy, at its own budget: at each call they carry no more tokens than the policy did. `docs/references.md` says what they may
//! do and proves the bound.

mod bound;
mod needed;
mod needs;
mod oracle;
mod room;

pub use needed::costs;
pub use needs::{Need, Way};
pub use room::{Ahead, Source};

use super::outcome::Outcome;
use super::state::Conditions;
use super::{follow, watch};
use crate::context::Context;
use crate::policy::Plan;
use crate::trace::Trace;

/// As [`follow`], and the outcome says what the oracle, and anybody at most, would have kept in contexts of the same sizes.
pub fn in_hindsight(trace: &Trace, plan: &Plan, conditions: &Conditions, look: &mut dyn FnMut(&Context, usize)) -> Outcome {
    let mut ahead = Ahead::new(trace);
    let mut outcome = follow(trace, plan, conditions, &mut |context, events| {
        ahead.look(trace, context);
        look(context, events);
    });
    add(&mut ahead, &mut outcome);
    outcome
}

/// Adds what the oracle, and anybody at most, would have kept beside a replay that was watched to its end: over the calls that were answered.
pub(super) fn add(ahead: &mut Ahead, outcome: &mut Outcome) {
    ahead.end_after(outcome.answered().len());
    let retention = &mut outcome.totals.retention;
    let kept = ahead.oracle();
    retention.oracle = kept.iter().filter(|kept| **kept).count() as u64;
    retention.oracle_broken_calls = ahead.broken_calls(&kept);
    retention.achievable = ahead.bound(retention.oracle);
}

impl Ahead {
    /// What is known at the end of a replay under a policy.
    pub fn beside(trace: &Trace, plan: &Plan, conditions: &Conditions) -> Ahead {
        let mut ahead = Ahead::new(trace);
        let outcome = watch(trace, plan, conditions, &mut |context| ahead.look(trace, context));
        ahead.end_after(outcome.answered().len());
        ahead
    }

    /// The same where nothing is ever removed.
    pub fn of_everything(trace: &Trace) -> Ahead {
        let endless = Conditions { window: u64::MAX / 4, prompt_limit: u64::MAX / 4, ..Conditions::default() };
        Ahead::beside(trace, &Plan::default(), &endless)
    }
}
