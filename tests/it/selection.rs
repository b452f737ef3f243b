//! `--since`, `--until`, `--project`: sessions by the time of their last call and by their project, in every command over logs.

use crate::help::helps;
use crate::made::Native;
use crate::support::{self, Program};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

fn ctxsim(folder: &Path, words: &[&str]) -> Program {
    support::ctxsim(words).within(folder)
}

/// A session with a call at each of these times.
fn session(id: &str, project: &str, times: &[&str]) -> String {
    let begun = Native::new(json!({"session": id, "agent": "pi", "project": project}));
    let log = times.iter().map(|time| Some(*time).filter(|time| !time.is_empty())).fold(begun, |log, time| {
        let reply = json!({"role": "assistant", "text": "done", "usage": {"prompt": 1000, "output": 40}, "time": time});
        log.line(json!({"role": "user", "text": "go on", "time": time})).line(reply)
    });
    log.text()
}

fn logs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("logs")).unwrap();
    let recent = (jiff::Timestamp::now() - jiff::SignedDuration::from_hours(30)).to_string();
    for (id, project, times) in [
        ("long", "/home/me/shop", &["2026-01-08T10:00:00Z", "2026-01-31T23:59:59Z"][..]),
        ("short", "/home/me/shop/web", &["2026-02-01T00:00:00Z"]),
        ("recent", "/home/me/till", &[&recent]),
        ("undated", "/home/me/till", &[""]),
        ("homeless", "", &["2026-01-20T10:00:00Z"]),
    ] {
        fs::write(folder.path().join(format!("logs/{id}.jsonl")), session(id, project, times)).unwrap();
    }
    folder
}

