//! From raw logs to reports, as ratios within one run: against the same pipeline on tiktoken-rs, against the bare counter, on two
//! cores against one, and many presets over one built trace; then the program itself: its start, its memory, and the worst cases.
//!
//!     CTXSIM_SHARED=../shared cargo bench --bench pipeline

use ctxsim::catalog::Catalog;
use ctxsim::corpus::{Corpus, ReadSettings, read};
use ctxsim::estimate::{Counter, Engine, Vocabulary};
use ctxsim::experiment::{ReplaySettings, replay};
use ctxsim::format::{Source, sniff};
use ctxsim::measure::Wanted;
use ctxsim::policy::{Policy, presets};
use ctxsim::transcript::{Scale, Text};
use rayon::ThreadPoolBuilder;
use std::cell::RefCell;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;

fn main() {
    let shared = PathBuf::from(std::env::var("CTXSIM_SHARED").unwrap_or_else(|_| "../shared".to_owned())).join("transcripts");
    if !shared.is_dir() {
        println!("skipped: {} is no folder (set CTXSIM_SHARED)", shared.display());
        return;
    }
    let catalog = Catalog::builtin().expect("the catalogue parses");
    // Start-up (loading a vocabulary) is reported apart; the corpora are large enough to outweigh it.
    for engine in [Engine::Fast, Engine::Reference] {
        let start = processor_time();
        Counter::new(Vocabulary::O200kBase, engine).expect("the vocabulary loads").load();
        println!("loading o200k_base, {engine:?}: {} ms", (processor_time() - start).as_millis());
    }
    let work = tempfile::tempdir().expect("a temporary folder can be made");
    let claude = copies(&shared.join("claude-code"), &work.path().join("claude"), 16);
    let text_heavy = copies(&shared.join("openai_chat_jsonl"), &work.path().join("text"), 99);
    against_reference(&catalog, &claude);
    against_bare_counter(&catalog, "the same long chats many times", &text_heavy);
    against_bare_counter(&catalog, "trajectories, each once", &shared.join("mini_swe_traj"));
    two_cores(&claude);
    presets_over_traces(&catalog, &shared);
    start(&shared.join("openai_chat_jsonl"));
    worst_cases(work.path());
    memory(&shared, work.path());
}

/// A folder with so many copies of every text file of another, the folders below it included. The ids differ from copy to copy, so
/// that none of them is a duplicate.
fn copies(from: &Path, to: &Path, times: u8) -> PathBuf {
    std::fs::create_dir_all(to).expect("a folder can be made");
    let files = ignore::WalkBuilder::new(from).standard_filters(false).build().flatten().map(ignore::DirEntry::into_path);
    for (number, file) in files.filter(|path| path.is_file()).enumerate() {
        let content = std::fs::read(&file).expect("a file can be read");
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if content.starts_with(b"SQLite") || name.ends_with("-wal") || name.ends_with(".tsv") {
            continue;
        }
        for copy in 0..times {
            std::fs::write(to.join(format!("{copy}-{number}-{name}")), other_ids(content.clone(), copy)).expect("a file can be written");
        }
    }
    to.to_owned()
}

/// The content with two letters of each id (UUIDs, and what stands behind the prefixes of providers) replaced by the copy's number.
fn other_ids(mut content: Vec<u8>, copy: u8) -> Vec<u8> {
    let mark = [b'0' + copy / 10, b'0' + copy % 10];
    let mut places: Vec<usize> = memchr::memchr_iter(b'-', &content)
        .filter(|&at| [5, 10, 15].iter().all(|ahead| content.get(at + ahead) == Some(&b'-')))
        .filter_map(|at| at.checked_sub(8))
        .collect();
    for prefix in ["msg_", "req_", "resp_", "chatcmpl-", "gen-", "ses_", "prt_", "call_"] {
        places.extend(memchr::memmem::find_iter(&content, prefix).map(|at| at + prefix.len()));
    }
    for place in places {
        if let Some(id) = content.get_mut(place..place + 2).filter(|id| id.iter().all(u8::is_ascii_alphanumeric)) {
            id.copy_from_slice(&mark);
        }
    }
    content
}

/// Processor time of the whole process, all threads; the clock on the wall where the system does not tell.
fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let ticks = std::fs::read_to_string("/proc/self/stat").ok().and_then(|stat| {
        let fields: Vec<u64> = stat.rsplit(')').next()?.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
        Some(fields.get(11)? + fields.get(12)?)
    });
    ticks.map_or_else(|| START.elapsed(), |ticks| Duration::from_millis(ticks * 10))
}

