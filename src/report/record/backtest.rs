//! The record of a backtest, schema `ctxsim.backtest/1`.

use super::number::share;
use super::read_again::ReadAgainRecord;
use crate::corpus::Corpus;
use crate::experiment::{Backtest, Fitted, Mode, ReadAgain, TOLERANCE, Tested, TestedSession};
use crate::report::asked::Grouping;
use crate::report::tested_rows::TestedRow;
use crate::report::verdict::{kind_name, named, scores, why};
use crate::sim::RecordedSummary;
use crate::trace::Trace;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The record of `ctxsim backtest`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BacktestRecord {
    mode: &'static str,
    tolerance_calls: u64,
    recall: Option<f64>,
    precision: Option<f64>,
    median_distance_calls: Option<u64>,
    median_token_error: Option<f64>,
    verdicts: BTreeMap<&'static str, u64>,
    events: Vec<EventRecord>,
    sessions: Vec<SessionRecord>,
    groups: Vec<GroupRecord>,
    without_preset: BTreeMap<String, WithoutPreset>,
    summary_models: Vec<SummaryRecord>,
    read_again: ReadAgainRecord,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct EventRecord {
    session: String,
    source: String,
    policy: String,
    kind: &'static str,
    verdict: &'static str,
    reason: Option<String>,
    automatic: Option<bool>,
    recorded_call: Option<u64>,
    predicted_call: Option<u64>,
    distance_calls: Option<i64>,
    recorded_tokens: Option<u64>,
    predicted_tokens: Option<u64>,
    distance_tokens: Option<i64>,
    limit_tokens: Option<u64>,
    estimate_tokens: Option<u64>,
    recorded_after_tokens: Option<u64>,
    predicted_after_tokens: Option<u64>,
    recorded_summary_tokens: Option<u64>,
    modelled_summary_tokens: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SessionRecord {
    session: String,
    source: String,
    agent: String,
    agent_version: String,
    day: Option<String>,
    model: Option<String>,
    policy: String,
    window: u64,
    calls: u64,
    events: u64,
}

/// Sessions that have something in common, and how well they were predicted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupRecord {
    by: BTreeMap<&'static str, String>,
    sessions: u64,
    events: u64,
    hits: u64,
    missed: u64,
    false_alarms: u64,
}

impl GroupRecord {
    /// The records of some rows, and what they are grouped by.
    pub fn all(rows: &[TestedRow], by: &[Grouping]) -> Vec<GroupRecord> {
        let record = |row: &TestedRow| GroupRecord {
            by: by.iter().map(|grouping| grouping.name()).zip(row.labels.iter().cloned()).collect(),
            sessions: row.sessions,
            events: row.events,
            hits: row.hits,
            missed: row.demanded - row.hits,
            false_alarms: row.predictions - row.hits,
        };
        rows.iter().map(record).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct WithoutPreset {
    sessions: u64,
    events: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SummaryRecord {
    agent: Option<String>,
    model: &'static str,
    events: u64,
    tokens: Option<u64>,
    share: Option<f64>,
    min_tokens: Option<u64>,
    max_tokens: Option<u64>,
}

impl BacktestRecord {
    /// The record of a backtest.
    pub fn new(corpus: &Corpus, result: &Backtest, again: &ReadAgain, mode: Mode, groups: Vec<GroupRecord>) -> BacktestRecord {
        let all: Vec<&Tested> = result.events().collect();
        let (hits, demanded, predictions) = scores(&all);
        let mut verdicts = BTreeMap::new();
        for event in &all {
            *verdicts.entry(named(event.verdict)).or_default() += 1;
        }
        let tested = || result.sessions.iter().filter_map(|session| Some((corpus.traces.at(session.place)?, session)));
        let of_session = |(trace, session): (Cow<'_, Trace>, &TestedSession)| -> Vec<EventRecord> {
            session.events.iter().map(|event| EventRecord::new(&trace, session, event)).collect()
        };
        let by_agent = result.summaries.by_agent().map(|(agent, fitted)| SummaryRecord::new(Some(agent), fitted));
        BacktestRecord {
            mode: if mode == Mode::Free { "free" } else { "conditioned" },
            tolerance_calls: TOLERANCE,
            recall: (demanded > 0).then(|| share(hits as f64, demanded)),
            precision: (predictions > 0).then(|| share(hits as f64, predictions)),
            median_distance_calls: result.median_of_hits(|event| event.distance_calls().map(i64::unsigned_abs)),
            median_token_error: result.median_of_hits(Tested::token_error_millionths).map(|error| share(error as f64, 1_000_000)),
            verdicts,
            events: tested().flat_map(of_session).collect(),
            sessions: tested().map(|(trace, session)| SessionRecord::new(&trace, session)).collect(),
            groups,
            without_preset: result
                .without_preset
                .iter()
                .map(|(agent, (sessions, events))| (agent.clone(), WithoutPreset { sessions: *sessions, events: *events }))
                .collect(),
            summary_models: by_agent.chain(result.summaries.all().map(|fitted| SummaryRecord::new(None, fitted))).collect(),
            read_again: ReadAgainRecord::new(again),
        }
    }
}

impl EventRecord {
    fn new(trace: &Trace, session: &TestedSession, event: &Tested) -> EventRecord {
        EventRecord {
            session: trace.id.clone(),
            source: trace.source.clone(),
            policy: session.policy.clone(),
            kind: kind_name(event.kind),
            verdict: named(event.verdict),
            reason: Some(why(event.reason)).filter(|reason| !reason.is_empty()),
            automatic: event.recorded.and_then(|recorded| recorded.automatic),
            recorded_call: event.recorded.map(|recorded| recorded.call),
            predicted_call: event.predicted.map(|predicted| predicted.call),
            distance_calls: event.distance_calls(),
            recorded_tokens: event.recorded.and_then(|recorded| recorded.tokens),
            predicted_tokens: event.predicted.map(|predicted| predicted.tokens),
            distance_tokens: event.distance_tokens(),
            limit_tokens: event.predicted.and_then(|predicted| predicted.limit),
            estimate_tokens: event.estimate,
            recorded_after_tokens: event.recorded.and_then(|recorded| recorded.after),
            predicted_after_tokens: event.predicted.and_then(|predicted| predicted.after),
            recorded_summary_tokens: event.recorded.and_then(|recorded| recorded.summary),
            modelled_summary_tokens: event.modelled_summary,
        }
    }
}

impl SessionRecord {
    fn new(trace: &Trace, session: &TestedSession) -> SessionRecord {
        SessionRecord {
            session: trace.id.clone(),
            source: trace.source.clone(),
            agent: trace.agent.clone(),
            agent_version: trace.version.clone(),
            day: trace.day(),
            model: trace.main_model().map(str::to_owned),
            policy: session.policy.clone(),
            window: session.window,
            calls: trace.calls.len() as u64,
            events: session.events.iter().filter(|event| event.recorded.is_some()).count() as u64,
        }
    }
}

impl SummaryRecord {
    fn new(agent: Option<&str>, fitted: Fitted) -> SummaryRecord {
        let agent = agent.map(str::to_owned);
        let events = fitted.events;
        match fitted.model {
            RecordedSummary::Constant(tokens) => {
                SummaryRecord { agent, model: "constant", events, tokens: Some(tokens), share: None, min_tokens: None, max_tokens: None }
            }
            RecordedSummary::Share { millionths, min, max } => SummaryRecord {
                agent,
                model: "share",
                events,
                tokens: None,
                share: Some(share(millionths as f64, 1_000_000)),
                min_tokens: Some(min),
                max_tokens: Some(max),
            },
        }
    }
}