/// The ids of the sessions that are looked at, and what is said of the choice.
fn taken(folder: &Path, words: &[&str]) -> (Vec<String>, Value) {
    let shown = ctxsim(folder, &[&["replay", "logs", "-p", "none", "--json"], words].concat()).code(0);
    let value: Value = serde_json::from_str(&shown.stdout()).unwrap();
    let sessions = value["policies"][0]["sessions"].as_array().unwrap();
    let mut ids: Vec<String> = sessions.iter().map(|session| session["session"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    (ids, value["corpus"]["selection"].clone())
}

#[test]
fn sessions_by_the_time_of_their_last_call() {
    let folder = logs();
    let folder = folder.path();
    assert_eq!(taken(folder, &[]).1, Value::Null);
    // The session that began before is whole in it, and a day ends with its last hour.
    let (ids, said) = taken(folder, &["--since", "2026-01-31", "--until", "2026-01-31"]);
    assert_eq!(ids, ["long"]);
    assert_eq!((&said["since"], &said["until"]), (&"2026-01-31T00:00:00Z".into(), &"2026-02-01T00:00:00Z".into()));
    assert_eq!((&said["of_sessions"], &said["without_date"], &said["clock"]), (&5.into(), &serde_json::json!(["undated"]), &Value::Null));
    assert_eq!(taken(folder, &["--until", "2026-01-31T23:59:59Z"]).0, ["homeless"], "the end is no part of the range");
    let (ids, said) = taken(folder, &["--since", "2d"]);
    assert_eq!(ids, ["recent"]);
    let clock: jiff::Timestamp = said["clock"].as_str().unwrap().parse().unwrap();
    let since: jiff::Timestamp = said["since"].as_str().unwrap().parse().unwrap();
    assert_eq!(clock.duration_since(since), jiff::SignedDuration::from_hours(48));
    assert!(clock <= jiff::Timestamp::now() && clock > jiff::Timestamp::now() - jiff::SignedDuration::from_mins(5));
    // Who reads the screen is told the same.
    let screen = ctxsim(folder, &["logs", "-p", "none", "--since", "2026-01-31"]).code(0).stdout();
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["3 of 5 sessions whose last call is of 2026-01-31 or later", "1 session without a date is left out (undated)"] {
        assert!(screen.contains(words), "{screen}");
    }
    let counted = ctxsim(folder, &["logs", "-p", "none", "--since", "2d", "--details"]).code(0).stdout();
    let counted = counted.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(counted.contains("(counted back from"), "{counted}");
    // The command that makes a report again names instants.
    ctxsim(folder, &["inspect", "logs", "--since", "2d", "-o", "out/"]).code(0);
    let again: Value = serde_json::from_str(&fs::read_to_string(folder.join("out/inspect.json")).unwrap()).unwrap();
    assert!(again["command"].as_str().unwrap().contains("--since 20"), "{}", again["command"]);
}

/// Days and blocks hold the calls of the range alone; replays have the whole session that ends in it.
#[test]
fn figures_by_day_are_cut_and_replays_are_not() {
    let folder = logs();
    let words = ["replay", "logs", "-p", "none", "--since", "2026-01-15", "--until", "2026-01-31", "--json", "--by"];
    for (by, groups) in [("day", ["2026-01-20", "2026-01-31"]), ("block", ["2026-01-20 10:00", "2026-01-31 23:00"])] {
        let report = ctxsim(folder.path(), &words).args([by]).json();
        let found: Vec<&str> = report["groups"].as_array().unwrap().iter().map(|group| group["group"].as_str().unwrap()).collect();
        assert_eq!(found, groups, "`long` began on the 8th");
        let calls: u64 =
            report["policies"][0]["sessions"].as_array().unwrap().iter().map(|session| session["calls"].as_u64().unwrap()).sum();
        assert_eq!((calls, &report["recorded"]["calls"]), (3, &3.into()), "two calls of `long`, one of `homeless`");
    }
    let agents = ctxsim(folder.path(), &words).args(["agent"]).json();
    assert_eq!(agents["groups"][0]["calls"], 3, "an agent has no days");
}

#[test]
fn sessions_by_their_project() {
    let folder = logs();
    let folder = folder.path();
    assert_eq!(taken(folder, &["--project", "till"]).0, ["recent", "undated"]);
    assert_eq!(taken(folder, &["--project", "/home/me/shop"]).0, ["long", "short"]);
    assert_eq!(taken(folder, &["--project", "shop", "--project", "w*"]).0, ["long", "short"]);
    let (ids, said) = taken(folder, &["--project", "till", "--since", "2d"]);
    assert_eq!((ids.as_slice(), &said["without_project"]), (&["recent".to_owned()][..], &serde_json::json!(["homeless"])));
    let unknown = ctxsim(folder, &["replay", "logs", "--project", "shpo"]).code(2).stderr();
    assert!(unknown.contains("did you mean `shop`? (`--by project` shows shop, till, web)"), "{unknown}");
    let never = ctxsim(folder, &["replay", "logs", "--project", "shop", "--since", "2026-03-01"]).code(3).stderr();
    assert!(never.contains("their last calls are of 2026-01-31 to 2026-01-31"), "{never}");
    // A measured trace keeps the number of the whole path, and no path.
    ctxsim(folder, &["trace", "build", "logs", "-q", "-o", "all.ctxtrace"]).code(0);
    let of = |project: &str| ctxsim(folder, &["inspect", "all.ctxtrace", "--project", project, "--csv"]).code(0).stdout();
    assert_eq!(of("/home/me/shop/").lines().count(), 2);
    let unknown = ctxsim(folder, &["inspect", "all.ctxtrace", "--project", "shop"]).code(2).stderr();
    assert!(unknown.contains("`--by project` shows logs:"), "{unknown}");
}

#[test]
fn mistyped_dates_are_named() {
    let folder = logs();
    for wrong in ["3m", "2026-13-01", "yesterday"] {
        assert!(ctxsim(folder.path(), &["logs", "--since", wrong]).code(2).stderr().contains("a date is written 2026-10-01"), "{wrong}");
    }
    let crossed = ctxsim(folder.path(), &["logs", "--since", "2026-02-01", "--until", "2026-01-01"]).code(2);
    assert!(crossed.stderr().contains("--since lies behind --until"), "{}", crossed.stderr());
}

/// Whatever reads logs takes the three; what is written down or measured is what was asked for.
#[test]
fn every_command_over_logs_takes_them() {
    let folder = logs();
    let over_logs = helps().iter().filter(|(_, help)| help.contains("[LOGS]..."));
    let mut count = 0;
    for (name, help) in over_logs {
        assert!(["--since <DATE>", "--until <DATE>", "--project <PROJECT>"].iter().all(|option| help.contains(option)), "{name}");
        count += 1;
    }
    assert!(count >= 14, "{count}");
    let range = ["--since", "2026-01-31", "--until", "2026-02-28", "-q"];
    ctxsim(folder.path(), &[&["convert", "logs", "-o", "some.jsonl"], &range[..]].concat()).code(0);
    ctxsim(folder.path(), &[&["trace", "build", "logs", "-o", "some.ctxtrace"], &range[..]].concat()).code(0);
    for written in ["some.jsonl", "some.ctxtrace"] {
        let ids = ctxsim(folder.path(), &["inspect", written, "--csv"]).code(0).stdout();
        assert!(ids.lines().count() == 3 && ids.contains("long") && ids.contains("short"), "{written}: {ids}");
    }
}
