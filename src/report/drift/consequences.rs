//! What drift does, and how much room would make up for it.

use super::accuracy::{is_shown, name, number, section};
use crate::experiment::drift::{Buffer, Findings, Use};
use crate::report::document::{Cell, Column, Provenance, Section, Unit};
use crate::report::words::{counted, grouped};

/// Policies with their own estimator and with a perfect one.
pub(super) fn policies(findings: &Findings) -> Option<Section> {
    let count = |key, header, meaning| Column { meaning, ..Column::number(key, header, Unit::Count, Provenance::Simulated) };
    let columns = vec![
        Column::name("policy", "policy"),
        count("calls", "calls", "calls that were replayed"),
        count("late", "late", "overflows at which the policy's estimate was within its limit"),
        count(
            "late_perfect",
            "late, perfect",
            "the same with true sizes in the place of its estimator's: what is left is not the estimator's fault",
        ),
        count("early", "early", "shrinkings below the policy's own limit by more than its safety buffer"),
        count("early_perfect", "early, perfect", "the same with true sizes"),
        count("overflows", "overflows", "calls that the provider would have refused"),
        count("overflows_perfect", "overflows, perfect", "the same with true sizes"),
    ];
    let rows = findings.consequences.iter().map(|row| {
        let (own, perfect) = (&row.own, &row.perfect);
        let counts = [own.calls, own.late, perfect.late, own.early, perfect.early, own.overflows, perfect.overflows];
        std::iter::once(name(&row.policy)).chain(counts.map(Cell::Count)).collect()
    });
    section("Triggers that came late or early", 1, columns, rows.collect())
}

/// Safety buffers.
pub(super) fn buffers(findings: &Findings) -> Option<Section> {
    let columns = vec![
        Column::name("estimator", "estimator"),
        Column::name("used", "used for"),
        Column::name("family", "family"),
        Column::name("level", "covers"),
        Column {
            meaning: "tokens to keep free, from the first half of the sessions; where that has too few calls, how many of how many",
            ..Column::name("buffer_tokens", "buffer")
        },
        number("covered", "held out", "share of the second half's calls that it covers", Unit::Share),
        Column { meaning: "the same from the second half", ..Column::name("swapped_tokens", "buffer, swapped") },
        number("swapped_covered", "held out", "share of the first half's calls that it covers", Unit::Share),
        number("both_covered", "both", "share of all calls that the other half's buffer covers", Unit::Share),
    ];
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
        rows.extend(wanted.map(|buffer| cells(&row.estimator, used, family, buffer)));
    }
    for row in &findings.consequences {
        rows.extend(row.buffers.iter().map(|buffer| cells(&row.policy, "its estimate", "all", buffer)));
    }
    section("Safety buffers", 4, columns, rows)
}

fn cells(estimator: &str, used: &str, family: &str, buffer: &Buffer) -> Vec<Cell> {
    let tokens = |tokens: Option<i64>, calls: u64| match tokens {
        Some(tokens) if tokens < 0 => Cell::Name(format!("-{}", grouped(tokens.unsigned_abs()))),
        Some(tokens) => Cell::Name(grouped(tokens.unsigned_abs())),
        None => Cell::Name(format!("{} of {}", grouped(calls), counted(buffer.needs(), "call"))),
    };
    let share = |known: Option<i64>, (within, all): (u64, u64)| if known.is_some() { Cell::share(within, all) } else { Cell::Empty };
    let both = buffer
        .tokens
        .zip(buffer.swapped)
        .map_or(Cell::Empty, |_| Cell::share(buffer.covered.0 + buffer.swapped_covered.0, buffer.covered.1 + buffer.swapped_covered.1));
    let level = if buffer.level.is_multiple_of(10) {
        format!("P{}", buffer.level / 10)
    } else {
        format!("P{}.{}", buffer.level / 10, buffer.level % 10)
    };
    vec![
        name(estimator),
        name(used),
        name(family),
        Cell::Name(level),
        tokens(buffer.tokens, buffer.swapped_covered.1),
        share(buffer.tokens, buffer.covered),
        tokens(buffer.swapped, buffer.covered.1),
        share(buffer.swapped, buffer.swapped_covered),
        both,
    ]
}
