//! Lengths of texts, and how quotients of them are rounded.

use crate::transcript::{Length, Text};
use serde::{Deserialize, Serialize};

/// What a text's length is counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bytes in UTF-8, without JSON's escapes.
    Bytes,
    /// UTF-16 code units (JavaScript's `length`).
    Utf16,
    /// Unicode code points (Python's `len`).
    #[default]
    Chars,
    /// UTF-8 bytes of the text inside compact JSON.
    Json,
    /// UTF-16 code units of the text inside compact JSON.
    #[serde(rename = "json_utf16")]
    JsonUtf16,
    /// Unicode code points of the text inside compact JSON.
    #[serde(rename = "json_chars")]
    JsonChars,
    /// Tokens of the public vocabulary that the text was measured in.
    Tokens,
}

/// What becomes of the fraction of a token that a division leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rounding {
    /// The fraction is dropped.
    #[default]
    Floor,
    /// The fraction counts as a whole token.
    Ceil,
    /// A fraction of one half or more counts as a whole token.
    Round,
}

impl Rounding {
    /// `dividend / divisor`, rounded; the largest number there is where the divisor is 0.
    pub fn divide(self, dividend: u128, divisor: u128) -> u64 {
        // Nearly all numbers are small, and small ones are divided much faster.
        if let (Ok(small), Ok(by)) = (u32::try_from(dividend), u32::try_from(divisor)) {
            let more = match self {
                Rounding::Floor => 0,
                Rounding::Ceil => by.saturating_sub(1),
                Rounding::Round => by / 2,
            };
            return (u64::from(small) + u64::from(more)).checked_div(u64::from(by)).unwrap_or(u64::MAX);
        }
        let quotient = match self {
            Rounding::Floor => dividend.checked_div(divisor),
            Rounding::Ceil => dividend.checked_add(divisor.saturating_sub(1)).and_then(|sum| sum.checked_div(divisor)),
            Rounding::Round => dividend.checked_add(divisor / 2).and_then(|sum| sum.checked_div(divisor)),
        };
        quotient.and_then(|quotient| u64::try_from(quotient).ok()).unwrap_or(u64::MAX)
    }
}

impl Length {
    /// The lengths of a text; a unit of which it has more than four thousand million is given as that.
    pub fn of(text: &str) -> Length {
        let bytes = text.as_bytes();
        let newlines = tally(bytes, |byte| byte == b'\n');
        if text.is_ascii() {
            let all = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            return Length { bytes: all, utf16: all, chars: all, newlines };
        }
        // A code point has one byte that continues no other; those of four bytes are two UTF-16 units.
        let chars = tally(bytes, |byte| byte as i8 >= -0x40);
        Length {
            bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            utf16: chars.saturating_add(tally(bytes, |byte| byte >= 0xf0)),
            chars,
            newlines,
        }
    }
}

impl Text {
    /// Units of the text that belong to characters outside ASCII.
    pub fn beyond_ascii(&self, unit: Unit) -> u32 {
        let ascii = self.length.chars.saturating_sub(self.non_ascii);
        match unit {
            Unit::Bytes | Unit::Json => self.length.bytes.saturating_sub(ascii),
            Unit::Utf16 | Unit::JsonUtf16 => self.length.utf16.saturating_sub(ascii),
            Unit::Chars | Unit::JsonChars => self.non_ascii,
            // A vocabulary's tokens belong to no character alone.
            Unit::Tokens => 0,
        }
    }

    /// Length of the text in one unit.
    pub fn in_unit(&self, unit: Unit) -> u32 {
        match unit {
            Unit::Bytes => self.length.bytes,
            Unit::Utf16 => self.length.utf16,
            Unit::Chars => self.length.chars,
            Unit::Json => self.json_bytes,
            // What JSON escapes is ASCII, and one unit for one byte.
            Unit::JsonUtf16 => self.json_bytes.saturating_sub(self.length.bytes).saturating_add(self.length.utf16),
            Unit::JsonChars => self.json_bytes.saturating_sub(self.length.bytes).saturating_add(self.length.chars),
            Unit::Tokens => self.tokens,
        }
    }
}

/// So many bytes at a time can be counted in a byte, and are a whole number of steps of all widths in which processors compare bytes.
pub const BLOCK: usize = 192;

/// How many bytes satisfy a condition. Counting in bytes, a block at a time, lets the compiler test 16 and more at once.
#[inline]
pub fn tally(bytes: &[u8], condition: impl Fn(u8) -> bool) -> u32 {
    let count = |block: &[u8]| {
        let mut count = 0_u8;
        for &byte in block {
            count += u8::from(condition(byte));
        }
        u32::from(count)
    };
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    blocks.iter().fold(count(rest), |sum, block| sum.saturating_add(count(block)))
}
