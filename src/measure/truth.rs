//! Truth anchored on recorded usage: what each part really cost, so that the sums reproduce the recorded prompts to the token.
//!
//! The parts of every stretch between two recorded prompts share their difference; then one walk over the session ([`contexts`]) works out
//! what stood in the context at each call and what of the recorded prompt the log does not show.

#![expect(clippy::indexing_slicing, reason = "calls, messages and parts name each other by their places in one trace")]

use super::calibration::Calibration;
use super::contexts::{contexts, differ, is_of};
use super::thinking::Reply;
use crate::catalog::Thinking;
use crate::statistics::largest_remainder;
use crate::trace::{CallRow, PartKind, PartRow, Trace};
use crate::transcript::{CompactionKind, Role};
use std::borrow::Cow;

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
    /// prompts. Replies that never came to their end are the first to have been left out: agents seldom send them again. A reply whose size was not counted may be all that
    /// the prompt grew by, as far as its bytes can be: sealed reasoning weighs less than it is.
    fn estimate(&self, trace: &mut Trace, stretch: &Stretch, sent: Option<u64>, reply: &Reply, room: Option<u64>) {
        let guesses: Vec<u64> = stretch.others.iter().map(|index| self.calibration.tokens(self.weights[*index])).collect();
        let reply_guess = sent.unwrap_or_else(|| {
            let most = most_tokens(trace, &stretch.reply);
            let left = room.map_or(0, |room| room.saturating_sub(guesses.iter().sum()));
            self.calibration.tokens(self.weight(&stretch.reply)).max(left.min(most))
        });
        let guesses: Vec<u64> = std::iter::once(reply_guess).chain(guesses).collect();
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
                let most = most_tokens(trace, &stretch.reply);
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

/// The most tokens that the model can have written for these parts: no token is shorter than a byte, and a call of a tool has a block around it.
fn most_tokens(trace: &Trace, parts: &[usize]) -> u64 {
    let of = |part: Cow<'_, PartRow>| {
        let written = u64::from(part.text.length.bytes.max(part.sealed_bytes)) + u64::from(part.name.get().bytes);
        written + if part.kind == PartKind::ToolCall { CALL_WRAPPER } else { 0 }
    };
    parts.iter().filter_map(|index| trace.parts.get(*index)).map(of).sum()
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
