//! What stood in the context at each call, and what of the recorded prompt the log does not show.

#![expect(clippy::indexing_slicing, reason = "calls, messages and parts name each other by their places in one trace")]

use super::behind::behind_compactions;
use crate::statistics::largest_remainder;
use crate::trace::{CallRow, CompactionRow, PartKind, Trace};
use crate::transcript::{CompactionKind, Trust, Usage};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Walks the session as if it had never been shrunk, and gives each call what was visible, hidden and missing. Where the provider reported no prompt, those that the agent estimated or
/// rounded size the calls: nothing is anchored on them.
pub(super) fn contexts(trace: &mut Trace) {
    let mut walk = Walk::default();
    let trust = |call: &CallRow| call.usage.get().map(|usage| usage.trust);
    let is_partial = |call: &CallRow| matches!(trust(call), Some(Trust::Partial | Trust::Beyond | Trust::Shared));
    if trace.calls.iter().any(is_partial) {
        walk.answered = trace.parts.iter().filter_map(|part| part.answers.get()).collect();
    }
    // What was visible when the last summary took its place.
    let (mut gone, mut shrunk) = (0, false);
    let (mut next, mut seen_prompt) = (0, false);
    let mut calls = std::mem::take(&mut trace.calls);
    let reported = calls.iter().any(|call| call.anchor().is_some());
    let estimate = |call: &CallRow| call.usage.get().filter(|usage| !reported && usage.trust == Trust::Estimated && usage.prompt > 0);
    let prompt_of = |call: &CallRow| call.anchor().or_else(|| estimate(call));
    let behind = behind_compactions(trace, &calls);
    let compactions = std::mem::take(&mut trace.compactions);
    let mut events = compactions.iter().peekable();
    // Where a server cut each prompt at its own limit, what stood beside the conversation before stands there still.
    let part = |call: &CallRow| call.usage.get().filter(|_| is_partial(call)).map(|usage| usage.prompt);
    let alike: Vec<bool> = calls.windows(2).map(|pair| part(&pair[0]).is_some() && part(&pair[0]) == part(&pair[1])).collect();
    let is_cut = |place: usize| [place.checked_sub(1), Some(place)].into_iter().flatten().any(|pair| alike.get(pair) == Some(&true));
    for (place, call) in calls.iter_mut().enumerate() {
        let reply = call.message as usize;
        let mut undone = false;
        for index in next..=reply {
            while let Some(event) = events.next_if(|event| event.before as usize <= index) {
                (undone, shrunk) = (true, true);
                if event.kind == CompactionKind::Compact {
                    (gone, walk.left) = (walk.visible, Some(Left::by(event)));
                }
            }
            walk.enter(trace, index);
        }
        next = reply + 1;
        call.visible = walk.visible - walk.truth_of(trace, reply);
        if let Some(usage) = prompt_of(call) {
            if !seen_prompt {
                walk.hidden = usage.prompt.saturating_sub(call.visible);
                walk.missing = call.visible.saturating_sub(usage.prompt);
                seen_prompt = true;
            } else {
                walk.follow_model(trace, call, &usage, gone);
                let unexplained = walk.settle(call, &usage, undone && !call.chained);
                let most = behind.get(&call.model.get()).copied().unwrap_or(u64::MAX);
                call.visible += if call.chained { 0 } else { walk.find(trace, reply, unexplained, most) };
            }
            walk.served.clear();
            walk.since = reply;
            walk.model = call.model.get().or(walk.model);
        } else if undone {
            walk.undo_at_next_anchor = true;
        }
        call.hidden = walk.hidden;
        call.missing = walk.missing.min(call.visible);
        let beside = walk.hidden;
        // What a prompt comes to here: behind a compaction, the next recorded prompt is the first to show that.
        let whole = (call.visible + beside).saturating_sub(if walk.left.is_some() { gone } else { walk.missing + walk.undone });
        call.covers = call.usage.get().is_some_and(|usage| usage.prompt >= whole) && !(shrunk && is_cut(place));
        if let Some(usage) = call.reported().filter(|_| is_partial(call)) {
            // What its prompt holds beside the log is its own: the next one may be without.
            if usage.trust != Trust::Partial {
                // The provider's word goes before an estimate of what the log shows.
                call.missing = call.missing.max(call.visible.saturating_sub(usage.prompt));
            }
            if usage.trust != Trust::Partial || usage.prompt >= call.visible + beside {
                call.hidden = (usage.prompt + call.missing).saturating_sub(call.visible);
            }
            walk.serve(trace, reply);
        }
        call.output = output(trace, call);
    }
    // Calls before the first recorded prompt carried what it carried, but for those that are reported themselves.
    if let Some(first) = calls.iter().position(|call| prompt_of(call).is_some()) {
        let hidden = calls[first].hidden;
        calls[..first].iter_mut().filter(|call| call.reported().is_none()).for_each(|call| call.hidden = hidden);
    }
    trace.calls = calls;
    trace.compactions = compactions;
}

