//! What became of a recorded event, and why: only what the log itself shows.

use super::tested::{Predicted, Recorded, TOLERANCE, Verdict};
use super::window::MainModel;
use crate::corpus::{Segment, prompt_of};
use crate::policy::{Hook, Level, Measure, Plan, Rule, Trigger};
use crate::sim::Outcome;
use crate::trace::{CallRow, CompactionRow, PartKind, Trace};
use crate::transcript::{CompactionKind, Role};

/// Why an event is no hit, where the log shows it. Sizes are tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The event is a hit.
    None,
    /// The log says that the user asked for it.
    AskedFor,
    /// An extension of the agent made it: what brought it on is not in the log.
    ByExtension,
    /// Its summary took in no message: agents make it anew then, and no rule of a policy does.
    CutNothing,
    /// The log lacks what stood right before it, which the agent counted.
    BehindGap,
    /// The provider had refused the prompt as too large: no limit of the agent's brought it on.
    Refusal,
    /// The session's window is not known, and the policy's rules go by it.
    UnknownWindow,
    /// The policy has no rule that does such a thing, or it is off.
    NoRule,
    /// The policy's rules for prunings found too little, or fired at another call.
    OtherSelection,
    /// No call with usage stands before it.
    NoUsage,
    /// The limit is that of the session's main model, and another one was at work.
    OtherModel,
    /// The call before the prediction has no recorded usage: what stood there is not known.
    NoUsageThere,
    /// The log ends with it, and the policy looks before calls alone.
    NoCallFollows,
    /// The policy looks at no single size.
    NoLimit,
    /// What the log says of the size before the event is far from its own usage.
    Contradiction {
        /// By the log's word.
        said: u64,
        /// By its usage.
        used: u64,
    },
    /// The session went on above the policy's limit: a higher one was in force.
    HigherLimit {
        /// The policy's.
        limit: u64,
        /// So far it went.
        reached: u64,
    },
    /// The limit was reached, and the policy's own sight did not show it.
    Unseen {
        /// The policy's.
        limit: u64,
        /// At the event.
        tokens: u64,
        /// What the policy took the context for there; `None` where it did not look.
        estimate: Option<u64>,
    },
    /// As before, and the log lacks the result of the last call of a tool, which the agent had.
    ResultNotInLog {
        /// The policy's.
        limit: u64,
        /// At the event.
        tokens: u64,
        /// What the policy took the context for there, without that result; `None` where it did not look.
        estimate: Option<u64>,
    },
    /// The policy took the context for larger than recorded usage says, which was below its limit.
    Overestimated {
        /// The policy's.
        limit: u64,
        /// What it took the context for.
        estimate: u64,
        /// By usage, at that call.
        used: u64,
    },
    /// The turn was over, and the context below the limit.
    TurnWasOver {
        /// The policy's.
        limit: u64,
        /// At the event.
        tokens: u64,
    },
    /// Below the limit, but reasoning that the log lacks may have been counted by the agent.
    ReasoningNotInLog {
        /// The policy's.
        limit: u64,
        /// At the event.
        tokens: u64,
        /// Recorded reasoning since the compaction before.
        reasoning: u64,
    },
    /// The model behind it can share no history with the one before: the agent compacts then whatever the size, which no rule of a policy says.
    Incompatible,
    /// Below the limit, where the session goes on with another model: agents compact when a model changes.
    ModelChanged {
        /// The policy's.
        limit: u64,
        /// At the event.
        tokens: u64,
    },
    /// Below the limit, in a log that begins in the middle.
    BeginsInMiddle {
        /// The policy's.
        limit: u64,
        /// At the event.
        tokens: u64,
    },
    /// The policy's estimate was next to the limit: what it counts a little otherwise than the agent did decides.
    JustBelow {
        /// The policy's.
        limit: u64,
        /// At the event.
        tokens: u64,
        /// What the policy took the context for.
        estimate: u64,
    },
    /// Below the limit: a lower one may have been in force.
    LowerLimit {
        /// The policy's.
        limit: u64,
        /// The largest context before at which the session went on.
        went_on: u64,
        /// At the event.
        tokens: u64,
    },
    /// The provider refused a prompt that had grown above the policy's limit, without a compaction: none was in force.
    TurnedOff {
        /// The policy's.
        limit: u64,
    },
    /// A false alarm without a trace of another limit.
    NothingNoted,
}

