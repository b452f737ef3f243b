//! Exact fractions, written as decimal numbers.

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;

/// A number greater than 0, such as 4 or 2.5, kept as the exact fraction that was written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    thousand_millionths: u64,
}

/// Digits behind the point.
const DIGITS: usize = 9;
const ONE: u64 = 1_000_000_000;

impl Ratio {
    /// A whole number; `None` for 0.
    pub fn whole(number: u32) -> Option<Ratio> {
        (number > 0).then_some(Ratio { thousand_millionths: u64::from(number) * ONE })
    }

    /// A decimal number with at most nine digits behind the point, greater than 0 and less than four thousand million.
    pub fn parse(text: &str) -> Option<Ratio> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > DIGITS {
            return None;
        }
        let whole = u64::from(whole.parse::<u32>().ok()?) * ONE;
        let fraction = format!("{fraction:0<DIGITS$}").parse::<u64>().ok()?;
        (whole + fraction > 0).then_some(Ratio { thousand_millionths: whole + fraction })
    }

    /// The dividend, over [`Ratio::denominator`].
    pub fn numerator(self) -> u128 {
        u128::from(self.thousand_millionths)
    }

    /// The divisor.
    pub fn denominator(self) -> u128 {
        u128::from(ONE)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = format!("{}.{:0DIGITS$}", self.thousand_millionths / ONE, self.thousand_millionths % ONE);
        f.write_str(number.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.thousand_millionths.is_multiple_of(ONE) {
            return serializer.serialize_u64(self.thousand_millionths / ONE);
        }
        // The shortest decimal of the nearest float is the number itself again, as long as it has fewer than 16 digits.
        serializer.serialize_f64(self.thousand_millionths as f64 / ONE as f64)
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Ratio, D::Error> {
        deserializer.deserialize_any(Number)
    }
}

struct Number;

impl Visitor<'_> for Number {
    type Value = Ratio;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number greater than 0 with at most nine digits behind the point")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Ratio, E> {
        Ratio::parse(&number.to_string()).ok_or_else(|| E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Ratio, E> {
        Ratio::parse(&number.to_string()).ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Ratio, E> {
        // The shortest decimal that reads as this float: what was written down.
        Ratio::parse(&number.to_string()).ok_or_else(|| E::invalid_value(de::Unexpected::Float(number), &self))
    }
}
