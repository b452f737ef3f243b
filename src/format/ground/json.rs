//! JSON text as logs hold it: values glued together on a line, why one does not decode, and how a model gets to see it.

use super::words::Words;
use memchr::memmem::Finder;
use serde::de::{Deserialize, IgnoredAny};
use serde_json::error::Category;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::BTreeMap;

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

/// The reason for the loss of a message that cannot be decoded.
pub const ODD: &str = "message of an unexpected shape";

/// Decodes a record. One of an unexpected shape is decoded once more without those elements of the list under this key (of the list that it is, where the
/// key is empty) that do not decode by themselves: they are lost alone. `held` keeps what is left.
pub fn decoded<'a, T, E>(text: &'a str, key: &str, held: &'a mut String, lose: &mut dyn FnMut(&str)) -> Result<T, serde_json::Error>
where
    T: Deserialize<'a>,
    E: Deserialize<'a>,
{
    let error = match serde_json::from_str::<T>(text) {
        Err(error) if error.is_data() => error,
        decoded => return decoded,
    };
    let mut fields = BTreeMap::new();
    if !key.is_empty() {
        fields = serde_json::from_str::<BTreeMap<Cow<str>, &RawValue>>(text)?;
    }
    let list = fields.get(key).map_or(text, |list| list.get());
    let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(list) else { return Err(error) };
    let kept: Vec<&RawValue> = elements.iter().copied().filter(|element| serde_json::from_str::<E>((*element).get()).is_ok()).collect();
    (kept.len()..elements.len()).for_each(|_| lose(ODD));
    let kept = to_raw_value(&kept)?;
    *held = if key.is_empty() {
        kept.get().to_owned()
    } else {
        let mut left: BTreeMap<Cow<str>, &RawValue> = fields;
        left.insert(Cow::Borrowed(key), &kept);
        serde_json::to_string(&left)?
    };
    serde_json::from_str(held)
}

/// The reason for the loss of what a file that is cut off does not hold any more.
pub const CUT_OFF: &str = "cut off at the end of the file";

/// The reason to hand to `Source::lose` for a value that could not be decoded. `at_end`: nothing follows it, neither a line nor a
/// newline, so that it may have been cut off.
pub fn fault(error: &serde_json::Error, at_end: bool) -> &'static str {
    match error.classify() {
        Category::Eof if at_end => CUT_OFF,
        // `0.` and `-` are the beginnings of numbers.
        Category::Syntax if at_end && error.to_string().starts_with("invalid number") => CUT_OFF,
        Category::Data => "record of an unexpected shape",
        // The decoder has a limit, so that no file can exhaust the stack.
        Category::Syntax if error.to_string().starts_with("recursion limit") => "JSON nested too deeply",
        _ => "not JSON",
    }
}

/// A document that was cut off, closed after the last whole element of its outermost list that has one: what is kept is as it was
/// written, and nothing is kept by halves. `None` for a text that is not cut off, or holds no such element.
pub fn close(text: &str) -> Option<String> {
    // Brackets and quotes are looked at several times as fast as all of it.
    let document = text.trim_ascii().as_bytes();
    if passed(document, 0, document.len(), 0) == Some((document.len(), 0)) {
        return None;
    }
    if !serde_json::from_str::<IgnoredAny>(text).is_err_and(|error| error.is_eof() || is_within_last_number(text, &error)) {
        return None;
    }
    let bytes = text.as_bytes();
    // The closing brackets that are still to come, the outermost first.
    let mut awaited = Vec::new();
    let mut kept: Option<(usize, Vec<u8>)> = None;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(bytes, at),
            b'{' => awaited.push(b'}'),
            b'[' => awaited.push(b']'),
            b'}' | b']' => {
                awaited.pop();
                let outer_or_later = kept.as_ref().is_none_or(|(_, brackets)| awaited.len() <= brackets.len());
                if awaited.last() == Some(&b']') && outer_or_later {
                    kept = Some((at, awaited.clone()));
                }
            }
            _ => {}
        }
    }
    let (end, brackets) = kept?;
    let closing = brackets.iter().rev().map(|bracket| char::from(*bracket));
    Some(text.get(..end)?.chars().chain(closing).collect())
}

/// Does a text end in the beginning of a number (`0.`, `-`), with nothing wrong before it?
fn is_within_last_number(text: &str, error: &serde_json::Error) -> bool {
    let last_line = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    text.ends_with(['-', '+', '.', 'e', 'E']) && error.line() == last_line && error.to_string().starts_with("invalid number")
}

