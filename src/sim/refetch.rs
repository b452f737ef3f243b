//! THE CLOSED LOOP: an agent that needs lines which its policy took from it reads their source again, before it goes on.
//!
//! At a call whose reply takes up lines that are gone, one more request goes out for each source: its prompt is the context as it stands,
//! its reply the call of a tool, and the source comes back as a result, through the policy's limits. It counts for triggers, windows and
//! caches like everything else. Then the recorded call is tried anew.

use super::attempt::Attempt;
use super::note::Note;
use super::outcome::{CallOutcome, EventKind};
use super::references::{Category, Fate, fate};
use super::state::State;
use crate::context::{Arrival, Item, Region, State as ItemState};
use crate::trace::{Evidence, PartKind, Place, Reference, Trace};
use crate::transcript::{Length, Role, Text};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

/// Does the agent read again what it misses?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refetching {
    /// It does not: the recorded messages follow whatever the policy did (open loop).
    #[default]
    Never,
    /// It reads again what was cut away, cleared or dropped. What was summarised it is taken to know.
    Lost,
    /// It reads again what was summarised as well.
    AtRisk,
}

/// So many sources are read again before one call at most.
pub const MOST_IN_A_CALL: usize = 16;

/// So many in a session.
pub const MOST_IN_A_SESSION: u64 = 1_000;

/// Tokens of a call that reads a source again whose own call the log does not show.
pub const UNKNOWN_CALL: u32 = 50;

/// One source that was read again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refetch {
    /// Before which recorded call, from 0.
    pub call: u32,
    /// The message that held it first, from 0.
    pub source: u32,
    /// What it was.
    pub category: Category,
    /// The tool, for calls and results.
    pub tool: Option<String>,
    /// How often it had been read again before, in this session.
    pub before: u32,
    /// Tokens that came back.
    pub result_tokens: u64,
    /// The request.
    pub request: CallOutcome,
}

/// What was read again, summed. Merging is exact. All of it is part of the other sums of a closed loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refetches {
    /// Requests that read a source again.
    pub calls: u64,
    /// Their prompts.
    pub prompt_tokens: u64,
    /// Their replies: the calls of tools.
    pub output_tokens: u64,
    /// What came back.
    pub result_tokens: u64,
    /// Sources that were read again at least once.
    pub sources: u64,
    /// Sources that were read again more than once: the policy took them away again.
    pub sources_again: u64,
    /// References to lines that were broken all the same: what was read again was gone once more when the call went out.
    pub in_vain: u64,
    /// References to lines that no tool brings back: the user's words, the model's own, instructions.
    pub beyond_reach: u64,
    /// References to lines that were summarised, and not read again.
    pub at_risk: u64,
    /// References to lines that were not read again because the most for a call or a session was reached, or the call was refused.
    pub passed_over: u64,
}

impl AddAssign<&Refetches> for Refetches {
    fn add_assign(&mut self, other: &Refetches) {
        self.calls += other.calls;
        self.prompt_tokens += other.prompt_tokens;
        self.output_tokens += other.output_tokens;
        self.result_tokens += other.result_tokens;
        self.sources += other.sources;
        self.sources_again += other.sources_again;
        self.in_vain += other.in_vain;
        self.beyond_reach += other.beyond_reach;
        self.at_risk += other.at_risk;
        self.passed_over += other.passed_over;
    }
}

/// What a run remembers of its re-reads.
#[derive(Clone, Default)]
pub(super) struct Readings {
    /// All of them, as they entered.
    entered: Vec<Reading>,
    /// Parts that were read again before the call at hand.
    here: BTreeSet<u32>,
    /// How often each part was read again.
    times: BTreeMap<u32, u32>,
}

impl Readings {
    /// How many there were.
    pub fn len(&self) -> usize {
        self.entered.len()
    }
}

/// Two messages that the log does not hold: the call of a tool, and its result.
#[derive(Clone)]
struct Reading {
    /// The part that comes back.
    part: u32,
    /// The recorded message before which they stand.
    before: u32,
    call: Item,
    result: Item,
    /// What a limit has left of the text.
    cut: Option<Text>,
}

