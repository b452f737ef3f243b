//! Sessions: one row for each with what the policies come to, the most telling first, for a screen; one row per session and policy, the worst first for people, in
//! the order of the corpus for spreadsheets.

use super::asked::Baselines;
use super::document::{Body, Cell, Column, Provenance, Section, Table, Unit};
use super::field::Fields;
use super::figures::{cells, column, told};
use super::recording::{self, RECORDED};
use super::{cost_figures, finding, sparkline};
use crate::corpus::Corpus;
use crate::cost::{Bills, CacheKind};
use crate::experiment::metric::in_spreadsheets;
use crate::experiment::{Recording, Replay};
use crate::sim::{Outcome, Totals};
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

/// What the policies come to in one session.
struct Met<'a> {
    trace: &'a Trace,
    /// Policies under which it fails.
    failed: u64,
    /// Overflows under all of them.
    overflows: u64,
    /// The policy with the fewest prompt tokens, and that with the most, of those that bring it to its end.
    ends: Option<[(&'a Replay, &'a Outcome); 2]>,
}

/// A row for each session: under how many policies it fails, and which of them send the fewest and the most. Having no policy is none of them, unless it stands
/// alone.
pub fn most_telling(corpus: &Corpus, replays: &[Replay]) -> Section {
    let named: Vec<&Replay> = replays.iter().filter(|replay| !replay.is_none()).collect();
    let named = if named.is_empty() { replays.iter().collect() } else { named };
    let mut met: Vec<Met<'_>> = corpus.traces.iter().enumerate().map(|(place, trace)| Met::of(trace, place, &named)).collect();
    // The sort is stable: equals stay in the order of the corpus.
    met.sort_by_key(|met| Reverse((met.failed, met.overflows, met.spread())));
    let simulated = |key, header, unit, priority| Column { priority, ..Column::number(key, header, unit, Provenance::Simulated) };
    let recorded = Column { priority: 1, ..Column::number("recorded_tokens", "recorded", Unit::Tokens, Provenance::Recorded) };
    let of = named.len();
    let end = |which: usize| {
        (
            move |met: &Met<'_>| met.end(which).map_or(Cell::Empty, |(replay, _)| Cell::name(&replay.policy)),
            move |met: &Met<'_>| met.end(which).map_or(Cell::Empty, |(_, outcome)| vs_recorded(outcome)),
        )
    };
    let ((least, least_share), (most, most_share)) = (end(0), end(1));
    let mut fields = Fields::<Met<'_>>::new()
        .with(Column::name("session", "session"), |met| Cell::text(&met.trace.id))
        .with(Column::name("least", "fewest tokens"), least)
        .with(simulated("least_share", "vs re\u{ad}corded", Unit::Share, 1), least_share);
    if of > 1 {
        fields = fields
            .with(Column { priority: 1, ..Column::name("most", "most tokens") }, most)
            .with(simulated("most_share", "vs re\u{ad}corded", Unit::Share, 1), most_share);
    }
    fields
        .with(recorded, |met| met.trace.sent.map_or(Cell::Empty, |sent| Cell::Tokens(sent.prompt_tokens)))
        .with(simulated("failed", "fails under", Unit::Count, 1), move |met| Cell::Name(format!("{} of {of}", met.failed)))
        .table(2, met)
        .titled("Sessions, the most telling first; recorded, and simulated under the policies")
}

/// Prompt tokens beside the recorded ones.
fn vs_recorded(outcome: &Outcome) -> Cell {
    let Totals { compared_tokens, recorded_tokens, .. } = outcome.totals;
    if recorded_tokens == 0 { Cell::Empty } else { Cell::Name(finding::share(compared_tokens as f64 / recorded_tokens as f64 - 1.0)) }
}

impl<'a> Met<'a> {
    fn of(trace: &'a Trace, place: usize, replays: &[&'a Replay]) -> Met<'a> {
        let outcomes: Vec<(&Replay, &Outcome)> = replays.iter().filter_map(|replay| Some((*replay, replay.outcomes.get(place)?))).collect();
        let sum = |of: fn(&Totals) -> u64| outcomes.iter().map(|(_, outcome)| of(&outcome.totals)).sum();
        let ended = || outcomes.iter().filter(|(_, outcome)| outcome.totals.compared_sessions > 0).copied();
        let tokens = |(_, outcome): &(&Replay, &Outcome)| outcome.totals.compared_tokens;
        // Of equals the first one is named in both columns.
        let ends = ended().min_by_key(tokens).zip(ended().rev().max_by_key(tokens)).map(|(least, most)| [least, most]);
        Met { trace, failed: sum(|totals| totals.failed_sessions), overflows: sum(|totals| totals.overflows), ends }
    }

    fn end(&self, which: usize) -> Option<(&'a Replay, &'a Outcome)> {
        self.ends.and_then(|ends| ends.get(which).copied())
    }

    /// How far the policies are apart, in prompt tokens.
    fn spread(&self) -> u64 {
        self.ends.map_or(0, |[(_, least), (_, most)]| most.totals.compared_tokens - least.totals.compared_tokens)
    }
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
