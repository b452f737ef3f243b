//! Splits ASCII text into the pieces that tokenizers encode one by one, as their patterns do, but without a pattern engine.
//!
//! The patterns of seven vocabularies differ in four details, the fields of [`Common`]; [`deepseek`] has the eighth. In all seven, tried in this order at
//! each place: a word with at most one leading character that is no letter, digit or line end; a few digits; punctuation with
//! at most one leading space, and the line ends behind it; whitespace up to its last line end; whitespace less its last
//! character, which is left to lead the next word; whitespace.

use super::letters::contraction_end;
use super::vocabulary::Vocabulary;
use super::{deepseek, wide};

/// How one vocabulary splits a text.
#[derive(Clone, Copy, Debug)]
pub enum Pattern {
    /// The rules that seven vocabularies share, with their four details.
    Common(Common),
    /// DeepSeek's own rules, in [`deepseek`].
    DeepSeek,
}

/// The make that most patterns share.
#[derive(Clone, Copy, Debug)]
pub struct Common {
    contraction: Contraction,
    case: Case,
    digits: usize,
    tail: Tail,
    wide: Wide,
}

/// What becomes of `'s`, `'ll` and the like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Contraction {
    /// A piece of its own.
    Apart,
    /// A part of the word before it.
    Attached,
    /// Contractions have no rule of their own.
    Ignored,
}

/// Does a new word begin where an upper-case letter follows a lower-case one?
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Case {
    /// It does.
    Splits,
    /// Case is no matter.
    Ignored,
}

/// What a piece of punctuation takes along behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tail {
    Lines,
    LinesAndSlashes,
}

/// What splits text that is not ASCII.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wide {
    /// [`wide::piece_end`], where case splits words.
    Cased,
    /// [`wide::caseless_piece_end`], where case splits nothing.
    Caseless,
    /// The vocabulary's own pattern engine.
    Engine,
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Punctuation,
    Space,
    Line,
    /// Not ASCII: the Unicode tables would have to be asked.
    Wide,
    End,
}

#[expect(clippy::indexing_slicing, reason = "a constant: the compiler looks")]
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Wide; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'A'..=b'Z' => Class::Upper,
            b'a'..=b'z' => Class::Lower,
            b'0'..=b'9' => Class::Digit,
            b'\r' | b'\n' => Class::Line,
            b' ' | b'\t' | 0x0b | 0x0c => Class::Space,
            _ => Class::Punctuation,
        };
        byte += 1;
    }
    classes
};

#[inline]
#[expect(clippy::indexing_slicing, reason = "every byte has a class")]
fn class(bytes: &[u8], at: usize) -> Class {
    bytes.get(at).map_or(Class::End, |byte| CLASSES[*byte as usize])
}

/// The first place from `at` on whose class is none of those that `inside` accepts.
#[inline]
fn run_end(bytes: &[u8], mut at: usize, inside: impl Fn(Class) -> bool) -> usize {
    while inside(class(bytes, at)) {
        at += 1;
    }
    at
}