fn output(trace: &Trace, call: &CallRow) -> u64 {
    let recorded = call.usage.get().filter(|usage| usage.output_is_final && usage.output > 0).map(|usage| usage.output);
    // What the log counts without a prompt stands there already.
    recorded.or(Some(call.output).filter(|output| call.usage.get().is_none() && *output > 0)).unwrap_or_else(|| {
        let row = trace.messages.get(call.message as usize);
        let estimate = row.map_or(0, |row| trace.parts_of(row).map(|part| part.truth).sum());
        // A count from within the stream is the least that the reply took.
        call.usage.get().map_or(estimate, |usage| usage.output.max(estimate))
    })
}

/// What a compaction leaves of the conversation, as far as the log shows it.
struct Left {
    /// Tokens of the summary.
    summary: u64,
    /// The messages that stay.
    kept: Range<usize>,
}

impl Left {
    fn by(event: &CompactionRow) -> Left {
        Left { summary: event.summary_tokens.unwrap_or(0), kept: event.kept_from.unwrap_or(event.before) as usize..event.before as usize }
    }
}

#[derive(Default)]
struct Walk {
    live: Vec<usize>,
    visible: u64,
    hidden: u64,
    missing: u64,
    /// What the recording agent had cut away and the replay has put back.
    undone: u64,
    undo_at_next_anchor: bool,
    /// The part of what is hidden that came without a reason. It may have stood in few prompts: what falls later is this first.
    unexplained: u64,
    expired_up_to: usize,
    /// The model of the last recorded prompt.
    model: Option<u32>,
    /// The reply to the last recorded prompt.
    since: usize,
    /// What the last compaction left; `None` where the model has been called since.
    left: Option<Left>,
    /// Parts of the log that a tool's result answers; empty where no prompt is partial.
    answered: FxHashSet<u32>,
    /// Calls of the provider's own tools since then, as message and part: what they found stands nowhere else in the log.
    served: Vec<(usize, usize)>,
}

impl Walk {
    fn enter(&mut self, trace: &Trace, index: usize) {
        let row = &trace.messages[index];
        if let Some(from) = row.rewind.get() {
            while self.live.last().is_some_and(|last| *last >= from as usize) {
                if let Some(gone) = self.live.pop() {
                    self.visible -= self.truth_of(trace, gone);
                }
            }
        }
        if row.opens_turn() {
            let older = self.live.partition_point(|message| *message < self.expired_up_to);
            let expired: u64 = self.live.iter().skip(older).map(|message| expiring_of(trace, *message)).sum();
            self.visible -= expired;
            self.expired_up_to = index;
        }
        // What has left may be what was missed: no more can be missing than is there.
        self.missing = self.missing.min(self.visible);
        self.live.push(index);
        self.visible += trace.parts_of(row).map(|part| part.truth).sum::<u64>();
    }

    /// What a live message adds to the visible context now.
    fn truth_of(&self, trace: &Trace, message: usize) -> u64 {
        let all: u64 = trace.parts_of(&trace.messages[message]).map(|part| part.truth).sum();
        if message < self.expired_up_to { all - expiring_of(trace, message) } else { all }
    }

    /// Another model carries other tools and counts otherwise. Behind a compaction its prompt tells how much it can carry at most: what the log does not show of it.
    fn follow_model(&mut self, trace: &Trace, call: &CallRow, usage: &Usage, gone: u64) {
        let Some(left) = self.left.take().filter(|_| differ(call.model.get(), self.model)) else { return };
        let from = self.live.partition_point(|message| *message < left.kept.start);
        let kept = self.live.iter().skip(from).take_while(|message| left.kept.contains(message));
        let left = left.summary + kept.map(|message| self.truth_of(trace, *message)).sum::<u64>();
        let shown = left + call.visible.saturating_sub(gone);
        self.hidden = self.hidden.min(usage.prompt.saturating_sub(shown));
    }

