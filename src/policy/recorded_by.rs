//! Whose logs a policy is the recording agent's own for: what `backtest` chooses presets by.

use super::mirrored::Mirrored;
use super::preset::{Preset, presets};
use super::switch::Switch;
use crate::catalog::is_spelled;
use crate::decode;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Logs that were recorded under a policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedBy {
    /// The agent, as its reader names it.
    pub agent: String,
    /// The first version; a day (`2026-03-15`) for an agent whose logs name no version. Absent: from its beginning.
    #[serde(default, deserialize_with = "version_or_day")]
    pub from: Option<String>,
    /// The first version, or day, that no longer is. Absent: up to now.
    #[serde(default, deserialize_with = "version_or_day")]
    pub before: Option<String>,
    /// The models of these sessions: `claude-sonnet-5` is that model in all its spellings and no later version of it, `claude*` each one with this in its name.
    /// Empty: any.
    #[serde(default)]
    pub models: Vec<String>,
    /// The least window. Absent: any.
    pub window_from: Option<u64>,
    /// The least window that is too large. Absent: none is.
    pub window_before: Option<u64>,
    /// The window that the agent's logs name, as a percentage of the one that it reckons with.
    #[serde(default = "whole")]
    pub logged_window_percent: u64,
    /// How its own compactions tell a session's window, where the provider's server sets it. Absent: they do not.
    pub implied_window: Option<ImpliedWindow>,
    /// Do its logs note prunings, so that one that they do not note did not happen?
    #[serde(default)]
    pub notes_prunings: Switch,
    /// The parameter that prunings in a log show to have been 1. Absent: they show none.
    pub prunings_show: Option<String>,
    /// Parameters that had another value than the preset's own when these logs were made.
    #[serde(default)]
    pub sets: BTreeMap<String, u64>,
    /// Is it assumed, because no source shows which rule the agent had?
    #[serde(default)]
    pub assumed: Switch,
}

/// The window that an automatic compaction implies.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImpliedWindow {
    /// How far below the window the agent compacts, in tokens.
    pub below: u64,
    /// The windows that there are, in tokens, ascending.
    pub of: Vec<u64>,
    /// Do calls that no compaction follows imply it alone? Where a setting that no log names moves the limit, compactions above it imply no window.
    #[serde(default)]
    pub by_calls_alone: Switch,
}

impl ImpliedWindow {
    /// The least window whose limit lies above the usage at which it did not compact, and holds what was filled; absent where none does. A window whose
    /// limit lies above a size at which it did compact is none, and a prompt may fill more than the agent reckons with: its provider takes it all the same.
    pub fn window(&self, below: u64, compacted: Option<u64>, filled: u64) -> Option<u64> {
        let above = || self.of.iter().copied().filter(|window| *window > below.saturating_add(self.below));
        let reached = || above().filter(|window| compacted.is_none_or(|size| *window <= size.saturating_add(self.below)));
        reached().find(|window| *window >= filled).or_else(|| reached().next()).or_else(|| above().find(|window| *window >= filled))
    }

    /// The window that more than half of these compactions came at, each with the usage that brought none on before it and its size, where none fits
    /// all of them; absent where one does, or none fits so many. The least one above that usage fits whatever the size: what came since may not be in it.
    pub fn of_most(&self, events: &[(Option<u64>, Option<u64>)]) -> Option<u64> {
        let fits = |window: u64, (below, size): &(Option<u64>, Option<u64>)| {
            let is_reached = size.is_none_or(|size| window <= size.saturating_add(self.below));
            below.is_some_and(|below| {
                window > below.saturating_add(self.below) && (is_reached || self.window(below, None, 0) == Some(window))
            })
        };
        let fitting = |window: u64| events.iter().filter(|event| fits(window, event)).count();
        let (most, window) = self.of.iter().map(|window| (fitting(*window), *window)).max_by_key(|(fitting, _)| *fitting)?;
        (most < events.len() && 2 * most > events.len()).then_some(window)
    }
}

fn whole() -> u64 {
    100
}

