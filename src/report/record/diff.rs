//! The comparison of two policies for programs.

use super::keys::{record, rows};
use super::number::ShareRecord;
use super::replay::PolicyRecord;
use crate::corpus::Corpus;
use crate::experiment::{Diff, Parting, Side};
use crate::list::{Gather, List};
use crate::report::asked::Series;
use crate::sim::{CallOutcome, Event, Outcome};
use crate::trace::Trace;
use crate::units::signed;
use std::collections::BTreeMap;

record! {
    /// The record of `ctxsim diff`.
    pub struct DiffRecord(corpus: &Corpus, diff: &Diff) {
        policies: Vec<PolicyRecord> = diff.replays.iter().map(|replay| PolicyRecord::new(corpus, replay, Series::LeftOut)).collect(),
        parted_sessions: u64 = diff.partings.each().filter(|parting| parting.is_some()).count() as u64,
        // Calls are counted from 0 here, as everywhere in records.
        median_call: Option<u64> = diff.median_call().map(|call| call.saturating_sub(1)),
        /// The prompt tokens of the second policy beside those of the first, as a share; absent for too few sessions.
        ?difference: Option<ShareRecord> = ShareRecord::of(diff.difference(corpus)),
        sessions: SessionRecords = SessionRecords {
            traces: corpus.traces.clone(),
            partings: diff.partings.clone(),
            outcomes: diff.replays.each_ref().map(|replay| replay.outcomes.clone()),
            names: diff.replays.each_ref().map(|replay| replay.policy.clone()),
        },
    }
}

rows! {
    struct SessionRecords {
        traces: List<Trace>,
        partings: List<Option<Parting>>,
        outcomes: [List<Outcome>; 2],
        names: [String; 2],
    } |held| {
        let [ones, others] = &held.outcomes;
        let names = held.names.each_ref().map(String::as_str);
        let sessions = held.traces.each().zip(held.partings.each()).zip(ones.each().zip(others.each()));
        sessions.map(move |((trace, parting), (one, other))| SessionRecord::new(&trace, parting.as_ref().as_ref(), names, [&one, &other]))
    }
}

record! {
    struct SessionRecord(trace: &Trace, parting: Option<&Parting>, names: [&str; 2], [one, other]: [&Outcome; 2]) with {
        let [first, second] = names;
        let sides = parting.map(|parting| {
            let [left, right] = &parting.sides;
            vec![SideRecord::new(parting.call, first, left, one, other), SideRecord::new(parting.call, second, right, other, one)]
        });
    } {
        session: String = trace.id.clone(),
        source: String = trace.source.clone(),
        agent: String = trace.agent.clone(),
        calls: u64 = trace.calls.len() as u64,
        call: Option<u32> = parting.map(|parting| parting.call),
        before_tokens: Option<u64> = parting.map(|parting| parting.before),
        sides: Vec<SideRecord> = sides.unwrap_or_default(),
    }

    struct SideRecord(call: u32, policy: &str, side: &Side, outcome: &Outcome, other: &Outcome) with {
        let later = |calls: usize| outcome.calls.get(call as usize + calls);
        let context = |row: Option<&CallOutcome>| row.map(|row| row.actual);
        let regions = side.dropped.by_region.iter().map(|(region, tokens)| (region.name(), *tokens));
    } {
        policy: String = policy.to_owned(),
        events: Vec<Event> = side.events.clone(),
        dropped_items: u64 = side.dropped.items,
        dropped_tokens: u64 = side.dropped.tokens,
        dropped_regions: BTreeMap<&'static str, u64> = regions.gather(),
        dropped_tools: BTreeMap<String, u64> = side.dropped.by_tool.clone(),
        returned_tokens: u64 = side.returned,
        added_tokens: i64 = side.added,
        attempted_tokens: Option<u64> = later(0).map(|row| row.attempted),
        context_tokens: Option<u64> = context(later(0)),
        after_1_tokens: Option<u64> = context(later(1)),
        after_10_tokens: Option<u64> = context(later(10)),
        end_tokens: Option<u64> = context(outcome.calls.last()),
        peak_tokens: u64 = outcome.totals.peak_tokens,
        prompt_tokens: u64 = outcome.totals.prompt_tokens,
        difference_tokens: Option<i64> = difference(outcome, other),
        failed_call: Option<u64> = outcome.ended_at().map(|call| call as u64),
        overflows_later: u64 = outcome.overflows_from(call),
    }
}

/// The prompt tokens of the first less those of the second; `None` where one of them fails the session, for then they are of other calls.
pub fn difference(one: &Outcome, other: &Outcome) -> Option<i64> {
    let tokens = |outcome: &Outcome| outcome.ended_at().is_none().then(|| signed(outcome.totals.prompt_tokens));
    Some(tokens(one)? - tokens(other)?)
}
