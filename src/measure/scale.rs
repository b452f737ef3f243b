//! The scale: what is kept of a text when its words are let go.

use super::evidence::{Definition, Recognise, UNITS_PER_LEVEL, evidence};
use super::kind::kind;
use super::known::{self, Known};
use super::wanted::{Kinds, Wanted};
use crate::estimate::{BLOCK, Counter, Vocabulary, cleaned, tally};
use crate::transcript::{Counts, LONG_LINE, Length, Lines, Scale, Shape, Step, Steps, Text, TextKind};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// What becomes of the words of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The words are kept beside the numbers.
    Keep,
    /// The words are let go.
    Drop,
}

/// Measures texts in one vocabulary.
#[derive(Clone)]
pub struct TextScale {
    counter: Arc<Counter>,
    content: Content,
    definition: Definition,
    wanted: Wanted,
    /// Recognisable pieces of the session that is being read.
    pieces: Cell<usize>,
    public: Option<PublicCounters>,
}

thread_local! {
    // What a text comes to is a function of its words and of how it is measured, so what one scale learned serves all scales of its thread.
    static KNOWN: RefCell<Known> = RefCell::new(Known::default());
}

/// Forgets what this thread has learned of texts.
pub fn forget_texts() {
    KNOWN.take();
}

/// Is the shape of a text taken?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taking {
    Sizes,
    Shape,
}

/// Counters of the vocabularies that a [`Counts`] holds.
#[derive(Clone)]
pub struct PublicCounters {
    /// The counter of `o200k_base`.
    pub o200k_base: Arc<Counter>,
    /// The counter of `cl100k_base`; without one such counts are 0.
    pub cl100k_base: Option<Arc<Counter>>,
}

/// A result of more bytes than this has a [`Shape`].
const SHORT: usize = 2_000;

/// Bytes between the steps of a shape. Near the two ends of a text they stand closer, by [`NEARNESS`]: where a part is small, so
/// must be the error of its size.
const WIDEST_STEP: usize = 1024;
const NARROWEST_STEP: usize = 160;
const NEARNESS: usize = 12;

impl TextScale {
    /// A scale that counts with this counter.
    pub fn new(counter: Arc<Counter>, content: Content) -> TextScale {
        TextScale { counter, content, definition: Definition::default(), wanted: Wanted::default(), pieces: Cell::new(0), public: None }
    }

    /// The same scale, by other rules for what can be recognised.
    pub fn recognising(self, definition: Definition) -> TextScale {
        TextScale { definition, ..self }
    }

    /// The same scale, which measures this beside sizes.
    pub fn wanting(self, wanted: Wanted) -> TextScale {
        TextScale { wanted, ..self }
    }

    /// A session has been read; what follows belongs to another one.
    pub fn next_session(&self) {
        self.pieces.set(0);
    }

    /// The same scale, which counts every text in these vocabularies as well.
    pub fn with_public(self, public: Option<PublicCounters>) -> TextScale {
        TextScale { public, ..self }
    }

    /// The counts in the public vocabularies, where they are asked for.
    fn counts(&self, text: &str, tokens: u32) -> Option<Counts> {
        let public = self.public.as_ref()?;
        let own = self.counter.vocabulary();
        let count = |vocabulary, counter: &Counter| if own == vocabulary { tokens } else { size(counter.count(text)) };
        Some(Counts {
            o200k_base: count(Vocabulary::O200kBase, &public.o200k_base),
            cl100k_base: public.cl100k_base.as_ref().map_or(0, |counter| count(Vocabulary::Cl100kBase, counter)),
        })
    }

    fn count(&self, text: &str) -> u32 {
        size(self.counter.count(text))
    }

