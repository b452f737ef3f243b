//! Times as logs write them.

/// Milliseconds since 1970 of an RFC 3339 time; `None` where it is not one.
pub fn millis(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(|time| time.as_millisecond())
}
