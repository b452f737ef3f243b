//! Numbers of records: shares with six decimals, money as decimal dollars in a string.

use super::keys::record;
use crate::experiment::{Difference, Measure, Unit, Value};
use crate::report::words::decimal_dollars;

record! {
    /// A difference as a share of what it is held against, with its interval.
    pub struct ShareRecord(difference: Difference) {
        share: f64 = round(difference.share.value),
        share_p05: f64 = round(difference.share.low),
        share_p95: f64 = round(difference.share.high),
        compared_sessions: usize = difference.compared,
        differing_clusters: usize = difference.deciding.differing,
        interval_too_narrow: bool = difference.deciding.is_narrow,
    }
}

impl ShareRecord {
    /// The record; `None` without a difference, and where that is no share.
    pub fn of(difference: Option<Difference>) -> Option<ShareRecord> {
        difference.filter(|difference| difference.whole.is_some()).map(ShareRecord::new)
    }
}

/// A share with six decimals; `None` of nothing.
pub fn share(part: f64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| round(part / whole as f64))
}

/// The same of a number without a sign.
pub fn share_of(part: u64, whole: u64) -> Option<f64> {
    share(part as f64, whole)
}

/// A share that is one with six decimals.
pub fn round(share: f64) -> f64 {
    (share * 1e6).round() / 1e6
}

/// Money, exact to the thousand-millionth.
pub fn usd(nano_usd: u64) -> String {
    decimal_dollars(i64::try_from(nano_usd).unwrap_or(i64::MAX))
}

/// The same; `None` where no price is known.
pub fn usd_of(is_priced: bool, nano_usd: u64) -> Option<String> {
    is_priced.then(|| usd(nano_usd))
}

/// A value as a number for programs: money in dollars, quotients worked out, six decimals at most but for money. `None` for a share of nothing.
pub fn number(value: Value, measure: &Measure) -> Option<f64> {
    (value.whole > 0).then(|| in_unit(value.part as f64 / value.whole as f64, measure.part.unit))
}

/// A number of this unit: money in dollars, all else with six decimals.
pub fn in_unit(number: f64, unit: Unit) -> f64 {
    if unit == Unit::Money { number / 1e9 } else { round(number) }
}

/// A bound as a number for programs.
pub fn bound_number(part: i64, measure: &Measure) -> f64 {
    in_unit(part as f64 / if measure.whole.is_some() { 1e6 } else { 1.0 }, measure.part.unit)
}
