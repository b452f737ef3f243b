//! How long a text is.

use serde::{Deserialize, Serialize};

/// The length of a text in each unit that some agent counts in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Length {
    /// Bytes of the text in UTF-8.
    pub bytes: u32,
    /// UTF-16 code units (JavaScript's `length`).
    pub utf16: u32,
    /// Unicode code points (Python's `len`, Go's runes).
    pub chars: u32,
    /// Newline characters; a text without one has 0.
    pub newlines: u32,
}

/// Sizes from the start of a text up to a place in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Lengths up to here.
    pub length: Length,
    /// Tokens up to here.
    pub tokens: u32,
}
