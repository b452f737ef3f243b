//! Raw JSON text: why it does not decode, and how models get to see it.

use serde_json::value::RawValue;
use std::borrow::Cow;

/// The reason to hand to `Source::lose` for a value that could not be decoded.
pub fn fault(error: &serde_json::Error, last_unterminated: bool) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Eof if last_unterminated => "last line cut off",
        serde_json::error::Category::Data => "record of an unexpected shape",
        _ => "not JSON",
    }
}

/// The text of a JSON value without white space between its tokens, and with letters in place of their `\u` escapes, as
/// most programs write it when they hand it to a model.
pub fn compact(raw: &str) -> Cow<'_, str> {
    let mut text = String::new();
    // Everything before this place is in `text` already; nothing is copied as long as nothing has to change.
    let mut copied = 0;
    let mut in_string = false;
    let mut at = 0;
    let bytes = raw.as_bytes();
    while let Some(&byte) = bytes.get(at) {
        let (length, instead) = match byte {
            b'"' => {
                in_string = !in_string;
                (1, None)
            }
            b'\\' if in_string => match escape(raw.get(at..).unwrap_or_default()) {
                Some((letter, length)) => (length, Some(letter)),
                None => (2, None),
            },
            b' ' | b'\n' | b'\r' | b'\t' if !in_string => {
                text.push_str(raw.get(copied..at).unwrap_or_default());
                copied = at + 1;
                (1, None)
            }
            _ => (1, None),
        };
        if let Some(letter) = instead {
            text.push_str(raw.get(copied..at).unwrap_or_default());
            text.push(letter);
            copied = at + length;
        }
        at += length;
    }
    if copied == 0 {
        return Cow::Borrowed(raw);
    }
    text.push_str(raw.get(copied..).unwrap_or_default());
    Cow::Owned(text)
}

/// The text of a JSON string, or any other value as compact JSON; empty for none. Arguments of tools come as either.
pub fn text_or_json(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw.map(RawValue::get) else { return String::new() };
    match serde_json::from_str::<String>(raw) {
        Ok(text) => text,
        Err(_) => compact(raw).into_owned(),
    }
}

/// The letter beyond ASCII that a `\u` escape (or a pair of them) at the start of this text stands for, and the escape's length.
fn escape(text: &str) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let first = unit(0)?;
    let pair = [first, unit(6).unwrap_or(0)];
    let units = if (0xd800..0xdc00).contains(&first) { 2 } else { 1 };
    let letter = char::decode_utf16(pair).next()?.ok()?;
    (letter >= '\u{a0}').then_some((letter, units * 6))
}
