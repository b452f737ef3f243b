//! The user's own agents: which preset a session was recorded under, by agent, version and date, and what these presets make of a corpus.

use super::replay::{Replay, ReplaySettings, ready};
use super::window::window_of;
use crate::corpus::{Corpus, impose};
use crate::list::List;
use crate::policy::{Policy, PolicyError, RecordedBy, Recorder};
use crate::sim::{Refetching, SharedSession};
use crate::trace::{CompactionRow, Trace};
use crate::transcript::CompactionKind;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The policy for a session, and what it says of such logs. Of several the first whose `recorded_by` covers the log's agent, version and day; a
/// single one is taken for every session, also where it says nothing of recorders. `None` where no policy fits.
pub fn choose<'a>(trace: &Trace, policies: &'a [Policy], settings: &ReplaySettings<'_>) -> Option<(&'a Policy, Option<&'a RecordedBy>)> {
    if let [given] = policies {
        let entry = given.recorded_by.iter().find(|entry| entry.agent == trace.agent);
        return Some((given, entry));
    }
    let place = recorder_of(trace, policies, settings)?;
    let policy = policies.get(place)?;
    let day = trace.day().unwrap_or_default();
    Some((policy, policy.recorded(recorder(trace, &day, settings))))
}

/// The place of the first policy whose `recorded_by` covers a session; `None` where no preset speaks for its agent.
fn recorder_of(trace: &Trace, policies: &[Policy], settings: &ReplaySettings<'_>) -> Option<usize> {
    let day = trace.day().unwrap_or_default();
    let recorder = recorder(trace, &day, settings);
    policies.iter().position(|policy| policy.recorded(recorder).is_some())
}

fn recorder<'t>(trace: &'t Trace, day: &'t str, settings: &'t ReplaySettings<'_>) -> Recorder<'t> {
    let window = window_of(trace, None, settings).facts.window;
    let model = settings.model.as_deref().or_else(|| trace.main_model()).unwrap_or_default();
    Recorder { agent: &trace.agent, version: &trace.version, day, model, window }
}

/// Parameters that a log shows to have had these values.
pub(super) type Shown<'e> = Vec<(&'e str, u64)>;

/// The parameters of a preset that held for a log: those of its kind, and the switch that its prunings show to have been on.
pub(super) fn shown_by<'e>(trace: &Trace, entry: Option<&'e RecordedBy>) -> Shown<'e> {
    let Some(entry) = entry else { return Vec::new() };
    let prunes = trace.compactions.iter().any(|event| event.kind == CompactionKind::Prune);
    let switch = entry.prunings_show.as_deref().filter(|_| prunes).map(|switch| (switch, 1));
    entry.sets.iter().map(|(param, value)| (param.as_str(), *value)).chain(switch).collect()
}

/// A policy with these parameters.
pub(super) fn switched<'p>(policy: &'p Policy, shown: &[(&str, u64)]) -> Result<Cow<'p, Policy>, PolicyError> {
    if shown.is_empty() {
        return Ok(Cow::Borrowed(policy));
    }
    let mut policy = policy.clone();
    for (param, value) in shown {
        policy.set(param, &value.to_string())?;
    }
    Ok(Cow::Owned(policy))
}

/// Did a person ask for this compaction?
pub fn is_manual(event: &CompactionRow) -> bool {
    event.kind == CompactionKind::Compact && event.automatic == Some(false)
}

/// Does a log lie below a folder?
pub fn lies_below(source: &str, folder: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole(Path::new(source)).starts_with(whole(folder))
}

/// An agent's own settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnSettings {
    /// The agent, as its reader names it.
    pub agent: String,
    /// The folder of the sessions that they hold for; `None` for all of the agent's.
    pub sessions: Option<PathBuf>,
    /// The settings file, as it was found.
    pub file: PathBuf,
    /// The file's text.
    pub text: String,
}

impl OwnSettings {
    fn hold_for(&self, trace: &Trace) -> bool {
        self.agent == trace.agent && self.sessions.as_ref().is_none_or(|folder| lies_below(&trace.source, folder))
    }
}

