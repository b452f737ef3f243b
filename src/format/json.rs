//! JSON values of a line. Some agents glue two objects together without a newline; both are found.

use serde::de::Deserialize;

/// Decodes each JSON value of a line in turn. The error of a value that cannot be decoded is the last thing handed out:
/// where a value ends is not known once it is broken.
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
