//! `ctxsim diff`: where two policies part, what each did there, and how their contexts go on.

use crate::made::Native;
use crate::support::{ctxsim, project};
use serde_json::{Value, json};
use std::fs;

const SESSION: &str = "tests/data/cli/session.jsonl";
const MASK: &str = "tests/data/cli/mask.toml";

fn stdout(arguments: &[&str]) -> String {
    ctxsim(arguments).columns(120).stdout()
}

fn parsed(arguments: &[&str]) -> Value {
    serde_json::from_str(&stdout(arguments)).expect("JSON")
}

fn numbers(side: &Value, keys: &[&str]) -> Vec<i64> {
    keys.iter().map(|key| side[key].as_i64().unwrap_or_else(|| panic!("{key} in {side}"))).collect()
}

/// The session that the semantics work by hand. From call 3 on the first result (300 tokens) is a placeholder of 2; everything else
/// stays: 950 - 298 = 652, 1,000 - 298 = 702.
#[test]
fn the_session_worked_by_hand() {
    let value = parsed(&["diff", SESSION, "--policy", "none", "--policy", MASK, "--window", "1k", "--json"]);
    assert_eq!(value["schema"], "ctxsim.diff/3");
    assert_eq!((&value["parted_sessions"], &value["median_call"]), (&1.into(), &2.into()));
    let session = &value["sessions"][0];
    assert_eq!((&session["call"], &session["before_tokens"]), (&2.into(), &950.into()));
    let keys = [
        "dropped_items",
        "dropped_tokens",
        "added_tokens",
        "returned_tokens",
        "context_tokens",
        "after_1_tokens",
        "end_tokens",
        "prompt_tokens",
        "difference_tokens",
        "overflows_later",
    ];
    let [none, mask] = [&session["sides"][0], &session["sides"][1]];
    assert_eq!(numbers(none, &keys), [0, 0, 0, 0, 950, 1000, 1000, 2890, 596, 0]);
    assert_eq!(numbers(mask, &keys), [1, 298, 0, 0, 652, 702, 702, 2294, -596, 0]);
    assert_eq!(none["events"], Value::Array(Vec::new()));
    assert_eq!((&mask["events"][0]["kind"], &mask["events"][0]["rule"]), (&"prune".into(), &"mask".into()));
    assert_eq!(mask["dropped_regions"], serde_json::json!({ "tool_result": 298 }));
    assert_eq!(mask["dropped_tools"], serde_json::json!({ "read": 298 }));
    assert_eq!(mask["after_10_tokens"], Value::Null);
    // One difference has one share: of the first policy's sum, which sends less here.
    let text = stdout(&["diff", SESSION, "--policy", MASK, "--policy", "none", "--window", "1k"]);
    assert!(text.contains("596 more (26.0 %) for none"), "{text}");
}

/// What a rule does after a reply shows at the next call, and the overflow of one of the two is counted from there on.
#[test]
fn a_rule_after_the_reply_parts_them_at_the_next_call() {
    let folder = tempfile::tempdir().expect("folder");
    let late = folder.path().join("late.toml");
    let text = fs::read_to_string(project().join(MASK)).expect("mask").replace("\"mask\"", "\"late\"").replace("pre_call", "post_call");
    fs::write(&late, text).expect("written");
    let late = late.to_string_lossy();
    let value = parsed(&["diff", SESSION, "-p", "none", "-p", &late, "--window", "960", "--json"]);
    let session = &value["sessions"][0];
    // After call 2 the usage is 670, above 560: one result stands there, and it is the newest. After call 3 (975) the first is masked.
    assert_eq!((&session["call"], &session["before_tokens"]), (&3.into(), &1000.into()));
    let late = &session["sides"][1];
    assert_eq!(late["events"][0]["call"], 2);
    assert_eq!(numbers(late, &["context_tokens", "dropped_tokens", "overflows_later"]), [702, 298, 0]);
    assert_eq!(numbers(&session["sides"][0], &["context_tokens", "dropped_tokens", "overflows_later"]), [1000, 0, 1]);
}

#[test]
fn the_same_policy_never_parts_from_itself() {
    let folder = tempfile::tempdir().expect("folder");
    let twin = folder.path().join("twin.toml");
    fs::write(&twin, "extends = \"codex\"\n").expect("written");
    let twin = twin.to_string_lossy();
    for other in [twin.as_ref(), "codex"] {
        let value = parsed(&["diff", "transcripts/", "-p", "codex", "-p", other, "--window", "60k", "--json"]);
        assert_eq!(value["parted_sessions"], 0);
        assert!(value["sessions"].as_array().expect("sessions").iter().all(|session| session["call"].is_null()));
    }
    assert!(stdout(&["diff", "transcripts/", "-p", "codex", "-p", &twin]).contains("codex@2026-06 and twin never part"));
    // That neither ever acts is said as `replay` says it.
    let idle = folder.path().join("idle.toml");
    fs::write(&idle, "extends = \"pi\"\n").expect("written");
    let alike = stdout(&["diff", "transcripts/pi", "-p", "pi", "-p", &idle.to_string_lossy(), "--window", "5m"]);
    let alike = alike.split_whitespace().collect::<Vec<_>>().join(" ");
    for policy in ["pi@1.5", "idle"] {
        assert!(alike.contains(&format!("! {policy}: never acts: its threshold, ")), "{alike}");
    }
    let turned = parsed(&["diff", "transcripts/", "-p", "codex", "-p", &twin, "--set", "twin:limit=50k", "--json"]);
    assert!(turned["parted_sessions"].as_u64() > Some(0), "one of the two was turned");
}

