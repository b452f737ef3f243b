//! What is kept of a text: lengths, tokens, and for long results a shape from which any cut can be sized without the words.

use crate::counting::{counter, recorded_texts, weird_texts};
use ctxsim::estimate::{Estimator, Extent, Rounding, Vocabulary};
use ctxsim::measure::{Content, PublicCounters, TextScale};
use ctxsim::transcript::{LONG_LINE, Length, Scale, Step, Text, TextKind};
use proptest::prelude::*;

fn scale() -> TextScale {
    TextScale::new(counter(Vocabulary::O200kBase), Content::Drop)
}

fn count(text: &str) -> u32 {
    counter(Vocabulary::O200kBase).count(text) as u32
}

fn assert_measured(text: &str) -> Text {
    let measured = scale().weigh_result(text);
    assert_eq!(scale().weigh(text), Text { shape: None, ..measured.clone() });
    let length = Length {
        bytes: text.len() as u32,
        utf16: text.encode_utf16().count() as u32,
        chars: text.chars().count() as u32,
        newlines: text.matches('\n').count() as u32,
    };
    assert_eq!(measured.length, length);
    assert_eq!(measured.tokens, count(text));
    assert_eq!(measured.json_bytes as usize, serde_json::to_string(text).unwrap().len() - 2);
    assert_eq!(measured.words as usize, text.split_whitespace().count());
    assert_eq!(measured.non_ascii as usize, text.chars().filter(|character| !character.is_ascii()).count());
    assert_eq!(measured.shape.is_some(), text.len() > 2_000);
    if let Some(shape) = &measured.shape {
        let steps: Vec<Step> = shape.steps.iter().chain([measured.whole()]).collect();
        assert!(steps.windows(2).all(|pair| pair[0].length.bytes < pair[1].length.bytes && pair[0].tokens <= pair[1].tokens));
        for step in steps.iter().step_by(17) {
            let until = &text[..step.length.bytes as usize];
            assert_eq!(*step, Step { length: Length::of(until), tokens: count(until) }, "a step stands at a seam");
        }
        let long: Vec<u32> = text.split('\n').map(|line| line.chars().count() as u32).filter(|&chars| chars > LONG_LINE).collect();
        assert_eq!(&*shape.long_lines, long);
        for (number, (newline, _)) in text.match_indices('\n').enumerate().step_by(7) {
            let (count, before) = (number as u32 + 1, newline as u32);
            let behind = shape.lines.behind(count, length.bytes, length.newlines);
            assert!(behind.is_none_or(|behind| behind == before + 1), "newline {count}: {behind:?}");
            assert!(behind.is_some() || (count > 2_048 && length.newlines - count >= 2_048), "newline {count}");
            assert!(shape.lines.before(before, length.bytes, length.newlines).is_none_or(|newlines| newlines == count - 1));
            assert!(shape.lines.before(before + 1, length.bytes, length.newlines).is_none_or(|newlines| newlines == count));
        }
    }
    measured
}

#[test]
fn weird_texts_are_measured() {
    let texts = weird_texts();
    texts.iter().for_each(|text| drop(assert_measured(text)));
    texts.iter().step_by(29).for_each(|text| drop(assert_measured(&text.repeat(2_200 / text.len().max(1)))));
}

