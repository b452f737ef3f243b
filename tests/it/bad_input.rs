//! No agent wrote these files so: each gives its fixed sentences and what it still holds, in bounded time and memory.

use crate::support::{PlainScale, project, skip};
use ctxsim::catalog::Catalog;
use ctxsim::corpus::{Corpus, TraceFileError, read_traces, read_traces_up_to, write_traces};
use ctxsim::estimate::Vocabulary;
use ctxsim::format::{Claim, READERS, Source, by_name, sniff};
use ctxsim::measure::{Measure, trace};
use ctxsim::policy::Policy;
use ctxsim::transcript::Transcript;
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What a reader made of a file.
#[derive(Debug)]
pub struct Outcome {
    pub sessions: Vec<Transcript>,
    /// Reason, how often, first line.
    pub losses: Vec<(String, u64, u64)>,
    pub error: Option<String>,
}

impl Outcome {
    pub fn reasons(&self) -> Vec<&str> {
        self.losses.iter().map(|(reason, ..)| reason.as_str()).collect()
    }

    pub fn calls_with_usage(&self) -> usize {
        let messages = self.sessions.iter().flat_map(|session| &session.messages);
        messages.filter(|message| message.call.as_ref().is_some_and(|call| call.usage.is_some())).count()
    }
}

fn read(reader: &str, stream: impl Read + Send + 'static) -> Outcome {
    let mut sessions = Vec::new();
    let mut source = match Source::from_reader(Path::new("bad"), Box::new(stream)) {
        Ok(source) => source,
        Err(error) => return Outcome { sessions, losses: Vec::new(), error: Some(error.to_string()) },
    };
    let read = by_name(reader).unwrap().read;
    let result = read(&mut source, &PlainScale { keep_content: false }, &mut |session| sessions.push(session));
    let losses = source.losses().iter().map(|loss| (loss.reason.clone(), loss.count, loss.first_line)).collect();
    Outcome { sessions, losses, error: result.err().map(|error| error.to_string()) }
}

pub fn read_bytes(reader: &str, bytes: impl Into<Vec<u8>>) -> Outcome {
    read(reader, Cursor::new(bytes.into()))
}

