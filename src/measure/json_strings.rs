//! The strings of a JSON text, unescaped, without building the document.

use memchr::{memchr, memchr2};
use std::borrow::Cow;

/// A string that is a value.
pub struct JsonString<'a> {
    /// The name under which it stands; for elements of a list, that of the list.
    pub key: &'a str,
    /// The string, with its escapes resolved.
    pub value: &'a str,
    /// The same as it is written in the JSON text.
    pub raw: &'a str,
    /// Where it starts within the JSON text, in bytes.
    pub at: usize,
}

/// Hands over each string value of a valid JSON text, and says how many values of any kind the text holds.
pub fn json_strings(text: &str, take: &mut dyn FnMut(JsonString<'_>)) -> u32 {
    let bytes = text.as_bytes();
    let mut key = String::new();
    let (mut at, mut values) = (0_usize, 0_u32);
    let mut outside = 0;
    while let Some(start) = memchr(b'"', bytes.get(at..).unwrap_or_default()).map(|quote| at + quote + 1) {
        let Some(end) = end_of_string(bytes, start) else { break };
        values = values.saturating_add(bare_values(bytes.get(outside..start - 1).unwrap_or_default()));
        let value = unescaped(text, start, end);
        let rest = bytes.get(end + 1..).unwrap_or_default();
        let next = rest.iter().find(|byte| !byte.is_ascii_whitespace());
        if next == Some(&b':') {
            key = value.into_owned();
        } else {
            values = values.saturating_add(1);
            take(JsonString { key: &key, value: &value, raw: text.get(start..end).unwrap_or_default(), at: start });
        }
        at = end + 1;
        outside = at;
    }
    values.saturating_add(bare_values(bytes.get(outside..).unwrap_or_default()))
}

/// Lists by how much longer a string is as it is written, in bytes: behind each of its escapes the place in what it stands for, and the sum so far.
pub fn escapes(raw: &str, found: &mut Vec<(u32, u32)>) {
    let (mut rest, mut place, mut longer) = (raw.as_bytes(), 0_u32, 0_u32);
    while let Some(before) = memchr(b'\\', rest) {
        let hex = |at: usize| rest.get(at..at + 4).and_then(|hex| u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        let (written, stands_for) = match (rest.get(before + 1), hex(before + 2)) {
            (Some(b'u'), Some(0..0x80)) => (6, 1),
            (Some(b'u'), Some(0x80..0x800)) => (6, 2),
            // Two halves of one character.
            (Some(b'u'), Some(0xd800..0xe000)) => (12, 4),
            (Some(b'u'), _) => (6, 3),
            _ => (2, 1),
        };
        place = place.saturating_add(before as u32).saturating_add(stands_for);
        longer = longer.saturating_add(written as u32 - stands_for);
        found.push((place, longer));
        rest = rest.get(before + written..).unwrap_or_default();
    }
}

/// The place of the quote that ends the string which starts here.
fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let found = at + memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(found) == Some(&b'"') {
            return Some(found);
        }
        at = found + 2;
    }
}

fn unescaped(text: &str, start: usize, end: usize) -> Cow<'_, str> {
    let raw = text.get(start..end).unwrap_or_default();
    if memchr(b'\\', raw.as_bytes()).is_none() {
        return Cow::Borrowed(raw);
    }
    // Halves of characters cannot be unescaped; such a string is taken as it is written.
    let whole = text.get(start - 1..=end).unwrap_or_default();
    serde_json::from_str::<String>(whole).map_or(Cow::Borrowed(raw), Cow::Owned)
}

/// Numbers and words between strings.
fn bare_values(between: &[u8]) -> u32 {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
    between.split(|byte| !inside(byte)).filter(|run| !run.is_empty()).count() as u32
}
