//! The user's own agents: where their settings are found.

use super::failure::{Failure, tell};
use super::logs::Logs;
use super::policies::Policies;
use super::shell::option;
use crate::corpus::{Corpus, Home, homes};
use crate::cost::Tariff;
use crate::experiment::{Own, OwnSettings, lies_below, own_agents, price, recorders};
use crate::policy::{Policy, suggestion};
use crate::report::{SetIn, first_few};
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The user's own agents.
#[derive(Args, Clone, Debug, Default)]
pub struct OwnAgents {
    /// The agent's own settings, in place of those beside its sessions: ~/.claude/settings.json, config.toml, opencode.json. Where the logs are
    /// of several agents, AGENT=FILE says whose they are
    #[arg(long, value_name = "[AGENT=]FILE")]
    pub agent_config: Vec<String>,
}

/// A file of settings holds no more bytes than this.
const LARGEST: u64 = 1 << 20;

impl OwnAgents {
    /// What the agents' own presets, with their own settings, make of a corpus, with the bills. `None` where no session has such a preset.
    pub fn replay(&self, corpus: &Corpus, policies: &Policies, logs: &Logs, tariff: &Tariff<'_>) -> Result<Option<Own>, Failure> {
        let recorders = recorders()?;
        let known = recorders.iter().flat_map(|policy| &policy.recorded_by).map(|entry| entry.agent.as_str());
        let known: BTreeSet<&str> = known.collect();
        let agents = corpus.agents();
        let agents: BTreeSet<&str> = agents.iter().map(String::as_str).filter(|agent| known.contains(agent)).collect();
        let mut settings = self.named(&agents)?;
        // What was named must be what it is named as; what merely stands beside sessions is passed over with a sentence.
        for named in &settings {
            let mut of_agent = recorders.iter().filter(|policy| policy.recorded_by.iter().any(|entry| entry.agent == named.agent));
            let read = of_agent.next().map(|policy| policy.clone().configure(&named.file, &named.text, None));
            read.transpose().map_err(Failure::Usage)?;
        }
        settings.extend(beside_sessions(corpus));
        let mut own = own_agents(corpus, &recorders, &settings, &policies.settings(logs)?)?;
        if let Some(own) = &mut own {
            price(corpus, std::slice::from_mut(&mut own.replay), tariff);
            if !logs.quiet {
                own.refused.iter().for_each(|sentence| tell(sentence));
            }
        }
        Ok(own)
    }

    /// A policy with the user's own settings of its agent and of `--set`, which goes before them; and what both set in it, in words: `None` where nothing does.
    pub fn configured(
        &self,
        policy: Policy,
        corpus: &Corpus,
        policies: &Policies,
        logs: &Logs,
    ) -> Result<(Policy, Option<SetIn>), Failure> {
        let typed = policies.set_in(&policy).cloned().collect::<Vec<String>>().join(", ");
        let (policy, read) = self.read_into(policy, corpus, policies, logs)?;
        let given = read.is_none();
        let words: Vec<String> = read.into_iter().chain(Some(typed).filter(|typed| !typed.is_empty())).collect();
        Ok((policy, (!words.is_empty()).then(|| SetIn { words: words.join("; "), given })))
    }

    /// The same of several policies; no words where nothing is set.
    pub fn configured_each(
        &self,
        policies: Vec<Policy>,
        corpus: &Corpus,
        options: &Policies,
        logs: &Logs,
    ) -> Result<(Vec<Policy>, Vec<SetIn>), Failure> {
        let configured =
            policies.into_iter().map(|policy| self.configured(policy, corpus, options, logs)).collect::<Result<Vec<_>, _>>()?;
        Ok(configured.into_iter().map(|(policy, words)| (policy, words.unwrap_or_default())).unzip())
    }

