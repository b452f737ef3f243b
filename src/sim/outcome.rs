//! What one policy did on one session: a row for each call, the events, and totals that merge exactly.

use super::drift::Drift;
use super::end::{AfterEnd, Behind};
use super::references::{Broken, Retention};
use super::refetch::{Refetch, Refetches};
use crate::context::Region;
use crate::policy::Tally;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What happened at one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOutcome {
    /// A(k): actual size of the simulated context at the first try.
    pub attempted: u64,
    /// A(k) as the call was made: smaller than `attempted` where the provider refused and the fallback shrank the context.
    pub actual: u64,
    /// The part of it that rests on recorded usage.
    pub anchored: u64,
    /// B(k): what the policy believed at its last look before the call; `None` where it looked at no size.
    pub belief: Option<u64>,
    /// The policy has changed the context's size since that look: the belief is about what it was before.
    pub rewritten: bool,
    /// What the policy's estimator makes of the request, whether the policy looks at it or not.
    pub estimated: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// The recorded prompt, where there is one.
    pub recorded: Option<u64>,
    /// Tokens at the head of the prompt that stood the same in the prompt of the call before, up to the first message that differs;
    /// 0 at the first call.
    pub prefix: u64,
    /// Items in the prompt: what a provider counts as blocks.
    pub blocks: u32,
    /// Tries that the provider would have refused.
    pub refused: u32,
    /// Their prompts, summed.
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
    /// Tokens that it read.
    pub prompt: u64,
    /// Tokens at the head of them that stood the same in the prompt of the last call: 0 where it reads a text of its own.
    pub prefix: u64,
    /// Tokens that it wrote.
    pub output: u64,
    /// How many requests they are the sum of.
    pub calls: u64,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// An item was cut as it arrived, or by a rule.
    Truncate,
    /// Old items were replaced by placeholders.
    Prune,
    /// Messages were replaced by a summary.
    Compact,
    /// Messages were removed.
    Drop,
    /// Everything but a few messages was replaced.
    Reset,
    /// The policy put text in.
    Inject,
    /// The provider would have refused the call.
    Overflow,
    /// The call was tried again after the fallback had run.
    Retry,
    /// Nothing shrank any more, or the limit of tries was reached.
    Unrecoverable,
    /// A rule fired and could not change anything.
    NoGain,
    /// The summariser's own request was larger than the window.
    SummariserOverflow,
    /// The agent read a source again that the policy had taken from it.
    Refetch,
}

impl EventKind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Truncate => "truncate",
            EventKind::Prune => "prune",
            EventKind::Compact => "compact",
            EventKind::Drop => "drop",
            EventKind::Reset => "reset",
            EventKind::Inject => "inject",
            EventKind::Overflow => "overflow",
            EventKind::Retry => "retry",
            EventKind::Unrecoverable => "unrecoverable",
            EventKind::NoGain => "no_gain",
            EventKind::SummariserOverflow => "summariser_overflow",
            EventKind::Refetch => "refetch",
        }
    }
}

/// Why a context overflowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// What arrived after the policy's last check did it.
    BlindSpot,
    /// The policy saw everything and took it for smaller than it was.
    Drift,
    /// The summariser's own request did not fit.
    Summariser,
    /// The policy's limit stands so near the window, or above it, that it was never reached.
    Reserve,
    /// The policy fired and had nothing left to shrink.
    NothingLeft,
    /// The policy has no rule that looks at a size.
    NoTrigger,
}

impl Cause {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Cause::BlindSpot => "blind spot",
            Cause::Drift => "estimator drift",
            Cause::Summariser => "summariser's own request",
            Cause::Reserve => "reserve too small",
            Cause::NothingLeft => "nothing left to shrink",
            Cause::NoTrigger => "no rule that shrinks by size",
        }
    }
}

/// How long a change lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasts {
    /// To the end of the session. So do things that change nothing.
    #[default]
    Session,
    /// To the end of the turn: then what was taken out comes back.
    Turn,
    /// For one request: then what was taken out comes back.
    Request,
}

impl Lasts {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Lasts::Session => "session",
            Lasts::Turn => "turn",
            Lasts::Request => "request",
        }
    }
}

/// One thing that a policy did, or failed to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// At which call, from 0.
    pub call: u32,
    /// What.
    pub kind: EventKind,
    /// The rule that did it; empty for overflows.
    pub rule: String,
    /// Belief at that moment, where the rule looked at a size.
    pub belief: Option<u64>,
    /// The limit that it was held against, rounded down; `None` where the rule fired because of a count.
    pub limit: Option<u64>,
    /// The count that made the rule fire; `None` where a size did, or nothing was counted.
    pub count: Option<Tally>,
    /// Actual context before.
    pub before: u64,
    /// Actual context after.
    pub after: u64,
    /// Items or messages that it touched.
    pub touched: u32,
    /// How long it lasts.
    pub lasts: Lasts,
    /// For overflows: why.
    pub cause: Option<Cause>,
    /// For overflows: the tool whose result was the largest of what had arrived since the call before.
    pub tool: Option<String>,
}