/// A log that differs by more than this from its own usage contradicts itself, in percent.
const CONTRADICTION: u64 = 10;

/// An estimate that comes so near to the limit is no sign of another one, in thousandths of it.
const JUST_BELOW: u64 = 1;

/// What a judgement rests on.
pub(super) struct Case<'a> {
    pub trace: &'a Trace,
    pub main: &'a MainModel,
    pub plan: &'a Plan,
    /// The stretch that the event closes or lies in.
    pub segment: &'a Segment<'a>,
    /// What the policy did in that stretch.
    pub outcome: &'a Outcome,
    /// The window is not known, and the policy's summaries go by it.
    pub unknown_window: bool,
    pub kind: CompactionKind,
    /// The event in the log; `None` for a false alarm.
    pub row: Option<&'a CompactionRow>,
}

/// The verdict on a recorded event, and the reason where it is no hit. The first row that holds decides:
///
/// | Case | Verdict |
/// | --- | --- |
/// | a person asked for it | manual |
/// | an extension made it, or it took no message out of the context | untested |
/// | below the limit, the provider refused the prompt before it | untested |
/// | a compaction in a window that is not known, or at a size that the log does not show | untested |
/// | a prediction lies within the tolerance | hit |
/// | the policy has no rule of that kind, or looks at no call behind the event and predicts none | untested |
/// | below the limit, the models at work there can share no history | untested |
/// | a pruning | missed: another selection |
/// | another model's call stands before it, or such a call is what was predicted | untested |
/// | the call before the prediction has no recorded usage | untested |
/// | the policy has no limit | untested |
/// | not predicted earlier, the size reached the limit, and the log lacks what stood right before it | untested |
/// | the size in the log differs from that of its usage by more than a tenth | missed: a contradiction |
/// | predicted earlier | missed: an estimate too high, a change of model, a higher limit |
/// | the size reached the limit, and the policy and the log kept all since the compaction before | untested |
/// | the size reached the limit | missed: a result that is not in the log, something unseen |
/// | below it, the model changed | missed: a change of model |
/// | below it, the turn was over or broken off, and nothing says that it was automatic | probably manual |
/// | below it in all other cases | missed: reasoning that is not in the log, a beginning in the middle, a lower limit |
pub(super) fn judge(case: &Case<'_>, recorded: &Recorded, predicted: Option<&Predicted>, estimate: Option<u64>) -> (Verdict, Reason) {
    if recorded.automatic == Some(false) {
        return (Verdict::Manual, Reason::AskedFor);
    }
    if case.row.is_some_and(|row| row.by_extension) {
        return (Verdict::Untested, Reason::ByExtension);
    }
    if case.row.is_some_and(|row| cut_nothing(case.trace, row)) {
        return (Verdict::Untested, Reason::CutNothing);
    }
    let is_below = recorded.tokens.zip(limit(case.plan)).is_none_or(|(tokens, limit)| tokens < limit);
    let summarises = case.kind == CompactionKind::Compact;
    if is_below && summarises && case.row.is_some_and(|row| was_refused(case.trace, row)) {
        return (Verdict::Untested, Reason::Refusal);
    }
    if summarises && case.unknown_window {
        return (Verdict::Untested, Reason::UnknownWindow);
    }
    // A miss would say nothing there, so that a hit may not count either; nor does a false alarm.
    if summarises && recorded.tokens.is_none() {
        return (Verdict::Untested, Reason::NoUsage);
    }
    if predicted.is_some_and(|predicted| predicted.call.abs_diff(recorded.call) <= TOLERANCE) {
        return (Verdict::Hit, Reason::None);
    }
    if case.plan.rule.iter().all(|rule| !acts(rule, case.kind)) {
        return (Verdict::Untested, Reason::NoRule);
    }
    if predicted.is_none() && case.row.is_some_and(|row| !case.was_looked_at(row)) {
        return (Verdict::Untested, Reason::NoCallFollows);
    }
    if is_below && case.row.is_some_and(|row| row.incompatible == Some(true)) {
        return (Verdict::Untested, Reason::Incompatible);
    }
    let Some(row) = case.row.filter(|_| case.kind == CompactionKind::Compact) else { return (Verdict::Missed, Reason::OtherSelection) };
    let before = last_before(case.trace, row);
    if before.is_some_and(|call| !case.main.made(call)) || predicted.is_some_and(|event| case.is_of_another(event)) {
        return (Verdict::Untested, Reason::OtherModel);
    }
    if predicted.is_some_and(|event| case.recorded_at(event).is_none()) {
        return (Verdict::Untested, Reason::NoUsageThere);
    }
    let Some(limit) = limit(case.plan) else { return (Verdict::Untested, Reason::NoLimit) };
    let (Some(tokens), Some(used)) = (recorded.tokens, recorded_size(case.trace, row, case.plan)) else {
        return (Verdict::Untested, Reason::NoUsage);
    };
    if tokens >= limit && row.behind_gap && predicted.is_none_or(|predicted| predicted.call >= recorded.call) {
        return (Verdict::Untested, Reason::BehindGap);
    }
    if used.abs_diff(tokens) * 100 > tokens * CONTRADICTION {
        return (Verdict::Missed, Reason::Contradiction { said: tokens, used });
    }
    if let Some(early) = predicted.filter(|predicted| predicted.call < recorded.call) {
        let other = || {
            if case.model_changed(row) { Reason::ModelChanged { limit, tokens } } else { Reason::HigherLimit { limit, reached: tokens } }
        };
        return (Verdict::Missed, case.overestimated(early).unwrap_or_else(other));
    }
    // pi kept all that had come since then, and the policy found nothing to summarise either.
    let is_anew = compaction_before(case.trace, row).is_some_and(|earlier| row.kept_from == Some(earlier.before));
    if tokens >= limit && is_anew && estimate.is_some_and(|estimate| estimate >= limit) {
        return (Verdict::Untested, Reason::CutNothing);
    }
    if tokens >= limit {
        let reason = match case.lacks_result(row) {
            true => Reason::ResultNotInLog { limit, tokens, estimate },
            false => Reason::Unseen { limit, tokens, estimate },
        };
        return (Verdict::Missed, reason);
    }
    if case.model_changed(row) {
        return (Verdict::Missed, Reason::ModelChanged { limit, tokens });
    }
    if recorded.automatic.is_none() && (row.between_turns || case.turn_was_over(row)) {
        return (Verdict::ProbablyManual, Reason::TurnWasOver { limit, tokens });
    }
    let reasoning = case.reasoning_not_in_log(row.before);
    // Encrypted reasoning may be longer than what it says.
    if reasoning > 0 && tokens + 2 * reasoning > limit {
        return (Verdict::Missed, Reason::ReasoningNotInLog { limit, tokens, reasoning });
    }
    // What prompts sum up to is known there, what the agent counted beside them is not.
    if case.segment.trace.unseen.is_some() {
        return (Verdict::Missed, Reason::BeginsInMiddle { limit, tokens });
    }
    if let Some(estimate) = estimate.filter(|estimate| limit.abs_diff(*estimate) * 1_000 <= limit * JUST_BELOW) {
        return (Verdict::Missed, Reason::JustBelow { limit, tokens, estimate });
    }
    (Verdict::Missed, Reason::LowerLimit { limit, went_on: case.largest_before(row.before), tokens })
}

