//! Times as logs write them.

/// Milliseconds since 1970 of an RFC 3339 time; `None` where it is not one. A time without a zone is taken for one of Greenwich: the
/// time between two of them is right even so.
pub fn millis(text: &str) -> Option<i64> {
    let zoned = || text.parse::<jiff::Timestamp>().ok();
    let local = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    zoned().or_else(|| Some(local()?.timestamp())).map(|time| time.as_millisecond())
}
