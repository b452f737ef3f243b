//! How fast tokens are counted, beside a plain loop over tiktoken-rs, in one interleaved run; then the worst cases.
//!
//!     CTXSIM_SHARED=../shared cargo bench --bench counting

use ctxsim::estimate::{Counter, Engine, Vocabulary};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

const FORMATS: [&str; 3] = ["claude-code", "pi", "codex"];
const ROUNDS: usize = 5;

fn main() {
    let shared = std::env::var("CTXSIM_SHARED").unwrap_or_else(|_| "../shared".to_owned());
    let mut texts = Vec::new();
    for format in FORMATS {
        for path in files(&Path::new(&shared).join("transcripts").join(format)) {
            for line in String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).lines() {
                if let Ok(value) = serde_json::from_str(line) {
                    collect(value, &mut texts);
                }
            }
        }
    }
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} texts, {:.1} MB", texts.len(), bytes as f64 / 1e6);
    for vocabulary in [Vocabulary::O200kBase, Vocabulary::Cl100kBase] {
        if bytes > 0 {
            corpus(vocabulary, &texts, bytes);
        }
    }
    for vocabulary in Vocabulary::ALL {
        if std::env::args().all(|argument| argument != "--quick") {
            worst_cases(vocabulary);
        }
    }
}

/// Both engines in turn over the same texts; the ratio of the medians.
fn corpus(vocabulary: Vocabulary, texts: &[String], bytes: usize) {
    let start = clock();
    let fast = Counter::new(vocabulary, Engine::Fast).expect("the fast engine has every vocabulary");
    fast.load();
    let loading = clock().saturating_sub(start);
    let plain = match vocabulary {
        Vocabulary::O200kBase => tiktoken_rs::o200k_base(),
        _ => tiktoken_rs::cl100k_base(),
    }
    .expect("tiktoken-rs holds its data");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(timed(|| texts.iter().map(|text| fast.count(text)).sum()));
        theirs.push(timed(|| texts.iter().map(|text| plain.encode_ordinary(text).len() as u64).sum()));
    }
    assert_eq!(ours[0].1, theirs[0].1, "the two engines count the same");
    let mut ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| b.0.as_secs_f64() / a.0.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    ours.sort();
    theirs.sort();
    println!(
        "{:<12} {:>6.1} MB/s, tiktoken-rs {:>5.1} MB/s, ratio {:.1} (rounds {:.1} to {:.1}); {} tokens; loaded in {} ms",
        vocabulary.name(),
        rate(bytes, ours[ROUNDS / 2].0),
        rate(bytes, theirs[ROUNDS / 2].0),
        ratios[ROUNDS / 2],
        ratios[0],
        ratios[ROUNDS - 1],
        ours[0].1,
        loading.as_millis(),
    );
}

/// One text of 0.5 MB and one of 2 MB of each kind: the rates must be alike, and above 1 MB/s.
fn worst_cases(vocabulary: Vocabulary) {
    let counter = Counter::new(vocabulary, Engine::Fast).expect("the fast engine has every vocabulary");
    counter.load();
    let mut line = String::new();
    let mut slowest = f64::MAX;
    for (name, text) in worst_texts(2_000_000) {
        let short = &text[..text.floor_char_boundary(500_000)];
        let half = rate(short.len(), timed(|| counter.count(short)).0);
        let whole = rate(text.len(), timed(|| counter.count(&text)).0);
        slowest = slowest.min(half).min(whole);
        line.push_str(&format!(" {name} {half:.1}/{whole:.1}"));
    }
    println!("{:<12} worst cases, MB/s of 0.5 MB / 2 MB:{line}; slowest {slowest:.1}", vocabulary.name());
}

fn worst_texts(bytes: usize) -> Vec<(&'static str, String)> {
    let mut state = 42u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut from = |alphabet: &[char]| -> String {
        let mut text = String::new();
        while text.len() < bytes {
            text.push(alphabet[random(alphabet.len() as u64) as usize]);
        }
        text
    };
    let letters: Vec<char> = ('a'..='z').collect();
    let hex: Vec<char> = "0123456789abcdef".chars().collect();
    let base64: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain("+/".chars()).collect();
    let han: Vec<char> = ('\u{4e00}'..='\u{9fa5}').collect();
    let symbols: Vec<char> = "!#$%&()*+,-./:;<=>?@[]^_{|}~".chars().collect();
    vec![
        ("spaces", from(&[' '])),
        ("tabs", from(&['\t'])),
        ("newlines", from(&['\n'])),
        ("dashes", from(&['-'])),
        ("equals", from(&['='])),
        ("a", from(&['a'])),
        ("word", from(&letters)),
        ("base64", from(&base64)),
        ("hex", from(&hex)),
        ("ACGT", from(&['A', 'C', 'G', 'T'])),
        ("han", from(&han)),
        ("symbols", from(&symbols)),
        ("wide-spaces", "\u{3000}\u{3000}x".repeat(bytes / 7)),
        ("numbers", "  1".repeat(bytes / 3)),
        ("accents", from(&['e', '\u{301}', 'é', 'ß'])),
    ]
}

fn timed(count: impl Fn() -> u64) -> (Duration, u64) {
    let start = clock();
    let tokens = black_box(count());
    (clock().saturating_sub(start), tokens)
}

/// Processor time of this thread where the system tells it (Linux), so that a busy machine does not distort the figures.
fn clock() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    spent.and_then(|text| text.split(' ').next()?.parse().ok()).map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ignore::WalkBuilder::new(folder)
        .standard_filters(false)
        .build()
        .flatten()
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        .map(ignore::DirEntry::into_path)
        .collect();
    found.sort();
    found
}

fn collect(value: serde_json::Value, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => texts.push(text),
        serde_json::Value::Array(items) => items.into_iter().for_each(|item| collect(item, texts)),
        serde_json::Value::Object(fields) => fields.into_iter().for_each(|(_, item)| collect(item, texts)),
        _ => {}
    }
}
