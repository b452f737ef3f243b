//! Growth of time and memory, from outside. Absolute times are for the benchmarks: a test must hold on any machine.

use crate::support::{ctxsim, skip};
use ctxsim::trace::{CallRow, MessageRow, PartRow};
use ctxsim::transcript::{Message, Part, Text};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A session in which a tool returns this text so many times.
fn write_session(path: &Path, text: &str, times: usize) {
    let mut lines = String::from("{\"ctxsim\":\"native/1\",\"session\":\"long\",\"model\":\"gpt-5\"}\n");
    let result = serde_json::to_string(text).expect("JSON");
    for id in 0..times {
        let call = format!("{{\"role\":\"assistant\",\"parts\":[{{\"call\":{{\"id\":\"c{id}\",\"name\":\"run\",\"arguments\":{{}}}}}}]}}");
        let answer = format!("{{\"role\":\"tool\",\"parts\":[{{\"result\":{{\"id\":\"c{id}\",\"text\":{result}}}}}]}}");
        writeln!(lines, "{call}\n{answer}").expect("a string takes everything");
    }
    std::fs::write(path, lines).expect("written");
}

const REPLAY: [&str; 4] = ["replay", "--policy", "codex", "--quiet"];

fn replay(path: &Path) -> Child {
    let mut command = ctxsim(&REPLAY).args([path]).command();
    command.stdout(Stdio::null()).spawn().expect("the program starts")
}

fn time(words: &[&str], path: &Path) -> Duration {
    let start = Instant::now();
    ctxsim(words).args([path]).code(0);
    start.elapsed()
}

/// Does the longer of two logs take eight times as long? What comes near is measured thrice.
fn is_eightfold(words: &[&str], long: &Path, short: &Path) -> bool {
    let fastest = |path: &Path| (0..3).map(|_| time(words, path)).min().expect("three runs");
    time(words, long) >= time(words, short) * 5 && fastest(long) >= fastest(short) * 8
}

/// The most memory that the program held, in KiB; `None` where the system does not tell.
fn peak_memory(path: &Path) -> Option<u64> {
    let mut child = replay(path);
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while child.try_wait().expect("it ends").is_none() {
        let now = std::fs::read_to_string(&status).unwrap_or_default();
        let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = peak.max(line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()));
        std::thread::sleep(Duration::from_millis(1));
    }
    peak
}

fn skip_memory() {
    skip("CTXSIM_REQUIRE_SYSTEM", "this system does not tell the memory of a process");
}

fn lines(bytes: usize) -> String {
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        writeln!(text, "src/room_{number}.rs:{}: warning: unused variable `value_{}`", number * 7 % 997, number % 61).expect("a string");
    }
    text
}

/// A session of half a million short messages is held as a whole: eight bytes more of each are four megabytes, and a part beyond 128 bytes takes 160.
#[test]
fn a_message_takes_little_room() {
    let read = [size_of::<Message>(), size_of::<Part>(), size_of::<Text>()];
    let measured = [size_of::<MessageRow>(), size_of::<PartRow>(), size_of::<CallRow>()];
    assert_eq!((read, measured), ([112, 128, 72], [48, 120, 96]));
}

#[test]
fn a_long_session_needs_little_memory() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("long.jsonl");
    write_session(&path, &lines(20_000), 3_200);
    assert!(std::fs::metadata(&path).expect("written").len() > 64_000_000);
    match peak_memory(&path) {
        Some(kibibytes) => assert!(kibibytes < 256 * 1024, "{kibibytes} KiB"),
        None => skip_memory(),
    }
}

/// Four times as much takes four times as long; eight times would be the mark of something that is not linear.
#[test]
fn time_grows_as_the_logs_do() {
    let folder = tempfile::tempdir().expect("folder");
    let (short, long) = (folder.path().join("short.jsonl"), folder.path().join("long.jsonl"));
    let cases = [("calls", lines(2_000), 1_000, 4_000), ("lines", lines(500_000), 4, 16)];
    for (name, text, few, many) in cases {
        write_session(&short, &text, few);
        write_session(&long, &text, many);
        assert!(!is_eightfold(&REPLAY, &long, &short), "{name}");
    }
    for text in ["-", " ", "\t", "中", "a"] {
        write_session(&short, &text.repeat(500_000), 1);
        write_session(&long, &text.repeat(2_000_000), 1);
        assert!(!is_eightfold(&REPLAY, &long, &short), "{text:?}");
    }
}

