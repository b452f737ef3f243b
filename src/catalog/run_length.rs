//! How much longer runs got under another policy, in experiments that were recorded: what no replay knows.

use super::table::CatalogError;
use crate::decode;
use serde::Deserialize;

const RUN_LENGTH: &str = include_str!("../../catalog/run_length.toml");

/// What a policy did to the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Old tool results became a placeholder.
    Masking,
    /// Old turns became a summary.
    Summary,
}

/// One experiment: runs of the same tasks by the same agent and model, with a policy and without.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What the policy did to the context.
    pub strategy: Strategy,
    /// Agent that made the runs.
    pub scaffold: String,
    /// Model that the agent ran with.
    pub model: String,
    /// How the policy was set, in words.
    pub setting: String,
    /// Turns with the policy over turns without, summed over the pairs.
    pub ratio: f64,
    /// Lower bound of the ratio's interval.
    pub low: f64,
    /// Upper bound of the ratio's interval.
    pub high: f64,
    /// Pairs of runs of one task, with and without the policy.
    pub pairs: u64,
    /// Where the numbers of turns are published.
    pub source: String,
    /// Date of that publication.
    pub date: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenarios {
    scenario: Vec<Scenario>,
}

impl Scenario {
    /// `catalog/run_length.toml`, in its order.
    pub fn builtin() -> Result<Vec<Scenario>, CatalogError> {
        decode::from_toml(RUN_LENGTH).map(|scenarios: Scenarios| scenarios.scenario).map_err(CatalogError::RunLength)
    }
}
