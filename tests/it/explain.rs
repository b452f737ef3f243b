//! `ctxsim explain`: what fired and why, what the policy estimated when, which events share one line.

use crate::made::Native;
use crate::support::{ctxsim, project};
use serde_json::json;
use std::fs;

const SESSION: &str = "tests/data/cli/session.jsonl";
const HEAD: &str = "about = \"for a test\"\n[window]\ndefault = 1_000\nreserve = 200\n";

/// What explain says about the session worked by hand under a policy of these rules.
fn told(rules: &str, form: &str) -> String {
    let folder = tempfile::tempdir().expect("folder");
    let policy = folder.path().join("test.toml");
    fs::write(&policy, format!("{HEAD}{rules}")).expect("written");
    let policy = policy.to_string_lossy();
    ctxsim(&["explain", "by-hand", "-p", &policy, "--window", "1000", SESSION, form]).columns(200).stdout()
}

/// Without a policy the session lives under the preset of its own agent; a baseline's name of a session is one, too.
#[test]
fn a_session_is_told_under_its_own_preset() {
    let shown = ctxsim(&["explain", "32252a7f", "transcripts/claude-code"]).stdout();
    assert!(shown.contains("under claude-code@"), "{shown}");
    let unknown = ctxsim(&["explain", "session.json…y-hand", SESSION]).stdout();
    assert!(unknown.contains("under none"), "{unknown}");
}

/// Which preset a session has is not known when an option is typed: what others have is let pass, and what none has is not.
#[test]
fn what_is_set_in_another_preset_has_no_effect_and_is_said() {
    let run = |set: &str| ctxsim(&["explain", "32252a7f", "transcripts/claude-code", "--set", set]);
    let plain = ctxsim(&["explain", "32252a7f", "transcripts/claude-code", "--json"]).json();
    for set in ["keepRecentTokens=10k", "pi:keepRecentTokens=10k"] {
        let said = run(set).code(0).stderr();
        assert!(said.contains(&format!("`--set {set}` has no effect: it sets nothing in claude-code@")), "{said}");
        assert_eq!(run(set).args(["--json"]).json()["timeline"], plain["timeline"]);
    }
    assert!(!run("output_reserve=32k").code(0).stderr().contains("has no effect: it sets"));
    assert!(run("keepRecentTokns=10k").code(2).stderr().contains("did you mean `keepRecentTokens`"));
    assert!(run("keepRecentTokens=10kb").code(2).stderr().contains("`10kb`"));
}

#[test]
fn a_rule_that_fired_by_a_count_names_the_count() {
    let rule = "[[rule]]\nid = 'many'\nat = 'pre_call'\nselect = { kind = ['tool_result'], tail = [{ n = 1, unit = 'items' }] }\n\
                mask = { text = '[old]' }\nwhen.any = [{ level = { of = 'usage_total', gt = 90_000 } }, { count = { of = 'messages', gt = 4 } }]\n";
    let shown = told(rule, "--details");
    assert!(shown.contains("many: 5 messages, limit 4; touched 1 item"), "{shown}");
    assert!(!shown.contains("90,000"), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&told(rule, "--json")).expect("JSON");
    assert_eq!(json["timeline"][0]["count"], serde_json::json!({ "of": "messages", "number": 5, "limit": 4 }));
    assert_eq!(json["timeline"][0]["limit"], serde_json::Value::Null);
}

#[test]
fn an_estimate_says_of_which_moment_it_is() {
    let rule = fs::read_to_string(project().join("tests/data/cli/mask.toml")).expect("mask");
    let (_, rule) = rule.split_once("[[rule]]").expect("rule");
    let shown = told(&format!("[[rule]]{}", rule.replace("\"=trigger\"", "560")), "--details");
    assert!(shown.contains("estimated 340 at the last look"), "{shown}");
    assert!(shown.contains("estimated 670 before it was rewritten"), "{shown}");
}