/// The user's own agents over a corpus.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Own {
    /// What they make of it, manual compactions imposed. Sessions of agents without a preset have an empty outcome.
    pub replay: Replay,
    /// Each agent with a preset.
    pub agents: BTreeMap<String, OwnAgent>,
    /// Sessions with a call that are replayed.
    pub covered: u64,
    /// Sessions with a call of agents without a preset, which are left out, by agent.
    pub left_out: BTreeMap<String, u64>,
    /// What could not be taken over from the agents' settings, as sentences.
    pub refused: Vec<String>,
    /// Is it what was at work when the logs were made: the agents' defaults, in no other window and with no other model?
    pub as_recorded: bool,
}

/// One agent of the user's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnAgent {
    /// The places of the agent's sessions in the corpus.
    pub sessions: Vec<usize>,
    /// How many of them are replayed through each preset.
    pub presets: BTreeMap<String, u64>,
    /// How many of them the agent's own settings hold for.
    pub configured_sessions: u64,
    /// The files of these settings, each with the parameters that it sets.
    pub settings: BTreeMap<PathBuf, BTreeMap<String, String>>,
    /// Manual compactions that were imposed.
    pub imposed: u64,
    /// Compactions whose trigger their log does not name: none of these was.
    pub unnamed: u64,
}

/// What the policy of a session is made of.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Made<'a> {
    preset: usize,
    /// The user's settings that hold, and the model for which they are read.
    settings: Option<(usize, String)>,
    shown: Shown<'a>,
}

/// Presets with settings read into them, each made once.
struct Presets<'a> {
    recorders: &'a [Policy],
    settings: &'a [OwnSettings],
    replay: &'a ReplaySettings<'a>,
    /// By what a policy is made of: its place.
    made: BTreeMap<Made<'a>, usize>,
    policies: Vec<Policy>,
    own: Own,
}

impl<'a> Presets<'a> {
    /// The place of the policy for a session; `None` without a preset for its agent.
    fn of(&mut self, trace: &Trace) -> Option<usize> {
        let preset = self.recorders.iter().any(|policy| policy.recorded_by.iter().any(|entry| entry.agent == trace.agent));
        let preset = preset.then(|| recorder_of(trace, self.recorders, self.replay)).flatten()?;
        let known = self.settings.iter().position(|settings| settings.hold_for(trace));
        let day = trace.day().unwrap_or_default();
        let entry = self.recorders.get(preset)?.recorded(recorder(trace, &day, self.replay));
        let model = self.replay.model.as_deref().or_else(|| trace.main_model()).unwrap_or_default();
        let by = Made { preset, settings: known.map(|known| (known, model.to_owned())), shown: shown_by(trace, entry) };
        let place = match self.made.get(&by) {
            Some(place) => *place,
            None => self.make(by, &trace.agent)?,
        };
        let agent = self.own.agents.entry(trace.agent.clone()).or_default();
        *agent.presets.entry(self.recorders.get(preset)?.name.clone()).or_default() += 1;
        let file = known.and_then(|known| self.settings.get(known)).map(|settings| &settings.file);
        agent.configured_sessions += u64::from(file.is_some_and(|file| agent.settings.contains_key(file)));
        Some(place)
    }

    fn make(&mut self, by: Made<'a>, agent: &str) -> Option<usize> {
        let policy = switched(self.recorders.get(by.preset)?, &by.shown).ok()?;
        let mut policy = policy.into_owned().with_recorded_summaries(&|_| false);
        let known = by.settings.as_ref().and_then(|(known, model)| Some((self.settings.get(*known)?, model)));
        if let Some((settings, model)) = known {
            match policy.configure(&settings.file, &settings.text, Some(model)) {
                Ok(Some(configured)) => {
                    let agent = self.own.agents.entry(agent.to_owned()).or_default();
                    let set = agent.settings.entry(settings.file.clone()).or_default();
                    for (param, value) in configured.set {
                        // It may be set for single models.
                        match set.get_mut(&param) {
                            Some(known) if known.split(" or ").any(|one| one == value) => {}
                            Some(known) => *known += &format!(" or {value}"),
                            None => drop(set.insert(param, value)),
                        }
                    }
                    self.own.refused.extend(configured.refused);
                }
                Ok(None) => {}
                Err(sentence) => self.own.refused.push(sentence),
            }
        }
        self.policies.push(policy);
        self.made.insert(by, self.policies.len() - 1);
        Some(self.policies.len() - 1)
    }
}

