//! What the model saw of a long result: events keep it whole, and what is sent of it is its beginning and its end.

use std::borrow::Cow;

/// Version 0 sends half of the limit of either end (its `truncate_content`).
pub fn before_the_sdk(text: &str, limit: usize) -> Cow<'_, str> {
    cut(text, limit, limit / 2, limit / 2, "\n[... Observation truncated due to length ...]\n")
}

/// The SDK sends so many letters, its note among them (its `maybe_truncate`).
pub fn by_the_sdk(text: &str) -> Cow<'_, str> {
    const LIMIT: usize = 50_000;
    const NOTE: &str = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you.</NOTE>";
    let kept = LIMIT - NOTE.len();
    cut(text, LIMIT, kept.div_ceil(2), kept / 2, NOTE)
}

fn cut<'t>(text: &'t str, limit: usize, first: usize, last: usize, note: &str) -> Cow<'t, str> {
    // A text has no more letters than bytes.
    if text.len() <= limit || text.chars().count() <= limit {
        return Cow::Borrowed(text);
    }
    let head = text.char_indices().nth(first).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().rev().nth(last.saturating_sub(1)).map_or(0, |(at, _)| at);
    let tail = if last == 0 { "" } else { text.get(tail..).unwrap_or_default() };
    Cow::Owned([text.get(..head).unwrap_or_default(), note, tail].concat())
}
