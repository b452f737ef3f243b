//! How far contexts jump from one call to the next, beside what each policy keeps free above its threshold.

use super::document::{Better, Cell, Column, Fields, Section, Unit};
use super::words::three_digits;
use crate::corpus::Corpus;
use crate::experiment::{JUMP_QUANTILES, Jumps, Replay};
use crate::statistics::quantile;

/// A table of policies that keep something free; absent where none does.
pub fn jumps(corpus: &Corpus, replays: &[Replay]) -> Option<Section> {
    let rows = replays.iter().map(|replay| (replay.policy.as_str(), replay.jumps(corpus)));
    let rows: Vec<(&str, Jumps)> = rows.filter(|(_, jumps)| jumps.reserve.is_some() && !jumps.sizes.is_empty()).collect();
    let recorded = |key, header| Column::recorded(key, header, Unit::Tokens);
    let mut fields = Fields::<(&str, Jumps)>::new()
        .with(Column::name("policy", "policy"), |(policy, _)| Cell::name(policy))
        .with(Column::name("reserve", "reserve").says("what the provider accepts less the policy's lowest threshold"), |(_, jumps)| {
            Cell::Name(jumps.reserve.map_or(String::new(), |(least, most)| match least == most {
                true => three_digits(least),
                false => format!("{} to {}", three_digits(least), three_digits(most)),
            }))
        })
        .with(Column::recorded("jumps", "jumps", Unit::Count), |(_, jumps)| Cell::Count(jumps.beside));
    for ((percent, key), header) in JUMP_QUANTILES.into_iter().zip(["median", "P95", "P99", "largest"]) {
        fields =
            fields.with(recorded(key, header), move |(_, jumps)| quantile(&jumps.sizes, percent * 10).map_or(Cell::Empty, Cell::Tokens));
    }
    let beyond = Column::simulated("beyond", "beyond", Unit::Count)
        .says("jumps larger than the reserve of their session: from just below the threshold they end in a refusal")
        .better(Better::Less);
    let share = Column::simulated("beyond_share", "share", Unit::Share);
    fields
        .with(beyond, |(_, jumps)| Cell::Count(jumps.beyond))
        .with(share, |(_, jumps)| Cell::share(jumps.beyond, jumps.beside))
        .table(1, rows)
        .section("Growth from call to call, where nothing is taken out, beside the policy's reserve")
}
