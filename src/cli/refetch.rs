//! The closed loop: arguments that let the agent read again what a policy took from it.

use super::choices::{Choices, one_of};
use super::failure::Failure;
use super::policies::Policies;
use crate::corpus::Corpus;
use crate::experiment::{Replay, ReplaySettings, replay, replay_closed};
use crate::measure::{Recall, Wanted};
use crate::policy::Policy;
use crate::sim::Refetching;
use clap::Args;

/// What an agent can read again.
const WHAT: Choices<Refetching> =
    &[("lost", Refetching::Lost, "What was cut away, cleared or dropped"), ("all", Refetching::AtRisk, "What was summarised too")];

/// Is the loop closed?
#[derive(Args, Clone, Debug, Default)]
pub struct Refetch {
    /// Close the loop too: the agent reads again the lines that it needs and has lost. `all`: those that were summarised as well
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "lost",
          value_parser = one_of(WHAT))]
    refetch: Option<Refetching>,
}

impl Refetch {
    /// How the agent goes about it.
    pub fn how(&self) -> Refetching {
        self.refetch.unwrap_or_default()
    }

    /// What must be measured for it, by a command that shows no references otherwise.
    pub fn wanted(&self, policies: &[Policy]) -> Wanted {
        Policies::wanted(policies, if self.refetch.is_some() { Recall::References } else { Recall::Nothing })
    }

    /// Replays a corpus, in a closed loop too where that was asked for.
    pub fn replay(&self, policies: &[Policy], corpus: &Corpus, settings: &ReplaySettings<'_>) -> Result<Vec<Replay>, Failure> {
        Ok(match self.how() {
            Refetching::Never => replay(corpus, policies, settings)?,
            how => replay_closed(corpus, policies, settings, how)?,
        })
    }

    /// The option as it would be typed again.
    pub fn words(&self) -> Vec<String> {
        match self.how() {
            Refetching::Never => Vec::new(),
            Refetching::Lost => vec!["--refetch".to_owned()],
            Refetching::AtRisk => vec!["--refetch=all".to_owned()],
        }
    }
}
