//! `ctxsim worker`: rows in, rows out. However a corpus is cut into rows and in whatever order they come, the report is that of one machine; a row that
//! cannot be used costs itself.

use crate::support::{ctxsim, program, project, shared};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

type Row = (Value, Vec<u8>);

fn packed(header: &[u8], payload: &[u8]) -> Vec<u8> {
    let lengths = [&(header.len() as u32).to_le_bytes()[..], &(payload.len() as u64).to_le_bytes()[..]].concat();
    [&lengths[..], header, payload].concat()
}

fn stream(rows: &[Row]) -> Vec<u8> {
    rows.iter().flat_map(|(header, payload)| packed(header.to_string().as_bytes(), payload)).collect()
}

fn unpacked(mut bytes: &[u8]) -> Vec<Row> {
    let mut rows = Vec::new();
    while !bytes.is_empty() {
        let (lengths, rest) = bytes.split_at(12);
        let head = u32::from_le_bytes(lengths[..4].try_into().unwrap()) as usize;
        let body = u64::from_le_bytes(lengths[4..].try_into().unwrap()) as usize;
        rows.push((serde_json::from_slice(&rest[..head]).unwrap(), rest[head..head + body].to_vec()));
        bytes = &rest[head + body..];
    }
    rows
}

fn run(words: &[&str], input: &[u8]) -> Output {
    let mut worker = Command::new(program())
        .arg("worker")
        .args(words)
        .env("CTXSIM_CONFIG", "")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = worker.stdin.take().unwrap();
    let input = input.to_vec();
    // A worker that has ended reads no further.
    let sender = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = worker.wait_with_output().unwrap();
    sender.join().unwrap();
    output
}

fn through(words: &[&str], rows: &[Row]) -> Vec<Row> {
    let output = run(words, &stream(rows));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    unpacked(&output.stdout)
}

fn files(name: &str, files: &[(String, Vec<u8>)]) -> Row {
    let listed: Vec<Value> = files.iter().map(|(name, bytes)| json!({"name": name, "bytes": bytes.len()})).collect();
    (json!({"row": name, "files": listed}), files.iter().flat_map(|(_, bytes)| bytes.clone()).collect())
}

/// One row for each folder below a place.
fn rows_of(place: &Path) -> Vec<Row> {
    let mut folders = vec![place.to_owned()];
    let mut rows = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        folders.extend(entries.iter().filter(|path| path.is_dir()).cloned());
        let here: Vec<(String, Vec<u8>)> = entries
            .iter()
            .filter(|path| path.is_file())
            .map(|path| (path.to_string_lossy().into_owned(), fs::read(path).unwrap()))
            .collect();
        if !here.is_empty() {
            rows.push(files(&folder.to_string_lossy(), &here));
        }
    }
    rows
}

fn document(place: &str, more: &[&str]) -> String {
    ctxsim(&["replay", place, "--json", "-p", "none", "-p", "pi", "-p", "codex"]).args(more.iter().copied()).stdout()
}

/// The report of one machine, and the same out of rows that were measured and merged in parts.
fn assert_same_report(place: &Path) -> Vec<Row> {
    let rows = rows_of(place);
    let mut measured = through(&["measure"], &rows);
    assert!(measured.iter().all(|(header, _)| header.get("error").is_none()), "{measured:?}");
    assert_eq!(
        measured.iter().map(|(header, _)| &header["row"]).collect::<Vec<_>>(),
        rows.iter().map(|(row, _)| &row["row"]).collect::<Vec<_>>()
    );
    let again = through(&["measure"], &rows);
    assert!(measured == again, "a repeated task gives other bytes");
    let whole = through(&["merge"], &measured);
    // In parts, in another order, merged twice.
    measured.reverse();
    let (one, other) = measured.split_at(measured.len() / 3);
    let parts = [through(&["merge"], one), through(&["merge"], other)].concat();
    assert!(through(&["merge"], &parts) == whole, "the order of rows decides something");
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("corpus.ctxtrace");
    fs::write(&trace, &whole[0].1).unwrap();
    assert_eq!(document(&trace.to_string_lossy(), &[]), document(&place.to_string_lossy(), &[]));
    whole
}

#[test]
fn rows_give_the_report_of_one_machine() {
    let samples = project().join("transcripts");
    let whole = assert_same_report(&samples);
    // Simulated apart, session by session, each has the figures of the report.
    let mut sessions = through(&["merge", "--sessions"], &whole);
    let context = sessions.pop().unwrap();
    assert_eq!(context.0["sessions"], sessions.len());
    sessions.reverse();
    let (one, other) = sessions.split_at(5);
    let policies = ["simulate", "-p", "none", "-p", "pi", "-p", "codex", "--series"];
    let mut simulated = Vec::new();
    for part in [one, other] {
        simulated.extend(through(&policies, &[std::slice::from_ref(&context), part].concat()));
    }
    let report: Value = serde_json::from_str(&document(&samples.to_string_lossy(), &["--series"])).unwrap();
    let mut compared = 0;
    for policy in report["policies"].as_array().unwrap() {
        for session in policy["sessions"].as_array().unwrap() {
            let same = |(row, _): &&Row| row["policy"] == policy["policy"] && row["figures"]["session"] == session["session"];
            let found: Vec<&Row> = simulated.iter().filter(same).collect();
            assert_eq!(found.iter().map(|(row, _)| &row["figures"]).collect::<Vec<_>>(), [session]);
            compared += 1;
        }
    }
    assert_eq!(compared, simulated.len());
    assert!(compared >= 3 * 16, "{compared}");
}

