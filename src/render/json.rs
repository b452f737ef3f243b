//! For programs: the report's record, under its schema.

use super::error::RenderError;
use super::escape::{OLD_COMMAND, is_hazardous};
use crate::report::{Envelope, Report};
use std::fmt::Write;

/// The record as indented JSON, with a newline at its end.
pub fn json(report: &Report) -> Result<String, RenderError> {
    let mut plain = serde_json::to_string_pretty(&Envelope::of(report))?;
    plain.push('\n');
    Ok(harmless_json(plain))
}

/// A JSON document with the same values, in which a terminal or a build server finds nothing to obey, and nothing hides.
pub fn harmless_json(plain: String) -> String {
    let has_command = plain.contains(OLD_COMMAND);
    // Most reports are plain letters from end to end.
    if !has_command && plain.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)) {
        return plain;
    }
    let mut out = String::with_capacity(plain.len() + 1);
    let mut units = [0; 2];
    for (at, letter) in plain.char_indices() {
        let is_command = has_command && plain.get(at..).is_some_and(|rest| rest.starts_with(OLD_COMMAND));
        // The only control characters outside of strings are newlines, and no `#` is; inside, such characters are written as JSON's own escapes.
        if letter == '\n' || !is_hazardous(letter) && !is_command {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut units) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}
