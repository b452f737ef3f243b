//! Sessions: one row for each with what the policies come to, the most telling first, for a screen; one row per session and policy, the worst first for people, in
//! the order of the corpus for spreadsheets.

use super::answer::heading;
use super::asked::Baselines;
use super::document::{Body, Cell, Column, Fields, Screen, Section, Table, Unit};
use super::figures::{cells, column, tabled};
use super::recording::{self, RECORDED};
use super::words::{counted, first_few, grouped};
use super::{cost_figures, finding, sparkline};
use crate::corpus::Corpus;
use crate::cost::{Bills, CacheKind};
use crate::experiment::metric::in_spreadsheets;
use crate::experiment::{Recording, Replay};
use crate::list::{Arrange, List};
use crate::sim::{EventKind, Outcome, Totals};
use crate::statistics::sorted;
use crate::trace::Trace;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// So many policies are named in a sentence.
const NAMED: usize = 4;

/// What has the fewest tokens where no single policy has.
const SEVERAL: &str = "several";

/// Sessions and policies, the worst first, so many rows at most: sessions that ended in a refusal, then by overflows, cut replies, calls over budget and size.
pub fn worst_first(corpus: &Corpus, replays: &[Replay], cache: CacheKind, most: usize) -> Section {
    let mut columns =
        vec![Column::name("session", "session"), Column::name("policy", "policy"), Column::name("agent", "agent"), sparkline::COLUMN];
    let figures = tabled(replays.iter().map(|replay| &replay.totals));
    columns.extend(figures.iter().map(|figure| column(figure)));
    columns.extend(cost_figures::COLUMNS);
    let badness = |(which, outcome): (usize, Cow<'_, Outcome>)| {
        let totals = &outcome.totals;
        (Reverse((totals.failed_sessions, totals.overflows, totals.reply_cut, totals.over_budget, totals.peak_tokens)), which)
    };
    // Equals stay in the order of policies and corpus.
    let all = sorted(replays.iter().flat_map(|replay| replay.outcomes.each()).enumerate().map(badness));
    let sessions = corpus.traces.len().max(1);
    let rows = all.into_iter().take(most).filter_map(|(_, which)| {
        let (trace, replay, outcome, bills) = pair(corpus, replays.get(which / sessions)?, which % sessions)?;
        let names =
            [Cell::Text(trace.id.clone()), Cell::Name(replay.policy.clone()), Cell::Text(trace.agent.clone()), sparkline::cell(&outcome)];
        Some(names.into_iter().chain(cells(figures.iter().copied(), &outcome.totals)).chain(costs(bills.as_deref(), cache)).collect())
    });
    let table = Table { labels: 2, rows: rows.collect(), columns };
    Section { title: "Sessions, the worst first".to_owned(), body: Body::Table(table) }
}

/// Prompt tokens under a policy, and as recorded.
type Sent = (u64, u64);

