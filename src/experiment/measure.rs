//! Measures as they are typed: a metric, by itself or per another one.

use super::charges::Charges;
use super::metric::{KnownFrom, Metric, Unit, judged_by};
use super::sweep::error::SweepError;
use crate::policy::suggestion;
use crate::sim::Totals;
use std::cmp::Ordering;

/// Other words for metrics, and what they stand for.
const ALSO: &[(&str, &str)] = &[
    ("saved", "tokens saved per recorded tokens"),
    ("hit rate", "cache reads per billed prompt tokens"),
    ("mean context", "prompt tokens per calls"),
    ("peak tokens", "peak context"),
];

/// Names that metrics had, which no list shows any more.
const FORMERLY: &[(&str, &str)] = &[
    ("unrecoverable", "failed sessions"),
    ("unrecoverable sessions", "failed sessions"),
    ("net unrecoverable", "net failed sessions"),
    ("squeezed", "reply cut"),
    ("premature", "early"),
];

/// A metric, by itself or per another one: `compactions per session`.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// What is counted.
    pub part: &'static Metric,
    /// What it is held against; `None` where it stands by itself.
    pub whole: Option<&'static Metric>,
}

/// A value of a measure: a quotient that is never worked out before it is shown. The whole is 1 where the measure has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The dividend.
    pub part: i64,
    /// The divisor.
    pub whole: u64,
}

impl Measure {
    /// Parses the name of a measure.
    pub fn parse(words: &str) -> Result<Measure, SweepError> {
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ").replace('_', " ").to_lowercase();
        let words = ALSO.iter().find(|(name, _)| *name == words).map_or(words.as_str(), |(_, meaning)| meaning);
        let find = |name: &str| {
            let name = FORMERLY.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
            let known = judged_by().iter().copied().find(|metric| metric.name == name || metric.name.strip_suffix('s') == Some(name));
            known.ok_or_else(|| {
                let names = || judged_by().iter().map(|metric| metric.name).chain(ALSO.iter().map(|(name, _)| *name));
                let all: Vec<&str> = names().collect();
                SweepError::Asked(format!("`{name}` is no metric{}; there are {}", suggestion(name, names()), all.join(", ")))
            })
        };
        match words.split_once(" per ") {
            None => Ok(Measure { part: find(words)?, whole: None }),
            Some((part, whole)) => Ok(Measure { part: find(part)?, whole: Some(find(whole)?) }),
        }
    }

    /// The measure as a share, for limits in percent; `None` where it is a share of nothing in particular.
    pub fn as_share(self) -> Option<Measure> {
        if self.whole.is_some() {
            return Some(self);
        }
        let whole = judged_by().iter().copied().find(|metric| metric.name == self.part.share_of)?;
        Some(Measure { whole: Some(whole), ..self })
    }

    /// Its name: `compactions per session`.
    pub fn name(&self) -> String {
        match self.whole {
            None => self.part.name.to_owned(),
            Some(whole) => format!("{} per {}", self.part.name, whole.name.strip_suffix('s').unwrap_or(whole.name)),
        }
    }

    /// Its value.
    pub fn of(&self, totals: &Totals, charges: &Charges) -> Value {
        Value { part: self.part.value(totals, charges), whole: self.whole.map_or(1, |whole| whole.value(totals, charges).unsigned_abs()) }
    }

    /// The metrics that it is made of.
    pub fn parts(&self) -> impl Iterator<Item = &'static Metric> {
        std::iter::once(self.part).chain(self.whole)
    }

    /// What it takes to know it.
    pub fn known_from(&self) -> KnownFrom {
        self.parts().map(|metric| metric.known_from).max().unwrap_or(KnownFrom::Replay)
    }

    /// Is it a number of events, or of calls of some kind, per call?
    pub fn is_rate(&self) -> bool {
        self.part.unit == Unit::Count && self.whole.is_some_and(|whole| whole.name == "calls")
    }

    /// Is it a share: tokens of tokens, calls of calls?
    pub fn is_share(&self) -> bool {
        let counts_of = |whole: &Metric| whole.unit == self.part.unit && whole.name != "sessions" && whole.name != "calls";
        self.whole.is_some_and(counts_of)
    }
}

impl Value {
    /// Compares two quotients exactly; those of nothing count as 0.
    pub fn compare(self, other: Value) -> Ordering {
        let part = |value: Value| if value.whole == 0 { 0 } else { i128::from(value.part) };
        let whole = |value: Value| i128::from(value.whole.max(1));
        (part(self) * whole(other)).cmp(&(part(other) * whole(self)))
    }
}
