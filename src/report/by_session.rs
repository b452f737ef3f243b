//! One row per session and policy: the worst first for people, in the order of the corpus for spreadsheets.

use super::asked::Baselines;
use super::document::{Body, Cell, Column, Provenance, Section, Table, Unit};
use super::figures::{cells, column, told};
use super::recording::{self, RECORDED};
use super::{cost_figures, sparkline};
use crate::corpus::Corpus;
use crate::cost::{Bills, CacheKind};
use crate::experiment::metric::in_spreadsheets;
use crate::experiment::{Recording, Replay};
use crate::sim::Outcome;
use crate::trace::Trace;
use std::cmp::Reverse;

/// Sessions and policies, the worst first: sessions that ended in a refusal, then by overflows, cut replies, calls over budget and size.
pub fn worst_first(corpus: &Corpus, replays: &[Replay], cache: CacheKind) -> Section {
    let mut columns =
        vec![Column::name("session", "session"), Column::name("policy", "policy"), Column::name("agent", "agent"), sparkline::COLUMN];
    let figures = told(replays.iter().map(|replay| &replay.totals));
    columns.extend(figures.iter().map(|figure| column(figure)));
    columns.extend(cost_figures::COLUMNS);
    let mut all: Vec<(&Trace, &Replay, &Outcome, Option<&Bills>)> = pairs(corpus, replays).collect();
    // The sort is stable: equals stay in the order of policies and corpus.
    all.sort_by_key(|(_, _, outcome, _)| {
        let totals = &outcome.totals;
        Reverse((totals.failed_sessions, totals.overflows, totals.reply_cut, totals.over_budget, totals.peak_tokens))
    });
    let rows = all.into_iter().map(|(trace, replay, outcome, bills)| {
        let names =
            [Cell::Text(trace.id.clone()), Cell::Name(replay.policy.clone()), Cell::Text(trace.agent.clone()), sparkline::cell(outcome)];
        names.into_iter().chain(cells(figures.iter().copied(), &outcome.totals)).chain(costs(bills, cache)).collect()
    });
    let table = Table { labels: 2, rows: rows.collect(), columns };
    Section { title: "Sessions, the worst first".to_owned(), body: Body::Table(table) }
}

/// All that is known of each policy and session, a row each.
pub fn flat(corpus: &Corpus, replays: &[Replay], baselines: Baselines<'_>, cache: CacheKind) -> Table {
    let names = [("policy", "policy"), ("session", "session"), ("source", "source"), ("agent", "agent"), ("model", "model")];
    let mut columns: Vec<Column> = names.iter().map(|(key, header)| Column::name(key, header)).collect();
    columns.push(Column::number("window", "window", Unit::Tokens, Provenance::Recorded));
    columns.extend(in_spreadsheets().map(column));
    columns.extend(baselines.cost_columns());
    Table { labels: 2, rows: replays.iter().flat_map(|replay| rows_of(corpus, replay, baselines, cache)).collect(), columns }
}

/// The rows of one policy, in the order of the corpus.
fn rows_of(corpus: &Corpus, replay: &Replay, baselines: Baselines<'_>, cache: CacheKind) -> Vec<Vec<Cell>> {
    let sessions = pairs(corpus, std::slice::from_ref(replay)).enumerate();
    let row = |(place, (trace, replay, outcome, bills)): (usize, (&Trace, &Replay, &Outcome, Option<&Bills>))| {
        let names = names(&replay.policy, trace, Cell::Tokens(outcome.window));
        let beside = |recording: &Recording| {
            let beside = recording.beside(replay, cache, std::iter::once(place));
            if beside.sessions > 0 { recording::cost_beside(&beside, replay) } else { Cell::Empty }
        };
        let figures = cells(in_spreadsheets(), &outcome.totals);
        names.into_iter().chain(figures).chain(costs(bills, cache)).chain(baselines.recording.map(beside)).collect()
    };
    sessions.filter(|(_, (_, _, outcome, _))| outcome.totals.sessions > 0).map(row).collect()
}

fn names(policy: &str, trace: &Trace, window: Cell) -> [Cell; 6] {
    let text = |text: &str| Cell::Text(text.to_owned());
    let model = trace.main_model().map_or(Cell::Empty, text);
    [Cell::Name(policy.to_owned()), text(&trace.id), text(&trace.source), text(&trace.agent), model, window]
}

/// Puts the rows of the recording and of the user's own agents before those of policies; what they have no figure for is empty.
pub fn put_before(table: &mut Table, corpus: &Corpus, baselines: Baselines<'_>, cache: CacheKind) {
    let recorded = baselines.recording.into_iter().flat_map(|recording| corpus.traces.iter().zip(&recording.sessions));
    let recorded = recorded.map(|(trace, session)| {
        let figures = in_spreadsheets().map(|figure| recording::cell(figure, session));
        names(RECORDED, trace, Cell::Empty).into_iter().chain(figures).chain(recording::costs(session)).collect()
    });
    let own = baselines.own.into_iter().flat_map(|own| rows_of(corpus, &own.replay, baselines, cache));
    let mut rows: Vec<Vec<Cell>> = recorded.chain(own).collect();
    rows.iter_mut().for_each(|row| row.resize(table.columns.len(), Cell::Empty));
    rows.append(&mut table.rows);
    table.rows = rows;
}

fn pairs<'a>(corpus: &'a Corpus, replays: &'a [Replay]) -> impl Iterator<Item = (&'a Trace, &'a Replay, &'a Outcome, Option<&'a Bills>)> {
    replays.iter().flat_map(|replay| {
        let sessions = corpus.traces.iter().zip(&replay.outcomes).enumerate();
        sessions.map(move |(place, (trace, outcome))| (trace, replay, outcome, replay.bills.get(place)))
    })
}

fn costs(bills: Option<&Bills>, cache: CacheKind) -> [Cell; 2] {
    bills.map_or([Cell::Empty, Cell::Empty], |bills| cost_figures::cells(bills, cache))
}
