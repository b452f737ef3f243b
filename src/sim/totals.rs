//! Sums over the calls and events of sessions. Merging is exact and does not depend on the order.

use super::drift::Drift;
use super::event::{Cause, EventKind, Warning};
use super::retention::Retention;
use super::sums::merge;
use crate::context::Region;
use crate::list::Arrange;
use crate::units::{add_fields, adds, signed};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What one tool's results cost over a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Results of the tool that arrived.
    pub results: u64,
    /// Tokens of those results, counted once.
    pub tokens: u64,
    /// Tokens of those results times the calls that carried them.
    pub carried: u64,
    /// Overflows at which this tool's result was the largest arrival.
    pub overflows: u64,
}

adds!(Carried += Carried: results, tokens, carried, overflows);

/// What was read again, summed. Merging is exact. All of it is part of the other sums of a closed loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refetches {
    /// Requests that read a source again.
    pub calls: u64,
    /// Tokens of those requests' prompts.
    pub prompt_tokens: u64,
    /// Tokens of those requests' replies: the calls of tools.
    pub output_tokens: u64,
    /// Tokens of the results that came back.
    pub result_tokens: u64,
    /// Sources that were read again at least once.
    pub sources: u64,
    /// Sources that were read again more than once: the policy took them away again.
    pub sources_again: u64,
    /// References to lines that were broken all the same: what was read again was gone once more when the call went out.
    pub in_vain: u64,
    /// References to lines that no tool brings back: the user's words, the model's own, instructions.
    pub beyond_reach: u64,
    /// References to lines that were summarised, and not read again.
    pub at_risk: u64,
    /// References to lines that were not read again because the most for a call or a session was reached, or the call was refused.
    pub passed_over: u64,
}

adds!(Refetches += &Refetches:
    calls, prompt_tokens, output_tokens, result_tokens, sources, sources_again, in_vain, beyond_reach, at_risk, passed_over);

/// What a replay comes to behind the call at which its session fails, summed. No other figure holds any of it. The failed call itself is
/// not among these calls either.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AfterEnd {
    /// Calls that the log holds behind the failed one.
    pub calls: u64,
    /// Tokens of those calls' prompts.
    pub prompt_tokens: u64,
    /// Tokens of those calls' replies.
    pub output_tokens: u64,
    /// Those whose prompt is larger than the provider accepts.
    pub overflows: u64,
    /// Compactions and resets that the policy makes at those calls.
    pub compactions: u64,
    /// Prunings that the policy makes at those calls.
    pub prunes: u64,
}

impl AfterEnd {
    /// These figures of a run as far as it has gone.
    pub(super) fn of(totals: &Totals) -> AfterEnd {
        AfterEnd {
            calls: totals.calls,
            prompt_tokens: totals.prompt_tokens,
            output_tokens: totals.output_tokens,
            overflows: totals.overflows,
            compactions: totals.events_of(EventKind::Compact) + totals.events_of(EventKind::Reset),
            prunes: totals.events_of(EventKind::Prune),
        }
    }

    /// What has been added to these figures since `before`.
    pub(super) fn since(self, before: AfterEnd) -> AfterEnd {
        AfterEnd {
            calls: self.calls - before.calls,
            prompt_tokens: self.prompt_tokens - before.prompt_tokens,
            output_tokens: self.output_tokens - before.output_tokens,
            overflows: self.overflows - before.overflows,
            compactions: self.compactions - before.compactions,
            prunes: self.prunes - before.prunes,
        }
    }
}

adds!(AfterEnd += AfterEnd: calls, prompt_tokens, output_tokens, overflows, compactions, prunes);

