//! What replays cost, session by session. It follows from the outcomes, so that other prices need no other replay.

use super::corpus::Corpus;
use super::replay::Replay;
use crate::cost::{Bills, Check, Tariff, bills, check};
use crate::policy::Plan;
use crate::sim::{Conditions, Outcome, Refetching, simulate};
use crate::trace::Trace;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Makes the bills of replays, in place of those that they had.
pub fn price(corpus: &Corpus, replays: &mut [Replay], tariff: &Tariff<'_>) {
    for replay in replays {
        replay.bills = corpus.traces.par_iter().zip(&replay.outcomes).map(|(trace, outcome)| bills(trace, outcome, tariff)).collect();
        replay.bill = Bills::default();
        replay.bills.iter().for_each(|bills| replay.bill += bills);
        if let Some(closed) = replay.closed.as_deref_mut() {
            price(corpus, std::slice::from_mut(closed), tariff);
        }
    }
}

/// A session under a policy, net of refetches: what the policy broke is read again ([`Refetching::Lost`], or as the conditions say), and all
/// that follows from it is in the sums and in the bills. `tokens_saved` of these totals is the saving net of refetches.
pub fn net_of_refetches(trace: &Trace, plan: &Plan, conditions: &Conditions, tariff: &Tariff<'_>) -> (Outcome, Bills) {
    let refetch = if conditions.refetch == Refetching::Never { Refetching::Lost } else { conditions.refetch };
    let outcome = simulate(trace, plan, &Conditions { refetch, ..conditions.clone() });
    let bills = bills(trace, &outcome, tariff);
    (outcome, bills)
}

/// The model of the cache held against what was recorded, by agent in the order of their names.
pub fn check_model(corpus: &Corpus, tariff: &Tariff<'_>) -> BTreeMap<String, Check> {
    let unlimited = Conditions { window: u64::MAX / 2, prompt_limit: u64::MAX / 2, ..Conditions::default() };
    let checks: Vec<Check> =
        corpus.traces.par_iter().map(|trace| check(trace, &simulate(trace, &Plan::default(), &unlimited), tariff)).collect();
    let mut by_agent: BTreeMap<String, Check> = BTreeMap::new();
    for (trace, check) in corpus.traces.iter().zip(&checks) {
        *by_agent.entry(trace.agent.clone()).or_default() += check;
    }
    by_agent
}
