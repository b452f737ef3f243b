//! `backtest`: recorded compactions and prunings beside those that the recording agents' own policies would have made.

use super::asked::Grouping;
use super::document::{Better, Cell, Column, Fields, Provenance, Report, Screen, Section, Table, Unit};
use super::record::backtest::{BacktestRecord, GroupRecord};
use super::tested_rows::{TestedRow, tested_rows};
use super::title::title;
use super::verdict::{kind_name, named, scores, why};
use super::words::{counted, counted_as, grouped, percent, percent_of};
use super::{cautions, notes, read_again};
use crate::corpus::Corpus;
use crate::experiment::{self, Backtest, Mode, Reason, TOLERANCE, Tested, TestedSession, Verdict};
use crate::list::{Arrange, Gather};
use crate::policy::untied;
use crate::statistics::{Estimate, LEVEL};
use crate::trace::Trace;
use crate::transcript::CompactionKind;
use std::collections::BTreeSet;

const CONDITIONED: &str = "Each event is predicted from the context that the agent had after the recorded compaction before it: no prediction inherits \
                           the error of another. Recorded prunings that a policy does not make itself are imposed as well; others are replayed freely.";

const FREE: &str =
    "Each session is one replay from its beginning: after the first compaction the context is the simulated one, and errors add up.";

const CALLS: &str = "Calls are numbered from 1 and name the first call after an event. A trigger's tokens are what the log says, else recorded usage before \
                     the event, with the truth of what had come since where the policy's trigger counts that. What a policy adds by estimate \
                     (Codex: reasoning of earlier turns, which prompts lack) is in predictions alone.";

/// The report on a backtest.
pub fn backtest(corpus: &Corpus, result: &Backtest, mode: Mode, by: &[Grouping]) -> Report {
    let mut notes = notes::of_backtest(corpus, if mode == Mode::Free { FREE } else { CONDITIONED });
    notes.insert(1, CALLS.to_owned());
    notes.extend(
        result
            .summaries
            .describe()
            .map(|model| format!("Modelled sizes of summaries: {model}; a session is tested by a model fitted without its own.")),
    );
    notes.extend(without_preset(result));
    notes.extend(cautions::of_versions(corpus));
    let rows = flat(corpus, result);
    let intervals = result.shares_of_hits(corpus);
    let mut sections = vec![Section::lines(summary(corpus, result, intervals))];
    if !rows.rows.is_empty() {
        sections.push(fields(corpus).table(3, all(result)).titled("Events"));
    }
    let is_asked = !by.is_empty();
    let by = if is_asked { by } else { &[Grouping::Policy] };
    let groups = tested_rows(corpus, result, by);
    let grouped = grouped_table(groups.clone(), by);
    // What is asked for stands before the single events.
    let screen = Some(screen(corpus, result, intervals[0], grouped.clone().filter(|_| is_asked)));
    sections.extend(grouped);
    sections.extend(reasons(corpus, result));
    let again = experiment::read_again(corpus);
    let of_again = read_again::sections(&again);
    notes.extend((!of_again.is_empty()).then(|| read_again::NOTE.to_owned()));
    sections.extend(of_again);
    let of_groups = groups.iter().map(|row| GroupRecord::new(row, by)).collect();
    let record = BacktestRecord::new(corpus, result, &again, mode, intervals, of_groups);
    let facts = &corpus.facts;
    Report { screen, ..Report::over(facts, sections, notes, rows, record) }
}

