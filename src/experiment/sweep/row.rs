//! What one setting came to.

use super::sums::Sums;
use crate::experiment::charges::Charges;
use crate::experiment::measure::{Measure, Value};
use crate::experiment::metric::Unit;
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

    /// The value of a measure, for people and programs; `None` where money is counted and no call has a price, and for a share of nothing.
    pub fn known(&self, measure: &Measure) -> Option<Value> {
        let is_money = measure.parts().any(|metric| metric.unit == Unit::Money);
        Some(self.value(measure)).filter(|value| value.whole > 0 && (!is_money || self.charges.is_priced()))
    }

    /// The value of a measure; 0 for money without a price.
    pub fn value(&self, measure: &Measure) -> Value {
        measure.of(&self.totals, &self.charges)
    }

    /// Sessions that the setting fails, in the open loop or in the closed one, whichever fails more.
    pub fn failed_sessions(&self) -> u64 {
        self.totals.failed_sessions.max(self.charges.net_failed_sessions)
    }
}
