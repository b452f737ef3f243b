//! What is not known is `null` in JSON and empty in CSV; a zero is one that is known.

use crate::made::Native;
use crate::support::{Ran, ctxsim, project, rows, shared};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

fn run(words: &[&str], folder: &Path) -> Ran {
    ctxsim(words).args(["--quiet"]).env("HOME", "/nowhere").env("CLAUDE_CONFIG_DIR", "").within(folder).run()
}

fn document(words: &[&str], folder: &Path) -> Value {
    run(&[words, &["--json"]].concat(), folder).json()
}

/// A session of four calls of this model, whose last prompt read nothing from the cache.
fn session(id: &str, model: &str) -> Native {
    let usage = |prompt: u64, read: u64, written: u64| json!({"prompt": prompt, "output": 50, "cache_read": read, "cache_write": written});
    let head = json!({"session": id, "model": model, "window": 200_000, "agent": "claude-code", "version": "2.1.45"});
    let calls = [(20_000, 0, 19_000), (30_000, 19_000, 10_000), (40_000, 29_000, 10_000), (50_000, 0, 49_000)];
    (0..).zip(calls).fold(Native::new(head), |log, (place, (prompt, read, written))| {
        let time = 1_770_000_000_000_i64 + place * 60_000;
        log.line(json!({"role": "user", "time": time, "text": "more ".repeat(8_000)}))
            .line(json!({"role": "assistant", "time": time + 1_000, "text": "word ".repeat(50), "usage": usage(prompt, read, written)}))
    })
}

/// A price of zero for one model; `nameless-7` has none.
const FREE: &str = r#"{"free-7": {"input_cost_per_token": 0, "output_cost_per_token": 0, "cache_read_input_token_cost": 0, "cache_creation_input_token_cost": 0}}"#;

/// All money of a document, by key.
fn money(value: &Value) -> Vec<(&str, &Value)> {
    match value {
        Value::Object(keys) => keys
            .iter()
            .flat_map(|(key, value)| {
                let is_money = (key == "cost" || key.ends_with("_cost") || key.ends_with("_usd")) && !value.is_object();
                if is_money { vec![(key.as_str(), value)] } else { money(value) }
            })
            .collect(),
        Value::Array(all) => all.iter().flat_map(money).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn money_without_a_price_is_null_and_a_price_of_zero_is_zero() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("free.json"), FREE).unwrap();
    session("unpriced", "nameless-7").write(folder.path(), "unpriced.jsonl");
    session("free", "free-7").write(folder.path(), "free.jsonl");
    for command in [
        vec!["replay", "-p", "opencode"],
        vec!["cost", "-p", "none", "-p", "opencode"],
        vec!["cache"],
        vec!["idle"],
        vec!["sweep", "-p", "opencode", "--set", "prune=1", "--vary", "prune_protect=10k,20k"],
    ] {
        let of = |file: &str| document(&[&command, &[file, "--prices", "free.json"][..]].concat(), folder.path());
        let (unpriced, free) = (of("unpriced.jsonl"), of("free.jsonl"));
        // Of no pause it is known what it cost.
        let known: Vec<_> = money(&unpriced).into_iter().filter(|(key, value)| !value.is_null() && *key != "recorded_cold_usd").collect();
        assert!(known.is_empty(), "{command:?}: {known:?}");
        assert!(money(&free).iter().any(|(_, value)| **value == json!("0")), "{command:?}");
        let wrong: Vec<_> = money(&free)
            .into_iter()
            .filter(|(_, value)| !value.is_null() && **value != json!("0") && value.as_f64() != Some(0.0))
            .collect();
        assert!(wrong.is_empty(), "{command:?}: {wrong:?}");
    }
    // One session of two has a price: sums hold that one, and say how much they leave out.
    session("priced", "claude-sonnet-4-5").write(folder.path(), "priced.jsonl");
    let both = document(&["replay", "-p", "opencode", "priced.jsonl", "unpriced.jsonl"], folder.path());
    let beside = &both["policies"][0]["beside_recorded"];
    assert_eq!((&beside["compared_sessions"], &beside["priced_sessions"]), (&json!(2), &json!(1)), "{beside}");
    let alone = document(&["replay", "-p", "opencode", "priced.jsonl"], folder.path());
    assert_eq!(beside["recorded_cost"], alone["policies"][0]["beside_recorded"]["recorded_cost"]);
    assert_eq!((&both["policies"][0]["cost"]["unpriced_calls"], &both["recorded"]["unpriced_calls"]), (&json!(4), &json!(4)));
    let cache = document(&["cache", "priced.jsonl", "unpriced.jsonl"], folder.path());
    assert_eq!(
        (&cache["all"]["breaks"], &cache["all"]["unpriced"], &cache["unpriced_calls"]),
        (&json!(2), &json!(1), &json!(4)),
        "{cache}"
    );
    // Screens say the same.
    let shown = run(&["cache", "unpriced.jsonl"], folder.path()).stdout();
    assert!(shown.contains("of unknown cost: no price is known"), "{shown}");
    let csv = run(&["cost", "-p", "none", "unpriced.jsonl", "--csv"], folder.path()).stdout();
    assert!(rows(&csv).iter().all(|row| row["cost"].is_empty()), "{csv}");
}

