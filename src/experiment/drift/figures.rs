//! Figures over pairs of an estimate and a recorded prompt. Integers all through: the order of the pairs cannot change them.

use crate::statistics::{distinct, quantile, sorted};
use crate::units::signed;
use serde::Serialize;
use std::sync::Arc;

/// Ratios of recorded to estimated from here on are given as this, in thousandths: estimates of nothing have no other.
const LARGEST_RATIO: u64 = 1_000_000;

/// An estimate beside what was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Tokens that were estimated.
    pub estimated: u64,
    /// Tokens that were recorded.
    pub recorded: u64,
    /// The session's place in the corpus.
    pub session: usize,
    /// The call, from 0.
    pub call: usize,
}

/// The recorded half of a pair, which estimators share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    tokens: u64,
    session: u32,
    call: u32,
}

/// Pairs of one estimator. Those of all estimators are of the same calls, so that each takes the room of an estimate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairList {
    recorded: Arc<Vec<Recorded>>,
    estimated: Vec<u64>,
}

impl PairList {
    /// The estimates of these calls.
    pub(super) fn of(recorded: &Arc<Vec<Recorded>>, estimated: Vec<u64>) -> PairList {
        PairList { recorded: Arc::clone(recorded), estimated }
    }

    /// Number of pairs, one per compared call.
    pub fn len(&self) -> usize {
        self.estimated.len()
    }

    /// Does the list hold no pair?
    pub fn is_empty(&self) -> bool {
        self.estimated.is_empty()
    }

    /// All of them, in the order of sessions and calls.
    pub fn iter(&self) -> impl Iterator<Item = Pair> {
        let pair = |(recorded, estimated): (&Recorded, &u64)| Pair {
            estimated: *estimated,
            recorded: recorded.tokens,
            session: recorded.session as usize,
            call: recorded.call as usize,
        };
        self.recorded.iter().zip(&self.estimated).map(pair)
    }
}

/// How far estimates lie from recorded prompts, over pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Number of pairs, one per compared call.
    pub calls: u64,
    /// Sessions that they come from.
    pub sessions: u64,
    /// Sum of the estimates.
    pub estimated_tokens: u64,
    /// Sum of the recorded prompts.
    pub recorded_tokens: u64,
    /// Mean of |estimated - recorded| / recorded, in millionths.
    pub mape_millionths: u64,
    /// Recorded / estimated in thousandths: the 5th, 50th, 95th and 99th percentile over calls.
    pub ratios: Option<Ratios>,
    /// The pair whose estimate was most tokens too low; absent where none was too low.
    pub worst: Option<Worst>,
}

/// Quantiles of recorded / estimated, in thousandths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ratios {
    /// 5th percentile over calls.
    pub p05: u64,
    /// Median over calls.
    pub p50: u64,
    /// 95th percentile over calls.
    pub p95: u64,
    /// 99th percentile over calls.
    pub p99: u64,
}

/// An underestimate, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Worst {
    /// The session's place in the corpus.
    #[serde(skip)]
    pub session: usize,
    /// The call, from 0.
    pub call: usize,
    /// Tokens that were estimated.
    pub estimated: u64,
    /// Tokens that were recorded.
    pub recorded: u64,
}

impl Pair {
    /// How many tokens are missing in the estimate; negative where it is too high.
    pub fn missing(&self) -> i64 {
        signed(self.recorded) - signed(self.estimated)
    }

    pub(super) fn known(&self) -> Recorded {
        Recorded { tokens: self.recorded, session: self.session as u32, call: self.call as u32 }
    }

    fn ratio(&self) -> u64 {
        let ratio = (u128::from(self.recorded) * 1000 + u128::from(self.estimated) / 2).checked_div(u128::from(self.estimated));
        ratio.map_or(LARGEST_RATIO, |ratio| u64::try_from(ratio).unwrap_or(LARGEST_RATIO).min(LARGEST_RATIO))
    }
}

impl Figures {
    /// The figures of these pairs.
    pub fn of(pairs: &[Pair]) -> Figures {
        let calls = pairs.len() as u64;
        let errors: u128 =
            pairs.iter().map(|pair| u128::from(pair.missing().unsigned_abs()) * 1_000_000_000 / u128::from(pair.recorded.max(1))).sum();
        let ratios = sorted(pairs.iter().map(Pair::ratio));
        let at = |percent: u64| quantile(&ratios, percent * 10);
        let low = pairs.iter().filter(|pair| pair.missing() > 0);
        let worst = low.max_by_key(|pair| (pair.missing(), std::cmp::Reverse((pair.session, pair.call))));
        Figures {
            calls,
            sessions: distinct(pairs.iter().map(|pair| pair.session)).len() as u64,
            estimated_tokens: pairs.iter().map(|pair| pair.estimated).sum(),
            recorded_tokens: pairs.iter().map(|pair| pair.recorded).sum(),
            mape_millionths: errors.checked_div(u128::from(calls) * 1000).map_or(0, |mean| u64::try_from(mean).unwrap_or(u64::MAX)),
            ratios: at(5).zip(at(50)).zip(at(95)).zip(at(99)).map(|(((p05, p50), p95), p99)| Ratios { p05, p50, p95, p99 }),
            worst: worst.map(|pair| Worst { session: pair.session, call: pair.call, estimated: pair.estimated, recorded: pair.recorded }),
        }
    }

    /// Estimated less recorded, summed; its share of the recorded tokens is the bias.
    pub fn bias_tokens(&self) -> i64 {
        signed(self.estimated_tokens) - signed(self.recorded_tokens)
    }
}
