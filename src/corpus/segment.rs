//! A stretch of a session from one recorded compaction on, as a session of its own: the recorded compaction is imposed on it, so that what a policy
//! does next is foretold from the context that the recording agent really had, and no prediction inherits the error of the one before.
//!
//! What the compaction left (summary, messages that stayed, files that came back) is one message whose size follows from the first recorded prompt
//! after it: the prompt less the hidden overhead and less what arrived since. A pruning within the stretch shows again what stands behind the first thing
//! that it took, with placeholders. Up to the compaction that closes the stretch every prompt is the recorded one; behind it the session goes on as if the agent had not compacted, so that a policy that fires late is seen to do so.
//! What agents put in anew because they have compacted (Codex: its initial context) stays out then.

use crate::sim::Whole;
use crate::trace::{CallRow, CompactionRow, MessageRow, PartKind, PartRow, Rare, Trace};
use crate::transcript::Role;
use crate::units::{Index, Time};
use std::borrow::Cow;

/// Where a stretch begins and ends, by messages of the session.
#[derive(Clone, Copy)]
pub struct Bounds<'a> {
    /// The compaction that it begins with; `None` for the session's beginning.
    pub opened_by: Option<&'a CompactionRow>,
    /// The message before which the next compaction took place; the number of messages where there is none.
    pub closed_before: u32,
    /// The message before which the one after that took place: so far a late prediction is looked for.
    pub end: u32,
}

/// A stretch of a session, as a session of its own.
pub struct Segment<'t> {
    /// The stretch: borrowed where it is the whole recorded session.
    pub trace: Cow<'t, Trace>,
    /// The place of its first call in the session.
    pub first_call: usize,
}

/// Cuts a stretch out of a session. The prunings that are given are imposed: behind them, placeholders stand for what they took. Where the
/// log does not say what that was, the recorded prompts behind them say how much.
pub fn segment<'t>(trace: &'t Trace, bounds: Bounds<'_>, prunings: &[&CompactionRow]) -> Segment<'t> {
    let renewed = bounds.closed_before
        ..trace.calls.get(trace.calls.partition_point(|call| call.message < bounds.closed_before)).map_or(bounds.end, |call| call.message);
    let is_renewed = |index: u32, row: &MessageRow| renewed.contains(&index) && (row.role == Role::System || row.synthetic);
    let goes_on = bounds.opened_by.is_none() && prunings.is_empty() && bounds.end as usize >= trace.messages.len();
    if goes_on && !(0..).zip(&trace.messages).any(|(index, row)| is_renewed(index, row)) {
        return Segment { trace: Cow::Borrowed(trace), first_call: 0 };
    }
    let from = bounds.opened_by.map_or(0, |event| event.before);
    let first_call = trace.calls.partition_point(|call| call.message < from);
    let past = trace.calls.partition_point(|call| call.message < bounds.end);
    let mut part = Trace {
        id: trace.id.clone(),
        agent: trace.agent.clone(),
        version: trace.version.clone(),
        models: trace.models.clone(),
        tools: trace.tools.clone(),
        calibration_thousandths: trace.calibration_thousandths,
        unseen: trace.unseen.filter(|_| bounds.opened_by.is_none()),
        ..Trace::default()
    };
    let carried = bounds.opened_by.map(|event| left_by(trace, event, first_call, bounds.closed_before));
    part.parts.extend(carried.map(|tokens| PartRow { anchored: true, ..PartRow::stand_in(PartKind::Text, tokens) }));
    part.messages.extend(carried.map(|_| carried_message()));
    let mut calls = trace.calls.get(first_call..past).unwrap_or(&[]).iter().peekable();
    let mut stretch = Stretch { trace, from, begin: part.messages.len() as u32, part, shown: Vec::new(), live: Vec::new() };
    for index in from..bounds.end.min(trace.messages.len() as u32) {
        prunings.iter().filter(|event| event.before == index).for_each(|event| stretch.prune(&event.taken));
        let message = stretch.part.messages.len() as u32;
        stretch.arrive(index, is_renewed);
        while let Some(call) = calls.next_if(|call| call.message == index) {
            stretch.part.calls.push(CallRow { message, ..call.clone() });
        }
    }
    let mut part = stretch.part;
    if bounds.opened_by.is_some() || !prunings.is_empty() {
        let closing = trace.calls.partition_point(|call| call.message < bounds.closed_before).saturating_sub(first_call);
        anchor(&mut part, closing);
    }
    Segment { trace: Cow::Owned(part), first_call }
}

/// A stretch under construction. Messages are named by their index in the session, and stand elsewhere in the stretch.
struct Stretch<'a> {
    trace: &'a Trace,
    /// The first message of the session that arrives.
    from: u32,
    /// The place in the stretch of the message at `from`.
    begin: u32,
    part: Trace,
    /// Where each message that has arrived was shown last.
    shown: Vec<u32>,
    /// Messages that stand in the context.
    live: Vec<u32>,
}

