//! Which policy does best over a corpus, and how sure that is: the same choice over sessions drawn anew.

use super::replay::Replay;
use crate::sim::Outcome;
use crate::statistics::{between, resamples};
use std::cmp::Ordering;

/// So often sessions are drawn.
pub const DRAWS: usize = 400;

/// The share of the draws beyond each end of a range, in thousandths.
const OUTSIDE: u64 = 25;

/// Where chance begins: the same corpus gives the same choice.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The best of several policies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Its place among the replays.
    pub place: usize,
    /// The range of its saving that holds 95 of 100 draws, as millionths of the recorded prompt tokens of the sessions that it and the
    /// recording bring to their end. Absent where there is but one session.
    pub saved: Option<(i64, i64)>,
    /// In how many of [`DRAWS`] draws the same policy is the best. Absent where there is but one session.
    pub first: Option<usize>,
}

/// What policies are compared by: the fewest sessions that end in a refusal, then the fewest overflows, then the fewest tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Worth {
    ended: u64,
    overflows: u64,
    /// Prompts and the summariser's own calls.
    tokens: u64,
    /// Prompts of the sessions that the policy and the recording bring to their end, under both.
    compared: u64,
    recorded: u64,
}

impl Worth {
    fn of(outcome: &Outcome) -> Worth {
        let totals = &outcome.totals;
        Worth {
            ended: totals.failed_sessions,
            overflows: totals.overflows,
            tokens: totals.prompt_tokens + totals.summariser_tokens,
            compared: totals.compared_tokens,
            recorded: totals.recorded_tokens,
        }
    }

    fn add(&mut self, other: Worth, times: u64) {
        self.ended += other.ended * times;
        self.overflows += other.overflows * times;
        self.tokens += other.tokens * times;
        self.compared += other.compared * times;
        self.recorded += other.recorded * times;
    }

    /// The saving in millionths.
    fn saved(&self) -> i64 {
        let (recorded, compared) = (i128::from(self.recorded), i128::from(self.compared));
        ((recorded - compared) * 1_000_000).checked_div(recorded).and_then(|share| i64::try_from(share).ok()).unwrap_or(0)
    }
}

/// The best policy; `None` where there is none.
pub fn choose(replays: &[Replay]) -> Option<Choice> {
    let worths: Vec<Vec<Worth>> = replays.iter().map(|replay| replay.outcomes.iter().map(Worth::of).collect()).collect();
    let sessions = worths.first().map_or(0, Vec::len);
    let sum = |worths: &Vec<Worth>, times: &dyn Fn(usize) -> u64| {
        let mut sum = Worth::default();
        worths.iter().enumerate().for_each(|(session, worth)| sum.add(*worth, times(session)));
        sum
    };
    let all: Vec<Worth> = worths.iter().map(|worths| sum(worths, &|_| 1)).collect();
    let place = best(&all)?;
    let mut first = 0;
    let mut saved = Vec::with_capacity(DRAWS);
    for drawn in resamples(sessions, DRAWS, SEED) {
        let times = |session: usize| drawn.get(session).copied().map_or(0, u64::from);
        let sums: Vec<Worth> = worths.iter().map(|worths| sum(worths, &times)).collect();
        first += usize::from(best(&sums) == Some(place));
        saved.extend(sums.get(place).map(Worth::saved));
    }
    let saved = between(saved, OUTSIDE);
    Some(Choice { place, first: saved.map(|_| first), saved })
}

/// The least of them, the earlier one at a tie.
fn best(worths: &[Worth]) -> Option<usize> {
    let compare = |one: &(usize, &Worth), other: &(usize, &Worth)| match one.1.cmp(other.1) {
        Ordering::Equal => one.0.cmp(&other.0),
        order => order,
    };
    worths.iter().enumerate().min_by(compare).map(|(place, _)| place)
}
