//! Why a value of a log does not decode, with the name of the field at which it does not. What the field holds stays where it is.

use super::json::{closing_quote, fault};
use std::borrow::Cow;

/// A longer name is none that a reader looks for.
const LONGEST: usize = 40;

/// The reason of [`fault`], with the field where the text that did not decode has one there.
pub fn odd(error: &serde_json::Error, at_end: bool, text: &str) -> Cow<'static, str> {
    let reason = fault(error, at_end);
    match field(error, text).filter(|_| error.is_data()) {
        Some(field) => format!("{reason} (field `{field}`)").into(),
        None => reason.into(),
    }
}

/// The innermost field that holds the place of an error; `None` where that is in none, or its name is no plain one.
fn field<'t>(error: &serde_json::Error, text: &'t str) -> Option<&'t str> {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let bytes = text.as_bytes();
    let until = before + error.column();
    // The key at which each open object stands; `None` for lists, and before the first key.
    let mut open: Vec<Option<&str>> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at).filter(|_| at < until) {
        at += 1;
        match byte {
            b'{' | b'[' => open.push(None),
            b'}' | b']' => drop(open.pop()),
            b'"' => {
                let end = closing_quote(bytes, at)?;
                let is_key = text.get(end + 1..)?.trim_ascii_start().starts_with(':');
                if let Some(key) = open.last_mut().filter(|_| is_key) {
                    *key = text.get(at..end);
                }
                at = end + 1;
            }
            _ => {}
        }
    }
    let is_plain = |name: &&str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        (1..=LONGEST).contains(&name.len()) && name.bytes().all(plain)
    };
    open.into_iter().rev().flatten().next().filter(is_plain)
}

#[cfg(test)]
mod tests {
    use super::odd;
    use crate::format::ground::Count;

    wire! {
        struct Outer { usage: Option<Inner>, name: String, list: Vec<String> }
        struct Inner { tokens: Option<u64>, count: Count }
    }

    #[test]
    fn a_reason_names_the_field_and_nothing_that_it_holds() {
        let reason = |text: &str| serde_json::from_str::<Outer>(text).err().map(|error| odd(&error, false, text).into_owned());
        let at = |field: &str| Some(format!("record of an unexpected shape (field `{field}`)"));
        assert_eq!(reason(r#"{"name":"a","usage":{"tokens":"secret","count":1}}"#), at("tokens"));
        assert_eq!(reason("{\n \"usage\": null,\n \"name\": [\"secret\"]}"), at("name"));
        assert_eq!(reason(r#"{"list":["a",{"secret":1}],"name":"b"}"#), at("list"));
        assert_eq!(reason(r#"{"name":{"a key that is content":1}}"#), at("name"));
        assert_eq!(reason("7"), Some("record of an unexpected shape".to_owned()));
        assert_eq!(reason(r#"{"name":"a","#), Some("not JSON".to_owned()));
        assert_eq!(reason(r#"{"name":"a"}"#), None);
    }
}
