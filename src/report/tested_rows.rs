//! How well sessions were predicted, by policy, agent, version or day: the rows of a backtest.

use super::asked::Grouping;
use super::verdict::scores;
use crate::corpus::Corpus;
use crate::experiment::{Backtest, Tested, TestedSession};
use std::collections::BTreeMap;

/// The sessions of one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestedRow {
    /// By what they are together, in the order that was asked for; empty where their logs do not say it.
    pub labels: Vec<String>,
    /// Sessions that were tested.
    pub sessions: u64,
    /// Recorded events of these sessions.
    pub events: u64,
    /// Recorded events that were predicted.
    pub hits: u64,
    /// Hits and misses together.
    pub demanded: u64,
    /// Hits and false alarms together.
    pub predictions: u64,
}

/// A row for all sessions that have the same labels; versions in the order of their numbers, all else by name.
pub fn tested_rows(corpus: &Corpus, result: &Backtest, by: &[Grouping]) -> Vec<TestedRow> {
    let mut rows: BTreeMap<Vec<(Vec<u64>, String)>, Vec<&TestedSession>> = BTreeMap::new();
    for session in &result.sessions {
        let label = |grouping: &Grouping| label(corpus, session, *grouping);
        rows.entry(by.iter().map(label).collect()).or_default().push(session);
    }
    let row = |(labels, sessions): (Vec<(Vec<u64>, String)>, Vec<&TestedSession>)| {
        let events: Vec<&Tested> = sessions.iter().flat_map(|session| &session.events).collect();
        let (hits, demanded, predictions) = scores(&events);
        TestedRow {
            labels: labels.into_iter().map(|(_, label)| label).collect(),
            sessions: sessions.len() as u64,
            events: events.iter().filter(|event| event.recorded.is_some()).count() as u64,
            hits,
            demanded,
            predictions,
        }
    };
    rows.into_iter().map(row).collect()
}

/// What a session has of it, with the numbers that it is sorted by.
fn label(corpus: &Corpus, session: &TestedSession, by: Grouping) -> (Vec<u64>, String) {
    let trace = corpus.traces.at(session.place);
    let text = match by {
        Grouping::Policy => Some(session.policy.clone()),
        Grouping::Agent => trace.map(|trace| trace.agent.clone()),
        Grouping::Version => trace.map(|trace| trace.version.clone()),
        Grouping::Date => trace.and_then(|trace| trace.day()),
    };
    let text = text.unwrap_or_default();
    let numbers = text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
    (numbers.filter(|_| by == Grouping::Version).collect(), text)
}
