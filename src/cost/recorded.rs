//! The recorded prompts of a session as they were sent, and what caches make of them.

use super::cache::Request;
use super::session::{Answer, Session};
use super::tariff::{Known, Tariff};
use crate::trace::{CallRow, CompactionRow, Trace, WholePrompt};
use crate::transcript::{CompactionKind, Role, Usage};
use std::collections::BTreeSet;
use std::ops::Range;

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
    let mut front = Front::new(trace);
    whole.iter().zip(&trace.calls).enumerate().map(move |(place, (row, call))| {
        let mut left = None;
        while let Some(compaction) = compactions.next_if(|compaction| compaction.before <= call.message) {
            if let (CompactionKind::Compact | CompactionKind::Prune, Some((sent, _))) = (compaction.kind, last) {
                let stays = front.before(compaction, sent, call.hidden);
                left = Some(left.unwrap_or(stays).min(stays));
            }
        }
        let usage = call.reported();
        let sent = || trace.sent_sizes.get(&(place as u32)).copied().unwrap_or(row.tokens);
        let prompt = usage.map_or_else(sent, |usage| usage.prompt);
        let prefix = match last {
            Some(_) if left.is_some() => left.unwrap_or(0),
            // The distance from the end to the first change is the same in the recorded prompt as in the one that was never compacted.
            Some((sent, whole)) => sent.saturating_sub(whole.saturating_sub(row.prefix)),
            None => 0,
        };
        last = Some((prompt, row.tokens));
        front.ask(call.message);
        let time = session.time(call);
        let known = session.known(call, time);
        let request = Request { time, prompt, prefix: prefix.min(prompt), hidden: call.hidden, blocks: row.blocks, shared: 0 };
        let answer = session.ask(call, &known, request);
        Step { place, call, usage, known, answer }
    })
}

/// What stands in the prompts, to tell what is left of one in front of what its agent took out.
struct Front<'a> {
    trace: &'a Trace,
    /// The messages in the context, each with the tokens that stand before it.
    live: Vec<(u32, u64)>,
    /// Tokens of these messages.
    tokens: u64,
    /// Parts that placeholders have taken the place of.
    masked: BTreeSet<u32>,
}

impl<'a> Front<'a> {
    fn new(trace: &'a Trace) -> Front<'a> {
        Front { trace, live: Vec::new(), tokens: 0, masked: BTreeSet::new() }
    }

    /// A prompt is sent for the reply that is this message.
    fn ask(&mut self, reply: u32) {
        let next = self.live.last().map_or(0, |(message, _)| message + 1);
        for message in next..reply {
            let Some(row) = self.trace.messages.get(message as usize) else { return };
            if let Some(from) = row.rewind.get() {
                let gone = self.trace.messages.get(from as usize).map_or(u32::MAX, |row| row.first_part);
                self.masked.split_off(&gone);
                while let Some((_, before)) = self.live.pop_if(|(message, _)| *message >= from) {
                    self.tokens = before;
                }
            }
            self.live.push((message, self.tokens));
            self.tokens += self.truth(row.parts());
        }
    }

    fn truth(&self, parts: Range<u32>) -> u64 {
        self.trace.parts.within(parts.start as usize..parts.end as usize).map(|part| part.truth).sum()
    }

    /// What an event leaves of the last prompt, which had so many tokens, up to the first change. Where it does not say what it took, what the log hides stays for
    /// certain; Codex puts instructions that the log shows behind what a compaction keeps.
    fn before(&mut self, event: &CompactionRow, sent: u64, hidden: u64) -> u64 {
        let Some(first) = event.taken.first().copied() else { return hidden };
        let is_system = |(message, _): &&(u32, u64)| self.trace.messages.get(*message as usize).is_some_and(|row| row.role == Role::System);
        let system = self.live.iter().find(|live| !is_system(live)).map_or(self.tokens, |(_, before)| *before);
        let head = hidden + system;
        let masked: u64 = self.masked.range(first..).map(|part| self.truth(*part..*part + 1)).sum();
        self.masked.extend(&event.taken);
        let message = self.trace.message_of(first).unwrap_or_default();
        let at = self.live.partition_point(|(live, _)| *live < message);
        // What came since stood in no prompt.
        let Some((_, before)) = self.live.get(at).filter(|(live, _)| *live == message) else { return sent };
        let within = self.trace.messages.get(message as usize).map_or(0, |row| self.truth(row.parts().start..first));
        let behind = self.tokens.saturating_sub(before + within + masked);
        sent.saturating_sub(behind).max(head.min(sent))
    }
}
