use crate::made::Native;
use crate::support::{self, Program, project};
use serde_json::{Value, json};
use std::fs;

/// The program, printing to a page of 120 columns.
fn ctxsim(words: &[&str]) -> Program {
    support::ctxsim(words).columns(120)
}

#[test]
fn the_corpus_is_the_same_object_as_in_a_replay() {
    let inspected = ctxsim(&["inspect", "transcripts/", "--json"]).json();
    let replayed = ctxsim(&["replay", "transcripts/", "--policy", "none", "--json"]).json();
    assert_eq!(inspected["schema"], "ctxsim.inspect/2");
    let recorded = |report: &Value| {
        let mut corpus = report["corpus"].as_object().expect("an object").clone();
        let anchored = corpus.remove("anchored_share").and_then(|share| share.as_f64()).expect("a share");
        (corpus, anchored)
    };
    let ((facts, guessed), (expected, counted)) = (recorded(&inspected), recorded(&replayed));
    assert_eq!(facts, expected);
    assert!((guessed - counted).abs() < 0.01, "{guessed} estimated from lengths, {counted} counted");
}

/// Files by reader, and files by agent: what lies between them is said.
#[test]
fn files_of_copies_are_counted_and_named() {
    let folder = tempfile::tempdir().expect("folder");
    for name in ["one.jsonl", "two.jsonl", "three.jsonl"] {
        fs::copy(project().join("transcripts/claude-code/chinese.jsonl"), folder.path().join(name)).expect("copied");
    }
    let logs = folder.path().to_string_lossy().into_owned();
    let inspected = ctxsim(&["inspect", &logs, "--json"]).json();
    assert_eq!((&inspected["corpus"]["files"], &inspected["corpus"]["duplicates"]["files"]), (&3.into(), &2.into()));
    assert!(ctxsim(&["inspect", &logs, "--details"]).stdout().contains("2 files hold nothing else"));
    // What was measured before says the same.
    let elsewhere = tempfile::tempdir().expect("folder");
    let trace = elsewhere.path().join("all.ctxtrace").to_string_lossy().into_owned();
    ctxsim(&["trace", "build", &logs, "-o", &trace]).code(0);
    assert_eq!(ctxsim(&["inspect", &trace, "--json"]).json()["corpus"]["duplicates"], inspected["corpus"]["duplicates"]);
}

/// A model that the catalogue does not know, or the log does not name, has the window that the log names, as its agent reckons with it.
#[test]
fn the_window_of_a_log_is_shown_where_the_catalogue_has_none() {
    let folder = tempfile::tempdir().expect("folder");
    let window = |version: &str, window: u64, model: &str| {
        let head = json!({"session": "one", "agent": "codex", "version": version, "window": window, "model": model});
        let reply = json!({"role": "assistant", "text": "done", "usage": {"prompt": 1000, "output": 10}});
        let log = Native::new(head).line(json!({"role": "user", "text": "Go"})).line(reply).write(folder.path(), "one.jsonl");
        ctxsim(&["inspect", &log, "--json"]).json()["models"][0]["window"].clone()
    };
    assert_eq!([window("0.34.0", 272_000, ""), window("0.57.0", 258_400, "no-such-model")], [json!(272_000), json!(272_000)]);
    assert_eq!([window("0.34.0", 100_000, "gpt-4.1"), window("0.34.0", 0, "")], [json!(1_047_576), json!(null)]);
}