/// A part whose lines are needed, and from where to where they stand in it.
struct Needed {
    part: u32,
    stretch: (u32, u32),
}

impl<'a> State<'a> {
    /// Reads again what the reply needs, as far as the agent does so; hands back how the recorded call fared in the end.
    pub fn refetch(&mut self, message: u32, first: Attempt) -> Attempt {
        let mut tried = first;
        self.readings.here.clear();
        while let Some(needed) = self.needed(message).filter(|_| !tried.unrecovered) {
            self.read_again(message, &needed, tried);
            self.before_call();
            tried = self.attempt();
        }
        tried
    }

    /// The first source that was lost, can be read again, and was not yet at this call.
    fn needed(&self, message: u32) -> Option<Needed> {
        let spent = self.readings.here.len() >= MOST_IN_A_CALL || self.outcome.totals.refetches.calls >= MOST_IN_A_SESSION;
        if self.conditions.refetch == Refetching::Never || spent {
            return None;
        }
        let lost: Vec<&Reference> = self.references_of(message).iter().filter(|reference| self.is_lost(reference)).collect();
        let mut sources = lost.iter().filter_map(|reference| readable(self.trace, reference)).map(|place| place.part);
        let part = sources.find(|part| !self.readings.here.contains(part))?;
        let places = lost.iter().flat_map(|reference| &reference.sources).filter(|place| place.part == part);
        let stretch = places.fold((u32::MAX, 0), |(first, last), place| (first.min(place.first), last.max(place.last)));
        Some(Needed { part, stretch })
    }

    fn is_lost(&self, reference: &Reference) -> bool {
        reference.kind == Evidence::Line
            && match fate(&self.context, self.trace, reference) {
                Fate::Kept => false,
                Fate::Summarised => self.conditions.refetch == Refetching::AtRisk,
                Fate::Truncated | Fate::Cleared | Fate::Dropped => true,
            }
    }

    /// One more request, and what it brings back.
    fn read_again(&mut self, message: u32, needed: &Needed, tried: Attempt) {
        let (trace, Some(call)) = (self.trace, self.call) else { return };
        let part = needed.part;
        let reading = self.reading(message, needed);
        let request = self.request_made(tried, call, reading.call.actual, None);
        if let Some(aside) = self.aside.take() {
            self.restore(aside);
        }
        // The request is over: what follows belongs to the next one.
        self.memories.iter_mut().for_each(|memory| memory.in_call = 0);
        self.largest_arrival = None;
        self.enter_call(&reading);
        self.pending = 0;
        self.last_time = trace.messages.get(call.message as usize).and_then(|row| row.time).or(self.last_time);
        self.actual_after_reply = self.actual();
        let before = self.actual();
        let result = self.enter_result(&reading);
        self.pending += self.context.entry(result).map_or(0, |entry| entry.estimated);
        self.count_result(reading.result.tool, reading.result.actual);
        let tool = trace.parts.get(part as usize).and_then(|row| row.tool);
        self.note(Note { kind: EventKind::Refetch, before, after: self.actual(), touched: 1, tool, ..self.event(None) });
        self.count_reading(part, request, reading.result.actual);
        self.readings.here.insert(part);
        self.readings.entered.push(reading);
        self.checkpoint(crate::policy::Hook::ToolResult);
    }

    fn count_reading(&mut self, part: u32, request: CallOutcome, result_tokens: u64) {
        let trace = self.trace;
        let times = self.readings.times.entry(part).or_default();
        let before = *times;
        *times += 1;
        let refetches = &mut self.outcome.totals.refetches;
        refetches.calls += 1;
        refetches.prompt_tokens += request.actual;
        refetches.output_tokens += request.output;
        refetches.result_tokens += result_tokens;
        refetches.sources += u64::from(before == 0);
        refetches.sources_again += u64::from(before == 1);
        let tool = trace.parts.get(part as usize).and_then(|row| row.tool);
        self.outcome.refetches.push(Refetch {
            call: self.index as u32,
            source: trace.message_of(part).unwrap_or(0),
            category: Category::of(trace, part),
            tool: tool.and_then(|tool| trace.tools.get(tool as usize)).cloned(),
            before,
            result_tokens,
            request,
        });
    }