/// Replays each session through the preset that its agent ran by, with manual compactions imposed. `None` where no session has such a preset.
pub fn own_agents(
    corpus: &Corpus,
    recorders: &[Policy],
    own_settings: &[OwnSettings],
    settings: &ReplaySettings<'_>,
) -> Result<Option<Own>, PolicyError> {
    let mut presets =
        Presets { recorders, settings: own_settings, replay: settings, made: BTreeMap::new(), policies: Vec::new(), own: Own::default() };
    let mut chosen = Vec::with_capacity(corpus.traces.len());
    let mut imposed: BTreeMap<usize, Trace> = BTreeMap::new();
    for (place, trace) in corpus.traces.each().enumerate() {
        let policy = presets.of(&trace);
        match (policy, presets.own.agents.get_mut(&trace.agent)) {
            (Some(_), Some(agent)) => {
                agent.sessions.push(place);
                presets.own.covered += u64::from(!trace.calls.is_empty());
                let manual = trace.compactions.iter().filter(|event| is_manual(event)).count() as u64;
                agent.imposed += manual;
                let is_unnamed = |event: &&CompactionRow| event.kind == CompactionKind::Compact && event.automatic.is_none();
                agent.unnamed += trace.compactions.iter().filter(is_unnamed).count() as u64;
                if manual > 0 {
                    imposed.insert(place, impose(&trace, &is_manual).into_owned());
                }
            }
            _ if trace.calls.is_empty() => {}
            _ => *presets.own.left_out.entry(trace.agent.clone()).or_default() += 1,
        }
        chosen.push(policy);
    }
    let Presets { policies, mut own, .. } = presets;
    if own.agents.is_empty() {
        return Ok(None);
    }
    let defaults = own.agents.values().all(|agent| agent.settings.is_empty());
    own.as_recorded = defaults && settings.window.is_none() && settings.model.is_none() && settings.reserve.is_none();
    own.refused.sort();
    own.refused.dedup();
    let ready = ready(corpus, &policies, settings)?;
    let through = |place: usize| {
        let policy = chosen.get(place).copied().flatten().and_then(|policy| ready.get(policy))?;
        let trace = imposed.get(&place).map(Cow::Borrowed).or_else(|| corpus.traces.at(place))?;
        Some(policy.outcome(&mut SharedSession::new(&trace), place, Refetching::Never))
    };
    let outcomes = List::made(&corpus.traces, |place| through(place).unwrap_or_default());
    let named = ready.first().map(|first| first.with(outcomes)).unwrap_or_default();
    let name = own.name();
    let threshold = |(place, policy): (usize, &Option<usize>)| policy.and_then(|policy| ready.get(policy))?.threshold(place);
    let thresholds = chosen.iter().enumerate().map(threshold).collect();
    own.replay = Replay { params: Vec::new(), imposed, thresholds, ..named.renamed(&name) };
    Ok(Some(own))
}

impl Own {
    /// `claude-code (yours)` where the agent's settings were found and read, else `claude-code (defaults)`; several agents are `own agents`.
    fn name(&self) -> String {
        let agents: Vec<&String> = self.agents.keys().collect();
        let who = if let [agent] = agents.as_slice() { agent.as_str() } else { "own agents" };
        let (all, configured) = self
            .agents
            .values()
            .fold((0, 0), |(all, configured), agent| (all + agent.sessions.len() as u64, configured + agent.configured_sessions));
        let whose = match configured {
            0 => "defaults",
            some if some == all => "yours",
            _ => "partly yours",
        };
        format!("{who} ({whose})")
    }
}
