//! Which version of its system a policy mirrors, of which day, and how that was checked.

use crate::names::named;
use jiff::civil::Date;
use serde::{Deserialize, Deserializer, de};
use std::cmp::Ordering;

/// Version and day of what a policy mirrors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mirrored {
    /// The release; for documentation, and for the code of a day, the newest release of that day; else the commit. `None` where it has none.
    pub version: Option<String>,
    /// The oldest release that it is known to hold for, where that is another one.
    pub oldest: Option<String>,
    /// The day of that version, or of the documentation. `None` where it is not known.
    #[serde(deserialize_with = "day")]
    pub date: Option<Date>,
    /// Where that day is not known, the day on which the source was read. `None` where neither is.
    #[serde(deserialize_with = "day")]
    pub read: Option<Date>,
    /// What speaks for it, the strongest first; empty for a user's own.
    pub checked: Vec<Check>,
}

named! {
    /// How a policy was held against its system.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Check: name {
        /// Golden cases that the system's own code made.
        Vectors = "vectors",
        /// Compactions and prunings of recorded sessions.
        Recordings = "recordings",
        /// A case worked by hand, as a test.
        Example = "example",
        /// The system's code was read.
        Code = "code",
        /// The system's documentation was read.
        Documentation = "documentation",
    }
}

impl Mirrored {
    /// Days from the version, or from the reading of it, to this day. `None` where the policy knows no day, or one that is yet to come.
    pub fn age_days(&self, as_of: Date) -> Option<u64> {
        let from = self.date.or(self.read)?;
        u64::try_from(as_of.since(from).ok()?.get_days()).ok()
    }

    /// The day as people read it: `2026-08-22`, or `read 2026-08-22`; empty where none is known.
    pub fn day(&self) -> String {
        let read = || self.read.map(|day| format!("read {day}"));
        self.date.map(|day| day.to_string()).or_else(read).unwrap_or_default()
    }

    /// Is a release of the system newer than the one that is mirrored, which may stand for all of its patches (`1.14`)? Commits and words cannot
    /// be compared, and are not.
    pub fn is_older_than(&self, version: &str) -> bool {
        beside(version, self.version.as_deref()) == Some(Ordering::Greater)
    }

    /// The oldest release that is mirrored.
    pub fn first(&self) -> Option<&str> {
        self.oldest.as_deref().or(self.version.as_deref())
    }

    /// Is a release of the system older than all that are mirrored?
    pub fn begins_after(&self, version: &str) -> bool {
        beside(version, self.first()) == Some(Ordering::Less)
    }
}

/// A release beside one that is mirrored, to as many numbers as that one has. `None` where they cannot be compared.
fn beside(version: &str, mirrored: Option<&str>) -> Option<Ordering> {
    let (mirrored, version) = mirrored.and_then(release).zip(release(version))?;
    let shown = version.into_iter().chain(std::iter::repeat(0)).take(mirrored.len());
    Some(shown.cmp(mirrored))
}

/// The numbers of a release. What comes before a release (`0.142.0-alpha.3`) counts as that one. `None` for commits and words.
fn release(version: &str) -> Option<Vec<u64>> {
    let plain = version.trim_start_matches('v').split(['-', '+', ' ']).next()?;
    let numbers: Option<Vec<u64>> = plain.split('.').map(|number| number.parse().ok()).collect();
    numbers.filter(|numbers| numbers.len() > 1)
}

fn day<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Date>, D::Error> {
    let text = String::deserialize(from)?;
    let wrong = |_| de::Error::custom(format!("`{text}` is no day; it is written 2026-03-15"));
    Date::strptime("%Y-%m-%d", &text).map(Some).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    #[test]
    fn versions_compare_as_versions_and_days_are_counted() {
        let mirrored = |version: &str| Mirrored { version: Some(version.to_owned()), ..Mirrored::default() };
        let newer = |version: &str, log: &str| mirrored(version).is_older_than(log);
        assert!(newer("2.1.29", "2.1.100") && newer("1.18", "1.19.1") && newer("0.9.0", "v0.10 (build)"));
        assert!(!newer("2.1.29", "2.1.3") && !newer("1.18.0", "1.18") && !newer("1.18", "1.18.9") && !newer("0.142.0", "0.142.0-alpha.3"));
        assert!(!newer("18565d94", "9.9.9") && !newer("1.0.0", "") && !newer("1.0.0", "20260101") && !newer("1.0.0", "local"));
        assert!(!Mirrored::default().is_older_than("9.9"));
        let older = |oldest: Option<&str>, log: &str| Mirrored { oldest: oldest.map(str::to_owned), ..mirrored("2.1.1") }.begins_after(log);
        assert!(older(None, "2.0.76") && older(Some("2.0.76"), "1.0.95") && older(Some("2.0"), "1.9"));
        assert!(!older(Some("2.0.76"), "2.0.76") && !older(Some("2.0"), "2.0.1") && !older(Some("2.0"), "e1e78731"));
        let dated = decode::from_toml::<Mirrored>("date = \"2026-02-27\"").unwrap();
        let on = |day: &str| dated.age_days(day.parse().unwrap());
        assert_eq!([on("2026-02-27"), on("2026-03-01"), on("2027-02-27"), on("2026-02-26")], [Some(0), Some(2), Some(365), None]);
        let wrong = decode::from_toml::<Mirrored>("read = \"2026-02-30\"").unwrap_err();
        assert!(wrong.message.contains("`2026-02-30` is no day"), "{wrong}");
    }
}
