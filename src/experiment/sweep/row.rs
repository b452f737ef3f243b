//! What one setting came to.

use crate::experiment::charges::Charges;
use crate::experiment::measure::{Measure, Value};
use crate::sim::Totals;
use crate::statistics;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The share of the resamples beyond each bound, in thousandths.
const OUTSIDE: u64 = 50;

/// Quotients are told in parts of one of this size.
pub const PARTS: u64 = 1_000_000;

/// What one setting came to over all sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The place of the setting.
    pub setting: usize,
    /// Sums over all sessions, without ratios of guesses and without tools.
    pub totals: Totals,
    /// What that costs; nought where nobody asked.
    pub charges: Charges,
    /// By measure: what lies between the 5th and the 95th percentile of the resamples. Quotients in millionths. Empty where there are
    /// fewer than two sessions.
    pub spread: BTreeMap<String, (i64, i64)>,
    /// The objective in each resample of the sessions; quotients in millionths. Resamples are the same for all settings. Empty where
    /// there are fewer than two sessions.
    pub resampled: Vec<i64>,
}

impl Row {
    /// The value of a measure.
    pub fn value(&self, measure: &Measure) -> Value {
        measure.of(&self.totals, &self.charges)
    }

    /// Sessions that the setting fails, in the open loop or in the closed one, whichever fails more.
    pub fn failed_sessions(&self) -> u64 {
        self.totals.failed_sessions.max(self.charges.net_failed_sessions)
    }
}

/// The 5th and the 95th percentile; `None` of nothing.
pub fn between(values: Vec<i64>) -> Option<(i64, i64)> {
    statistics::between(values, OUTSIDE)
}