#[test]
fn what_fires_without_effect_at_each_call_is_told_once() {
    let rule = "[[rule]]\nid = 'vain'\nat = 'pre_call'\nwhen.level = { of = 'usage_total', gt = 100 }\n\
                select = { kind = ['tool_result'], tail = [{ n = 9, unit = 'items' }] }\nmask = { text = '[old]' }\n";
    let shown = told(rule, "--details");
    assert!(shown.contains("calls 2 to 4: fired without gain at each of 3 calls; at first vain: estimated 340, limit 100"), "{shown}");
    assert_eq!(shown.matches("no gain").count(), 1, "{shown}");
    assert_eq!(told(rule, "--csv").matches("no gain").count(), 3, "a spreadsheet has each");
}

#[test]
fn a_cut_on_arrival_tells_the_size_of_the_item() {
    let rule =
        "[[rule]]\nid = 'cut'\nat = 'ingest'\nselect = { kind = ['tool_result'] }\ntruncate = { max = 20, unit = 'chars', head = 1.0 }\n";
    let shown = told(rule, "--details");
    assert!(shown.contains("cut: the item 300 -> "), "{shown}");
    let row = shown.lines().find(|line| line.contains("truncate")).expect("a cut");
    assert!(row.split_whitespace().nth(2) == Some("cut:"), "no context beside it: {row}");
}

#[test]
fn a_session_is_found_as_tables_shorten_it() {
    for name in ["by-hand", "by-", "by…nd", "b...hand", "y-han", "session.jsonl"] {
        ctxsim(&["explain", name, "-p", "none", SESSION]).code(0);
    }
    for name in ["bx…nd", "by-hand…by-hand", ""] {
        ctxsim(&["explain", name, "-p", "none", "transcripts/", SESSION]).code(2);
    }
}

#[test]
fn a_call_that_is_not_there_is_refused() {
    let at = |call: &str| ctxsim(&["explain", "by-hand", "-p", "pi", SESSION, "--at", call]);
    at("1").code(0);
    let error = at("900").code(2).stderr();
    assert!(error.starts_with("error: there is no call 900: the session has "), "{error}");
}

/// The rows that say the most stay where a screen lacks room, in their order, and the first sentences name the cause.
#[test]
fn what_fails_or_overflows_stays_on_the_screen() {
    for (session, policy, rows) in
        [("32252a7f", "baseagent", ["overflow: ", "failed: "]), ("22485d98", "pi@0.58", ["overflow: ", "retry: "])]
    {
        let shown = ctxsim(&["explain", session, "transcripts/", "-p", policy, "-q"]).columns(80).stdout();
        assert!((26..=30).contains(&shown.lines().count()), "{shown}");
        assert!(rows.iter().all(|row| shown.contains(row)), "{shown}");
        let (opening, table) = shown.split_once("what happened\n").expect("a table");
        let opening = opening.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(opening.contains(" overflow at call ") && opening.contains(" (cause: "), "{shown}");
        let first = |line: &str| line.split(['-', ' ']).next().and_then(|call| call.replace(',', "").parse::<u64>().ok());
        let calls: Vec<u64> = table.lines().skip(1).take_while(|line| !line.is_empty()).filter_map(first).collect();
        assert!(calls.len() > 2 && calls.is_sorted(), "{calls:?}: {shown}");
    }
}

/// The limit on prompts is named where it lies below the window, and whose size a policy acts by where that is not the one that is drawn.
#[test]
fn the_opening_names_what_decides() {
    let folder = tempfile::tempdir().expect("folder");
    let log = (1..=3).fold(Native::new(json!({"model": "gpt-5"})), |log, call| log.asked("go on", "done", call * 9_000, 90));
    let path = log.write(folder.path(), "s.jsonl");
    let shown = ctxsim(&["explain", "s", &path, "-p", "none", "-q"]).columns(80).stdout();
    assert!(shown.contains("window 400k, prompts up to 272k"), "{shown}");
    let shown = ctxsim(&["explain", "22485d98", "transcripts/", "-p", "pi@0.58", "-q"]).columns(80).stdout();
    assert!(shown.contains("(acts when its own estimate passes 184k)") && !shown.contains("prompts up to"), "{shown}");
}