/// Up to the parting both series are the same, and the sizes there and behind it are those of the series.
#[test]
fn a_comparison_agrees_with_two_replays() {
    for (one, other) in [("codex", "opencode"), ("baseagent", "pi"), ("none", "mycoder")] {
        let logs = ["transcripts/", "-p", one, "-p", other, "--window", "60k", "--json"];
        let diff = parsed(&[&["diff"], &logs[..]].concat());
        let replay = parsed(&[&["replay", "--series"], &logs[..]].concat());
        let costs = |report: &Value| [0, 1].map(|policy| report["policies"][policy]["cost"].clone());
        assert!(costs(&diff) == costs(&replay) && costs(&diff)[0].is_object(), "{one} {other}");
        for (place, session) in diff["sessions"].as_array().expect("sessions").iter().enumerate() {
            let series = |policy: usize| replay["policies"][policy]["sessions"][place]["series"].as_array().expect("series");
            let size = |policy: usize, call: usize| series(policy).get(call).map(|call| (&call["attempted"], &call["actual"]));
            let Some(call) = session["call"].as_u64().map(|call| call as usize) else {
                assert!((0..series(0).len()).all(|call| size(0, call) == size(1, call)), "{one} {other} {session}");
                continue;
            };
            assert!((0..call).all(|call| size(0, call) == size(1, call)), "{one} {other} {session}");
            for policy in [0, 1] {
                let side = &session["sides"][policy];
                assert_eq!(size(policy, call), Some((&side["attempted_tokens"], &side["context_tokens"])));
                assert_eq!(size(policy, call + 1).map(|(_, actual)| actual), Some(&side["after_1_tokens"]).filter(|size| !size.is_null()));
                let sums = numbers(side, &["dropped_tokens", "returned_tokens", "added_tokens", "context_tokens"]);
                let before = session["before_tokens"].as_i64().expect("before");
                let missing = before - sums[0] + sums[1] + sums[2] - sums[3];
                assert!(missing.abs() <= before / 100, "{one} {other}: {session}");
            }
        }
    }
}

#[test]
fn the_report_on_the_samples() {
    let shown = stdout(&["diff", "transcripts/", "-p", "codex", "-p", "opencode", "--details"]);
    let golden = &project().join("tests/data/cli/diff.txt");
    let expected = fs::read_to_string(golden).unwrap_or_default();
    assert!(
        shown == expected,
        "to renew {}: COLUMNS=120 ctxsim diff transcripts/ -p codex -p opencode --details\n{shown}",
        golden.display()
    );
    for form in ["--json", "--csv", "--markdown"] {
        let of = |threads| stdout(&["diff", "transcripts/", "-p", "codex", "-p", "pi", form, "--threads", threads]);
        assert_eq!(of("1"), of("8"), "{form}");
    }
    assert_eq!(stdout(&["diff", "transcripts/", "-p", "codex", "-p", "pi", "--csv"]).lines().count(), 33, "one row per session and policy");
}

/// A session that one of them fails ends there: its prompts are compared with none.
#[test]
fn sums_are_over_the_sessions_that_both_bring_to_their_end() {
    let (value, replay) = (
        parsed(&["diff", "transcripts/", "-p", "none", "-p", "opencode", "--json"]),
        parsed(&["replay", "transcripts/", "-p", "none", "-p", "opencode", "--json"]),
    );
    let policies = replay["policies"].as_array().expect("policies");
    let sessions = |policy: usize| policies[policy]["sessions"].as_array().expect("sessions");
    let ends = |place: &usize| [0, 1].iter().all(|policy| sessions(*policy)[*place]["failed_sessions"] == 0);
    let both: Vec<usize> = (0..sessions(0).len()).filter(ends).collect();
    let sum = |policy: usize| both.iter().filter_map(|place| sessions(policy)[*place]["prompt_tokens"].as_u64()).sum::<u64>();
    assert!(both.len() < sessions(0).len() && sum(0) > 0, "{}", both.len());
    let share = sum(1) as f64 / sum(0) as f64 - 1.0;
    assert!((value["difference"]["share"].as_f64().expect("a share") - share).abs() < 1e-9, "{}", value["difference"]);
    let shown = stdout(&["diff", "transcripts/", "-p", "none", "-p", "opencode"]);
    assert!(shown.contains(&format!("the {} of {} sessions that both", both.len(), sessions(0).len())), "{shown}");
}