impl Stretch<'_> {
    /// Whoever goes back behind the beginning goes back to that.
    fn place(&self, index: u32) -> u32 {
        let place = index.checked_sub(self.from).map_or(Some(&self.begin), |offset| self.shown.get(offset as usize));
        place.copied().unwrap_or(self.part.messages.len() as u32)
    }

    /// What is renewed arrives as a message without parts: others name messages by their places.
    fn arrive(&mut self, index: u32, is_renewed: impl Fn(u32, &MessageRow) -> bool) {
        let Some(row) = self.trace.messages.get(index as usize) else { return };
        if let Some(back) = row.rewind.get() {
            self.live.retain(|live| *live < back);
        }
        let rewind = row.rewind.get().map(|back| self.place(back)).into();
        self.shown.push(self.part.messages.len() as u32);
        self.live.push(index);
        let parts = if is_renewed(index, row) { 0 } else { row.part_count };
        self.put(row, &[], MessageRow { rewind, part_count: parts, ..row.clone() });
    }

    /// Whatever stands behind the first thing taken is shown again, with placeholders for what was taken.
    fn prune(&mut self, taken: &[u32]) {
        let loses = |index: &u32| self.trace.messages.get(*index as usize).is_some_and(|row| row.parts().any(|part| is_in(taken, part)));
        let Some(first) = self.live.iter().position(loses) else { return };
        let mut rewind = self.live.get(first).map(|index| self.place(*index));
        for index in self.live.iter().skip(first).copied().collect::<Vec<u32>>() {
            let Some(row) = self.trace.messages.get(index as usize) else { continue };
            let place = self.part.messages.len() as u32;
            if let Some(shown) = self.shown.get_mut((index - self.from) as usize) {
                *shown = place;
            }
            self.put(row, taken, MessageRow { rewind: rewind.take().into(), copy: true, ..row.clone() });
        }
    }

    fn put(&mut self, row: &MessageRow, taken: &[u32], shown: MessageRow) {
        let first_part = self.part.parts.len() as u32;
        let parts = row.parts().zip(self.trace.parts_of(row)).take(shown.part_count as usize);
        self.part.parts.extend(parts.map(|(index, part)| if is_in(taken, index) { placeholder(&part) } else { part.into_owned() }));
        self.part.messages.push(MessageRow { first_part, ..shown });
    }
}

/// Is this part among those, which ascend?
fn is_in(parts: &[u32], part: u32) -> bool {
    parts.binary_search(&part).is_ok()
}

/// A placeholder takes so many tokens: agents write a short line, as "[Old tool result content cleared]". Recorded prompts behind a
/// pruning take care of what it really came to.
const PLACEHOLDER: u32 = 8;

fn placeholder(part: &PartRow) -> PartRow {
    let tokens = PLACEHOLDER.min(u32::try_from(part.truth).unwrap_or(u32::MAX));
    let text = PartRow::stand_in(part.kind, u64::from(tokens)).text;
    PartRow { text, truth: u64::from(tokens), anchored: false, image: Rare::default(), ..part.clone() }
}

/// Tokens that a context has less where placeholders take the place of these parts.
pub fn less_placeholders(trace: &Trace, parts: &[u32]) -> u64 {
    parts.iter().filter_map(|part| trace.parts.get(*part as usize)).map(|part| part.truth.saturating_sub(u64::from(PLACEHOLDER))).sum()
}

/// Tokens that a compaction left in the context, hidden overhead not counted.
pub fn left_by(trace: &Trace, event: &CompactionRow, first_call: usize, closed_before: u32) -> u64 {
    let hidden = trace.calls.get(first_call).map_or(0, |call| call.hidden);
    let here = trace.calls.iter().skip(first_call).take_while(|call| call.message < closed_before);
    let Some((call, prompt)) = here.filter_map(|call| Some((call, prompt_of(call)?))).next() else {
        let summary = || event.summary_tokens.or_else(|| event.usage.and_then(|usage| usage.written())).unwrap_or(0);
        return event.tokens_after.map_or_else(|| stayed(trace, event) + summary(), |after| after.saturating_sub(hidden));
    };
    let since = trace.messages.iter().take(call.message as usize).skip(event.before as usize);
    let arrived: u64 = since.flat_map(|row| trace.parts_of(row)).map(|part| part.truth).sum();
    prompt.saturating_sub(call.hidden + arrived)
}

/// Tokens of what a compaction let stay by the log's own words: the system prompt, and the messages from the first one that it kept.
fn stayed(trace: &Trace, event: &CompactionRow) -> u64 {
    let system = trace.messages.iter().take(event.before as usize).take_while(|row| row.role == Role::System).count() as u32;
    let kept = event.kept_from.unwrap_or(event.before).max(system)..event.before;
    let mut live: Vec<u32> = (0..system).collect();
    for (index, row) in kept.clone().zip(trace.messages.iter().skip(kept.start as usize)) {
        if let Some(back) = row.rewind.get() {
            live.retain(|live| *live < back.max(system));
        }
        live.push(index);
    }
    let rows = live.into_iter().filter_map(|index| trace.messages.get(index as usize));
    rows.flat_map(|row| trace.parts_of(row)).map(|part| part.truth).sum()
}

/// The prompt of a call as its provider reported it.
pub fn prompt_of(call: &CallRow) -> Option<u64> {
    call.anchor().map(|usage| usage.prompt)
}

/// Brings the hidden part of each call in line with its recorded prompt, up to the closing call.
fn anchor(part: &mut Trace, closing: usize) {
    let visible = Whole::of(part).visible;
    let mut hidden = part.calls.first().map_or(0, |call| call.hidden);
    let mut missing = 0;
    for (index, (call, visible)) in part.calls.iter_mut().zip(visible).enumerate() {
        if let Some(prompt) = prompt_of(call).filter(|_| index < closing) {
            // What a prompt lacks of a pruning whose parts are not known is conversation: the overhead gives way to nothing but what is beyond all of it.
            missing = (call.hidden + visible).saturating_sub(prompt).min(visible);
            hidden = (prompt + missing).saturating_sub(visible);
        }
        (call.hidden, call.visible, call.missing) = (hidden, visible, missing.min(visible));
    }
}

/// The message that stands for what a compaction left.
pub fn carried_message() -> MessageRow {
    MessageRow {
        role: Role::User,
        first_part: 0,
        part_count: 1,
        time: Time::default(),
        turn: 0,
        rewind: Index::default(),
        copy: false,
        synthetic: true,
        key: None,
        reported_reasoning: 0,
    }
}