/// A version has a number in it, and a day is one of the calendar.
fn version_or_day<'de, D: Deserializer<'de>>(decoder: D) -> Result<Option<String>, D::Error> {
    let bound = String::deserialize(decoder)?;
    let is_known = if is_day(&bound) { bound.parse::<jiff::civil::Date>().is_ok() } else { numbers(&bound).next().is_some() };
    if is_known { Ok(Some(bound)) } else { Err(D::Error::custom(format!("`{bound}` is neither a version nor a day such as `2026-03-15`"))) }
}

/// What a log says of its writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorder<'a> {
    /// The agent, as its reader names it.
    pub agent: &'a str,
    /// Version of the agent; empty where the log names none.
    pub version: &'a str,
    /// The day of the session as `2026-03-15`; empty where the log has no times.
    pub day: &'a str,
    /// The model of most calls; empty where the log names none.
    pub model: &'a str,
    /// The session's window. Where it is still unknown, it excludes nothing.
    pub window: Option<u64>,
}

impl RecordedBy {
    /// Was a log of this writer recorded under the policy? A log that says too little counts as one of today.
    pub fn covers(&self, recorder: Recorder<'_>) -> bool {
        let compared = |bound: &str| {
            let known = if is_day(bound) { recorder.day } else { recorder.version };
            if known.is_empty() { Ordering::Greater } else { numbers(known).cmp(numbers(bound)) }
        };
        let is_called = |model: &String| match model.strip_suffix('*') {
            Some(part) => recorder.model.to_ascii_lowercase().contains(part),
            None => is_spelled(recorder.model, model),
        };
        recorder.agent == self.agent
            && (self.models.is_empty() || recorder.model.is_empty() || self.models.iter().any(is_called))
            && self.from.as_deref().is_none_or(|from| compared(from) != Ordering::Less)
            && self.before.as_deref().is_none_or(|before| compared(before) == Ordering::Less)
            && self.window_from.zip(recorder.window).is_none_or(|(from, window)| window >= from)
            && self.window_before.zip(recorder.window).is_none_or(|(before, window)| window < before)
    }
}

/// What the presets say of logs, in their order. It never changes, and a corpus asks for it once a session and policy.
static OF_PRESETS: LazyLock<Vec<Head>> = LazyLock::new(|| {
    let head = |preset: &Preset| Some(Head { name: preset.name, ..decode::from_toml(preset.text).ok()? });
    presets().iter().filter_map(head).collect()
});

/// What of a preset is needed here.
#[derive(Deserialize)]
struct Head {
    #[serde(skip)]
    name: &'static str,
    #[serde(default)]
    recorded_by: Vec<RecordedBy>,
    #[serde(default)]
    agents: Vec<String>,
    #[serde(default)]
    mirrored: Mirrored,
}

/// The preset whose logs are those of a writer, and what it says of them.
fn preset_of(recorder: Recorder<'_>) -> Option<(&'static Head, &'static RecordedBy)> {
    OF_PRESETS.iter().find_map(|head| Some((head, head.recorded_by.iter().find(|entry| entry.covers(recorder))?)))
}

/// Why a log may have been recorded under another rule than that of its preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Beyond {
    /// The version is newer than what the preset mirrors.
    Newer,
    /// The version is older than what any preset of its agent mirrors.
    Older,
    /// No source shows which rule the agent had then.
    Assumed,
}

/// The name of the preset for the logs of a writer, and what it mirrors, where they are of a newer version, of an older one than any preset mirrors, or where the
/// preset is assumed. `None` where they are not, where versions cannot be compared, and for agents without a preset.
pub fn beyond(recorder: Recorder<'_>) -> Option<(&'static str, &'static Mirrored, Beyond)> {
    let of_agent = || OF_PRESETS.iter().find(|head| head.agents.iter().any(|agent| agent == recorder.agent));
    let covered = preset_of(recorder);
    let head = covered.map(|(head, _)| head).or_else(of_agent)?;
    let is_first = covered.is_some_and(|(_, entry)| entry.from.is_none());
    let newer = head.mirrored.is_older_than(recorder.version).then_some(Beyond::Newer);
    let older = || (is_first && head.mirrored.begins_after(recorder.version)).then_some(Beyond::Older);
    let assumed = || covered.is_some_and(|(_, entry)| entry.assumed == Switch::On).then_some(Beyond::Assumed);
    Some((head.name, &head.mirrored, newer.or_else(older).or_else(assumed)?))
}

