//! Truth anchored on recorded usage: what each part really cost, so that the sums reproduce the recorded prompts to the token.
//!
//! First the parts of every stretch between two recorded prompts share their difference; then one walk over the session works out
//! what stood in the context at each call and what of the recorded prompt the log does not show.

#![expect(clippy::indexing_slicing, reason = "calls, messages and parts name each other by their places in one trace")]

use super::behind::behind_compactions;
use super::calibration::Calibration;
use super::thinking::Reply;
use crate::catalog::Thinking;
use crate::statistics::largest_remainder;
use crate::trace::{CallRow, PartKind, PartRow, Trace};
use crate::transcript::{CompactionKind, Role, Trust, Usage};
use rustc_hash::FxHashSet;

/// Gives every part its truth and every call its hidden overhead.
pub(super) fn assign(trace: &mut Trace, weights: &[u64], fate: Thinking, overhead: Option<u64>) {
    let mut anchoring = Anchoring { weights, fate, calibration: Calibration::default(), standing: Vec::new() };
    anchoring.parts(trace);
    contexts(trace);
    let sized = |call: &CallRow| call.usage.get().is_some_and(|usage| usage.prompt > 0);
    if let Some(overhead) = overhead.filter(|_| !trace.calls.iter().any(sized)) {
        // The log may show a part of it.
        let system = trace.messages.iter().filter(|row| row.role == Role::System);
        let shown: u64 = system.flat_map(|row| trace.parts_of(row)).map(|part| part.truth).sum();
        trace.calls.iter_mut().for_each(|call| call.hidden = overhead.saturating_sub(shown));
    }
}

struct Anchoring<'a> {
    weights: &'a [u64],
    fate: Thinking,
    calibration: Calibration,
    /// Reasoning of the current turn that leaves at the next user message.
    standing: Vec<usize>,
}

/// The parts between two recorded prompts.
#[derive(Default)]
struct Stretch {
    reply: Vec<usize>,
    /// Reasoning of the reply that is not in the second prompt.
    unsent: Vec<usize>,
    others: Vec<usize>,
    /// Of the others: replies that were stopped, in order. Agents seldom send them again: they get what the rest leaves.
    cut_off: Vec<usize>,
    opens_turn: bool,
    broken: bool,
    /// The log goes back to an earlier message here, or notes a compaction.
    rebuilt: bool,
    /// The log notes a pruning here.
    pruned: bool,
}

impl Stretch {
    fn is_cut_off(&self, part: usize) -> bool {
        self.cut_off.binary_search(&part).is_ok()
    }
}