/// Processor time, time on the wall, and what was read.
fn corpus(catalog: &Catalog, folder: &Path, engine: Engine, threads: usize) -> (Duration, Duration, Corpus) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let settings = ReadSettings { engine, vocabulary: Some(Vocabulary::O200kBase), wanted: Wanted::SIZES, ..ReadSettings::new(catalog) };
    let (wall, processor) = (Instant::now(), processor_time());
    let corpus = pool.install(|| read(&[folder.to_string_lossy().into_owned()], &settings)).expect("the vocabulary loads");
    (processor_time() - processor, wall.elapsed(), corpus)
}

/// The median of the ratios `b / a` over interleaved rounds.
fn ratio(mut a: impl FnMut() -> Duration, mut b: impl FnMut() -> Duration) -> f64 {
    let mut ratios: Vec<f64> = (0..ROUNDS).map(|_| (a(), b())).map(|(a, b)| b.as_secs_f64() / a.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    ratios[ROUNDS / 2]
}

fn megabytes(folder: &Path) -> f64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len() as f64 / 1e6).sum()
}

fn against_reference(catalog: &Catalog, folder: &Path) {
    let ours = || corpus(catalog, folder, Engine::Fast, 1).0;
    let rate = megabytes(folder) / ours().as_secs_f64();
    let ratio = ratio(ours, || corpus(catalog, folder, Engine::Reference, 1).0);
    println!(
        "read + parse + count, Claude Code files, one core: {rate:.0} MB/s raw, {ratio:.1} x the same pipeline on tiktoken-rs (bar 3)"
    );
}

/// A scale that only collects texts.
struct Collector(RefCell<Vec<String>>);

impl Scale for Collector {
    fn weigh(&self, text: &str) -> Text {
        self.0.borrow_mut().push(text.to_owned());
        Text::default()
    }
}

fn against_bare_counter(catalog: &Catalog, what: &str, folder: &Path) {
    let collector = Collector(RefCell::default());
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(mut source) = Source::open(&file.path()) else { continue };
        let Some((reader, _)) = sniff(&source) else { continue };
        let _ = (reader.read)(&mut source, &collector, &mut |_| {});
    }
    let texts = collector.0.into_inner();
    let counter = Counter::new(Vocabulary::O200kBase, Engine::Fast).expect("the vocabulary loads");
    counter.load();
    let bare = || {
        let start = processor_time();
        let tokens: u64 = texts.iter().map(|text| counter.count(text)).sum();
        assert!(tokens > 0);
        processor_time() - start
    };
    let bytes: usize = texts.iter().map(String::len).sum();
    let start = processor_time();
    Counter::new(Vocabulary::O200kBase, Engine::Fast).expect("the vocabulary loads").load();
    let loading = processor_time() - start;
    let ratio = ratio(|| corpus(catalog, folder, Engine::Fast, 1).0.saturating_sub(loading), bare);
    println!(
        "end to end, less the loading, {what} ({:.1} MB of text): {ratio:.2} of the bare counter's rate (bar 0.8)",
        bytes as f64 / 1e6
    );
}

fn two_cores(folder: &Path) {
    // The clock on the wall counts here, and the program as a user starts it; the shortest rounds tell the most about the program and
    // the least about its neighbours.
    let shortest = |threads: &str| {
        let round = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
            command.args(["replay", "--quiet", "--policy", "none", "--threads", threads]).arg(folder);
            let start = Instant::now();
            command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("the program starts");
            start.elapsed()
        };
        (0..ROUNDS).map(|_| round()).min().unwrap_or_default()
    };
    println!("two threads: {:.2} x one, from start to end (bar 1.6)", shortest("1").as_secs_f64() / shortest("2").as_secs_f64());
}

fn presets_over_traces(catalog: &Catalog, folder: &Path) {
    let (_, _, corpus) = corpus(catalog, folder, Engine::Fast, 2);
    let policies: Vec<Policy> = presets().iter().take(10).filter_map(|preset| Policy::load(preset.name).ok()).collect();
    let settings = ReplaySettings::new(catalog);
    let start = Instant::now();
    let replays = replay(&corpus, &policies, &settings).expect("presets have plans");
    let elapsed = start.elapsed();
    let calls: u64 = replays.iter().map(|replay| replay.totals.calls).sum();
    println!(
        "{} presets over {} sessions: {:.3} s (bar 1 s), {:.1} million simulated calls a second",
        policies.len(),
        corpus.traces.len(),
        elapsed.as_secs_f64(),
        calls as f64 / elapsed.as_secs_f64() / 1e6
    );
}

/// What a run of the program took.
struct Run {
    seconds: f64,
    peak_megabytes: f64,
}

