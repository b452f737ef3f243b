//! Recorded and predicted events, and how they are judged.

use crate::transcript::CompactionKind;

/// So many calls may lie between a recorded event and its prediction.
pub const TOLERANCE: u64 = 1;

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Predicted within [`TOLERANCE`] calls.
    Hit,
    /// It happened by itself, and was not predicted there.
    Missed,
    /// It was predicted, and did not happen.
    FalseAlarm,
    /// The user asked for it: nothing to predict.
    Manual,
    /// The log does not say so, but everything suggests that the user asked for it.
    ProbablyManual,
    /// Nothing to predict it from, no call behind it to predict, another model at work, or no rule that could.
    Untested,
}

/// An event in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The first call after it, from 1; one more than there are calls where it came last.
    pub call: u64,
    /// Tokens that its trigger saw: by the log, else by the recorded usage before it. `None` where neither is there.
    pub tokens: Option<u64>,
    /// The recorded prompt of the first call after it. `None` where there is none.
    pub after: Option<u64>,
    /// The recorded summary's size, in calibrated tokens; `None` where the log does not give it.
    pub summary: Option<u64>,
    /// Did the agent do it by itself? `None` where the log does not say.
    pub automatic: Option<bool>,
}

/// An event of a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// The first call after it, from 1.
    pub call: u64,
    /// The call at which its trigger fired, from 1: the one before where it looks when a reply is there.
    pub(super) fired: u64,
    /// The policy's estimate when its trigger fired.
    pub tokens: u64,
    /// The limit that this was held against.
    pub limit: Option<u64>,
    /// The simulated prompt of the first call after it.
    pub after: Option<u64>,
    /// Compaction or pruning; a reset is a compaction.
    pub(super) kind: CompactionKind,
}
