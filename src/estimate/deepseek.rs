//! Splits any text into the pieces of `deepseek_v3`. The crate's own splitter looks at all that follows a piece, so that its time grows with the square of
//! a text without a seam.
//!
//! The pattern, tried in this order at each place, the first that matches taken as far as it goes: up to three numbers; Chinese and Japanese letters of two
//! blocks; ASCII punctuation and ASCII letters; any letters and marks behind at most one character that is no letter, number, symbol or line end; ` ?`
//! and symbols and line ends; whitespace up to its last line end; whitespace less its last character, if what follows is neither a number
//! nor of the two blocks; any character.

use super::letters::{Kind, kind};
use super::wide::{next, run_end, space_end};

/// Where the piece that begins at `at` ends. A place that is none of a character's in the text is the end of its piece.
pub fn piece_end(text: &str, at: usize) -> usize {
    let Some((first, after)) = next(text, at) else { return at };
    if is_of_two_blocks(first) {
        return run_end(text, after, is_of_two_blocks);
    }
    if first.is_ascii_punctuation() && next(text, after).is_some_and(|(second, _)| second.is_ascii_alphabetic()) {
        return run_end(text, after, |letter| letter.is_ascii_alphabetic());
    }
    let leads_word = || next(text, after).is_some_and(|(second, _)| joins_word(second));
    match kind(first) {
        Kind::Number => {
            (0..2).fold(after, |end, _| next(text, end).filter(|(letter, _)| is_number(*letter)).map_or(end, |(_, after)| after))
        }
        Kind::Upper | Kind::Lower | Kind::Uncased | Kind::Mark => run_end(text, after, joins_word),
        Kind::Symbol => symbols_end(text, after),
        Kind::Space | Kind::Other if !is_line_end(first) && leads_word() => run_end(text, after, joins_word),
        Kind::Space if first == ' ' && next(text, after).is_some_and(|(second, _)| kind(second) == Kind::Symbol) => {
            symbols_end(text, after)
        }
        Kind::Space => space_end(text, at, |following| !is_number(following) && !is_of_two_blocks(following)),
        Kind::Other => after,
    }
}

fn is_number(letter: char) -> bool {
    kind(letter) == Kind::Number
}

fn is_of_two_blocks(letter: char) -> bool {
    matches!(letter, '一'..='龥' | '\u{3040}'..='\u{30ff}')
}

fn joins_word(letter: char) -> bool {
    matches!(kind(letter), Kind::Upper | Kind::Lower | Kind::Uncased | Kind::Mark)
}

fn is_line_end(letter: char) -> bool {
    matches!(letter, '\r' | '\n')
}

fn symbols_end(text: &str, at: usize) -> usize {
    let end = run_end(text, at, |letter| kind(letter) == Kind::Symbol);
    run_end(text, end, is_line_end)
}
