//! Where contexts overflow: sessions under policies, the worst first.

use crate::corpus::Corpus;
use crate::experiment::Replay;
use crate::list::Arrange;
use crate::report::document::{Cell, Column, Fields, Section, Unit};
use crate::report::words::counted_as;
use crate::sim::{Event, EventKind, Outcome};
use crate::trace::Trace;
use std::borrow::Cow;
use std::cmp::Reverse;

/// So many rows are shown; the others are counted.
const SHOWN: usize = 20;

/// A policy, the place of a session that overflows under it, and by what the worst come first.
type Found<'a> = (&'a Replay, usize, Reverse<(u64, u64)>);

/// One row per session and policy with an overflow, and how many more there are. Absent where nothing overflows.
pub fn overflows<'a>(corpus: &Corpus, replays: impl Iterator<Item = &'a Replay>) -> Option<(Section, Option<String>)> {
    let first = |outcome: &Outcome| outcome.events.iter().find(|event| event.kind == EventKind::Overflow).cloned();
    let mut found: Vec<Found<'_>> = Vec::new();
    for replay in replays {
        for (place, outcome) in replay.outcomes.each().enumerate().filter(|(_, outcome)| first(outcome).is_some()) {
            found.push((replay, place, Reverse((outcome.totals.failed_sessions, outcome.totals.overflows))));
        }
    }
    // The sort is stable: equals stay in the order of policies and corpus.
    found.arrange_by_key(|(.., badness)| *badness);
    let left_out = found.len().saturating_sub(SHOWN) as u64;
    let row = |(replay, place, _): &Found<'a>| {
        let outcome = replay.outcomes.at(*place)?;
        let first = first(&outcome)?;
        Some((corpus.traces.at(*place)?, *replay, outcome, first))
    };
    let excess = |outcome: &Outcome| outcome.calls.iter().map(|call| call.attempted.saturating_sub(outcome.prompt_limit)).max();
    let above = "how far the largest prompt stood above what the provider accepts";
    let table = Fields::<(Cow<'_, Trace>, &Replay, Cow<'_, Outcome>, Event)>::new()
        .with(Column::name("session", "session"), |(trace, ..)| Cell::text(&trace.id))
        .with(Column::name("policy", "policy"), |(_, replay, ..)| Cell::name(&replay.policy))
        .with(Column::recorded("calls", "calls", Unit::Count), |(.., outcome, _)| Cell::Count(outcome.totals.calls))
        .with(Column::simulated("overflows", "overflows", Unit::Count), |(.., outcome, _)| Cell::Count(outcome.totals.overflows))
        .with(Column::simulated("first_call", "first at", Unit::Count).says("the first call that overflows"), |(.., first)| {
            Cell::Count(u64::from(first.call) + 1)
        })
        .with(Column::simulated("excess_tokens", "largest excess", Unit::Tokens).says(above), |(.., outcome, _)| {
            Cell::Tokens(excess(outcome).unwrap_or(0))
        })
        .with(Column::prose("cause", "cause of the first"), |(.., first)| Cell::name(first.cause.map_or("", |cause| cause.name())))
        .table(2, found.iter().take(SHOWN).filter_map(row));
    let rest = (left_out > 0).then(|| {
        format!(
            "{} left out here; sessions.csv has them all.",
            counted_as(left_out, "more row with overflows is", "more rows with overflows are")
        )
    });
    table.section("Sessions that overflow, the worst first").map(|section| (section, rest))
}