    /// Everything but the shape.
    fn text(&self, text: &str, tokens: u32, shape: Option<Box<Shape>>, is_json: bool) -> Text {
        let length = Length::of(text);
        let recognise = Recognise { recall: self.wanted.references, definition: self.definition, spent: self.pieces.get(), is_json };
        let evidence = evidence(text, recognise);
        self.pieces.set(self.pieces.get() + evidence.units.len());
        Text {
            length,
            tokens,
            counts: self.counts(text, tokens),
            kind: if self.wanted.kinds == Kinds::Told { kind(text, length) } else { TextKind::default() },
            json_bytes: json_bytes(text, length.newlines),
            words: words(text, length),
            non_ascii: if length.bytes == length.chars {
                0
            } else {
                length.chars.saturating_sub(tally(text.as_bytes(), |byte| byte.is_ascii()))
            },
            truncated: false,
            shape,
            content: (self.content == Content::Keep).then(|| text.into()),
            evidence: (!text.is_empty()).then(|| Box::new(evidence)),
        }
    }

    /// Counts the text, and takes the sums at some seams on the way: at starts of lines, so that whole lines are sized well, where
    /// one is in reach.
    fn steps(&self, text: &str) -> (u32, Steps) {
        let width = |at: usize| (at.min(text.len() - at) / NEARNESS).clamp(NARROWEST_STEP, WIDEST_STEP);
        let mut places: Vec<(usize, u64)> = Vec::new();
        let mut at_line_start = false;
        let tokens = self.counter.count_along(text, NARROWEST_STEP, &mut |at, tokens| {
            let ahead = text.as_bytes().get(at - 1..).unwrap_or_default();
            let reach = ahead.get(..width(at)).unwrap_or(ahead);
            match memchr::memchr(b'\n', reach).filter(|newline| *newline > 0 && !at_line_start) {
                Some(newline) => {
                    at_line_start = true;
                    at + newline
                }
                None => {
                    at_line_start = false;
                    places.push((at, tokens));
                    at + width(at)
                }
            }
        });
        let (mut from, mut so_far) = (0, Step::default());
        let steps = places.into_iter().map(|(at, tokens)| {
            let chunk = text.get(from..at).unwrap_or_default();
            so_far = Step { tokens: size(tokens), ..so_far.plus(Step { length: Length::of(chunk), tokens: 0 }) };
            from = at;
            so_far
        });
        (size(tokens), steps.collect())
    }
}

impl Scale for TextScale {
    fn vocabulary(&self) -> Option<&'static str> {
        Some(self.counter.vocabulary().name())
    }

    fn weigh(&self, text: &str) -> Text {
        self.known(text, Taking::Sizes, || self.text(text, self.count(text), None, false))
    }

    fn weigh_json(&self, text: &str) -> Text {
        self.known(text, Taking::Sizes, || self.text(text, self.count(text), None, true))
    }

    fn weigh_result(&self, text: &str) -> Text {
        if text.len() <= SHORT {
            return self.weigh(text);
        }
        self.known(text, Taking::Shape, || self.shaped(text))
    }
}

impl TextScale {
    /// What a text is remembered to come to, or what measuring it gives.
    fn known(&self, text: &str, taking: Taking, measure: impl FnOnce() -> Text) -> Text {
        // Words are not kept longer than they are needed, and the reference engine says how often it could not count.
        if text.len() < known::SHORTEST || self.content == Content::Keep || !self.counter.is_fast() {
            return measure();
        }
        let key = xxh3_128_with_seed(text.as_bytes(), self.manner(taking));
        if let Some(text) = KNOWN.with_borrow_mut(|known| known.get(key)) {
            self.pieces.set(self.pieces.get() + text.evidence.as_ref().map_or(0, |evidence| evidence.units.len()));
            return text;
        }
        let measured = measure();
        KNOWN.with_borrow_mut(|known| known.keep(key, measured.clone()));
        measured
    }

    /// A number for everything beside its words that decides what a text comes to.
    fn manner(&self, taking: Taking) -> u64 {
        let thinning = self.pieces.get() / UNITS_PER_LEVEL;
        let choices = [
            thinning as u64,
            self.counter.vocabulary() as u64,
            self.definition as u64,
            self.wanted.references as u64,
            self.wanted.kinds as u64,
            u64::from(self.public.is_some()),
            taking as u64,
        ];
        choices.into_iter().fold(0, |manner, choice| manner << 4 | choice)
    }