/// What a gate says of money: a price of zero is judged by, none is not, and another table of prices is named.
#[test]
fn a_gate_tells_a_price_of_zero_from_none() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("free.json"), FREE).unwrap();
    std::fs::write(folder.join("dear.json"), FREE.replace("\"input_cost_per_token\": 0,", "\"input_cost_per_token\": 0.00001,")).unwrap();
    std::fs::write(
        folder.join("more.json"),
        FREE.replacen('{', r#"{"other-1": {"input_cost_per_token": 1, "output_cost_per_token": 1}, "#, 1),
    )
    .unwrap();
    session("unpriced", "nameless-7").write(folder, "unpriced.jsonl");
    session("free", "free-7").write(folder, "free.jsonl");
    let gate = |file: &str, prices: &str, more: &[&str]| {
        let words = ["gate", file, "-p", "opencode", "--prices", prices, "--baseline", "base.json", "--allow", "cost +1%"];
        run(&[&words, more].concat(), folder)
    };
    let cost = |ran: &Ran| {
        let found: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let cost = found["measures"].as_array().unwrap().iter().find(|measure| measure["measure"] == "cost").unwrap().clone();
        (cost["baseline"].clone(), cost["now"].clone(), cost["unpriced_sessions"].clone(), found["changes"].clone())
    };
    assert!(gate("free.jsonl", "free.json", &["--update-baseline"]).status.success());
    assert_eq!(cost(&gate("free.jsonl", "free.json", &["--json"])), (json!(0.0), json!(0.0), json!(0), json!([])));
    // Prices of models that no log names change nothing.
    assert_eq!(cost(&gate("free.jsonl", "more.json", &["--json"])).3, json!([]));
    let dear = gate("free.jsonl", "dear.json", &["--json"]);
    assert_eq!(dear.status.code(), Some(1));
    let (was, now, _, changes) = cost(&dear);
    assert!(was == json!(0.0) && now.as_f64().unwrap() > 0.1, "{was} {now}");
    assert!(changes.to_string().contains("billed by other prices"), "{changes}");
    assert!(gate("unpriced.jsonl", "free.json", &["--update-baseline"]).status.success());
    let (was, now, unpriced, changes) = cost(&gate("unpriced.jsonl", "free.json", &["--json"]));
    assert_eq!((was, now, unpriced), (Value::Null, Value::Null, json!(1)));
    assert!(changes.to_string().contains("No price is known for 1 of 1 session"), "{changes}");
}