/// The program itself, on one thread, over these logs.
fn run(logs: &[&Path], threads: &str) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctxsim"));
    command.arg("replay").args(logs).args(["--policy", "codex", "--quiet", "--threads", threads]);
    let before = children_time();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let (start, mut peak) = (Instant::now(), 0.0_f64);
    while child.try_wait().expect("the program ends").is_none() {
        let now = std::fs::read_to_string(&status).unwrap_or_default();
        let line = now.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
        peak = peak.max(line.trim().trim_end_matches(" kB").parse().unwrap_or(0.0) * 1024.0 / 1e6);
        std::thread::sleep(Duration::from_millis(2));
    }
    let spent = before.zip(children_time()).map_or_else(|| start.elapsed(), |(before, after)| after - before);
    Run { seconds: spent.as_secs_f64(), peak_megabytes: peak }
}

/// Processor time of all children that have ended, in steps of 10 ms.
fn children_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<u64> = stat.rsplit(')').next()?.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
    Some(Duration::from_millis((fields.get(13)? + fields.get(14)?) * 10))
}

/// The median of three runs on one thread.
fn seconds(path: &Path) -> f64 {
    let mut runs = [(); 3].map(|()| run(&[path], "1").seconds);
    runs.sort_by(f64::total_cmp);
    runs[1]
}

fn start(folder: &Path) {
    let Some(file) = std::fs::read_dir(folder).into_iter().flatten().flatten().next() else { return };
    println!("one small file, policy codex: {:.2} s of processor time from start to end (bar 0.4)", seconds(&file.path()));
}

/// Sessions whose only tool returns one monstrous text, through the program from start to end; the start is taken off.
fn worst_cases(folder: &Path) {
    let path = folder.join("worst.jsonl");
    let time = |text: &str| {
        let result = serde_json::json!({"role": "tool", "parts": [{"result": {"id": "c", "text": text}}]});
        let call = serde_json::json!({"role": "assistant", "parts": [{"call": {"id": "c", "name": "run", "arguments": {}}}]});
        let head = serde_json::json!({"ctxsim": "native/1", "session": "worst", "model": "gpt-5"});
        std::fs::write(&path, format!("{head}\n{call}\n{result}\n")).expect("a file can be written");
        seconds(&path)
    };
    let empty = time("");
    let mut random = 42_u64;
    let mut from = |first: char, count: u64| -> String {
        let mut letter = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from_u32(first as u32 + ((random >> 33) % count) as u32).unwrap_or(first)
        };
        (0..2_000_000 / first.len_utf8()).map(|_| letter()).collect()
    };
    let cases =
        [("spaces", ' ', 1), ("tabs", '\t', 1), ("dashes", '-', 1), ("word", 'a', 26), ("symbols", '0', 75), ("han", '\u{4e00}', 20_000)];
    print!("worst cases end to end, MB/s of 0.5 MB / 2 MB (bar 1, and the second at least 0.8 of the first):");
    for (name, first, count) in cases {
        let text = from(first, count);
        let short = text.get(..text.floor_char_boundary(500_000)).unwrap_or_default();
        let rate = |text: &str| text.len() as f64 / 1e6 / (time(text) - empty).max(0.01);
        print!(" {name} {:.1}/{:.1}", rate(short), rate(&text));
        let _ = std::io::stdout().flush();
    }
    println!();
}

fn memory(shared: &Path, work: &Path) {
    let eight = copies(shared, &work.join("eight"), 8);
    let long = work.join("long.jsonl");
    long_session(shared, &long);
    let (once, eight, long) = (run(&[shared], "2"), run(&[&eight], "2"), run(&[&long], "2"));
    println!(
        "peak memory, two threads: {:.0} MB for the corpus, {:.0} MB for eight of it, {:.0} MB for one session of 400 MB (bar 268)",
        once.peak_megabytes, eight.peak_megabytes, long.peak_megabytes
    );
}

/// A Codex session with the records of the largest one again and again, up to 400 MB.
fn long_session(shared: &Path, path: &Path) {
    let files = std::fs::read_dir(shared.join("codex")).into_iter().flatten().flatten().map(|file| file.path());
    let Some(largest) = files.max_by_key(|file| file.metadata().map_or(0, |metadata| metadata.len())) else { return };
    let content = std::fs::read(largest).expect("a file can be read");
    let (head, records) = content.split_at(memchr::memchr(b'\n', &content).map_or(0, |end| end + 1));
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).expect("a file can be made"));
    file.write_all(head).expect("written");
    for copy in 0..400_000_000 / records.len().max(1) {
        file.write_all(&other_ids(records.to_vec(), (copy % 100) as u8)).expect("written");
    }
}