/// Agents keep their logs in hidden folders.
#[test]
fn rows_name_files_of_hidden_folders() {
    let log = fs::read(project().join("transcripts/pi/branches.jsonl")).unwrap();
    let measured = through(&["measure"], &[files("hidden", &[("/home/u/.pi/agent/.s.jsonl".to_owned(), log)])]);
    assert_eq!(measured[0].0["sessions"], 1, "{}", measured[0].0);
}

#[test]
fn recorded_sessions_in_rows_give_the_report_of_one_machine() {
    let Some(shared) = shared() else { return };
    // A row takes no name that leads upwards, as `../shared` does.
    let shared = fs::canonicalize(shared).unwrap();
    // Copies, sub-agents, databases with their logs, requests that are joined.
    for agent in ["claude-code", "codex", "opencode-wal", "litellm_reqres_log"] {
        assert_same_report(&shared.join("transcripts").join(agent));
    }
}

#[test]
fn a_poisoned_row_costs_itself() {
    let session = fs::read(project().join("transcripts/codex/small.jsonl")).unwrap();
    let good = files("good", &[("a/b.jsonl".to_owned(), session.clone())]);
    let named = |name: &str| files(name, &[(name.to_owned(), session.clone())]);
    let short = (json!({"row": "short", "files": [{"name": "a", "bytes": 10}]}), vec![1; 9]);
    let long = (json!({"row": "long", "files": [{"name": "a", "bytes": 1}]}), vec![1; 9]);
    let twice = files("twice", &[("a".to_owned(), vec![1]), ("./a".to_owned(), vec![2])]);
    let rubbish = files("rubbish", &[("a.jsonl".to_owned(), (0..200_000_u32).map(|byte| (byte * 31 % 251) as u8).collect())]);
    let bad = [named("../x.jsonl"), named("a/../../x.jsonl"), named(""), named(&"long".repeat(100)), short, long, twice];
    let mut bytes = stream(std::slice::from_ref(&good));
    for row in &bad {
        bytes.extend(stream(std::slice::from_ref(row)));
    }
    bytes.extend(packed(b"{no header", b"12345"));
    bytes.extend(packed(br#"{"row":"large","files":[]}"#, &vec![0; 2_000_000]));
    bytes.extend(stream(&[rubbish, good.clone()]));
    let output = run(&["measure", "--max-row", "1000000"], &bytes);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = unpacked(&output.stdout);
    let errors: Vec<String> = rows.iter().map(|(header, _)| header["error"].as_str().unwrap_or_default().to_owned()).collect();
    assert_eq!(rows.len(), bad.len() + 5, "{errors:?}");
    assert!(errors[1..=bad.len() + 2].iter().all(|reason| !reason.is_empty()), "{errors:?}");
    assert!(errors[1].contains("leads out of its folder") && errors[bad.len() + 2].contains("--max-row"), "{errors:?}");
    // What is no log is told as it is of files.
    let (rubbish, _) = &rows[rows.len() - 2];
    assert_eq!((&rubbish["sessions"], rubbish["skipped"][0]["path"].as_str()), (&json!(0), Some("a.jsonl")), "{rubbish}");
    assert!(rows[0] == rows[rows.len() - 1] && rows[0].0["sessions"] == 1, "{:?}", rows[0].0);

    // A trace that was damaged on the way.
    let trace = &rows[0].1;
    let mut hurt = trace.clone();
    let middle = hurt.len() / 2;
    hurt[middle] ^= 0x55;
    let rows = [("hurt", hurt), ("word", b"hello".to_vec()), ("empty", Vec::new()), ("cut", trace[..40].to_vec())];
    let rows = rows.map(|(name, bytes)| (json!({ "row": name }), bytes)).into_iter().chain([(json!({}), trace.clone())]);
    let merged = through(&["merge"], &rows.collect::<Vec<_>>());
    let refused: Vec<&Value> =
        merged.iter().filter(|(header, _)| header.get("error").is_some()).map(|(header, _)| &header["row"]).collect();
    assert_eq!(refused, ["hurt", "word", "empty", "cut"]);
    assert!(merged[1..3].iter().all(|(header, _)| header["error"].as_str().unwrap().starts_with("not a trace file")), "{merged:?}");
    assert_eq!(merged.last().unwrap().0["sessions"], 1);
    let alone = through(&["simulate", "-p", "none"], &[(json!({"row": 7}), trace.clone())]);
    assert!(alone[0].0["row"] == 7 && alone[0].0["error"].as_str().unwrap().contains("context"), "{:?}", alone[0].0);
}

#[test]
fn a_stream_that_breaks_off_is_said_to() {
    let row = stream(&[files("a", &[("a".to_owned(), vec![1; 100])])]);
    for cut in [5, 12, 40, row.len() - 1] {
        let output = run(&["measure"], &row[..cut]);
        assert_eq!(output.status.code(), Some(2), "{cut}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("breaks off within row 1"), "{output:?}");
    }
    assert_eq!(run(&["measure"], b"{\"not\": \"framed\", \"at\": \"all\"}").status.code(), Some(2));
    assert!(run(&["measure"], b"").status.success());
    assert_eq!(run(&["measure", "logs/"], b"").status.code(), Some(2));
}
