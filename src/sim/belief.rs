//! The policy's estimate of its context, and what it remembers of its own work.

use super::event::Cause;
use super::inputs::Inputs;
use super::window::Window;
use crate::context::{Context, Entry, Item, Region, State as ItemState};
use crate::policy::{AfterOverflow, AfterRewrite, Hook, MaxFires, Measure, Mode, Plan, Rule, Selection, Sight, Switch, Trigger};
use crate::trace::CallRow;
use crate::transcript::Text;
use std::cell::Cell;

/// Encrypted reasoning takes more bytes than this; where a log has fewer, it has been removed.
const LEAST_SEALED_BYTES: u32 = 100;

/// What a policy knows, and what it takes the context for.
#[derive(Clone, Default)]
pub(super) struct Belief {
    /// What the policy remembers of each rule, by its place in the plan.
    pub memories: Vec<Memory>,
    /// Prompt and output of the last call as the policy knows them.
    pub usage: Option<(u64, u64)>,
    /// Estimates of what came after the last reply.
    pub pending: u64,
    /// Estimate of a user message that is about to enter.
    pub incoming: u64,
    pub last_time: Option<i64>,
    pub look: Option<Look>,
    /// The summariser's request has been refused since the last call.
    pub summariser_refused: bool,
    /// The agent has given up on the call at hand.
    pub gives_up: bool,
    /// A summary that has been asked for and does not stand in the context yet.
    pub prepared: Option<Prepared>,
    /// The rules for a gap have run since the last reply.
    pub paused: bool,
    /// The log ends with this pause.
    pub ended: bool,
    /// A user message has come since the last call.
    pub turn_opened: bool,
    /// The rules for the end of the turn have run since the last call.
    pub turn_ended: bool,
    /// What it took the smallest request for that the provider refused; 0 where none was.
    pub refused: u64,
    /// Actual size right after the last reply: what an estimate from usage covers.
    pub actual_after_reply: u64,
    /// The policy's program has looked at a size.
    pub looked: bool,
    /// How often the history was rewritten.
    pub rewrites: u32,
    /// What the last look made of old reasoning.
    old_reasoning: Cell<OldReasoning>,
}

/// Estimates of reasoning before the last user message, as far as a context was looked at.
#[derive(Clone, Copy, Default)]
struct OldReasoning {
    /// How often the context had been edited at that look.
    edits: u64,
    /// Messages that were looked at, and those of them before the last user message.
    seen: usize,
    older: usize,
    tokens: u64,
}

/// A summary that was asked for, and does not stand in the context yet.
#[derive(Clone)]
pub(super) struct Prepared {
    /// The rule that has asked for it, by its place in the plan.
    pub rule: usize,
    /// The messages that the summary replaces.
    pub selection: Selection,
    /// Tokens of the summary's text.
    pub tokens: u64,
    /// The summary's text; `None` where its size alone is modelled.
    pub text: Option<Text>,
    /// It takes its place when so many calls have been made.
    pub due: u64,
}

/// What is remembered about one rule.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    pub in_call: u32,
    pub in_turn: u32,
    pub in_session: u32,
    /// Number of calls made when it last fired.
    pub fired_at: u64,
    /// Failures in a row, those of rules that give up with this one included; 0 for a rule that gives up with another one.
    pub failures: u32,
    /// What the policy took the context for right after it last changed it.
    pub left: u64,
}

/// A policy's last look at its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// The rule that looked, by its place in the plan.
    pub rule: usize,
    /// B(k): the policy's estimate, in tokens.
    pub belief: u64,
    /// The limit that the estimate was held against, in tokens.
    pub limit: f64,
    /// The actual size of all that the estimate covers.
    pub covers: u64,
    /// The actual size of everything at that moment.
    pub whole: u64,
    /// The actual size after the rule that looked had done its work; `None` where it did not fire.
    pub left: Option<u64>,
}

impl Memory {
    /// Has the rule fired as often as it may?
    pub fn has_fired_enough(&self, limits: Option<&MaxFires>) -> bool {
        let reached = |limit: Option<u32>, count: u32| limit.is_some_and(|limit| count >= limit);
        limits.is_some_and(|limits| {
            reached(limits.per_call, self.in_call) || reached(limits.per_turn, self.in_turn) || reached(limits.per_session, self.in_session)
        })
    }
}

