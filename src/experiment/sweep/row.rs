//! What one setting came to.

use super::sums::Sums;
use crate::experiment::charges::Charges;
use crate::experiment::measure::{Measure, Value};
use crate::sim::Totals;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Quotients are told in parts of one of this size.
pub const PARTS: u64 = 1_000_000;

/// What one setting came to over all sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The place of the setting.
    pub setting: usize,
    /// Sums over all sessions, without ratios of estimates and without tools.
    pub totals: Totals,
    /// What that costs; 0 where no bill was asked for.
    pub charges: Charges,
    /// By measure: its interval over the sessions. Quotients in millionths. Empty where there are fewer than two clusters of sessions.
    pub spread: BTreeMap<String, (i64, i64)>,
    /// What was asked for, the objective first.
    pub sums: Vec<Sums>,
}

impl Row {
    /// Does another setting have the same sums over all sessions, and the same costs?
    pub fn is_as(&self, other: &Row) -> bool {
        (&self.totals, &self.charges) == (&other.totals, &other.charges)
    }

    /// The value of a measure.
    pub fn value(&self, measure: &Measure) -> Value {
        measure.of(&self.totals, &self.charges)
    }

    /// Sessions that the setting fails, in the open loop or in the closed one, whichever fails more.
    pub fn failed_sessions(&self) -> u64 {
        self.totals.failed_sessions.max(self.charges.net_failed_sessions)
    }
}