    /// The two messages: the source's own call as it was recorded, and the source as the policy's limits left it. Where they cut it, the
    /// agent asks for the piece that it needs.
    fn reading(&self, before: u32, needed: &Needed) -> Reading {
        let trace = self.trace;
        let part = needed.part;
        let source = trace.parts.get(part as usize);
        let message = trace.message_of(part).unwrap_or(0);
        let offset = part - trace.messages.get(message as usize).map_or(part, |row| row.first_part).min(part);
        let item_of = |part: u32| {
            let message = trace.message_of(part)?;
            let first = trace.messages.get(message as usize)?.first_part;
            self.intake.items(message).get((part - first.min(part)) as usize).copied()
        };
        let simulated = |item: Item| Item { anchored: 0, superseded: false, ..item };
        let unknown = || {
            let chars = UNKNOWN_CALL * 4;
            let length = Length { bytes: chars, utf16: chars, chars, newlines: 0 };
            self.context.own_text(&Text { length, tokens: UNKNOWN_CALL, json_bytes: chars, ..Text::default() }, Region::ToolCall)
        };
        let call = source.and_then(|row| row.answers).and_then(item_of).map_or_else(unknown, simulated);
        let mut result = item_of(part).map_or_else(unknown, simulated);
        result.region = Region::ToolResult;
        if source.is_some_and(|row| row.kind != PartKind::ToolResult) {
            // It is not the tool that wrote the file which reads it again.
            result.tool = None;
        }
        let cut = self.intake.cuts(message).iter().find(|cut| cut.offset == offset).map(|cut| cut.text.clone());
        if result.state == ItemState::Truncated {
            result.ends.stretch = Some(needed.stretch);
        }
        Reading { part, before, call, result, cut }
    }

    fn enter_call(&mut self, reading: &Reading) {
        let id = self.context.push(self.arrival(reading, Role::Assistant), [reading.call], None);
        if let Some((prompt, output)) = self.usage {
            self.context.note_usage(id, prompt + output);
        }
    }

    fn enter_result(&mut self, reading: &Reading) -> u32 {
        self.context.supersede(reading.part);
        let id = self.context.push(self.arrival(reading, Role::Tool), [reading.result], None);
        if let (Some(entry), Some(text)) = (self.context.entry(id), &reading.cut) {
            self.cuts.insert(entry.first, text.clone());
        }
        id
    }

    fn arrival(&self, reading: &Reading, role: Role) -> Arrival {
        Arrival { message: Some(reading.before), role, opens_turn: false, is_summary: false, unseen: false, call: self.index as u32 }
    }

    /// A context comes back from which re-reads were missing: those from this place on enter that stood before this message. Hands back
    /// the place behind them.
    pub fn enter_readings(&mut self, from: usize, before: u32) -> usize {
        let mut place = from;
        while let Some(reading) = self.readings.entered.get(place).filter(|reading| reading.before <= before).cloned() {
            self.enter_call(&reading);
            self.enter_result(&reading);
            place += 1;
        }
        place
    }

    /// Why a reference is still broken although the agent reads again what it misses.
    pub fn count_unmended(&mut self, reference: &Reference, fate: Fate) {
        let sum = &mut self.outcome.totals.refetches;
        let counter = match readable(self.trace, reference) {
            _ if fate == Fate::Kept || reference.kind != Evidence::Line || self.conditions.refetch == Refetching::Never => return,
            _ if fate == Fate::Summarised && self.conditions.refetch == Refetching::Lost => &mut sum.at_risk,
            None => &mut sum.beyond_reach,
            Some(place) if self.readings.here.contains(&place.part) => &mut sum.in_vain,
            Some(_) => &mut sum.passed_over,
        };
        *counter += 1;
    }
}

/// The latest source that a tool can bring back: a result, or what a call has written.
fn readable<'r>(trace: &Trace, reference: &'r Reference) -> Option<&'r Place> {
    let brings_back =
        |place: &&Place| matches!(Category::of(trace, place.part), Category::ToolResults | Category::Errors | Category::Edits);
    reference.sources.iter().find(brings_back)
}
