//! What drift does, and how much room would make up for it.

use super::accuracy::{is_shown, number};
use crate::experiment::drift::{Buffer, Consequence, Findings, Use};
use crate::report::document::{Cell, Column, Fields, Section, Unit};
use crate::report::words::{counted, grouped};

/// Policies with their own estimator and with a perfect one.
pub(super) fn policies(findings: &Findings) -> Option<Section> {
    let count = |key, header, meaning| Column::simulated(key, header, Unit::Count).says(meaning);
    let perfect = "the same with true sizes in the place of its estimator's: what is left is not the estimator's fault";
    let early = "shrinkings below the policy's own limit by more than its safety buffer";
    Fields::new()
        .with(Column::name("policy", "policy"), |row: &&Consequence| Cell::name(&row.policy))
        .with(count("calls", "calls", "calls that were replayed"), |row| Cell::Count(row.own.calls))
        .with(count("late", "late", "overflows at which the policy's estimate was within its limit"), |row| Cell::Count(row.own.late))
        .with(count("late_perfect", "late, perfect", perfect), |row| Cell::Count(row.perfect.late))
        .with(count("early", "early", early), |row| Cell::Count(row.own.early))
        .with(count("early_perfect", "early, perfect", "the same with true sizes"), |row| Cell::Count(row.perfect.early))
        .with(count("overflows", "overflows", "calls that the provider would have refused"), |row| Cell::Count(row.own.overflows))
        .with(count("overflows_perfect", "overflows, perfect", "the same with true sizes"), |row| Cell::Count(row.perfect.overflows))
        .table(1, &findings.consequences)
        .section("Triggers that came late or early")
}

/// The tokens that each estimator needs free, and how many held-out calls they cover.
pub(super) fn buffers(findings: &Findings) -> Option<Section> {
    let mut rows = Vec::new();
    for row in findings.buffers.iter().filter(|row| is_shown(&row.estimator)) {
        let used = match row.used {
            Use::Request => "whole request",
            Use::SinceUsage => "since last usage",
        };
        let family = row.family.map_or("all", |family| family.name());
        // By family the middle level says enough, where there are calls enough for it.
        let has_one = |buffer: &&Buffer| buffer.tokens.is_some() || buffer.swapped.is_some();
        let wanted = row.buffers.iter().filter(|buffer| row.family.is_none() || (buffer.level == 990 && has_one(buffer)));
        rows.extend(wanted.map(|buffer| (&row.estimator, used, family, buffer)));
    }
    for row in &findings.consequences {
        rows.extend(row.buffers.iter().map(|buffer| (&row.policy, "its estimate", "all", buffer)));
    }
    let half = "tokens to keep free, from the first half of the sessions; where that has too few calls, how many of how many";
    let share = |key, header, meaning| number(key, header, meaning, Unit::Share);
    Fields::<(&String, &str, &str, &Buffer)>::new()
        .with(Column::name("estimator", "estimator"), |(estimator, ..)| Cell::name(estimator))
        .with(Column::name("used", "used for"), |(_, used, ..)| Cell::name(used))
        .with(Column::name("family", "family"), |(_, _, family, _)| Cell::name(family))
        .with(Column::name("level", "covers"), |(.., buffer)| Cell::Name(level(buffer)))
        .with(Column::name("buffer_tokens", "buffer").says(half), |(.., buffer)| tokens(buffer, buffer.tokens, buffer.swapped_covered.1))
        .with(share("covered", "held out", "share of the second half's calls that it covers"), |(.., buffer)| {
            covered(buffer.tokens, buffer.covered)
        })
        .with(Column::name("swapped_tokens", "buffer, swapped").says("the same from the second half"), |(.., buffer)| {
            tokens(buffer, buffer.swapped, buffer.covered.1)
        })
        .with(share("swapped_covered", "held out", "share of the first half's calls that it covers"), |(.., buffer)| {
            covered(buffer.swapped, buffer.swapped_covered)
        })
        .with(share("both_covered", "both", "share of all calls that the other half's buffer covers"), |(.., buffer)| {
            let (first, second) = (buffer.covered, buffer.swapped_covered);
            covered(buffer.tokens.and(buffer.swapped), (first.0 + second.0, first.1 + second.1))
        })
        .table(4, rows)
        .section("Safety buffers")
}

fn level(buffer: &Buffer) -> String {
    let (whole, tenth) = (buffer.level / 10, buffer.level % 10);
    if tenth == 0 { format!("P{whole}") } else { format!("P{whole}.{tenth}") }
}

/// The tokens of one half; where it has too few calls, how many it has of how many.
fn tokens(buffer: &Buffer, tokens: Option<i64>, calls: u64) -> Cell {
    Cell::Name(match tokens {
        Some(tokens) if tokens < 0 => format!("-{}", grouped(tokens.unsigned_abs())),
        Some(tokens) => grouped(tokens.unsigned_abs()),
        None => format!("{} of {}", grouped(calls), counted(buffer.needs(), "call")),
    })
}

/// The share of calls that known tokens cover.
fn covered(known: Option<i64>, (within, all): (u64, u64)) -> Cell {
    known.map_or(Cell::Empty, |_| Cell::share(within, all))
}
