//! What is typed: one name for one thing everywhere, options that fit what they are given to, and files that are not written over.

use crate::support::{self, Program};
use std::fs;
use std::path::Path;

const SESSION: &str = "tests/data/cli/session.jsonl";

/// The program, printing to a page of 80 columns.
fn ctxsim(words: &[&str]) -> Program {
    support::ctxsim(words).columns(80)
}

#[test]
fn a_chart_refuses_what_it_does_not_use() {
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("x.svg").to_string_lossy().into_owned();
    for (words, said) in [
        (
            &["survival", "--vary", "a=1,2"][..],
            "charts of the kind survival do not use --vary; charts that do: sweep, sweep-map, sweep-trade",
        ),
        (&["peaks", "--estimator", "chars/4"], "do not use --estimator; charts that do: drift, buffer"),
        (&["cost", "--session", "x"], "do not use --session; charts that do: context"),
        (&["reuse", "-p", "pi"], "charts of the kind reuse do not use --policy; charts that do: context, peaks"),
        (&["peaks", "--cache", "none"], "do not use --cache"),
    ] {
        let refused = ctxsim(&[&["chart"], words, &[SESSION, "-o", &file]].concat()).code(2);
        assert!(refused.stderr().contains(said), "{words:?}: {}", refused.stderr());
    }
    // What a project has for other charts is no reason to refuse one.
    let config = out.path().join("ctxsim.toml");
    fs::write(&config, "policy = [\"pi\"]\ncache = \"none\"\n").unwrap();
    ctxsim(&["chart", "peaks", SESSION, "-o", &file]).env("CTXSIM_CONFIG", &config).code(0);
}

#[test]
fn nothing_is_written_over_without_force() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let there = |name: &str| fs::read(Path::new(&place(name))).unwrap();
    fs::write(place("mine.jsonl"), "mine").unwrap();
    let refused = ctxsim(&["convert", SESSION, "-o", &place("mine.jsonl")]).code(2);
    assert!(refused.stderr().contains("is there already") && there("mine.jsonl") == b"mine", "{}", refused.stderr());
    ctxsim(&["convert", SESSION, "--output", &place("mine.jsonl"), "--force"]).code(0);
    assert!(there("mine.jsonl").starts_with(b"{\"ctxsim\""));
    fs::write(place("mine.ctxtrace"), "mine").unwrap();
    let refused = ctxsim(&["trace", "build", SESSION, "-o", &place("mine.ctxtrace")]).code(2);
    assert!(refused.stderr().contains("--force"));
    ctxsim(&["trace", "build", SESSION, "-o", &place("x.ctxtrace")]).code(0);
    ctxsim(&["trace", "build", SESSION, "-o", &place("x.ctxtrace")]).code(2);
    ctxsim(&["trace", "build", SESSION, "-o", &place("x.ctxtrace"), "--force"]).code(0);
    // Nothing goes among an agent's own logs.
    let home = folder.path().join("home");
    fs::create_dir_all(home.join(".claude/projects")).unwrap();
    let inside = home.join(".claude/projects/x.jsonl").to_string_lossy().into_owned();
    let refused = ctxsim(&["convert", SESSION, "-o", &inside]).env("HOME", &home).code(2);
    assert!(refused.stderr().contains("where nothing is ever written"), "{}", refused.stderr());
}

#[test]
fn whoever_mistypes_is_told_what_was_meant() {
    for (words, said) in [
        (&["replay", SESSION, "--input-format", "claud"][..], "did you mean `claude-code`?"),
        (&["models", "nosuch"], "(`ctxsim models` lists them)"),
        (&["policy", "show", "opencod"], "did you mean `opencode`?"),
        (&["policy", "show", "mini-swe-agent", "--as-config"], "has no settings for what the policy does"),
    ] {
        let refused = ctxsim(words).code(2);
        assert!(refused.stderr().contains(said), "{words:?}: {}", refused.stderr());
    }
}

#[test]
fn truncations_have_a_column_where_a_policy_truncates() {
    let logs = "transcripts/pi";
    let both = ctxsim(&["replay", logs, "-q", "-p", "none", "-p", "baseagent", "--markdown"]).stdout();
    let none = ctxsim(&["replay", logs, "-q", "-p", "none", "--markdown"]).stdout();
    let json = ctxsim(&["replay", logs, "-q", "-p", "none", "-p", "baseagent", "--json"]).stdout();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let cuts = json["policies"][1]["events"]["truncate"].as_u64().unwrap();
    let column = |table: &str| {
        let lines: Vec<Vec<&str>> =
            table.lines().filter(|line| line.starts_with('|')).map(|line| line.split('|').map(str::trim).collect()).collect();
        let at = lines[0].iter().position(|name| *name == "truncations")?;
        // The first table alone: its rows are as wide as its head.
        let rows = lines.iter().take_while(|row| row.len() == lines[0].len());
        let policies = rows.filter(|row| ["none", "baseagent"].contains(&row[1]));
        Some(policies.map(|row| row[at].to_owned()).collect::<Vec<String>>())
    };
    assert_eq!(column(&both), Some(vec!["0".to_owned(), cuts.to_string()]));
    assert!(cuts > 0 && !none.contains("truncations"), "{none}");
    // Spreadsheets have it always.
    for policy in ["none", "baseagent"] {
        assert!(ctxsim(&["replay", logs, "-q", "-p", policy, "--csv"]).stdout().lines().next().unwrap().contains(",truncations,"));
    }
}

#[test]
fn columns_that_say_nothing_of_a_sweep_are_left_out() {
    let words = ["sweep", "transcripts/pi", "-q", "-p", "pi", "--vary", "keepRecentTokens=10k,20k", "--markdown"];
    let table = ctxsim(&words).stdout();
    assert!(!table.contains("of best possible") && table.contains("reused text kept"), "{table}");
}

#[test]
fn a_template_says_what_holds_without_it() {
    let template = ctxsim(&["config", "--template"]).stdout();
    for line in
        ["#cache = \"recorded\"", "#json = false", "#gap = 0", "#vary = []  # a list of [POLICY:]PARAM=VALUES", "#subagents = \"include\""]
    {
        assert!(template.lines().any(|known| known == line), "{line}: {template}");
    }
    let bare = template.lines().filter(|line| line.starts_with('#') && line.trim_end().ends_with('='));
    assert_eq!(bare.count(), 0);
    // It is a document once the signs are gone, and places that are named each time are not in it.
    let settings = template.lines().filter_map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')));
    let document: String = settings.map(|line| format!("{line}\n")).collect();
    let table: toml::Table = document.parse().unwrap();
    assert!(table.contains_key("cache") && !table.contains_key("out") && !table.contains_key("force") && !table.contains_key("write"));
}

#[test]
fn an_agents_own_configuration_names_what_is_left_to_the_agent() {
    let shown = ctxsim(&["policy", "show", "opencode", "--as-config"]).stdout();
    assert!(
        !shown.contains("\"tail_turns\"") && shown.contains("`reserved` is worked out for each model (min(20000, max_output_reserved))"),
        "{shown}"
    );
    let differences = ctxsim(&["policy", "diff", "opencode", "codex"]).stdout();
    assert!(differences.contains("auto: only opencode@1.18: on") && !differences.contains("0 or 1"), "{differences}");
    assert!(differences.contains("1.2 (factor)"), "{differences}");
}