/// Shares of nothing are no zeros.
#[test]
fn shares_of_nothing_are_null() {
    let folder = tempfile::tempdir().unwrap();
    let silent = Native::new(json!({"model": "claude-sonnet-4-5"})).line(json!({"role": "user", "text": "Hello."}));
    silent.write(folder.path(), "silent.jsonl");
    let found = document(&["replay", "-p", "opencode", "silent.jsonl"], folder.path());
    assert_eq!(found["corpus"]["anchored_share"], Value::Null);
    for figures in [&found["policies"][0], &found["policies"][0]["sessions"][0]] {
        for key in ["tokens_saved_share", "vs_recorded", "saved_vs_none_share", "anchored_share", "mean_tokens"] {
            assert_eq!(figures[key], Value::Null, "{key}: {figures}");
        }
        for drift in ["estimator_drift", "belief_drift"] {
            assert_eq!((&figures[drift]["calls"], &figures[drift]["bias"]), (&json!(0), &Value::Null));
        }
    }
    let csv = run(&["replay", "-p", "opencode", "silent.jsonl", "--csv"], folder.path()).stdout();
    assert!(rows(&csv).iter().all(|row| ["vs_recorded", "anchored_share", "mean_tokens"].iter().all(|key| row[*key].is_empty())), "{csv}");
    let swept = ["sweep", "-p", "opencode", "--set", "prune=1", "--vary", "prune_protect=10k,20k", "silent.jsonl"];
    let swept = document(&[&swept[..], &["--minimise", "compactions per session"]].concat(), folder.path());
    assert!(swept["settings"][0]["objective"].is_number(), "no compaction in one session is a zero: {swept}");
    let swept = [
        "sweep",
        "-p",
        "opencode",
        "--set",
        "prune=1",
        "--vary",
        "prune_protect=10k,20k",
        "--minimise",
        "overflows per call",
        "silent.jsonl",
    ];
    let swept = document(&swept, folder.path());
    assert_eq!(swept["settings"][0]["objective"], Value::Null, "{swept}");
}

/// A setting that sends less and loses reused text is called `less` in every form.
#[test]
fn one_word_for_a_setting_that_something_stands_against() {
    let root = project();
    let words = ["sweep", "transcripts/", "-p", "pi", "--vary", "reserveTokens=16k,150k", "--minimise", "prompt_tokens"];
    let found = document(&words, root);
    let csv = run(&[&words[..], &["--csv"]].concat(), root).stdout();
    let told: Vec<String> = rows(&csv).iter().map(|row| row["against_own"].replace(' ', "_")).collect();
    let of = |setting: &Value| setting["against_own"]["finding"].as_str().unwrap_or_default().to_owned();
    assert_eq!(found["settings"].as_array().unwrap().iter().map(of).collect::<Vec<_>>(), told);
    assert!(told.contains(&"less".to_owned()), "{told:?}");
}

/// A spreadsheet has of the recording what the document has.
#[test]
fn rows_of_the_recording_hold_what_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let summariser = json!({"id": "sum", "usage": {"prompt": 9_000, "output": 300}});
    session("s", "claude-sonnet-4-5")
        .line(json!({"compaction": {"kind": "compact", "automatic": true, "summary": "so far", "call": summariser}}))
        .asked("On", "Done", 2_000, 20)
        .write(folder.path(), "s.jsonl");
    let of = ["replay", "-p", "opencode", "s.jsonl"];
    let recorded = document(&of, folder.path())["recorded"].clone();
    assert_eq!((&recorded["output_tokens"], &recorded["summariser_tokens"]), (&json!(220), &json!(9_300)));
    for more in [&["--csv"][..], &["--by", "session", "--csv"]] {
        let csv = run(&[&of, more].concat(), folder.path()).stdout();
        let rows = rows(&csv);
        let row = rows.iter().find(|row| row["policy"] == "recorded").unwrap();
        for key in ["output_tokens", "summariser_calls", "summariser_tokens", "prompt_tokens", "compactions"] {
            assert_eq!(row[key], recorded[key].to_string(), "{key}: {csv}");
        }
    }
}