/// The answer, and the events: those that are no hits first.
fn screen(corpus: &Corpus, result: &Backtest, recall: Option<Estimate>, grouped: Option<Section>) -> Screen {
    let events: Vec<&Tested> = result.events().collect();
    let without_rule = events.iter().filter(|event| event.reason == Reason::NoRule).count();
    let nothing = || match result.sessions.len() as u64 {
        0 => {
            let agents = corpus.agents();
            let named = agents.iter().find_map(|agent| untied(agent).next()).unwrap_or("NAME");
            format!("Nothing to test: no preset is tied to these logs; --policy {named} tests one.")
        }
        _ if without_rule > 0 => format!(
            "Nothing to test: no rule of the policy compacts or prunes, as {} did. `event = \"compact\"` names a rule that drops so.",
            counted(without_rule as u64, "recorded event")
        ),
        sessions => {
            format!(
                "Nothing to test: {} no automatic compaction that can be tested.",
                counted_as(sessions, "session holds", "sessions hold")
            )
        }
    };
    let lines = [in_short(corpus, result, &events, scores(&events), recall).unwrap_or_else(nothing)].into_iter().chain(aside(result));
    let mut rows: Vec<Row<'_>> = all(result).collect();
    rows.arrange_by_key(|(_, event)| {
        const ORDER: [Verdict; 5] = [Verdict::Missed, Verdict::FalseAlarm, Verdict::ProbablyManual, Verdict::Untested, Verdict::Manual];
        ORDER.iter().position(|verdict| *verdict == event.verdict).unwrap_or(ORDER.len())
    });
    let mut events = fields(corpus).table(3, rows);
    // What was not predicted says so: a column without a figure is left out.
    let place = events.columns.iter().position(|column| column.key == "predicted_call");
    for cell in events.rows.iter_mut().filter_map(|row| row.get_mut(place?)).filter(|cell| **cell == Cell::Empty) {
        *cell = Cell::name("-");
    }
    let events = events.section("Events, simulated beside recorded; those that were not predicted first");
    let sections = [Section::lines(lines.collect())].into_iter().chain(grouped).chain(events).collect();
    Screen { title: title(&corpus.facts), sections, ..Screen::default() }
}

