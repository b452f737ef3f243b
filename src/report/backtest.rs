//! `backtest`: recorded compactions and prunings beside those that the recording agents' own policies would have made.

use super::asked::AskedBacktest;
use super::document::{Better, Body, Cell, Column, Provenance, Report, Section, Table, Unit};
use super::record::any::Record;
use super::record::backtest::BacktestRecord;
use super::record::corpus::CorpusRecord;
use super::title::title;
use super::verdict::{kind_name, named, scores, why};
use super::words::{counted, grouped, percent};
use super::{notes, read_again};
use crate::corpus::Corpus;
use crate::experiment::{self, Backtest, Mode, TOLERANCE, Tested, TestedSession, Verdict};

const CONDITIONED: &str = "Each event is predicted from the context that the agent had after the recorded compaction before it: no prediction inherits \
                           the error of another. Recorded prunings that a policy does not make itself are imposed as well; others are replayed freely.";

const FREE: &str =
    "Each session is one replay from its beginning: after the first compaction the context is the simulated one, and errors add up.";

const CALLS: &str = "Calls are numbered from 1 and name the first call after an event. A trigger's tokens are what the log says, else recorded usage before \
                     the event, with the truth of what had come since where the policy's trigger counts that. What a policy adds by estimate \
                     (Codex: reasoning of earlier turns, which prompts lack) is in predictions alone.";

/// The report on a backtest.
pub fn backtest(corpus: &Corpus, result: &Backtest, asked: &AskedBacktest) -> Report {
    let mut notes = notes::of_backtest(corpus, if asked.mode == Mode::Free { FREE } else { CONDITIONED });
    notes.insert(1, CALLS.to_owned());
    notes.extend(result.summaries.describe().map(|model| format!("Modelled sizes of summaries: {model}.")));
    notes.extend(without_preset(result));
    let rows = flat(corpus, result);
    let mut sections = vec![Section { title: String::new(), body: Body::Lines(summary(result)) }];
    if !rows.rows.is_empty() {
        sections.push(Section { title: "Events".to_owned(), body: Body::Table(events(corpus, result)) });
    }
    sections.extend(by_policy(result));
    sections.extend(reasons(corpus, result));
    let again = experiment::read_again(corpus);
    let of_again = read_again::sections(&again);
    notes.extend((!of_again.is_empty()).then(|| read_again::NOTE.to_owned()));
    sections.extend(of_again);
    let record = Record::Backtest(Box::new(BacktestRecord::new(corpus, result, &again, asked.mode)));
    let facts = &corpus.facts;
    Report { title: title(facts), command: asked.command.clone(), sections, notes, rows, corpus: Some(CorpusRecord::new(facts)), record }
}

fn summary(result: &Backtest) -> Vec<String> {
    let all: Vec<&Tested> = result.events().collect();
    let (hits, demanded, predictions) = scores(&all);
    let share = |whole: u64| percent(i64::try_from(hits).unwrap_or(i64::MAX), whole);
    let mut lines = vec![format!(
        "recall {} ({} of {} that the agents made by themselves, within {}), precision {} ({} of {}, late ones not among them)",
        share(demanded),
        grouped(hits),
        counted(demanded, "event"),
        counted(TOLERANCE, "call"),
        share(predictions),
        grouped(hits),
        counted(predictions, "prediction"),
    )];
    let calls = result.median_of_hits(|event| event.distance_calls().map(i64::unsigned_abs));
    let error = result.median_of_hits(Tested::token_error_millionths);
    if let (Some(calls), Some(error)) = (calls, error) {
        let hundredths = error / 100;
        lines.push(format!(
            "median distance of the hits: {}; {}.{:02} % of the trigger's tokens",
            counted(calls, "call"),
            hundredths / 100,
            hundredths % 100
        ));
    }
    let aside = [Verdict::Manual, Verdict::ProbablyManual, Verdict::Untested];
    let aside: Vec<String> = aside
        .into_iter()
        .filter(|verdict| result.count(*verdict) > 0)
        .map(|verdict| format!("{} {}", result.count(verdict), named(verdict)))
        .collect();
    if !aside.is_empty() {
        lines.push(format!("not counted: {}", aside.join(", ")));
    }
    lines
}

