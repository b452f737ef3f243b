//! What to type next behind a replay: the session in which most happens under what is shown, and the search for the agent's own settings.

use super::logs::Logs;
use super::own::OwnAgents;
use super::shell::option;
use crate::corpus::Corpus;
use crate::experiment::{Own, Replay};
use crate::sim::{EventKind, Totals};
use crate::trace::Trace;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A command, and what it shows.
type Step = (String, String);

/// Is it so of a session?
type Is = fn(&Totals) -> bool;

/// What is worth a look in a session under a policy, the least first.
const WORTH_A_LOOK: [(Is, &str); 3] = [
    (shrinks, "a session that is compacted or pruned"),
    (|totals| totals.overflows > 0, "a session that overflows"),
    (|totals| totals.failed_sessions > 0, "a session that fails"),
];

fn shrinks(totals: &Totals) -> bool {
    [EventKind::Compact, EventKind::Reset, EventKind::Prune, EventKind::Drop].iter().any(|kind| totals.events_of(*kind) > 0)
}

/// The command that explains the session in which most happens under the first of these replays in which anything does, each with what is typed for its
/// policy; of several the one with the largest recorded prompt.
pub fn explained<'a>(logs: &Logs, corpus: &Corpus, shown: impl IntoIterator<Item = (&'a Replay, Vec<String>)>) -> Option<Step> {
    let prompt = |trace: &Trace| trace.usages().map(|usage| usage.prompt).max();
    let worth = |totals: &Totals| WORTH_A_LOOK.iter().rposition(|(is_so, _)| is_so(totals));
    let most = |replay: &Replay| {
        let found = replay.outcomes.each().enumerate().filter_map(|(place, outcome)| Some((worth(&outcome.totals)?, place)));
        let known = found.filter_map(|(worth, place)| Some((worth, corpus.traces.at(place)?)));
        known.max_by_key(|(worth, trace)| (*worth, prompt(trace), std::cmp::Reverse(trace.id.clone())))
    };
    let (words, (worth, trace)) = shown.into_iter().find_map(|(replay, words)| Some((words, most(replay)?)))?;
    let shows = WORTH_A_LOOK.get(worth).map_or("", |(_, shows)| shows);
    Some(logs.explaining(&trace, corpus, &words, shows))
}

/// The command that searches the settings of the agent whose sessions sent the most, over its own sessions alone, with what was typed here of windows and prices. `None` where it has no preset, and where no
/// path holds its sessions and no others.
pub fn tuned(logs: &Logs, corpus: &Corpus, own: &Own, typed: &[String], config: &OwnAgents) -> Option<Step> {
    let sent = |trace: &Trace| trace.usages().map(|usage| usage.prompt).sum::<u64>();
    let mut agents: BTreeMap<String, u64> = BTreeMap::new();
    corpus.traces.each().for_each(|trace| *agents.entry(trace.agent.clone()).or_default() += sent(&trace));
    let known = agents.iter().filter_map(|(agent, sent)| Some((agent, sent, &own.agents.get(agent)?.presets)));
    let (agent, _, presets) = known.max_by_key(|(agent, sent, _)| (**sent, std::cmp::Reverse(*agent)))?;
    // The preset that most of its sessions are replayed through.
    let (preset, _) = presets.iter().max_by_key(|(name, sessions)| (**sessions, std::cmp::Reverse(*name)))?;
    let words = [option("-p", [preset]), typed.to_vec(), config.of(agent).words()].concat();
    let shows = "which settings would be cheapest";
    if agents.len() == 1 {
        return Some(logs.step(&["tune"], &words, shows));
    }
    let paths = paths_of(agent, logs, corpus)?;
    Some((Logs { logs: paths, ..logs.clone() }.command(&["tune"], &words), shows.to_owned()))
}

/// The paths that hold the sessions of this agent and no others, one within each of the logs that were named; `None` where there are none.
fn paths_of(agent: &str, logs: &Logs, corpus: &Corpus) -> Option<Vec<String>> {
    let sources: Vec<(bool, PathBuf)> = corpus.traces.each().map(|trace| (trace.agent == agent, PathBuf::from(&trace.source))).collect();
    // An empty path holds all.
    let typed: Vec<String> = if logs.logs.is_empty() { vec![String::new()] } else { logs.logs.clone() };
    let below = |path: &Path, is_mine: bool| {
        let path = path.to_owned();
        sources.iter().filter(move |(mine, source)| *mine == is_mine && source.starts_with(&path)).map(|(_, source)| source)
    };
    let mut paths = Vec::new();
    for root in &typed {
        let root = Path::new(root);
        let Some(first) = below(root, true).next() else { continue };
        let path = first.ancestors().find(|path| below(root, true).all(|source| source.starts_with(path)))?;
        if below(path, false).next().is_some() {
            return None;
        }
        paths.push(path.to_string_lossy().into_owned());
    }
    let is_whole = below(Path::new(""), true).all(|source| paths.iter().any(|path| source.starts_with(path)));
    (is_whole && !paths.is_empty()).then_some(paths)
}