/// Sums over calls and events. Merging is exact and does not depend on the order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Sessions that are summed up here.
    pub sessions: u64,
    /// The part of them in which a model was called: of others there is nothing to fail, or to compare.
    pub called_sessions: u64,
    /// Calls that the provider answered. One at which the session fails is not among them, nor is anything behind it.
    pub calls: u64,
    /// Calls whose prompt was larger than the window at the first try: the provider would have refused them. A failed call is among them.
    pub overflows: u64,
    /// Overflows after which the policy's fallback brought the call through.
    pub recovered: u64,
    /// Sessions with at least one of them.
    pub overflowing_sessions: u64,
    /// Calls whose reply would have been cut.
    pub reply_cut: u64,
    /// Calls above window less reserve, a failed one included.
    pub over_budget: u64,
    /// Refused calls at which the policy's estimate was within its limit.
    pub missed: u64,
    /// Compactions and prunings although the context was still below the limit by more than the safety buffer.
    pub early: u64,
    /// Tries that were refused.
    pub refused: u64,
    /// Sessions that end at a refused call.
    pub failed_sessions: u64,
    /// What follows in the logs of those sessions. No part of any other sum.
    pub after_end: AfterEnd,
    /// Compactions and resets that free less than 5 % of the context, and rules for compacting that fire without effect.
    #[serde(default)]
    pub compactions_without_gain: u64,
    /// Events, counted by kind.
    pub events: BTreeMap<EventKind, u64>,
    /// Overflows, counted by what the policy did not see or could not do.
    pub causes: BTreeMap<Cause, u64>,
    /// Sessions with each warning.
    pub warnings: BTreeMap<Warning, u64>,
    /// Largest A(k), refused tries included.
    pub peak_tokens: u64,
    /// Sum of A(k), the actual prompts, in tokens.
    pub prompt_tokens: u64,
    /// The part of `prompt_tokens` that rests on recorded usage.
    pub anchored_tokens: u64,
    /// Sum of A(k) under no policy, over the calls that count for this one.
    pub baseline_tokens: u64,
    /// Sessions with a call that both the recording and the policy bring to their end: savings are over these alone.
    pub compared_sessions: u64,
    /// Their prompt tokens under the policy, the summariser's requests left out.
    pub compared_tokens: u64,
    /// Their prompt tokens as they were recorded.
    pub recorded_tokens: u64,
    /// Sum of the replies, in tokens.
    pub output_tokens: u64,
    /// Prompts and outputs of the summariser's own calls.
    pub summariser_tokens: u64,
    /// The summariser's own calls.
    pub summariser_calls: u64,
    /// Tokens that the policy put in: summaries, markers, status messages.
    pub injected_tokens: u64,
    /// Hidden overhead, summed over calls.
    pub hidden_tokens: u64,
    /// Tokens that recorded prompts lacked for reasons that the logs do not tell, summed over calls.
    pub missing_tokens: u64,
    /// Visible content by region, summed over calls, in the order of [`Region::ALL`]. What a prompt lacked (`missing_tokens`) is taken off
    /// in proportion.
    pub regions: [u64; 9],
    /// What the results of each tool cost, by the tool's name.
    pub tools: BTreeMap<String, Carried>,
    /// The policy's estimator over whole requests, beside their actual size.
    pub estimates: Drift,
    /// The policy's estimate at its last look before a call, beside the actual size of the call's prompt.
    pub beliefs: Drift,
    /// What was still there of what later messages repeat.
    pub retention: Retention,
    /// What the agent read again; all of it is part of the other sums. Nothing in an open loop.
    pub refetches: Refetches,
}

impl Totals {
    /// Counts one event of this kind.
    pub fn count(&mut self, kind: EventKind) {
        *self.events.entry(kind).or_default() += 1;
    }

    /// These totals without the ratios of estimates, without tools and regions, and without what is behind the end of failed sessions: what
    /// settings that share a run come to.
    pub fn sums(&self) -> Totals {
        let (estimates, beliefs) = (self.estimates.sums(), self.beliefs.sums());
        Totals { estimates, beliefs, tools: BTreeMap::new(), regions: [0; 9], after_end: AfterEnd::default(), ..self.clone() }
    }

    /// How many events there were of this kind.
    pub fn events_of(&self, kind: EventKind) -> u64 {
        self.events.get(&kind).copied().unwrap_or(0)
    }

    /// Prompt tokens saved against the recording, over the sessions that both bring to their end; negative where the policy sends more. The
    /// summariser's requests are on neither side.
    pub fn tokens_saved(&self) -> i64 {
        signed(self.recorded_tokens) - signed(self.compared_tokens)
    }

    /// Prompt tokens saved against no policy; negative where the policy added some.
    pub fn saved_vs_none(&self) -> i64 {
        signed(self.baseline_tokens) - signed(self.prompt_tokens)
    }

    /// Can the policy be compared with the recording? Not where it brings fewer than half of the sessions to their end.
    pub fn is_comparable(&self) -> bool {
        self.compared_sessions > 0 && self.failed_sessions * 2 <= self.called_sessions
    }

    /// Tokens by region, hidden overhead first. They add up to `prompt_tokens`.
    pub fn by_region(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let visible = Region::ALL.iter().zip(self.regions).map(|(region, tokens)| (region.name(), tokens));
        let hidden = self.prompt_tokens.saturating_sub(self.regions.iter().sum());
        std::iter::once(("hidden", hidden)).chain(visible)
    }

    /// Tools by the tokens carried for them, then by name.
    pub fn ranked_tools(&self) -> Vec<(&String, &Carried)> {
        let mut tools: Vec<_> = self.tools.iter().collect();
        tools.arrange_by_key(|(name, carried)| (Reverse(carried.carried), *name));
        tools
    }

    /// Overflows before which no result of a tool that the log names had arrived: those that no row of `tools` counts.
    pub fn overflows_of_no_tool(&self) -> u64 {
        self.overflows.saturating_sub(self.tools.values().map(|tool| tool.overflows).sum())
    }
}

impl AddAssign<&Totals> for Totals {
    fn add_assign(&mut self, other: &Totals) {
        add_fields!(self += other: sessions, called_sessions, calls, overflows, recovered, overflowing_sessions, reply_cut,
            over_budget, missed, early, refused, failed_sessions, after_end, prompt_tokens, anchored_tokens,
            baseline_tokens, compared_sessions, compared_tokens, recorded_tokens, output_tokens, summariser_tokens,
            summariser_calls, compactions_without_gain, injected_tokens, hidden_tokens, missing_tokens);
        merge(&mut self.events, &other.events);
        merge(&mut self.causes, &other.causes);
        merge(&mut self.warnings, &other.warnings);
        self.peak_tokens = self.peak_tokens.max(other.peak_tokens);
        self.regions.iter_mut().zip(other.regions).for_each(|(mine, theirs)| *mine += theirs);
        self.estimates += &other.estimates;
        self.beliefs += &other.beliefs;
        self.retention += &other.retention;
        self.refetches += &other.refetches;
        merge(&mut self.tools, &other.tools);
    }
}
