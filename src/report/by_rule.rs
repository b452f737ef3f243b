//! Which rule of a policy broke how many references.

use super::document::{Better, Body, Cell, Column, Provenance, Section, Table, Unit};
use crate::experiment::Replay;
use crate::trace::Evidence;

const fn count(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column { meaning, better: Better::Less, ..Column::number(key, header, Unit::Count, Provenance::Simulated) }
}

const COLUMNS: [Column; 7] = [
    Column { better: Better::Neither, ..Column::name("evidence", "evidence") },
    count("broken", "broken", "references whose latest source this rule took away or cut last"),
    count("summarised", "summa\u{ad}rised", "a summary took its place, and may or may not hold it"),
    count("truncated", "truncated", "it was cut away"),
    count("cleared", "cleared", "a placeholder stands for it"),
    count("dropped", "dropped", "its message was removed"),
    Column {
        meaning: "broken by this rule, of all references to lines or names",
        better: Better::Less,
        ..Column::number("broken_share", "share", Unit::Share, Provenance::Simulated)
    },
];

/// The rules of all policies. Absent where nothing is broken.
pub fn section(replays: &[Replay]) -> Option<Section> {
    let table = flat(replays);
    (!table.rows.is_empty()).then(|| Section { title: "What broke them, by rule".to_owned(), body: Body::Table(table) })
}

/// A row a policy, rule and kind of evidence, the rules in the order of their names.
pub fn flat(replays: &[Replay]) -> Table {
    let names = [Column::name("policy", "policy"), Column::name("rule", "rule")];
    let rows = replays.iter().flat_map(|replay| {
        replay.totals.retention.by_rule.iter().map(|((evidence, rule), fates)| {
            vec![
                Cell::Name(replay.policy.clone()),
                Cell::Name(rule.clone()),
                Cell::Name(if *evidence == Evidence::Line { "lines" } else { "names" }.to_owned()),
                Cell::Count(fates.broken()),
                Cell::Count(fates.summarised),
                Cell::Count(fates.truncated),
                Cell::Count(fates.cleared),
                Cell::Count(fates.dropped),
                Cell::share(fates.broken(), replay.totals.retention.of(*evidence).all()),
            ]
        })
    });
    Table { labels: 3, columns: names.into_iter().chain(COLUMNS).collect(), rows: rows.collect() }
}
