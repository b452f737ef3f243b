//! A session under no policy, without a context: nothing leaves but what the user takes back and reasoning that expires. What a replay under policy `none` says of its
//! prompts is summed from the session's rows, in a fraction of its time and memory. A property test holds it to the replay.

use super::conditions::Conditions;
use super::request::Request;
use crate::trace::{MessageRow, PartRow, Trace, WholePrompt};
use crate::units::adds;
use std::borrow::Cow;

/// The prompts of a session from which no policy takes anything, in a window that nothing fills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// The prompt of each call.
    pub prompts: Vec<WholePrompt>,
    /// Tokens of the conversation in each of them.
    pub visible: Vec<u64>,
    /// Tokens of all prompts.
    pub prompt_tokens: u64,
    /// The part of those tokens that is anchored on recorded usage.
    pub anchored_tokens: u64,
}

impl Whole {
    /// Goes through a session.
    pub fn of(trace: &Trace) -> Whole {
        let calls = trace.calls.len();
        let mut whole = Whole { prompts: Vec::with_capacity(calls), visible: Vec::with_capacity(calls), ..Whole::default() };
        let mut standing = Standing { trace, order: Vec::new(), sum: Sum::default(), sent: 0, sent_tokens: 0 };
        let mut last: Option<Request> = None;
        let mut next = 0;
        for call in &trace.calls {
            while next < call.message.min(trace.messages.len() as u32) {
                standing.withdraw_before(next);
                if trace.messages.get(next as usize).is_some_and(MessageRow::opens_turn) {
                    standing.expire();
                }
                standing.arrive(next);
                next += 1;
            }
            standing.withdraw_before(call.message);
            let Sum { tokens: visible, anchored, items } = standing.sum;
            let request = Request::of(Some(call), visible, call.prompt(visible, visible));
            let tokens = request.actual;
            let prefix = last.map_or(0, |last| request.prefix(&last, standing.sent_tokens));
            whole.prompts.push(WholePrompt { tokens, prefix, blocks: items });
            whole.visible.push(visible);
            if tokens > Conditions::endless().prompt_limit {
                // Larger than can be added up: a replay ends there.
                break;
            }
            whole.prompt_tokens += tokens;
            whole.anchored_tokens += call.anchored_in(anchored, visible, tokens);
            last = Some(request);
            (standing.sent, standing.sent_tokens) = (standing.order.len(), visible);
            standing.arrive(call.message);
            next = call.message + 1;
        }
        whole
    }
}

/// What some parts come to in a prompt.
#[derive(Clone, Copy, Default)]
struct Sum {
    tokens: u64,
    anchored: u64,
    items: u32,
}

adds!(Sum += Sum: tokens, anchored, items);

impl Sum {
    fn of<'p>(parts: impl Iterator<Item = Cow<'p, PartRow>>) -> Sum {
        let mut sum = Sum::default();
        parts.for_each(|part| sum += Sum { tokens: part.truth, anchored: if part.anchored { part.truth } else { 0 }, items: 1 });
        sum
    }

    fn less(self, other: Sum) -> Sum {
        Sum { tokens: self.tokens - other.tokens, anchored: self.anchored - other.anchored, items: self.items - other.items }
    }
}

/// The messages that stand in the prompt, in order.
struct Standing<'t> {
    trace: &'t Trace,
    order: Vec<Stands>,
    sum: Sum,
    /// So many of them stand as they were sent the last time, and come to so many tokens.
    sent: usize,
    sent_tokens: u64,
}

#[derive(Clone, Copy)]
struct Stands {
    message: u32,
    /// Its reasoning that expires has left.
    expired: bool,
}

impl Standing<'_> {
    /// A message arrives.
    fn arrive(&mut self, message: u32) {
        let Some(row) = self.trace.messages.get(message as usize) else { return };
        self.sum += Sum::of(self.trace.parts_of(row));
        self.order.push(Stands { message, expired: false });
    }

    /// The user went back before this message: what came later than it goes back to leaves.
    fn withdraw_before(&mut self, message: u32) {
        let Some(from) = self.trace.messages.get(message as usize).and_then(|row| row.rewind.get()) else { return };
        while let Some(last) = self.order.last().copied().filter(|last| last.message >= from) {
            self.touch(self.order.len() - 1);
            self.sum = self.sum.less(self.of(last));
            self.order.pop();
        }
    }

    /// Reasoning of the newest turn leaves.
    fn expire(&mut self) {
        for place in (0..self.order.len()).rev() {
            let Some(stands) = self.order.get(place).copied() else { return };
            let Some(row) = self.trace.messages.get(stands.message as usize) else { return };
            let leaves = Sum::of(self.trace.parts_of(row).filter(|part| part.expires && !stands.expired));
            if leaves.items > 0 {
                self.touch(place);
                self.sum = self.sum.less(leaves);
                self.order.iter_mut().skip(place).take(1).for_each(|stands| stands.expired = true);
            }
            if row.opens_turn() {
                return;
            }
        }
    }

    /// The message at this place changes: what was sent stands as it was up to there.
    fn touch(&mut self, place: usize) {
        while self.sent > place {
            self.sent -= 1;
            let last = self.order.get(self.sent).map_or_else(Sum::default, |stands| self.of(*stands));
            self.sent_tokens -= last.tokens;
        }
    }

    /// What is there of a message that stands.
    fn of(&self, stands: Stands) -> Sum {
        let row = self.trace.messages.get(stands.message as usize);
        let parts = row.into_iter().flat_map(|row| self.trace.parts_of(row));
        Sum::of(parts.filter(|part| !(part.expires && stands.expired)))
    }
}