impl Anchoring<'_> {
    fn parts(&mut self, trace: &mut Trace) {
        let anchors: Vec<usize> = (0..trace.calls.len()).filter(|index| trace.calls[*index].anchor().is_some()).collect();
        for pair in anchors.windows(2) {
            if let [before, after] = *pair {
                self.stretch(trace, before, after);
            }
        }
        let first = anchors.first().map(|index| trace.calls[*index].message as usize);
        self.estimate_rest(trace, first, anchors.last().copied());
        trace.calibration_thousandths = self.calibration.thousandths();
    }

    /// Shares the growth from one recorded prompt to the next among what was appended.
    fn stretch(&mut self, trace: &mut Trace, before: usize, after: usize) {
        let (Some(first), Some(second)) = (trace.calls[before].anchor(), trace.calls[after].anchor()) else { return };
        let stretch = self.gather(trace, before, after);
        let expired: u64 = if stretch.opens_turn {
            self.standing.iter().filter_map(|index| trace.parts.get(*index)).map(|part| part.truth).sum()
        } else {
            0
        };
        if stretch.opens_turn {
            self.standing.clear();
        }
        let reply = Reply::of(trace, &trace.calls[before], &first, self.weights);
        let sent = if stretch.unsent.is_empty() { reply.visible + reply.reasoning } else { reply.visible };
        let growth = (second.prompt + expired).checked_sub(first.prompt);
        let known = first.output_is_final && sent > 0 && !stretch.reply.is_empty();
        let reply_guess = if known { sent } else { self.calibration.tokens(self.weight(&stretch.reply)) };
        let others_guess = self.calibration.tokens(self.weight(&stretch.others));
        let predicted = (reply_guess + others_guess).saturating_sub(expired);
        // Claude Code notes prunings that its requests do not show: one that left no trace in the usage broke no chain.
        let pruned = stretch.pruned && growth.is_none_or(|growth| growth < predicted / 2);
        let broken = stretch.broken || pruned;
        trace.calls[after].chained = !broken && growth.is_some();
        match growth.filter(|_| !broken) {
            Some(growth) => {
                trace.calls[after].predicted_growth = u32::try_from(predicted).ok().into();
                self.share(trace, &stretch, growth, known.then_some(sent), &reply);
            }
            None => {
                let same_model = !differ(trace.calls[before].model.get(), trace.calls[after].model.get());
                let room = growth.filter(|_| same_model && !stretch.rebuilt && !stretch.pruned);
                self.estimate(trace, &stretch, known.then_some(sent), &reply, room);
            }
        }
        // Reasoning that is not in the next prompt was still part of the output; it just never stands in a context.
        for index in &stretch.unsent {
            trace.parts.give(*index, 0, false);
        }
        if self.fate == Thinking::Turn && !stretch.opens_turn {
            for index in &stretch.reply {
                if is_of(trace, *index, PartKind::Thinking) {
                    trace.parts.change(*index, |part| part.expires = true);
                    self.standing.push(*index);
                }
            }
        }
    }

    /// Gives the parts of a broken stretch their calibrated weights, and no more together than there was `room` for between the two
    /// prompts. Replies that never came to their end are the first to have been left out: agents seldom send them again.
    fn estimate(&self, trace: &mut Trace, stretch: &Stretch, sent: Option<u64>, reply: &Reply, room: Option<u64>) {
        let guess = |index: &usize| self.calibration.tokens(self.weights[*index]);
        let reply_guess = sent.unwrap_or_else(|| self.calibration.tokens(self.weight(&stretch.reply)));
        let guesses: Vec<u64> = std::iter::once(reply_guess).chain(stretch.others.iter().map(guess)).collect();
        let ended = std::iter::once(sent.is_some()).chain(stretch.others.iter().map(|index| !stretch.is_cut_off(*index)));
        let (whole, cut_off): (Vec<u64>, Vec<u64>) =
            guesses.iter().zip(ended).map(|(guess, ended)| if ended { (*guess, 0) } else { (0, *guess) }).unzip();
        let room = room.unwrap_or(u64::MAX);
        let for_whole = whole.iter().sum::<u64>().min(room);
        let for_cut_off = cut_off.iter().sum::<u64>().min(room - for_whole);
        let shares = largest_remainder(for_whole, &whole).into_iter().zip(largest_remainder(for_cut_off, &cut_off));
        let mut shares = shares.map(|(whole, cut_off)| whole + cut_off);
        self.give_reply(trace, stretch, shares.next().unwrap_or(0), reply, false);
        for (index, share) in stretch.others.iter().zip(shares) {
            trace.parts.give(*index, share, false);
        }
    }

    fn gather(&self, trace: &Trace, before: usize, after: usize) -> Stretch {
        let (first, last) = (trace.calls[before].message as usize, trace.calls[after].message as usize);
        let between = &trace.messages[(first + 1).min(last)..last];
        let opens_turn = between.iter().any(|row| row.opens_turn());
        let dropped = self.fate == Thinking::Dropped || (self.fate == Thinking::Turn && opens_turn);
        let mut stretch = Stretch { opens_turn, ..Stretch::default() };
        let unchained = trace.calls[before + 1..=after].iter().any(|call| !call.chained);
        let mut unmeasured_calls = trace.calls[before + 1..after].iter().map(|call| call.message as usize).peekable();
        for (index, row) in trace.messages[first..last].iter().enumerate() {
            // A stopped reply has no call. One whose call has no usage may have been stopped where the chain is broken.
            let unmeasured = unmeasured_calls.next_if_eq(&(first + index)).is_some();
            let cut_off = index > 0 && row.role == Role::Assistant && !row.copy && (!unmeasured || unchained);
            for part in row.first_part as usize..(row.first_part + row.part_count) as usize {
                let thinking = is_of(trace, part, PartKind::Thinking);
                match (index == 0, thinking && dropped) {
                    (_, true) => stretch.unsent.push(part),
                    (true, false) => stretch.reply.push(part),
                    (false, false) => stretch.others.push(part),
                }
                if cut_off {
                    stretch.cut_off.push(part);
                }
            }
        }
        let rewound = trace.messages[(first + 1).min(last)..=last].iter().any(|row| row.rewind.get().is_some() || row.copy);
        let noted_here = trace.compactions_before(first + 1..last + 1);
        let noted = |kind: CompactionKind| noted_here.iter().any(|compaction| compaction.kind == kind);
        stretch.rebuilt = rewound || noted(CompactionKind::Compact);
        stretch.broken = stretch.rebuilt || unchained;
        stretch.pruned = noted(CompactionKind::Prune);
        stretch
    }

    fn weight(&self, parts: &[usize]) -> u64 {
        parts.iter().map(|index| self.weights[*index]).sum()
    }

    fn share(&mut self, trace: &mut Trace, stretch: &Stretch, growth: u64, sent: Option<u64>, reply: &Reply) {
        match sent {
            Some(sent) if sent <= growth && !(stretch.others.is_empty() && sent < growth) => {
                self.give_reply(trace, stretch, sent, reply, true);
                let rest = growth - sent;
                let (cut_off, whole): (Vec<usize>, Vec<usize>) =
                    stretch.others.iter().copied().partition(|index| stretch.is_cut_off(*index));
                let guess = |parts: &[usize]| self.calibration.tokens(self.weight(parts));
                let for_whole = if cut_off.is_empty() { rest } else { rest.min(guess(&whole)).max(rest.saturating_sub(guess(&cut_off))) };
                let for_whole = if whole.is_empty() { 0 } else { for_whole };
                for (parts, tokens) in [(&whole, for_whole), (&cut_off, rest - for_whole)] {
                    let weights: Vec<u64> = parts.iter().map(|index| self.weights[*index]).collect();
                    for (index, share) in parts.iter().zip(largest_remainder(tokens, &weights)) {
                        trace.parts.give(*index, share, true);
                    }
                }
                if !whole.is_empty() {
                    self.calibration.learn(for_whole, self.weight(&whole));
                }
            }
            _ => {
                let all: Vec<usize> = stretch.reply.iter().chain(&stretch.others).copied().collect();
                let weights: Vec<u64> = all.iter().map(|index| self.weights[*index]).collect();
                let mut shares = largest_remainder(growth, &weights);
                let (for_reply, for_others) = shares.split_at_mut(stretch.reply.len());
                let most = stretch.reply.iter().filter_map(|index| trace.parts.get(*index)).map(|part| most_tokens(&part)).sum();
                if sent.is_none() && for_reply.iter().sum::<u64>() > most {
                    // So much was not written: the log lacks what came with the others, and a size that is none of a text teaches nothing.
                    let (own, other) = weights.split_at(for_reply.len());
                    for_reply.copy_from_slice(&largest_remainder(most, own));
                    for_others.copy_from_slice(&largest_remainder(growth - most, other));
                } else {
                    self.calibration.learn(growth, weights.iter().sum());
                }
                for (index, share) in all.iter().zip(shares) {
                    trace.parts.give(*index, share, true);
                }
            }
        }
    }

    /// Shares the reply's tokens among its parts; itemised reasoning goes to the reasoning.
    fn give_reply(&self, trace: &mut Trace, stretch: &Stretch, tokens: u64, reply: &Reply, anchored: bool) {
        let (thinking, shown): (Vec<usize>, Vec<usize>) =
            stretch.reply.iter().copied().partition(|index| is_of(trace, *index, PartKind::Thinking));
        let for_thinking = match (thinking.is_empty(), shown.is_empty()) {
            (true, _) => 0,
            (false, true) => tokens,
            (false, false) => reply.reasoning.min(tokens),
        };
        for (parts, amount) in [(thinking, for_thinking), (shown, tokens - for_thinking)] {
            let weights: Vec<u64> = parts.iter().map(|index| self.weights[*index]).collect();
            for (index, share) in parts.iter().zip(largest_remainder(amount, &weights)) {
                trace.parts.give(*index, share, anchored);
            }
        }
    }

    /// What stands before the first recorded prompt and after the last one gets calibrated weights.
    fn estimate_rest(&self, trace: &mut Trace, first: Option<usize>, last: Option<usize>) {
        let part_of = |trace: &Trace, message: usize| trace.messages.get(message).map_or(trace.parts.len(), |row| row.first_part as usize);
        let before = first.map_or(trace.parts.len(), |message| part_of(trace, message));
        for index in 0..before {
            trace.parts.give(index, self.calibration.tokens(self.weights[index]), false);
        }
        if let Some(usage) = first.and_then(|_| trace.calls.iter().find_map(CallRow::anchor)) {
            fit_first(trace, before, usage.prompt);
        }
        let Some(last) = last else { return };
        let message = trace.calls[last].message as usize;
        for index in part_of(trace, message)..trace.parts.len() {
            trace.parts.give(index, self.calibration.tokens(self.weights[index]), false);
        }
        if let Some(usage) = trace.calls[last].anchor()
            && usage.output_is_final
        {
            let row = &trace.messages[message];
            let parts = (row.first_part as usize..(row.first_part + row.part_count) as usize).collect();
            let reply = Reply::of(trace, &trace.calls[last], &usage, self.weights);
            let stretch = Stretch { reply: parts, ..Stretch::default() };
            self.give_reply(trace, &stretch, usage.output, &reply, true);
        }
    }
}

