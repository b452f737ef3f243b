//! A stretch of a session from one recorded compaction on, as a session of its own: the recorded compaction is imposed on it, so that what a policy
//! does next is foretold from the context that the recording agent really had, and no prediction inherits the error of the one before.
//!
//! What the compaction left (summary, messages that stayed, files that came back) is one message whose size follows from the first recorded prompt
//! after it: the prompt less the hidden overhead and less what arrived since. Up to the compaction that closes the stretch every prompt is the recorded
//! one; behind it the session goes on as if nobody had compacted, so that a policy that fires late is seen to do so.

use crate::policy::Plan;
use crate::sim::{Conditions, watch};
use crate::trace::{CallRow, CompactionRow, MessageRow, PartKind, PartRow, Trace};
use crate::transcript::{Role, Trust};

/// Where a stretch begins and ends, by messages of the session.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    /// The compaction that it begins with; `None` for the session's beginning.
    pub opened_by: Option<&'a CompactionRow>,
    /// The message before which the next compaction took place; the number of messages where there is none.
    pub closed_before: u32,
    /// The message before which the one after that took place: so far a late prediction is looked for.
    pub end: u32,
}

/// A stretch.
pub(super) struct Segment {
    /// It, as a session.
    pub trace: Trace,
    /// The place of its first call in the session.
    pub first_call: usize,
}

/// Cuts a stretch out of a session.
pub(super) fn segment(trace: &Trace, bounds: Bounds<'_>) -> Segment {
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
    // Messages move to where they stand behind the carried one; whoever goes back behind the compaction goes back to that.
    let shift = part.messages.len() as u32;
    for row in trace.messages.iter().take(bounds.end as usize).skip(from as usize) {
        let first_part = part.parts.len() as u32;
        part.parts.extend_from_slice(trace.parts_of(row));
        let rewind = row.rewind.map(|index| index.saturating_sub(from) + shift);
        part.messages.push(MessageRow { first_part, rewind, ..row.clone() });
    }
    let calls = trace.calls.get(first_call..past).unwrap_or(&[]);
    part.calls = calls.iter().map(|call| CallRow { message: call.message - from + shift, ..call.clone() }).collect();
    if bounds.opened_by.is_some() {
        let closing = trace.calls.partition_point(|call| call.message < bounds.closed_before).saturating_sub(first_call);
        anchor(&mut part, closing);
    }
    Segment { trace: part, first_call }
}

/// Tokens that a compaction left in the context, hidden overhead not counted.
pub(super) fn left_by(trace: &Trace, event: &CompactionRow, first_call: usize, closed_before: u32) -> u64 {
    let hidden = trace.calls.get(first_call).map_or(0, |call| call.hidden);
    let here = trace.calls.iter().skip(first_call).take_while(|call| call.message < closed_before);
    let Some((call, prompt)) = here.filter_map(|call| Some((call, prompt_of(call)?))).next() else {
        return event.tokens_after.map_or(event.summary_tokens.unwrap_or(0), |after| after.saturating_sub(hidden));
    };
    let since = trace.messages.iter().take(call.message as usize).skip(event.before as usize);
    let arrived: u64 = since.flat_map(|row| trace.parts_of(row)).map(|part| part.truth).sum();
    prompt.saturating_sub(call.hidden + arrived)
}

/// The prompt of a call as its provider reported it.
pub(super) fn prompt_of(call: &CallRow) -> Option<u64> {
    call.usage.filter(|usage| usage.trust == Trust::Provider && usage.prompt > 0).map(|usage| usage.prompt)
}

/// Brings the hidden part of each call in line with its recorded prompt, up to the closing call.
fn anchor(part: &mut Trace, closing: usize) {
    let mut visible = Vec::with_capacity(part.calls.len());
    // The loop itself tells what stands in the context where no policy does anything.
    let endless = Conditions { window: u64::MAX / 4, prompt_limit: u64::MAX / 4, ..Conditions::default() };
    watch(part, &Plan::default(), &endless, &mut |context| visible.push(context.recorded()));
    let mut hidden = part.calls.first().map_or(0, |call| call.hidden);
    let mut missing = 0;
    for (index, (call, visible)) in part.calls.iter_mut().zip(visible).enumerate() {
        if let Some(prompt) = prompt_of(call).filter(|_| index < closing) {
            hidden = prompt.saturating_sub(visible);
            missing = visible.saturating_sub(prompt);
        }
        (call.hidden, call.visible, call.missing) = (hidden, visible, missing.min(visible));
    }
}

/// The message that stands for what a compaction left.
pub(super) fn carried_message() -> MessageRow {
    MessageRow {
        role: Role::User,
        first_part: 0,
        part_count: 1,
        time: None,
        turn: 0,
        rewind: None,
        copy: false,
        synthetic: true,
        key: None,
    }
}
