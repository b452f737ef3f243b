//! What a setting comes to by session, or by bundle of sessions where there are many.

use crate::experiment::measure::Measure;
use crate::experiment::metric::{OverSessions, Unit};
use crate::statistics::quotient;
use serde::{Deserialize, Serialize};

/// The parts of a measure, and what they are held against, by session or by bundle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// The dividend. Empty where values of sessions do not add up.
    pub parts: Vec<i64>,
    /// The divisor; empty where the measure stands by itself.
    pub wholes: Vec<i64>,
    /// The places of sessions that fail, and of bundles that hold one, ascending: a value of theirs is one of fewer calls, and is compared with none.
    /// Empty for what counts failures.
    pub failed: Vec<usize>,
    /// The places of sessions without a call, and, where money is counted, of those without a price; ascending. They say nothing of any setting.
    pub empty: Vec<usize>,
    /// Does the dividend count events? Chance alone brings more or fewer of them.
    #[serde(default)]
    pub events: bool,
}

impl Sums {
    /// The same, with what has no price among what says nothing where money is counted.
    pub(crate) fn of_priced(mut self, measure: &Measure, unpriced: &[usize]) -> Sums {
        if measure.parts().any(|metric| metric.unit == Unit::Money) {
            self.empty.extend(unpriced);
            self.empty.sort_unstable();
            self.empty.dedup();
        }
        self
    }

    /// By session: is it compared with that of another setting?
    pub(super) fn compared(&self, other: &Sums) -> Vec<bool> {
        let mut compared = vec![true; self.parts.len()];
        for place in [self, other].into_iter().flat_map(|sums| sums.failed.iter().chain(&sums.empty)) {
            compared.iter_mut().skip(*place).take(1).for_each(|compared| *compared = false);
        }
        compared
    }

    /// The same with nothing but what is compared.
    pub(super) fn over(&self, compared: &[bool]) -> Sums {
        let over = |values: &[i64]| values.iter().zip(compared).map(|(value, compared)| if *compared { *value } else { 0 }).collect();
        Sums { parts: over(&self.parts), wholes: over(&self.wholes), events: self.events, ..Sums::default() }
    }

    /// What it comes to over all of them.
    pub(crate) fn value(&self) -> f64 {
        let sum = |values: &[i64]| values.iter().map(|value| *value as f64).sum::<f64>();
        if self.wholes.is_empty() { sum(&self.parts) } else { quotient(sum(&self.parts), sum(&self.wholes)) }
    }
}

/// The sums of two settings over the sessions that both bring to their end.
pub(crate) fn beside(one: &Sums, other: &Sums) -> [Sums; 2] {
    let compared = one.compared(other);
    [one, other].map(|sums| sums.over(&compared))
}

/// Do the values of sessions add up to that of a measure?
pub(super) fn adds_up(measure: &Measure) -> bool {
    measure.parts().all(|metric| metric.over_sessions == OverSessions::Sum)
}
