//! Token counts are those of tiktoken-rs, text by text; no text makes them slow or makes them panic; seams change nothing.

use crate::support::Drawn;
use ctxsim::estimate::{Counter, Engine, Vocabulary, seam};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

/// One counter for each vocabulary, shared by all tests.
pub fn counter(vocabulary: Vocabulary) -> Arc<Counter> {
    static COUNTERS: LazyLock<Vec<Arc<Counter>>> =
        LazyLock::new(|| Vocabulary::ALL.iter().map(|&one| Arc::new(Counter::new(one, Engine::Fast).unwrap())).collect());
    COUNTERS.iter().find(|counter| counter.vocabulary() == vocabulary).unwrap().clone()
}

fn oracle(vocabulary: Vocabulary) -> &'static tiktoken_rs::CoreBPE {
    match vocabulary {
        Vocabulary::O200kBase => tiktoken_rs::o200k_base_singleton(),
        _ => tiktoken_rs::cl100k_base_singleton(),
    }
}

const OPENAI: [Vocabulary; 2] = [Vocabulary::O200kBase, Vocabulary::Cl100kBase];

/// All strings of the recorded transcripts, or `None` (with a word to the reader) where they are not at hand.
pub fn recorded_texts() -> Option<&'static [String]> {
    static TEXTS: OnceLock<Vec<String>> = OnceLock::new();
    let shared = crate::support::shared()?.join("transcripts");
    Some(TEXTS.get_or_init(|| texts_below(&shared)))
}

fn texts_below(shared: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for format in ["claude-code", "pi", "codex", "opencode-export", "gemini-cli", "tau2_results"] {
        for path in files(&shared.join(format)) {
            let content = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
            match serde_json::from_str(&content) {
                Ok(value) => collect(value, &mut texts),
                Err(_) => content.lines().filter_map(|line| serde_json::from_str(line).ok()).for_each(|line| collect(line, &mut texts)),
            }
            // The file as it stands: long JSON lines, and whatever is no JSON at all.
            texts.extend(content.lines().take(3).map(str::to_owned));
        }
    }
    texts.sort();
    texts.dedup();
    assert!(texts.len() > 10_000, "only {} texts", texts.len());
    texts
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let walk = ignore::WalkBuilder::new(folder).standard_filters(false).build();
    walk.flatten().filter(|entry| entry.path().is_file()).map(ignore::DirEntry::into_path).collect()
}

fn collect(value: serde_json::Value, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => texts.push(text),
        serde_json::Value::Array(items) => items.into_iter().for_each(|item| collect(item, texts)),
        serde_json::Value::Object(fields) => fields.into_iter().for_each(|(_, item)| collect(item, texts)),
        _ => {}
    }
}

/// Texts from the corners of Unicode and of the patterns.
pub fn weird_texts() -> Vec<String> {
    let atoms = [
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        "\u{b}",
        "\u{c}",
        "\u{85}",
        "\u{a0}",
        "\u{2028}",
        "\u{3000}",
        "\u{feff}",
        "\u{200b}",
        "\u{200d}",
        "\u{1c}",
        "\0",
        "a",
        "Z",
        "word",
        "Word",
        "WORDs",
        "camelCase",
        "don't",
        "I'LL",
        "it's",
        "'s",
        "'ſ",
        "'",
        "''",
        "1",
        "12345",
        "²",
        "½",
        "٣",
        "é",
        "e\u{301}",
        "\u{301}",
        "ſ",
        "ß",
        "Ǆ",
        "ǅ",
        "ʰ",
        "中文",
        "日本語。",
        "、",
        "한국어",
        "ａＢ１",
        "🙂",
        "👩\u{200d}👩\u{200d}👧",
        "🇩🇪",
        "-",
        "--",
        "/",
        "//",
        ".\n/",
        "{}",
        "\",\n",
        "_",
        "<|endoftext|>",
        "<|im_start|>",
        "=",
        "\\n",
        "K",
    ];
    let mut texts: Vec<String> = vec![String::new()];
    for first in atoms {
        texts.push(first.repeat(40));
        for second in atoms {
            texts.push(format!("{first}{second}"));
            for third in ["", " ", "\n", "  x", "a", "1", "'s", "é", "/", "\u{3000}"] {
                texts.push(format!("{first}{second}{first}{third}"));
                texts.push(format!("x{second}{third}{first}"));
            }
        }
    }
    texts
}

