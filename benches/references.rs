//! What looking for references costs, as a share of counting tokens on the same files (below 1 is asked for); then the memory that ten
//! million distinct lines take, in a process of its own.
//!
//!     CTXSIM_SHARED=../shared cargo bench --bench references

use ctxsim::catalog::Catalog;
use ctxsim::estimate::{Counter, Engine, Vocabulary};
use ctxsim::format::{Source, sniff};
use ctxsim::measure::{self, Content, Kinds, Measure, Recall, TextScale, Wanted};
use ctxsim::trace::Trace;
use ctxsim::transcript::{Scale, Text};
use std::cell::RefCell;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;

/// Lines of the session, as many as no real one has.
const LINES: usize = 10_000_000;

/// They come in results of so many.
const LINES_A_RESULT: usize = 10_000;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some([_, path]) = arguments.windows(2).find(|pair| pair[0] == "--read") {
        let scale = Reader::new(Wanted { references: Recall::References, kinds: Kinds::Untold });
        let traces = scale.read(&[PathBuf::from(path)]);
        let left_out: u64 = traces.iter().map(|trace| trace.unsearched).sum();
        println!("{} references, {left_out} pieces left out, peak {} MB", traces[0].references.len(), peak_kilobytes() / 1024);
        return;
    }
    let shared = PathBuf::from(std::env::var("CTXSIM_SHARED").unwrap_or_else(|_| "../shared".to_owned())).join("transcripts");
    for folder in ["claude-code", "pi", "codex", "openai_chat_jsonl", "mini_swe_traj"] {
        share(folder, &files(&shared.join(folder)));
    }
    let work = tempfile::tempdir().expect("a temporary folder can be made");
    let many = work.path().join("many.jsonl");
    for (name, lines) in [("one million distinct lines", LINES / 10), ("ten million distinct lines", LINES)] {
        write_lines(&many, lines).expect("a file can be written");
        let read = Command::new(&arguments[0]).arg("--read").arg(&many).output().expect("the program starts");
        print!("{name}: {}", String::from_utf8_lossy(&read.stdout));
    }
}

struct Reader {
    catalog: Catalog,
    counter: Arc<Counter>,
    wanted: Wanted,
}

impl Reader {
    fn new(wanted: Wanted) -> Reader {
        let counter = Counter::new(Vocabulary::O200kBase, Engine::Fast).expect("the vocabulary loads");
        counter.load();
        Reader { catalog: Catalog::builtin().expect("the catalogue parses"), counter: Arc::new(counter), wanted }
    }

    fn read(&self, files: &[PathBuf]) -> Vec<Trace> {
        let mut traces = Vec::new();
        for file in files {
            let Ok(mut source) = Source::open(file) else { continue };
            let Some((reader, _)) = sniff(&source) else { continue };
            let scale = TextScale::new(self.counter.clone(), Content::Drop).wanting(self.wanted);
            let _ = (reader.read)(&mut source, &scale, &mut |transcript| {
                let measure = Measure { catalog: &self.catalog, model: None, vocabulary: Vocabulary::O200kBase };
                traces.push(measure::trace(transcript, "bench", measure));
                scale.next_session();
            });
        }
        traces
    }
}

/// A scale that only collects texts.
struct Collector(RefCell<Vec<String>>);

impl Scale for Collector {
    fn weigh(&self, text: &str) -> Text {
        self.0.borrow_mut().push(text.to_owned());
        Text::default()
    }
}

fn share(name: &str, files: &[PathBuf]) {
    let collector = Collector(RefCell::default());
    for file in files {
        let Ok(mut source) = Source::open(file) else { continue };
        let Some((reader, _)) = sniff(&source) else { continue };
        let _ = (reader.read)(&mut source, &collector, &mut |_| {});
    }
    let texts = collector.0.into_inner();
    let bytes: usize = texts.iter().map(String::len).sum();
    if bytes == 0 {
        return println!("{name}: skipped, no files");
    }
    let with = Reader::new(Wanted { references: Recall::References, kinds: Kinds::Untold });
    let without = Reader { wanted: Wanted::SIZES, counter: with.counter.clone(), catalog: Catalog::builtin().expect("it parses") };
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64()
    };
    let (mut passes, mut counts, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let plain = timed(|| without.read(files).len() as u64);
        passes.push(timed(|| with.read(files).len() as u64).saturating_sub(plain));
        counts.push(timed(|| texts.iter().map(|text| with.counter.count(text)).sum()));
        reads.push(plain);
    }
    let (pass, count, read) = (median(passes), median(counts), median(reads));
    println!(
        "{name}: references take {:.2} of counting tokens (bar 1), {:.2} of reading without them; {:.1} MB of text, counting {:.0} MB/s",
        pass / count,
        pass / read,
        bytes as f64 / 1e6,
        bytes as f64 / 1e6 / count,
    );
}

fn write_lines(path: &Path, lines: usize) -> std::io::Result<()> {
    let mut out = BufWriter::new(std::fs::File::create(path)?);
    writeln!(out, r#"{{"ctxsim":"native/1","session":"many","model":"gpt-5"}}"#)?;
    for result in 0..lines / LINES_A_RESULT {
        writeln!(out, r#"{{"role":"assistant","parts":[{{"call":{{"id":"c{result}","name":"run","arguments":{{}}}}}}]}}"#)?;
        write!(out, r#"{{"role":"tool","parts":[{{"result":{{"id":"c{result}","text":""#)?;
        for line in 0..LINES_A_RESULT {
            write!(out, r"line number {} of a text without end\n", result * LINES_A_RESULT + line)?;
        }
        writeln!(out, r#""}}}}]}}"#)?;
    }
    out.flush()
}

fn timed(work: impl Fn() -> u64) -> Duration {
    let start = clock();
    std::hint::black_box(work());
    clock().saturating_sub(start)
}

/// Processor time of this thread where the system tells it (Linux), so that a busy machine does not distort the figures.
fn clock() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    spent.and_then(|text| text.split(' ').next()?.parse().ok()).map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(folder).standard_filters(false).build().flatten().map(ignore::DirEntry::into_path);
    let mut files: Vec<PathBuf> = walk.filter(|path| path.is_file() && path.extension().is_none_or(|ending| ending != "tsv")).collect();
    files.sort();
    files
}