/// By agent and by project every session is in one group, with a call or without.
#[test]
fn sessions_of_agents_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let head = |id: &str| Native::new(json!({"session": id, "agent": "claude-code", "model": "claude-sonnet-4-5"}));
    head("silent").line(json!({"role": "user", "text": "Hello."})).write(folder.path(), "silent.jsonl");
    let compaction = json!({"compaction": {"kind": "compact", "automatic": true, "summary": "so"}});
    head("compacted").line(json!({"role": "user", "text": "Hello."})).line(compaction).write(folder.path(), "compacted.jsonl");
    session("s", "claude-sonnet-4-5").write(folder.path(), "s.jsonl");
    let unused = json!({"role": "assistant", "text": "Yes."});
    Native::new(json!({"session": "unused", "agent": "pi"})).line(unused).write(folder.path(), "unused.jsonl");
    let by = |what: &str| document(&["replay", "-p", "opencode", "--by", what, "."], folder.path());
    for what in ["agent", "project"] {
        let found = by(what);
        let sessions: u64 = found["groups"].as_array().unwrap().iter().map(|group| group["sessions"].as_u64().unwrap()).sum();
        assert_eq!((sessions, &found["corpus"]["sessions"]), (4, &json!(4)), "{what}");
    }
    let by_agent = by("agent");
    let [claude, pi] = by_agent["groups"].as_array().unwrap().as_slice() else { panic!("{by_agent}") };
    assert_eq!((&claude["sessions"], &claude["calls"], &claude["compactions"]), (&json!(3), &json!(4), &json!(1)));
    let tokens = ["prompt_tokens", "cache_read_tokens", "output_tokens"].map(|key| pi[key].clone());
    assert_eq!((tokens, &pi["policies"][0]["prompt_tokens"]), ([Value::Null, Value::Null, Value::Null], &Value::Null));
    // By model a session counts where it has a call, or a compaction.
    let by_model = by("model");
    let sessions = by_model["groups"].as_array().unwrap().iter().map(|group| group["sessions"].as_u64().unwrap()).collect::<Vec<_>>();
    assert_eq!(sessions, [1, 1, 1]);
}

/// Two conversations of one trace are two sessions: rows tell them apart.
#[test]
fn sessions_of_one_file_have_ids_of_their_own() {
    let Some(shared) = shared() else { return };
    let traces = shared.join("transcripts/langfuse_trace");
    let found = document(&["inspect", "."], &traces);
    let sessions = found["sessions"].as_array().unwrap();
    let names: BTreeSet<(&str, &str)> =
        sessions.iter().map(|session| (session["session"].as_str().unwrap(), session["source"].as_str().unwrap())).collect();
    assert_eq!(names.len(), sessions.len());
    assert_eq!(names.iter().filter(|(id, _)| id.ends_with("#2")).count(), 2);
}

/// Of logs without usage no token is recorded, and where nothing is recommended nothing is judged.
#[test]
fn what_was_not_recorded_or_judged_is_null() {
    let folder = tempfile::tempdir().unwrap();
    let unused = json!({"role": "assistant", "text": "Yes."});
    Native::new(json!({"session": "unused"})).line(unused).write(folder.path(), "unused.jsonl");
    session("s", "claude-sonnet-4-5").write(folder.path(), "s.jsonl");
    let found = document(&["inspect", "unused.jsonl"], folder.path());
    for of in [&found["sessions"][0], &found["models"][0]] {
        for key in ["prompt_tokens", "output_tokens", "estimated_output_tokens", "largest_prompt_tokens"] {
            assert_eq!((&of["calls"], &of[key]), (&json!(1), &Value::Null), "{key}");
        }
    }
    let idle = document(&["idle", "s.jsonl"], folder.path());
    let recommended = &idle["recommended"][0];
    assert_eq!((&recommended["without"], &recommended["changes"]), (&Value::Null, &Value::Null), "{recommended}");
}

