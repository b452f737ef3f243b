//! Limits that hosts set for models of other makers, by day.

use crate::units::Tokens;
use serde::Deserialize;

/// What a host lets a model hold, from a day on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostLimits {
    /// The host, as logs name it.
    pub host: String,
    /// The model, by its id in the catalogue.
    pub model: String,
    /// The agent that takes them, as logs name it, or `models.dev`: those that load its list. Absent where all do.
    pub agent: Option<String>,
    /// First day of the limits, as `2026-03-19`.
    pub from: String,
    /// The total window: prompt and reply together.
    pub context: Tokens,
    /// The limit on the prompt alone; absent where the host has none beside the window.
    pub max_input: Option<Tokens>,
    /// The longest reply; absent where not known.
    pub max_output: Option<Tokens>,
    /// The bigger window that a mark asks for which logs leave out; absent where there is none.
    pub long_context: Option<Tokens>,
}

/// Stands for all agents that load the list of models.dev.
const LIST: &str = "models.dev";

/// `catalog/hosts.toml`: the limits of each host, model and agent stand in the order of their days.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hosts {
    /// The agents that load the list of models.dev, as logs name them.
    load_models_dev: Vec<String>,
    limits: Vec<HostLimits>,
}

impl Hosts {
    /// The limits of a day: the newest that are not younger, else the oldest ones. Without a day the newest. An agent's own hold from their first day on, and those of
    /// all agents, or of the list that it loads, before.
    pub fn find(&self, host: &str, model: &str, agent: &str, day: Option<&str>) -> Option<&HostLimits> {
        let loads = self.load_models_dev.iter().any(|one| one == agent);
        let here = |own: bool| {
            let of_agent = move |limits: &&HostLimits| match limits.agent.as_deref() {
                None => !own,
                Some(LIST) => !own && loads,
                Some(one) => own && one == agent,
            };
            self.limits.iter().filter(move |limits| limits.host == host && limits.model == model).filter(of_agent)
        };
        let begun = |own: bool| here(own).take_while(|limits| day.is_none_or(|day| limits.from.as_str() <= day)).last();
        begun(true).or_else(|| begun(false)).or_else(|| here(false).next())
    }
}