    fn read_into(&self, policy: Policy, corpus: &Corpus, policies: &Policies, logs: &Logs) -> Result<(Policy, Option<String>), Failure> {
        let agents: BTreeSet<&str> = policy.recorded_by.iter().map(|entry| entry.agent.as_str()).collect();
        let mut settings = if self.agent_config.is_empty() || agents.is_empty() { Vec::new() } else { self.named(&agents)? };
        settings.extend(beside_sessions(corpus));
        let Some(known) = settings.into_iter().find(|known| agents.contains(known.agent.as_str())) else { return Ok((policy, None)) };
        let mut configured = policy.clone();
        // One policy stands for the sessions of all models.
        let of_agent = corpus.traces.each().filter(|trace| agents.contains(trace.agent.as_str()));
        let mut models: BTreeSet<String> = of_agent.filter_map(|trace| Some(trace.main_model()?.to_owned())).collect();
        if let Some(given) = &logs.model {
            models = BTreeSet::from([given.clone()]);
        }
        let model = models.first().filter(|_| models.len() == 1).map(String::as_str);
        let said = match configured.configure(&known.file, &known.text, model) {
            Ok(said) => said.unwrap_or_default(),
            Err(sentence) => return Err(Failure::Usage(sentence)),
        };
        if !logs.quiet {
            said.refused.iter().for_each(|sentence| tell(sentence));
        }
        if said.set.is_empty() {
            return Ok((policy, None));
        }
        let words: Vec<String> = said.set.iter().map(|(param, value)| format!("{param}={value}")).collect();
        Ok((policies.set_again(configured)?, Some(format!("{} ({})", words.join(", "), known.file.display()))))
    }

    /// The settings that were named.
    fn named(&self, agents: &BTreeSet<&str>) -> Result<Vec<OwnSettings>, Failure> {
        self.agent_config.iter().map(|word| named(word, agents)).collect()
    }

    /// These for the logs of one agent alone.
    pub fn of(&self, agent: &str) -> OwnAgents {
        let of_other = |word: &str| !Path::new(word).is_file() && word.split_once('=').is_some_and(|(other, _)| other != agent);
        OwnAgents { agent_config: self.agent_config.iter().filter(|word| !of_other(word)).cloned().collect() }
    }

    /// The options as they would be typed again.
    pub fn words(&self) -> Vec<String> {
        option("--agent-config", &self.agent_config)
    }
}

fn named(word: &str, agents: &BTreeSet<&str>) -> Result<OwnSettings, Failure> {
    let (agent, file) = match word.split_once('=').filter(|_| !Path::new(word).is_file()) {
        Some((agent, file)) if agents.contains(agent) => (agent.to_owned(), file),
        Some((agent, _)) => {
            let near = suggestion(agent, agents.iter().copied());
            return Err(Failure::Usage(format!(
                "`--agent-config {word}`: the logs hold no session of an agent `{agent}` with a preset{near}"
            )));
        }
        None => match agents.iter().collect::<Vec<_>>().as_slice() {
            [only] => ((**only).to_owned(), word),
            [] => return Err(Failure::Usage(format!("`--agent-config {word}`: the logs hold no session of an agent with a preset"))),
            several => {
                let names: Vec<&str> = several.iter().map(|agent| **agent).collect();
                let names = first_few(&names, names.len());
                let reason = format!("the logs are of several agents ({names}): say whose it is, as AGENT=FILE");
                return Err(Failure::Usage(format!("`--agent-config {word}`: {reason}")));
            }
        },
    };
    let path = PathBuf::from(file);
    let text = read(&path).map_err(|reason| Failure::Usage(format!("`--agent-config {word}`: {reason}")))?;
    Ok(OwnSettings { agent, sessions: None, file: path, text })
}

/// The settings that stand beside the agents' own folders of sessions, where sessions of the corpus lie in them; no other file is opened.
/// What cannot be read is as if it were not there.
fn beside_sessions(corpus: &Corpus) -> Vec<OwnSettings> {
    let homes = homes(&|name| std::env::var(name).ok()).into_iter().filter(|home| !home.settings.is_empty());
    let mut homes: Vec<(Home, bool)> = homes.map(|home| (home, false)).collect();
    for trace in corpus.traces.each() {
        for (home, is_read) in homes.iter_mut().filter(|(home, is_read)| !is_read && trace.agent == home.agent) {
            *is_read = lies_below(&trace.source, &home.path);
        }
    }
    let settings = homes.into_iter().filter(|(_, is_read)| *is_read).filter_map(|(home, _)| {
        let (file, text) = home.settings.iter().find_map(|file| Some((file.clone(), read(file).ok()?)))?;
        Some(OwnSettings { agent: home.agent.to_owned(), sessions: Some(home.path), file, text })
    });
    settings.collect()
}

fn read(file: &Path) -> Result<String, String> {
    let size = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    if size > LARGEST {
        return Err(format!("holds {size} bytes, more than settings can"));
    }
    crate::reading::regular_text(file).map_err(|error| error.to_string())
}
