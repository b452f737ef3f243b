//! Numbers and lists within sentences.

use crate::trace::Evidence;
use crate::units::signed;
pub use crate::units::{counted, counted_as, grouped};

/// With fewer cases, or fewer sessions, than this a sentence says on how many it rests, and draws no conclusion: so few would say something else the next time.
pub const FEWEST: u64 = 5;

/// A share in percent with one decimal: `12.5 %`; a dash where there is no whole.
pub fn percent(part: i64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let size = u128::from(part.unsigned_abs());
    let tenths = (size * 1000 + u128::from(whole) / 2) / u128::from(whole);
    let sign = if part < 0 && tenths > 0 { "-" } else { "" };
    format!("{sign}{}.{} %", tenths / 10, tenths % 10)
}

/// The same of two counts.
pub fn percent_of(part: u64, whole: u64) -> String {
    percent(signed(part), whole)
}

/// A sentence with a capital at its beginning.
pub fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The first few of a list, the others counted: `a, b and 3 more`.
pub fn first_few<T: AsRef<str>>(all: &[T], few: usize) -> String {
    let shown: Vec<&str> = all.iter().take(few).map(AsRef::as_ref).collect();
    match all.len().saturating_sub(few) {
        0 => shown.join(", "),
        rest => format!("{} and {} more", shown.join(", "), grouped(rest as u64)),
    }
}

/// Money as people read it: `$1,234.57`, below a hundred dollars with four decimals. Rounded to the nearest.
pub fn dollars(nano_usd: i64) -> String {
    let (size, sign) = (nano_usd.unsigned_abs(), if nano_usd < 0 { "-" } else { "" });
    let decimals = if size < 100_000_000_000 { 4 } else { 2 };
    let one = 10_u64.pow(decimals);
    let unit = 1_000_000_000 / one;
    let rounded = size / unit + u64::from(size % unit >= unit / 2);
    format!("{sign}${}.{:0width$}", grouped(rounded / one), rounded % one, width = decimals as usize)
}

/// Tokens in three digits: `9,999`, `62.3k`, `779M`.
pub fn three_digits(number: u64) -> String {
    const STEPS: [(u64, &str); 3] = [(1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k")];
    if number < 10_000 {
        return grouped(number);
    }
    // 999,500 is 1.00M and no 1000k.
    let fits = |(size, _): &&(u64, &str)| number.saturating_mul(1_000) >= size.saturating_mul(1_000) - size / 2;
    let (size, unit) = STEPS.iter().find(fits).copied().unwrap_or((1, ""));
    format!("{}{unit}", digits_of(number as f64 / size as f64))
}

/// Money in three digits: `$599`, `$25.1`, `$0.123`.
pub fn short_dollars(nano_usd: i64) -> String {
    let size = nano_usd.unsigned_abs() as f64 / 1e9;
    let sign = if nano_usd < 0 { "-" } else { "" };
    let told = if size >= 999.5 { grouped(size.round() as u64) } else { digits_of(size) };
    format!("{sign}${told}")
}

fn digits_of(size: f64) -> String {
    match size {
        size if size >= 99.95 => format!("{size:.0}"),
        size if size >= 9.995 => format!("{size:.1}"),
        size if size >= 0.9995 || size == 0.0 => format!("{size:.2}"),
        size => format!("{size:.3}"),
    }
}

/// Money as programs read it: dollars as a decimal number, exact, without zeros at its end.
pub fn decimal_dollars(nano_usd: i64) -> String {
    let (size, sign) = (nano_usd.unsigned_abs(), if nano_usd < 0 { "-" } else { "" });
    let text = format!("{sign}{}.{:09}", size / 1_000_000_000, size % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// What pieces of evidence are called.
pub fn evidence_name(evidence: Evidence) -> &'static str {
    if evidence == Evidence::Line { "lines" } else { "names" }
}
