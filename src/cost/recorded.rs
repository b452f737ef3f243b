//! The recorded prompts of a session as they were sent, and what caches make of them.

use super::cache::Request;
use super::session::{Answer, Session};
use super::tariff::{Known, Tariff};
use crate::trace::{CallRow, Trace, WholePrompt};
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

/// Goes through the recorded prompts as they were sent. `whole` are those under no policy: they tell where prompts part from those before.
pub(super) fn walk<'a>(trace: &'a Trace, whole: &'a [WholePrompt], tariff: &'a Tariff<'a>) -> impl Iterator<Item = Step<'a>> {
    let mut session = Session::new(trace, tariff);
    let mut compactions = trace.compactions.iter().peekable();
    // The last prompt as it was sent, and as it would have been under no policy.
    let mut last: Option<(u64, u64)> = None;
    whole.iter().zip(&trace.calls).enumerate().map(move |(place, (row, call))| {
        let mut compacted = false;
        while let Some(compaction) = compactions.next_if(|compaction| compaction.before <= call.message) {
            compacted |= matches!(compaction.kind, CompactionKind::Compact | CompactionKind::Prune);
        }
        let usage = call.reported();
        let sent = || trace.sent_sizes.get(&(place as u32)).copied().unwrap_or(row.tokens);
        let prompt = usage.map_or_else(sent, |usage| usage.prompt);
        let prefix = match last {
            // What the agent's own compaction left of the prompt is not recorded: system prompt and tools stay for certain.
            Some(_) if compacted => call.hidden,
            // The distance from the end to the first change is the same in the recorded prompt as in the one that was never compacted.
            Some((sent, whole)) => sent.saturating_sub(whole.saturating_sub(row.prefix)),
            None => 0,
        };
        last = Some((prompt, row.tokens));
        let time = session.time(call);
        let known = session.known(call, time);
        let request = Request { time, prompt, prefix: prefix.min(prompt), hidden: call.hidden, blocks: row.blocks, shared: 0 };
        let answer = session.ask(call, &known, request);
        Step { place, call, usage, known, answer }
    })
}