impl Belief {
    /// The policy's memory before the first message.
    pub fn new(rules: usize) -> Belief {
        Belief { memories: vec![Memory::default(); rules], ..Belief::default() }
    }

    /// What the last call came to, prompt and output together.
    pub fn reported(&self) -> Option<u64> {
        self.usage.map(|(prompt, output)| prompt + output)
    }

    /// What the policy can see after so many calls, for one of its rules.
    pub fn sight<'w>(&self, inputs: &Inputs<'_>, window: &'w Window<'_>, calls: u64, memory: &Memory) -> Sight<'w> {
        let now = window.call.and_then(|call| inputs.message(call.message)).and_then(|message| message.time.get());
        Sight {
            view: window.context.view(),
            beyond: 0,
            usage: self.usage,
            turn_opened: self.turn_opened,
            pending: self.pending + self.old_reasoning(inputs, &window.context),
            incoming: self.incoming,
            calls,
            calls_since_fired: calls - memory.fired_at.min(calls),
            idle_seconds: now.zip(self.last_time).map(|(now, last)| (now - last) as f64 / 1000.0),
            refused: self.refused,
            left: memory.left,
            next_prompt: window.actual(),
        }
    }

    /// Estimates of encrypted reasoning before the last real user message, for policies that add it to the reported usage. Most servers
    /// leave it out, so that it has left the context; the agent's own history still holds it. The agent does not look whether the usage
    /// holds it too: where the server keeps it, it counts twice.
    fn old_reasoning(&self, inputs: &Inputs<'_>, context: &Context) -> u64 {
        if inputs.plan.belief.old_reasoning == Switch::Off {
            return 0;
        }
        // Where the context has only grown, what has come since is all that there is to look at. Of two views of one history that cannot be told.
        let known = self.old_reasoning.get();
        let grows =
            known.edits == context.edits() && known.seen <= context.len() && inputs.plan.rule.iter().all(|rule| rule.mode == Mode::Commit);
        let known = if grows { known } else { OldReasoning::default() };
        let since = context.live_from(known.seen).rev();
        let newer = since.take_while(|(_, entry)| !entry.opens_turn).count();
        let older = if known.seen + newer < context.len() { context.len() - newer - 1 } else { known.older };
        let more = context.live_from(known.older).take(older - known.older).map(|(_, entry)| reasoning_in(inputs, context, entry));
        let found = OldReasoning { edits: context.edits(), seen: context.len(), older, tokens: known.tokens + more.sum::<u64>() };
        self.old_reasoning.set(found);
        found.tokens
    }

    /// Has the rule, with those whose failures are counted with its own, failed as often as it may?
    pub fn has_given_up(&self, plan: &Plan, index: usize, rule: &Rule) -> bool {
        let failures = || self.memories.get(plan.gives_up_with(index)).map_or(0, |memory| memory.failures);
        rule.give_up_after.is_some_and(|most| failures() >= most)
    }

    /// A rule has failed.
    pub fn note_failure(&mut self, plan: &Plan, index: usize) {
        if let Some(memory) = self.memories.get_mut(plan.gives_up_with(index)) {
            memory.failures += 1;
        }
    }

    /// A summary has been taken: the failures of all rules are forgotten.
    pub fn note_summary(&mut self) {
        self.memories.iter_mut().for_each(|memory| memory.failures = 0);
    }

    /// A rule has done something: its failures are forgotten, and it knows what it left.
    pub fn note_success(&mut self, inputs: &Inputs<'_>, window: &Window<'_>, index: usize) {
        let left = Measure::UsagePlusPending.of(&self.sight(inputs, window, 0, &Memory::default())).unwrap_or(0);
        if let Some(memory) = self.memories.get_mut(inputs.plan.gives_up_with(index)) {
            memory.failures = 0;
        }
        if let Some(memory) = self.memories.get_mut(index) {
            memory.left = left;
        }
    }

    /// The provider has answered a request.
    pub fn answered(&mut self, inputs: &Inputs<'_>, call: &CallRow, actual: u64, output: u64, unrecovered: bool) {
        self.summariser_refused = false;
        self.gives_up = false;
        self.paused = false;
        self.turn_opened = false;
        self.turn_ended = false;
        let belief = &inputs.plan.belief;
        self.usage = Some((read_of(inputs, call, actual), belief.reads_output(output, call.usage.get().map(|usage| usage.output))));
        if unrecovered && belief.after_overflow == AfterOverflow::Full {
            self.usage = Some((belief.full.unwrap_or(inputs.conditions.window), 0));
        }
    }

    /// The history was rewritten: what is the last usage worth now?
    pub fn rewritten(&mut self, plan: &Plan, window: &Window<'_>) {
        self.actual_after_reply = window.actual();
        self.rewrites += 1;
        match plan.belief.after_rewrite {
            AfterRewrite::Estimate => {
                self.usage = Some((window.context.view().request(), 0));
                self.pending = 0;
            }
            AfterRewrite::Unknown => self.usage = None,
            AfterRewrite::Stale => {}
        }
    }

    /// Why the call overflows after this look.
    pub fn cause(&self, inputs: &Inputs<'_>, look: Option<Look>) -> Cause {
        if !self.looked && !looks_at_size(inputs.plan) {
            return Cause::NoTrigger;
        }
        if self.summariser_refused {
            return Cause::Summariser;
        }
        let limit = inputs.conditions.prompt_limit;
        match look {
            // It fired: either that was not enough, or what came afterwards was too much.
            Some(Look { left: Some(left), .. }) if left > limit => Cause::NothingLeft,
            Some(Look { left: Some(_), .. }) => Cause::BlindSpot,
            Some(look) if look.limit >= limit as f64 => Cause::Reserve,
            // Had it known the truth of what it looked at, it would have fired.
            Some(look) if look.covers as f64 > look.limit => Cause::Drift,
            _ => Cause::BlindSpot,
        }
    }
}

