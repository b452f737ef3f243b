//! What settings are judged by, in words that users think in: one table, a row a metric.

use super::SweepError;
use super::charges::Charges;
use crate::policy::suggestion;
use crate::sim::{EventKind, Totals};
use crate::trace::Evidence;
use std::cmp::Ordering;

/// A figure over all sessions.
#[derive(Debug)]
pub struct Metric {
    /// Its name, as it is typed.
    pub name: &'static str,
    /// Its value.
    pub of: fn(&Totals, &Charges) -> i64,
    /// What it takes to know it.
    pub known_from: KnownFrom,
    /// How the values of sessions come together.
    pub over_sessions: OverSessions,
    /// What it counts.
    pub unit: MetricUnit,
}

/// How the values of sessions come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverSessions {
    /// They add up, so that sessions can be resampled.
    Sum,
    /// The largest one counts.
    Largest,
}

/// What it takes to know a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KnownFrom {
    /// The sums of a replay.
    Replay,
    /// The bill of its calls.
    Bill,
    /// The bill of a replay in which the agent reads again what it misses.
    ClosedLoop,
}

/// What a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricUnit {
    /// Calls, events, sessions.
    Count,
    /// Tokens.
    Tokens,
    /// Thousand-millionths of a dollar.
    Money,
}

const fn sum(name: &'static str, unit: MetricUnit, of: fn(&Totals, &Charges) -> i64) -> Metric {
    Metric { name, of, known_from: KnownFrom::Replay, over_sessions: OverSessions::Sum, unit }
}

const fn billed(name: &'static str, unit: MetricUnit, of: fn(&Totals, &Charges) -> i64) -> Metric {
    Metric { known_from: KnownFrom::Bill, ..sum(name, unit, of) }
}

use MetricUnit::{Count, Money, Tokens};

/// All metrics.
pub const METRICS: &[Metric] = &[
    sum("tokens", Tokens, |totals, _| signed(totals.prompt_tokens + totals.summariser_tokens)),
    sum("prompt tokens", Tokens, |totals, _| signed(totals.prompt_tokens)),
    sum("summariser tokens", Tokens, |totals, _| signed(totals.summariser_tokens)),
    sum("tokens saved", Tokens, |totals, _| totals.tokens_saved()),
    sum("overflows", Count, |totals, _| signed(totals.overflows)),
    sum("reply cut", Count, |totals, _| signed(totals.reply_cut)),
    sum("over budget", Count, |totals, _| signed(totals.over_budget)),
    sum("missed", Count, |totals, _| signed(totals.missed)),
    sum("early", Count, |totals, _| signed(totals.early)),
    sum("refused tries", Count, |totals, _| signed(totals.refused)),
    sum("prunes", Count, |totals, _| signed(totals.events_of(EventKind::Prune))),
    sum("compactions", Count, |totals, _| signed(totals.events_of(EventKind::Compact) + totals.events_of(EventKind::Reset))),
    sum("drops", Count, |totals, _| signed(totals.events_of(EventKind::Drop))),
    sum("truncations", Count, |totals, _| signed(totals.events_of(EventKind::Truncate))),
    sum("failed sessions", Count, |totals, _| signed(totals.failed_sessions)),
    sum("broken references", Count, |totals, _| signed(totals.retention.of(Evidence::Line).broken())),
    sum("references", Count, |totals, _| signed(totals.retention.of(Evidence::Line).all())),
    sum("calls", Count, |totals, _| signed(totals.calls)),
    sum("sessions", Count, |totals, _| signed(totals.sessions)),
    sum("recorded tokens", Tokens, |totals, _| signed(totals.recorded_tokens)),
    sum("baseline tokens", Tokens, |totals, _| signed(totals.baseline_tokens)),
    billed("cost", Money, |_, charges| signed(charges.nano_usd)),
    Metric { known_from: KnownFrom::ClosedLoop, ..billed("net cost", Money, |_, charges| signed(charges.net_nano_usd)) },
    Metric { known_from: KnownFrom::ClosedLoop, ..sum("net failed sessions", Count, |_, charges| signed(charges.net_failed_sessions)) },
    billed("cache reads", Tokens, |_, charges| signed(charges.cache_read)),
    billed("billed prompt tokens", Tokens, |_, charges| signed(charges.prompt_tokens)),
    Metric { over_sessions: OverSessions::Largest, ..sum("peak context", Tokens, |totals, _| signed(totals.peak_tokens)) },
];

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

/// What a metric is a share of where a limit is given in percent.
const SHARES: &[(&str, &str)] = &[
    ("broken references", "references"),
    ("tokens saved", "recorded tokens"),
    ("overflows", "calls"),
    ("reply cut", "calls"),
    ("over budget", "calls"),
    ("cache reads", "billed prompt tokens"),
];

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

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
            let known = METRICS.iter().find(|metric| metric.name == name || metric.name.strip_suffix('s') == Some(name));
            known.ok_or_else(|| {
                let names = || METRICS.iter().map(|metric| metric.name).chain(ALSO.iter().map(|(name, _)| *name));
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
        let (_, whole) = SHARES.iter().find(|(name, _)| *name == self.part.name)?;
        Some(Measure { whole: METRICS.iter().find(|metric| metric.name == *whole), ..self })
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
        Value { part: (self.part.of)(totals, charges), whole: self.whole.map_or(1, |whole| (whole.of)(totals, charges).unsigned_abs()) }
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
        self.part.unit == Count && self.whole.is_some_and(|whole| whole.name == "calls")
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