/// A session that compacts after every reply.
#[test]
fn time_grows_as_the_compactions_do() {
    let folder = tempfile::tempdir().expect("folder");
    let written = |name: &str, times: usize| {
        let mut lines = String::from("{\"ctxsim\":\"native/1\",\"session\":\"s\",\"model\":\"gpt-5\"}\n");
        for id in 0..times {
            writeln!(lines, "{{\"role\":\"user\",\"id\":\"u{id}\",\"text\":\"q {id}\"}}").expect("a string");
            lines += "{\"role\":\"assistant\",\"text\":\"a\",\"usage\":{\"prompt\":100,\"output\":2}}\n";
            let compaction = format!("{{\"kind\":\"compact\",\"automatic\":true,\"summary\":\"s\",\"kept_from\":\"u{id}\"}}");
            writeln!(lines, "{{\"compaction\":{compaction}}}").expect("a string");
        }
        let path = folder.path().join(name);
        std::fs::write(&path, lines).expect("written");
        path
    };
    let (short, long) = (written("short.jsonl", 10_000), written("long.jsonl", 40_000));
    for words in [&["replay", "-p", "none", "-q"][..], &["explain", "-q"], &["idle", "-q"], &["drift", "-q"]] {
        assert!(!is_eightfold(words, &long, &short), "{words:?}");
    }
}

/// Ten million distinct lines in one session: pieces are thinned out as they come.
#[test]
#[ignore = "writes 400 MB and reads them"]
fn ten_million_distinct_lines_need_bounded_memory() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("many.jsonl");
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path).expect("a file"));
    std::io::Write::write_all(&mut out, b"{\"ctxsim\":\"native/1\",\"session\":\"many\",\"model\":\"gpt-5\"}\n").expect("written");
    for result in 0..1_000 {
        let text: String = (0..10_000).map(|line| format!("a line of its own, {:08}\\n", result * 10_000 + line)).collect();
        let call =
            format!("{{\"role\":\"assistant\",\"parts\":[{{\"call\":{{\"id\":\"c{result}\",\"name\":\"run\",\"arguments\":{{}}}}}}]}}");
        let answer = format!("{{\"role\":\"tool\",\"parts\":[{{\"result\":{{\"id\":\"c{result}\",\"text\":\"{text}\"}}}}]}}");
        std::io::Write::write_all(&mut out, format!("{call}\n{answer}\n").as_bytes()).expect("written");
    }
    drop(out);
    match peak_memory(&path) {
        Some(kibibytes) => assert!(kibibytes < 512 * 1024, "{kibibytes} KiB"),
        None => skip_memory(),
    }
}

/// Files of 500 sessions each, of one question and its answer.
fn write_sessions(folder: &Path, files: usize) {
    for file in 0..files {
        let mut lines = String::new();
        for session in 0..500 {
            let id = file * 500 + session;
            writeln!(lines, "{{\"ctxsim\":\"native/1\",\"session\":\"s{id}\",\"model\":\"gpt-5\"}}").expect("a string");
            writeln!(lines, "{{\"role\":\"user\",\"id\":\"u{id}\",\"text\":\"What does file {id} hold?\"}}").expect("a string");
            let usage = format!("{{\"prompt\":{},\"cache_read\":900,\"output\":7}}", 1_000 + id % 97);
            writeln!(lines, "{{\"role\":\"assistant\",\"id\":\"a{id}\",\"text\":\"Nothing {id}.\",\"usage\":{usage}}}").expect("a string");
        }
        std::fs::write(folder.join(format!("{file}.jsonl")), lines).expect("written");
    }
}

#[test]
fn memory_grows_little_with_the_number_of_sessions() {
    let folders = [20, 60].map(|files| {
        let folder = tempfile::tempdir().expect("a folder");
        write_sessions(folder.path(), files);
        folder
    });
    let [Some(small), Some(large)] = folders.map(|folder| peak_memory(folder.path())) else { return skip_memory() };
    let each = large.saturating_sub(small) as f64 / 20_000.0;
    println!("{small} and {large} KiB: {each:.2} KiB a session");
    assert!(each < 3.0, "{each:.2} KiB a session");
}