/// The end of the run of lower-case letters (of all letters where `case` is ignored) that begins at `at`. Eight bytes are looked at
/// in one step, because a loop that ends somewhere else for each word is what a processor can predict the least.
#[inline]
fn letters_end(bytes: &[u8], mut at: usize, case: Case) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * EACH;
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let block = u64::from_le_bytes(*block);
        let folded = (block & !HIGH) | if case == Case::Ignored { 0x20 * EACH } else { 0 };
        // The high bit of a byte of the first sum tells that it is at least `a`, of the second that it is more than `z`.
        let letters = (folded + (0x80 - u64::from(b'a')) * EACH) & !(folded + (0x7f - u64::from(b'z')) * EACH) & !block & HIGH;
        if letters != HIGH {
            return at + ((letters ^ HIGH).trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    run_end(bytes, at, |class| class == Class::Lower || (class == Class::Upper && case == Case::Ignored))
}

/// Where a word of ASCII letters ends, with or without a sign or a space before it, as most pieces are: in all vocabularies of the common make alike, but for
/// case. `None` where more has to be looked at.
#[inline]
pub fn plain_word_end<const CASED: bool>(bytes: &[u8], at: usize) -> Option<usize> {
    let first = class(bytes, at);
    let (begun, initial) = match first {
        Class::Upper | Class::Lower => (at, first),
        Class::Space | Class::Punctuation if bytes.get(at) != Some(&b'\'') => (at + 1, class(bytes, at + 1)),
        _ => return None,
    };
    if !matches!(initial, Class::Upper | Class::Lower) {
        return None;
    }
    let end = letters_end(bytes, begun + 1, if CASED { Case::Splits } else { Case::Ignored });
    match class(bytes, end) {
        Class::Wide => None,
        Class::Punctuation if bytes.get(end) == Some(&b'\'') => None,
        Class::Upper if CASED && initial == Class::Upper && end == begun + 1 => None,
        _ => Some(end),
    }
}

impl Pattern {
    /// How a vocabulary splits texts.
    pub fn of(vocabulary: Vocabulary) -> Pattern {
        let (contraction, case, digits, tail) = match vocabulary {
            Vocabulary::O200kBase => (Contraction::Attached, Case::Splits, 3, Tail::LinesAndSlashes),
            Vocabulary::KimiK2 => (Contraction::Attached, Case::Splits, 3, Tail::Lines),
            Vocabulary::MistralV3 => (Contraction::Ignored, Case::Splits, 1, Tail::LinesAndSlashes),
            Vocabulary::Cl100kBase | Vocabulary::Llama3 | Vocabulary::Glm4 => (Contraction::Apart, Case::Ignored, 3, Tail::Lines),
            Vocabulary::Qwen2 => (Contraction::Apart, Case::Ignored, 1, Tail::Lines),
            Vocabulary::DeepseekV3 => return Pattern::DeepSeek,
        };
        let wide = match vocabulary {
            Vocabulary::O200kBase => Wide::Cased,
            _ if case == Case::Ignored => Wide::Caseless,
            _ => Wide::Engine,
        };
        Pattern::Common(Common { contraction, case, digits, tail, wide })
    }

    /// What case does to words, where [`plain_word_end`] tells where they end.
    pub fn cases(&self) -> Option<Case> {
        match self {
            Pattern::Common(pattern) => Some(pattern.case),
            Pattern::DeepSeek => None,
        }
    }

    /// Where the piece that begins at `at` ends; `None` where only the vocabulary's own program can tell.
    #[inline(never)]
    pub fn end(&self, text: &str, at: usize) -> Option<usize> {
        match self {
            Pattern::Common(pattern) => {
                let end = pattern.piece_end(text.as_bytes(), at);
                end.or_else(|| match pattern.wide {
                    Wide::Cased => Some(wide::piece_end(text, at)),
                    Wide::Caseless => Some(wide::caseless_piece_end(text, at, pattern.digits)),
                    Wide::Engine => None,
                })
            }
            Pattern::DeepSeek => Some(deepseek::piece_end(text, at)),
        }
    }
}

impl Common {
    /// Where the piece that begins at `at` ends; `None` where that hangs on a character that is not ASCII.
    #[inline]
    fn piece_end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        match class(bytes, at) {
            Class::Upper | Class::Lower => self.word_end(bytes, at),
            Class::Digit => {
                let end = (at + 1..at + self.digits).find(|&next| class(bytes, next) != Class::Digit).unwrap_or(at + self.digits);
                (end == at + self.digits || class(bytes, end) != Class::Wide).then_some(end)
            }
            Class::Punctuation => match class(bytes, at + 1) {
                Class::Wide => None,
                Class::Upper | Class::Lower => match self.contraction {
                    Contraction::Apart => contraction_end(bytes, at).or_else(|| self.word_end(bytes, at + 1)),
                    _ => self.word_end(bytes, at + 1),
                },
                _ => self.punctuation_end(bytes, at),
            },
            Class::Space => match class(bytes, at + 1) {
                Class::Wide => None,
                Class::Upper | Class::Lower => self.word_end(bytes, at + 1),
                Class::Punctuation if bytes.get(at) == Some(&b' ') => self.punctuation_end(bytes, at + 1),
                _ => whitespace_end(bytes, at),
            },
            Class::Line => whitespace_end(bytes, at),
            Class::Wide | Class::End => None,
        }
    }

    #[inline]
    fn word_end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let lower = match self.case {
            Case::Splits => run_end(bytes, at, |class| class == Class::Upper),
            Case::Ignored => at,
        };
        let end = letters_end(bytes, lower, self.case);
        if class(bytes, end) == Class::Wide {
            return None;
        }
        if self.contraction == Contraction::Attached && bytes.get(end) == Some(&b'\'') {
            // A long s (U+017F) counts as an s here.
            return (class(bytes, end + 1) != Class::Wide).then(|| contraction_end(bytes, end).unwrap_or(end));
        }
        Some(end)
    }

    #[inline]
    fn punctuation_end(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let mut end = run_end(bytes, at, |class| class == Class::Punctuation);
        if class(bytes, end) == Class::Wide {
            return None;
        }
        while class(bytes, end) == Class::Line || (self.tail == Tail::LinesAndSlashes && bytes.get(end) == Some(&b'/')) {
            end += 1;
        }
        Some(end)
    }
}

#[inline]
fn whitespace_end(bytes: &[u8], at: usize) -> Option<usize> {
    let (mut end, mut behind_line) = (at, None);
    loop {
        match class(bytes, end) {
            Class::Space => end += 1,
            Class::Line => {
                end += 1;
                behind_line = Some(end);
            }
            Class::Wide => return None,
            next => return behind_line.or(Some(if next != Class::End && end - at > 1 { end - 1 } else { end })),
        }
    }
}