    /// Notes the calls of a reply that nothing answers: the provider ran their tools itself.
    fn serve(&mut self, trace: &Trace, reply: usize) {
        let calls = trace.messages[reply].parts().filter(|part| is_of(trace, *part as usize, PartKind::ToolCall));
        let served = calls.filter(|part| !self.answered.contains(part));
        self.served.extend(served.map(|part| (reply, part as usize)));
    }

    /// Books growth that nothing explains as conversation instead of overhead, and says how much of it: all where the provider's own tools found
    /// something, else what is beyond the `most` that overhead can be. Calls of those tools take it, else what came since the last recorded prompt.
    fn find(&mut self, trace: &mut Trace, reply: usize, growth: u64, most: u64) -> u64 {
        let live = |message: &usize| self.live.binary_search(message).is_ok();
        let mut takers: Vec<usize> = self.served.iter().filter(|(message, _)| live(message)).map(|(_, part)| *part).collect();
        let mut found = growth;
        if takers.is_empty() {
            found = growth.min(self.hidden.saturating_sub(most));
            let parts = (self.since..reply).filter(live).flat_map(|message| trace.messages[message].parts());
            takers = parts.map(|part| part as usize).filter(|part| trace.parts.get(*part).is_some_and(|part| !part.expires)).collect();
        }
        let found = if takers.is_empty() { 0 } else { found };
        for (part, share) in takers.iter().zip(largest_remainder(found, &vec![1; takers.len()])) {
            trace.parts.change(*part, |part| {
                part.truth += share;
                part.anchored &= share == 0;
            });
        }
        self.hidden -= found;
        self.unexplained -= found.min(self.unexplained);
        self.visible += found;
        found
    }

    /// Brings hidden and missing in line with a recorded prompt, so that the context of an untouched session equals it. Says how much of the growth
    /// nothing explains: that counts as hidden so far.
    fn settle(&mut self, call: &CallRow, usage: &Usage, undone: bool) -> u64 {
        let now = (self.hidden + call.visible).saturating_sub(self.missing);
        if undone || self.undo_at_next_anchor {
            self.undone = now.saturating_sub(usage.prompt);
            self.undo_at_next_anchor = false;
            // A prompt that grew all the same is settled like any other.
            if now >= usage.prompt {
                return 0;
            }
        }
        let expected = now.saturating_sub(self.undone);
        let mut unexplained = 0;
        if usage.prompt >= expected {
            let more = usage.prompt - expected;
            let back = more.min(self.missing);
            self.missing -= back;
            self.hidden += more - back;
            unexplained = more - back;
            self.unexplained += unexplained;
        } else {
            let passing = self.unexplained.min(self.hidden).min(expected - usage.prompt);
            self.unexplained -= passing;
            self.hidden -= passing;
            let less = expected - usage.prompt - passing;
            // What goes without a note is what agents prune and strip: parts of the conversation. System prompt and tools stay; another
            // model counts all of it otherwise, them too.
            let of_hidden = u128::from(less) * u128::from(self.hidden) / u128::from(expected.max(1));
            let from_hidden = if !differ(call.model.get(), self.model) {
                0
            } else {
                u64::try_from(of_hidden).unwrap_or(self.hidden).min(self.hidden).min(less)
            };
            self.hidden -= from_hidden;
            self.missing += less - from_hidden;
        }
        // No more can be missing than is there: the prompt is smaller than what was taken for hidden.
        let beyond = self.missing.saturating_sub(call.visible);
        self.missing -= beyond;
        self.hidden = self.hidden.saturating_sub(beyond);
        unexplained.min(self.hidden)
    }
}

fn expiring_of(trace: &Trace, message: usize) -> u64 {
    trace.parts_of(&trace.messages[message]).filter(|part| part.expires).map(|part| part.truth).sum()
}

pub(super) fn is_of(trace: &Trace, part: usize, kind: PartKind) -> bool {
    trace.parts.get(part).is_some_and(|part| part.kind == kind)
}

/// Are these two models? A call that names none was made by the one before.
pub(super) fn differ(one: Option<u32>, other: Option<u32>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}