/// What users should be told about a policy on a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Warning {
    /// Compactions at consecutive calls, or with a single call between them.
    RepeatedCompaction,
    /// The context swings about the threshold: several compactions within ten calls.
    Oscillation,
    /// A compaction that freed less than a twentieth of the context.
    NoGain,
    /// The fallback ran again and again without the call going through.
    Loop,
    /// No limit of the policy lies below the window: it can never fire.
    NeverFires,
}

impl Warning {
    /// One sentence for reports.
    pub fn sentence(self) -> &'static str {
        match self {
            Warning::RepeatedCompaction => "compacts again at the next call or the one after",
            Warning::Oscillation => "oscillates at its threshold: three or more compactions within ten calls",
            Warning::NoGain => "compactions or prunings that free less than 5 % of the context",
            Warning::Loop => "its fallback ran to the limit of tries without the call going through",
            Warning::NeverFires => "can fire on a refusal alone: none of its limits lies below the largest prompt that the provider takes",
        }
    }
}

/// What one tool's results cost over a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Results that arrived.
    pub results: u64,
    /// Their tokens, counted once.
    pub tokens: u64,
    /// Their tokens times the calls that carried them.
    pub carried: u64,
    /// Overflows at which this tool's result was the largest arrival.
    pub overflows: u64,
}

impl AddAssign for Carried {
    fn add_assign(&mut self, other: Carried) {
        self.results += other.results;
        self.tokens += other.tokens;
        self.carried += other.carried;
        self.overflows += other.overflows;
    }
}

/// Sums over calls and events. Merging is exact and does not depend on the order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Sessions.
    pub sessions: u64,
    /// Calls that the provider answered. One at which the session fails is not among them, nor is anything behind it.
    pub calls: u64,
    /// Calls whose prompt was larger than the window at the first try: the provider would have refused them. A failed call is among them.
    pub overflows: u64,
    /// Overflows that the policy's fallback mended.
    pub recovered: u64,
    /// Sessions with at least one of them.
    pub overflowing_sessions: u64,
    /// Calls whose reply would have been cut.
    pub reply_cut: u64,
    /// Calls above window less reserve, a failed one included.
    pub over_budget: u64,
    /// Refused calls at which the policy had believed that all was well.
    pub missed: u64,
    /// Compactions and prunings although the context was still below the limit by more than the safety buffer.
    pub early: u64,
    /// Tries that were refused.
    pub refused: u64,
    /// Sessions that end in a refusal that nothing mends.
    pub failed_sessions: u64,
    /// What follows in the logs of those sessions. No part of any other sum.
    pub after_end: AfterEnd,
    /// Events by kind.
    pub events: BTreeMap<EventKind, u64>,
    /// Overflows by cause.
    pub causes: BTreeMap<Cause, u64>,
    /// Sessions with a warning.
    pub warnings: BTreeMap<Warning, u64>,
    /// Largest A(k), refused tries included.
    pub peak_tokens: u64,
    /// Sum of A(k).
    pub prompt_tokens: u64,
    /// The part of `prompt_tokens` that rests on recorded usage.
    pub anchored_tokens: u64,
    /// Sum of A(k) under no policy, over the calls that count for this one.
    pub baseline_tokens: u64,
    /// Sessions that both the recording and the policy bring to their end: savings are over these alone.
    pub compared_sessions: u64,
    /// Their prompt tokens under the policy, the summariser's requests left out.
    pub compared_tokens: u64,
    /// Their prompt tokens as they were recorded.
    pub recorded_tokens: u64,
    /// Sum of the replies.
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
    /// By tool.
    pub tools: BTreeMap<String, Carried>,
    /// The policy's estimator over whole requests, beside their actual size.
    pub estimates: Drift,
    /// What the policy believed at its last look before a call, beside the actual size of the call's prompt.
    pub beliefs: Drift,
    /// What was still there of what later messages took up again.
    pub retention: Retention,
    /// What the agent read again; all of it is part of the other sums. Nothing in an open loop.
    pub refetches: Refetches,
}

impl Totals {
    /// Counts an event.
    pub fn count(&mut self, kind: EventKind) {
        *self.events.entry(kind).or_default() += 1;
    }

    /// These totals without the ratios of guesses, without tools and regions, and without what is behind the end of failed sessions: what
    /// settings that fly together come to.
    pub fn sums(&self) -> Totals {
        let (estimates, beliefs) = (self.estimates.sums(), self.beliefs.sums());
        Totals { estimates, beliefs, tools: BTreeMap::new(), regions: [0; 9], after_end: AfterEnd::default(), ..self.clone() }
    }