/// Where a string ends that was opened just before this place, its closing quote included; the end of the text where it is not closed.
fn string_end(bytes: &[u8], at: usize) -> usize {
    closing_quote(bytes, at).map_or(bytes.len(), |quote| quote + 1)
}

/// Where the quote stands that closes a string of which this place is a part; `None` where it is not closed.
pub fn closing_quote(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        at += found + 1;
        // Escapes are many and quotes within strings are few. An even number of backslashes before a quote are escapes of each other.
        let before = bytes.get(..at - 1).unwrap_or_default();
        if before.last() != Some(&b'\\') || before.iter().rev().take_while(|byte| **byte == b'\\').count().is_multiple_of(2) {
            return Some(at - 1);
        }
    }
    None
}

/// Where the quote stands that opens the string in which a text ends, if that is the beginning of an object or a list.
pub fn unclosed_string(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (bytes.iter().position(|byte| matches!(byte, b'{' | b'['))?, 0_usize);
    if !matches!(bytes.get(..at)?.trim_ascii(), b"" | b"\xef\xbb\xbf") {
        return None;
    }
    loop {
        match bytes.get(at)? {
            b'"' => match closing_quote(bytes, at + 1) {
                Some(quote) => at = quote,
                None => return Some(at),
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return None;
        }
    }
}

/// A line with 0 in the place of what stands under a key (`"key":`, as the finder has it) that is not wanted and long: it is passed over by its brackets
/// and quotes alone, several times as fast as by the decoder. The line as it is where no object down to the `deepest` has this key first, and
/// where something stands outside of strings that no JSON has.
pub fn without<'l>(line: &'l str, key: &Finder<'_>, deepest: usize, held: &'l mut String) -> &'l str {
    let parts = || {
        let bytes = line.as_bytes();
        let at = key.find(bytes)?;
        let from = at + key.needle().len();
        let (end, open) = passed(bytes, from, bytes.len(), 0)?;
        // What stands behind the value is short: where it ends one object, nothing before needs a look.
        let is_last = || bytes.get(..at).is_some_and(|before| before.ends_with(b",")) && ends_one_object(bytes, end);
        if !is_last() {
            place_of(bytes, key).filter(|(_, depth)| *depth <= deepest)?;
        }
        (open == 0 && end > from + 1).then_some([line.get(..from)?, "0", line.get(end..)?])
    };
    let Some(parts) = parts() else { return line };
    held.clear();
    parts.into_iter().for_each(|part| held.push_str(part));
    held
}

/// Has a line's object this field (`"key":"value"`, as the finder has it) among its first ones?
pub fn says(line: &str, field: &Finder<'_>) -> bool {
    let bytes = line.as_bytes();
    place_of(bytes.get(..2048).unwrap_or(bytes), field).is_some_and(|(_, depth)| depth == 1)
}

/// Where the first key like this stands, and in how many brackets, if it stands in no string.
fn place_of(bytes: &[u8], key: &Finder<'_>) -> Option<(usize, usize)> {
    let at = key.find(bytes)?;
    passed(bytes, 0, at, 0).filter(|(end, depth)| *end == at && *depth > 0)
}

/// Is the rest of a line, from here on, the end of one object?
fn ends_one_object(bytes: &[u8], from: usize) -> bool {
    let end = passed(bytes, from, bytes.len(), 1).filter(|(_, depth)| *depth == 0);
    end.and_then(|(end, _)| bytes.get(end..)).is_some_and(|rest| rest.trim_ascii().is_empty())
}

/// Where the value ends that begins at `from`, or what is left of one in so many brackets, or else `until`, and how many brackets are open there; `None`
/// where something stands outside of strings that no JSON has.
fn passed(bytes: &[u8], from: usize, until: usize, mut depth: usize) -> Option<(usize, usize)> {
    let mut at = from;
    while at < until {
        at = match bytes.get(at)? {
            b'"' => string_end(bytes, at + 1),
            byte => {
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.checked_sub(1)?,
                    b'0'..=b'9' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' | b'-' | b'+' | b'.' | b'E' => {}
                    b'a' | b'e' | b'f' | b'l' | b'n' | b'r' | b's' | b't' | b'u' => {}
                    _ => return None,
                }
                at + 1
            }
        };
        if depth == 0 {
            break;
        }
    }
    Some((at, depth))
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
            _ if in_string => (memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()).unwrap_or(bytes.len() - at), None),
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
    serde_json::from_str::<String>(raw).unwrap_or_else(|_| compact(raw).into_owned())
}