/// Sessions without a price are drawn with no money: they widen no interval and turn no verdict. A price of zero is a price.
#[test]
fn sessions_without_a_price_move_nothing_that_is_said_of_money() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("free.json"), FREE).unwrap();
    let grown = |id: &str, model: &str, size: u64| {
        let head = json!({"session": id, "model": model, "agent": "claude-code", "version": "2.1.45"});
        let usage = |call: u64| json!({"prompt": 2_000 + call * size, "output": 40});
        (1..=12_u64).fold(Native::new(head), |log, call| {
            log.line(json!({"role": "user", "text": "more ".repeat(size as usize)}))
                .line(json!({"role": "assistant", "text": "word ".repeat(40), "usage": usage(call)}))
        })
    };
    let sessions = |kind: &str, model: &str, number: u64| {
        let of = folder.path().join(kind);
        std::fs::create_dir(&of).unwrap();
        for place in 0..number {
            grown(&format!("session-{kind}-{place:03}"), model, 1_000 + 67 * place).write(&of, &format!("{place}.jsonl"));
        }
    };
    sessions("priced", "claude-sonnet-4-5", 12);
    sessions("unpriced", "nameless-7", 20);
    sessions("free", "free-7", 12);
    let pi = "sweep -p pi --set reserveTokens=8192 --set keepRecentTokens=3000 --window 24k --vary keepRecentTokens=2k,4k,8k";
    let words = |more: &[&'static str]| pi.split(' ').chain(more.iter().copied()).collect::<Vec<&str>>();
    let swept = |more: &[&'static str]| document(&words(more), folder.path());
    let (alone, beside) = (swept(&["priced"]), swept(&["priced", "unpriced"]));
    assert_eq!(beside["clusters"], alone["clusters"]);
    for (alone, beside) in alone["settings"].as_array().unwrap().iter().zip(beside["settings"].as_array().unwrap()) {
        let money = |setting: &Value| [setting["spread"]["net_cost"].clone(), setting["against_own"].clone(), setting["verdict"].clone()];
        assert!(money(alone)[0].is_object(), "{alone}");
        assert_eq!(money(alone), money(beside));
    }
    let shown = run(&words(&["free", "--prices", "free.json"]), folder.path()).stdout();
    assert!(shown.contains("4 settings have the same net cost") && !shown.contains("Cannot judge"), "{shown}");
}

/// What has no price is not chosen by its cost, and who sends least does not hide what it forgets.
#[test]
fn the_first_policy_is_named_by_what_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let screen = |model: &str| {
        let log = Native::new(json!({"session": "s", "agent": "mine", "model": model, "window": 60_000}));
        let long = "an answer of many lines that a later reply quotes word by word\n".repeat(3_000);
        let usage = |prompt: u64| json!({"prompt": prompt, "output": 50});
        let log =
            log.line(json!({"role": "user", "text": "go on"})).line(json!({"role": "assistant", "text": "well", "usage": usage(1_000)}));
        let log = log.line(json!({"role": "user", "text": long})).line(json!({"role": "assistant", "text": "so", "usage": usage(45_000)}));
        log.line(json!({"role": "user", "text": "more"}))
            .line(json!({"role": "assistant", "text": "yes", "usage": usage(45_100)}))
            .write(folder.path(), "s.jsonl");
        run(&["replay", "s.jsonl", "-p", "none", "-p", "pi", "-p", "picoclaw"], folder.path())
            .stdout()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(screen("claude-opus-4-5").contains("then overflows, then cost: "), "{}", screen("claude-opus-4-5"));
    assert!(screen("nameless-7").contains("then overflows, then prompt tokens: "), "{}", screen("nameless-7"));
}
