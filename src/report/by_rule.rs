//! Which rule of a policy lost how much reused text.

use super::document::{Better, Cell, Column, Fields, Section, Table, Unit};
use super::words::evidence_name;
use crate::experiment::Replay;
use crate::sim::Fates;
use crate::trace::Evidence;

const fn count(key: &'static str, header: &'static str, meaning: &'static str) -> Column {
    Column::simulated(key, header, Unit::Count).says(meaning).better(Better::Less)
}

const SHARE: Column =
    Column::simulated("broken_share", "share", Unit::Share).says("lost by this rule, of all reused lines or names").better(Better::Less);

/// The rules of all policies. Absent where nothing is lost.
pub fn section(replays: &[Replay]) -> Option<Section> {
    flat(replays).section("What was lost, by rule")
}

/// One row per policy, rule and kind of evidence, the rules in the order of their names.
pub fn flat(replays: &[Replay]) -> Table {
    let rows = replays.iter().flat_map(|replay| {
        let by_rule = replay.totals.retention.by_rule.iter();
        by_rule.map(move |((evidence, rule), fates)| (replay, rule.as_str(), *evidence, *fates))
    });
    Fields::<(&Replay, &str, Evidence, Fates)>::new()
        .with(Column::name("policy", "policy"), |(replay, ..)| Cell::name(&replay.policy))
        .with(Column::name("rule", "rule"), |(_, rule, ..)| Cell::name(rule))
        .with(Column::name("evidence", "evidence"), |(.., evidence, _)| Cell::name(evidence_name(*evidence)))
        .with(count("broken", "lost", "references whose latest source this rule took away or cut last"), |(.., fates)| {
            Cell::Count(fates.broken())
        })
        .and(fates(|(.., fates): &(&Replay, &str, Evidence, Fates)| *fates))
        .with(SHARE, |(replay, _, evidence, fates)| Cell::share(fates.broken(), replay.totals.retention.of(*evidence).all()))
        .table(3, rows)
}

/// What became of references that are not kept.
pub fn fates<'a, R>(of: impl Fn(&R) -> Fates + Copy + 'a) -> Fields<'a, R> {
    Fields::new()
        .with(count("summarised", "summa\u{ad}rised", "a summary took its place, and may or may not hold it"), move |row| {
            Cell::Count(of(row).summarised)
        })
        .with(count("truncated", "truncated", "it was cut away"), move |row| Cell::Count(of(row).truncated))
        .with(count("cleared", "cleared", "a placeholder stands for it"), move |row| Cell::Count(of(row).cleared))
        .with(count("dropped", "dropped", "its message was removed"), move |row| Cell::Count(of(row).dropped))
}