/// What the policies come to in one session.
struct SessionRow<'a> {
    /// The session's place in the corpus.
    place: usize,
    /// Policies under which the session fails.
    failed: u64,
    /// Overflows under all policies together.
    overflows: u64,
    /// The first call that overflows under one of them, from 0.
    first_overflow: Option<u32>,
    /// Prompt tokens as recorded; `None` where the corpus is not summed up.
    recorded: Option<u64>,
    /// Policies that bring it to its end.
    ended: usize,
    /// The policy with the fewest prompt tokens, and that with the most, of those that bring it to its end.
    ends: Option<[(&'a Replay, Sent); 2]>,
    /// How many send as few, and as many, as these.
    equals: [usize; 2],
}

/// Which policies send the fewest tokens in how many sessions, and the sessions.
pub fn screen(corpus: &Corpus, replays: &[Replay]) -> Screen {
    let named = named(replays);
    let rows = rows(corpus, &named);
    let mut fewest: BTreeMap<&str, u64> = BTreeMap::new();
    let differ = || rows.iter().filter(|row| row.spread() > 0);
    // A winner among equals is none.
    let ends = differ().filter_map(|row| Some((row.equals, row.end(0)?.0)));
    ends.map(|([equals, _], replay)| if equals == 1 { replay.policy.as_str() } else { SEVERAL })
        .for_each(|policy| *fewest.entry(policy).or_default() += 1);
    let mut fewest: Vec<(&str, u64)> = fewest.into_iter().collect();
    fewest.arrange_by_key(|(_, sessions)| Reverse(*sessions));
    let told: Vec<String> = fewest.iter().map(|(policy, sessions)| format!("{policy} in {}", counted(*sessions, "session"))).collect();
    let (all, alike) =
        (corpus.facts.called_sessions, rows.iter().filter(|row| row.ended == named.len() && row.spread() == 0).count() as u64);
    let answer = match told.as_slice() {
        _ if named.len() < 2 => None,
        [] => Some("All policies send the same prompt tokens in each session.".to_owned()),
        told => {
            let rest = if alike > 0 { format!("; all are alike in {} of {}", grouped(alike), grouped(all)) } else { String::new() };
            Some(format!("Fewest prompt tokens: {}{rest}.", first_few(told, NAMED)))
        }
    };
    let sections = answer.map(|answer| Section::lines(vec![answer])).into_iter().chain([most_telling(corpus, rows, named.len())]).collect();
    Screen { title: heading(corpus), sections, ..Screen::default() }
}

/// Those but for having no policy, which counts where it stands alone.
fn named(replays: &[Replay]) -> Vec<&Replay> {
    let named: Vec<&Replay> = replays.iter().filter(|replay| !replay.is_none()).collect();
    if named.is_empty() { replays.iter().collect() } else { named }
}

/// What the policies come to in each session, the most telling first.
fn rows<'a>(corpus: &Corpus, named: &[&'a Replay]) -> Vec<SessionRow<'a>> {
    let sessions = corpus.traces.each().enumerate();
    let mut rows: Vec<SessionRow<'_>> =
        sessions.map(|(place, trace)| SessionRow::of(place, trace.sent.map(|sent| sent.prompt_tokens), named)).collect();
    // The sort is stable: equals stay in the order of the corpus.
    rows.arrange_by_key(|row| Reverse((row.failed, row.overflows, row.spread(), row.beside_recorded(), row.recorded)));
    rows
}

/// A row for each session: under how many policies it fails, and which of them send the fewest and the most. Having no policy is none of them, unless it stands
/// alone.
fn most_telling(corpus: &Corpus, rows: Vec<SessionRow<'_>>, of: usize) -> Section {
    let simulated = |key, header, unit, priority| Column { priority, ..Column::simulated(key, header, unit) };
    let recorded = Column::recorded("recorded_tokens", "recorded", Unit::Tokens).priority(1);
    let end = |which: usize| {
        (
            move |row: &SessionRow<'_>| row.end(which).map_or(Cell::Empty, |(replay, _)| row.named(which, &replay.policy, of)),
            move |row: &SessionRow<'_>| {
                row.end(which).filter(|_| which == 0 || row.spread() > 0).map_or(Cell::Empty, |(_, sent)| vs_recorded(sent))
            },
        )
    };
    let ((least, least_share), (most, most_share)) = (end(0), end(1));
    let mut fields = Fields::<SessionRow<'_>>::new()
        .with(Column::name("session", "session"), |row| corpus.traces.at(row.place).map_or(Cell::Empty, |trace| Cell::text(&trace.id)));
    if of > 1 {
        fields = fields.with(Column::name("least", "fewest tokens"), least);
    }
    fields = fields.with(simulated("least_share", "vs re\u{ad}corded", Unit::Share, 1), least_share);
    if of > 1 {
        fields = fields
            .with(Column::name("most", "most tokens").priority(1), most)
            .with(simulated("most_share", "vs re\u{ad}corded", Unit::Share, 1), most_share);
    }
    fields = fields.with(recorded, |row| row.recorded.map_or(Cell::Empty, Cell::Tokens));
    if rows.iter().any(|row| row.first_overflow.is_some()) {
        let first = simulated("first_overflow", "first over\u{ad}flow", Unit::Count, 1)
            .says("the first call, from 1, that overflows under any of them");
        fields = fields.with(first, |row| row.first_overflow.map_or(Cell::Empty, |call| Cell::Name(format!("call {}", call + 1))));
    }
    fields
        .with(simulated("failed", "fails under", Unit::Count, 1), move |row| Cell::Name(format!("{} of {of}", row.failed)))
        .table(2, rows)
        .titled("Sessions, the most telling first; recorded, and simulated under the policies")
}

