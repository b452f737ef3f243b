//! The time inside a session.

/// A clock that moves only when it is told to.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    /// Milliseconds since 1970.
    pub now: i64,
}

impl Clock {
    /// Moves on by so many milliseconds.
    pub fn wait(&mut self, millis: u64) {
        self.now += millis as i64;
    }

    /// The time as RFC 3339, in milliseconds.
    pub fn stamp(&self) -> String {
        let (days, millis) = (self.now.div_euclid(86_400_000), self.now.rem_euclid(86_400_000));
        let (year, month, day) = civil(days);
        let seconds = millis / 1000;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", millis % 1000)
    }
}

/// Year, month and day of a number of days since 1970 (Howard Hinnant's `civil_from_days`).
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}
