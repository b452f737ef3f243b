//! What settings come to by cluster of sessions, and how sure that makes their values, and the differences between them.

use super::goal::{Comparator, Constraint, Direction};
use super::row::{PARTS, Row};
use super::sums::Sums;
use crate::experiment::origin::sample;
use crate::statistics::{Bars, Estimate, FEWEST, Finding, Keeping, Resamples, Sample, effective, finding, keeping, quotient};
use crate::trace::Trace;

/// The sessions as they are drawn.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// The clusters of the sessions.
    pub sample: Sample,
    resamples: Resamples,
    sizes: Vec<i64>,
}

/// A difference from another setting.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// As a share of the other's value; where that is zero, the amount itself.
    pub share: Estimate,
    /// What it is a share of: in what the measure counts, and in millionths for quotients. `None` where the difference is no share.
    pub whole: Option<f64>,
    /// Clusters that the interval rests on.
    pub clusters: usize,
    /// How many of one size would say as much.
    pub effective: f64,
}

impl Difference {
    /// A share as an amount: in what the measure counts, and in millionths for quotients.
    pub fn amount(&self, share: f64) -> i64 {
        (share * self.whole.unwrap_or(1.0)).round() as i64
    }

    /// What is to be said of it, where so much is sought that way. What has no share is worth a change however small it is.
    pub fn finding(&self, direction: Direction, bars: &Bars) -> Finding {
        let Estimate { value, low, high } = self.share;
        let share = if direction == Direction::Minimise { self.share } else { Estimate { value: -value, low: -high, high: -low } };
        finding(Some(&share), &self.bars(bars))
    }

    /// The bars for a difference in its unit.
    pub fn bars(&self, bars: &Bars) -> Bars {
        if self.whole.is_some() { *bars } else { Bars::default() }
    }
}

impl Sampling {
    /// The sessions of a corpus, drawn so often.
    pub fn new(traces: &[Trace], resamples: usize, seed: u64) -> Sampling {
        Sampling::of(sample(traces), resamples, seed)
    }

    /// A sample, drawn so often.
    pub fn of(sample: Sample, resamples: usize, seed: u64) -> Sampling {
        Sampling { resamples: Resamples::new(sample.clusters(), resamples, seed), sizes: sample.sizes(), sample }
    }

    /// The interval of a measure over these sessions: in what it counts, and in millionths for quotients. Absent for fewer than two clusters, and
    /// where the values of sessions do not add up.
    pub fn spread(&self, sums: &Sums) -> Option<Estimate> {
        let scaled = |wholes: &[i64], scale: f64| {
            let ratio = self.resamples.ratio(&sums.parts, wholes)?;
            Some(Estimate { value: ratio.value * scale, low: ratio.low * scale, high: ratio.high * scale })
        };
        match (sums.parts.is_empty(), sums.wholes.is_empty()) {
            (true, _) => None,
            // A sum is the mean of a session times their number.
            (false, true) => scaled(&self.sizes, self.sizes.iter().sum::<i64>() as f64),
            (false, false) => scaled(&sums.wholes, PARTS as f64),
        }
    }

    /// How a measure differs from that of another setting. Absent for too few clusters, and where the values of sessions do not add up.
    pub fn difference(&self, one: &Sums, other: &Sums) -> Option<Difference> {
        let clusters = self.sample.clusters();
        if clusters < FEWEST || one.parts.len() != clusters || other.parts.len() != clusters {
            return None;
        }
        let value = |sums: &Sums, times: &[u16]| {
            let sum = |values: &[i64]| values.iter().zip(times).map(|(value, times)| *value as f64 * f64::from(*times)).sum::<f64>();
            if sums.wholes.is_empty() { sum(&sums.parts) } else { quotient(sum(&sums.parts), sum(&sums.wholes)) }
        };
        let is_quotient = !other.wholes.is_empty();
        let base = value(other, &vec![1; clusters]);
        let scale = if is_quotient { PARTS as f64 } else { 1.0 };
        let (share, whole) = if base != 0.0 {
            let [share] = self.resamples.estimates(|times| {
                let (one, other) = (value(one, times), value(other, times));
                [quotient(one - other, other.abs())]
            })?;
            (share, Some(base.abs() * scale))
        } else if is_quotient {
            let [amount] = self.resamples.estimates(|times| [(value(one, times) - value(other, times)) * scale])?;
            (amount, None)
        } else {
            let parts: Vec<i64> = one.parts.iter().zip(&other.parts).map(|(one, other)| one - other).collect();
            (self.spread(&Sums { parts, wholes: Vec::new() })?, None)
        };
        Some(Difference { share, whole, clusters, effective: effective(if is_quotient { &other.wholes } else { &other.parts }) })
    }

    /// Is a constraint kept by a row, whose sums these are? What no interval is known of, and what may not be at all and is, is judged by the value alone.
    pub fn keeping(&self, constraint: &Constraint, row: &Row, sums: Option<&Sums>) -> Keeping {
        let holds = constraint.holds(row.value(&constraint.measure));
        let exact = if holds { Keeping::Kept } else { Keeping::Broken };
        let none = constraint.limit.part == 0 && matches!(constraint.comparator, Comparator::AtMost | Comparator::Equal);
        let spread = sums.filter(|_| !none && self.sample.clusters() >= FEWEST).and_then(|sums| self.spread(sums));
        let (Some(spread), false) = (spread, constraint.comparator == Comparator::Equal) else { return exact };
        let scale = if constraint.measure.whole.is_some() { PARTS as f64 } else { 1.0 };
        let limit = constraint.limit.part as f64 / constraint.limit.whole.max(1) as f64 * scale;
        let at_most = constraint.direction() == Direction::Minimise;
        let kept = if at_most { spread.high <= limit } else { spread.low >= limit };
        let broken = if at_most { spread.low > limit } else { spread.high < limit };
        match (kept && holds, broken && !holds) {
            (true, _) => Keeping::Kept,
            (_, true) => Keeping::Broken,
            _ => Keeping::CannotTell,
        }
    }

    /// Does a setting come to no more of something than another one? A difference of one, or of what is not worth a change, decides nothing.
    pub fn no_more(&self, one: &Sums, other: &Sums, worth: f64) -> Keeping {
        let moved = || one.parts.iter().zip(&other.parts).map(|(one, other)| one - other);
        if one.wholes.is_empty() && moved().map(i64::abs).sum::<i64>() <= 1 {
            return Keeping::Kept;
        }
        let exact = if moved().sum::<i64>() <= 1 { Keeping::Kept } else { Keeping::Broken };
        self.difference(one, other)
            .map_or(exact, |difference| keeping(&difference.share, difference.whole.map_or(1.0, |whole| worth.max(1.0 / whole))))
    }
}

impl Row {
    /// The sums of the measure at this place of those that were asked for.
    pub fn sums_of(&self, place: usize) -> Option<&Sums> {
        self.sums.get(place).filter(|sums| !sums.parts.is_empty())
    }

    /// How the objective, the first of what was asked for, differs from that of another row.
    pub fn difference(&self, other: &Row, sampling: &Sampling) -> Option<Difference> {
        sampling.difference(self.sums_of(0)?, other.sums_of(0)?)
    }
}

/// What is to be said of a difference in what is sought; `None` where there is too little to judge by.
pub fn found(difference: Option<&Difference>, direction: Direction, bars: &Bars) -> Finding {
    difference.map_or(Finding::CannotJudge, |difference| difference.finding(direction, bars))
}
