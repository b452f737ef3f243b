//! Why contexts overflowed, and what stands out in a policy's behaviour.

use super::document::{Body, Cell, Column, Provenance, Section, Table, Unit};
use crate::experiment::Replay;

/// Overflows by policy and cause, the most frequent cause first. Absent where nothing overflowed.
pub fn causes(replays: &[Replay]) -> Option<Section> {
    let columns = vec![
        Column::name("policy", "policy"),
        Column::number("overflows", "overflows", Unit::Count, Provenance::Simulated),
        Column::number("share", "share", Unit::Share, Provenance::Simulated),
        Column::prose("cause", "cause"),
    ];
    let mut rows = Vec::new();
    for replay in replays {
        let mut causes: Vec<_> = replay.totals.causes.iter().collect();
        causes.sort_by_key(|(cause, count)| (std::cmp::Reverse(**count), **cause));
        rows.extend(causes.into_iter().map(|(cause, count)| {
            let share = Cell::share(*count, replay.totals.overflows);
            vec![Cell::Name(replay.policy.clone()), Cell::Count(*count), share, Cell::Name(cause.name().to_owned())]
        }));
    }
    section("Why contexts overflowed", columns, rows)
}

/// Warnings by policy, as sentences. Absent where there is nothing to warn of.
pub fn warnings(replays: &[Replay]) -> Option<Section> {
    let columns = vec![
        Column::name("policy", "policy"),
        Column::number("sessions", "sessions", Unit::Count, Provenance::Simulated),
        Column::prose("warning", "warning"),
    ];
    let rows = replays.iter().flat_map(|replay| {
        replay.totals.warnings.iter().map(|(warning, sessions)| {
            vec![Cell::Name(replay.policy.clone()), Cell::Count(*sessions), Cell::Name(warning.sentence().to_owned())]
        })
    });
    section("Warnings", columns, rows.collect())
}

fn section(title: &str, columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Option<Section> {
    let table = Table { labels: 1, columns, rows };
    (!table.rows.is_empty()).then(|| Section { title: title.to_owned(), body: Body::Table(table) })
}
