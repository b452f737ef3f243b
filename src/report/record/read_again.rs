//! What was read again, part of schema `ctxsim.backtest/1`.

use super::number::share;
use crate::experiment::{Basis, Group, ReadAgain};
use serde::Serialize;

/// Part of schema `ctxsim.backtest/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadAgainRecord {
    compactions: u64,
    prunings: u64,
    readings: u64,
    repeated: u64,
    groups: Vec<GroupRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct GroupRecord {
    standing: &'static str,
    basis: &'static str,
    taken_up: bool,
    results: u64,
    sessions: u64,
    again: u64,
    again_share: f64,
    again_share_low: Option<f64>,
    again_share_high: Option<f64>,
    file_again: u64,
}

impl ReadAgainRecord {
    pub fn new(found: &ReadAgain) -> ReadAgainRecord {
        let group = |group: &Group| {
            let interval = group.interval();
            GroupRecord {
                standing: group.standing.name(),
                basis: match group.basis {
                    Basis::Lines => "lines",
                    Basis::Names => "names",
                    Basis::LinesAnyTime => "lines_any_time",
                },
                taken_up: group.taken_up,
                results: group.results,
                sessions: group.sessions,
                again: group.again,
                again_share: share(group.again as f64, group.results),
                again_share_low: interval.map(|(low, _)| low as f64 / 1e6),
                again_share_high: interval.map(|(_, high)| high as f64 / 1e6),
                file_again: group.file_again,
            }
        };
        ReadAgainRecord {
            compactions: found.compactions,
            prunings: found.prunings,
            readings: found.readings,
            repeated: found.repeated,
            groups: found.groups.iter().map(group).collect(),
        }
    }
}