#[test]
fn two_policies_are_needed() {
    for policies in [&["-p", "pi"][..], &[], &["-p", "pi", "-p", "codex", "-p", "none"]] {
        let failed = ctxsim(&[&["diff", SESSION], policies].concat()).code(2);
        assert!(failed.stderr().contains("diff compares two policies"));
    }
}

/// What has no price is no part of the sums in dollars, and what summarisers take is.
#[test]
fn list_prices_are_those_of_the_calls_that_have_one() {
    let folder = tempfile::tempdir().unwrap();
    for (name, model) in [("priced", "gpt-4o"), ("unknown", "zork-1")] {
        let log = Native::new(json!({"session": name, "agent": "mine", "model": model}));
        let log = (1..=6).fold(log, |log, call| log.asked(&format!("step {call}"), "done as was asked", call * 12_000, 90));
        log.write(folder.path(), &format!("{name}.jsonl"));
    }
    let shown = |names: &[&str]| {
        let logs: Vec<String> =
            names.iter().map(|name| folder.path().join(format!("{name}.jsonl")).to_string_lossy().into_owned()).collect();
        let words = [&["diff", "-p", "none", "-p", "baseagent"], &logs.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat();
        ctxsim(&words).stdout().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(shown(&["priced"]).contains("ost with summarisers $"), "{}", shown(&["priced"]));
    assert!(shown(&["priced", "unknown"]).contains("ost of 6 of 12 calls with summarisers $"), "{}", shown(&["priced", "unknown"]));
    assert!(!shown(&["unknown"]).contains("ost with") && !shown(&["unknown"]).contains("ost of"), "{}", shown(&["unknown"]));
}

/// The first screen shows where they part, whatever is said of it.
#[test]
fn the_first_screen_shows_where_they_part() {
    let logs = match crate::support::shared() {
        Some(folder) => folder.join("transcripts-2").to_string_lossy().into_owned(),
        None => "transcripts/".to_owned(),
    };
    let shown = ctxsim(&["diff", &logs, "-q", "-p", "codex", "-p", "opencode"]).columns(80).stdout();
    assert!(shown.lines().count() <= 30 && shown.contains(" part in "), "{shown}");
    let (_, table) = shown.split_once("────\n").unwrap_or_else(|| panic!("{shown}"));
    assert!(table.lines().take_while(|line| !line.is_empty() && !line.starts_with('…')).count() >= 3, "{shown}");
}

/// Where both fail a session they are alike up to there; where one does, its prompts are fewer for no good reason.
#[test]
fn a_failed_session_is_no_saving() {
    let said = |words: &[&str]| stdout(words).split_whitespace().collect::<Vec<_>>().join(" ");
    let folder = tempfile::tempdir().expect("folder");
    let twin = folder.path().join("twin.toml");
    fs::write(&twin, "extends = \"none\"\n").expect("written");
    let alike = said(&["diff", SESSION, "-p", "none", "-p", &twin.to_string_lossy(), "--window", "960"]);
    let never =
        "none and twin never part: at every call of 1 session both have the same context, up to the call at which both fail 1 of them.";
    assert!(alike.contains(never), "{alike}");
    let apart = ["diff", SESSION, "-p", "none", "-p", MASK, "--window", "960"];
    let text = said(&apart);
    let sentence = "Prompt tokens cannot be compared: no session is brought to its end by both (none fails 1, mask fails 0 of 1).";
    assert!(text.contains(sentence) && text.contains("failed sessions first") && !text.contains("same sum"), "{text}");
    let session = &parsed(&[&apart[..], &["--json"]].concat())["sessions"][0];
    let of = |key: &str| [0, 1].map(|side| session["sides"][side][key].clone());
    assert_eq!(of("failed_call"), [json!(3), Value::Null]);
    assert_eq!(of("difference_tokens"), [Value::Null, Value::Null]);
    // Beside sessions that both bring to their end, those that one fails come first, and the sum says how many each fails.
    let (value, shown) = (
        parsed(&["diff", "transcripts/", "-p", "none", "-p", "opencode", "--json"]),
        stdout(&["diff", "transcripts/", "-p", "none", "-p", "opencode", "-q"]),
    );
    let fails = |session: &&Value| session["sides"].as_array().is_some_and(|sides| sides.iter().any(|side| !side["failed_call"].is_null()));
    let failed: Vec<&str> =
        value["sessions"].as_array().expect("sessions").iter().filter(fails).filter_map(|session| session["session"].as_str()).collect();
    assert!(!failed.is_empty() && shown.contains(&format!("(none fails {}, ", failed.len())), "{shown}");
    let (_, rows) = shown.split_once("────\n").expect("a table");
    let first = rows.split_whitespace().next().and_then(|name| name.split('…').next()).expect("a name");
    assert!(failed.iter().any(|name| name.starts_with(first)), "{first} {failed:?}");
}