/// The table for people: an event a row.
fn events(corpus: &Corpus, result: &Backtest) -> Table {
    let number = |key, header, meaning, unit, provenance| Column { meaning, ..Column::number(key, header, unit, provenance) };
    let columns = vec![
        Column::name("session", "session"),
        Column::name("policy", "policy"),
        Column::name("kind", "kind"),
        number("recorded_call", "at call", "the first call after the recorded event", Unit::Count, Provenance::Recorded),
        number("predicted_call", "predicted", "the first call after the predicted one", Unit::Count, Provenance::Simulated),
        number("recorded_tokens", "tokens", "what the trigger saw", Unit::Tokens, Provenance::Recorded),
        number("distance_tokens", "off by", "predicted less recorded tokens", Unit::Tokens, Provenance::Simulated),
        number(
            "estimate",
            "estimate",
            "the policy's, where the agent compacted and the policy did not",
            Unit::Tokens,
            Provenance::Simulated,
        ),
        number("recorded_after", "after", "the prompt of the first call after it", Unit::Tokens, Provenance::Recorded),
        number("predicted_after", "predicted after", "the same, as simulated", Unit::Tokens, Provenance::Simulated),
        number("recorded_summary", "summary", "its tokens", Unit::Tokens, Provenance::Estimated),
        number("modelled_summary", "modelled", "its tokens by the model `recorded`", Unit::Tokens, Provenance::Estimated),
        Column::name("verdict", "verdict"),
    ];
    let row = |(session, event): (&TestedSession, &Tested)| {
        let recorded = event.recorded;
        let predicted = event.predicted;
        vec![
            Cell::Text(id_of(corpus, session)),
            Cell::Name(session.policy.clone()),
            Cell::Name(kind_name(event.kind).to_owned()),
            count(recorded.map(|recorded| recorded.call)),
            count(predicted.map(|predicted| predicted.call)),
            tokens(recorded.and_then(|recorded| recorded.tokens)),
            event.distance_tokens().map_or(Cell::Empty, Cell::SignedTokens),
            tokens(event.estimate),
            tokens(recorded.and_then(|recorded| recorded.after)),
            tokens(predicted.and_then(|predicted| predicted.after)),
            tokens(recorded.and_then(|recorded| recorded.summary)),
            tokens(event.modelled_summary),
            Cell::Name(named(event.verdict).to_owned()),
        ]
    };
    Table { labels: 3, columns, rows: all(result).map(row).collect() }
}

/// A row a policy: how well it was predicted.
fn by_policy(result: &Backtest) -> Option<Section> {
    let mut policies: Vec<&str> = result.sessions.iter().map(|session| session.policy.as_str()).collect();
    policies.sort_unstable();
    policies.dedup();
    let number = |key, header, unit| Column::number(key, header, unit, Provenance::Simulated);
    let columns = vec![
        Column::name("policy", "policy"),
        Column::number("sessions", "sessions", Unit::Count, Provenance::Recorded),
        Column::number("events", "events", Unit::Count, Provenance::Recorded),
        Column { better: Better::More, ..number("hits", "hits", Unit::Count) },
        Column { better: Better::Less, ..number("missed", "missed", Unit::Count) },
        Column { better: Better::Less, ..number("false_alarms", "false alarms", Unit::Count) },
        number("recall", "recall", Unit::Share),
        number("precision", "precision", Unit::Share),
    ];
    let row = |policy: &str| {
        let sessions: Vec<&TestedSession> = result.sessions.iter().filter(|session| session.policy == policy).collect();
        let events: Vec<&Tested> = sessions.iter().flat_map(|session| &session.events).collect();
        let (hits, demanded, predictions) = scores(&events);
        vec![
            Cell::Name(policy.to_owned()),
            Cell::Count(sessions.len() as u64),
            Cell::Count(events.iter().filter(|event| event.recorded.is_some()).count() as u64),
            Cell::Count(hits),
            Cell::Count(demanded - hits),
            Cell::Count(predictions - hits),
            Cell::share(hits, demanded),
            Cell::share(hits, predictions),
        ]
    };
    let rows: Vec<Vec<Cell>> = policies.into_iter().map(row).collect();
    (!rows.is_empty()).then(|| Section { title: "Policies".to_owned(), body: Body::Table(Table { labels: 1, columns, rows }) })
}