/// Events that count neither for nor against.
fn aside(result: &Backtest) -> Option<String> {
    let aside = [Verdict::Manual, Verdict::ProbablyManual, Verdict::Untested];
    let aside: Vec<String> = aside
        .into_iter()
        .filter(|verdict| result.count(*verdict) > 0)
        .map(|verdict| match (verdict, result.count(verdict), result.count(Verdict::Hit)) {
            // Where logs name no trigger a miss becomes one, and recall can hardly fall.
            (Verdict::ProbablyManual, count, hits) => {
                format!("{count} {} ({hits} of {} with them)", named(verdict), hits + result.count(Verdict::Missed) + count)
            }
            (_, count, _) => format!("{count} {}", named(verdict)),
        })
        .collect();
    let counted = (!aside.is_empty()).then(|| format!("not counted: {}", aside.join(", ")));
    let without: u64 = result.without_preset.values().map(|(_, events)| events).sum();
    let without = (without > 0).then(|| format!("{} not tested: no preset is tied to their logs", grouped(without)));
    let parts: Vec<String> = counted.into_iter().chain(without).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn summary(corpus: &Corpus, result: &Backtest, [recall, precision]: [Option<Estimate>; 2]) -> Vec<String> {
    let all: Vec<&Tested> = result.events().collect();
    let (hits, demanded, predictions) = scores(&all);
    let share = |whole: u64| percent_of(hits, whole);
    let error = result.median_of_hits(Tested::token_error_millionths);
    let mut lines: Vec<String> = in_short(corpus, result, &all, (hits, demanded, predictions), recall).into_iter().collect();
    lines.push(format!(
        "recall {}{} ({} of {} that the agents made by themselves, within {}), precision {}{} ({} of {}, late ones not among them)",
        share(demanded),
        interval(recall),
        grouped(hits),
        counted(demanded, "event"),
        counted(TOLERANCE, "call"),
        share(predictions),
        interval(precision),
        grouped(hits),
        counted(predictions, "prediction"),
    ));
    let calls = result.median_of_hits(|event| event.distance_calls().map(i64::unsigned_abs));
    if let (Some(calls), Some(error)) = (calls, error) {
        lines.push(format!("median distance of the hits: {}; {} of the trigger's tokens", counted(calls, "call"), hundredths(error)));
    }
    lines.extend(aside(result));
    lines
}

/// Between which bounds a share of hits lies, over sessions or projects; nothing where that is not known.
fn interval(share: Option<Estimate>) -> String {
    let bound = |share: f64| percent((share * 1e6).round() as i64, 1_000_000);
    share.map_or_else(String::new, |share| format!(" ({LEVEL} %: {} to {})", bound(share.low), bound(share.high)))
}

/// The answer in one sentence: how many of the events that agents made by themselves were predicted, with the interval of that, false alarms, the error of the trigger, over all and of the system whose error is the largest. Absent where there
/// is neither.
fn in_short(
    corpus: &Corpus,
    result: &Backtest,
    all: &[&Tested],
    (hits, demanded, predictions): (u64, u64, u64),
    recall: Option<Estimate>,
) -> Option<String> {
    let prunes = all.iter().any(|event| event.recorded.is_some() && event.kind == CompactionKind::Prune);
    let noun = if prunes { "automatic compaction or pruning" } else { "automatic compaction" };
    let alarms = match predictions - hits {
        0 => "no false alarm".to_owned(),
        alarms => counted(alarms, "false alarm"),
    };
    let median = |of: fn(&Tested) -> Option<u64>, said: fn(u64) -> String| {
        let error = result.median_of_hits(of)?;
        let largest = result.largest_median_of_hits(of).filter(|(_, largest)| *largest > error);
        let largest = largest.map_or_else(String::new, |(system, largest)| format!(" ({system}: {})", said(largest)));
        Some(format!("{}{largest}", said(error)))
    };
    let trigger = median(Tested::token_error_millionths, hundredths).map(|error| format!("; median error of the trigger {error}"));
    let after = median(Tested::after_error_millionths, |error| percent(error as i64, 1_000_000));
    let after = after.map(|error| format!(", of the prompt after it {error}"));
    let error = trigger.map(|trigger| trigger + &after.unwrap_or_default()).unwrap_or_default();
    let many = if prunes { "automatic compactions and prunings" } else { "automatic compactions" };
    let events = if demanded == 1 { noun } else { many };
    let counts = |event: &Tested| matches!(event.verdict, Verdict::Hit | Verdict::Missed | Verdict::FalseAlarm);
    let counting = result.sessions.iter().filter(|session| session.events.iter().any(counts));
    let agents: BTreeSet<String> = counting.filter_map(|session| Some(corpus.traces.at(session.place)?.agent.clone())).gather();
    let of = if agents.len() > 1 { format!(" of {}", counted(agents.len() as u64, "agent")) } else { String::new() };
    (demanded + predictions > 0).then(|| {
        let (hits, demanded, calls) = (grouped(hits), grouped(demanded), counted(TOLERANCE, "call"));
        format!("{hits} of {demanded} {events}{of} predicted within {calls}{}, {alarms}{error}.", interval(recall))
    })
}

/// Millionths in percent with two decimals.
fn hundredths(millionths: u64) -> String {
    let hundredths = (millionths + 50) / 100;
    format!("{}.{:02} %", hundredths / 100, hundredths % 100)
}

/// An event that was tested, and its session.
type Row<'a> = (&'a TestedSession, &'a Tested);

fn number(key: &'static str, header: &'static str, meaning: &'static str, unit: Unit, provenance: Provenance) -> Column {
    Column::number(key, header, unit, provenance).says(meaning).priority(1)
}

/// The columns of each event.
fn fields(corpus: &Corpus) -> Fields<'_, Row<'_>> {
    use Provenance::{Estimated, Recorded, Simulated};
    use Unit::{Count, Tokens};
    let estimate = "the policy's, where the agent compacted and the policy did not";
    let recorded_call = number("recorded_call", "at call", "the first call after the recorded event", Count, Recorded);
    let predicted_call = number("predicted_call", "predicted", "the first call after the predicted one", Count, Simulated);
    let modelled = number("modelled_summary", "modelled", "its tokens by the model `recorded`", Tokens, Estimated);
    Fields::<Row<'_>>::new()
        .with(Column::name("session", "session"), |(session, _)| Cell::Text(id_of(corpus, session)))
        .with(Column::name("policy", "policy"), |(session, _)| Cell::name(&session.policy))
        .with(Column::name("kind", "kind"), |(_, event)| Cell::name(kind_name(event.kind)))
        .with(recorded_call, |(_, event)| count(event.recorded.map(|recorded| recorded.call)))
        .with(predicted_call, |(_, event)| count(event.predicted.map(|predicted| predicted.call)))
        .with(number("recorded_tokens", "tokens", "what the trigger saw", Tokens, Recorded), |(_, event)| {
            tokens(event.recorded.and_then(|recorded| recorded.tokens))
        })
        .with(
            number("distance_tokens", "off by", "predicted less recorded tokens, where both count the same", Tokens, Simulated),
            |(_, event)| event.distance_tokens().map_or(Cell::Empty, Cell::SignedTokens),
        )
        .with(number("estimate", "estimate", estimate, Tokens, Simulated), |(_, event)| tokens(event.estimate))
        .with(number("recorded_after", "after", "the prompt of the first call after it", Tokens, Recorded), |(_, event)| {
            tokens(event.recorded.and_then(|recorded| recorded.after))
        })
        .with(number("predicted_after", "predicted after", "the same, as simulated", Tokens, Simulated), |(_, event)| {
            tokens(event.predicted.and_then(|predicted| predicted.after))
        })
        .with(number("recorded_summary", "summary", "its tokens", Tokens, Estimated), |(_, event)| {
            tokens(event.recorded.and_then(|recorded| recorded.summary))
        })
        .with(modelled, |(_, event)| tokens(event.modelled_summary))
        .with(Column::name("verdict", "verdict"), |(_, event)| Cell::name(named(event.verdict)))
}

/// How well each group of sessions was predicted.
fn grouped_table(rows: Vec<TestedRow>, by: &[Grouping]) -> Option<Section> {
    let recorded = |key, header| Column::recorded(key, header, Unit::Count);
    let mut fields = Fields::<TestedRow>::new();
    for (place, grouping) in by.iter().enumerate() {
        let cell = move |row: &TestedRow| match row.labels.get(place) {
            Some(label) if label.is_empty() => Cell::Empty,
            label => Cell::Text(label.cloned().unwrap_or_default()),
        };
        fields = fields.with(Column::name(grouping.name(), grouping.name()), cell);
    }
    let title = match by {
        [Grouping::Policy] => "Policies".to_owned(),
        by => format!("By {}", by.iter().map(|grouping| grouping.name()).collect::<Vec<_>>().join(", ")),
    };
    fields
        .with(recorded("sessions", "sessions"), |row| Cell::Count(row.sessions))
        .with(recorded("events", "events"), |row| Cell::Count(row.events))
        .with(Column::simulated("hits", "hits", Unit::Count).better(Better::More), |row| Cell::Count(row.hits))
        .with(Column::simulated("missed", "missed", Unit::Count).better(Better::Less), |row| Cell::Count(row.demanded - row.hits))
        .with(Column::simulated("false_alarms", "false alarms", Unit::Count).better(Better::Less), |row| {
            Cell::Count(row.predictions - row.hits)
        })
        .with(Column::simulated("recall", "recall", Unit::Share), |row| Cell::share(row.hits, row.demanded))
        .with(Column::simulated("precision", "precision", Unit::Share), |row| Cell::share(row.hits, row.predictions))
        .table(by.len(), rows)
        .section(title)
}

/// Why an event is no hit, one by one.
fn reasons(corpus: &Corpus, result: &Backtest) -> Option<Section> {
    Fields::<Row<'_>>::new()
        .with(Column::name("session", "session"), |(session, _)| Cell::Text(id_of(corpus, session)))
        .with(Column::recorded("call", "call", Unit::Count), |(_, event)| {
            count(event.recorded.map(|recorded| recorded.call).or(event.predicted.map(|predicted| predicted.call)))
        })
        .with(Column::name("verdict", "verdict"), |(_, event)| Cell::name(named(event.verdict)))
        .with(Column::prose("reason", "why"), |(_, event)| Cell::Name(why(event.reason)))
        .table(2, all(result).filter(|(_, event)| event.verdict != Verdict::Hit))
        .section("What was no hit, and why")
}

/// The flat table: one row per event, with all that is known of it.
fn flat(corpus: &Corpus, result: &Backtest) -> Table {
    let text = |session: &TestedSession, of: fn(&Trace) -> &String| {
        corpus.traces.at(session.place).map_or(Cell::Empty, |trace| Cell::text(of(&trace)))
    };
    let simulated = |key, header| Column::simulated(key, header, Unit::Tokens);
    fields(corpus)
        .with(Column::name("source", "source"), move |(session, _)| text(session, |trace| &trace.source))
        .with(Column::name("agent", "agent"), move |(session, _)| text(session, |trace| &trace.agent))
        .with(Column::name("version", "version"), move |(session, _)| text(session, |trace| &trace.version))
        .with(Column::recorded("window", "window", Unit::Tokens), |(session, _)| Cell::Tokens(session.window))
        .with(simulated("predicted_tokens", "predicted tokens"), |(_, event)| tokens(event.predicted.map(|predicted| predicted.tokens)))
        .with(simulated("limit", "limit"), |(_, event)| tokens(event.predicted.and_then(|predicted| predicted.limit)))
        .with(Column::prose("reason", "reason"), |(_, event)| Cell::Name(why(event.reason)))
        .table(3, all(result))
}

fn all(result: &Backtest) -> impl Iterator<Item = (&TestedSession, &Tested)> {
    result.sessions.iter().flat_map(|session| session.events.iter().map(move |event| (session, event)))
}

fn id_of(corpus: &Corpus, session: &TestedSession) -> String {
    corpus.traces.at(session.place).map(|trace| trace.id.clone()).unwrap_or_default()
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
    (!agents.is_empty())
        .then(|| format!("Not tested, for no preset is tied to the agent's logs (--policy names one): {}.", agents.join(", ")))
}
