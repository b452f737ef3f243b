//! The world outside of policy and trace.

use super::summary::RecordedSummary;

/// The world outside of policy and trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// The model's total window.
    pub window: u64,
    /// The largest prompt that the provider accepts: the window, or the model's own input limit below it.
    pub prompt_limit: u64,
    /// Output reserve for all policies, instead of each policy's own.
    pub reserve: Option<u64>,
    /// The size of summaries by those that the corpus recorded; `None` where it holds none.
    pub recorded_summary: Option<RecordedSummary>,
    /// What the policy's estimates of texts are.
    pub guesses: Guesses,
    /// Does the agent read again what the policy took from it?
    pub refetch: Refetching,
    /// Is each lost reference named, and not the heaviest alone? A report on one session needs them; of a corpus they would take memory without a bound.
    pub names_all_lost: bool,
}

impl Conditions {
    /// A window that nothing fills, for sums as large as can be added up.
    pub fn endless() -> Conditions {
        Conditions { window: u64::MAX / 4, prompt_limit: u64::MAX / 4, ..Conditions::default() }
    }

    /// Above this many tokens a call is over budget: what the provider accepts, and the window less the output reserve.
    pub(super) fn budget(&self, reserve: u64) -> u64 {
        self.prompt_limit.min(self.window.saturating_sub(self.reserve.unwrap_or(reserve)))
    }
}

/// Whose estimates of texts a policy works with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guesses {
    /// Those of the policy's own estimator.
    #[default]
    Own,
    /// The true sizes, as no policy can know them: what is left to go wrong then is not the estimator's fault.
    True,
}

/// Does the agent read again what it misses?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refetching {
    /// It does not: replay keeps the recorded messages (open loop).
    #[default]
    Never,
    /// It reads again what was cut away, cleared or dropped. What was summarised it is taken to know.
    Lost,
    /// It reads again what was summarised as well.
    AtRisk,
}
