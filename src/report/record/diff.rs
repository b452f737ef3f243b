//! The comparison of two policies for programs.

use super::number::ShareRecord;
use super::replay::PolicyRecord;
use crate::corpus::Corpus;
use crate::experiment::{Diff, Parting, Side};
use crate::list::List;
use crate::report::asked::Series;
use crate::sim::{CallOutcome, Event, Outcome};
use crate::trace::Trace;
use crate::units::signed;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The record of `ctxsim diff`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiffRecord {
    policies: Vec<PolicyRecord>,
    parted_sessions: u64,
    median_call: Option<u64>,
    /// The prompt tokens of the second policy beside those of the first, as a share; absent for too few sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<ShareRecord>,
    sessions: SessionRecords,
}

/// A record for each session, made as it is written: all of them together would fill the memory.
#[derive(Clone, Debug, PartialEq)]
struct SessionRecords {
    traces: List<Trace>,
    partings: List<Option<Parting>>,
    outcomes: [List<Outcome>; 2],
    names: [String; 2],
}

impl Serialize for SessionRecords {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [ones, others] = &self.outcomes;
        let names = self.names.each_ref().map(String::as_str);
        let sessions = self.traces.each().zip(self.partings.each()).zip(ones.each().zip(others.each()));
        serializer.collect_seq(
            sessions.map(|((trace, parting), (one, other))| SessionRecord::new(&trace, parting.as_ref().as_ref(), names, [&one, &other])),
        )
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SessionRecord {
    session: String,
    source: String,
    agent: String,
    calls: u64,
    call: Option<u32>,
    before_tokens: Option<u64>,
    sides: Vec<SideRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SideRecord {
    policy: String,
    events: Vec<Event>,
    dropped_items: u64,
    dropped_tokens: u64,
    dropped_regions: BTreeMap<&'static str, u64>,
    dropped_tools: BTreeMap<String, u64>,
    returned_tokens: u64,
    added_tokens: i64,
    attempted_tokens: Option<u64>,
    context_tokens: Option<u64>,
    after_1_tokens: Option<u64>,
    after_10_tokens: Option<u64>,
    end_tokens: Option<u64>,
    peak_tokens: u64,
    prompt_tokens: u64,
    difference_tokens: i64,
    overflows_later: u64,
}

impl DiffRecord {
    /// The record of two policies.
    pub fn new(corpus: &Corpus, diff: &Diff) -> DiffRecord {
        DiffRecord {
            policies: diff.replays.iter().map(|replay| PolicyRecord::new(corpus, replay, Series::LeftOut)).collect(),
            parted_sessions: diff.partings.each().filter(|parting| parting.is_some()).count() as u64,
            // Calls are counted from 0 here, as everywhere in records.
            median_call: diff.median_call().map(|call| call.saturating_sub(1)),
            difference: ShareRecord::new(diff.difference(corpus)),
            sessions: SessionRecords {
                traces: corpus.traces.clone(),
                partings: diff.partings.clone(),
                outcomes: diff.replays.each_ref().map(|replay| replay.outcomes.clone()),
                names: diff.replays.each_ref().map(|replay| replay.policy.clone()),
            },
        }
    }
}

impl SessionRecord {
    fn new(trace: &Trace, parting: Option<&Parting>, names: [&str; 2], [one, other]: [&Outcome; 2]) -> SessionRecord {
        let [first, second] = names;
        let sides = parting.map(|parting| {
            let [left, right] = &parting.sides;
            vec![SideRecord::new(parting.call, first, left, one, other), SideRecord::new(parting.call, second, right, other, one)]
        });
        SessionRecord {
            session: trace.id.clone(),
            source: trace.source.clone(),
            agent: trace.agent.clone(),
            calls: trace.calls.len() as u64,
            call: parting.map(|parting| parting.call),
            before_tokens: parting.map(|parting| parting.before),
            sides: sides.unwrap_or_default(),
        }
    }
}

impl SideRecord {
    fn new(call: u32, policy: &str, side: &Side, outcome: &Outcome, other: &Outcome) -> SideRecord {
        let later = |calls: usize| outcome.calls.get(call as usize + calls);
        let context = |row: Option<&CallOutcome>| row.map(|row| row.actual);
        SideRecord {
            policy: policy.to_owned(),
            events: side.events.clone(),
            dropped_items: side.dropped.items,
            dropped_tokens: side.dropped.tokens,
            dropped_regions: side.dropped.by_region.iter().map(|(region, tokens)| (region.name(), *tokens)).collect(),
            dropped_tools: side.dropped.by_tool.clone(),
            returned_tokens: side.returned,
            added_tokens: side.added,
            attempted_tokens: later(0).map(|row| row.attempted),
            context_tokens: context(later(0)),
            after_1_tokens: context(later(1)),
            after_10_tokens: context(later(10)),
            end_tokens: context(outcome.calls.last()),
            peak_tokens: outcome.totals.peak_tokens,
            prompt_tokens: outcome.totals.prompt_tokens,
            difference_tokens: difference(outcome.totals.prompt_tokens, other.totals.prompt_tokens),
            overflows_later: outcome.overflows_from(call),
        }
    }
}

/// The first number less the second.
pub fn difference(one: u64, other: u64) -> i64 {
    signed(one) - signed(other)
}