/// Why an event is no hit, one by one.
fn reasons(corpus: &Corpus, result: &Backtest) -> Option<Section> {
    let columns = vec![
        Column::name("session", "session"),
        Column::number("call", "call", Unit::Count, Provenance::Recorded),
        Column::name("verdict", "verdict"),
        Column::prose("reason", "why"),
    ];
    let unclear = all(result).filter(|(_, event)| event.verdict != Verdict::Hit);
    let rows: Vec<Vec<Cell>> = unclear
        .map(|(session, event)| {
            let call = event.recorded.map(|recorded| recorded.call).or(event.predicted.map(|predicted| predicted.call));
            vec![
                Cell::Text(id_of(corpus, session)),
                count(call),
                Cell::Name(named(event.verdict).to_owned()),
                Cell::Name(why(event.reason)),
            ]
        })
        .collect();
    (!rows.is_empty())
        .then(|| Section { title: "What was no hit, and why".to_owned(), body: Body::Table(Table { labels: 2, columns, rows }) })
}

/// The flat table: an event a row, with all that is known of it.
fn flat(corpus: &Corpus, result: &Backtest) -> Table {
    let mut table = events(corpus, result);
    let more = [
        Column::name("source", "source"),
        Column::name("agent", "agent"),
        Column::name("version", "version"),
        Column::number("window", "window", Unit::Tokens, Provenance::Recorded),
        Column::number("predicted_tokens", "predicted tokens", Unit::Tokens, Provenance::Simulated),
        Column::number("limit", "limit", Unit::Tokens, Provenance::Simulated),
        Column::prose("reason", "reason"),
    ];
    table.columns.extend(more);
    for (row, (session, event)) in table.rows.iter_mut().zip(all(result)) {
        let trace = corpus.traces.get(session.place);
        let text = |of: fn(&crate::trace::Trace) -> &String| trace.map_or(Cell::Empty, |trace| Cell::Text(of(trace).clone()));
        row.extend([
            text(|trace| &trace.source),
            text(|trace| &trace.agent),
            text(|trace| &trace.version),
            Cell::Tokens(session.window),
            tokens(event.predicted.map(|predicted| predicted.tokens)),
            tokens(event.predicted.and_then(|predicted| predicted.limit)),
            Cell::Name(why(event.reason)),
        ]);
    }
    table
}

fn all(result: &Backtest) -> impl Iterator<Item = (&TestedSession, &Tested)> {
    result.sessions.iter().flat_map(|session| session.events.iter().map(move |event| (session, event)))
}

fn id_of(corpus: &Corpus, session: &TestedSession) -> String {
    corpus.traces.get(session.place).map(|trace| trace.id.clone()).unwrap_or_default()
}

fn count(value: Option<u64>) -> Cell {
    value.map_or(Cell::Empty, Cell::Count)
}

fn tokens(value: Option<u64>) -> Cell {
    value.map_or(Cell::Empty, Cell::Tokens)
}

fn without_preset(result: &Backtest) -> Option<String> {
    let agents: Vec<String> = result
        .without_preset
        .iter()
        .map(|(agent, (sessions, events))| {
            format!("{agent} ({} with {})", counted(*sessions, "session"), counted(*events, "recorded event"))
        })
        .collect();
    (!agents.is_empty()).then(|| format!("Not tested, for want of a preset for the agent (--policy names one): {}.", agents.join(", ")))
}
