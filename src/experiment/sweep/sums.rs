//! What a setting comes to by cluster of sessions.

use crate::experiment::measure::Measure;
use crate::experiment::metric::OverSessions;
use serde::{Deserialize, Serialize};

/// The parts of a measure, and what they are held against, by cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// The dividend. Empty where values of sessions do not add up.
    pub parts: Vec<i64>,
    /// The divisor; empty where the measure stands by itself.
    pub wholes: Vec<i64>,
}

/// Do the values of sessions add up to that of a measure?
pub(super) fn adds_up(measure: &Measure) -> bool {
    measure.parts().all(|metric| metric.over_sessions == OverSessions::Sum)
}
