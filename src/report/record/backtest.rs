//! The record of a backtest, schema `ctxsim.backtest/2`.

use super::keys::record;
use super::number::{round, share_of};
use crate::corpus::Corpus;
use crate::experiment::{Backtest, Fitted, Group, Mode, ReadAgain, TOLERANCE, Tested, TestedSession};
use crate::list::Gather;
use crate::report::asked::Grouping;
use crate::report::tested_rows::TestedRow;
use crate::report::verdict::{kind_name, named, scores, why};
use crate::sim::RecordedSummary;
use crate::statistics::Estimate;
use crate::trace::Trace;
use std::borrow::Cow;
use std::collections::BTreeMap;

record! {
    /// The record of `ctxsim backtest`.
    pub struct BacktestRecord(
        corpus: &Corpus, result: &Backtest, again: &ReadAgain, mode: Mode, intervals: [Option<Estimate>; 2], groups: Vec<GroupRecord>
    ) with {
        let [of_recall, of_precision] = intervals;
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
        let by_agent = result.summaries.by_agent().map(|(agent, fitted)| SummaryRecord::new(agent, fitted));
        let without_preset = result.without_preset.iter().map(|(agent, sums)| (agent.clone(), WithoutPreset::new(*sums)));
    } {
        mode: &'static str = if mode == Mode::Free { "free" } else { "conditioned" },
        tolerance_calls: u64 = TOLERANCE,
        recall: Option<f64> = share_of(hits, demanded),
        recall_low: Option<f64> = of_recall.map(|recall| round(recall.low)),
        recall_high: Option<f64> = of_recall.map(|recall| round(recall.high)),
        precision: Option<f64> = share_of(hits, predictions),
        precision_low: Option<f64> = of_precision.map(|precision| round(precision.low)),
        precision_high: Option<f64> = of_precision.map(|precision| round(precision.high)),
        median_distance_calls: Option<u64> = result.median_of_hits(|event| event.distance_calls().map(i64::unsigned_abs)),
        median_token_error: Option<f64> = result.median_of_hits(Tested::token_error_millionths).and_then(|error| share_of(error, 1_000_000)),
        median_after_error: Option<f64> = result.median_of_hits(Tested::after_error_millionths).and_then(|error| share_of(error, 1_000_000)),
        verdicts: BTreeMap<&'static str, u64> = verdicts,
        events: Vec<EventRecord> = tested().flat_map(of_session).collect(),
        sessions: Vec<SessionRecord> = tested().map(|(trace, session)| SessionRecord::new(&trace, session)).collect(),
        groups: Vec<GroupRecord> = groups,
        without_preset: BTreeMap<String, WithoutPreset> = without_preset.gather(),
        summary_models: Vec<SummaryRecord> = by_agent.collect(),
        read_again: ReadAgainRecord = ReadAgainRecord::new(again),
    }

    struct EventRecord(trace: &Trace, session: &TestedSession, event: &Tested) {
        session: String = trace.id.clone(),
        source: String = trace.source.clone(),
        policy: String = session.policy.clone(),
        kind: &'static str = kind_name(event.kind),
        verdict: &'static str = named(event.verdict),
        reason: Option<String> = Some(why(event.reason)).filter(|reason| !reason.is_empty()),
        automatic: Option<bool> = event.recorded.and_then(|recorded| recorded.automatic),
        recorded_call: Option<u64> = event.recorded.map(|recorded| recorded.call),
        predicted_call: Option<u64> = event.predicted.map(|predicted| predicted.call),
        distance_calls: Option<i64> = event.distance_calls(),
        recorded_tokens: Option<u64> = event.recorded.and_then(|recorded| recorded.tokens),
        predicted_tokens: Option<u64> = event.predicted.map(|predicted| predicted.tokens),
        distance_tokens: Option<i64> = event.distance_tokens(),
        limit_tokens: Option<u64> = event.predicted.and_then(|predicted| predicted.limit),
        estimate_tokens: Option<u64> = event.estimate,
        recorded_after_tokens: Option<u64> = event.recorded.and_then(|recorded| recorded.after),
        predicted_after_tokens: Option<u64> = event.predicted.and_then(|predicted| predicted.after),
        recorded_summary_tokens: Option<u64> = event.recorded.and_then(|recorded| recorded.summary),
        modelled_summary_tokens: Option<u64> = event.modelled_summary,
    }

    struct SessionRecord(trace: &Trace, session: &TestedSession) {
        session: String = trace.id.clone(),
        source: String = trace.source.clone(),
        agent: String = trace.agent.clone(),
        agent_version: String = trace.version.clone(),
        day: Option<String> = trace.day(),
        model: Option<String> = trace.main_model().map(str::to_owned),
        policy: String = session.policy.clone(),
        window: u64 = session.window,
        calls: u64 = trace.calls.len() as u64,
        events: u64 = session.events.iter().filter(|event| event.recorded.is_some()).count() as u64,
    }

    /// Sessions that have something in common, and how well they were predicted.
    pub struct GroupRecord(row: &TestedRow, by: &[Grouping]) {
        by: BTreeMap<&'static str, String> = by.iter().map(|grouping| grouping.name()).zip(row.labels.iter().cloned()).gather(),
        sessions: u64 = row.sessions,
        events: u64 = row.events,
        hits: u64 = row.hits,
        missed: u64 = row.demanded - row.hits,
        false_alarms: u64 = row.predictions - row.hits,
    }

    struct WithoutPreset((sessions, events): (u64, u64)) {
        sessions: u64 = sessions,
        events: u64 = events,
    }

    struct SummaryRecord(agent: &str, fitted: Fitted) with {
        let (model, tokens, share, bounds) = match fitted.model {
            RecordedSummary::Constant(tokens) => ("constant", Some(tokens), None, None),
            RecordedSummary::Share { millionths, min, max } => ("share", None, share_of(millionths, 1_000_000), Some((min, max))),
        };
    } {
        agent: String = agent.to_owned(),
        model: &'static str = model,
        events: u64 = fitted.events,
        tokens: Option<u64> = tokens,
        share: Option<f64> = share,
        min_tokens: Option<u64> = bounds.map(|(min, _)| min),
        max_tokens: Option<u64> = bounds.map(|(_, max)| max),
    }

    /// Part of schema `ctxsim.backtest/2`.
    pub struct ReadAgainRecord(found: &ReadAgain) {
        compactions: u64 = found.compactions,
        prunings: u64 = found.prunings,
        readings: u64 = found.readings,
        repeated: u64 = found.repeated,
        groups: Vec<AgainRecord> = found.groups.iter().map(AgainRecord::new).collect(),
    }

    struct AgainRecord(group: &Group) with {
        let interval = group.interval();
    } {
        standing: &'static str = group.standing.name(),
        basis: &'static str = group.basis.name(),
        taken_up: bool = group.taken_up,
        results: u64 = group.results,
        sessions: u64 = group.sessions,
        again: u64 = group.again,
        again_share: Option<f64> = share_of(group.again, group.results),
        again_share_low: Option<f64> = interval.map(|(low, _)| low as f64 / 1e6),
        again_share_high: Option<f64> = interval.map(|(_, high)| high as f64 / 1e6),
        file_again: u64 = group.file_again,
    }
}