/// Ids that count messages from 1 stand in every session: with other times they are no copies. A log that holds a side call alone is a session too, and one that holds
/// nothing is named.
#[test]
fn short_ids_make_no_copies() {
    let session = |name: &str, day: Option<u32>, text: &str| {
        let time = |second: u32| day.map(|day| format!("2026-01-0{day}T00:00:0{second}Z"));
        let reply = |id: &str, text: &str, prompt: u64| {
            let usage = json!({"prompt": prompt, "output": 10});
            json!({"time": time(2), "role": "assistant", "id": id, "text": text, "usage": usage})
        };
        Native::new(json!({"session": name}))
            .line(json!({"time": time(1), "role": "user", "id": "m1", "text": text}))
            .line(reply("m2", "done", 1000))
            .line(reply("m3", "more", 2000))
            .text()
    };
    let inspected = |logs: &[String]| {
        let folder = tempfile::tempdir().expect("folder");
        for (number, log) in logs.iter().enumerate() {
            fs::write(folder.path().join(format!("{number}.jsonl")), log).expect("written");
        }
        let inspected = ctxsim(&["inspect", &folder.path().to_string_lossy(), "--json"]).json();
        let corpus = &inspected["corpus"];
        (
            corpus["sessions"].as_u64(),
            corpus["calls_with_usage"].as_u64(),
            corpus["duplicates"]["sessions"].as_u64(),
            corpus["skipped"].clone(),
        )
    };
    let counts = |logs: &[String]| {
        let (sessions, calls, copies, _) = inspected(logs);
        [sessions, calls, copies].map(Option::unwrap)
    };
    assert_eq!(counts(&[session("a", Some(1), "one"), session("b", Some(2), "two"), session("c", Some(3), "one")]), [3, 6, 0]);
    // At the same times they are; without times the conversation tells.
    assert_eq!(counts(&[session("a", Some(1), "one"), session("b", Some(1), "one")]), [1, 2, 1]);
    assert_eq!(counts(&[session("a", None, "one"), session("b", None, "another one")]), [2, 4, 0]);
    assert_eq!(counts(&[session("a", None, "one"), session("b", None, "one")]), [1, 2, 1]);
    let head = |name: &str| Native::new(json!({"session": name}));
    let side = json!({"side_call": {"id": "t1", "model": "gpt-5", "usage": {"prompt": 200_000, "output": 6_000}}});
    let (sessions, calls, copies, skipped) =
        inspected(&[session("a", Some(1), "one"), head("side").line(side).text(), head("empty").text()]);
    assert_eq!((sessions, calls, copies), (Some(2), Some(3), Some(0)));
    assert!(skipped[0]["reason"].as_str().unwrap().contains("session without messages"), "{skipped}");
}

/// A longer log repeats the replies of another one without their usage: they count where they have it.
#[test]
fn a_copy_with_usage_wins() {
    let folder = tempfile::tempdir().expect("folder");
    for (name, replies) in [("long", &[false, false, true][..]), ("short", &[true, true])] {
        let mut log = Native::new(json!({"session": name})).line(json!({"role": "user", "text": name}));
        for (place, has_usage) in replies.iter().enumerate() {
            let usage = has_usage.then(|| json!({"prompt": 1000, "output": 10}));
            log = log.line(json!({"role": "assistant", "id": format!("reply-with-a-long-id-{place}"), "text": "done", "usage": usage}));
        }
        log.write(folder.path(), &format!("{name}.jsonl"));
    }
    let corpus = &ctxsim(&["inspect", &folder.path().to_string_lossy(), "--json"]).json()["corpus"];
    let figures = ["sessions", "calls", "calls_with_usage", "recorded_prompt_tokens"].map(|key| corpus[key].as_u64().expect("a figure"));
    assert_eq!(figures, [2, 3, 3, 3000]);
}

/// Whoever names a vocabulary gets what is counted in it.
#[test]
fn a_named_vocabulary_is_counted_in() {
    let inspected = ctxsim(&["inspect", "transcripts/", "--tokenizer", "o200k_base", "--json"]).json();
    let replayed = ctxsim(&["replay", "transcripts/", "--tokenizer", "o200k_base", "--policy", "none", "--json"]).json();
    assert_eq!(inspected["corpus"], replayed["corpus"]);
}

/// The samples' own page says what each holds.
#[test]
fn sessions_are_told_one_by_one() {
    let inspected = ctxsim(&["inspect", "transcripts/", "--json"]).json();
    let sessions = inspected["sessions"].as_array().expect("sessions");
    let sum = |key: &str| sessions.iter().filter_map(|session| session[key].as_u64()).sum::<u64>();
    assert_eq!((sessions.len(), sum("calls_with_usage")), (16, 869));
    let of = |source: &str| sessions.iter().find(|session| session["source"] == source).expect("a session of this file");
    let opencode = of("transcripts/opencode/prune-and-compaction.json");
    assert_eq!((&opencode["agent"], &opencode["agent_version"]), (&"opencode".into(), &"1.2.24".into()));
    assert_eq!((&opencode["compactions"], &opencode["prunings"]), (&1.into(), &1.into()));
    assert_eq!((&opencode["calls_with_usage"], &opencode["largest_prompt_tokens"]), (&126.into(), &193_671.into()));
    let helper = of("transcripts/claude-code/long-window/subagents/agent-b496cb50.jsonl");
    assert!(helper["parent"].is_string(), "{helper}");
    let models = inspected["models"].as_array().expect("models");
    let replayed: u64 = models.iter().filter_map(|model| model["calls"].as_u64()).sum();
    assert_eq!(replayed, 868, "one recorded call is a summariser's");
    assert_eq!(models.iter().find(|model| model["model"] == "gpt-5.4").expect("a model")["window"], 1_050_000);
}

