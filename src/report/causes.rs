//! Why contexts overflowed, and what stands out in a policy's behaviour.

use super::document::{Cell, Column, Fields, Section, Unit};
use super::words::{counted, three_digits};
use crate::experiment::{NeverReached, Replay};
use crate::list::Arrange;
use crate::sim::{Cause, Warning};
use std::cmp::Reverse;

/// Overflows by policy and cause, the most frequent cause first. Absent where nothing overflowed.
pub fn causes<'a>(replays: impl Iterator<Item = &'a Replay>) -> Option<Section> {
    let rows = replays.flat_map(|replay| {
        let mut causes: Vec<(&Replay, Cause, u64)> = replay.totals.causes.iter().map(|(cause, count)| (replay, *cause, *count)).collect();
        causes.arrange_by_key(|(_, cause, count)| (Reverse(*count), *cause));
        causes
    });
    let table = Fields::<(&Replay, Cause, u64)>::new()
        .with(Column::name("policy", "policy"), |(replay, ..)| Cell::name(&replay.policy))
        .with(Column::simulated("overflows", "overflows", Unit::Count), |(.., count)| Cell::Count(*count))
        .with(Column::simulated("share", "share", Unit::Share), |(replay, _, count)| Cell::share(*count, replay.totals.overflows))
        .with(Column::prose("cause", "cause"), |(_, cause, _)| Cell::name(cause.name()));
    table.table(1, rows).section("Why contexts overflowed")
}

/// A warning in words, with the sessions that it holds for.
pub struct Warned<'a> {
    pub policy: &'a str,
    pub sessions: u64,
    pub sentence: String,
}

/// What is to be said of a policy that acts nowhere.
pub fn never_acts(reached: &NeverReached) -> String {
    let NeverReached { threshold, largest } = *reached;
    format!("never acts: its threshold, {}, lies above the largest context, {}", three_digits(threshold), three_digits(largest))
}

/// All warnings, policy by policy.
pub fn warned(replay: &Replay) -> Vec<Warned<'_>> {
    let of = |sessions: u64, sentence: String| Warned { policy: &replay.policy, sessions, sentence };
    let totals = &replay.totals;
    let told = |(warning, sessions): (&Warning, &u64)| match warning {
        Warning::NoGain if totals.compactions_without_gain > 0 => {
            let tries = counted(totals.compactions_without_gain, "compaction");
            of(*sessions, format!("{tries} without gain: less than 5 % of the context is freed, or nothing"))
        }
        warning => of(*sessions, warning.sentence().to_owned()),
    };
    let reached = replay.never_reached().map(|reached| of(totals.sessions, never_acts(&reached)));
    totals.warnings.iter().map(told).chain(reached).collect()
}

/// Warnings by policy, as sentences. Absent where there is nothing to warn of.
pub fn warnings<'a>(replays: impl Iterator<Item = &'a Replay>) -> Option<Section> {
    let table = Fields::<Warned<'_>>::new()
        .with(Column::name("policy", "policy"), |warned| Cell::name(warned.policy))
        .with(Column::simulated("sessions", "sessions", Unit::Count), |warned| Cell::Count(warned.sessions))
        .with(Column::prose("warning", "warning"), |warned| Cell::name(&warned.sentence));
    table.table(1, replays.flat_map(warned)).section("Warnings")
}