/// What the policy reads of a prompt of this size: the share that it read of the recorded one.
pub(super) fn read_of(inputs: &Inputs<'_>, call: &CallRow, actual: u64) -> u64 {
    call.usage.get().filter(|usage| usage.prompt > 0).map_or(actual, |usage| {
        let (read, _) = inputs.plan.belief.reads(&usage);
        if read == usage.prompt {
            return actual;
        }
        u64::try_from(u128::from(actual) * u128::from(read) / u128::from(usage.prompt)).unwrap_or(actual)
    })
}

fn looks_at_size(plan: &Plan) -> bool {
    let shrinking = plan.rule.iter().filter(|rule| rule.at != Hook::Overflow && rule.shrinks());
    shrinking.filter_map(|rule| rule.when.as_ref()).any(Trigger::looks_at_size)
}

/// What the policy takes the encrypted reasoning of a message for that its history holds: what a rule has taken out is gone from there.
fn reasoning_in(inputs: &Inputs<'_>, context: &Context, entry: Entry) -> u64 {
    let Some(message) = entry.message.get() else { return 0 };
    let held = |item: Item| item.state != ItemState::Removed || item.by.is_none();
    let items = inputs.items(message);
    let items = (entry.first..).zip(items.iter()).filter(|(_, item)| item.region == Region::Thinking);
    let thoughts = items.filter(|(id, _)| context.item(*id).is_some_and(held)).map(|(_, item)| item);
    let part_of = |item: &Item| inputs.part(item.part?);
    let sealed = |item: &Item| part_of(item).is_some_and(|part| part.sealed_bytes >= LEAST_SEALED_BYTES);
    let (mut estimate, mut taken_out) = (0, false);
    for item in thoughts {
        estimate += context.estimator().message_part(item.guess);
        taken_out |= !sealed(item);
    }
    if !taken_out || estimate > 0 {
        return estimate;
    }
    let reported = inputs.message(message).map_or(0, |row| u64::from(row.reported_reasoning));
    context.estimator().sealed_by_report(reported)
}
