//! What presets mirror: their ages, the page that lists them, the note on logs that are newer.

use crate::made::Native;
use crate::support::{ctxsim, project};
use ctxsim::policy::{Check, Policy, RecordedBy, Recorder, Switch, preset, presets};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

fn stdout(arguments: &[&str]) -> String {
    ctxsim(arguments).columns(200).stdout()
}

#[test]
fn ages_are_counted_up_to_the_day_that_is_printed() {
    let listed = stdout(&["policy", "list", "--age", "--as-of", "2026-11-23", "--all"]);
    assert!(listed.starts_with("Presets, their age as of 2026-11-23\n"), "{listed}");
    let row = |listed: &str, name: &str| -> Vec<String> {
        let line = listed.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap_or_else(|| panic!("{name}: {listed}"));
        line.split_whitespace().skip(1).map(str::to_owned).collect()
    };
    // 2026-06-09 to 2026-11-23: 21 + 31 + 31 + 30 + 31 + 23 days.
    assert_eq!(row(&listed, "codex@2026-06"), ["0.138.0", "2026-06-09", "167"]);
    assert!(row(&listed, "none").is_empty());
    // Where a version's own day is not known, the days count from the reading; a day that is yet to come has no age.
    assert_eq!(row(&listed, "letta"), ["0.16.8", "read", "2026-08-22", "93"]);
    let before = stdout(&["policy", "list", "--age", "--as-of", "2025-12-31", "--all"]);
    assert_eq!(row(&before, "codex@2026-06"), ["0.138.0", "2026-06-09"]);
    let today = stdout(&["policy", "list", "--age"]);
    let day = today.lines().next().unwrap().trim_start_matches("Presets, their age as of ").to_owned();
    assert_eq!(stdout(&["policy", "list", "--age", "--as-of", &day]), today);
    ctxsim(&["policy", "list", "--age", "--as-of", "yesterday"]).code(2);
    ctxsim(&["policy", "list", "--as-of", "2026-11-23"]).code(2);
}

/// Every word that a preset claims is checked: by the suite of vectors, the tests by hand, the logs that it is for.
#[test]
fn what_is_said_of_the_checks_holds() {
    let folder = project().join("tests");
    let texts = |paths: &[&str]| -> String {
        let files = paths.iter().flat_map(|path| {
            let path = folder.join(path);
            if path.is_dir() { crate::support::files(&path) } else { vec![path] }
        });
        files.map(|file| std::fs::read_to_string(file).unwrap()).collect()
    };
    let vectors = texts(&["it/conformance", "data/conformance"]);
    let examples = texts(&["it/policies.rs", "it/policy_systems.rs", "it/policy_examples.rs"]);
    for preset in presets().iter().filter(|preset| !["none", "supersede"].contains(&preset.name)) {
        let system = preset.name.split('@').next().unwrap();
        let first = presets().iter().find(|other| other.name.split('@').next() == Some(system)).unwrap();
        let is_named = |text: &str| {
            text.contains(&format!("\"{}\"", preset.name)) || preset.text == first.text && text.contains(&format!("\"{system}\""))
        };
        let policy = Policy::load(preset.name).unwrap();
        let claims = |check| policy.mirrored.checked.contains(&check);
        assert!(policy.mirrored.checked.is_sorted() && !policy.mirrored.checked.is_empty(), "{}: how was it checked?", preset.name);
        assert!(policy.mirrored.date.or(policy.mirrored.read).is_some(), "{}: of which day?", preset.name);
        assert!(!claims(Check::Vectors) || is_named(&vectors), "{}: no vector drives it", preset.name);
        assert!(!claims(Check::Example) || is_named(&examples), "{}: no test has a case worked by hand", preset.name);
        assert!(!claims(Check::Recordings) || !policy.recorded_by.is_empty(), "{}: it is for no logs", preset.name);
    }
}

