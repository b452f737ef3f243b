//! The recording and the user's own agents beside policies, on sessions made for it.

use crate::backtest::Made;
use crate::made::Native;
use crate::support::{ctxsim, read_all, rows};
use crate::truth::{corpus, differences};
use ctxsim::catalog::Catalog;
use ctxsim::corpus::{Corpus, impose};
use ctxsim::experiment::{RecordedSummaries, replay};
use ctxsim::sim::RecordedSummary;
use ctxsim::trace::CompactionRow;
use serde_json::{Value, json as json_of};
use std::fs;
use std::path::Path;

fn run(arguments: &[&str], home: Option<&Path>) -> String {
    let home = home.unwrap_or(Path::new("/nowhere"));
    ctxsim(arguments).args(["--quiet"]).env("CLAUDE_CONFIG_DIR", "").env("HOME", home).env("XDG_CONFIG_HOME", "").stdout()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&run(&[arguments, &["--json"]].concat(), None)).expect("JSON")
}

/// An automatic compaction at the limit of 167,000 and a manual one far below it.
fn both_kinds(folder: &Path) -> String {
    let made = Made::new("both", "2.1.45").calls(&[20, 90, 150, 168]).compaction(Some(true)).calls(&[30, 60]);
    made.compaction(Some(false)).calls(&[25, 70, 80]).write(folder, "both.jsonl")
}

fn sizes(session: &Value) -> Vec<u64> {
    session["series"].as_array().expect("series").iter().filter_map(|call| call["actual"].as_u64()).collect()
}

#[test]
fn the_recording_is_a_row() {
    let folder = tempfile::tempdir().expect("folder");
    let path = both_kinds(folder.path());
    let value = json(&["replay", &path, "-p", "none", "-p", "opencode"]);
    assert_eq!(value["schema"], "ctxsim.replay/3");
    let recorded = &value["recorded"];
    assert_eq!((&recorded["calls"], &recorded["prompt_tokens"], &recorded["peak_tokens"]), (&9.into(), &693_000.into(), &168_000.into()));
    assert_eq!((&recorded["compactions"], &recorded["manual_compactions"], &recorded["prunes"]), (&2.into(), &1.into(), &0.into()));
    assert_eq!((&recorded["failed_sessions"], &recorded["estimated_calls"]), (&0.into(), &0.into()));
    assert_eq!(recorded["sessions"][0]["prompt_tokens"], 693_000);
    // Without any policy the session outgrows its window: nothing is compared.
    let none = &value["policies"][0];
    assert_eq!((&none["compared_sessions"], &none["tokens_saved"], &none["vs_recorded"]), (&0.into(), &Value::Null, &Value::Null));
    assert_eq!(none.get("beside_recorded"), None);
    let policy = &value["policies"][1];
    let prompt = policy["prompt_tokens"].as_i64().expect("tokens");
    assert_eq!((&policy["compared_sessions"], &policy["recorded_tokens"]), (&1.into(), &693_000.into()));
    assert_eq!(policy["tokens_saved"].as_i64(), Some(693_000 - prompt));
    let share = policy["vs_recorded"].as_f64().expect("share");
    assert!((share - (prompt - 693_000) as f64 / 693_000.0).abs() < 1e-6, "{share}");
    assert_eq!(policy["beside_recorded"]["recorded_prompt_tokens"], 693_000);

    let csv = run(&["replay", &path, "-p", "opencode", "--csv"], None);
    let rows = rows(&csv);
    let cell = |row: usize, key: &str| rows[row][key].as_str();
    assert_eq!([0, 1, 2].map(|row| cell(row, "policy")), ["recorded", "claude-code (defaults)", "opencode@1.18"]);
    assert_eq!((cell(0, "prompt_tokens"), cell(0, "compactions"), cell(0, "overflows"), cell(0, "vs_recorded")), ("693000", "2", "", ""));
    let text = run(&["replay", &path, "-p", "opencode"], None);
    let row = |name: &str| text.lines().position(|line| line.starts_with(name));
    assert!(row("recorded") < row("claude-code (defaults)") && row("claude-code (defaults)") < row("opencode@1.18"), "{text}");
}

#[test]
fn what_a_policy_costs_stands_beside_the_recorded_price() {
    let folder = tempfile::tempdir().expect("folder");
    let path = both_kinds(folder.path());
    let value = json(&["cost", &path, "-p", "opencode"]);
    assert_eq!(value["schema"], "ctxsim.cost/3");
    let usd = |value: &Value| value.as_str().and_then(|usd| usd.parse::<f64>().ok()).expect("dollars");
    // Without cache counts every token costs the input price of opus-4-5, $5 a million; replies $25.
    assert!((usd(&value["recorded"]["cost"]) - (693_000.0 * 5.0 + 900.0 * 25.0) / 1e6).abs() < 1e-9, "{}", value["recorded"]);
    let beside = &value["policies"][0]["beside_recorded"];
    let (cost, recorded) = (usd(&beside["cost"]), usd(&beside["recorded_cost"]));
    assert!((beside["cost_vs_recorded"].as_f64().expect("share") - (cost / recorded - 1.0)).abs() < 1e-6, "{beside}");
    assert!(run(&["cost", &path, "-p", "opencode"], None).lines().any(|line| line.starts_with("recorded")));
}

/// Its own preset, chosen by version; the manual compaction is imposed, and is none of the policy's.
#[test]
fn the_own_agent_is_a_row() {
    let folder = tempfile::tempdir().expect("folder");
    let path = both_kinds(folder.path());
    let value = json(&["replay", &path, "-p", "none", "--series"]);
    let own = &value["own"];
    assert_eq!((&own["policy"], &own["covered_sessions"]), (&"claude-code (defaults)".into(), &1.into()));
    let agent = &own["agents"]["claude-code"];
    assert_eq!((&agent["presets"]["claude-code@early"], &agent["imposed_manual_compactions"]), (&1.into(), &1.into()));
    assert_eq!(own["events"]["compact"], 1, "before the fifth call, and none for the manual one");
    let sizes = sizes(&own["sessions"][0]);
    assert_eq!(sizes[..4], [20_000, 90_000, 150_000, 168_000]);
    assert_eq!(sizes[6..], [25_000, 70_000, 80_000], "behind the manual compaction the context is the recorded one");
    let beside = &agent["beside_recorded"];
    assert_eq!((&beside["compactions"], &beside["recorded_compactions"], &beside["compared_sessions"]), (&1.into(), &1.into(), &1.into()));
    // A session of an agent without a preset is left out, and told.
    let other = Native::new(json_of!({"session": "x", "agent": "nobody", "model": "m"})).asked("hi", "ho", 100, 10);
    let second = other.write(folder.path(), "other.jsonl");
    let value = json(&["replay", &path, &second, "-p", "none"]);
    assert_eq!((&value["own"]["covered_sessions"], &value["own"]["left_out"]["nobody"]), (&1.into(), &1.into()));
    assert_eq!(value["own"]["sessions"].as_array().map(Vec::len), Some(1));
    assert!(value["notes"].to_string().contains("No preset is tied to the logs of the others: nobody 1"));
    assert_eq!(json(&["replay", &second, "-p", "none"]).get("own"), None);
    let silent = Made::new("silent", "2.1.45").calls(&[20, 90]).compaction(None).calls(&[30]).write(folder.path(), "silent.jsonl");
    let notes = json(&["replay", &silent, "-p", "none"])["notes"].to_string();
    assert!(notes.contains("1 compaction whose trigger the logs do not name is not imposed"), "{notes}");
}