impl Case<'_> {
    /// What a prediction is that no event of the log goes with, and why there was none. `None` where the log cannot tell.
    pub fn of_false_alarm(&self, event: &Predicted) -> Option<(Verdict, Reason)> {
        if !self.may_be_false(event) {
            return None;
        }
        if let Some(limit) = self.turned_off(event) {
            return Some((Verdict::Untested, Reason::TurnedOff { limit }));
        }
        let reached = self.largest_before(u32::MAX);
        let reason = self.overestimated(event).unwrap_or(match event.limit {
            Some(limit) if reached > limit => Reason::HigherLimit { limit, reached },
            _ => Reason::NothingNoted,
        });
        Some((Verdict::FalseAlarm, reason))
    }

    /// Is the limit that this was held against one of the model at work, and does the log show a size to hold it against? What is pruned goes by no window.
    fn may_be_false(&self, event: &Predicted) -> bool {
        event.kind == CompactionKind::Prune || !self.unknown_window && !self.is_of_another(event) && self.recorded_at(event).is_some()
    }

    /// Was another model at work where this was predicted?
    fn is_of_another(&self, event: &Predicted) -> bool {
        [event.call, event.fired].into_iter().any(|call| self.call(call).is_some_and(|call| !self.main.made(call)))
    }

    /// The call of this number, from 1.
    fn call(&self, number: u64) -> Option<&CallRow> {
        self.trace.calls.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// The limit of a prediction at which the agent did not compact because it compacts at no size: prompts above it grew until the provider refused one,
    /// and nothing was compacted in between, nor for the refusal by the agent itself.
    fn turned_off(&self, event: &Predicted) -> Option<u64> {
        let (limit, fired) = event.limit.zip(self.call(event.fired)).filter(|_| event.kind == CompactionKind::Compact)?;
        let is_off = |place: &u32| {
            let next = self.trace.calls.partition_point(|call| call.message < *place);
            let compacts = |row: &CompactionRow| row.kind == CompactionKind::Compact && row.before > fired.message;
            let mut compactions = self.trace.compactions.iter().filter(|row| compacts(row));
            let follows = compactions.next().filter(|row| row.automatic != Some(false) || row.before <= *place);
            let last = next.checked_sub(1).and_then(|last| self.trace.calls.get(last)).filter(|call| self.main.made(call));
            let size = last.and_then(prompt_of).and_then(|_| size_before(self.trace, *place, fired.message, self.plan));
            size.is_some_and(|size| size >= limit) && follows.is_none_or(|row| self.trace.first_call_behind(row) > next)
        };
        self.trace.refusals.iter().filter(|place| **place > fired.message).any(is_off).then_some(limit)
    }

    /// What recorded usage says of the size at a predicted event; `None` where the call before has none, whatever earlier ones had.
    fn recorded_at(&self, event: &Predicted) -> Option<u64> {
        let call = usize::try_from(event.call).ok()?.checked_sub(1)?;
        prompt_of(self.trace.calls.get(call.checked_sub(1)?)?)?;
        let before = self.trace.calls.get(call).map_or(self.trace.messages.len() as u32, |call| call.message);
        size_before(self.trace, before, 0, self.plan)
    }

    /// The policy's estimate at its last look before this call, from 1.
    pub fn estimate(&self, call: u64) -> Option<u64> {
        let place = usize::try_from(call).ok()?.checked_sub(1 + self.segment.first_call)?;
        self.outcome.calls.get(place)?.belief.get()
    }

    /// Did the policy fire at a size that recorded usage puts below its limit?
    fn overestimated(&self, event: &Predicted) -> Option<Reason> {
        let (limit, used) = (event.limit?, self.recorded_at(event)?);
        (used < limit).then_some(Reason::Overestimated { limit, estimate: event.tokens, used })
    }

    /// Is the first call behind the event one of another model than the last one before it? Models that share a history count as one.
    fn model_changed(&self, row: &CompactionRow) -> bool {
        if let Some(incompatible) = row.incompatible {
            return incompatible;
        }
        let next = self.trace.calls.partition_point(|call| call.message < row.before);
        let model = |call: Option<usize>| self.trace.calls.get(call?)?.model.get();
        model(next.checked_sub(1)).zip(model(Some(next))).is_some_and(|(before, after)| before != after)
    }

    /// Does the last reply before the event call a tool that nothing answers in the log?
    fn lacks_result(&self, row: &CompactionRow) -> bool {
        let trace = self.trace;
        let Some(call) = last_before(trace, row) else { return false };
        let count = |message: u32, kind: PartKind| {
            let parts = trace.messages.get(message as usize).into_iter().flat_map(|row| trace.parts_of(row));
            parts.filter(|part| part.kind == kind).count()
        };
        let results: usize = (call.message + 1..row.before).map(|message| count(message, PartKind::ToolResult)).sum();
        results < count(call.message, PartKind::ToolCall)
    }

    /// Does the policy see what this call left? One that looks between turns alone sees the last call of each.
    fn sees(&self, call: &CallRow) -> bool {
        let mut rules = self.plan.rule.iter().filter(|rule| rule.summarise.is_some() && rule.at != Hook::Overflow);
        let mut behind = self.trace.messages.iter().skip(call.message as usize + 1).filter(|message| message.role != Role::Tool);
        rules.any(|rule| !matches!(rule.at, Hook::TurnStart | Hook::TurnEnd)) || behind.next().is_none_or(|next| next.opens_turn())
    }

    /// The largest context of the main model before a message, from the stretch's beginning, that the policy saw and the session went on from without an event.
    fn largest_before(&self, message: u32) -> u64 {
        let calls = self.trace.calls.iter().skip(self.segment.first_call).take(self.segment.trace.calls.len());
        let before = calls.take_while(|call| call.message < message);
        let (mut largest, mut last) = (0, 0);
        for (own, size) in before.filter_map(|call| Some((self.main.made(call) && self.sees(call), prompt_of(call)? + call.output))) {
            largest = largest.max(std::mem::replace(&mut last, if own { size } else { 0 }));
        }
        // The last one is the one that the event followed.
        if message == u32::MAX { largest.max(last) } else { largest }
    }

    /// Reasoning tokens of the stretch whose encrypted content was taken out of the log.
    fn reasoning_not_in_log(&self, message: u32) -> u64 {
        let calls = self.trace.calls.iter().skip(self.segment.first_call).take_while(|call| call.message < message);
        let reasoning: u64 = calls.filter_map(|call| call.usage.get()?.reasoning).sum();
        let sealed: u64 = self.segment.trace.parts.iter().map(|part| u64::from(part.sealed_bytes)).sum();
        if sealed < reasoning { reasoning } else { 0 }
    }

    /// Did the policy look at the context where this happened? It does so before each call; behind the last one only where a rule says so.
    fn was_looked_at(&self, row: &CompactionRow) -> bool {
        let behind_reply = |rule: &Rule| match rule.at {
            Hook::PostCall => true,
            Hook::TurnEnd => self.turn_was_over(row),
            _ => false,
        };
        self.trace.calls.last().is_some_and(|call| call.message >= row.before)
            || self.plan.rule.iter().any(|rule| acts(rule, self.kind) && behind_reply(rule))
    }

    /// Was nothing left to do for the agent: does the last reply before the event call no tool, and does a user message come next?
    fn turn_was_over(&self, row: &CompactionRow) -> bool {
        let trace = self.trace;
        let last = trace.calls.partition_point(|call| call.message < row.before).checked_sub(1).and_then(|last| trace.calls.get(last));
        let last = last.and_then(|call| trace.messages.get(call.message as usize));
        let calls_tool = last.is_some_and(|reply| trace.parts_of(reply).any(|part| part.kind == PartKind::ToolCall));
        let opens = trace.messages.get(row.before as usize).is_none_or(|next| next.opens_turn());
        !calls_tool && opens
    }
}