    fn shaped(&self, text: &str) -> Text {
        let (tokens, steps) = self.steps(text);
        let cleaned = cleaned(text).map(|cleaned| Step { length: Length::of(&cleaned), tokens: self.count(&cleaned) });
        let (long_starts, long_lines): (Vec<u32>, Vec<u32>) = long_lines(text).unzip();
        let (long_starts, long_lines) = (long_starts.into(), long_lines.into());
        let shape = Shape { steps, lines: Lines::of(text), long_lines, cleaned, long_starts };
        self.text(text, tokens, Some(Box::new(shape)), false)
    }
}

fn size(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Bytes of the text inside a compact JSON string, as serde_json and JavaScript write it: control characters as six bytes, those
/// with a short escape, the quote and the backslash as two, all else as it is.
fn json_bytes(text: &str, newlines: u32) -> u32 {
    let bytes = text.as_bytes();
    let quoted = tally(bytes, |byte| (byte == b'"') | (byte == b'\\'));
    let control = tally(bytes, |byte| byte < 0x20);
    // Most texts have no control characters but line ends.
    let short = match control == newlines {
        true => newlines,
        false => tally(bytes, |byte| matches!(byte, b'\n' | b'\r' | b'\t' | 0x08 | 0x0c)),
    };
    let escapes = quoted.saturating_add(short).saturating_add(control.saturating_sub(short).saturating_mul(5));
    size(bytes.len() as u64).saturating_add(escapes)
}

/// How many words whitespace divides the text into.
fn words(text: &str, length: Length) -> u32 {
    if length.chars < length.bytes && has_wide_space(text) {
        return u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX);
    }
    let space = |byte: u8| matches!(byte, b' ' | 0x09..=0x0d);
    let bytes = text.as_bytes();
    let (Some((&first, after)), Some((_, before))) = (bytes.split_first(), bytes.split_last()) else { return 0 };
    // A word begins wherever no space follows a space; counted in blocks, as in `tally`.
    let begun = |before: &[u8], after: &[u8]| {
        u32::from(before.iter().zip(after).map(|(&before, &after)| u8::from(space(before) & !space(after))).sum::<u8>())
    };
    let ((before, last_before), (after, last_after)) = (before.as_chunks::<BLOCK>(), after.as_chunks::<BLOCK>());
    let words = u32::from(!space(first)) + begun(last_before, last_after);
    before.iter().zip(after).fold(words, |words, (before, after)| words.saturating_add(begun(before, after)))
}

/// Is there whitespace beyond ASCII: U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000? All places are
/// looked at without a branch, which is many times as fast as one character after another.
fn has_wide_space(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(second), Some(third)) = (bytes.get(1..), bytes.get(2..)) else { return false };
    let found = bytes.iter().zip(second).zip(third).fold(0_u8, |found, ((&first, &second), &third)| {
        let two = (first == 0xc2) & ((second == 0x85) | (second == 0xa0));
        let quad = (second == 0x80) & ((third <= 0x8a) | (third == 0xa8) | (third == 0xa9) | (third == 0xaf));
        let three = (first == 0xe2) & (quad | ((second == 0x81) & (third == 0x9f)));
        let rare = ((first == 0xe1) & (second == 0x9a) & (third == 0x80)) | ((first == 0xe3) & (second == 0x80) & (third == 0x80));
        found | u8::from(two | three | rare)
    });
    found != 0 || text.ends_with(|last: char| !last.is_ascii() && last.is_whitespace())
}

/// The first byte of each line longer than [`LONG_LINE`], and its code points.
fn long_lines(text: &str) -> impl Iterator<Item = (u32, u32)> {
    let mut from = 0;
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    lines
        .filter_map(move |end| {
            let start = std::mem::replace(&mut from, end + 1);
            Some((start, text.get(start..end).filter(|line| line.len() > LONG_LINE as usize)?))
        })
        .map(|(start, line)| (size(start as u64), Length::of(line).chars))
        .filter(|(_, chars)| *chars > LONG_LINE)
}
