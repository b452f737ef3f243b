//! What a policy did, or failed to do, at one moment of a session.

use crate::names::named;
use crate::policy::{Refusal, ReportedAs, Rule, Tally};
use serde::{Deserialize, Serialize};

named! {
    /// What a policy did, or what happened to a call.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum EventKind: name {
        /// An item was cut as it arrived, or by a rule.
        Truncate = "truncate",
        /// Old items were replaced by placeholders.
        Prune = "prune",
        /// Messages were replaced by a summary.
        Compact = "compact",
        /// Messages or items were removed, with no summary of them.
        Drop = "drop",
        /// Everything but a few messages was replaced.
        Reset = "reset",
        /// The policy put text in.
        Inject = "inject",
        /// The provider would have refused the call.
        Overflow = "overflow",
        /// The call was tried again after the fallback had run.
        Retry = "retry",
        /// The agent gave up instead of calling.
        GiveUp = "give_up",
        /// Nothing shrank any more, or the limit of tries was reached.
        Unrecoverable = "unrecoverable",
        /// A rule fired and changed nothing: there was nothing to do, or its summary was rejected.
        #[default]
        NoGain = "no_gain",
        /// A summary was paid for and thrown away, as the rule has it.
        Discard = "discard",
        /// The summariser's own request was larger than the window.
        SummariserOverflow = "summariser_overflow",
        /// The agent read a source again that the policy had taken from it.
        Refetch = "refetch",
    }
}

/// What a rule's work is reported as: the rule may name it.
pub(super) fn reported_as(rule: &Rule, usual: EventKind) -> EventKind {
    match rule.event {
        Some(ReportedAs::Reset) => EventKind::Reset,
        Some(ReportedAs::Prune) => EventKind::Prune,
        Some(ReportedAs::Drop) => EventKind::Drop,
        Some(ReportedAs::Compact) => EventKind::Compact,
        None => usual,
    }
}

named! {
    /// Why a context overflowed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Cause: name {
        /// What arrived after the policy's last check did it.
        BlindSpot = "blind spot",
        /// The policy saw everything and took it for smaller than it was.
        Drift = "estimator drift",
        /// The summariser's own request did not fit.
        Summariser = "summariser's own request",
        /// The policy's limit stands so near the window, or above it, that it was never reached.
        Reserve = "reserve too small",
        /// The policy fired and had nothing left to shrink.
        NothingLeft = "nothing left to shrink",
        /// The policy has no rule that looks at a size.
        NoTrigger = "no rule that shrinks by size",
    }
}

named! {
    /// How long a change lasts.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Lasts: name {
        /// To the end of the session. So do things that change nothing.
        #[default]
        Session = "session",
        /// To the end of the turn: then what was taken out comes back.
        Turn = "turn",
        /// For one request: then what was taken out comes back.
        Request = "request",
    }
}

/// One thing that a policy did, or failed to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// At which call, from 0.
    pub call: u32,
    /// What was done, or what happened.
    pub kind: EventKind,
    /// The rule that did it; empty for overflows.
    pub rule: String,
    /// The policy's estimate at that moment, where the rule looked at a size.
    pub belief: Option<u64>,
    /// The limit that it was held against, rounded down; `None` where the rule fired because of a count.
    pub limit: Option<u64>,
    /// The count that made the rule fire; `None` where a size did, or nothing was counted.
    pub count: Option<Tally>,
    /// Actual context before the event, in tokens.
    pub before: u64,
    /// Actual context after the event, in tokens.
    pub after: u64,
    /// How many items or messages the event touched.
    pub touched: u32,
    /// How long the change lasts.
    pub lasts: Lasts,
    /// For overflows: why the policy did not prevent it; `None` for all other events.
    pub cause: Option<Cause>,
    /// For overflows: the tool whose result was the largest of what had arrived since the call before.
    pub tool: Option<String>,
}

named! {
    /// What users should be told about a policy on a session.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Warning: sentence {
        /// Compactions at consecutive calls, or with a single call between them.
        RepeatedCompaction = "compacts again at the next call or the one after",
        /// The context swings about the threshold: several compactions within ten calls.
        Oscillation = "oscillates at its threshold: three or more compactions within ten calls",
        /// A compaction that freed less than 5 % of the context.
        NoGain = "compactions or prunings that free less than 5 % of the context",
        /// The fallback ran again and again without the call going through.
        Loop = "its fallback ran to the limit of tries without the call going through",
        /// No limit on the context lies below the window, and no rule acts without one: none but those that cut what arrives can fire.
        NeverFires = "acts on its context after a refusal alone: all its limits lie above the largest prompt that the provider takes",
        /// The policy's program could not be started.
        ProgramNotStarted = "fails because its program could not be started",
        /// The policy's program ended before the session did.
        ProgramEnded = "fails because its program ended before the session did",
        /// The policy's program gave no answer in time.
        ProgramSilent = "fails because its program gave no answer in time",
        /// The policy's program said something that is no answer.
        ProgramGarbled = "fails because its program said something that is no answer",
        /// The policy's program asked for an edit that is not possible.
        ProgramWrong = "fails because its program asked for an edit that is not possible",
    }
}

impl From<Refusal> for Warning {
    fn from(refusal: Refusal) -> Warning {
        match refusal {
            Refusal::NotStarted => Warning::ProgramNotStarted,
            Refusal::Ended => Warning::ProgramEnded,
            Refusal::Silent => Warning::ProgramSilent,
            Refusal::Garbled => Warning::ProgramGarbled,
            Refusal::Wrong => Warning::ProgramWrong,
        }
    }
}