/// A small session of each format, with two messages and, in the last one, a call whose prompt is `$N`.
const SESSIONS: [(&str, &str); 13] = [
    (
        "native",
        r#"{"ctxsim":"native/1","session":"s"}
{"role":"user","text":"question"}
{"role":"assistant","text":"answer","usage":{"prompt":$N,"output":1}}
"#,
    ),
    (
        "claude-code",
        r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"question"}}
{"type":"assistant","uuid":"a","parentUuid":"u","sessionId":"s","message":{"id":"m","role":"assistant","model":"x","content":[{"type":"text","text":"answer"}],"usage":{"input_tokens":$N,"output_tokens":1}}}
"#,
    ),
    (
        "codex",
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"question"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"answer"}]}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":$N,"output_tokens":1},"last_token_usage":{"input_tokens":$N,"output_tokens":1}}}}
"#,
    ),
    (
        "pi",
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T10:00:00.000Z","cwd":"/src"}
{"type":"message","id":"e1","parentId":null,"message":{"role":"user","content":"question"}}
{"type":"message","id":"e2","parentId":"e1","message":{"role":"assistant","content":[{"type":"text","text":"answer"}],"usage":{"input":$N,"output":1}}}
"#,
    ),
    (
        "opencode",
        r#"{"info":{"id":"ses_1","directory":"x"},"messages":[
{"info":{"id":"msg_1","role":"user"},"parts":[{"type":"text","text":"question"}]},
{"info":{"id":"msg_2","role":"assistant","time":{"created":1,"completed":2},"tokens":{"input":$N,"output":1}},"parts":[{"type":"text","text":"answer"}]}]}
"#,
    ),
    (
        "gemini-cli",
        r#"{"sessionId":"s","projectHash":"p","startTime":"2026-01-02T10:00:00.000Z"}
{"id":"1","type":"user","content":"question"}
{"id":"2","type":"gemini","content":"answer","tokens":{"input":$N,"output":1}}
"#,
    ),
    (
        "gemini-stream",
        r#"{"type":"init","session_id":"s","model":"x"}
{"type":"message","role":"user","content":"question"}
{"type":"message","role":"assistant","content":"answer","delta":true}
{"type":"result","status":"success","stats":{"input_tokens":$N,"output_tokens":1}}
"#,
    ),
    (
        "adk",
        r#"{"author":"user","invocationId":"e","content":{"role":"user","parts":[{"text":"question"}]}}
{"author":"a","invocationId":"e","content":{"role":"model","parts":[{"text":"answer"}]},"usageMetadata":{"promptTokenCount":$N,"candidatesTokenCount":1}}
"#,
    ),
    (
        "pydantic-ai",
        r#"{"kind":"request","parts":[{"part_kind":"user-prompt","content":"question"}]}
{"kind":"response","parts":[{"part_kind":"text","content":"answer"}],"usage":{"input_tokens":$N,"output_tokens":1}}
"#,
    ),
    (
        "langchain",
        r#"{"type":"human","data":{"content":"question"}}
{"type":"ai","data":{"content":"answer","usage_metadata":{"input_tokens":$N,"output_tokens":1}}}
"#,
    ),
    (
        "mini-swe-agent",
        r#"{"trajectory_format":"mini-swe-agent-1.1","messages":[
{"role":"user","content":"question"},
{"role":"assistant","content":"answer","extra":{"response":{"usage":{"prompt_tokens":$N,"completion_tokens":1}}}}]}
"#,
    ),
    (
        "anthropic-messages",
        r#"{"role":"user","content":"question"}
{"role":"assistant","content":[{"type":"text","text":"answer"}],"usage":{"input_tokens":$N,"output_tokens":1}}
"#,
    ),
    (
        "openai-chat",
        r#"{"role":"user","content":"question"}
{"role":"assistant","content":"answer","usage":{"prompt_tokens":$N,"completion_tokens":1}}
"#,
    ),
];

/// Formats that are one document a file: what is broken in the middle of one cannot be passed over.
const DOCUMENTS: [&str; 2] = ["opencode", "mini-swe-agent"];

/// Readers of frameworks and benchmarks: each has a broken fixture of its own, whose losses its file in `format` names one by one, or `exchanges`, `telemetry`
/// and `talks` do.
const ELSEWHERE: &str = "claude-managed-agents amp tau2 swe-agent litellm openhands atif tau-bench inspect qwen-code aider copilot-cli deepseek-harness cline crush goose \
     hermes mistral-vibe zed vscode-chat kimi-cli picoclaw mycoder baseagent cline-cli factory-droid grok-cli junie kimi-code kiro-cli muse api-exchange vcr langfuse langsmith otlp \
     continue crewai openai-agents agno trae-agent sharegpt autogen messages-display summariser";

#[test]
fn the_small_sessions_are_sound_and_cover_every_reader() {
    let here = READERS.iter().map(|reader| reader.name).filter(|name| !ELSEWHERE.split(' ').any(|known| known == *name));
    assert_eq!(SESSIONS.map(|(reader, _)| reader).to_vec(), here.collect::<Vec<_>>());
    for (reader, session) in SESSIONS {
        let outcome = read_bytes(reader, session.replace("$N", "7"));
        assert_eq!((outcome.sessions.len(), outcome.calls_with_usage(), outcome.reasons()), (1, 1, vec![]), "{reader} {outcome:?}");
        assert_eq!(outcome.sessions[0].messages.len(), 2, "{reader}");
    }
}

