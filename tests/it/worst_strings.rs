//! Texts that make splitters and encoders slow: each counts as its crate counts it, in every vocabulary, in time that grows as its length.

use crate::counting::counter;
use crate::support::Drawn;
use ctxsim::estimate::Vocabulary;
use std::time::{Duration, Instant};

/// Texts of one unit, again and again.
const REPEATED: [(&str, &str); 26] = [
    ("one letter", "a"),
    ("one capital", "A"),
    ("spaces", " "),
    ("tabs", "\t"),
    ("newlines", "\n"),
    ("line ends of two", "\r\n"),
    ("dashes", "-"),
    ("equals", "="),
    ("digits", "1"),
    ("Arabic digits", "٣"),
    ("two letters", "ab"),
    ("two cases", "aB"),
    ("apostrophes", "'s"),
    ("paths", "a/"),
    ("escapes", "\\\""),
    ("terminal colours", "\u{1b}[31mx\u{1b}[0m"),
    ("special tokens", "<|endoftext|>"),
    ("private place", "\u{e000}"),
    ("unassigned place", "\u{378}"),
    ("joiners", "\u{200d}"),
    ("soft hyphens", "\u{ad}"),
    ("joined pictures", "👩\u{200d}"),
    ("replacements", "\u{fffd}"),
    ("no-break spaces", "\u{a0}"),
    ("letters and controls", "a\0"),
    ("accents", "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}"),
];

/// Texts drawn from these letters.
const DRAWN: [(&str, &str); 16] = [
    ("lower case", "abcdefghijklmnopqrstuvwxyz"),
    ("upper case", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    ("base64", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"),
    ("hex", "0123456789abcdef"),
    ("bases", "ACGT"),
    ("punctuation", "!@#$%^&*()_+-=[]{}|;:,.<>?"),
    ("minified code", "abcdefxyz(){};=.,0123"),
    ("spaces and newlines", " \n"),
    ("digits and spaces", " 1"),
    ("Chinese", "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"),
    ("Chinese and marks", "的一，。、「」々〇\u{3099}"),
    ("Thai", "กขคงจฉชซญดตถทธนบปผพฟภมยรลวสหอ\u{e31}\u{e34}\u{e48}"),
    ("pictures", "👍🎉🚀🇩🇪👩\u{200d}\u{fe0f}"),
    ("wide spaces", "\u{3000}\u{a0}\u{2003}。x"),
    ("bytes", "\0\u{1}\u{1f}\u{7f}\u{80}\u{9f}ÿé¼½x9 "),
    ("joined by invisibles", "ab\u{ad}\u{200b}\u{feff}\u{e000}\u{301}٣"),
];

fn texts(bytes: usize) -> impl Iterator<Item = (&'static str, String)> {
    let repeated = REPEATED.iter().map(move |(name, unit)| (*name, unit.repeat(bytes / unit.len() + 1)));
    repeated.chain(DRAWN.iter().map(move |(name, letters)| (*name, Drawn(17).text(letters, bytes))))
}

fn assert_exact(bytes: usize) {
    assert_eq!(texts(10).count(), 42);
    for vocabulary in Vocabulary::ALL {
        let reference = tiktoken::get_encoding(vocabulary.name()).unwrap();
        for (name, text) in texts(bytes) {
            assert_eq!(counter(vocabulary).count(&text), reference.count(&text) as u64, "{}: {name}", vocabulary.name());
        }
    }
}

#[test]
fn worst_strings_count_as_in_their_crate() {
    assert_exact(6_000);
    assert_exact(6_001);
}

/// Pieces of more than one window.
#[test]
fn long_pieces_of_any_letters_count_as_in_their_crate() {
    let engine = tiktoken::get_encoding("deepseek_v3").unwrap();
    for letters in ["的一是不了人我在有他这为之", "กขคงจฉชซญดตถ\u{e31}\u{e48}", "。、「」👍—", "éèêaâ\u{301}"]
    {
        let text = Drawn(17).text(letters, 150_000);
        assert_eq!(counter(Vocabulary::DeepseekV3).count(&text), engine.count(&text) as u64, "{letters}");
        let o200k = tiktoken::get_encoding("o200k_base").unwrap();
        assert_eq!(counter(Vocabulary::O200kBase).count(&text), o200k.count(&text) as u64, "{letters}");
    }
}

/// Every character behind and before each kind of neighbour.
#[test]
fn every_character_counts_as_in_the_crate_of_deepseek() {
    let engine = tiktoken::get_encoding("deepseek_v3").unwrap();
    let all: Vec<char> = ('\0'..=char::MAX).filter(|letter| (*letter as u32) < 0x1_0000 || (*letter as u32).is_multiple_of(61)).collect();
    for few in all.chunks(16) {
        let joined: String = few.iter().collect();
        let lines: String = few
            .iter()
            .flat_map(|letter| [*letter, '\n', ' ', *letter, 'a', *letter, '中', '.', 's', *letter, '.', '1', *letter, ' ', ' '])
            .collect();
        let text = format!("{joined}x{lines}  {joined}");
        assert_eq!(counter(Vocabulary::DeepseekV3).count(&text), engine.count(&text) as u64, "{joined:?}");
    }
}

/// Time of the processor that this thread has used; where the system does not say, time that has passed.
fn used(since: Instant) -> Duration {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = line.split(' ').next().and_then(|nanos| nanos.parse().ok());
    nanos.map_or_else(|| since.elapsed(), Duration::from_nanos)
}

fn fastest(vocabulary: Vocabulary, text: &str, tries: usize) -> Duration {
    let time = |_| {
        let now = Instant::now();
        let start = used(now);
        assert!(counter(vocabulary).count(text) > 0);
        used(now).saturating_sub(start)
    };
    (0..tries).map(time).min().unwrap()
}

/// A quadratic count of so long a text would take minutes; the bound is wide enough for a busy machine and a build for debugging.
#[test]
fn worst_strings_are_not_quadratic() {
    for vocabulary in Vocabulary::ALL {
        for (name, text) in texts(200_000) {
            let time = fastest(vocabulary, &text, 1);
            assert!(time.as_secs() < 10, "{}: {name} takes {time:?}", vocabulary.name());
        }
    }
}

/// By hand, in time of the processor: `cargo test --release --test it -- --ignored worst_strings_grow`.
#[test]
#[ignore = "measures times: run it by itself, optimised"]
fn worst_strings_grow_as_their_length() {
    let mut slowest = (Duration::ZERO, String::new());
    for vocabulary in Vocabulary::ALL {
        for ((name, one), (_, two)) in texts(1_000_000).zip(texts(2_000_000)) {
            let (mut once, mut twice) = (fastest(vocabulary, &one, 1), fastest(vocabulary, &two, 1));
            if twice > once.mul_f64(2.2) {
                (once, twice) = (fastest(vocabulary, &one, 7), fastest(vocabulary, &two, 7));
            }
            let which = format!("{}: {name}", vocabulary.name());
            assert!(once.as_secs_f64() < 2.0, "{which} takes {once:?}");
            // A count of a few milliseconds is noise.
            assert!(twice.as_millis() < 20 || twice < once.mul_f64(2.2), "{which} takes {once:?}, and {twice:?} for twice the text");
            if once > slowest.0 {
                slowest = (once, which);
            }
        }
    }
    println!("the slowest megabyte of 336: {slowest:?}");
}