/// Do an agent's logs note its compactions, so that one that they do not note did not happen? So do those that a preset is held against.
pub fn notes_compactions(agent: &str) -> bool {
    OF_PRESETS.iter().any(|head| head.recorded_by.iter().any(|entry| entry.agent == agent))
}

/// The presets that mirror an agent and are tied to no logs of it: which settings, or which version, these were recorded under is not known. One
/// may be tied to those of a relative.
pub fn untied(agent: &str) -> impl Iterator<Item = &'static str> {
    let is_tied = move |head: &Head| head.recorded_by.iter().any(|entry| entry.agent == agent);
    let mirrors = move |head: &&Head| !is_tied(head) && head.agents.iter().any(|of| of == agent);
    OF_PRESETS.iter().filter(mirrors).map(|head| head.name)
}

/// The first preset of an agent, with the version or day from which its rule holds, where a log is older than that: before it the agent had no such rule, and is
/// held to none. `None` where a preset covers the log, and of a version that counts from nothing, as builds from sources are numbered.
pub fn begins_later(recorder: Recorder<'_>) -> Option<(&'static str, &'static str)> {
    let mut of_agent: Vec<(&Head, &str)> = Vec::new();
    for head in OF_PRESETS.iter() {
        for entry in head.recorded_by.iter().filter(|entry| entry.agent == recorder.agent) {
            of_agent.push((head, entry.from.as_deref()?));
        }
    }
    let (head, from) = of_agent.into_iter().min_by(|(_, one), (_, other)| numbers(one).cmp(numbers(other)))?;
    let known = if is_day(from) { recorder.day } else { recorder.version };
    let is_older = numbers(known).any(|number| number > 0) && numbers(known).lt(numbers(from));
    (is_older && preset_of(recorder).is_none()).then_some((head.name, from))
}

/// The window that the writer of a log reckons with, in tokens, where the log names this one.
pub fn window_in_force(recorder: Recorder<'_>, logged: u64) -> u64 {
    let percent = preset_of(recorder).map_or(whole(), |(_, entry)| entry.logged_window_percent);
    logged.saturating_mul(100) / percent.max(1)
}