/// One alphabet each; a text of them is drawn at random.
const WORST: [(&str, &str); 15] = [
    ("spaces", " "),
    ("tabs", "\t"),
    ("newlines", "\n"),
    ("dashes", "-"),
    ("equals", "="),
    ("one letter", "a"),
    ("a word", "abcdefghijklmnopqrstuvwxyz"),
    ("ACGT", "ACGT"),
    ("hex", "0123456789abcdef"),
    ("base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
    ("Han", "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"),
    ("symbols", "!#$%&()*+,-./:;<=>?@[]^_{|}~"),
    ("wide spaces", "\u{3000}\u{3000}\u{a0}。x"),
    ("digits and spaces", " 1"),
    ("accents", "eé\u{301}ß"),
];

fn assert_equal(vocabulary: Vocabulary, text: &str) {
    let expected = oracle(vocabulary).encode_ordinary(text).len() as u64;
    let shown: String = text.chars().take(200).collect();
    assert_eq!(counter(vocabulary).count(text), expected, "{}: {shown:?}", vocabulary.name());
}

#[test]
fn recorded_texts_count_as_in_tiktoken_rs() {
    let Some(texts) = recorded_texts() else { return };
    // The two part in their patterns, which texts of every kind try: a quarter of them does for the older one.
    for (vocabulary, step) in OPENAI.into_iter().zip([1, 4]) {
        texts.iter().step_by(step).for_each(|text| assert_equal(vocabulary, text));
    }
}

#[test]
fn weird_texts_count_as_in_tiktoken_rs() {
    for vocabulary in OPENAI {
        weird_texts().iter().for_each(|text| assert_equal(vocabulary, text));
    }
}

/// Each by itself, behind its neighbour and before it, in a word, before line ends and slashes.
#[test]
fn every_character_counts_as_in_tiktoken_rs() {
    let all: Vec<char> =
        ('\u{80}'..=char::MAX).filter(|letter| (*letter as u32) < 0x3_2000 || (*letter as u32).is_multiple_of(61)).collect();
    for few in all.chunks(16) {
        let joined: String = few.iter().collect();
        let lines: String = few
            .iter()
            .flat_map(|letter| [*letter, '\n', ' ', *letter, 'a', *letter, 'B', '\'', 's', *letter, '/', '1', *letter, ' ', ' '])
            .collect();
        assert_equal(Vocabulary::O200kBase, &format!("{joined}x{lines}"));
    }
}

#[test]
fn whitespace_at_an_end_counts_as_in_tiktoken_rs() {
    let mut runs = vec![String::new()];
    let mut from = 0;
    for _ in 0..6 {
        let until = runs.len();
        for index in from..until {
            runs.extend([' ', '\t', '\r', '\n'].map(|next| format!("{}{next}", runs[index])));
        }
        from = until;
    }
    for vocabulary in OPENAI {
        for run in &runs {
            assert_equal(vocabulary, &format!("x{run}"));
            assert_equal(vocabulary, &format!("{run}x"));
        }
    }
}

#[test]
fn long_runs_count_as_in_tiktoken_rs() {
    for vocabulary in OPENAI {
        for (_, alphabet) in WORST {
            assert_equal(vocabulary, &Drawn(7).text(alphabet, 50_000));
        }
    }
}

/// Long enough to be counted in more than two windows of 64 KiB, which is for ASCII alone.
#[test]
fn longer_runs_count_as_in_their_crate() {
    for vocabulary in Vocabulary::ALL {
        let engine = tiktoken::get_encoding(vocabulary.name()).unwrap();
        let step = if OPENAI.contains(&vocabulary) { 1 } else { 3 };
        for (name, alphabet) in WORST.into_iter().filter(|(_, alphabet)| alphabet.is_ascii()).step_by(step) {
            let text = Drawn(7).text(alphabet, 140_000);
            assert_eq!(counter(vocabulary).count(&text), engine.count(&text) as u64, "{}: {name}", vocabulary.name());
        }
    }
}

#[test]
fn every_vocabulary_counts_as_its_crate_does() {
    let texts = weird_texts();
    for vocabulary in Vocabulary::ALL {
        let engine = tiktoken::get_encoding(vocabulary.name()).unwrap();
        // Their patterns share one code: a quarter of the texts tries the ranks of the others.
        let step = if OPENAI.contains(&vocabulary) { 1 } else { 4 };
        for text in texts.iter().step_by(step) {
            assert_eq!(counter(vocabulary).count(text), engine.count(text) as u64, "{}: {text:?}", vocabulary.name());
        }
    }
}

/// Its ranks come from elsewhere than those of the crate; each token and each text counts the same.
#[test]
fn the_reference_engine_counts_as_the_crate_does() {
    for vocabulary in OPENAI {
        let reference = Counter::new(vocabulary, Engine::Reference).unwrap();
        let crates_own = oracle(vocabulary);
        let tokens = (0..100_000).filter_map(|rank| crates_own.decode(&[rank]).ok());
        for text in tokens.chain(weird_texts()) {
            assert_eq!(reference.count(&text), crates_own.encode_ordinary(&text).len() as u64, "{}: {text:?}", vocabulary.name());
        }
        assert_eq!(reference.stand_ins(), 0);
    }
}

#[test]
fn the_reference_engine_survives_what_overflows_its_stack() {
    let reference = Counter::new(Vocabulary::O200kBase, Engine::Reference).unwrap();
    assert_eq!(reference.count("Hello, world!"), 4);
    assert_eq!(reference.stand_ins(), 0);
    let spaces = Drawn(7).text(" ", 1_000_000);
    assert_eq!(reference.count(&spaces), counter(Vocabulary::O200kBase).count(&spaces));
    assert_eq!(reference.stand_ins(), 1);
    assert!(Counter::new(Vocabulary::Qwen2, Engine::Reference).is_err());
}

#[test]
fn names_lead_back_to_vocabularies() {
    for vocabulary in Vocabulary::ALL {
        assert_eq!(Vocabulary::by_name(vocabulary.name()), Some(vocabulary));
        assert_eq!(serde_json::to_string(&vocabulary).unwrap(), format!("\"{}\"", vocabulary.name()));
    }
    assert_eq!(Vocabulary::by_name("gpt-4"), None);
}

/// The whole, and the text cut in two at each seam, count the same in each vocabulary, and in tiktoken-rs where it has it.
fn assert_seams_hold(text: &str) {
    for at in (0..=text.len()).filter(|&at| seam::is_seam(text, at)) {
        let (left, right) = text.split_at(at);
        for vocabulary in Vocabulary::ALL {
            let engine = tiktoken::get_encoding(vocabulary.name()).unwrap();
            let name = vocabulary.name();
            assert_eq!(engine.count(left) + engine.count(right), engine.count(text), "{name}: {left:?} | {right:?}");
        }
        for vocabulary in OPENAI {
            let count = |part: &str| oracle(vocabulary).encode_ordinary(part);
            assert_eq!([count(left), count(right)].concat(), count(text), "{}: {left:?} | {right:?}", vocabulary.name());
        }
    }
}

#[test]
fn seams_hold_in_weird_texts() {
    weird_texts().iter().step_by(7).for_each(|text| assert_seams_hold(text));
}

#[test]
fn seams_are_where_the_rules_say() {
    let seams = |text: &str| (0..=text.len()).filter(|&at| seam::is_seam(text, at)).collect::<Vec<_>>();
    assert_eq!(seams("one two"), [3]);
    assert_eq!(seams("a1b"), [1, 2]);
    assert_eq!(seams("don't"), Vec::<usize>::new());
    assert_eq!(seams("{\n  x\n/y\nz"), [2, 5, 8, 9]);
    assert_eq!(seams("é è"), [2]);
    assert_eq!(seams("  --"), Vec::<usize>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn seams_hold_in_random_texts(text in "([a-cA-C1-3'/ \t\r\n.,{}\"é\u{301}中、²\u{3000}\u{a0}]|'s|\\PC){0,24}") {
        assert_seams_hold(&text);
    }

    #[test]
    fn random_names_count_as_in_tiktoken_rs(text in "([ _]?[a-z]{1,45}\n?){1,8}") {
        OPENAI.into_iter().for_each(|vocabulary| assert_equal(vocabulary, &text));
    }

    // Counts of lines are remembered, up to places where what follows decides nothing.
    #[test]
    fn lines_that_come_again_count_as_in_tiktoken_rs(
        text in "((let it be = 1;|\\};;;;;;;|[ \t]{9}|don't \\(Go to\\)|中文中文中文|[a-b]{8,9}) ?(\n|\r\n|\n\n|\n/|\n \n|\n\u{3000}|\n  |')){1,12}"
    ) {
        OPENAI.into_iter().for_each(|vocabulary| assert_equal(vocabulary, &text));
    }

    #[test]
    fn random_texts_count_as_in_tiktoken_rs(text in "([a-zA-Z0-9'/ \t\r\n.,{}\"=-]|\\PC|'ll|  |\n\n){0,80}") {
        for vocabulary in OPENAI {
            assert_equal(vocabulary, &text);
        }
        for vocabulary in Vocabulary::ALL {
            prop_assert_eq!(counter(vocabulary).count(&text), tiktoken::get_encoding(vocabulary.name()).unwrap().count(&text) as u64);
        }
    }
}