/// Do the rules of a policy that summarise differ between two plans of it?
pub(super) fn summarises_otherwise(plan: &Plan, other: &Plan) -> bool {
    let rules =
        |plan: &Plan| plan.rule.iter().filter(|rule| rule.summarise.is_some() && rule.at != Hook::Overflow).cloned().collect::<Vec<_>>();
    rules(plan) != rules(other)
}

/// Could this rule do what was recorded?
pub(super) fn acts(rule: &Rule, kind: CompactionKind) -> bool {
    match kind {
        CompactionKind::Compact => rule.summarise.is_some(),
        CompactionKind::Prune => rule.mask.is_some(),
    }
}

/// The sizes that the policy's summaries are triggered by, refusals left aside.
fn levels(plan: &Plan) -> impl Iterator<Item = &Level> {
    let rules = plan.rule.iter().filter(|rule| rule.summarise.is_some() && rule.at != Hook::Overflow);
    rules.filter_map(|rule| match &rule.when {
        Some(Trigger::Level(level)) => Some(level),
        _ => None,
    })
}

/// The lowest limit at which the policy summarises; `None` where it looks at no single size.
fn limit(plan: &Plan) -> Option<u64> {
    levels(plan).filter_map(Level::before_refusals).map(|limit| limit.max(0.0) as u64).min()
}

