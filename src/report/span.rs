//! Times as people say them.

/// How long something lasted: `45 seconds`, `5.3 minutes`, `69 minutes`, `7.2 hours`, `3.1 days`.
pub fn span(millis: i64) -> String {
    let seconds = millis.max(0) / 1_000;
    let tenths = |unit: i64, name: &str| {
        let tenths = (seconds * 10 + unit / 2) / unit;
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    };
    match seconds {
        ..=1 => format!("{seconds} second{}", if seconds == 1 { "" } else { "s" }),
        2..=119 => format!("{seconds} seconds"),
        120..=599 => tenths(60, "minutes"),
        600..=7_199 => format!("{} minutes", (seconds + 30) / 60),
        7_200..=172_799 => tenths(3_600, "hours"),
        _ => tenths(86_400, "days"),
    }
}

/// A lifetime: `5 m`, `1 h`; seconds where it is no whole number of minutes.
pub fn lifetime(millis: i64) -> String {
    match millis / 1_000 {
        seconds if seconds > 0 && seconds % 3_600 == 0 => format!("{} h", seconds / 3_600),
        seconds if seconds > 0 && seconds % 60 == 0 => format!("{} m", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

/// The day of a moment, in UTC; empty where it is none that a calendar has.
pub fn day(millis: i64) -> String {
    moment(millis).split('T').next().unwrap_or_default().to_owned()
}

/// A moment as `2026-03-15T09:30:00Z`; empty where it is none that a calendar has.
pub fn moment(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis).map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default()
}
