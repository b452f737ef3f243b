//! Numbers of policies for people.

/// A number with its thousands apart, and at most three decimals: `167,000`, `0.85`.
pub fn figure(number: f64) -> String {
    let rounded = (number * 1_000.0).round() / 1_000.0;
    let text = rounded.abs().to_string();
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), ""), |(whole, fraction)| (whole, fraction));
    let mut out = String::new();
    if rounded < 0.0 {
        out.push('-');
    }
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}