#[test]
fn roles_are_counted_in_the_raw_file() {
    let path = "transcripts/mini-swe-agent/tool-calls.traj.json";
    let raw: Value = serde_json::from_str(&fs::read_to_string(project().join(path)).expect("a sample")).expect("JSON");
    let messages = raw["messages"].as_array().expect("messages");
    let of = |role: &str| messages.iter().filter(|message| message["role"] == role).count() as u64;
    let inspected = ctxsim(&["inspect", path, "--json"]).json();
    let counted = &inspected["sessions"][0]["messages"];
    for role in ["system", "user", "assistant", "tool"] {
        assert_eq!(counted[role], of(role), "{role}: {counted}");
    }
    let calls: usize = messages.iter().filter_map(|message| message["tool_calls"].as_array()).map(Vec::len).sum();
    assert_eq!(inspected["sessions"][0]["tool_calls"], calls as u64);
}

#[test]
fn damage_is_told_and_words_are_not() {
    let folder = tempfile::tempdir().expect("folder");
    let good = fs::read_to_string(project().join("tests/data/cli/session.jsonl")).expect("a fixture");
    fs::write(folder.path().join("cut.jsonl"), format!("{good}{{\"secret-of-the-log\": ")).expect("written");
    fs::write(folder.path().join("notes.md"), "not a log").expect("written");
    let wide: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(folder.path().join("wide.jsonl"), wide).expect("written");
    let path = folder.path().to_string_lossy().into_owned();
    let shown = ctxsim(&["inspect", &path, "--details"]).stdout();
    assert!(shown.contains("is written in UTF-16"), "{shown}");
    assert!(shown.contains("1 record could not be used."), "{shown}");
    assert!(shown.contains("no reader knows its format") && !shown.contains("Next:"), "{shown}");
    assert!(ctxsim(&["inspect", &path]).stdout().contains("Next:  ctxsim replay"));
    assert!(!shown.contains("secret-of-the-log"), "{shown}");
    ctxsim(&["inspect", &path, "--strict"]).code(1);
    assert_eq!(ctxsim(&["inspect", "tests/data/cli/session.jsonl", "--csv"]).stdout().lines().count(), 2);
}

/// One session of the native shape: two calls of the conversation, one beside it, and a message whose time says nothing.
fn with_a_call_beside(folder: &std::path::Path) -> String {
    let log = Native::new(json!({"session": "one"}))
        .line(json!({"role": "user", "text": "Do it.", "time": "1961-04-12T06:07:00Z"}))
        .line(json!({"role": "assistant", "id": "a1", "text": "One.", "usage": {"prompt": 1000, "output": 10}}))
        .line(json!({"role": "user", "text": "And more."}))
        .line(json!({"role": "assistant", "id": "a2", "text": "Two.", "usage": {"prompt": 1100, "output": 10, "trust": "estimated"}}))
        .line(json!({"side_call": {"id": "title-of-the-session", "usage": {"prompt": 50, "output": 5}}}));
    log.write(folder, "one.jsonl")
}

#[test]
fn calls_that_no_replay_has_and_times_that_say_nothing_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = with_a_call_beside(folder.path());
    let said = |words: &[&str]| ctxsim(words).stdout().split_whitespace().collect::<Vec<_>>().join(" ");
    let first = said(&["inspect", &path]);
    assert!(first.contains("3 of 3 calls (1 of summarisers, titles and the like) have recorded usage"), "{first}");
    assert!(said(&["inspect", &path, "--details"]).contains("time before 1970 or after 2199"));
    // Fewer calls are compared than have usage, and the first screen says why.
    let drift = said(&["drift", &path]);
    assert!(drift.contains("2 of 3 calls with recorded usage are left out: 1 with usage that is not the provider's, 1 of summ"), "{drift}");
}

#[test]
fn a_table_without_a_price_names_its_entries() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.json");
    fs::write(&path, r#"{"a\u001b[31m":{},"b":{},"c":{"input_cost_per_token":1},"d":{}}"#).unwrap();
    let said = ctxsim(&["replay", "tests/data/cli/session.jsonl", "-p", "none", "--prices", path.to_str().unwrap()]).code(2).stderr();
    assert!(said.contains(r#"4 entries ("a\u{1b}[31m", "b", "c", ...)"#), "{said}");
}
