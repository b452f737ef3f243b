//! The recorded prompts of a session as they were sent, and what caches make of them.

use super::cache::Request;
use super::session::{Answer, Session};
use super::tariff::{Known, Tariff};
use crate::sim::Outcome;
use crate::trace::{CallRow, Trace};
use crate::transcript::{CompactionKind, Usage};

/// A call of a recording, and what caches make of its prompt as it was sent.
pub(super) struct Step<'a> {
    /// Index among the session's calls.
    pub place: usize,
    pub call: &'a CallRow,
    /// Usage that the provider reported; `None` where the log has none.
    pub usage: Option<Usage>,
    pub known: Known<'a>,
    pub answer: Answer,
}

/// Goes through the recorded prompts as they were sent. `unchanged` is the session's outcome under no policy: it tells where prompts part
/// from those before.
pub(super) fn walk<'a>(trace: &'a Trace, unchanged: &Outcome, tariff: &'a Tariff<'a>) -> Vec<Step<'a>> {
    let mut steps = Vec::with_capacity(trace.calls.len());
    let mut session = Session::new(trace, tariff);
    let mut compactions = trace.compactions.iter().peekable();
    // The last prompt as it was sent, and as it would have been under no policy.
    let mut last: Option<(u64, u64)> = None;
    for (place, (row, call)) in unchanged.calls.iter().zip(&trace.calls).enumerate() {
        let mut compacted = false;
        while let Some(compaction) = compactions.next_if(|compaction| compaction.before <= call.message) {
            compacted |= matches!(compaction.kind, CompactionKind::Compact | CompactionKind::Prune);
        }
        let usage = call.reported();
        let sent = || trace.sent_sizes.get(&(place as u32)).copied().unwrap_or(row.actual);
        let prompt = usage.map_or_else(sent, |usage| usage.prompt);
        let prefix = match last {
            // What the agent's own compaction left of the prompt is not recorded: system prompt and tools stay for certain.
            Some(_) if compacted => call.hidden,
            // The distance from the end to the first change is the same in the recorded prompt as in the one that was never compacted.
            Some((sent, whole)) => sent.saturating_sub(whole.saturating_sub(row.prefix)),
            None => 0,
        };
        last = Some((prompt, row.actual));
        let time = session.time(call);
        let known = session.known(call, time);
        let request = Request { time, prompt, prefix: prefix.min(prompt), hidden: call.hidden, blocks: row.blocks, shared: 0 };
        let answer = session.ask(call, &known, request);
        steps.push(Step { place, call, usage, known, answer });
    }
    steps
}
