//! What drift does to policies: compactions that came too late or too early, and how many of them a perfect estimator would not have seen.

use super::buffer::{Buffer, buffers};
use super::figures::{Figures, Pair};
use super::halves::Half;
use super::sample::Session;
use crate::corpus::Corpus;
use crate::estimate::{Counting, Estimator, Unit};
use crate::experiment::replay::{Ready, Replay, ReplaySettings, replay};
use crate::list::List;
use crate::policy::{Plan, Policy, PolicyError};
use crate::sim::{Conditions, Guesses, Totals, simulate};
use serde::Serialize;

/// What drift did to one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Consequence {
    /// Name of the policy.
    pub policy: String,
    /// With the policy's own estimator.
    pub own: Counts,
    /// The same with true sizes in the place of its estimator's.
    pub perfect: Counts,
    /// Its estimate at its last look before a call, beside the call's prompt: calls at which it did nothing.
    pub beliefs: Figures,
    /// The safety buffers that this estimate needs.
    pub buffers: Vec<Buffer>,
}

/// What went wrong in a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Replayed calls of all sessions.
    pub calls: u64,
    /// Calls whose prompt the provider would refuse.
    pub overflows: u64,
    /// Overflows that the policy did not see coming: its trigger came late.
    pub late: u64,
    /// Shrinkings below its own limit: its trigger came early.
    pub early: u64,
}

/// Replays each policy with its own estimator and with a perfect one.
pub(super) fn consequences(
    corpus: &Corpus,
    sessions: &List<Session>,
    halves: &[Half],
    policies: &[Policy],
    settings: &ReplaySettings<'_>,
) -> Result<Vec<Consequence>, PolicyError> {
    let of = |(policy, own): (&Policy, Replay)| {
        let perfect = perfect(corpus, Ready::alone(corpus, policy, settings)?);
        let pairs = beliefs(&own, sessions);
        Ok(Consequence {
            policy: own.policy.clone(),
            own: Counts::of(&own.totals),
            perfect: Counts::of(&perfect.totals),
            beliefs: Figures::of(&pairs),
            buffers: buffers(pairs.iter().copied(), halves),
        })
    };
    // A program cannot be asked what it would do if it knew true sizes: it would see them.
    let by_rules: Vec<Policy> = policies.iter().filter(|policy| policy.program().is_none()).cloned().collect();
    by_rules.iter().zip(replay(corpus, &by_rules, settings)?).map(of).collect()
}

/// The replay in which the policy's estimates are true sizes, and what the session hides is known.
fn perfect(corpus: &Corpus, ready: Ready<'_>) -> Replay {
    let simulated = |place: usize| {
        let trace = corpus.traces.at(place)?;
        let (plan, conditions) = ready.session(place)?;
        let overhead = trace.calls.first().map_or(0, |call| call.hidden);
        let estimator = Estimator { unit: Unit::Tokens, denominator: 1, tools: Counting::Counted, overhead, ..Estimator::default() };
        let plan = Plan { estimator, ..plan.clone() };
        Some(simulate(&trace, &plan, &Conditions { guesses: Guesses::True, ..conditions }))
    };
    ready.with(List::made(&corpus.traces, |place| simulated(place).unwrap_or_default()))
}

impl Counts {
    fn of(totals: &Totals) -> Counts {
        Counts { calls: totals.calls, overflows: totals.overflows, late: totals.missed, early: totals.early }
    }
}

/// Estimates at calls at which the policy changed nothing: an estimate made before a context shrank says nothing about what was left.
fn beliefs(replay: &Replay, sessions: &List<Session>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (session, outcome) in sessions.each().zip(replay.outcomes.each()) {
        let mut events = outcome.events.iter().map(|event| event.call as usize).peekable();
        for observation in session.compared() {
            while events.next_if(|call| *call < observation.call).is_some() {}
            let Some(row) = outcome.calls.get(observation.call).filter(|_| events.peek() != Some(&observation.call)) else { continue };
            if let Some(belief) = row.belief.get() {
                pairs.push(Pair { estimated: belief, recorded: row.attempted, session: session.place, call: observation.call });
            }
        }
    }
    pairs
}
