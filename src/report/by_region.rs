//! What the window was filled with.

use super::document::{Body, Cell, Column, Provenance, Section, Table, Unit};
use crate::experiment::Replay;
use crate::sim::Totals;

const REGION: Column = Column { meaning: "hidden: what calls carry and logs do not show", ..Column::name("region", "region") };

const FIGURES: [Column; 3] = [
    Column { meaning: "summed over all calls", ..Column::number("tokens", "tokens", Unit::Tokens, Provenance::Simulated) },
    Column { meaning: "share of all prompt tokens", ..Column::number("share", "of prompts", Unit::Share, Provenance::Simulated) },
    Column { meaning: "tokens over calls", ..Column::number("mean_tokens", "mean a call", Unit::Tokens, Provenance::Simulated) },
];

/// A table a policy: regions in their order, then the sum.
pub fn sections(replays: &[Replay]) -> Vec<Section> {
    let table = |replay: &Replay| {
        let columns = std::iter::once(REGION).chain(FIGURES).collect();
        Table { labels: 1, columns, rows: rows(&replay.totals).collect() }
    };
    let section = |replay: &Replay| Section { title: format!("The window under {}", replay.policy), body: Body::Table(table(replay)) };
    replays.iter().map(section).collect()
}

/// All tables in one, with the policy in front.
pub fn flat(replays: &[Replay]) -> Table {
    let names = [Column::name("policy", "policy"), REGION];
    let with_policy = |replay: &Replay, row: Vec<Cell>| std::iter::once(Cell::Name(replay.policy.clone())).chain(row).collect();
    let rows = replays.iter().flat_map(|replay| rows(&replay.totals).map(move |row| with_policy(replay, row)));
    Table { labels: 2, columns: names.into_iter().chain(FIGURES).collect(), rows: rows.collect() }
}

/// The sentence that explains what regions lack.
pub const MISSING: &str = "What recorded prompts lacked for reasons that the logs do not tell, such as reasoning that was stripped, is taken \
                           off the regions of each call in proportion.";

fn rows(totals: &Totals) -> impl Iterator<Item = Vec<Cell>> {
    let filled = totals.by_region().map(|(region, tokens)| (region.replace('_', " "), tokens));
    filled.chain([("all".to_owned(), totals.prompt_tokens)]).map(|(region, tokens)| {
        let mean = (tokens + totals.calls / 2).checked_div(totals.calls).unwrap_or(0);
        vec![Cell::Name(region), Cell::Tokens(tokens), Cell::share(tokens, totals.prompt_tokens), Cell::Tokens(mean)]
    })
}
