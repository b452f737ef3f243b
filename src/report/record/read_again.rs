//! What was read again, part of schema `ctxsim.backtest/2`.

use super::keys::record;
use super::number::share_of;
use crate::experiment::{Group, ReadAgain};

record! {
    /// Part of schema `ctxsim.backtest/2`.
    pub struct ReadAgainRecord(found: &ReadAgain) {
        compactions: u64 = found.compactions,
        prunings: u64 = found.prunings,
        readings: u64 = found.readings,
        repeated: u64 = found.repeated,
        groups: Vec<GroupRecord> = found.groups.iter().map(GroupRecord::new).collect(),
    }
}

record! {
    struct GroupRecord(group: &Group) with {
        let interval = group.interval();
    } {
        standing: &'static str = group.standing.name(),
        basis: &'static str = group.basis.name(),
        taken_up: bool = group.taken_up,
        results: u64 = group.results,
        sessions: u64 = group.sessions,
        again: u64 = group.again,
        again_share: Option<f64> = share_of(group.again, group.results),
        again_share_low: Option<f64> = interval.map(|(low, _)| low as f64 / 1e6),
        again_share_high: Option<f64> = interval.map(|(_, high)| high as f64 / 1e6),
        file_again: u64 = group.file_again,
    }
}