fn measure(plan: &Plan) -> Option<Measure> {
    levels(plan).map(|level| level.of.measure()).next()
}

/// The last call before a recorded event.
fn last_before<'a>(trace: &'a Trace, row: &CompactionRow) -> Option<&'a CallRow> {
    trace.calls.get(trace.first_call_behind(row).checked_sub(1)?)
}

/// Did the provider refuse a prompt between the last call before a recorded event and the event?
fn was_refused(trace: &Trace, row: &CompactionRow) -> bool {
    let last = last_before(trace, row).map(|call| call.message);
    trace.refusals.iter().any(|place| *place <= row.before && last.is_none_or(|last| *place > last))
}

/// Does a recorded compaction keep all that stood in the context, from the beginning or from what the one before it kept? Instructions stay in any case.
fn cut_nothing(trace: &Trace, row: &CompactionRow) -> bool {
    let begins = compaction_before(trace, row).map_or(0, |earlier| earlier.kept_from.unwrap_or(earlier.before));
    let gone = |kept: u32| trace.messages.iter().take(kept as usize).skip(begins as usize);
    row.kind == CompactionKind::Compact && row.kept_from.is_some_and(|kept| gone(kept).all(|message| message.role == Role::System))
}

/// The compaction before a recorded event.
fn compaction_before<'a>(trace: &'a Trace, row: &CompactionRow) -> Option<&'a CompactionRow> {
    let place = trace.compactions.partition_point(|other| std::ptr::from_ref(other) < std::ptr::from_ref(row));
    trace.compactions.iter().take(place).rev().find(|other| other.kind == CompactionKind::Compact)
}

