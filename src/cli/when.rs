//! Dates as they are typed, and the clock that relative ones are counted back from.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp, ToSpan};
use std::sync::LazyLock;

/// The one clock of the program, read once: libraries ask none, and what follows from it is printed.
static NOW: LazyLock<Timestamp> = LazyLock::new(|| {
    let now = Timestamp::now();
    // Nothing is asked to a fraction of a second.
    Timestamp::from_second(now.as_second()).unwrap_or(now)
});

/// When this run began, to the second.
pub fn now() -> Timestamp {
    *NOW
}

/// A date as it is typed. Days are those of UTC, by which logs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// So long ago: `30d`, `12h`, `2w`.
    Ago(SignedDuration),
    /// A day: `2026-10-01`.
    Day(Date),
    /// A month, by its first day: `2026-10`.
    Month(Date),
    /// An instant: `2026-10-01T12:00Z`.
    At(Timestamp),
}

const FORM: &str = "a date is written 2026-10-01, 2026-10 (the month) or 2026-10-01T12:00Z, or counted back from now in hours, days or weeks: 12h, 30d, 2w";

impl When {
    /// Parses one of the four.
    pub fn parse(text: &str) -> Result<When, String> {
        let instant = |time: DateTime| time.to_zoned(TimeZone::UTC).map(|zoned| When::At(zoned.timestamp()));
        ago(text)
            .or_else(|| text.parse().map(When::At).ok())
            .or_else(|| text.parse().ok().filter(|_| text.len() == "2026-10-01".len()).map(When::Day))
            .or_else(|| format!("{text}-01").parse().ok().filter(|_| text.len() == "2026-10".len()).map(When::Month))
            .or_else(|| instant(text.parse().ok()?).ok())
            .ok_or_else(|| FORM.to_owned())
    }

    /// Is it counted back from the clock?
    pub fn is_relative(self) -> bool {
        matches!(self, When::Ago(_))
    }

    /// The first instant that belongs to it, in milliseconds since 1970.
    pub fn begins(self) -> i64 {
        self.instant(|day, _| Ok(day))
    }

    /// The instant behind it, in milliseconds since 1970: a day ends with its last hour, a month with its last day.
    pub fn ends(self) -> i64 {
        self.instant(|day, length| day.checked_add(length))
    }

    fn instant(self, of_day: impl Fn(Date, Span) -> Result<Date, jiff::Error>) -> i64 {
        let of_day =
            |day, length| of_day(day, length).and_then(|day| day.to_zoned(TimeZone::UTC)).map_or(Timestamp::MAX, |zoned| zoned.timestamp());
        let time = match self {
            When::Ago(ago) => now().checked_sub(ago).unwrap_or(Timestamp::MIN),
            When::Day(day) => of_day(day, 1.day()),
            When::Month(first) => of_day(first, 1.month()),
            When::At(time) => time,
        };
        time.as_millisecond()
    }

    /// As it would be typed again at any later time.
    pub fn word(self) -> String {
        match self {
            When::Day(day) => day.to_string(),
            When::Month(first) => first.strftime("%Y-%m").to_string(),
            _ => Timestamp::from_millisecond(self.begins()).map(|time| time.to_string()).unwrap_or_default(),
        }
    }
}

fn ago(text: &str) -> Option<When> {
    let unit = text.chars().next_back()?;
    let hours = match unit {
        'h' => 1,
        'd' => 24,
        'w' => 7 * 24,
        _ => return None,
    };
    let count: u32 = text.strip_suffix(unit)?.parse().ok()?;
    Some(When::Ago(SignedDuration::from_hours(hours * i64::from(count))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_as_they_are_typed() {
        let day = |text: &str| When::parse(text).map(|when| (when.begins(), when.ends()));
        assert_eq!(day("1970-01-02"), Ok((86_400_000, 172_800_000)));
        assert_eq!(day("1970-02"), Ok((31 * 86_400_000, 59 * 86_400_000)));
        assert_eq!(When::parse("2026-02").map(When::word), Ok("2026-02".to_owned()));
        assert_eq!(day("1970-01-01T00:00:01Z"), Ok((1_000, 1_000)));
        assert_eq!(day("1970-01-01T00:01"), Ok((60_000, 60_000)));
        assert_eq!(day("1970-01-01T01:00+01:00"), Ok((0, 0)));
        let hour = 3_600_000;
        for (text, hours) in [("12h", 12), ("30d", 30 * 24), ("2w", 14 * 24)] {
            assert_eq!(When::parse(text).map(When::begins), Ok(now().as_millisecond() - hours * hour), "{text}");
        }
        for wrong in ["", "d", "-3d", "3m", "yesterday", "2026-13-01", "2026-13", "2026-1", "20261001x", "3.5d"] {
            assert!(When::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(When::parse("2026-10-01").map(When::word), Ok("2026-10-01".to_owned()));
    }
}
