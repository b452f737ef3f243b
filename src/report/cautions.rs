//! What makes all figures of a replay less sure: windows that are not known, agents whose rule no preset is known to mirror, and what calls carry where no
//! log shows it.

use super::uncached;
use super::words::{counted, counted_as, grouped, three_digits};
use crate::catalog::Catalog;
use crate::corpus::Corpus;
use crate::experiment::drift::shrunk_unnoted;
use crate::experiment::{Replay, WindowFrom};
use crate::policy::{self, Beyond, Mirrored, Recorder};
use crate::trace::{CallRow, Trace};
use crate::transcript::Role;
use std::collections::BTreeMap;

/// Cautions for the first screen, in few words.
pub fn in_brief<'r>(corpus: &Corpus, replays: impl Iterator<Item = &'r Replay>) -> Vec<String> {
    let mut sessions: BTreeMap<Beyond, u64> = BTreeMap::new();
    versions(corpus).into_iter().for_each(|((_, side), found)| *sessions.entry(side).or_default() += found.sessions);
    let are = |number: &u64| counted_as(*number, "session is", "sessions are");
    let versions = match (sessions.get(&Beyond::Newer), sessions.get(&Beyond::Older)) {
        (None, None) => None,
        (Some(newer), None) => Some(format!("{} newer than the agent's preset: rules may differ", are(newer))),
        (None, Some(older)) => Some(format!("{} older than any preset of the agent: rules may differ", are(older))),
        (Some(newer), Some(older)) => {
            Some(format!("{} newer than the agent's preset, {} older: rules may differ", are(newer), grouped(*older)))
        }
    };
    let assumed = sessions
        .get(&Beyond::Assumed)
        .map(|sessions| format!("The agent's rule is not known for {}: its preset is assumed", counted(*sessions, "session")));
    let replays: Vec<&Replay> = replays.collect();
    let unknown = windows(&replays, WindowFrom::Policy, "Window not known for");
    let outgrown = windows(&replays, WindowFrom::Outgrown, "Known window smaller than recorded prompts of");
    let uncompacted = windows(&replays, WindowFrom::Uncompacted, "No compaction above the agent's own limit in");
    shrunk(&[corpus], corpus.facts.calls)
        .into_iter()
        .chain(unknown)
        .chain(outgrown)
        .chain(uncompacted)
        .chain(versions)
        .chain(assumed)
        .chain(without_overhead(corpus))
        .chain(uncached::in_brief(corpus))
        .collect()
}

/// Sessions of which something removed text without a note, where more than a tenth of the calls are theirs: a replay takes that for gone under every policy.
/// `all` are the calls of all these corpora: a part of a corpus has no facts of its own.
pub fn shrunk(corpora: &[&Corpus], all: u64) -> Option<String> {
    let (sessions, calls) = shrunk_unnoted(corpora, &Catalog::builtin().ok()?);
    let what = "text was removed that the logs do not note: a larger limit would keep more than these figures say";
    (calls * 10 > all).then(|| format!("In {} ({} of {}) {what}", counted(sessions, "session"), grouped(calls), counted(all, "call")))
}

/// A caution as a line of its own.
pub fn told(caution: Option<String>) -> Option<String> {
    caution.map(|caution| format!("! {caution}."))
}

/// Sessions whose window is a policy's default, or was taken so that what was recorded fits: that no call overflows there says nothing.
fn windows(replays: &[&Replay], guessed: WindowFrom, what: &str) -> Option<String> {
    let (mut sessions, mut least, mut most) = (0, u64::MAX, 0);
    for replay in replays {
        let guessed = replay.windows.iter().enumerate().filter(|(_, from)| **from == guessed);
        let windows: Vec<u64> =
            guessed.filter_map(|(place, _)| Some(replay.outcomes.at(place)?.window)).filter(|window| *window > 0).collect();
        sessions = sessions.max(windows.len() as u64);
        (least, most) = windows.into_iter().fold((least, most), |(least, most), window| (least.min(window), most.max(window)));
    }
    let range = if least == most { String::new() } else { format!("{} to ", three_digits(least)) };
    let sentence = || format!("{what} {}: {range}{} taken; --window N sets it", counted(sessions, "session"), three_digits(most));
    (sessions > 0).then(sentence)
}