#[test]
fn numbers_that_cannot_be_cost_the_usage_and_nothing_else() {
    let absurd = ["-1", "1.5", "1e300", "18446744073709551615", "99999999999999999999999999", "\"12\"", "true", "[1]", "{\"a\":1}"];
    for (reader, session) in SESSIONS {
        for number in absurd {
            let outcome = read_bytes(reader, session.replace("$N", number));
            assert_eq!(outcome.reasons(), ["absurd usage numbers"], "{reader} {number}");
            assert_eq!((outcome.calls_with_usage(), outcome.sessions[0].messages.len()), (0, 2), "{reader} {number}");
        }
    }
}

#[test]
fn a_file_that_is_cut_off_gives_all_before_the_cut() {
    for (reader, session) in SESSIONS {
        let whole = session.replace("$N", "7");
        let cut = whole.rfind("answer").unwrap();
        let outcome = read_bytes(reader, &whole[..cut]);
        let kept: Vec<usize> = outcome.sessions.iter().map(|session| session.messages.len()).collect();
        assert_eq!((kept, outcome.reasons()), (vec![1], vec!["cut off at the end of the file"]), "{reader}");
    }
}

/// A cut within a number is a cut like any other.
#[test]
fn a_file_that_is_cut_off_within_a_number_gives_as_much() {
    for (reader, session) in SESSIONS {
        let before = &session[..session.find("$N").unwrap()];
        let told = |text: String| {
            let outcome = read_bytes(reader, text);
            let kept: Vec<usize> = outcome.sessions.iter().map(|session| session.messages.len()).collect();
            (kept, outcome.reasons().iter().map(|reason| reason.to_string()).collect::<Vec<_>>(), outcome.error.is_some())
        };
        let cut_before = told(before.to_owned());
        for number in ["-", "1.", "1e", "1e-"] {
            assert_eq!(told(format!("{before}{number}")), cut_before, "{reader}, {number}");
        }
    }
}

#[test]
fn nothing_and_noise_hold_no_session() {
    let noise: Vec<u8> = (0..200_000_u64).map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    for bytes in [Vec::new(), vec![b'\n'; 100], vec![0; 5000], noise, b"\xff\xfe\x00\x00".to_vec()] {
        let source = Source::from_reader(Path::new("noise"), Box::new(Cursor::new(bytes.clone()))).unwrap();
        assert!(sniff(&source).is_none());
        for reader in READERS {
            let outcome = read_bytes(reader.name, bytes.clone());
            assert!(outcome.sessions.is_empty(), "{}", reader.name);
            let blank = bytes.trim_ascii().is_empty();
            assert!(blank || outcome.error.is_some() || !outcome.losses.is_empty(), "{} is silent", reader.name);
        }
    }
}

#[test]
fn bytes_that_are_not_utf8_and_nul_bytes_cost_no_more_than_their_line() {
    for (reader, session) in SESSIONS {
        let whole = session.replace("$N", "7").into_bytes();
        let place = session.find("question").unwrap();
        let mut replaced = whole.clone();
        replaced[place] = 0xff;
        let outcome = read_bytes(reader, replaced);
        assert_eq!(outcome.reasons(), ["bytes that are not UTF-8 (replaced)"], "{reader}");
        assert_eq!(outcome.sessions[0].messages.len(), 2, "{reader}");

        let mut spoiled = whole;
        spoiled[place] = 0;
        let outcome = read_bytes(reader, spoiled);
        if DOCUMENTS.contains(&reader) {
            assert!(outcome.error.is_some() || !outcome.losses.is_empty(), "{reader}");
        } else {
            assert_eq!((outcome.reasons()[0], outcome.sessions[0].messages.len()), ("not JSON", 1), "{reader}");
        }
    }
}