/// Tokens of a tool call beside its name and arguments: the block that the provider wraps them in.
pub(super) const CALL_WRAPPER: u64 = 8;

/// The most tokens that the model can have written for a part: no token is shorter than a byte, and a call of a tool has a block around it.
fn most_tokens(part: &PartRow) -> u64 {
    let written = u64::from(part.text.length.bytes.max(part.sealed_bytes)) + u64::from(part.name.get().bytes);
    written + if part.kind == PartKind::ToolCall { CALL_WRAPPER } else { 0 }
}

fn is_of(trace: &Trace, part: usize, kind: PartKind) -> bool {
    trace.parts.get(part).is_some_and(|part| part.kind == kind)
}

/// Where the log shows more before the first call than the prompt held, the visible parts share the prompt.
fn fit_first(trace: &mut Trace, before: usize, prompt: u64) {
    let weights: Vec<u64> = trace.parts.within(0..before).map(|part| part.truth).collect();
    if weights.iter().sum::<u64>() > prompt {
        for (place, share) in largest_remainder(prompt, &weights).into_iter().enumerate() {
            trace.parts.change(place, |part| part.truth = share);
        }
    }
}

/// Walks the session as if it had never been shrunk, and gives each call what was visible, hidden and missing. Where the provider reported no prompt, those that the agent estimated or
/// rounded size the calls: nothing is anchored on them.
pub(super) fn contexts(trace: &mut Trace) {
    let mut walk = Walk::default();
    let trust = |call: &CallRow| call.usage.get().map(|usage| usage.trust);
    let is_partial = |call: &CallRow| matches!(trust(call), Some(Trust::Partial | Trust::Beyond | Trust::Shared));
    if trace.calls.iter().any(is_partial) {
        walk.answered = trace.parts.iter().filter_map(|part| part.answers.get()).collect();
    }
    let events = trace.compactions.iter().map(|event| (event.before as usize, event.kind == CompactionKind::Compact));
    let mut events = events.collect::<Vec<_>>().into_iter().peekable();
    // What was visible when the last summary took its place.
    let (mut gone, mut shrunk) = (0, false);
    let (mut next, mut seen_prompt) = (0, false);
    let mut calls = std::mem::take(&mut trace.calls);
    let reported = calls.iter().any(|call| call.anchor().is_some());
    let estimate = |call: &CallRow| call.usage.get().filter(|usage| !reported && usage.trust == Trust::Estimated && usage.prompt > 0);
    let prompt_of = |call: &CallRow| call.anchor().or_else(|| estimate(call));
    let behind = behind_compactions(trace, &calls);
    // Where a server cut each prompt at its own limit, what stood beside the conversation before stands there still.
    let part = |call: &CallRow| call.usage.get().filter(|_| is_partial(call)).map(|usage| usage.prompt);
    let alike: Vec<bool> = calls.windows(2).map(|pair| part(&pair[0]).is_some() && part(&pair[0]) == part(&pair[1])).collect();
    let is_cut = |place: usize| [place.checked_sub(1), Some(place)].into_iter().flatten().any(|pair| alike.get(pair) == Some(&true));
    for (place, call) in calls.iter_mut().enumerate() {
        let reply = call.message as usize;
        let mut undone = false;
        for index in next..=reply {
            while let Some((_, summarised)) = events.next_if(|(before, _)| *before <= index) {
                (undone, shrunk, gone) = (true, true, if summarised { walk.visible } else { gone });
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
        let (cut, beside) = if is_cut(place) { (true, walk.hidden) } else { (false, 0) };
        call.covers = call.usage.get().is_some_and(|usage| usage.prompt >= call.visible.saturating_sub(gone) + beside) && !(cut && shrunk);
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

#[derive(Default)]
struct Walk {
    live: Vec<usize>,
    visible: u64,
    hidden: u64,
    missing: u64,
    /// What the recording agent had cut away and the replay has put back.
    undone: u64,
    undo_at_next_anchor: bool,
    expired_up_to: usize,
    /// The model of the last recorded prompt.
    model: Option<u32>,
    /// The reply to the last recorded prompt.
    since: usize,
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
        } else {
            let less = expected - usage.prompt;
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

/// Are these two models? A call that names none was made by the one before.
pub(super) fn differ(one: Option<u32>, other: Option<u32>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}