/// Settings beside the sessions, or a file that is named, make it the user's own.
#[test]
fn own_settings_are_read_back() {
    let home = tempfile::tempdir().expect("folder");
    let sessions = home.path().join(".claude/projects/p");
    fs::create_dir_all(&sessions).expect("made");
    let made = |at: &Path| Made::new("c", "2.1.45").calls(&[20, 90, 110, 120]).write(at, "c.jsonl");
    let path = made(&sessions);
    let settings = home.path().join(".claude/settings.json");
    fs::write(&settings, r#"{"env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50", "BASH_MAX_OUTPUT_LENGTH": true}, "model": "opus"}"#)
        .expect("written");
    let own = |arguments: &[&str], home: Option<&Path>| -> Value {
        let value: Value = serde_json::from_str(&run(&[arguments, &["-p", "none", "--json"]].concat(), home)).expect("JSON");
        value["own"].clone()
    };
    let found = own(&["replay", &path], Some(home.path()));
    assert_eq!((&found["policy"], &found["events"]["compact"]), (&"claude-code (yours)".into(), &1.into()));
    let elsewhere = tempfile::tempdir().expect("folder");
    let copy = made(elsewhere.path());
    let found = own(&["replay", &copy], Some(home.path()));
    assert_eq!((&found["policy"], &found["events"]["compact"]), (&"claude-code (defaults)".into(), &Value::Null), "not beside these logs");
    let named = own(&["replay", &copy, "--agent-config", &settings.to_string_lossy()], None);
    assert_eq!((&named["policy"], &named["events"]["compact"]), (&"claude-code (yours)".into(), &1.into()));
    // What is proposed next goes by the same settings.
    let next = ctxsim(&["replay", &copy, "--agent-config", &settings.to_string_lossy(), "--cache", "none"]).columns(400).stdout();
    let tune = next.lines().find(|line| line.contains("ctxsim tune")).unwrap_or_default();
    assert!(tune.contains("--agent-config") && tune.contains("--cache none"), "{next}");
    fs::write(&settings, "{ nonsense").expect("written");
    let told = ctxsim(&["replay", &copy, "-p", "none", "--agent-config", &settings.to_string_lossy()]).code(2).stderr();
    assert!(told.contains("not read as settings"), "{told}");
    // Beside the sessions it is no fault of the command.
    let found = own(&["replay", &path], Some(home.path()));
    assert_eq!(found["policy"], "claude-code (defaults)");
}

/// What own agents leave out overflows beside none of their calls.
#[test]
fn overflows_are_held_against_those_of_the_same_sessions() {
    let folder = tempfile::tempdir().expect("folder");
    Made::new("own", "2.1.45").calls(&[20, 50, 70]).write(folder.path(), "own.jsonl");
    let log = Native::new(json_of!({"session": "other", "agent": "mine", "window": 200_000}));
    log.asked("a question", "an answer", 90_000, 6).write(folder.path(), "other.jsonl");
    let logs = folder.path().to_string_lossy();
    let made = tempfile::tempdir().expect("folder");
    let page = format!("{}/", made.path().to_string_lossy());
    let shown = ctxsim(&["report", &logs, "-o", &page, "--window", "60k"]).code(0).stdout();
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("of 3 calls would overflow under claude-code (defaults)") && shown.contains(" would without"), "{shown}");
    assert!(shown.contains("where 1 of "), "{shown}");
}

