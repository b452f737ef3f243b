//! JSON as logs hold it: values glued together on a line, strings that may be null, escapes of half a character.

use memchr::memmem;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// Decodes each JSON value of a line in turn. Some agents glue two objects together without a newline; both are found.
/// The error of a value that cannot be decoded is the last thing handed out: where a value ends is not known once it is broken.
pub fn values<'a, T: Deserialize<'a> + 'a>(line: &'a str) -> impl Iterator<Item = Result<T, serde_json::Error>> + 'a {
    let mut stream = serde_json::Deserializer::from_str(line).into_iter::<T>();
    let mut broken = false;
    std::iter::from_fn(move || {
        if broken {
            return None;
        }
        let next = stream.next()?;
        broken = next.is_err();
        Some(next)
    })
}

/// A string of a log, borrowed from its line where it holds no escapes. Absent and null are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Str<'a>(pub Cow<'a, str>);

impl Deref for Str<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Str<'a>, D::Error> {
        struct StrVisitor;
        impl<'de> Visitor<'de> for StrVisitor {
            type Value = Str<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or null")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E: Error>(self, text: String) -> Result<Str<'de>, E> {
                Ok(Str(Cow::Owned(text)))
            }
            fn visit_unit<E: Error>(self) -> Result<Str<'de>, E> {
                Ok(Str::default())
            }
        }
        deserializer.deserialize_any(StrVisitor)
    }
}

/// The same JSON as an agent sends it: no white space between tokens, and no escapes that need not be.
pub fn compact(json: &str) -> String {
    let mut compacted = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(quote) = memchr::memchr(b'"', rest.as_bytes()) {
        let (between, string_on) = rest.split_at(quote);
        compacted.extend(between.chars().filter(|character| !character.is_ascii_whitespace()));
        let (string, after) = string_on.split_at(string_end(string_on));
        match string.contains("\\u") || string.contains("\\/") {
            true => match serde_json::from_str::<String>(string).and_then(|text| serde_json::to_string(&text)) {
                Ok(plain) => compacted.push_str(&plain),
                Err(_) => compacted.push_str(string),
            },
            false => compacted.push_str(string),
        }
        rest = after;
    }
    compacted.extend(rest.chars().filter(|character| !character.is_ascii_whitespace()));
    compacted
}

/// Where the string that begins this text ends, its closing quote included.
fn string_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found;
        match bytes[at] {
            b'"' => return at + 1,
            _ => at += 2,
        }
    }
    text.len()
}

/// The text with escapes of half a character replaced (`\ud83d` without its second half), or `None` where it holds none.
/// Agents that cut strings by UTF-16 units write such escapes, and no decoder takes them.
pub fn mend(json: &str) -> Option<String> {
    let bytes = json.as_bytes();
    // Most lines have none of them, and the look for two letters is far cheaper than one at each escape.
    if memmem::find(bytes, b"\\ud").is_none() && memmem::find(bytes, b"\\uD").is_none() {
        return None;
    }
    let unit = |at: usize| -> Option<u16> {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        at += found;
        match (unit(at), unit(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => at += 12,
            (Some(0xd800..0xe000), _) => {
                mended.push_str(&json[copied..at]);
                mended.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            _ => at += 2,
        }
    }
    (copied > 0).then(|| mended + &json[copied..])
}

/// The keys of the object that this text begins with, as far as the text goes; empty where it is no object.
pub fn top_keys(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let (mut keys, mut depth, mut at, mut key_expected) = (Vec::new(), 0_usize, 0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = at + string_end(&text[at..]);
                if depth == 1 && key_expected {
                    keys.extend(text.get(at + 1..end - 1));
                    key_expected = false;
                }
                at = end;
                continue;
            }
            b'{' | b'[' => {
                key_expected = depth == 0 && *byte == b'{';
                depth += 1;
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            b',' if depth == 1 => key_expected = text.trim_start().starts_with('{'),
            _ => {}
        }
        at += 1;
    }
    keys
}