    /// How often an event happened.
    pub fn events_of(&self, kind: EventKind) -> u64 {
        self.events.get(&kind).copied().unwrap_or(0)
    }

    /// Prompt tokens saved against the recording, over the sessions that both bring to their end; negative where the policy sends more. The
    /// summariser's requests are on neither side.
    pub fn tokens_saved(&self) -> i64 {
        i64::try_from(self.recorded_tokens).unwrap_or(i64::MAX) - i64::try_from(self.compared_tokens).unwrap_or(i64::MAX)
    }

    /// Prompt tokens saved against no policy; negative where the policy added some.
    pub fn saved_vs_none(&self) -> i64 {
        i64::try_from(self.baseline_tokens).unwrap_or(i64::MAX) - i64::try_from(self.prompt_tokens).unwrap_or(i64::MAX)
    }

    /// Can the policy be compared with the recording? Not where it brings fewer than half of the sessions to their end.
    pub fn is_comparable(&self) -> bool {
        self.compared_sessions > 0 && self.failed_sessions * 2 <= self.sessions
    }

    /// Tokens by region, hidden overhead first. They add up to `prompt_tokens`.
    pub fn by_region(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let visible = Region::ALL.iter().zip(self.regions).map(|(region, tokens)| (region.name(), tokens));
        let hidden = self.prompt_tokens.saturating_sub(self.regions.iter().sum());
        std::iter::once(("hidden", hidden)).chain(visible)
    }

    /// Overflows before which no result of a tool that the log names had arrived: those that no row of `tools` counts.
    pub fn overflows_of_no_tool(&self) -> u64 {
        self.overflows.saturating_sub(self.tools.values().map(|tool| tool.overflows).sum())
    }
}

impl AddAssign<&Totals> for Totals {
    fn add_assign(&mut self, other: &Totals) {
        self.sessions += other.sessions;
        self.calls += other.calls;
        self.overflows += other.overflows;
        self.recovered += other.recovered;
        self.overflowing_sessions += other.overflowing_sessions;
        self.reply_cut += other.reply_cut;
        self.over_budget += other.over_budget;
        self.missed += other.missed;
        self.early += other.early;
        self.refused += other.refused;
        self.failed_sessions += other.failed_sessions;
        self.after_end += other.after_end;
        merge(&mut self.events, &other.events);
        merge(&mut self.causes, &other.causes);
        merge(&mut self.warnings, &other.warnings);
        self.peak_tokens = self.peak_tokens.max(other.peak_tokens);
        self.prompt_tokens += other.prompt_tokens;
        self.anchored_tokens += other.anchored_tokens;
        self.baseline_tokens += other.baseline_tokens;
        self.compared_sessions += other.compared_sessions;
        self.compared_tokens += other.compared_tokens;
        self.recorded_tokens += other.recorded_tokens;
        self.output_tokens += other.output_tokens;
        self.summariser_tokens += other.summariser_tokens;
        self.summariser_calls += other.summariser_calls;
        self.injected_tokens += other.injected_tokens;
        self.hidden_tokens += other.hidden_tokens;
        self.missing_tokens += other.missing_tokens;
        self.regions.iter_mut().zip(other.regions).for_each(|(mine, theirs)| *mine += theirs);
        self.estimates += &other.estimates;
        self.beliefs += &other.beliefs;
        self.retention += &other.retention;
        self.refetches += &other.refetches;
        for (tool, carried) in &other.tools {
            *self.tools.entry(tool.clone()).or_default() += *carried;
        }
    }
}

fn merge<K: Ord + Copy>(mine: &mut BTreeMap<K, u64>, theirs: &BTreeMap<K, u64>) {
    for (key, count) in theirs {
        *mine.entry(*key).or_default() += count;
    }
}

/// What one policy did on one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The policy.
    pub policy: String,
    /// The model's total window: prompt and reply together.
    pub window: u64,
    /// The largest prompt that the provider accepts: overflows are judged by it. The window, or the model's own limit on prompts below it.
    pub prompt_limit: u64,
    /// A row for each call up to the end of the session. Where the policy fails it, the last row is that of the failed call: nothing was
    /// answered there, and no sum but those of refusals counts it.
    pub calls: Vec<CallOutcome>,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// The heaviest broken references: lines before identifiers, then by how many.
    pub broken: Vec<Broken>,
    /// The summariser's own requests, in order.
    pub summaries: Vec<SummaryCall>,
    /// Sources that the agent read again, in order; each is one more request before the recorded call. Empty in an open loop.
    pub refetches: Vec<Refetch>,
    /// What the log holds behind the end of a failed session.
    pub behind: Behind,
    /// Sums.
    pub totals: Totals,
}

impl Outcome {
    /// All requests: the recorded calls, a failed one included, then those that read something again.
    pub fn requests(&self) -> impl Iterator<Item = &CallOutcome> {
        self.calls.iter().chain(self.refetches.iter().map(|refetch| &refetch.request))
    }
}
