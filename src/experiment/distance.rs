//! How far back references reach: in tokens, in tool output, in messages, in results.

use super::origin::sample;
use crate::corpus::Corpus;
use crate::trace::{Evidence, PartKind, Trace};
use std::borrow::Cow;

/// One reference and how far back it reaches: in tokens, what stands between the end of its source and the message that refers to it; in messages and in results,
/// its place from the newest, which is 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distance {
    /// Index of the session in the corpus.
    pub session: usize,
    /// The cluster with which the session is drawn.
    pub cluster: usize,
    /// Reused lines, or reused names.
    pub kind: Evidence,
    /// Is the source a tool's result?
    pub result: bool,
    /// Index of the source's tool in its trace.
    pub tool: Option<u32>,
    /// Tokens of the source itself, which are in neither of these two.
    pub source_tokens: u64,
    /// Tokens of all that is visible.
    pub tokens: u64,
    /// Tokens of tool output alone.
    pub output_tokens: u64,
    /// Messages, that of the source included.
    pub messages: u64,
    /// Results, the source included if it is one.
    pub results: u64,
}

/// The distances of all references of a corpus whose calls are replayed, session by session.
pub fn distances(corpus: &Corpus) -> Vec<Distance> {
    let sample = sample(corpus.traces.each());
    let of_session = |(session, trace): (usize, Cow<'_, Trace>)| of_session(session, sample.of(session), &trace);
    corpus.traces.each().enumerate().flat_map(of_session).collect()
}

/// Sums from the start of what is live.
#[derive(Clone, Copy, Default)]
struct Sums {
    tokens: u64,
    output_tokens: u64,
    messages: u64,
    results: u64,
}

impl Sums {
    fn add(&mut self, trace: &Trace, parts: std::ops::Range<u32>) {
        for part in parts.filter_map(|part| trace.parts.get(part as usize)) {
            self.tokens += part.truth;
            if part.kind == PartKind::ToolResult {
                self.output_tokens += part.truth;
                self.results += 1;
            }
        }
    }
}

fn of_session(session: usize, cluster: usize, trace: &Trace) -> Vec<Distance> {
    // The messages that are live, each with the sums up to its end. What a user takes back leaves at the end of the list.
    let mut live: Vec<(u32, Sums)> = Vec::new();
    let mut references = trace.references.iter().peekable();
    let mut calls = trace.calls.iter().peekable();
    let mut found = Vec::new();
    for (index, row) in trace.messages.iter().enumerate() {
        let index = index as u32;
        if let Some(from) = row.rewind.get() {
            while live.pop_if(|(message, _)| *message >= from).is_some() {}
        }
        let now = live.last().map_or(Sums::default(), |(_, sums)| *sums);
        let replayed = calls.next_if(|call| call.message == index).is_some();
        while let Some(reference) = references.next_if(|reference| reference.message <= index) {
            let Some(place) = reference.sources.first().filter(|_| replayed && reference.message == index) else { continue };
            let (Some(message), Some(source)) = (trace.message_of(place.part), trace.parts.get(place.part as usize)) else { continue };
            let Ok(at) = live.binary_search_by_key(&message, |(message, _)| *message) else { continue };
            let Some(((_, mut until), row)) = live.get(at).copied().zip(trace.messages.get(message as usize)) else { continue };
            // What follows the source within its own message lies between, too.
            let mut after = Sums::default();
            after.add(trace, place.part + 1..row.first_part + row.part_count);
            until.tokens -= after.tokens;
            until.output_tokens -= after.output_tokens;
            until.results -= after.results;
            found.push(Distance {
                session,
                cluster,
                kind: reference.kind,
                result: source.kind == PartKind::ToolResult,
                tool: source.tool.get(),
                source_tokens: source.truth,
                tokens: now.tokens - until.tokens,
                output_tokens: now.output_tokens - until.output_tokens,
                messages: now.messages - until.messages + 1,
                results: now.results - until.results + u64::from(source.kind == PartKind::ToolResult),
            });
        }
        let mut sums = Sums { messages: now.messages + 1, ..now };
        sums.add(trace, row.first_part..row.first_part + row.part_count);
        live.push((index, sums));
    }
    found
}
