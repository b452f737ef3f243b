//! Numbers of policies for people.

use crate::units::grouped_digits;

/// A number with its thousands apart, and at most three decimals: `167,000`, `0.85`.
pub fn figure(number: f64) -> String {
    let rounded = (number * 1_000.0).round() / 1_000.0;
    let text = rounded.abs().to_string();
    let sign = if rounded < 0.0 { "-" } else { "" };
    match text.split_once('.') {
        Some((whole, fraction)) => format!("{sign}{}.{fraction}", grouped_digits(whole)),
        None => format!("{sign}{}", grouped_digits(&text)),
    }
}