/// Where a rule first fires stays on the screen, also without effect and before many compactions.
#[test]
fn the_first_act_stays_on_the_screen() {
    let folder = tempfile::tempdir().expect("folder");
    let begun = Native::new(json!({"model": "claude-sonnet-4-5"})).line(json!({"role": "user", "text": "go on"}));
    let log = (0..40).fold(begun, |log, call| {
        let asks = json!({"call": {"id": format!("c{call}"), "name": "read", "arguments": {"path": format!("f{call}")}}});
        let result = json!({"result": {"id": format!("c{call}"), "text": format!("{call} word ").repeat(900)}});
        let reply = json!({"role": "assistant", "parts": [asks], "usage": {"prompt": 26_000 + 2_100 * call, "output": 100}});
        log.line(reply).line(json!({"role": "tool", "parts": [result]}))
    });
    let path = log.write(folder.path(), "s.jsonl");
    let shown = ctxsim(&["explain", "s", &path, "-p", "pi", "--window", "60k", "-q"]).columns(80).stdout();
    let (_, table) = shown.split_once("what happened\n").expect("a table");
    assert!(table.find("no gain: ").is_some_and(|none| table.find("compact: ").is_some_and(|compact| none < compact)), "{shown}");
    assert!(shown.contains("more: --all"), "{shown}");
}

/// Each lost reference is named by the message of the log that holds the text, and what the screen has no room for is counted.
#[test]
fn all_that_was_lost_is_named() {
    let line = |number: u64| format!("let value_{number} = compute_the_thing(alpha_{number}, beta_{number});");
    let folder = tempfile::tempdir().expect("folder");
    for begins_in_middle in [false, true] {
        let head = json!({"model": "claude-sonnet-4-5", "begins_in_middle": begins_in_middle});
        let begun = Native::new(head).line(json!({"role": "user", "text": "go on"}));
        let log = (0..40).fold(begun, |log, call| {
            let asks = json!({"call": {"id": format!("c{call}"), "name": "read", "arguments": {"path": format!("f{call}")}}});
            let result =
                json!({"result": {"id": format!("c{call}"), "text": format!("{}\n{}", line(call), format!("{call} word ").repeat(900))}});
            let reply = json!({"role": "assistant", "parts": [asks], "usage": {"prompt": 26_000 + 2_100 * call, "output": 100}});
            log.line(reply).line(json!({"role": "tool", "parts": [result]}))
        });
        let log = (0..25).fold(log, |log, number| log.asked("which?", &line(number), 112_000 + 200 * number, 40));
        let path = log.write(folder.path(), "s.jsonl");
        let run = |words: &[&str]| ctxsim(&["explain", "s", &path, "-p", "pi", "--window", "60k", "-q"]).args(words).columns(80);
        let json = run(&["--json"]).json();
        let named = json["broken_references"].as_array().expect("a list");
        let lines: Vec<_> = named.iter().filter(|one| one["kind"] == "line").collect();
        assert_eq!(lines.len() as u64, json["lost_lines"].as_u64().expect("a count"), "{json}");
        assert_eq!(lines.len(), 25);
        for one in lines {
            let number = one["call"].as_u64().expect("a call") - 40;
            assert_eq!(one["source"].as_u64(), Some(2 + 2 * number), "{one}");
        }
        let shown = run(&["--lost"]).stdout();
        assert!(shown.contains(" more: --all"), "{shown}");
        let all = run(&["--lost", "--all"]).stdout();
        assert!(!all.contains("more: --all"), "{all}");
        let rows = |shown: &str| shown.lines().filter(|row| row.contains(" read ")).count();
        assert!(rows(&all) >= 25 && rows(&shown) < rows(&all), "{all}");
    }
}
