use crate::made::Native;
use crate::support::{ctxsim, project, shared};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const POLICIES: [&str; 8] = ["--policy", "none", "--policy", "opencode", "--policy", "codex", "--policy", "baseagent"];

/// What a replay finds out, but for the names of files and what could not be read of them; `None` where there is nothing to read.
fn replayed(path: &Path, policies: &[&str]) -> Option<Value> {
    let path = path.to_string_lossy();
    let arguments = [&["replay", &path, "--json", "--series", "--quiet"], policies].concat();
    let replay = ctxsim(&arguments).run();
    let mut value: Value = serde_json::from_slice(&replay.stdout).ok()?;
    for key in ["files", "formats", "skipped", "losses"] {
        value["corpus"][key] = json!(null);
    }
    value["notes"] = json!(null);
    // The own agent's settings are looked for beside the logs, which stand elsewhere now.
    let [recorded, own] = ["recorded", "own"].map(|row| value[row].take());
    let rows = value["policies"].as_array_mut()?;
    rows.extend([recorded, own]);
    for session in rows.iter_mut().filter_map(|policy| policy["sessions"].as_array_mut()).flatten() {
        session["source"] = json!(null);
    }
    Some(value)
}

/// Every conversion of a file to the native shape replays to the numbers of the original. Says whether there was something to convert.
fn keeps_its_numbers(original: &Path, folder: &Path, policies: &[&str]) -> bool {
    let Some(expected) = replayed(original, policies) else { return false };
    for redact in [&["--redact"][..], &[]] {
        let converted = folder.join("converted.jsonl");
        let named = [&*original.to_string_lossy(), "-q", "--force", "-o", &*converted.to_string_lossy()].map(str::to_owned);
        let arguments: Vec<&str> =
            std::iter::once("convert").chain(named.iter().map(String::as_str)).chain(redact.iter().copied()).collect();
        ctxsim(&arguments).code(0);
        assert_eq!(replayed(&converted, policies).as_ref(), Some(&expected), "{} {redact:?}", original.display());
    }
    true
}

/// What is left out is said.
#[test]
fn sub_agents_are_left_out_where_that_is_asked() {
    let converted = |how: &str| {
        let run = ctxsim(&["convert", "transcripts/", "--subagents", how, "-o", "-"]).run();
        let lines: Vec<Value> = String::from_utf8_lossy(&run.stdout).lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let count = |key: &str| lines.iter().filter(|line: &&Value| line["ctxsim"].is_string() && !line[key].is_null()).count();
        (count("session"), count("parent"), String::from_utf8_lossy(&run.stderr).contains("3 sessions of sub-agents left out"))
    };
    assert_eq!((converted("include"), converted("exclude")), ((16, 3, false), (13, 0, true)));
    // Nor is one of them said to be in no log at all.
    let logs = ctxsim(&["convert", "transcripts/", "-o", "-"]).stdout();
    let lines = logs.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let session = lines.filter(|line| line["parent"].is_string()).find_map(|line| Some(line["session"].as_str()?.to_owned())).unwrap();
    let explained = ctxsim(&["explain", &session, "transcripts/", "-p", "pi", "--subagents", "exclude"]).code(2);
    assert!(explained.stderr().contains("among the sessions that --since"), "{}", explained.stderr());
}

#[test]
fn samples_keep_their_numbers() {
    let folder = tempfile::tempdir().expect("folder");
    let samples = ignore::WalkBuilder::new(project().join("transcripts")).build().flatten().map(ignore::DirEntry::into_path);
    // One of each agent: the large ones differ in nothing that matters here.
    let mut smallest: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    for path in samples.filter(|path| path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl")) {
        let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        let agent = path.strip_prefix(project()).unwrap().components().take(2).collect();
        let known = smallest.entry(agent).or_insert_with(|| path.clone());
        if size(&path) < size(known) {
            *known = path;
        }
    }
    assert_eq!(smallest.values().filter(|path| keeps_its_numbers(path, folder.path(), &POLICIES)).count(), 6);
}

/// A real file of every format: the smallest that holds enough to tell, or the next where that one holds no session.
#[test]
fn formats_keep_their_numbers() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().expect("folder");
    let sources = fs::read_to_string(shared.join("transcripts/SOURCES.tsv")).expect("a list of the files");
    let mut by_format: BTreeMap<&str, Vec<(u64, PathBuf)>> = BTreeMap::new();
    for row in sources.lines().skip(1) {
        let mut fields = row.split('\t');
        let (Some(path), Some(format)) = (fields.next(), fields.next()) else { continue };
        let path = shared.join("transcripts").join(path);
        let size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        if (10_000..2_000_000).contains(&size) {
            by_format.entry(format).or_default().push((size, path));
        }
    }
    let mut formats = 0;
    for files in by_format.values_mut() {
        files.sort();
        // What policies do is held over the samples: none, and one that prunes.
        formats += usize::from(files.iter().take(2).any(|(_, path)| keeps_its_numbers(path, folder.path(), &POLICIES[..4])));
    }
    assert!(formats >= 15, "{formats} formats");
}

