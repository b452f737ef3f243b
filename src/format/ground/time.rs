//! Times as logs write them.

use super::json::string;
use serde_json::value::RawValue;

/// Milliseconds since 1970 of an RFC 3339 time, or of one as headers of HTTP have it; `None` where it is neither. A time without a zone is taken for one of
/// Greenwich: the time between two of them is right even so.
pub fn millis(text: &str) -> Option<i64> {
    let zoned = || text.parse::<jiff::Timestamp>().ok();
    let local = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let header = || jiff::fmt::rfc2822::parse(text).ok();
    zoned().or_else(|| Some(local()?.timestamp())).or_else(|| Some(header()?.timestamp())).map(|time| time.as_millisecond())
}

/// Milliseconds of a time as a text, or as a number whose size tells its unit: seconds reach a hundred thousand million in the year 5138, milliseconds did in
/// 1973, and so on down to nanoseconds.
pub fn moment(raw: Option<&RawValue>) -> Option<i64> {
    let raw = raw?;
    let millis = match raw.get().parse::<f64>() {
        Ok(seconds) if seconds < 1e11 => seconds * 1e3,
        Ok(milliseconds) if milliseconds < 1e14 => milliseconds,
        Ok(microseconds) if microseconds < 1e17 => microseconds / 1e3,
        Ok(nanoseconds) => nanoseconds / 1e6,
        Err(_) => return millis(&string(Some(raw))),
    };
    // What is no time at all is written as 0.
    (millis > 0.0).then_some(millis as i64)
}
