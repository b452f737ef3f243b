//! How far a policy's guesses were from recorded usage.

use super::document::{Body, Cell, Column, Provenance, Section, Table, Unit};
use crate::experiment::Replay;
use crate::sim::{Drift, LARGEST_RATIO};

/// A row a policy and kind of guess. Absent where no usage is recorded.
pub fn guesses(replays: &[Replay]) -> Option<Section> {
    let number = |key, header, meaning, unit| Column { meaning, ..Column::number(key, header, unit, Provenance::Estimated) };
    let columns = vec![
        Column::name("policy", "policy"),
        Column::name("guess", "guess"),
        number("compared", "calls", "calls with recorded usage that were compared", Unit::Count),
        number(
            "bias",
            "bias",
            "guesses less actual sizes, as a share of the latter: below zero, the policy thinks too little",
            Unit::Share,
        ),
        number("p05", "p5", "actual / guessed: a twentieth of the calls lies below", Unit::Count),
        number("p50", "p50", "half of them", Unit::Count),
        number("p95", "p95", "all but a twentieth", Unit::Count),
    ];
    let mut rows = Vec::new();
    for replay in replays {
        for (guess, drift) in [("estimator", &replay.totals.estimates), ("belief", &replay.totals.beliefs)] {
            if drift.calls > 0 {
                rows.push(row(&replay.policy, guess, drift));
            }
        }
    }
    let table = Table { labels: 2, columns, rows };
    let title = "How far guesses were from recorded usage".to_owned();
    (!table.rows.is_empty()).then_some(Section { title, body: Body::Table(table) })
}

fn row(policy: &str, guess: &str, drift: &Drift) -> Vec<Cell> {
    let words = |ratio: u64| {
        let capped = if ratio >= LARGEST_RATIO { ">= " } else { "" };
        Cell::Name(format!("{capped}{}.{:02}", ratio / 100, ratio % 100))
    };
    let ratio = |hundredths| drift.quantile(hundredths).map_or(Cell::Empty, words);
    let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    let bias = Cell::Share { part: signed(drift.guessed_tokens) - signed(drift.actual_tokens), whole: drift.actual_tokens };
    vec![Cell::Name(policy.to_owned()), Cell::Name(guess.to_owned()), Cell::Count(drift.calls), bias, ratio(5), ratio(50), ratio(95)]
}
