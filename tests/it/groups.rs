//! Figures by day and block, and jumps from call to call, against the raw lines of logs.

use crate::home;
use crate::made::Native;
use crate::support::{ctxsim, files, project};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn json(folder: &Path, arguments: &[&str]) -> Value {
    ctxsim(arguments).args(["--json", "--quiet"]).within(folder).json()
}

/// The logs of a home.
fn logs(home: &Path) -> Vec<PathBuf> {
    files(&home.join(".claude/projects")).iter().flat_map(|folder| files(folder)).collect()
}

/// A call as its log has it: when, its prompt, its file.
struct Call {
    hour: i64,
    day: String,
    prompt: u64,
    file: String,
}

/// The calls of a home's logs, by their ids: a reply of several records is one.
fn raw(home: &Path) -> Vec<Call> {
    let mut calls: BTreeMap<(String, String), Call> = BTreeMap::new();
    for path in logs(home) {
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let usage = &record["message"]["usage"];
            if record["type"] != "assistant" || !usage.is_object() {
                continue;
            }
            let part = |key: &str| usage[key].as_u64().unwrap_or(0);
            let prompt = part("input_tokens") + part("cache_creation_input_tokens") + part("cache_read_input_tokens");
            let time = record["timestamp"].as_str().unwrap();
            let hour = time.parse::<jiff::Timestamp>().unwrap().as_second() / 3_600;
            let file = path.to_string_lossy().into_owned();
            let key = (file.clone(), record["message"]["id"].as_str().unwrap().to_owned());
            calls.insert(key, Call { hour, day: time[..10].to_owned(), prompt, file });
        }
    }
    calls.into_values().collect()
}