/// A session whose log ends in a refusal is a failed one of the recording, and nothing is compared over it.
#[test]
fn logs_that_end_in_a_refusal() {
    let folder = tempfile::tempdir().expect("folder");
    let line = |uuid: &str, parent: &str, rest: &str| {
        format!(
            r#"{{"parentUuid":"{parent}","isSidechain":false,"sessionId":"s","version":"2.1.45","uuid":"{uuid}","timestamp":"2026-01-01T00:00:01.000Z",{rest}}}"#
        )
        .replace(r#""parentUuid":"""#, r#""parentUuid":null"#)
    };
    let user = r#""type":"user","message":{"role":"user","content":"go on"}"#;
    let reply = r#""type":"assistant","requestId":"r","message":{"id":"m","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"one"}],"stop_reason":"end_turn","usage":{"input_tokens":70,"output_tokens":5}}"#;
    let refusal = r#""type":"assistant","isApiErrorMessage":true,"message":{"id":"e","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"Prompt is too long"}],"stop_reason":"stop_sequence"}"#;
    let other_error = refusal.replace("Prompt is too long", "API Error: 529 overloaded");
    let write = |name: &str, lines: &[String]| {
        let path = folder.path().join(name);
        fs::write(&path, lines.join("\n")).expect("written");
        path
    };
    let begin = [line("u1", "", user), line("a1", "u1", reply), line("u2", "a1", user)];
    let with = |last: &str| [&begin[..], &[line("a2", "u2", last)]].concat();
    let ended = write("ended.jsonl", &with(refusal));
    let again = reply.replace(r#""m""#, r#""m2""#).replace(r#""r""#, r#""r2""#);
    let went_on = write("went_on.jsonl", &[&with(refusal)[..], &[line("u3", "a2", user), line("a3", "u3", &again)]].concat());
    // Another session than the one that ended: equal ids would make it a copy.
    let other = |line: &String| {
        let ids = ["u1", "u2", "a1", "a2", "m", "r", "s"];
        ids.iter().fold(line.clone(), |line, id| line.replace(&format!("\"{id}\""), &format!("\"other-{id}\"")))
    };
    let overloaded = write("overloaded.jsonl", &with(&other_error).iter().map(other).collect::<Vec<String>>());
    let refused = |path: &Path| read_all(path).0.iter().map(|transcript| transcript.refused).collect::<Vec<bool>>();
    assert_eq!((refused(&ended), refused(&went_on), refused(&overloaded)), (vec![true], vec![false], vec![false]));

    let codex = |last: &str| {
        let meta = r#"{"timestamp":"2026-01-02T03:04:01.000Z","type":"session_meta","payload":{"id":"s","cli_version":"0.94.0"}}"#;
        let user = r#"{"timestamp":"2026-01-02T03:04:04.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"One"}]}}"#;
        let error = format!(
            r#"{{"timestamp":"2026-01-02T03:04:09.000Z","type":"event_msg","payload":{{"type":"error","message":"no","codex_error_info":{last}}}}}"#
        );
        write("rollout.jsonl", &[meta.to_owned(), user.to_owned(), error])
    };
    assert_eq!(refused(&codex(r#""context_window_exceeded""#)), [true]);
    assert_eq!(refused(&codex(r#"{"http_connection_failed":{"http_status_code":500}}"#)), [false]);

    let export = |error: &str| {
        let info = |id: &str, role: &str, rest: &str| {
            format!(
                r#"{{"info":{{"id":"{id}","sessionID":"ses_a","role":"{role}","time":{{"created":1}}{rest}}},"parts":[{{"id":"p{id}","sessionID":"ses_a","messageID":"{id}","type":"text","text":"look"}}]}}"#
            )
        };
        let error = format!(r#","providerID":"p","modelID":"m","error":{{"name":"{error}","data":{{}}}}"#);
        let text = format!(
            r#"{{"info":{{"id":"ses_a","projectID":"p","directory":"/src","title":"t","version":"1.2.0","time":{{"created":1,"updated":2}}}},"messages":[{},{}]}}"#,
            info("msg_01", "user", ""),
            info("msg_02", "assistant", &error)
        );
        write("export.json", &[text])
    };
    assert_eq!(refused(&export("ContextOverflowError")), [true]);
    assert_eq!(refused(&export("APIError")), [false]);

    let value = json(&["replay", &ended.to_string_lossy(), &overloaded.to_string_lossy(), "-p", "pi"]);
    assert_eq!(value["recorded"]["failed_sessions"], 1);
    assert_eq!(value["policies"][0]["compared_sessions"], 1);
    let screen = run(&["replay", &ended.to_string_lossy(), &overloaded.to_string_lossy(), "-p", "pi"], None);
    let screen = screen.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(screen.contains("is over 1 of 2 sessions"), "{screen}");
}

/// What an imposed compaction takes has a name among the rules.
#[test]
fn what_the_log_itself_takes_away_is_counted() {
    let folder = tempfile::tempdir().expect("folder");
    let told = "fn compute_total(orders: &[Order]) -> Amount {";
    let reply = |prompt: u64, part: Value| json_of!({"role": "assistant", "parts": [part], "usage": {"prompt": prompt, "output": 50}});
    let path = Native::new(json_of!({"agent": "claude-code", "version": "2.1.45", "model": "claude-opus-4-5"}))
        .line(json_of!({"role": "user", "text": "Begin."}))
        .line(reply(20_000, json_of!({"call": {"id": "c", "name": "Read", "arguments": {"path": "a"}}})))
        .line(json_of!({"role": "tool", "parts": [{"result": {"id": "c", "text": format!("{told}\n    orders.len()\n")}}]}))
        .line(reply(20_200, json_of!({"text": "Seen."})))
        .line(json_of!({"compaction": {"kind": "compact", "automatic": false, "summary": "What was done so far."}}))
        .line(reply(15_000, json_of!({"text": format!("It reads:\n{told}\n")})))
        .write(folder.path(), "taken.jsonl");
    let own = json(&["replay", &path, "-p", "none"])["own"].clone();
    let lines = |list: &str| own[list].as_array().expect("a list").iter().find(|one| one["evidence"] == "line").expect("lines").clone();
    let (all, taken) = (lines("references"), lines("broken_by_rule"));
    assert_eq!((&taken["rule"], own["lost_lines"].as_u64()), (&"recorded".into(), Some(1)), "{all} {taken}");
    for fate in ["summarised", "truncated", "cleared", "dropped"] {
        assert_eq!(taken[fate], all[fate], "{fate}");
    }
}

/// References survive an imposed compaction where the summary or the messages that stayed hold the text; all others are lost there.
#[test]
fn imposed_sessions_keep_calls_and_recorded_prompts() {
    let folder = tempfile::tempdir().expect("folder");
    let path = both_kinds(folder.path());
    let catalog = Catalog::builtin().expect("catalogue");
    let corpus = corpus(&catalog, &[Path::new(&path)]);
    let trace = &corpus.traces[0];
    assert!(!differences(trace).is_empty(), "undone, the prompts are larger");
    let all = impose(trace, &|_: &CompactionRow| true);
    assert_eq!(differences(&all), []);
    assert_eq!((all.imposed.len(), all.calls.len(), all.messages.len()), (2, trace.calls.len(), trace.messages.len() + 2));
    let manual = impose(trace, &|event: &CompactionRow| event.automatic == Some(false));
    let differing: Vec<usize> = differences(&manual).into_iter().map(|(call, ..)| call).collect();
    assert_eq!(differing, [4, 5], "the two calls between the compaction that is undone and the one that is imposed");
    let settings = ctxsim::experiment::ReplaySettings::new(&catalog);
    let policies = [ctxsim::policy::Policy::load("claude-code@early").expect("preset")];
    let unchanged = replay(&corpus, &policies, &settings).expect("replayed");
    assert_eq!(unchanged[0].imposed.len(), 0, "policies that are compared get the session as it is undone");
}

/// A session in the native shape: a user's word, then these lines.
fn native(folder: &Path, lines: impl IntoIterator<Item = Value>) -> String {
    let begun = Native::new(json_of!({})).line(json_of!({"role": "user", "id": "u", "text": "do it"}));
    lines.into_iter().fold(begun, Native::line).write(folder, "made.jsonl")
}

fn reply(number: u64, usage: Value) -> Value {
    json_of!({"role": "assistant", "id": format!("a{number}"), "parts": [{"text": "word ".repeat(200)}], "usage": usage})
}

fn told(number: u64) -> Value {
    json_of!({"role": "user", "id": format!("u{number}"), "text": "more ".repeat(300)})
}

/// Where a log counts no cache, the bill of no policy at all is no other than the recorded one; without a cache both are the list price.
#[test]
fn a_cache_that_no_log_counts_is_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let lines = (0..6).flat_map(|number| [reply(number, json_of!({"prompt": 20_000 + number * 520, "output": 200})), told(number)]);
    let path = native(folder.path(), lines);
    for cache in ["recorded", "modelled", "none"] {
        let value = json(&["replay", &path, "-p", "none", "--cache", cache]);
        let beside = &value["policies"][0]["beside_recorded"];
        assert_eq!((&beside["cost_vs_recorded"], &beside["cost"]), (&0.0.into(), &beside["recorded_cost"]), "{cache}");
        // 127,800 tokens at $1.25 and 1,200 at $10 a million.
        assert_eq!(value["recorded"]["cost"], "0.17175");
        // What was read from the cache is not known.
        assert_eq!(value["recorded"]["cache_hit_rate"], Value::Null);
        let drawn = run(&["chart", "cost", &path, "-p", "none", "--cache", cache, "--format", "csv", "-o", "-"], None);
        let costs: Vec<&str> = drawn.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
        assert!(costs.len() == 2 && costs[0] == costs[1], "{cache}: {drawn}");
    }
    // Where the log counts its cache, a bill without one, or with a perfect one, is of another world.
    let counted = |number: u64| json_of!({"prompt": 20_000 + number * 520, "cache_read": 18_000, "output": 200});
    let path = native(folder.path(), (0..6).flat_map(|number| [reply(number, counted(number)), told(number)]));
    for (cache, model) in [("none", ""), ("perfect", ""), ("none", "gpt-5.5")] {
        let model = if model.is_empty() { vec![] } else { vec!["--model", model] };
        let value = json(&[&["replay", &path, "-p", "none", "--cache", cache], &model[..]].concat());
        assert_eq!(value["policies"][0]["beside_recorded"]["cost_vs_recorded"], Value::Null, "{cache} {model:?}");
        assert_eq!(value["recorded"]["cache_hit_rate"], json_of!(0.84507));
    }
}

/// Where a log has usage for some calls alone and no count of the cache, the others are priced with a modelled one, and the report says so.
#[test]
fn estimated_calls_of_a_log_without_a_cache_have_a_modelled_one() {
    let folder = tempfile::tempdir().unwrap();
    let notes = |usages: [Value; 3]| {
        let path = native(folder.path(), (0..3).zip(usages).flat_map(|(number, usage)| [reply(number, usage), told(number)]));
        let value = json(&["cost", &path, "-p", "none"]);
        let notes: Vec<String> = value["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap().to_owned()).collect();
        notes.into_iter().find(|note| note.contains("without any count of the provider's cache")).unwrap()
    };
    let usage = |prompt: u64| json_of!({"prompt": prompt, "output": 200});
    let but = "the recorded ones none, but for calls without usage, whose cost is estimated with it; what is compared";
    assert!(notes([usage(20_000), usage(20_520), usage(21_040)]).contains("the recorded ones none; what is compared"));
    assert!(notes([usage(20_000), usage(20_520), Value::Null]).contains(but));
}

/// A rate that rests on few of the prompt tokens would speak for all.
#[test]
fn a_hit_rate_needs_half_of_the_prompt_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let rate = |usages: [Value; 4]| {
        let path = native(folder.path(), (0..4).zip(usages).flat_map(|(number, usage)| [reply(number, usage), told(number)]));
        let csv = run(&["cost", &path, "-p", "none", "--csv"], None);
        let shown = rows(&csv)[0]["hits"].clone();
        let [cost, replay] = ["cost", "replay"].map(|command| json(&[command, &path, "-p", "none"])["recorded"]["cache_hit_rate"].clone());
        assert_eq!((&cost, cost.is_null()), (&replay, shown.is_empty()), "{csv}");
        replay
    };
    let counted = json_of!({"prompt": 20_000, "cache_read": 15_000, "output": 200});
    let none = || Value::Null;
    assert_eq!(rate([counted.clone(), none(), none(), none()]), Value::Null);
    assert_eq!(rate([counted.clone(), counted.clone(), counted.clone(), none()]), json_of!(0.75));
    assert_eq!(rate([counted.clone(), counted.clone(), counted.clone(), counted.clone()]), json_of!(0.75));
}

/// A call without usage behind a compaction is priced as it was sent, not as the conversation would be that nothing had shortened.
#[test]
fn what_follows_a_compaction_without_usage_is_priced_as_sent() {
    let folder = tempfile::tempdir().unwrap();
    let growing = |number: u64| json_of!({"prompt": 100_000 + number * 40_000, "cache_read": if number == 0 { 0 } else { 60_000 + number * 40_000 }, "output": 200});
    let before = (0..4).flat_map(|number| [reply(number, growing(number)), told(number)]);
    let compaction = json_of!({"compaction": {"kind": "compact", "automatic": true, "tokens_before": 260_000, "tokens_after": 30_000, "summary": "short"}});
    let last = json_of!({"role": "assistant", "id": "b", "parts": [{"text": "word"}]});
    let after = [compaction, reply(8, json_of!({"prompt": 30_000, "cache_read": 0, "output": 200})), told(8), last];
    let recorded = json(&["replay", &native(folder.path(), before.chain(after)), "-p", "none"])["recorded"].clone();
    let tokens = recorded["estimated_prompt_tokens"].as_u64().unwrap();
    assert!((30_000..32_000).contains(&tokens), "{tokens}");
    // Even without any cache so many tokens cost less than 4 cents; the whole conversation costs 30.
    let cost: f64 = recorded["estimated_cost"].as_str().unwrap().parse().unwrap();
    assert!(cost > 0.0 && cost < tokens as f64 * 1.25e-6 + 0.001, "{cost}");
}

/// What a compaction took out is not asked of a partial prompt behind it: its usage is recorded.
#[test]
fn a_partial_prompt_behind_a_compaction_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let item = |payload: Value| json_of!({"type": "response_item", "payload": payload});
    let said = |role: &str, words: usize| {
        item(json_of!({"type": "message", "role": role, "content": [{"type": "text", "text": "word ".repeat(words)}]}))
    };
    let usage = |total: u64, input: u64| {
        let sums =
            json_of!({"total_token_usage": {"input_tokens": total}, "last_token_usage": {"input_tokens": input, "output_tokens": 9}});
        json_of!({"type": "event_msg", "payload": {"type": "token_count", "info": sums}})
    };
    let search = item(json_of!({"type": "web_search_call", "id": "ws_1", "action": {"type": "search"}}));
    let compacted = json_of!({"type": "compacted", "payload": {"message": "short", "replacement_history": [{"type": "message", "role": "user", "content": []}]}});
    let begin =
        [json_of!({"type": "session_meta", "payload": {"id": "s"}}), said("user", 9_000), said("assistant", 9), usage(12_000, 12_000)];
    let estimated = |prompt: u64| {
        let lines = begin.iter().chain([&compacted]).cloned().chain([
            said("user", 900),
            search.clone(),
            said("assistant", 9),
            usage(12_000 + prompt, prompt),
        ]);
        let path = folder.path().join("rollout.jsonl");
        fs::write(&path, lines.map(|line| line.to_string() + "\n").collect::<String>()).unwrap();
        json(&["replay", &path.to_string_lossy(), "-p", "none"])["recorded"]["estimated_calls"].clone()
    };
    // Nor is it where estimates of what came since come to more: the provider's word goes before them.
    assert_eq!([estimated(3_000), estimated(300)], [json_of!(0), json_of!(0)]);
}

/// Replies of Claude Code whose log holds a placeholder are estimated: each report on the recorded price says how much of it that is.
#[test]
fn estimated_replies_are_told_beside_the_recorded_price() {
    let logs = "transcripts/claude-code";
    let cost = json(&["cost", logs, "-p", "none"]);
    let wanted = cost["agents"][0]["estimated_output_usd"].clone();
    let replay = json(&["replay", logs, "-p", "none", "--by", "agent"]);
    assert_eq!((&replay["recorded"]["estimated_output_cost"], &replay["groups"][0]["estimated_output_usd"]), (&wanted, &wanted));
    for command in ["cache", "idle"] {
        assert_eq!(json(&[command, logs])["estimated_output_usd"], wanted, "{command}");
    }
    let is_told = replay["notes"].to_string().contains("are estimated");
    assert_eq!(is_told, wanted.as_str().unwrap().parse::<f64>().unwrap() > 0.0);
}

/// What an agent estimates is no recorded usage, in groups either.
#[test]
fn groups_hold_usage_of_the_provider_alone() {
    let folder = tempfile::tempdir().unwrap();
    let estimated = |number: u64| json_of!({"prompt": 90_000 + number, "output": 20, "trust": "estimated"});
    let lines = (0..3).flat_map(|number| [reply(number, estimated(number)), told(number)]);
    let value = json(&["replay", &native(folder.path(), lines), "-p", "none", "--by", "agent"]);
    let group = &value["groups"][0];
    assert_eq!((&group["calls"], &group["calls_without_usage"], &group["prompt_tokens"]), (&3.into(), &3.into(), &Value::Null), "{group}");
    assert_eq!(value["recorded"]["estimated_calls"], 3);
}

/// Two calls of one reply ask at once; a search is no reading of a file.
#[test]
fn a_file_is_read_again_behind_its_result_alone() {
    let folder = tempfile::tempdir().unwrap();
    let call = |id: &str, name: &str| json_of!({"call": {"id": id, "name": name, "arguments": {"path": "src/a.rs", "of": id}}});
    let asks = |number: u64, calls: Value| json_of!({"role": "assistant", "id": format!("a{number}"), "parts": calls, "usage": {"prompt": 1_000 + number, "output": 9}});
    let shows = |id: &str, name: &str| json_of!({"role": "tool", "id": format!("t{id}"), "parts": [{"result": {"id": id, "name": name, "text": "fn main() {}\n".repeat(20)}}]});
    let lines = [
        asks(0, json_of!([call("1", "read"), call("2", "read"), call("3", "grep")])),
        shows("1", "read"),
        shows("2", "read"),
        shows("3", "grep"),
        asks(1, json_of!([call("4", "read")])),
        shows("4", "read"),
        asks(2, json_of!([{"text": "done"}])),
    ];
    let value = json(&["replay", &native(folder.path(), lines), "-p", "none", "--by", "file"]);
    let file = &value["files"][0];
    assert_eq!((value["files"].as_array().unwrap().len(), &file["readings"], &file["again"]), (1, &3.into(), &1.into()), "{file}");
}

fn in_one_line(shown: &str) -> String {
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Without a call there is nothing to compare: no table of zeros, and nothing to tune. What the logs hold is said.
#[test]
fn logs_without_a_call_have_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let shown = run(&["replay", &native(folder.path(), [told(0)]), "-p", "none"], None);
    let sentence = "The logs hold 1 session with 2 messages and no call to a model: there is nothing to compare.";
    assert!(in_one_line(&shown).contains(sentence), "{shown}");
    for command in ["cost", "diff"] {
        let shown = run(&[command, &native(folder.path(), [told(0)]), "-p", "none", "-p", "pi"], None);
        assert!(in_one_line(&shown).contains(sentence) && !shown.contains("none ") && !shown.contains("Check:"), "{shown}");
    }
    assert!(shown.contains("\nNext:  ctxsim inspect "), "{shown}");
    assert!(!shown.contains("recorded  ") && !shown.contains("tune"), "{shown}");
}

/// Warnings of the user's own agents stand among the details; what was recorded is held against the preset of its agent, whatever window policies get.
#[test]
fn own_agents_are_warned_of_and_checked_with_their_own_window() {
    // Claude Code compacts this model after a refusal alone.
    let details = run(&["replay", "transcripts/claude-code", "-p", "opencode", "--model", "claude-opus-5", "--details"], None);
    let warnings = details.split_once("\nWarnings\n").expect("warnings").1;
    let rows: Vec<&str> = warnings.lines().skip(3).take_while(|line| !line.is_empty()).collect();
    assert!(rows.iter().any(|row| row.starts_with("claude-code (defaults)")), "{rows:?}");
    let logs = ["replay", "transcripts", "-p", "opencode"];
    let check = |more: &[&str]| {
        let shown = run(&[&logs[..], more].concat(), None);
        shown.lines().find(|line| line.starts_with("Check: ")).expect("a check").to_owned()
    };
    assert_eq!(check(&[]), check(&["--window", "30k"]));
}

/// A threshold in tokens is named only where a policy has one: rules that count messages may act at any size.
#[test]
fn policies_that_count_have_no_size_to_act_from() {
    let folder = tempfile::tempdir().unwrap();
    let lines = (0..6).flat_map(|number| [reply(number, json_of!({"prompt": 2_000 + number * 520, "output": 200})), told(number)]);
    let path = native(folder.path(), lines);
    let shown = |policy: &str| run(&["replay", &path, "-p", policy, "--details"], None);
    assert!(shown("opencode").contains("never acts: its threshold"), "{}", shown("opencode"));
    assert!(!shown("autogen@buffered").contains("never acts"), "{}", shown("autogen@buffered"));
}

/// Billed as another model, the recorded reads say nothing: the modelled cache stands on both sides, and no call has factors.
#[test]
fn another_model_is_billed_with_one_cache_on_both_sides() {
    let logs = ["cost", "transcripts/mini-swe-agent", "-p", "none", "--model", "gpt-5"];
    let value = json(&logs);
    let beside = &value["policies"][0]["beside_recorded"];
    assert_eq!((&beside["cost_vs_recorded"], &beside["cost"]), (&0.0.into(), &beside["recorded_cost"]), "{beside}");
    assert_ne!(value["recorded"]["cost"], beside["recorded_cost"], "the list price of what was recorded has its own reads");
    assert!(!run(&logs, None).contains("factors"));
    assert!(run(&logs[..4], None).contains("factors"));
}

/// What money leaves out, and what of it is estimated, stands on the first screen.
#[test]
fn calls_without_a_price_or_usage_are_named_beside_the_cost() {
    let folder = tempfile::tempdir().unwrap();
    let usage = json_of!({"prompt": 20_000, "output": 200});
    let unpriced = json_of!({"role": "assistant", "id": "x", "model": "nameless-7", "parts": [{"text": "word"}], "usage": usage});
    let unused = json_of!({"role": "assistant", "id": "y", "parts": [{"text": "word ".repeat(400)}]});
    let path = native(folder.path(), [reply(0, usage), told(0), unpriced, told(1), unused]);
    for command in ["replay", "cost"] {
        let shown = run(&[command, &path, "-p", "none"], None).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains("f the row `recorded` 1 of 3 calls have no price"), "{shown}");
        assert!(shown.contains(" of the prompt tokens and $"), "{shown}");
        assert!(shown.contains(" of the cost are estimated (no usage)."), "{shown}");
    }
}

/// The part of the cost that estimated replies make up stands on the first screen, and beside each group, where it is more than a hundredth.
#[test]
fn estimated_replies_are_marked_beside_the_cost() {
    let folder = tempfile::tempdir().unwrap();
    let usage = |placeholder: bool| json_of!({"prompt": 2_000, "output": 200, "output_is_placeholder": placeholder});
    let shown = |command: &[&str], placeholder: bool| {
        let path = native(folder.path(), [reply(0, usage(false)), told(0), reply(1, usage(placeholder))]);
        run(&[command, &[&path, "-p", "none"]].concat(), None).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for command in ["replay", "cost"] {
        let sentence = "of the cost are estimated (replies whose log holds a placeholder).";
        assert!(shown(&[command], true).contains(sentence), "{}", shown(&[command], true));
        assert!(!shown(&[command], false).contains("estimated (replies"));
    }
    for by in ["day", "model"] {
        assert!(shown(&["replay", "--by", by], true).contains("of it"), "{}", shown(&["replay", "--by", by], true));
        assert!(!shown(&["replay", "--by", by], false).contains("of it"));
    }
}

/// That nothing but a refusal makes a policy act is said of none with a rule that acts whatever the size is; cuts of what arrives leave what stands there.
#[test]
fn a_rule_without_a_condition_acts_before_a_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let path = native(folder.path(), [reply(0, json_of!({"prompt": 2_000, "output": 200})), told(0)]);
    let warned = |rule: &str| {
        let summarises =
            "[[rule]]\nid = \"late\"\nat = \"pre_call\"\nwhen.level = { of = \"usage_plus_pending\", ge = 5_000_000 }\nsummarise = {}\n";
        let document = folder.path().join("late.toml");
        fs::write(&document, format!("{rule}{summarises}")).unwrap();
        json(&["replay", &path, "-p", &document.to_string_lossy()])["policies"][0]["warnings"].get("never_fires").is_some()
    };
    assert!(warned(""));
    assert!(!warned("[[rule]]\nid = \"always\"\nat = \"pre_call\"\nselect = { kind = [\"tool_result\"] }\nmask = { text = \"-\" }\n"));
    assert!(warned("[[rule]]\nid = \"cut\"\nat = \"ingest\"\ntruncate = { max = 100, unit = \"bytes\", head = 1.0, marker = \"cut\" }\n"));
}

/// A mark that a publishing tool wrote says nothing of how long a summary was: what its request replied does, where that is recorded.
#[test]
fn a_redacted_summary_has_the_size_that_its_request_replied_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let fitted = |summary: &str, output: Option<u64>| {
        let mut compaction = json_of!({ "kind": "compact", "automatic": true, "summary": summary });
        if let Some(output) = output {
            compaction["call"] = json_of!({ "id": "sum", "usage": { "prompt": 9_000, "output": output, "reasoning": 100 } });
        }
        let log = Native::new(json_of!({}))
            .asked("Begin", "Begun", 8_000, 20)
            .line(json_of!({ "compaction": compaction }))
            .asked("On", "Done", 2_000, 20);
        let path = log.write(folder.path(), "redacted.jsonl");
        let corpus = corpus(&Catalog::builtin().unwrap(), &[Path::new(&path)]);
        RecordedSummaries::fit(corpus.traces.each()).by_agent().next().map(|(_, fitted)| (fitted.model, fitted.events))
    };
    let lines = ["[REDACTED]\n\n[REDACTED]\n", "<summary>\n[REDACTED]\n</summary>", "<summary>[REDACTED]</summary>", " \n\t"];
    for mark in lines.into_iter().chain(["[REDACTED]", "<redacted>", " [redacted:text:prt_1]\n", "REDACTED", "**REDACTED**", ""]) {
        assert_eq!(fitted(mark, None), None, "{mark}");
        assert_eq!(fitted(mark, Some(900)), Some((RecordedSummary::Constant(800), 1)), "{mark}");
    }
    for words in [
        "[REDACTED]\nand more",
        "[REDACTED] asked for two things, and [REDACTED] is done",
        "<summary>redacted parts are left out</summary>",
    ] {
        assert!(fitted(words, None).is_some_and(|(_, events)| events == 1), "{words}");
    }
}

/// How long the summaries of one agent are says nothing of another: there the policy says it.
#[test]
fn recorded_summaries_say_nothing_of_other_agents() {
    let folder = tempfile::tempdir().unwrap();
    let head = |agent: &str| Native::new(json_of!({"session": agent, "agent": agent}));
    let compaction = json_of!({"kind": "compact", "automatic": true, "summary": "What was done so far. ".repeat(90)});
    let one = head("one").asked("Begin", "Begun", 8_000, 20).line(json_of!({ "compaction": compaction })).asked("On", "Done", 2_000, 20);
    let paths = [one.write(folder.path(), "one.jsonl"), head("two").asked("Begin", "Begun", 7_000, 20).write(folder.path(), "two.jsonl")];
    let read = |paths: &[String]| corpus(&Catalog::builtin().unwrap(), &paths.iter().map(Path::new).collect::<Vec<_>>());
    let both = read(&paths);
    let models = |corpus: &Corpus| {
        let fitted = RecordedSummaries::fit(corpus.traces.each());
        let sizes: Vec<bool> = corpus.traces.each().map(|trace| fitted.model(&trace).is_some()).collect();
        (sizes, fitted.describe().unwrap())
    };
    let (of_both, words) = models(&both);
    assert_eq!(of_both, [true, false]);
    let says = "; for other agents what the policy says";
    assert!(words.starts_with("recorded summaries: one the median of 1, ") && words.ends_with(says), "{words}");
    let (_, alone) = models(&read(&paths[..1]));
    assert_eq!(words.replace(" one", "").replace(says, ""), alone);
}

/// A row over fewer sessions than were recorded says so right below the table, whatever else gives way.
#[test]
fn a_row_over_some_sessions_says_so_first() {
    let folder = tempfile::tempdir().expect("folder");
    both_kinds(folder.path());
    Native::new(json_of!({"session": "mine", "agent": "mine"})).asked("hello", "hi", 9_000, 9).write(folder.path(), "mine.jsonl");
    let path = folder.path().to_string_lossy().into_owned();
    for command in ["replay", "cost"] {
        let shown = run(&[command, &path], None);
        let (_, below) = shown.split_once("────\n").expect("a table");
        let below = below.split("\n\n").nth(1).unwrap_or_default();
        // The nine calls of the one session: what the row's own figures compare with.
        let below = below.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(below.starts_with("`claude-code (defaults)` covers 1 of 2 sessions; recorded: 693k tokens"), "{shown}");
    }
}

/// A session in which no model was called has nothing that a row could cover.
#[test]
fn sessions_without_a_call_are_in_no_denominator() {
    let folder = tempfile::tempdir().expect("folder");
    both_kinds(folder.path());
    let path = folder.path().to_string_lossy().into_owned();
    let words = |command: &str| run(&[command, &path], None).split_whitespace().collect::<Vec<_>>().join(" ");
    let before = words("replay");
    for place in 0..30 {
        let head = json_of!({"session": format!("idle-{place}"), "agent": "claude-code"});
        Native::new(head).line(json_of!({"role": "user", "text": "hello"})).write(folder.path(), &format!("idle-{place}.jsonl"));
    }
    let after = words("replay");
    let denominators = |text: &str| text.matches(" of 3").count();
    assert!(before.contains("session") && after.contains(" sessions, "), "{after}");
    assert_eq!(denominators(&after), denominators(&before), "{before}\n{after}");
}

/// Each sentence of the screen begins as sentences do.
#[test]
fn a_sentence_about_the_recorded_row_begins_with_a_capital() {
    let folder = tempfile::tempdir().expect("folder");
    let reply = json_of!({"role": "assistant", "text": "a reply of some words", "call_id": "c1", "model": "gpt-5"});
    let made = Native::new(json_of!({"session": "mine", "agent": "mine"})).line(json_of!({"role": "user", "text": "hello"}));
    let shown = run(&["replay", &made.line(reply).write(folder.path(), "mine.jsonl"), "-p", "opencode"], None);
    assert!(shown.contains("\nOf the row `recorded` 100.0 %"), "{shown}");
}

/// The rows of own agents, and differences, are over the sessions that hold a call. How many hold none stands with the notes.
#[test]
fn the_row_of_own_agents_covers_sessions_with_a_call() {
    let folder = tempfile::tempdir().expect("folder");
    both_kinds(folder.path());
    for place in 0..3 {
        let head = json_of!({"session": format!("idle-{place}"), "agent": if place == 0 { "mine" } else { "claude-code" }});
        Native::new(head).line(json_of!({"role": "user", "text": "hello"})).write(folder.path(), &format!("idle-{place}.jsonl"));
    }
    let path = folder.path().to_string_lossy().into_owned();
    let words = |command: &[&str]| run(&[command, &[&path]].concat(), None).split_whitespace().collect::<Vec<_>>().join(" ");
    let replayed = words(&["replay"]);
    assert!(!replayed.contains(" of 4 session") && !replayed.contains("covers"), "{replayed}");
    let noted = words(&["replay", "--details"]);
    assert!(noted.contains("3 sessions hold no call of a conversation"), "{noted}");
    let own = json(&["replay", &path, "-p", "none"])["own"].clone();
    assert_eq!((&own["covered_sessions"], &own["left_out"]), (&1.into(), &json_of!({})), "{own}");
    assert_eq!(own["compared_sessions"], 1, "{own}");
    Native::new(json_of!({"session": "mine", "agent": "mine"})).asked("hello", "hi", 9_000, 9).write(folder.path(), "mine.jsonl");
    let covered = words(&["replay"]);
    assert!(covered.contains("`claude-code (defaults)` covers 1 of 2 sessions"), "{covered}");
    let differ = words(&["diff", "-p", "baseagent", "-p", "none"]);
    assert!(differ.contains(" 2 sessions") && !differ.contains(" 5 sessions both"), "{differ}");
}

/// What is proposed is a session in which something happens, under its own preset where none was named, and a search over the own agent's logs alone.
#[test]
fn what_to_type_next_fits_the_logs() {
    let next = |words: &[&str]| {
        let shown = ctxsim(words).args(["-q"]).columns(160).stdout();
        let (_, next) = shown.split_once("\nNext:").unwrap_or_else(|| panic!("{shown}"));
        next.lines().map(|line| line.trim().to_owned()).collect::<Vec<String>>()
    };
    let line =
        |lines: &[String], of: &str| lines.iter().find(|line| line.starts_with(&format!("ctxsim {of} "))).cloned().unwrap_or_default();
    let own = next(&["replay", "transcripts/"]);
    assert!(line(&own, "tune").starts_with("ctxsim tune transcripts/claude-code -p claude-code@"), "{own:#?}");
    let explained = line(&own, "explain");
    assert!(explained.contains("   a session that ") && !explained.contains(" -p "), "{own:#?}");
    let named = next(&["replay", "transcripts/", "-p", "opencode", "--set", "prune=1"]);
    let explained = line(&named, "explain");
    assert!(explained.contains("transcripts/ -p opencode --set prune=1   a session that "), "{named:#?}");
    let told = ctxsim(&["explain"]).args(explained.split_whitespace().skip(2).take(6)).args(["-q", "--json"]).json();
    assert!(told["timeline"].as_array().is_some_and(|events| !events.is_empty()), "{explained}");
    // One agent alone has these logs, and no session of them needs another preset.
    let of_one = next(&["replay", "transcripts/pi"]);
    assert!(line(&of_one, "tune").starts_with("ctxsim tune transcripts/pi -p pi@"), "{of_one:#?}");
    // A folder that holds sessions of others, too, is no path of the agent's.
    let folder = tempfile::tempdir().expect("folder");
    both_kinds(folder.path());
    Native::new(json_of!({"session": "mine", "agent": "mine"})).asked("hello", "hi", 9_000, 9).write(folder.path(), "sub.jsonl");
    let mixed = next(&["replay", &folder.path().to_string_lossy()]);
    let tuned = line(&mixed, "tune");
    assert!(tuned.is_empty() || tuned.contains("both.jsonl -p claude-code@"), "{mixed:#?}");
}

/// A row whose parameters were set names them, wherever the table goes.
#[test]
fn what_was_set_stands_with_the_row() {
    let logs = ["transcripts/opencode", "-q", "-p", "opencode", "--set", "prune=1", "--set", "opencode:prune_protect=20k"];
    for (command, more) in [("replay", &[][..]), ("cost", &[]), ("diff", &["-p", "none"])] {
        for form in [&[][..], &["--markdown"]] {
            let shown = ctxsim(&[command]).args(logs).args(more).args(form).stdout().replace('\\', "");
            assert!(shown.contains("By --set: `opencode@1.18` with prune=1, prune_protect=20k."), "{command} {form:?}: {shown}");
        }
    }
    let unset = ctxsim(&["replay", "transcripts/opencode", "-q", "-p", "opencode"]).stdout();
    assert!(!unset.contains("--set"), "{unset}");
}

/// What a flag asks for is on the first screen.
#[test]
fn what_is_asked_for_is_shown() {
    let shown = |words: &[&str]| ctxsim(words).args(["-q"]).columns(80).stdout();
    let bill = shown(&["cost", "transcripts/", "-p", "pi", "--bill"]);
    assert!(bill.contains("Bills by tier") && bill.contains("cache read "), "{bill}");
    let even = shown(&["cost", "transcripts/", "-p", "anthropic@context-editing", "--break-even", "clear_at_least"]);
    assert!(even.contains("Where clear_at_least of anthropic@context-editing should stand") && even.contains("best minimum"), "{even}");
    let oracle = shown(&["replay", "transcripts/", "-p", "opencode", "-p", "oracle"]);
    let row = oracle.lines().find(|line| line.starts_with("oracle (opencode@1.18)")).unwrap_or_else(|| panic!("{oracle}"));
    assert!(row.ends_with(" %") && row.split_whitespace().count() == 4, "{row}");
    // A page has no contexts of its own to show.
    assert!(!oracle.contains("report transcripts/ -p opencode -p oracle"), "{oracle}");
    // OpenCode prunes at the end of a turn: that shows in the next prompt.
    let turn_end = shown(&["cost", "transcripts/", "-p", "opencode", "--set", "prune=1", "--break-even", "prune_minimum", "--json"]);
    let record: Value = serde_json::from_str(&turn_end).unwrap();
    assert_eq!(record["break_even"]["prunes"], 3);
    let share = ctxsim(&["cost", "transcripts/", "-p", "baseagent", "--break-even", "protect_last_turns", "-q"]).code(2).stderr();
    assert!(share.contains("`protect_last_turns` counts user messages; --break-even asks for a parameter that counts tokens"), "{share}");
    for screen in [bill, even, oracle] {
        assert!(screen.lines().count() <= 30, "{screen}");
    }
}

/// Without usage, what a compaction left is the system prompt, its summary, and the messages that the log says it kept.
#[test]
fn what_a_compaction_left_is_counted_where_no_usage_says_it() {
    let folder = tempfile::tempdir().unwrap();
    let system = || json_of!({"role": "system", "text": "rule ".repeat(900)});
    let said = |id: &str, role: &str, words: usize| json_of!({"role": role, "id": id, "text": "word ".repeat(words)});
    let recorded = |name: &str, lines: Vec<Value>| {
        let path = lines.into_iter().fold(Native::new(json_of!({})), Native::line).write(folder.path(), name);
        json(&["replay", &path, "-p", "none"])["recorded"]["prompt_tokens"].as_u64().unwrap()
    };
    let begun =
        || vec![system(), said("u0", "user", 2_000), said("a0", "assistant", 300), said("u1", "user", 500), said("a1", "assistant", 100)];
    let before = recorded("begun.jsonl", begun());
    let event = json_of!({"compaction": {"kind": "compact", "automatic": true, "summary": "word ".repeat(50), "kept_from": "u1"}});
    let cut = recorded("cut.jsonl", [begun(), vec![event, said("a2", "assistant", 10)]].concat()) - before;
    let kept = vec![said("s", "user", 50), said("u1", "user", 500), said("a1", "assistant", 100), said("u2", "user", 0)];
    let whole = recorded("kept.jsonl", [vec![system()], kept, vec![said("a2", "assistant", 10)]].concat());
    let opening = recorded("opening.jsonl", vec![system(), said("s", "user", 50), said("u1", "user", 500), said("a1", "assistant", 100)]);
    assert!((whole - opening).abs_diff(cut) <= 12, "{cut} beside {}", whole - opening);
}

/// So is what prunings took: the recording costs less than no policy, with usage or without.
#[test]
fn what_prunings_took_is_counted_where_no_usage_says_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = Native::new(json_of!({}))
        .line(json_of!({"role": "user", "id": "u", "text": "Begin."}))
        .line(json_of!({"role": "assistant", "id": "a0", "parts": [{"call": {"id": "c", "name": "read", "arguments": {"path": "a"}}}]}))
        .line(json_of!({"role": "tool", "id": "t", "parts": [{"result": {"id": "c", "text": "word ".repeat(1_000)}}]}))
        .line(json_of!({"role": "assistant", "id": "a1", "text": "Seen."}))
        .line(json_of!({"role": "user", "id": "u1", "text": "Go on."}))
        .line(json_of!({"compaction": {"kind": "prune", "automatic": true, "taken": [["t", 1]]}}))
        .line(json_of!({"role": "assistant", "id": "a2", "text": "Done."}))
        .line(json_of!({"role": "user", "id": "u2", "text": "And on."}))
        .line(json_of!({"role": "assistant", "id": "a3", "text": "Done."}))
        .write(folder.path(), "pruned.jsonl");
    let value = json(&["replay", &path, "-p", "none"]);
    let tokens = |row: &Value| row["prompt_tokens"].as_u64().unwrap();
    let less = tokens(&value["policies"][0]) - tokens(&value["recorded"]);
    // Two calls without a result of a thousand words, of which eight tokens stay.
    assert!((1_970..=2_010).contains(&less), "{less}");
}

/// What the own agent's preset does and no log has stands beside what it predicts: an agent whose user has turned compaction off is another one than is simulated. Three calls above the limit show no
/// other one yet.
#[test]
fn compactions_that_no_log_has_are_said() {
    let folder = tempfile::tempdir().unwrap();
    for (session, calls) in [("off", 54), ("short", 9)] {
        let head = json_of!({"session": session, "agent": "claude-code", "model": "claude-sonnet-4-5", "version": "2.1.1"});
        let asked = |log: Native, call: u64| log.asked(&format!("step {call} of {session}"), "done as was asked", call * 3_000, 90);
        (1..=calls).fold(Native::new(head), asked).write(folder.path(), &format!("{session}.jsonl"));
    }
    let check = |logs: &str| {
        let shown = in_one_line(&ctxsim(&["replay", logs, "-q"]).within(folder.path()).stdout());
        shown.split("Check: ").nth(1).and_then(|check| check.split('.').next()).expect("a check").to_owned()
    };
    assert!(check(".").contains("1 simulated compaction stands in no log"), "{}", check("."));
    assert!(!check("short.jsonl").contains("in no log"), "{}", check("short.jsonl"));
}