#[test]
fn recorded_texts_are_measured() {
    let Some(texts) = recorded_texts() else { return };
    texts.iter().for_each(|text| drop(assert_measured(text)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_texts_are_measured(text in "([a-zA-Z0-9'/ \t\r\n.,{}\"\\\\\u{0}-\u{1f}-]|\\PC|\n\n){0,3000}") {
        assert_measured(&text);
    }
}

/// The cut itself, made on the words.
fn cut(text: &str, unit: Extent, count: usize) -> (&str, &str) {
    let at = match unit {
        Extent::Bytes => text.floor_char_boundary(count),
        Extent::Chars => text.char_indices().nth(count).map_or(text.len(), |(at, _)| at),
        Extent::Lines => text.match_indices('\n').nth(count - 1).map_or(text.len(), |(at, _)| at),
        _ => unreachable!("not used here"),
    };
    (&text[..at], &text[at..])
}

fn is_close(guess: Step, part: &str) -> bool {
    let truth = count(part);
    guess.tokens.abs_diff(truth) <= 3.max(truth / 100)
}

/// Where presets cut, from either end.
const LIMITS: [u32; 10] = [2_000, 4_000, 6_000, 8_000, 10_000, 16_000, 20_000, 30_000, 50_000, 100_000];

/// Of the cuts of recorded texts at these places from either end, the share in percent that is sized within 1 % or 3 tokens.
fn close_cuts(unit: Extent, limits: &[u32]) -> Option<u32> {
    let texts = recorded_texts()?;
    let (mut cuts, mut close) = (0u32, 0u32);
    for text in texts.iter().filter(|text| text.len() > 2_000) {
        let measured = scale().weigh_result(text);
        let all = measured.extent(unit);
        for limit in limits.iter().copied().filter(|&limit| limit < all) {
            let (head, _) = cut(text, unit, limit as usize);
            let (_, rest) = cut(text, unit, (all - limit) as usize);
            let tail = if unit == Extent::Lines { &rest[1..] } else { rest };
            cuts += 2;
            close += u32::from(is_close(measured.prefix(unit, limit), head)) + u32::from(is_close(measured.suffix(unit, limit), tail));
        }
    }
    println!("{unit:?}: {close} of {cuts} cuts within 1 % or 3 tokens");
    assert!(cuts > 0, "no text is long enough");
    Some(close * 100 / cuts)
}

#[test]
fn cuts_of_recorded_texts_are_sized() {
    assert!(close_cuts(Extent::Bytes, &LIMITS).is_none_or(|percent| percent >= 95));
    assert!(close_cuts(Extent::Chars, &LIMITS).is_none_or(|percent| percent >= 95));
    assert!(close_cuts(Extent::Lines, &[100, 200, 250, 500, 1_000, 2_000]).is_none_or(|percent| percent >= 97));
}

#[test]
fn shapes_are_small_beside_their_texts() {
    let Some(texts) = recorded_texts() else { return };
    let long = || texts.iter().filter(|text| text.len() > 2_000);
    let shapes: usize = long().filter_map(|text| scale().weigh_result(text).shape).map(|shape| shape.steps.packed_bytes()).sum();
    let lines: usize = long().filter_map(|text| scale().weigh_result(text).shape).map(|shape| shape.lines.packed_bytes()).sum();
    let bytes: usize = long().map(String::len).sum();
    println!("steps take {shapes} bytes, lines {lines} for {bytes} bytes of text");
    assert!(shapes * 100 <= bytes * 2);
    assert!(lines * 100 <= bytes * 4);
}

#[test]
fn cuts_are_exact_in_their_own_unit() {
    let text = "fn main() {\n    println!(\"Grüße 🙂\");\n}\n".repeat(100);
    let measured = scale().weigh_result(&text);
    for count in [0, 1, 57, 1_000, 2_500, 1_000_000] {
        assert_eq!(measured.prefix(Extent::Bytes, count).length.bytes, count.min(measured.length.bytes));
        assert_eq!(measured.suffix(Extent::Utf16, count).length.utf16, count.min(measured.length.utf16));
        assert_eq!(measured.prefix(Extent::Tokens, count).tokens, count.min(measured.tokens));
        assert_eq!(measured.suffix(Extent::Chars, count).length.chars, count.min(measured.length.chars));
    }
    for lines in [1, 2, 150, 300] {
        assert_eq!(measured.prefix(Extent::Lines, lines).length.newlines, lines - 1);
        assert_eq!(measured.suffix(Extent::Lines, lines).length.newlines, lines - 1);
    }
    assert_eq!(measured.extent(Extent::Lines), 301);
    assert_eq!(measured.prefix(Extent::Lines, 301), measured.whole());
    assert_eq!(measured.suffix(Extent::Lines, 0), Step::default());
}

#[test]
fn short_texts_are_cut_in_proportion() {
    let measured = scale().weigh("one two three four\nfive six seven eight");
    assert_eq!(measured.tokens, 9);
    assert_eq!(measured.prefix(Extent::Tokens, 3).tokens, 3);
    assert_eq!(measured.prefix(Extent::Lines, 1).length.newlines, 0);
    assert_eq!(measured.prefix(Extent::Lines, 1).tokens, 5);
    assert_eq!(scale().weigh("").prefix(Extent::Lines, 1), Step::default());
}

#[test]
fn cleaning_removes_colours_and_blank_lines() {
    let filler = "a line of output\n".repeat(200);
    let cleaned = |text: String| scale().weigh_result(&text).shape.unwrap().cleaned;
    let size = |text: String| Some(Step { length: Length::of(&text), tokens: count(&text) });
    assert_eq!(cleaned(filler.clone()), None);
    assert_eq!(cleaned(format!("{filler}\n\nx")), size(format!("{filler}\nx")));
    assert_eq!(cleaned(format!("\x1b[31;1mred\x1b[0m\n\x1b[2J\x1b[m{filler}")), size(format!("red\n\x1b[2J{filler}")));
    assert_eq!(cleaned(format!("{filler}a\n\x1b[0m\n\n\n\nb\x1b[31")), size(format!("{filler}a\n\nb\x1b[31")));
    assert_eq!(cleaned(format!("\n\n\n\n{filler}")), size(format!("\n\n{filler}")));
}

#[test]
fn content_is_kept_only_if_asked() {
    let keeping = TextScale::new(counter(Vocabulary::O200kBase), Content::Keep);
    assert_eq!(keeping.weigh("words").content.as_deref(), Some("words"));
    assert_eq!(scale().weigh("words").content, None);
    assert_eq!(keeping.weigh_result("words").content.as_deref(), Some("words"));
}

#[test]
fn estimators_count_as_the_agents_do() {
    let text = scale().weigh("Grüße, 🙂!"); // 9 code points, 10 UTF-16 units, 14 bytes
    let guess = |toml: &str| toml::from_str::<Estimator>(toml).unwrap().text(&text);
    assert_eq!(guess("unit = 'chars'"), 2);
    assert_eq!(guess("unit = 'utf16'\nrounding = 'round'"), 3);
    assert_eq!(guess("unit = 'bytes'\nrounding = 'ceil'"), 4);
    assert_eq!(guess("unit = 'chars'\nnumerator = 2\ndenominator = 5"), 3);
    assert_eq!(guess("unit = 'tokens'\ndenominator = 1"), u64::from(text.tokens));
    let weights = "weights = { prose = 500, code = 1, json = 1, tool_output = 1, cjk = 1, thinking = 1 }";
    assert_eq!(guess(&format!("unit = 'chars'\ndenominator = 1000\nrounding = 'round'\n{weights}")), 5);
}

/// Weights of one token for each token change nothing, whosever text it is.
#[test]
fn even_weights_are_no_weights() {
    let guess = |weights: &str| {
        let keys = format!("unit = 'tokens'\nnumerator = 1\n{weights}rounding = 'floor'\nround_at = 'part'");
        let estimator: Estimator = toml::from_str(&keys).expect("an estimator");
        let text = scale().weigh("The quick brown fox jumps over the lazy dog, and nobody minds.");
        estimator.message_part(estimator.message_text(&text))
    };
    let even =
        "denominator = 1000\nweights = { prose = 1000, code = 1000, json = 1000, tool_output = 1000, cjk = 1000, thinking = 1000 }\n";
    assert!(guess("denominator = 1\n") > 10);
    assert_eq!(guess(even), guess("denominator = 1\n"));
}

#[test]
fn kinds_of_texts_are_told_by_their_bytes() {
    for (text, kind) in [
        ("", TextKind::Prose),
        ("The quick brown fox jumps over the lazy dog, doesn't it?", TextKind::Prose),
        ("Schöne Grüße aus Köln, und bis bald.", TextKind::Prose),
        ("fn main() {\n    let x = vec![1, 2];\n}", TextKind::Code),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-old\n+new", TextKind::Code),
        ("  {\"path\": \"src/main.rs\", \"lines\": [1, 2]}\n", TextKind::Json),
        ("[]", TextKind::Json),
        ("[see the notes of last week on this]", TextKind::Prose),
        ("漢字かな交じり文です。", TextKind::Cjk),
        ("the word 字 alone makes no Chinese text of an English sentence", TextKind::Prose),
    ] {
        assert_eq!(scale().weigh(text).kind, kind, "{text}");
    }
}

#[test]
fn public_vocabularies_are_counted_where_asked() {
    let text = "Zählt man dies doppelt?";
    let own = counter(Vocabulary::Qwen2);
    let public = PublicCounters { o200k_base: counter(Vocabulary::O200kBase), cl100k_base: Some(counter(Vocabulary::Cl100kBase)) };
    let counts = TextScale::new(own, Content::Drop).with_public(Some(public)).weigh(text).counts.unwrap();
    assert_eq!(u64::from(counts.o200k_base), counter(Vocabulary::O200kBase).count(text));
    assert_eq!(u64::from(counts.cl100k_base), counter(Vocabulary::Cl100kBase).count(text));
    assert_eq!(scale().weigh(text).counts, None);
}

#[test]
fn rounding_is_exact_at_the_edges() {
    assert_eq!(Rounding::Round.divide(2, 4), 1);
    assert_eq!(Rounding::Round.divide(1, 4), 0);
    assert_eq!(Rounding::Ceil.divide(8, 4), 2);
    assert_eq!(Rounding::Floor.divide(7, 4), 1);
    assert_eq!(Rounding::Floor.divide(1, 0), u64::MAX);
}
