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
    against_reference(&catalog, &shared.join("claude-code"));
    against_bare_counter(&catalog, &shared.join("openai_chat_jsonl"));
    two_cores(&catalog, &shared);
    presets_over_traces(&catalog, &shared);
}

fn corpus(catalog: &Catalog, folder: &Path, engine: Engine, threads: usize) -> (Duration, Corpus) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let settings = ReadSettings { catalog, model: None, format: None, engine, vocabulary: Some(Vocabulary::O200kBase), progress: &Unwatched };
    let start = Instant::now();
    let corpus = pool.install(|| read(&[folder.to_string_lossy().into_owned()], &settings)).expect("the vocabulary loads");
    (start.elapsed(), corpus)
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
    println!("read + parse + count, Claude Code files, one core: {rate:.0} MB/s raw, {ratio:.1} x the same pipeline on tiktoken-rs (bar 3)");
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
    // Enough text that the clock is not the measure.
    let texts = collector.0.into_inner();
    let counter = Counter::new(Vocabulary::O200kBase, Engine::Fast).expect("the vocabulary loads");
    counter.load();
    let bare = || {
        let fresh = Instant::now();
        let tokens: u64 = texts.iter().map(|text| counter.count(text)).sum();
        assert!(tokens > 0);
        fresh.elapsed()
    };
    let bytes: usize = texts.iter().map(String::len).sum();
    // Loading the vocabulary is reported apart.
    let loading = {
        let start = Instant::now();
        Counter::new(Vocabulary::O200kBase, Engine::Fast).expect("the vocabulary loads").load();
        start.elapsed()
    };
    let ratio = ratio(|| corpus(catalog, folder, Engine::Fast, 1).0.saturating_sub(loading), bare);
    println!(
        "end to end on text-heavy files ({:.1} MB of text): {ratio:.2} of the bare counter's rate (bar 0.8); the vocabulary loads in {} ms",
        bytes as f64 / 1e6,
        loading.as_millis()
    );
}

fn two_cores(catalog: &Catalog, folder: &Path) {
    let ratio = ratio(|| corpus(catalog, folder, Engine::Fast, 2).0, || corpus(catalog, folder, Engine::Fast, 1).0);
    println!("two threads: {ratio:.2} x one (bar 1.6)");
}

fn presets_over_traces(catalog: &Catalog, folder: &Path) {
    let (_, corpus) = corpus(catalog, folder, Engine::Fast, 2);
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
