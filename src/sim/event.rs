//! What a policy did, or failed to do, at one moment of a session.

use crate::policy::{Refusal, ReportedAs, Rule, Tally};
use serde::{Deserialize, Serialize};

/// Kinds of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// The agent gave up instead of calling.
    GiveUp,
    /// Nothing shrank any more, or the limit of tries was reached.
    Unrecoverable,
    /// A rule fired and could not change anything.
    #[default]
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
            EventKind::GiveUp => "give_up",
            EventKind::Unrecoverable => "unrecoverable",
            EventKind::NoGain => "no_gain",
            EventKind::SummariserOverflow => "summariser_overflow",
            EventKind::Refetch => "refetch",
        }
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
    /// The policy's estimate at that moment, where the rule looked at a size.
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
    /// A compaction that freed less than 5 % of the context.
    NoGain,
    /// The fallback ran again and again without the call going through.
    Loop,
    /// No limit of the policy lies below the window: it can never fire.
    NeverFires,
    /// The policy's program could not be started.
    ProgramNotStarted,
    /// The policy's program ended before the session did.
    ProgramEnded,
    /// The policy's program gave no answer in time.
    ProgramSilent,
    /// The policy's program said something that is no answer.
    ProgramGarbled,
    /// The policy's program asked for an edit that is not possible.
    ProgramWrong,
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

impl Warning {
    /// One sentence for reports.
    pub fn sentence(self) -> &'static str {
        match self {
            Warning::RepeatedCompaction => "compacts again at the next call or the one after",
            Warning::Oscillation => "oscillates at its threshold: three or more compactions within ten calls",
            Warning::NoGain => "compactions or prunings that free less than 5 % of the context",
            Warning::Loop => "its fallback ran to the limit of tries without the call going through",
            Warning::NeverFires => "can fire on a refusal alone: none of its limits lies below the largest prompt that the provider takes",
            Warning::ProgramNotStarted => "fails because its program could not be started",
            Warning::ProgramEnded => "fails because its program ended before the session did",
            Warning::ProgramSilent => "fails because its program gave no answer in time",
            Warning::ProgramGarbled => "fails because its program said something that is no answer",
            Warning::ProgramWrong => "fails because its program asked for an edit that is not possible",
        }
    }
}
