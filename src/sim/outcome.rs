//! What one policy did on one session: a row for each call, the events, and totals that merge exactly.

use super::event::Event;
use super::retention::{Broken, Category};
use super::totals::Totals;
use crate::list::{Pack, Rows};
use crate::trace::WholePrompt;
use crate::units::Known;
use serde::{Deserialize, Serialize};

/// What happened at one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOutcome {
    /// A(k): actual size of the simulated context at the first try.
    pub attempted: u64,
    /// A(k) as the call was made: smaller than `attempted` where the provider refused and the fallback shrank the context.
    pub actual: u64,
    /// The part of it that rests on recorded usage.
    pub anchored: u64,
    /// B(k): the policy's estimate at its last look before the call; absent where it looked at no size.
    pub belief: Known,
    /// The policy has changed the context's size since that look: the estimate is of what it was before.
    pub rewritten: bool,
    /// What the policy's estimator makes of the request, whether the policy looks at it or not.
    pub estimated: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// The recorded prompt, where there is one.
    pub recorded: Known,
    /// Tokens at the head of the prompt that stood the same in the prompt of the call before, up to the first message that differs;
    /// 0 at the first call.
    pub prefix: u64,
    /// Items in the prompt: what a provider counts as blocks.
    pub blocks: u32,
    /// Tries that the provider would have refused.
    pub refused: u32,
    /// Tokens of the refused prompts, summed.
    pub refused_tokens: u64,
    /// Refused to the end: nothing helped.
    pub unrecovered: bool,
    /// The reply would have been cut.
    pub reply_cut: bool,
    /// Above the window less the output reserve.
    pub over_budget: bool,
}

/// The summariser's own request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryCall {
    /// Before which call it was made, from 0.
    pub call: u32,
    /// Tokens that the summariser read.
    pub prompt: u64,
    /// Tokens at the head of them that stood the same in the prompt of the last call: 0 where it reads a text of its own.
    pub prefix: u64,
    /// Tokens that the summariser wrote.
    pub output: u64,
    /// How many requests they are the sum of.
    pub calls: u64,
    /// Seconds since the last reply, of a rule that acts in a pause; 0 for all others.
    pub waited_seconds: u32,
    /// Was it made behind the last reply of the log, where no call shows that the program still ran?
    pub at_end: bool,
}

/// One source that was read again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refetch {
    /// Before which recorded call, from 0.
    pub call: u32,
    /// The message that held it first, from 0.
    pub source: u32,
    /// What kind of text the source is.
    pub category: Category,
    /// The tool, for calls and results.
    pub tool: Option<String>,
    /// How often it had been read again before, in this session.
    pub before: u32,
    /// Tokens that came back.
    pub result_tokens: u64,
    /// The request that read the source again.
    pub request: CallOutcome,
}

/// The requests of a replay behind the call at which its session fails. Empty where it reaches its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Behind {
    /// A row for each call behind the failed one.
    pub calls: Vec<CallOutcome>,
    /// The summariser's own requests.
    pub summaries: Vec<SummaryCall>,
    /// Sources that the agent read again at those calls.
    pub refetches: Vec<Refetch>,
}

/// What one policy did on one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The name of the policy.
    pub policy: String,
    /// The model's total window: prompt and reply together.
    pub window: u64,
    /// The largest prompt that the provider accepts: overflows are judged by it. The window, or the model's own limit on prompts below it.
    pub prompt_limit: u64,
    /// A row for each call up to the end of the session. Where the policy fails it, the last row is that of the failed call: nothing was
    /// answered there, and no sum but those of refusals counts it.
    pub calls: Rows<CallOutcome>,
    /// What the policy did, or failed to do, in order.
    pub events: Vec<Event>,
    /// The heaviest broken references: lines before identifiers, then by how many.
    pub broken: Vec<Broken>,
    /// The summariser's own requests, in order.
    pub summaries: Vec<SummaryCall>,
    /// Sources that the agent read again, in order; each is one more request before the recorded call. Empty in an open loop.
    pub refetches: Vec<Refetch>,
    /// What the log holds behind the end of a failed session.
    pub behind: Behind,
    /// Sums over the calls and events of the session, up to its end.
    pub totals: Totals,
}

impl Outcome {
    /// Calls that the provider would have refused, from this one on.
    pub fn overflows_from(&self, call: u32) -> u64 {
        self.calls.iter().skip(call as usize).filter(|call| call.refused > 0).count() as u64
    }

    /// All requests: the recorded calls, a failed one included, then those that read something again.
    pub fn requests(&self) -> impl Iterator<Item = &CallOutcome> {
        self.calls.iter().chain(self.refetches.iter().map(|refetch| &refetch.request))
    }

    /// The prompts of the calls, where the policy is none.
    pub fn whole_prompts(&self) -> impl Iterator<Item = WholePrompt> {
        self.calls.iter().map(|row| WholePrompt { tokens: row.actual, prefix: row.prefix, blocks: row.blocks })
    }

    /// The call at which the policy fails the session, from 0: it has the last row of `calls`. `None` where the session reaches its end.
    pub fn ended_at(&self) -> Option<usize> {
        self.calls.last().filter(|row| row.unrecovered).map(|_| self.calls.len() - 1)
    }

    /// The calls that the provider answered: all rows but that of a failed call.
    pub fn answered(&self) -> &[CallOutcome] {
        self.calls.get(..self.ended_at().unwrap_or(self.calls.len())).unwrap_or_default()
    }
}

impl Pack for Outcome {}
