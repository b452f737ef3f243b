//! Which tools fill the window: tools ranked by the tokens that calls carried for them.

use super::document::{Body, Cell, Column, Provenance, Section, Table, Unit};
use super::record::replay::ranked;
use crate::experiment::Replay;
use crate::sim::{Carried, Totals};

const FIGURES: [Column; 6] = [
    Column { meaning: "results that arrived", ..Column::number("results", "results", Unit::Count, Provenance::Recorded) },
    Column { meaning: "their tokens, counted once", ..Column::number("tokens", "tokens", Unit::Tokens, Provenance::Estimated) },
    Column {
        meaning: "their tokens times the calls that carried them",
        ..Column::number("carried_tokens", "carried", Unit::Tokens, Provenance::Simulated)
    },
    Column {
        meaning: "carried tokens as a share of all prompt tokens",
        ..Column::number("carried_share", "of prompts", Unit::Share, Provenance::Simulated)
    },
    Column {
        meaning: "carried tokens over the tokens counted once: how many calls carried a token",
        ..Column::number("calls_carried", "calls carried", Unit::Count, Provenance::Simulated)
    },
    Column {
        meaning: "overflows before which this tool's result was the largest arrival",
        ..Column::number("overflows", "overflows", Unit::Count, Provenance::Simulated)
    },
];

/// A table a policy, the heaviest tool first.
pub fn sections(replays: &[Replay]) -> Vec<Section> {
    let table = |replay: &Replay| {
        let columns = std::iter::once(Column::name("tool", "tool")).chain(FIGURES).collect();
        Table { labels: 1, columns, rows: rows(&replay.totals).collect() }
    };
    let section = |replay: &Replay| Section { title: format!("Tools under {}", replay.policy), body: Body::Table(table(replay)) };
    replays.iter().map(section).collect()
}

/// All tables in one, with the policy in front.
pub fn flat(replays: &[Replay]) -> Table {
    let names = [Column::name("policy", "policy"), Column::name("tool", "tool")];
    let with_policy = |replay: &Replay, row: Vec<Cell>| std::iter::once(Cell::Name(replay.policy.clone())).chain(row).collect();
    let rows = replays.iter().flat_map(|replay| rows(&replay.totals).map(move |row| with_policy(replay, row)));
    Table { labels: 2, columns: names.into_iter().chain(FIGURES).collect(), rows: rows.collect() }
}

/// Overflows before which no result came whose tool is named.
const NO_TOOL: &str = "(no tool)";

/// The overflows of all rows add up to those of the policy.
fn rows(totals: &Totals) -> impl Iterator<Item = Vec<Cell>> {
    let other = Carried { overflows: totals.overflows_of_no_tool(), ..Carried::default() };
    let tools = ranked(totals).into_iter().map(|(name, carried)| (Cell::Text(name.clone()), *carried));
    let other = (other.overflows > 0).then(|| (Cell::Name(NO_TOOL.to_owned()), other));
    tools.chain(other).map(|(name, carried)| {
        vec![
            name,
            Cell::Count(carried.results),
            Cell::Tokens(carried.tokens),
            Cell::Tokens(carried.carried),
            Cell::share(carried.carried, totals.prompt_tokens),
            (carried.carried + carried.tokens / 2).checked_div(carried.tokens).map_or(Cell::Empty, Cell::Count),
            Cell::Count(carried.overflows),
        ]
    })
}
