//! For programs: the report's record, under its schema.

use super::RenderError;
use super::escape::is_hazardous;
use crate::report::Report;
use std::fmt::Write;

/// The record as indented JSON, with a newline at its end.
pub fn json(report: &Report) -> Result<String, RenderError> {
    let mut plain = serde_json::to_string_pretty(&report.record)?;
    // Most reports are plain letters from end to end.
    if plain.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)) {
        plain.push('\n');
        return Ok(plain);
    }
    let mut out = String::with_capacity(plain.len() + 1);
    let mut units = [0; 2];
    for letter in plain.chars() {
        // The only control characters outside of strings are newlines; inside, such characters are written as JSON's own escapes.
        if letter == '\n' || !is_hazardous(letter) {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut units) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out.push('\n');
    Ok(out)
}
