//! What could have been kept beside a replay.

use super::lookahead::Lookahead;
use crate::context::Context;
use crate::policy::Plan;
use crate::sim::conditions::Conditions;
use crate::sim::outcome::Outcome;
use crate::sim::run::{follow, watch};
use crate::trace::Trace;

/// As [`follow`], and the outcome says what the oracle, and any policy at most, would have kept in contexts of the same sizes.
pub fn in_hindsight(trace: &Trace, plan: &Plan, conditions: &Conditions, look: &mut dyn FnMut(&Context, usize)) -> Outcome {
    let mut ahead = Lookahead::new(trace);
    let mut outcome = follow(trace, plan, conditions, &mut |context, events| {
        ahead.look(trace, context);
        look(context, events);
    });
    add(&mut ahead, &mut outcome);
    outcome
}

/// Adds what the oracle, and any policy at most, would have kept beside a replay that was watched to its end: over the calls that were answered.
pub fn add(ahead: &mut Lookahead, outcome: &mut Outcome) {
    ahead.end_after(outcome.answered().len());
    let retention = &mut outcome.totals.retention;
    let kept = ahead.oracle();
    retention.hindsight = 1;
    retention.oracle = kept.iter().filter(|kept| **kept).count() as u64;
    retention.oracle_broken_calls = ahead.broken_calls(&kept);
    retention.achievable = ahead.bound(retention.oracle);
}

impl Lookahead {
    /// What is known at the end of a replay under a policy.
    pub fn beside(trace: &Trace, plan: &Plan, conditions: &Conditions) -> Lookahead {
        let mut ahead = Lookahead::new(trace);
        let outcome = watch(trace, plan, conditions, &mut |context| ahead.look(trace, context));
        ahead.end_after(outcome.answered().len());
        ahead
    }

    /// The same where nothing is ever removed.
    pub fn of_everything(trace: &Trace) -> Lookahead {
        Lookahead::beside(trace, &Plan::default(), &Conditions::endless())
    }
}