/// Prompt tokens beside the recorded ones.
fn vs_recorded((tokens, recorded): Sent) -> Cell {
    if recorded == 0 { Cell::Empty } else { Cell::Name(finding::share(tokens as f64 / recorded as f64 - 1.0)) }
}

impl<'a> SessionRow<'a> {
    fn of(place: usize, recorded: Option<u64>, replays: &[&'a Replay]) -> SessionRow<'a> {
        let outcomes: Vec<(&Replay, Cow<'a, Outcome>)> =
            replays.iter().filter_map(|replay| Some((*replay, replay.outcomes.at(place)?))).collect();
        let sum = |of: fn(&Totals) -> u64| outcomes.iter().map(|(_, outcome)| of(&outcome.totals)).sum();
        let sent = |outcome: &Outcome| (outcome.totals.compared_tokens, outcome.totals.recorded_tokens);
        let ended = outcomes.iter().filter(|(_, outcome)| outcome.totals.compared_sessions > 0);
        let ended = || ended.clone().map(|(replay, outcome)| (*replay, sent(outcome)));
        let tokens = |(_, (tokens, _)): &(&Replay, Sent)| *tokens;
        let ends = ended().min_by_key(tokens).zip(ended().rev().max_by_key(tokens)).map(|(least, most)| [least, most]);
        let overflow = |outcome: &Outcome| outcome.events.iter().find(|event| event.kind == EventKind::Overflow).map(|event| event.call);
        let first_overflow = outcomes.iter().filter_map(|(_, outcome)| overflow(outcome)).min();
        let (failed, overflows) = (sum(|totals| totals.failed_sessions), sum(|totals| totals.overflows));
        let equal = |end: Option<u64>| ended().filter(|one| Some(tokens(one)) == end).count();
        let equals = [ended().map(|one| tokens(&one)).min(), ended().map(|one| tokens(&one)).max()].map(equal);
        SessionRow { place, ended: ended().count(), failed, overflows, first_overflow, recorded, ends, equals }
    }

    fn end(&self, which: usize) -> Option<(&'a Replay, Sent)> {
        self.ends.and_then(|ends| ends.get(which).copied())
    }

    /// The policy at an end; where so many all send the same, the first end says so.
    fn named(&self, which: usize, policy: &str, of: usize) -> Cell {
        let equals = self.equals.get(which).copied().unwrap_or(0);
        match which {
            _ if self.spread() > 0 && equals > 1 => Cell::Name(format!("{equals} policies")),
            _ if of == 1 || self.spread() > 0 || (which == 0 && self.ended < of) => Cell::name(policy),
            0 => Cell::name("all alike"),
            _ => Cell::Empty,
        }
    }

    /// How far the policies are apart, in prompt tokens.
    fn spread(&self) -> u64 {
        self.ends.map_or(0, |[(_, (least, _)), (_, (most, _))]| most - least)
    }

    /// How far they are from the recording, and what that sent: they tell sessions apart where one policy stands alone.
    fn beside_recorded(&self) -> (u64, u64) {
        self.ends.map_or((0, 0), |[(_, (least, recorded)), _]| (least.abs_diff(recorded), recorded))
    }
}

/// All that is known of each policy and session, a row each.
pub fn flat(corpus: &Corpus, replays: &[Replay], baselines: Baselines<'_>, cache: CacheKind) -> Table {
    let names = [("policy", "policy"), ("session", "session"), ("source", "source"), ("agent", "agent"), ("model", "model")];
    let mut columns: Vec<Column> = names.iter().map(|(key, header)| Column::name(key, header)).collect();
    columns.push(Column::recorded("window", "window", Unit::Tokens));
    columns.extend(in_spreadsheets().map(column));
    columns.extend(baselines.cost_columns());
    Table { labels: 2, rows: replays.iter().flat_map(move |replay| rows_of(corpus, replay, baselines, cache)).collect(), columns }
}

/// The rows of one policy, in the order of the corpus.
fn rows_of<'a>(corpus: &'a Corpus, replay: &'a Replay, baselines: Baselines<'a>, cache: CacheKind) -> impl Iterator<Item = Vec<Cell>> + 'a {
    let sessions = (0..corpus.traces.len()).filter_map(move |place| Some((place, pair(corpus, replay, place)?)));
    let row = move |(place, (trace, replay, outcome, bills)): (usize, Pair<'_>)| {
        let names = names(&replay.policy, &trace, Cell::Tokens(outcome.window));
        let beside = |recording: &Recording| {
            let beside = recording.beside(replay, cache, std::iter::once(place));
            if beside.sessions > 0 { recording::cost_share(&beside) } else { Cell::Empty }
        };
        let figures = cells(in_spreadsheets(), &outcome.totals);
        names.into_iter().chain(figures).chain(costs(bills.as_deref(), cache)).chain(baselines.recording.map(beside)).collect()
    };
    sessions.filter(|(_, (_, _, outcome, _))| outcome.totals.sessions > 0).map(row)
}

fn names(policy: &str, trace: &Trace, window: Cell) -> [Cell; 6] {
    let text = |text: &str| Cell::Text(text.to_owned());
    let model = trace.main_model().map_or(Cell::Empty, text);
    [Cell::Name(policy.to_owned()), text(&trace.id), text(&trace.source), text(&trace.agent), model, window]
}

/// Puts the rows of the recording and of the user's own agents before those of policies; what they have no figure for is empty.
pub fn put_before(table: &mut Table, corpus: &Corpus, baselines: Baselines<'_>, cache: CacheKind) {
    let recorded = baselines.recording.into_iter().flat_map(|recording| corpus.traces.each().zip(recording.sessions.each()));
    let recorded = recorded.map(|(trace, session)| {
        let figures = in_spreadsheets().map(|figure| recording::cell(figure, &session));
        names(RECORDED, &trace, Cell::Empty).into_iter().chain(figures).chain(recording::costs(&session)).collect()
    });
    let own = baselines.own.into_iter().flat_map(|own| rows_of(corpus, &own.replay, baselines, cache));
    let width = table.columns.len();
    let filled = |mut row: Vec<Cell>| {
        row.resize(width, Cell::Empty);
        row
    };
    let rows: List<Vec<Cell>> = recorded.chain(own).map(filled).collect();
    let others = std::mem::replace(&mut table.rows, rows);
    table.rows.append(others);
}

/// A session and what a policy comes to in it.
type Pair<'a> = (Cow<'a, Trace>, &'a Replay, Cow<'a, Outcome>, Option<Cow<'a, Bills>>);

fn pair<'a>(corpus: &'a Corpus, replay: &'a Replay, place: usize) -> Option<Pair<'a>> {
    Some((corpus.traces.at(place)?, replay, replay.outcomes.at(place)?, replay.bills.at(place)))
}

fn costs(bills: Option<&Bills>, cache: CacheKind) -> [Cell; 2] {
    bills.map_or([Cell::Empty, Cell::Empty], |bills| cost_figures::cells(bills, cache))
}