fn groups(report: &Value) -> Vec<(String, u64, u64)> {
    let of = |group: &Value| {
        (group["group"].as_str().unwrap().to_owned(), group["calls"].as_u64().unwrap(), group["prompt_tokens"].as_u64().unwrap())
    };
    report["groups"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn days_and_blocks_are_those_of_the_raw_lines() {
    let home = tempfile::tempdir().unwrap();
    home::write(home.path());
    let calls = raw(home.path());
    let mut days: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for call in &calls {
        let (count, tokens) = days.entry(call.day.clone()).or_default();
        *count += 1;
        *tokens += call.prompt;
    }
    let report = json(home.path(), &["replay", ".claude", "-p", "claude-code", "--by", "day"]);
    let mut months: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (day, (count, tokens)) in &days {
        let month = months.entry(day[..7].to_owned()).or_default();
        *month = (month.0 + count, month.1 + tokens);
    }
    let by_month = json(home.path(), &["replay", ".claude", "-p", "claude-code", "--by", "month"]);
    assert_eq!(groups(&by_month), months.into_iter().map(|(month, (count, tokens))| (month, count, tokens)).collect::<Vec<_>>());
    let expected: Vec<(String, u64, u64)> = days.into_iter().map(|(day, (count, tokens))| (day, count, tokens)).collect();
    assert_eq!(groups(&report), expected);
    // A block holds the five hours from its first call's hour on.
    let mut hours: Vec<(i64, u64)> = calls.iter().map(|call| (call.hour, call.prompt)).collect();
    hours.sort_unstable();
    let mut blocks: Vec<(i64, u64, u64)> = Vec::new();
    for (hour, prompt) in hours {
        if blocks.last().is_none_or(|(start, ..)| hour >= start + 5) {
            blocks.push((hour, 0, 0));
        }
        let block = blocks.last_mut().unwrap();
        (block.1, block.2) = (block.1 + 1, block.2 + prompt);
    }
    let report = json(home.path(), &["replay", ".claude", "-p", "claude-code", "--by", "block"]);
    let found: Vec<(u64, u64)> = groups(&report).into_iter().map(|(_, calls, tokens)| (calls, tokens)).collect();
    assert_eq!(found, blocks.iter().map(|(_, calls, tokens)| (*calls, *tokens)).collect::<Vec<_>>());
    let took: u64 = report["groups"].as_array().unwrap().iter().filter_map(|group| group["compacting_ms"].as_u64()).sum();
    let durations = logs(home.path()).into_iter().flat_map(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        let took = |line: &str| serde_json::from_str::<Value>(line).unwrap()["compactMetadata"]["durationMs"].as_u64();
        text.lines().filter_map(took).collect::<Vec<_>>()
    });
    let durations: Vec<u64> = durations.collect();
    assert!(durations.len() >= 5 && took == durations.iter().sum::<u64>(), "{took}, {durations:?}");
}

/// Calls by model are those of `inspect`; projects have the names that `--project` takes, with the end of the path where two have the same.
#[test]
fn models_and_projects_have_their_names() {
    let here = project();
    let sums = |rows: &Value, name: &str| -> BTreeMap<String, (u64, u64)> {
        let number = |row: &Value, key: &str| row[key].as_u64().unwrap();
        let row = |row: &Value| (row[name].as_str().unwrap().to_owned(), (number(row, "calls"), number(row, "prompt_tokens")));
        rows.as_array().unwrap().iter().map(row).collect()
    };
    let by = |by: &str, logs: &str| json(here, &["replay", logs, "-p", "none", "--by", by])["groups"].clone();
    let models = by("model", "transcripts/pi");
    assert_eq!(sums(&models, "group"), sums(&json(here, &["inspect", "transcripts/pi"])["models"], "model"));
    assert!(models.as_array().unwrap().iter().all(|model| model["cost_usd"].is_string()), "{models}");
    let folder = tempfile::tempdir().unwrap();
    for (place, project) in ["/home/x/cli", "/home/y/cli", "/home/x/shop/"].iter().enumerate() {
        let log = Native::new(json!({"session": format!("s{place}"), "project": project}));
        let reply = json!({"role": "assistant", "text": "yes", "usage": {"prompt": 900, "output": 10}});
        log.line(reply).write(folder.path(), &format!("{place}.jsonl"));
    }
    let logs = folder.path().to_string_lossy().into_owned();
    let names: Vec<String> = sums(&by("project", &logs), "group").into_keys().collect();
    assert_eq!(names, ["shop", "x/cli", "y/cli"]);
    let measured = folder.path().join("all.ctxtrace").to_string_lossy().into_owned();
    ctxsim(&["trace", "build", &logs, "-q", "-o", &measured]).code(0);
    let numbered: Vec<String> = sums(&by("project", &measured), "group").into_keys().collect();
    for (logs, names) in [(&logs, &names), (&measured, &numbered)] {
        for name in names {
            let alone = json(here, &["replay", logs, "-p", "none", "--project", name, "--by", "project"]);
            assert_eq!(alone["groups"][0]["sessions"], 1, "{name} of {names:?}");
        }
    }
}

/// The own agent's row is another one than that of the same preset as it was typed, and has room on a narrow screen.
#[test]
fn a_row_of_the_own_agent_is_told_from_its_preset() {
    let home = tempfile::tempdir().unwrap();
    home::write(home.path());
    let screen = ctxsim(&["replay", ".claude", "-p", "claude-code", "--by", "day"]).within(home.path()).stdout();
    let fewest: Vec<&str> =
        screen.lines().filter(|line| line.starts_with("20")).filter_map(|line| line.split_whitespace().rev().nth(2)).collect();
    assert!(!fewest.is_empty() && fewest.iter().all(|name| ["own,", "alike,", "claude-code@early,"].contains(name)), "{screen}");
}

/// Where nothing was compacted, a jump is the difference of two recorded prompts.
#[test]
fn jumps_are_differences_of_recorded_prompts() {
    let home = tempfile::tempdir().unwrap();
    home::write(home.path());
    for path in logs(home.path()) {
        if std::fs::read_to_string(&path).unwrap().contains("compact_boundary") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let mut prompts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    raw(home.path()).into_iter().for_each(|call| prompts.entry(call.file).or_default().push(call.prompt));
    let mut jumps = Vec::new();
    for prompts in prompts.values_mut() {
        // Contexts only grow here.
        prompts.sort_unstable();
        jumps.extend(prompts.windows(2).map(|pair| pair[1] - pair[0]).filter(|jump| *jump > 0));
    }
    jumps.sort_unstable();
    let rank = |percent: usize| jumps[(jumps.len() * percent).div_ceil(100) - 1];
    let report = json(home.path(), &["replay", ".claude", "-p", "claude-code", "-p", "pi", "--window", "20k"]);
    let found = &report["policies"][1]["jumps"];
    let told: Vec<u64> = ["jumps", "p50", "p95", "p99", "largest"].iter().map(|key| found[key].as_u64().unwrap()).collect();
    assert_eq!(told, [jumps.len() as u64, rank(50), rank(95), rank(99), rank(100)]);
    // pi compacts above the window less 16,384.
    assert_eq!(found["reserve_least"], 16_384);
    assert_eq!(found["beyond_reserve"].as_u64().unwrap(), jumps.iter().filter(|jump| **jump > 16_384).count() as u64);
}

#[test]
fn several_windows_stand_side_by_side() {
    let home = tempfile::tempdir().unwrap();
    home::write(home.path());
    let of = |window: &str| json(home.path(), &["replay", ".claude", "-p", "pi", "-p", "none", "--window", window]);
    let (both, small, large) = (of("60k,120k"), of("60k"), of("120k"));
    let names = |report: &Value| {
        report["policies"].as_array().unwrap().iter().map(|policy| policy["policy"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&both), ["pi@1.5 at 60.0k", "none at 60.0k", "pi@1.5 at 120k", "none at 120k"]);
    for (place, alone) in [(0, &small["policies"][0]), (1, &small["policies"][1]), (2, &large["policies"][0]), (3, &large["policies"][1])] {
        for key in ["prompt_tokens", "compactions_without_gain", "overflows", "failed_sessions", "sessions"] {
            assert_eq!(both["policies"][place][key], alone[key], "{place} {key}");
        }
    }
}

/// A prompt that is reported twice as large as it is, and a report that is repeated, are found; nothing else stands out.
#[test]
fn usage_that_stands_out_is_found() {
    let home = tempfile::tempdir().unwrap();
    home::write(home.path());
    // A session that nothing compacted.
    let fits = |text: String| text.lines().count() > 40 && !text.contains("compact_boundary");
    let path = logs(home.path()).into_iter().find(|path| fits(std::fs::read_to_string(path).unwrap())).unwrap();
    let of = |path: &Path| json(path.parent().unwrap(), &["inspect", &path.to_string_lossy()])["sessions"][0]["usage_outliers"].clone();
    assert_eq!(of(&path), serde_json::json!([]));
    let mut lines: Vec<Value> = std::fs::read_to_string(&path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let calls: Vec<usize> = (0..lines.len()).filter(|place| lines[*place]["type"] == "assistant").collect();
    let prompt = |lines: &[Value], call: usize| -> u64 {
        let usage = &lines[calls[call]]["message"]["usage"];
        ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"].iter().map(|key| usage[key].as_u64().unwrap()).sum()
    };
    let (before, here, after) = (prompt(&lines, 3), prompt(&lines, 4), prompt(&lines, 5));
    lines[calls[4]]["message"]["usage"]["input_tokens"] = Value::from(here + 3);
    lines[calls[9]]["message"]["usage"] = lines[calls[8]]["message"]["usage"].clone();
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(&path, text.join("\n") + "\n").unwrap();
    let repeated = prompt(&lines, 8);
    let expected = serde_json::json!([
        { "call": 5, "kind": "spike", "prompt_tokens": 2 * here, "before_tokens": before, "after_tokens": after },
        { "call": 10, "kind": "repeated", "prompt_tokens": repeated, "before_tokens": repeated, "after_tokens": prompt(&lines, 10) },
    ]);
    assert_eq!(of(&path), expected);
}
