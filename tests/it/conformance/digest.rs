//! Long texts of vectors are given by their SHA-256: a text against its digest.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Is this the text that the vector describes? `Err` says in what they differ.
pub fn same(text: &str, expected: &Value) -> Result<(), String> {
    same_bytes(text.as_bytes(), expected)
}

/// As [`same`], for outputs that are not always text.
pub fn same_bytes(bytes: &[u8], expected: &Value) -> Result<(), String> {
    if let Some(text) = expected["text"].as_str() {
        let got = String::from_utf8_lossy(bytes);
        return if got == text { Ok(()) } else { Err(format!("{got:?} instead of {text:?}")) };
    }
    let (got, wanted) = (format!("{:x}", Sha256::digest(bytes)), expected["sha256"].as_str().unwrap_or("no digest"));
    if got == wanted {
        return Ok(());
    }
    let text = String::from_utf8_lossy(bytes);
    let tail: String = text.chars().skip(text.chars().count().saturating_sub(60)).collect();
    Err(format!("{} bytes ending in {tail:?} instead of {} bytes ending in {:?}", bytes.len(), expected["bytes"], expected["tail"]))
}