/// How the automatic compactions of a writer's session tell its window; absent where they do not.
pub fn implied_window(recorder: Recorder<'_>) -> Option<&'static ImpliedWindow> {
    preset_of(recorder)?.1.implied_window.as_ref()
}

fn is_day(bound: &str) -> bool {
    let places: Vec<usize> = bound.split('-').map(str::len).collect();
    places == [4, 2, 2]
}

/// The numbers of a version or a day, in order.
fn numbers(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers_and_silence_means_today() {
        let from = |from: &str, before: &str| RecordedBy {
            agent: "a".to_owned(),
            from: (!from.is_empty()).then(|| from.to_owned()),
            before: (!before.is_empty()).then(|| before.to_owned()),
            models: Vec::new(),
            window_from: None,
            window_before: None,
            logged_window_percent: 100,
            implied_window: None,
            notes_prunings: Switch::Off,
            prunings_show: None,
            sets: BTreeMap::new(),
            assumed: Switch::Off,
        };
        let log = |version, day| Recorder { agent: "a", version, day, model: "", window: Some(200_000) };
        assert!(from("2.1.21", "").covers(log("2.1.100", "")));
        assert!(!from("2.1.21", "").covers(log("2.1.3", "")));
        assert!(from("", "2.1.21").covers(log("2.0.75", "")));
        assert!(!from("", "2.1.21").covers(log("", "")));
        assert!(from("2.1.21", "").covers(log("", "")));
        assert!(from("", "2025-12-10").covers(log("", "2025-12-09")));
        assert!(!from("", "").covers(Recorder { agent: "b", ..log("", "") }));
        let (large, small) = (Some(200_001), Some(200_000));
        assert!(!RecordedBy { window_from: large, ..from("", "") }.covers(log("", "")));
        assert!(RecordedBy { window_from: small, window_before: large, ..from("", "") }.covers(log("", "")));
        assert!(!RecordedBy { window_before: small, ..from("", "") }.covers(log("", "")));
    }

    #[test]
    fn a_model_has_many_spellings_and_its_next_version_is_another_one() {
        let entry: RecordedBy = toml::from_str("agent = \"a\"\nmodels = [\"claude-sonnet-5\", \"opus*\"]").unwrap();
        let covers = |model| entry.covers(Recorder { agent: "a", model, ..Recorder::default() });
        let own = ["claude-sonnet-5", "us.anthropic.claude-sonnet-5-20260630-v1:0", "anthropic/claude-sonnet-5[1m]", "my-Opus", ""];
        assert!(own.into_iter().all(covers));
        assert!(!["claude-sonnet-5-5", "claude-sonnet-4-6", "glm-5"].into_iter().any(covers));
    }

    #[test]
    fn codex_names_the_whole_window_at_first_and_later_19_twentieths_of_it() {
        let window = |agent, version, logged| window_in_force(Recorder { agent, version, ..Recorder::default() }, logged);
        assert_eq!(window("codex", "0.36.0", 272_000), 272_000);
        assert_eq!(window("codex", "0.57.0", 258_400), 272_000);
        assert_eq!(window("codex", "0.142.2", 121_600), 128_000);
        assert_eq!(window("codex", "", 258_400), 272_000);
        assert_eq!(window("copilot-cli", "1.0", 128_000), 128_000);
    }

    #[test]
    fn a_log_from_before_its_agent_had_a_rule_is_older_than_the_first() {
        let first = |agent, version| begins_later(Recorder { agent, version, ..Recorder::default() });
        assert_eq!(first("codex", "0.34.0"), Some(("codex@2025-10", "0.40.0")));
        assert_eq!(["0.40.0", "0.57.0", "0.0.0", "0.0.0-fixture", ""].map(|version| first("codex", version)), [None; 5]);
        // The oldest preset of Claude Code is that of all older versions.
        assert_eq!([first("claude-code", "0.2.9"), first("no-agent", "1")], [None; 2]);
    }

    #[test]
    fn a_usage_that_brought_no_compaction_on_lies_below_the_limit() {
        let implied = ImpliedWindow { below: 33_000, of: vec![200_000, 400_000, 1_000_000], by_calls_alone: Switch::Off };
        assert_eq!(
            [155_123, 166_999, 167_000, 350_000].map(|usage| implied.window(usage, None, 0)),
            [200_000, 200_000, 400_000, 400_000].map(Some)
        );
        assert_eq!((implied.window(150_000, None, 366_989), implied.window(970_000, None, 0)), (Some(400_000), None));
        // A compaction at 193,237 is one of a limit below that, though a prompt of 230,686 fitted. One at 367,500 may be one of either limit.
        assert_eq!([193_237, 367_500].map(|size| implied.window(150_000, Some(size), 230_686)), [200_000, 400_000].map(Some));
    }

    #[test]
    fn windows_that_contradict_each_other_give_way_to_that_of_most() {
        let implied = ImpliedWindow { below: 33_000, of: vec![200_000, 400_000, 1_000_000], by_calls_alone: Switch::Off };
        let of_most =
            |events: &[(u64, u64)]| implied.of_most(&events.iter().map(|(below, size)| (Some(*below), Some(*size))).collect::<Vec<_>>());
        // Usage that was taken over stands above the limit, and a size may lie just below it.
        let (taken_over, own) = ((203_000, 213_000), (166_000, 166_600));
        assert_eq!(of_most(&[taken_over, own, own]), Some(200_000));
        // Of one against one nothing is told, and where one window fits all there is no contradiction.
        assert_eq!(of_most(&[taken_over, own]), None);
        assert_eq!([of_most(&[own, own]), of_most(&[(150_000, 367_500), (150_000, 367_500), (350_000, 367_500)])], [None, None]);
    }
}