#[test]
fn deep_nesting_exhausts_no_stack() {
    let deep = "[".repeat(100_000);
    let closed = format!("{deep}{}", "]".repeat(100_000));
    let objects = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    for (reader, session) in SESSIONS {
        for nest in [&deep, &closed, &objects] {
            let outcome = read_bytes(reader, nest.as_bytes());
            assert!(outcome.sessions.is_empty() && (outcome.error.is_some() || !outcome.losses.is_empty()), "{reader}");
            // In the place of a message's text, of a number, and beside the message on a line of its own.
            for place in ["\"question\"", "$N"] {
                read_bytes(reader, session.replacen(place, nest, 1).replace("$N", "7"));
            }
            let outcome = read_bytes(reader, format!("{}{nest}\n", session.replace("$N", "7")));
            assert!(outcome.sessions.len() == 1 || outcome.error.is_some(), "{reader} {outcome:?}");
        }
        // As the arguments of a tool they are kept as text, and never taken apart.
        let session = match reader {
            "claude-code" | "anthropic-messages" => session
                .replace(r#"{"type":"text","text":"answer"}"#, &format!(r#"{{"type":"tool_use","id":"1","name":"n","input":{closed}}}"#)),
            "pi" => session.replace(
                r#"{"type":"text","text":"answer"}"#,
                &format!(r#"{{"type":"toolCall","id":"1","name":"n","arguments":{closed}}}"#),
            ),
            _ => continue,
        };
        let outcome = read_bytes(reader, session.replace("$N", "7"));
        assert_eq!((outcome.reasons(), outcome.calls_with_usage()), (vec![], 1), "{reader}");
    }
}

/// Lines of 200 MB, documents of 200 MB, and 100 MB of zeros in a small `.gz`, by every reader one after the other: what is larger than
/// 64 MiB is passed over and counted, and never held.
#[test]
fn huge_files_are_read_in_bounded_memory() {
    needs_less_than(100, "huge");
}

/// A session of 256 MB in lines of 20 kB.
#[test]
fn a_long_session_is_read_in_bounded_memory() {
    needs_less_than(128, "session");
}

/// Fixtures of all readers, mutated: no panic, no hang, and no more memory than a few times what the largest of them needs.
#[test]
fn mutated_fixtures_are_read_in_bounded_time_and_memory() {
    needs_less_than(128, "mutated");
}

/// The same of databases.
#[cfg(feature = "sqlite")]
#[test]
fn mutated_databases_are_read_in_bounded_time_and_memory() {
    needs_less_than(128, "databases");
}

/// A reader that no target names would never be fuzzed.
#[test]
fn every_reader_is_fuzzed() {
    let targets = std::fs::read_dir(project().join("fuzz/fuzz_targets")).unwrap();
    let targets: String = targets.map(|target| std::fs::read_to_string(target.unwrap().path()).unwrap()).collect();
    let forgotten = READERS.iter().map(|reader| reader.name).filter(|name| !targets.contains(&format!("\"{name}\"")));
    assert_eq!(forgotten.collect::<Vec<_>>(), Vec::<&str>::new());
}

/// What fuzzing found (see `fuzz/`), and a late input of each target.
#[test]
fn inputs_found_by_fuzzing_are_read() {
    let inputs = fixtures("fuzz");
    assert!(!inputs.is_empty());
    inputs.iter().for_each(|input| read_by_all(&std::fs::read(input).unwrap()));
}

/// Runs a case in a process of its own, whose peak of memory stays below so many MiB. Only Linux tells the peak: elsewhere the case is run as it is.
fn needs_less_than(mib: u64, case: &str) {
    if !cfg!(target_os = "linux") {
        skip("CTXSIM_REQUIRE_SYSTEM", "the peak of a process is read from /proc");
        return run(case);
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let ran = command.args(["--exact", "bad_input::child", "--ignored", "--nocapture"]).env("CTXSIM_BAD_INPUT", case).output().unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{output}\n{}", String::from_utf8_lossy(&ran.stderr));
    let peak = output.lines().find_map(|line| line.split_once("peak in kB: ")).unwrap().1.trim().parse::<u64>().unwrap() >> 10;
    println!("peak of {case}: {peak} MiB");
    assert!(peak < mib, "{case}: {peak} MiB");
}

#[test]
#[ignore = "run by the tests above, in a process of its own"]
fn child() {
    let Ok(case) = std::env::var("CTXSIM_BAD_INPUT") else { return };
    run(&case);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("\npeak in kB: {}", peak.trim().trim_end_matches("kB"));
}

fn run(case: &str) {
    match case {
        "huge" => huge(),
        "session" => long_session(),
        "mutated" => mutated(),
        #[cfg(feature = "sqlite")]
        "databases" => crate::bad_databases::mutated(),
        case => panic!("{case} is no case"),
    }
}

fn huge() {
    let letters = || io::repeat(b'a').take(200_000_000);
    let start = r#"{"a":1}
{"type":"user","role":"user","id":"1","message":{"role":"user","content":""#;
    let zeros = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::copy(&mut io::repeat(0).take(100_000_000), &mut encoder).unwrap();
        encoder.finish().unwrap()
    };
    for (reader, _) in SESSIONS {
        let bomb = read_bytes(reader, zeros.clone());
        if DOCUMENTS.contains(&reader) {
            let document = Cursor::new("{\"info\":{\"id\":\"ses_1\",\"time\":1},\"messages\":[\"").chain(letters());
            let outcome = read(reader, document);
            // An export is read message by message.
            let refused = outcome.error.as_deref() == Some("document larger than 64 MiB (--max-line)");
            assert!(refused || reader == "opencode" && !outcome.losses.is_empty(), "{reader} {outcome:?}");
            assert!(bomb.error.is_some(), "{reader}");
            continue;
        }
        assert_eq!(bomb.reasons()[0], "line longer than 64 MiB (--max-line)", "{reader}");
        let lines = Cursor::new(start).chain(letters()).chain(Cursor::new("\"}\nnot JSON\n"));
        let outcome = read(reader, lines);
        assert!(outcome.losses.contains(&("line longer than 64 MiB (--max-line)".to_owned(), 1, 2)), "{reader} {outcome:?}");
        assert!(outcome.losses.contains(&("not JSON".to_owned(), 1, 3)), "{reader} {outcome:?}");
        let printed = Cursor::new("{\n \"messages\": [\"").chain(letters());
        let outcome = read(reader, printed);
        let refused = outcome.error.as_deref() == Some("document larger than 64 MiB (--max-line)");
        assert!(refused || outcome.reasons().contains(&"line longer than 64 MiB (--max-line)"), "{reader} {outcome:?}");
    }
}

/// The files below a folder of `tests/data`, in the same order everywhere.
pub fn fixtures(folder: &str) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(project().join("tests/data").join(folder)).standard_filters(false).build();
    let mut paths: Vec<PathBuf> = walk.flatten().map(ignore::DirEntry::into_path).filter(|path| path.is_file()).collect();
    paths.sort();
    paths
}

/// Reads the bytes with every reader that claims them, measures what they hold, and takes them for a trace file and a policy as well.
fn read_by_all(bytes: &[u8]) {
    let catalog = Catalog::builtin().unwrap();
    let open = || Source::from_reader(Path::new("absent/bad"), Box::new(Cursor::new(bytes.to_vec())));
    let Ok(head) = open() else { return };
    for reader in READERS.iter().filter(|reader| (reader.claims)(&head) != Claim::No) {
        let Ok(mut source) = open() else { continue };
        let _ = (reader.read)(&mut source, &PlainScale { keep_content: false }, &mut |session| {
            trace(session, "bad", Measure { catalog: &catalog, model: None, vocabulary: Vocabulary::O200kBase });
        });
    }
    let _ = read_traces(bytes);
    let _ = Policy::parse("bad", &String::from_utf8_lossy(bytes));
}

/// What stands for something else than it says, wherever it is put.
const SPLINTERS: [&str; 16] =
    ["", "null", "-1", "18446744073709551615", "1e999", "\"", "{", "}", "[", "]", "\n", "\\ud83d", "\"\"", ",", "\u{feff}", "\0"];

/// One change: a place and a length (in parts of 65 536 of the file), and what is put there: a splinter, or a piece of the file itself.
pub type Change = (u16, u16, Option<u8>, u16);

pub fn change(bytes: &mut Vec<u8>, (place, length, splinter, from): Change) {
    let at = |part: u16, of: usize| of * usize::from(part) / 65_536;
    let start = at(place, bytes.len());
    // Most changes are small; a few take a large piece out.
    let until = (start + at(length, if length % 8 == 0 { bytes.len() } else { 24 })).min(bytes.len());
    let inserted = match splinter {
        Some(which) => SPLINTERS[usize::from(which) % SPLINTERS.len()].as_bytes().to_vec(),
        None => bytes[at(from, bytes.len())..].iter().copied().take(400).collect(),
    };
    bytes.splice(start..until, inserted);
}

fn mutated() {
    let fixtures: Vec<Vec<u8>> =
        fixtures("").iter().map(|path| std::fs::read(path).unwrap()).filter(|bytes| bytes.len() < 1 << 18).collect();
    let changes = proptest::collection::vec(any::<Change>(), 1..6);
    let config = ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() };
    let ran = TestRunner::new(config).run(&(any::<prop::sample::Index>(), changes), |(fixture, changes)| {
        let mut bytes = fixture.get(&fixtures).clone();
        changes.into_iter().for_each(|one| change(&mut bytes, one));
        let start = Instant::now();
        read_by_all(&bytes);
        let took = start.elapsed();
        if took < Duration::from_secs(10) { Ok(()) } else { Err(TestCaseError::fail(format!("took {took:?}"))) }
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
}

fn long_session() {
    const LINES: u64 = 12_800;
    let text = "plausible words of a tool or a model, ".repeat(520);
    let line = move |number: u64| {
        let parent = if number == 0 { "null".to_owned() } else { format!("\"uuid-{}\"", number - 1) };
        let head = format!(r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"s","version":"2.1.0","uuid":"uuid-{number}""#);
        let end = match number % 2 {
            0 => format!(
                r#""type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{number}","content":"{text}"}}]}}}}"#
            ),
            _ => format!(
                r#""type":"assistant","requestId":"r{number}","message":{{"id":"m{number}","role":"assistant","model":"x","content":[{{"type":"text","text":"{text}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":{number},"output_tokens":5000}}}}}}"#
            ),
        };
        format!("{head},{end}\n").into_bytes()
    };
    let outcome = read("claude-code", Generated { lines: (0..LINES).map(line), line: Cursor::default() });
    assert_eq!((outcome.reasons(), outcome.sessions.len()), (vec![], 1));
    assert_eq!((outcome.sessions[0].messages.len() as u64, outcome.calls_with_usage() as u64), (LINES, LINES / 2));
}

/// A stream whose lines are made as they are read.
struct Generated<I> {
    lines: I,
    line: Cursor<Vec<u8>>,
}

impl<I: Iterator<Item = Vec<u8>>> Read for Generated<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.line.read(buffer)? {
            0 if !buffer.is_empty() => match self.lines.next() {
                Some(line) => {
                    self.line = Cursor::new(line);
                    self.line.read(buffer)
                }
                None => Ok(0),
            },
            read => Ok(read),
        }
    }
}

/// A small file that unpacks to more than any machine has memory for is refused while it is unpacked.
#[test]
fn a_trace_file_unpacks_to_no_more_than_its_limit() {
    let mut bytes = Vec::new();
    write_traces(&Corpus::default(), &mut bytes).expect("written");
    assert!(read_traces_up_to(&*bytes, 4_096).is_ok());
    // The first line says which version of the file follows.
    let first_line = bytes.iter().position(|byte| *byte == b'\n').expect("a first line") + 1;
    let mut bomb = bytes[..first_line].to_vec();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, &vec![0; 10_000_000]).expect("packed");
    bomb.extend(packed.finish().expect("packed"));
    assert!(bomb.len() < 20_000);
    match read_traces_up_to(&*bomb, 1_000_000) {
        Err(error @ TraceFileError::TooLarge(1_000_000)) => assert!(error.to_string().contains("more than 1000000 bytes"), "{error}"),
        other => panic!("{other:?}"),
    }
}
