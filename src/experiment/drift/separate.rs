//! What is hidden, apart from what is misjudged: an estimator's bias in three parts that add up to it.

use super::estimators::Compared;
use super::figures::signed;
use super::regression::Costs;
use super::sample::Session;
use crate::catalog::Family;
use crate::experiment::origin::sample;
use crate::statistics::{Interval, intervals};

/// An estimator's bias on a family's calls, in millionths of the recorded tokens: below zero where it says too little.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The estimator.
    pub estimator: String,
    /// The family.
    pub family: Family,
    /// Calls.
    pub calls: u64,
    /// All of it.
    pub bias: i64,
    /// The part of system prompt and tools that the log hides, less what the estimator counts for them.
    pub hidden: i64,
    /// The part of the wrapping of messages, likewise.
    pub messages: i64,
    /// What is left: texts that are misjudged, and what was hidden later than at the first call.
    pub texts: i64,
}

/// Parts, and their intervals: bias, hidden, messages, texts.
pub type Separated = (Parts, Option<[Interval<i64>; 4]>);

/// Sums over one session.
struct Sums {
    calls: u64,
    recorded: i64,
    estimated: i64,
    hidden: i64,
    messages: i64,
}

/// Takes an estimator's bias apart. `overheads` has the hidden overhead of each session, `costs` the family's.
pub(super) fn separate(
    compared: &Compared,
    sessions: &[Session<'_>],
    family: Family,
    overheads: &[Option<u64>],
    costs: &Costs,
) -> Option<Separated> {
    let (mut all, mut traces) = (Vec::new(), Vec::new());
    for ((session, estimates), overhead) in sessions.iter().zip(&compared.sessions).zip(overheads) {
        let Some(overhead) = overhead else { continue };
        let mut sums = Sums { calls: 0, recorded: 0, estimated: 0, hidden: 0, messages: 0 };
        for (observation, estimated) in session.observations.iter().zip(&estimates.requests) {
            if observation.left_out.is_some() || observation.family != family {
                continue;
            }
            let messages = observation.standing.messages;
            sums.calls += 1;
            sums.recorded += signed(observation.recorded);
            sums.estimated += signed(*estimated);
            sums.hidden += signed(estimates.overhead) - signed(*overhead);
            sums.messages += signed(messages * estimates.per_message) - signed(messages * costs.message / 1000);
        }
        if sums.calls > 0 {
            all.push(sums);
            traces.push(session.trace);
        }
    }
    let shares = |times: &[u32]| {
        let sum =
            |of: fn(&Sums) -> i64| -> i128 { all.iter().zip(times).map(|(sums, times)| i128::from(of(sums)) * i128::from(*times)).sum() };
        let recorded = sum(|sums| sums.recorded).max(1);
        let share = |part: i128| i64::try_from(part * 1_000_000 / recorded).unwrap_or(i64::MAX);
        let bias = share(sum(|sums| sums.estimated) - sum(|sums| sums.recorded));
        let (hidden, messages) = (share(sum(|sums| sums.hidden)), share(sum(|sums| sums.messages)));
        [bias, hidden, messages, bias - hidden - messages]
    };
    let calls = all.iter().map(|sums| sums.calls).sum();
    let [bias, hidden, messages, texts] = shares(&vec![1; all.len()]);
    let parts = Parts { estimator: compared.name.clone(), family, calls, bias, hidden, messages, texts };
    (calls > 0).then(|| (parts, intervals(&sample(traces), shares)))
}