#[test]
fn not_a_word_is_left() {
    let folder = tempfile::tempdir().expect("folder");
    let words = |name: &str| folder.path().join(name);
    let session = r#"{"ctxsim":"native/1","session":"s","agent":"a","model":"gpt-5"}
{"role":"system","parts":[{"text":"zebra instructions"},{"tools":[{"name":"read","description":"zebra tool"}]}]}
{"role":"user","text":"zebra question about a certain long line of the file"}
{"role":"assistant","parts":[{"thinking":"zebra thought"},{"call":{"id":"c1","name":"read","arguments":{"path":"/home/zebra/a_certain_file.rs"}}}]}
{"role":"tool","parts":[{"result":{"id":"c1","text":"zebra question about a certain long line of the file"}},{"other":"zebra attachment"}]}
{"compaction":{"kind":"compact","summary":"zebra summary"}}
"#;
    fs::write(words("in.jsonl"), session).expect("written");
    let (from, to) = (words("in.jsonl"), words("out.jsonl"));
    ctxsim(&["convert", &from.to_string_lossy(), "--redact", "-o", &to.to_string_lossy()]).code(0);
    let redacted = fs::read_to_string(&to).expect("written");
    assert!(!redacted.contains("zebra") && !redacted.contains("certain"), "{redacted}");
    // Hashes by which a candidate text could be checked are gone: what is left are small numbers.
    for line in redacted.lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        for part in value["parts"].as_array().into_iter().flatten() {
            let measured =
                [&part["measured"], &part["result"]["measured"], &part["call"]["measured"]].into_iter().find(|found| found.is_object());
            let evidence = &measured.expect("measures")["evidence"];
            assert!(evidence["identity"].as_u64().is_none_or(|number| number < 100), "{evidence}");
            assert!(evidence["units"].as_array().into_iter().flatten().all(|unit| unit[0].as_u64().is_some_and(|number| number < 100)));
        }
    }
    assert!(keeps_its_numbers(&from, folder.path(), &POLICIES));
    let counted = ctxsim(&["replay", &to.to_string_lossy(), "-p", "none", "--tokenizer", "cl100k_base", "--details"]).code(0);
    let shown = counted.stdout();
    assert!(shown.contains("measured in another vocabulary"), "{shown}");
}

/// Definitions of tools in Anthropic's shape would make chat messages look like one of its logs: their usage would be lost.
#[test]
fn chat_messages_of_anthropic_logs_are_read_back() {
    let folder = tempfile::tempdir().expect("folder");
    let out = folder.path().join("chat.jsonl").to_string_lossy().into_owned();
    let calls = |path: &str| {
        let corpus = ctxsim(&["inspect", path, "--json"]).json()["corpus"].clone();
        (
            corpus["formats"].clone(),
            corpus["sessions"].clone(),
            corpus["calls_with_usage"].clone(),
            corpus["recorded_prompt_tokens"].clone(),
        )
    };
    let from = "tests/data/anthropic-messages/exchanges.jsonl";
    ctxsim(&["convert", from, "--to", "openai-chat", "-o", &out]).code(0);
    // But for one call outside the conversations, which chat messages have no place for.
    let (before, after) = (calls(from), calls(&out));
    assert_eq!((before.1, before.2, before.3), (json!(2), json!(5), json!(730)));
    assert_eq!(after, (json!({ "openai-chat": 1 }), json!(2), json!(4), json!(640)));
}

#[test]
fn chat_messages_are_read_back() {
    let folder = tempfile::tempdir().expect("folder");
    let out = folder.path().join("chat.jsonl");
    let from = "transcripts/mini-swe-agent/tool-calls.traj.json";
    let told = ctxsim(&["convert", from, "--to", "openai-chat", "-o", &out.to_string_lossy()]).code(0);
    assert!(told.stderr().contains("wrote 1 session of "));
    let original: Value = serde_json::from_str(&fs::read_to_string(project().join(from)).expect("a sample")).expect("JSON");
    let written: Value = serde_json::from_str(&fs::read_to_string(&out).expect("written")).expect("one line of JSON");
    let contents = |value: &Value| -> Vec<Value> {
        let messages = value["messages"].as_array().expect("messages");
        messages
            .iter()
            .filter(|message| message["role"] != "exit")
            .map(|message| json!([message["role"], message["content"], message["tool_call_id"]]))
            .collect()
    };
    let (before, after) = (contents(&original), contents(&written));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before[0], after[0]);
        assert_eq!(before[1].as_str().unwrap_or_default(), after[1].as_str().unwrap_or_default());
        assert_eq!(before[2], after[2]);
    }
    let inspect = |path: &str| -> Value { ctxsim(&["inspect", path, "--json"]).run().json() };
    let (one, other) = (inspect(from), inspect(&out.to_string_lossy()));
    for key in ["tool_calls", "calls_with_usage", "prompt_tokens", "output_tokens", "largest_prompt_tokens"] {
        assert_eq!(one["sessions"][0][key], other["sessions"][0][key], "{key}");
    }
}

