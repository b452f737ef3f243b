//! How far a policy's estimates were from recorded usage.

use super::document::{Cell, Column, Fields, Section, Unit};
use crate::experiment::Replay;
use crate::sim::{Drift, LARGEST_RATIO};

/// One row per policy and kind of estimate. Absent where no usage is recorded.
pub fn guesses(replays: &[Replay]) -> Option<Section> {
    let rows = replays.iter().flat_map(|Replay { totals, policy, .. }| {
        [(policy.as_str(), "estimator", &totals.estimates), (policy.as_str(), "at triggers", &totals.beliefs)]
    });
    let bias = "estimates less actual sizes, as a share of the latter: below zero, the estimates are too low";
    Fields::<(&str, &str, &Drift)>::new()
        .with(Column::name("policy", "policy"), |(policy, ..)| Cell::name(policy))
        .with(Column::name("estimate", "estimate"), |(_, guess, _)| Cell::name(guess))
        .with(Column::estimated("compared", "calls", Unit::Count).says("calls with recorded usage that were compared"), |row| {
            Cell::Count(row.2.calls)
        })
        .with(Column::estimated("bias", "bias", Unit::Share).says(bias), |(.., drift)| {
            let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
            Cell::Share { part: signed(drift.guessed_tokens) - signed(drift.actual_tokens), whole: drift.actual_tokens }
        })
        .with(Column::estimated("p05", "p5", Unit::Count).says("actual / estimated: 5th percentile over calls"), |row| ratio(row.2, 5))
        .with(Column::estimated("p50", "p50", Unit::Count).says("half of them"), |row| ratio(row.2, 50))
        .with(Column::estimated("p95", "p95", Unit::Count).says("95th percentile"), |row| ratio(row.2, 95))
        .table(2, rows.filter(|(.., drift)| drift.calls > 0))
        .section("How far estimates were from recorded usage")
}

fn ratio(drift: &Drift, hundredths: u64) -> Cell {
    let words = |ratio: u64| {
        let capped = if ratio >= LARGEST_RATIO { ">= " } else { "" };
        Cell::Name(format!("{capped}{}.{:02}", ratio / 100, ratio % 100))
    };
    drift.quantile(hundredths).map_or(Cell::Empty, words)
}
