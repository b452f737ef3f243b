//! From raw logs to reports, as ratios within one run: against the same pipeline on tiktoken-rs, against the bare counter, on two
//! cores against one, and many presets over one built trace.
//!
//!     CTXSIM_SHARED=../shared cargo bench --bench pipeline

use ctxsim::catalog::Catalog;
use ctxsim::estimate::{Counter, Engine, Vocabulary};
use ctxsim::experiment::{Corpus, Progress, ReadSettings, ReplaySettings, read, replay};
use ctxsim::format::{Source, sniff};
use ctxsim::policy::{Policy, presets};
use ctxsim::transcript::{Scale, Text};
use rayon::ThreadPoolBuilder;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

struct Unwatched;

impl Progress for Unwatched {
    fn files(&self, _: usize) {}
    fn file_done(&self) {}
}

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
    let claude = copies(&shared.join("claude-code"), &work.path().join("claude"), 4);
    let text_heavy = copies(&shared.join("openai_chat_jsonl"), &work.path().join("text"), 100);
    against_reference(&catalog, &claude);
    against_bare_counter(&catalog, &text_heavy);
    two_cores(&catalog, &claude);
    presets_over_traces(&catalog, &shared);
}

/// A folder with so many copies of every file of another.
fn copies(from: &Path, to: &Path, times: usize) -> PathBuf {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for file in std::fs::read_dir(from).into_iter().flatten().flatten() {
        for copy in 0..times {
            let name = format!("{copy}-{}", file.file_name().to_string_lossy());
            std::fs::copy(file.path(), to.join(name)).expect("a file can be copied");
        }
    }
    to.to_owned()
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
    let settings =
        ReadSettings { catalog, model: None, format: None, engine, vocabulary: Some(Vocabulary::O200kBase), progress: &Unwatched };
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

fn against_bare_counter(catalog: &Catalog, folder: &Path) {
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
    let ratio = ratio(|| corpus(catalog, folder, Engine::Fast, 1).0, bare);
    println!("end to end on text-heavy files ({:.1} MB of text): {ratio:.2} of the bare counter's rate (bar 0.8)", bytes as f64 / 1e6);
}

fn two_cores(catalog: &Catalog, folder: &Path) {
    let ratio = ratio(|| corpus(catalog, folder, Engine::Fast, 2).1, || corpus(catalog, folder, Engine::Fast, 1).1);
    println!("two threads: {ratio:.2} x one (bar 1.6)");
}

fn presets_over_traces(catalog: &Catalog, folder: &Path) {
    let (_, _, corpus) = corpus(catalog, folder, Engine::Fast, 2);
    let policies: Vec<Policy> = presets().iter().take(10).filter_map(|preset| Policy::load(preset.name).ok()).collect();
    let settings = ReplaySettings { catalog, window: None, model: None, reserve: None };
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
