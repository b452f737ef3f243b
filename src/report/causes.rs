//! Why contexts overflowed, and what stands out in a policy's behaviour.

use super::document::{Cell, Column, Provenance, Section, Unit};
use super::field::Fields;
use crate::experiment::Replay;
use crate::sim::{Cause, Warning};
use std::cmp::Reverse;

const fn simulated(key: &'static str, header: &'static str, unit: Unit) -> Column {
    Column::number(key, header, unit, Provenance::Simulated)
}

/// Overflows by policy and cause, the most frequent cause first. Absent where nothing overflowed.
pub fn causes(replays: &[Replay]) -> Option<Section> {
    let rows = replays.iter().flat_map(|replay| {
        let mut causes: Vec<(&Replay, Cause, u64)> = replay.totals.causes.iter().map(|(cause, count)| (replay, *cause, *count)).collect();
        causes.sort_by_key(|(_, cause, count)| (Reverse(*count), *cause));
        causes
    });
    let table = Fields::<(&Replay, Cause, u64)>::new()
        .with(Column::name("policy", "policy"), |(replay, ..)| Cell::name(&replay.policy))
        .with(simulated("overflows", "overflows", Unit::Count), |(.., count)| Cell::Count(*count))
        .with(simulated("share", "share", Unit::Share), |(replay, _, count)| Cell::share(*count, replay.totals.overflows))
        .with(Column::prose("cause", "cause"), |(_, cause, _)| Cell::name(cause.name()));
    table.table(1, rows).told("Why contexts overflowed")
}

/// Warnings by policy, as sentences. Absent where there is nothing to warn of.
pub fn warnings(replays: &[Replay]) -> Option<Section> {
    let rows =
        replays.iter().flat_map(|replay| replay.totals.warnings.iter().map(move |(warning, sessions)| (replay, *warning, *sessions)));
    let table = Fields::<(&Replay, Warning, u64)>::new()
        .with(Column::name("policy", "policy"), |(replay, ..)| Cell::name(&replay.policy))
        .with(simulated("sessions", "sessions", Unit::Count), |(.., sessions)| Cell::Count(*sessions))
        .with(Column::prose("warning", "warning"), |(_, warning, _)| Cell::name(warning.sentence()));
    table.table(1, rows).told("Warnings")
}