/// What the policy's trigger saw at a recorded event, by recorded usage: the last call before it and, for a trigger that counts them, the
/// messages that had come since. `None` without such a call: usage from before another compaction says nothing of what that one left.
pub(super) fn recorded_size(trace: &Trace, row: &CompactionRow, plan: &Plan) -> Option<u64> {
    size_before(trace, row.before, compaction_before(trace, row).map_or(0, |earlier| earlier.before), plan)
}

/// The same before a message, of calls from another on.
fn size_before(trace: &Trace, before: u32, from: u32, plan: &Plan) -> Option<u64> {
    let place = |message| trace.calls.partition_point(|call| call.message < message);
    let calls = trace.calls.get(place(from)..place(before))?.iter().rev();
    let (call, prompt) = calls.filter_map(|call| Some((call, prompt_of(call)?))).next()?;
    let since = trace.messages.iter().take(before as usize).skip(call.message as usize + 1);
    let arrived: u64 = since.flat_map(|message| trace.parts_of(message)).map(|part| part.truth).sum();
    let output = plan.belief.reads_output(call.output, call.usage.get().map(|usage| usage.output));
    Some(match measure(plan) {
        Some(Measure::UsageIn) => prompt,
        Some(Measure::UsageTotal) | None => prompt + output,
        Some(_) => prompt + output + arrived,
    })
}