#[test]
fn what_cannot_be_converted_is_said() {
    let folder = tempfile::tempdir().expect("folder");
    let out = folder.path().join("out.jsonl");
    let out = out.to_string_lossy();
    let told = |arguments: &[&str], code: i32| ctxsim(arguments).code(code).stderr();
    let chat = told(&["convert", "transcripts/pi", "--to", "openai-chat", "--redact", "-o", &out], 2);
    assert!(chat.contains("--redact writes the native shape"), "{chat}");
    let nothing = told(&["convert", "Cargo.toml", "-o", &out], 3);
    assert!(nothing.contains("no reader knows its format"), "{nothing}");
    assert!(!Path::new(&*out).exists(), "nothing is left half written");
    let left_out = told(&["convert", "transcripts/pi", "--to", "openai-chat", "-o", &out], 0);
    assert!(left_out.contains("no place for 1 recorded compaction or pruning\n"), "{left_out}");
}

/// Chance draws sessions by what they are, not by the files that they stand in.
#[test]
fn uncertainty_is_the_same_in_another_file() {
    let folder = tempfile::tempdir().expect("folder");
    let out = folder.path().join("all.jsonl");
    let (from, to) = ("transcripts", out.to_string_lossy().into_owned());
    ctxsim(&["convert", from, "-q", "-o", &to]).code(0);
    let swept = |path: &str| -> Vec<Value> {
        let words = ["sweep", path, "-q", "-p", "baseagent", "--vary", "auto_compact_threshold=0.3,0.6", "--json"];
        let record: Value = ctxsim(&words).json();
        record["settings"].as_array().expect("settings").iter().map(|one| json!([one["objective"], one["spread"]])).collect()
    };
    let (before, after) = (swept(from), swept(&to));
    assert!(before.iter().all(|one| one[1]["tokens"]["p05"].is_number()), "{before:?}");
    assert_eq!(before, after);
}

/// What decides what a session costs comes back: aborted replies are no calls, cache writes are there, and copies count once.
#[test]
fn chat_messages_cost_what_the_session_did() {
    let folder = tempfile::tempdir().expect("folder");
    fs::create_dir(folder.path().join("logs")).expect("folder");
    for (id, calls) in [("first", 2), ("second", 3)] {
        let begun = Native::new(json!({"session": id, "agent": "pi", "model": "claude-opus-4-6"}));
        let log = (1..=calls).fold(begun, |log, place| {
            let (id, model) = (format!("message-{place}"), if place < 3 { "claude-opus-4-6" } else { "claude-haiku-4-5" });
            let [asked, said] = [0, 1].map(|minute| format!("2026-01-05T10:{place}{minute}:00Z"));
            let usage = json!({"prompt": 1_000 * place, "cache_read": 500, "cache_write": 400, "cache_write_1h": 100, "output": 9});
            log.line(json!({"role": "user", "text": "go on", "id": id, "time": asked}))
                .line(json!({"role": "assistant", "text": "broken off", "aborted": true}))
                .line(json!({"role": "assistant", "text": "done", "call_id": id + "-call", "model": model, "time": said, "usage": usage}))
        });
        log.write(folder.path(), &format!("logs/{id}.jsonl"));
    }
    let run = |words: &str| ctxsim(&words.split(' ').collect::<Vec<_>>()).within(folder.path());
    run("convert logs/ -q --to openai-chat -o chat.jsonl").code(0);
    let found = |path: &str| {
        let replay = run(&format!("replay {path} -q -p none --json")).json();
        let (corpus, recorded, none) = (&replay["corpus"], &replay["recorded"], &replay["policies"][0]);
        [&corpus["calls"], &recorded["prompt_tokens"], &recorded["cost"], &none["calls"], &none["cost"]["calibrated"]["cost"]]
            .map(Value::clone)
    };
    let expected = found("logs/");
    assert_eq!((&expected[0], &expected[1]), (&json!(3), &json!(6_000)));
    assert_eq!(found("chat.jsonl"), expected);
}

/// A folder without a session says so, as for every other command.
#[test]
fn nothing_to_convert_has_a_reason() {
    let folder = tempfile::tempdir().expect("folder");
    fs::create_dir(folder.path().join("logs")).expect("folder");
    let said = ctxsim(&["convert", "logs/", "-o", "out.jsonl"]).within(folder.path()).code(3).stderr();
    assert_eq!(said, "error: no session in logs/; hidden files and folders are read where they are named\n");
    assert!(!folder.path().join("out.jsonl").exists());
}

/// A command in `Next:` has a name that is no text as shells read it.
#[cfg(unix)]
#[test]
fn names_that_are_no_text_can_be_pasted() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().expect("folder");
    let name = std::ffi::OsStr::from_bytes(b"a\xff.jsonl");
    if fs::copy(project().join("tests/data/cli/session.jsonl"), folder.path().join(name)).is_ok() {
        let shown = ctxsim(&["replay", "-q", "-p", "pi"]).within(folder.path()).args([name]).code(0).stdout();
        assert!(shown.contains(r"$'a\xff.jsonl'"), "{shown}");
    }
}