/// Sessions of which nothing tells what a call carries beside the conversation: no usage, no count of the agent's own, no text.
pub fn without_overhead(corpus: &Corpus) -> Option<String> {
    let lacks = |trace: &Trace| {
        let counted = |call: &CallRow| call.usage.get().is_some() || call.hidden > 0;
        let is_shown = trace.messages.iter().any(|message| message.role == Role::System);
        !trace.calls.is_empty() && !trace.calls.iter().any(counted) && !is_shown
    };
    let sessions = corpus.traces.each().filter(|trace| lacks(trace)).count() as u64;
    let what = "without recorded usage and instructions: figures lack the system prompt and definitions of tools";
    (sessions > 0).then(|| format!("{} {what}", counted_as(sessions, "session is", "sessions are")))
}

/// The same where shares are judged: of too small a whole a saving is too large a share.
pub fn of_shares(corpus: &Corpus) -> Option<String> {
    without_overhead(corpus).map(|caution| format!("{caution}, and shares of tokens are too large"))
}

/// Sessions of an agent that lie beyond its presets in one way.
struct Found {
    sessions: u64,
    /// The newest of newer versions, the oldest of older ones; any where the preset is assumed.
    version: String,
    preset: &'static str,
    mirrored: &'static Mirrored,
}

/// The sessions by agent and way.
fn versions(corpus: &Corpus) -> BTreeMap<(String, Beyond), Found> {
    let mut found: BTreeMap<(String, Beyond), Found> = BTreeMap::new();
    for trace in corpus.traces.each() {
        let (agent, version) = (trace.agent.as_str(), trace.version.as_str());
        let (day, model) = (trace.day().unwrap_or_default(), trace.main_model().unwrap_or_default());
        let recorder = Recorder { agent, version, day: &day, model, window: None };
        let Some((preset, mirrored, side)) = policy::beyond(recorder) else { continue };
        let first = || Found { sessions: 0, version: version.to_owned(), preset, mirrored };
        let farthest = found.entry((agent.to_owned(), side)).or_insert_with(first);
        farthest.sessions += 1;
        let known = Mirrored { version: Some(farthest.version.clone()), ..Mirrored::default() };
        let is_farther = match side {
            Beyond::Newer => known.is_older_than(version),
            Beyond::Older => known.begins_after(version),
            Beyond::Assumed => false,
        };
        if is_farther {
            *farthest = Found { sessions: farthest.sessions, ..first() };
        }
    }
    found
}

/// Agents with logs of other versions than their presets mirror, or whose preset is assumed, a sentence for each.
pub fn of_versions(corpus: &Corpus) -> Vec<String> {
    let sentence = |((agent, side), Found { sessions, version, preset, mirrored }): ((String, Beyond), Found)| {
        let what = counted_as(sessions, "session is", "sessions are");
        match side {
            Beyond::Newer => {
                let (of, day) = (mirrored.version.as_deref().unwrap_or_default(), mirrored.day());
                format!(
                    "{agent}: {what} of a newer version ({version}) than its preset mirrors ({preset}: {of}, {day}); rules may have changed since."
                )
            }
            Beyond::Older => {
                let of = mirrored.first().unwrap_or_default();
                format!(
                    "{agent}: {what} of an older version ({version}) than any preset mirrors ({preset}: from {of}); rules may have differed."
                )
            }
            Beyond::Assumed => {
                format!("{agent}: no source shows the rule of {}: that of {preset} is assumed.", counted(sessions, "session"))
            }
        }
    };
    versions(corpus).into_iter().map(sentence).collect()
}