/// For each agent the versions, days and windows of its presets follow each other without a hole or an overlap, up to today; and a system's bare name means
/// the preset under which its agent's logs of today were recorded.
#[test]
fn the_presets_of_an_agent_follow_each_other() {
    let policies: Vec<Policy> = presets().iter().map(|preset| Policy::load(preset.name).unwrap()).collect();
    let entries = || policies.iter().flat_map(|policy| policy.recorded_by.iter());
    let mut agents: Vec<&str> = entries().map(|entry| entry.agent.as_str()).collect();
    agents.sort_unstable();
    agents.dedup();
    assert!(agents.len() > 12, "{agents:?}");
    for agent in agents {
        let of_agent: Vec<&RecordedBy> = entries().filter(|entry| entry.agent == agent).collect();
        // A hole or an overlap lies at a bound; before the first one no preset may be known.
        let bounds = of_agent.iter().flat_map(|entry| [entry.from.as_deref(), entry.before.as_deref()]).flatten();
        let windows =
            of_agent.iter().flat_map(|entry| [entry.window_from, entry.window_before]).flatten().flat_map(|bound| [bound - 1, bound]);
        let windows: Vec<Option<u64>> = windows.map(Some).chain([Some(200_000)]).collect();
        for bound in bounds.chain([""]) {
            let is_day = bound.len() == 10 && bound.chars().filter(|letter| *letter == '-').count() == 2;
            let (version, day) = if is_day { ("", bound) } else { (bound, "") };
            for window in &windows {
                let recorder = Recorder { agent, version, day, model: "", window: *window };
                let covering = policies.iter().filter_map(|policy| Some((policy.name.as_str(), &policy.recorded(recorder)?.models)));
                let covering: Vec<(&str, &Vec<String>)> = covering.collect();
                // Presets for other models stand beside each other: the first of a session's model is its own.
                let models: BTreeSet<&Vec<String>> = covering.iter().map(|(_, models)| *models).collect();
                assert!(!covering.is_empty() && models.len() == covering.len(), "{agent} {bound} {window:?}: {covering:?}");
            }
        }
        let today = Recorder { agent, window: Some(200_000), ..Recorder::default() };
        let newest = policies.iter().find_map(|policy| Some((policy, policy.recorded(today)?)));
        let (newest, entry) = newest.unwrap();
        let system = newest.name.split('@').next().unwrap();
        // What no source shows is no reason to take an older rule for the newest.
        let is_bare = preset(system).unwrap().name == newest.name;
        assert!(is_bare || entry.assumed == Switch::On, "{system} is not {}", newest.name);
    }
}

/// The page is made from the presets.
#[test]
fn the_page_of_agents_lists_every_preset() {
    let mut table = String::from("| preset | mirrors | version | of | checked by |\n|---|---|---|---|---|\n");
    for preset in presets() {
        let policy = Policy::load(preset.name).unwrap();
        let checked: Vec<&str> = policy.mirrored.checked.iter().map(|check| check.name()).collect();
        let version = policy.mirrored.version.as_deref().unwrap_or_default();
        let mirrors = policy.mirrors.replace('|', "\\|");
        table += &format!("| `{}` | {mirrors} | {version} | {} | {} |\n", preset.name, policy.mirrored.day(), checked.join(", "));
    }
    let path = project().join("docs/agents.md");
    let page = std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let head = page.split("| preset |").next().unwrap();
    let made = format!("{head}{table}");
    if std::env::var_os("CTXSIM_WRITE").is_some() {
        std::fs::write(&path, made).unwrap();
        return;
    }
    assert!(page == made, "docs/agents.md is not up to date: CTXSIM_WRITE=1 cargo test --test it agents");
}

/// A session of an agent in the native shape.
fn session(folder: &Path, id: &str, agent: &str, version: &str) {
    let log = Native::new(json!({"session": id, "agent": agent, "version": version}));
    log.asked(&format!("Begin {id}."), &format!("Done {id}."), 1000, 9).write(folder, &format!("{id}.jsonl"));
}

#[test]
fn logs_newer_than_the_preset_or_older_than_all_are_named_once_for_each_agent() {
    let folder = tempfile::tempdir().unwrap();
    for (id, agent, version) in [
        ("a", "codex", "0.138.0"),
        ("b", "codex", "0.138.1"),
        ("c", "codex", "0.1000.0"),
        ("d", "claude-code", "99.1.0"),
        ("e", "goose", "99.1.0"),
        ("f", "unheard-of", "99.1.0"),
        ("g", "codex", ""),
        ("h", "claude-code", "1.0.95"),
        ("i", "claude-code", "2.0.76"),
    ] {
        session(folder.path(), id, agent, version);
    }
    let logs = folder.path().to_string_lossy().into_owned();
    for command in [&["inspect", logs.as_str(), "--json"][..], &["replay", &logs, "-p", "none", "--json"], &["backtest", &logs, "--json"]] {
        let report: Value = serde_json::from_str(&stdout(command)).unwrap();
        let notes: Vec<&str> = report["notes"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let newer: Vec<&&str> = notes.iter().filter(|note| note.contains("newer version")).collect();
        assert_eq!(newer.len(), 2, "{notes:?}");
        assert!(newer[0].starts_with("claude-code: 1 session is of a newer version (99.1.0) than its preset mirrors (claude-code@"));
        let codex = "codex: 2 sessions are of a newer version (0.1000.0) than its preset mirrors (codex@2026-06: 0.138.0, 2026-06-09); rules may have changed since.";
        assert_eq!(**newer[1], *codex);
        let older = "claude-code: 1 session is of an older version (1.0.95) than any preset mirrors (claude-code@2.1.1: from 2.0.76); rules may have differed.";
        assert!(notes.contains(&older), "{notes:?}");
        let assumed = "goose: no source shows the rule of 1 session: that of goose@without-pairs is assumed.";
        assert!(notes.contains(&assumed), "{notes:?}");
    }
    let screen = stdout(&["replay", &logs, "-p", "none"]);
    assert!(screen.contains("! 3 sessions are newer than the agent's preset, 1 older: rules may differ"), "{screen}");
    assert!(screen.contains("! The agent's rule is not known for 1 session: its preset is assumed"), "{screen}");
}