/// What a JSON value says when it is a string; empty where it is something else.
pub fn string(raw: Option<&RawValue>) -> String {
    raw.and_then(|raw| serde_json::from_str::<Words>(raw.get()).ok()).map_or_else(String::new, |words| words.0.into_owned())
}

/// What a JSON string says that the decoder has passed over already, so that its form is known to be right; `None` for any other value. The decoder itself
/// would gather the words in a buffer that grows, and copy them out of it.
pub fn said(raw: &str) -> Option<Cow<'_, str>> {
    let mut rest = raw.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', rest.as_bytes()).is_none() {
        return Some(Cow::Borrowed(rest));
    }
    let mut text = String::with_capacity(rest.len());
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        text.push_str(rest.get(..at)?);
        let (letter, length) = match rest.as_bytes().get(at + 1)? {
            b'n' => ('\n', 2),
            b'"' => ('"', 2),
            b'\\' => ('\\', 2),
            b't' => ('\t', 2),
            b'r' => ('\r', 2),
            b'/' => ('/', 2),
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{c}', 2),
            _ => unicode(rest.get(at..)?)?,
        };
        text.push(letter);
        rest = rest.get(at + length..)?;
    }
    text.push_str(rest);
    Some(Cow::Owned(text))
}

/// The letter beyond ASCII that a `\u` escape (or a pair of them) at the start of this text stands for, and the escape's length. Controls are left escaped.
fn escape(text: &str) -> Option<(char, usize)> {
    unicode(text).filter(|(letter, _)| *letter >= '\u{a0}')
}

/// The unit of UTF-16 that a `\u` escape at this place of a text stands for; `None` where there is no such escape.
pub(super) fn unit(text: &str, at: usize) -> Option<u16> {
    u16::from_str_radix(text.get(at..)?.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// The letter that a `\u` escape (or a pair of them) at the start of this text stands for, and the escape's length.
fn unicode(text: &str) -> Option<(char, usize)> {
    let first = unit(text, 0)?;
    let pair = [first, unit(text, 6).unwrap_or(0)];
    let units = if (0xd800..0xdc00).contains(&first) { 2 } else { 1 };
    let letter = char::decode_utf16(pair).next()?.ok()?;
    Some((letter, units * 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_field_of_the_outermost_object_is_passed_over() {
        let key = Finder::new("\"shown\":");
        let mut held = String::new();
        let cut = [
            (r#"{"a":1,"shown":{"b":["}\"",{}]},"c":2}"#, r#"{"a":1,"shown":0,"c":2}"#),
            (r#"{"a":["}\""],"shown":{"b":"{"},"c":[{}]} "#, r#"{"a":["}\""],"shown":0,"c":[{}]} "#),
            (r#"{"shown":"a\\","c":"\"shown\":"} {"shown":[1]}"#, r#"{"shown":0,"c":"\"shown\":"} {"shown":[1]}"#),
        ];
        for (line, without_it) in cut {
            assert_eq!(without(line, &key, 1, &mut held), without_it);
        }
        let whole = [
            r#"{"a":{"shown":[1]}}"#,
            r#"{"a":{"b":1,"shown":[1]}}"#,
            r#"{"a":"\"shown\":[1]"}"#,
            r#"{"shown":7}"#,
            r#"{"shown":{"b":1}"#.trim_end_matches('}'),
            r#"{"a":"cut{"shown":{"b":1}}"#,
            r#"{"shown":{"b":"cut{"c":"d"}}"#,
            r#"{} {"shown":[1]}"#,
        ];
        for line in whole {
            assert_eq!(without(line, &key, 1, &mut held), line);
        }
        assert_eq!(without(r#"{"a":[{"shown":[1]}]}"#, &key, 3, &mut held), r#"{"a":[{"shown":0}]}"#);
        let field = Finder::new("\"a\":\"b\"");
        assert!(says(r#"{"c":{},"a":"b"}"#, &field) && !says(r#"{"c":{"a":"b"}}"#, &field) && !says(r#"{"c":"\"a\":\"b\""}"#, &field));
    }
}
