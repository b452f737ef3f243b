//! Counts a piece of many thousand characters (a rule of dashes, one endless word) in windows, in time that grows as its length.
//!
//! Byte-pair encoding has one result in which each pair of neighbouring tokens is what the encoding of the two by themselves gives.
//! Two windows that overlap, and of which each is encoded by itself, hold such pairs alone; so where both have the same token at the
//! same place, the tokens of the first up to it and those of the second behind it are the encoding of both together.

use super::pieces::Pattern;
use std::ops::Range;

/// A piece is encoded at once up to this length.
pub const WINDOW: usize = 64 * 1024;

/// How much of a window the next one repeats.
const OVERLAP: usize = 1024;

/// The number of tokens of a piece; `None` where its windows are more than one piece each, begin within a character, or have no token in common.
pub fn count(engine: &tiktoken::CoreBpe, pattern: &Pattern, piece: &str) -> Option<u64> {
    let mut tokens = 0;
    let mut window = encode(engine, pattern, piece, 0)?;
    while window.last()?.end < piece.len() {
        let overlap = window.last()?.end.saturating_sub(OVERLAP);
        let first = window.partition_point(|token| token.start < overlap);
        let shared = window.get(first..)?;
        let next = encode(engine, pattern, piece, shared.first()?.start)?;
        let (mut ours, mut theirs) = (0, 0);
        while shared.get(ours)? != next.get(theirs)? {
            if shared.get(ours)?.end <= next.get(theirs)?.end { ours += 1 } else { theirs += 1 }
        }
        tokens += first + ours + 1;
        window = next.get(theirs + 1..)?.to_vec();
    }
    Some((tokens + window.len()) as u64)
}

/// The tokens of the window that begins here.
fn encode(engine: &tiktoken::CoreBpe, pattern: &Pattern, piece: &str, from: usize) -> Option<Vec<Range<usize>>> {
    let window = piece.get(from..piece.floor_char_boundary(from + WINDOW))?;
    // A window of spaces and line ends is one piece up to its last line end alone: the next window goes on from there.
    let end = pattern.end(window, 0).filter(|end| *end == window.len() || *end > 2 * OVERLAP && from + window.len() < piece.len())?;
    let window = window.get(..end)?;
    let mut at = from;
    let range = |token: &u32| {
        let start = at;
        at += engine.decode(std::slice::from_ref(token)).len();
        start..at
    };
    Some(engine.encode(window).iter().map(range).collect())
}
