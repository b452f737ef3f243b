//! One door for reading: what is opened and what is not, and the bounds, each with its sentence and its option.

use crate::support::{ctxsim, shell};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

const SESSION: &str = "tests/data/cli/session.jsonl";

fn words(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What `inspect --json` says of the corpus, without names of files.
fn corpus(text: &str) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
    value["corpus"].take()
}

#[test]
fn a_stream_is_read_like_its_file() {
    let file = corpus(&ctxsim(&["inspect", SESSION, "--json", "--quiet"]).stdout());
    for script in [
        format!("ctxsim inspect - --json --quiet < {SESSION}"),
        format!("ctxsim inspect /dev/stdin --json --quiet < {SESSION}"),
        format!("cat {SESSION} | ctxsim inspect /dev/stdin --json --quiet"),
        format!("ctxsim inspect <(cat {SESSION}) --json --quiet"),
        format!("ctxsim inspect <(gzip -c {SESSION}) --json --quiet"),
    ] {
        let output = shell("bash", &script).output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(corpus(&String::from_utf8(output.stdout).unwrap()), file, "{script}");
    }
    // A policy may come through a pipe too.
    let script = format!("ctxsim replay {SESSION} -p <(ctxsim policy show pi) --json --quiet");
    let output = shell("bash", &script).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn devices_and_folders_are_no_files() {
    let refused = ctxsim(&["inspect", "/dev/zero"]).code(3);
    assert!(refused.stderr().contains("is a device or a socket, which is not read"), "{}", refused.stderr());
    for (option, value) in [("--policy", "/dev/zero"), ("--prices", "/dev/zero"), ("--policy", "tests"), ("--prices", "tests")] {
        let refused = ctxsim(&["cost", SESSION, option, value]).code(2);
        let said = refused.stderr();
        assert!(
            said.contains("is a device") || said.contains("is a directory") || said.contains("Is a directory"),
            "{option} {value}: {said}"
        );
    }
}

/// Three calls of one session in the files of OpenHands: the first one is named, the others lie beside it.
fn calls(folder: &Path) {
    let message =
        |number: usize| format!(r#"{{"role":"user","content":"question {number}"}},{{"role":"assistant","content":"answer {number}"}}"#);
    for number in 1..=3 {
        let asked = (1..number).map(message).collect::<Vec<_>>().join(",");
        let comma = if asked.is_empty() { "" } else { "," };
        let response = format!(
            r#"{{"choices":[{{"message":{{"role":"assistant","content":"answer {number}"}}}}],"usage":{{"prompt_tokens":{number}00,"completion_tokens":5}}}}"#
        );
        let text = format!(
            r#"{{"messages":[{asked}{comma}{{"role":"user","content":"question {number}"}}],"response":{response},"latency_sec":1}}"#
        );
        fs::write(folder.join(format!("m-{}.0.json", 1_700_000_000 + number)), text).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn what_lies_beside_is_a_regular_file_or_is_named_as_lost() {
    let elsewhere = tempfile::tempdir().unwrap();
    for what in ["whole", "link", "fifo"] {
        let folder = tempfile::tempdir().unwrap();
        calls(folder.path());
        let (first, second) = (folder.path().join("m-1700000001.0.json"), folder.path().join("m-1700000002.0.json"));
        match what {
            "link" => {
                fs::rename(&second, elsewhere.path().join("second")).unwrap();
                std::os::unix::fs::symlink(elsewhere.path().join("second"), &second).unwrap();
            }
            "fifo" => {
                fs::remove_file(&second).unwrap();
                assert!(Command::new("mkfifo").arg(&second).status().unwrap().success());
            }
            _ => {}
        }
        // The folder is read, so that the first file is the main one of all three.
        let read = ctxsim(&["inspect", &words(folder.path()), "--json", "--quiet"]).code(0);
        let facts = corpus(&read.stdout());
        let losses = facts["losses"].to_string();
        let lost = losses.contains("call of the session that cannot be read");
        assert_eq!(lost, what != "whole", "{what}: {losses}");
        assert_eq!(facts["calls_with_usage"], if what == "whole" { 3 } else { 2 }, "{what}: {facts}");
        // A link that is named itself is followed.
        if what == "link" {
            ctxsim(&["inspect", &words(&second), "--quiet"]).code(0);
        }
        drop(first);
    }
}

#[test]
fn each_bound_has_a_sentence_and_an_option() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| words(&folder.path().join(name));
    let line = |text: &str| format!("{{\"role\":\"user\",\"text\":\"{text}\"}}\n{{\"role\":\"assistant\",\"text\":\"answer\"}}\n");
    let long = format!("{{\"ctxsim\":\"native/1\",\"session\":\"s\"}}\n{}{}", line("a"), line(&"long ".repeat(1_000)));
    fs::write(place("long.jsonl"), &long).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(long.as_bytes()).unwrap();
    fs::write(place("long.jsonl.gz"), packed.finish().unwrap()).unwrap();
    fs::write(
        place("document.json"),
        format!("{{\"info\":{{\"id\":\"ses_1\",\"directory\":\"x\"}},\"messages\":[\"{}\"]}}", "a".repeat(5_000)),
    )
    .unwrap();
    // This one is no list of messages, and is read as a whole.
    fs::write(
        place("whole.json"),
        format!("{{\"info\":{{\"id\":\"s\"}},\"messages\":[],\"trajectory_format\":\"mini-swe-agent-1\",\"a\":\"{}\"}}", "a".repeat(5_000)),
    )
    .unwrap();
    for (file, option, value, said) in [
        ("long.jsonl", "--max-line", "1K", "line longer than 1 KiB (--max-line)"),
        ("document.json", "--max-line", "2048", "record larger than 2 KiB (--max-line)"),
        ("whole.json", "--max-line", "2048", "document larger than 2 KiB (--max-line)"),
        ("long.jsonl.gz", "--max-unpacked", "4K", "content of more than 4 KiB (--max-unpacked)"),
        ("long.jsonl", "--max-records", "3", "more than 3 lines (--max-records)"),
    ] {
        let told = ctxsim(&["inspect", &place(file), "--strict", option, value]).run();
        assert!(told.stderr().contains(said), "{file} {option}: {}", told.stderr());
        assert_ne!(told.status.code(), Some(0), "{file} {option}");
    }
    ctxsim(&["inspect", &place("long.jsonl"), "--strict", "--max-line", "16K", "--max-records", "5"]).code(0);
    ctxsim(&["inspect", &place("long.jsonl.gz"), "--strict", "--max-unpacked", "1M"]).code(0);
    ctxsim(&["inspect", &place("long.jsonl"), "--max-line", "none"]).code(2);
    // Settings, prices and policies have a bound that no option moves: nothing of the kind is so large.
    fs::write(place("large.toml"), "#".repeat(17 << 20)).unwrap();
    for option in ["--policy", "--prices"] {
        let refused = ctxsim(&["cost", SESSION, option, &place("large.toml")]).code(2);
        assert!(refused.stderr().contains("is larger than 16 MiB"), "{option}: {}", refused.stderr());
    }
}

#[test]
fn policies_and_samples_have_bounds() {
    let folder = tempfile::tempdir().unwrap();
    let place = words(&folder.path().join("mine.toml"));
    let formula = |text: &str| format!("name = \"mine\"\nextends = \"opencode\"\n[params]\nprune_protect = \"={text}\"\n");
    fs::write(&place, formula(&format!("1{}", "+1".repeat(80_000)))).unwrap();
    let refused = ctxsim(&["replay", SESSION, "-p", &place]).code(2);
    let said = refused.stderr();
    assert!(said.contains("longer than 2000 characters") && said.len() < 1_000, "{said}");
    fs::write(&place, formula(&format!("1{}", "+1".repeat(900)))).unwrap();
    ctxsim(&["replay", SESSION, "-p", &place, "--quiet"]).code(0);
    let rule = |number: usize| format!("[[rule]]\nid = \"r{number}\"\nwhen = \"before_call\"\n");
    fs::write(&place, format!("name = \"mine\"\n{}", (0..20_000).map(rule).collect::<String>())).unwrap();
    let refused = ctxsim(&["replay", SESSION, "-p", &place]).code(2);
    assert!(refused.stderr().len() < 1_000, "{}", refused.stderr());
    fs::write(&place, "name = \"mine\"\nextends = \"opencode\"\n").unwrap();
    for sample in ["18446744073709551615", "1000000000"] {
        let refused = ctxsim(&["sweep", SESSION, "-p", "opencode", "--vary", "prune_protect=10k..80k", "--sample", sample]).code(2);
        assert!(refused.stderr().contains("no more than 1000000 settings are drawn"), "{}", refused.stderr());
    }
}

#[test]
fn rows_that_were_changed_are_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let rows = words(&folder.path().join("rows.jsonl"));
    let sweep = ["sweep", SESSION, "-q", "-p", "opencode", "--vary", "prune_protect=10k,20k,30k", "--rows", &rows, "--resume"];
    ctxsim(&sweep).code(0);
    let whole = fs::read_to_string(&rows).unwrap();
    ctxsim(&sweep).code(0);
    assert_eq!(fs::read_to_string(&rows).unwrap(), whole);
    let row = whole.lines().nth(2).unwrap();
    let digit = row.find(|letter: char| letter.is_ascii_digit()).unwrap();
    let changed = format!("{}{}{}", &row[..digit], (row.as_bytes()[digit] - b'0' + 1) % 10, &row[digit + 1..]);
    fs::write(&rows, whole.replace(row, &changed)).unwrap();
    let refused = ctxsim(&sweep).code(2);
    assert!(refused.stderr().contains("a row does not fit its checksum"), "{}", refused.stderr());
}
