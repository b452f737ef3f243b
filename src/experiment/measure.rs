//! Measures as they are typed: a metric, by itself or per another one.

use super::charges::Charges;
use super::error::SweepError;
use super::metric::{Better, KnownFrom, Metric, Unit, judged_by, metric_of};
use crate::policy::suggestion;
use crate::sim::Totals;
use std::cmp::Ordering;

/// Quotients with a name of their own: the name, the part, the whole.
const QUOTIENTS: &[(&str, &str, &str)] = &[
    ("tokens_saved_share", "tokens_saved", "recorded_tokens"),
    ("cache_hit_rate", "cache_read_tokens", "billed_prompt_tokens"),
    ("mean_tokens", "prompt_tokens", "calls"),
    ("references_kept_share", "kept_lines", "line_references"),
];

/// Names that measures had, which no list shows any more, and headings that are no measure's own.
const FORMERLY: &[(&str, &str)] = &[
    ("saved", "tokens_saved_share"),
    ("hit_rate", "cache_hit_rate"),
    ("mean_context", "mean_tokens"),
    ("peak_context", "peak_tokens"),
    ("unrecoverable", "failed_sessions"),
    ("unrecoverable_sessions", "failed_sessions"),
    ("net_unrecoverable", "net_failed_sessions"),
    ("squeezed", "reply_cut"),
    ("premature", "early"),
    ("broken_references", "lost_lines"),
    ("references", "line_references"),
    ("refused_tries", "refused"),
    ("cache_reads", "cache_read_tokens"),
    ("cache_hits", "cache_hit_rate"),
    ("reused_text_lost", "lost_lines"),
];

/// A metric, by itself or per another one: `compactions per session`.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The metric, or the upper one of a quotient.
    pub part: &'static Metric,
    /// The lower metric of a quotient; `None` where there is none.
    pub whole: Option<&'static Metric>,
}

/// A value of a measure: a quotient that is never worked out before it is shown. The whole is 1 where the measure has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The upper number; money in thousand-millionths of a dollar.
    pub part: i64,
    /// The lower number: 1 for a sum, 0 for a share of nothing.
    pub whole: u64,
}

impl Measure {
    /// Parses the name of a measure, or two of them with `per` between. Blanks and hyphens stand for underscores.
    pub fn parse(words: &str) -> Result<Measure, SweepError> {
        let name = joined(words);
        let find = |name: &str| {
            let name = today(name);
            let known = judged_by().iter().copied().find(|metric| metric.key == name || metric.key.strip_suffix('s') == Some(name));
            known.ok_or_else(|| {
                let names: Vec<&str> = names().collect();
                SweepError::Asked(format!(
                    "`{name}` is no measure{}; there are {}",
                    suggestion(name, names.iter().copied()),
                    names.join(", ")
                ))
            })
        };
        let quotient = QUOTIENTS.iter().find(|(known, ..)| *known == today(&name)).map(|(_, part, whole)| (*part, *whole));
        match name.split_once("_per_").or(quotient) {
            Some((part, whole)) => Ok(Measure { part: find(part)?, whole: Some(find(whole)?) }),
            None => Ok(Measure { part: find(&name)?, whole: None }),
        }
    }

    /// What to type for a measure at the beginning of a text (`hit rate -1pp`) that is named there as it was before; `None` where it is named as
    /// it is today.
    pub fn renamed(text: &str) -> Option<(String, String)> {
        let words: Vec<&str> = text.split_whitespace().take_while(|word| !word.starts_with(SIGNS)).collect();
        let typed = words.join(" ");
        let typed = typed.split(SIGNS_IN_WORDS).next().unwrap_or_default();
        let today = Measure::parse(typed).ok()?.name();
        (today != typed && !typed.contains(" per ")).then(|| (typed.to_owned(), today))
    }

    /// The measure as a share, for limits in percent; `None` where it is a share of nothing in particular.
    pub fn as_share(self) -> Option<Measure> {
        if self.whole.is_some() {
            return Some(self);
        }
        let whole = judged_by().iter().copied().find(|metric| metric.key == self.part.share_of)?;
        Some(Measure { whole: Some(whole), ..self })
    }

    /// The name as it is typed: `lost_lines`, `cache_hit_rate`, `compactions per session`.
    pub fn name(&self) -> String {
        let Some(whole) = self.whole else { return self.part.key.to_owned() };
        let own = QUOTIENTS.iter().find(|(_, part, of)| *part == self.part.key && *of == whole.key);
        own.map_or_else(
            || format!("{} per {}", self.part.key, whole.key.strip_suffix('s').unwrap_or(whole.key)),
            |(name, ..)| (*name).to_owned(),
        )
    }

    /// The name within a sentence: `lost line references`, for these are counted, and a reference may be to several lines.
    pub fn words(&self) -> String {
        self.name().replace("_lines", "_line_references").replace('_', " ")
    }

    /// The measure's value over the sessions of these sums.
    pub fn of(&self, totals: &Totals, charges: &Charges) -> Value {
        Value { part: self.part.value(totals, charges), whole: self.whole.map_or(1, |whole| whole.value(totals, charges).unsigned_abs()) }
    }

    /// One metric, or the two of a quotient.
    pub fn parts(&self) -> impl Iterator<Item = &'static Metric> {
        std::iter::once(self.part).chain(self.whole)
    }

    /// Does it count failures? Then sessions that fail are compared as well.
    pub fn counts_failures(&self) -> bool {
        self.part.of_failures
    }

    /// The metric of the sessions that fail, in the loop that it speaks of.
    pub fn failures(&self) -> &'static str {
        if self.known_from() == KnownFrom::ClosedLoop { "net_failed_sessions" } else { "failed_sessions" }
    }

    /// Is it the sum of prompt tokens, in which the requests of summarisers are not?
    pub fn leaves_out_summarisers(&self) -> bool {
        self.part.key == "prompt_tokens" && self.whole.is_none()
    }

    /// Does it count events: overflows, what a policy does, lost references? Chance brings others.
    pub fn counts_events(&self) -> bool {
        const EVENTS: [&str; 10] = [
            "early",
            "truncations",
            "prunes",
            "compactions",
            "drops",
            "summariser_calls",
            "lost_lines",
            "identifier_references_broken",
            "broken_calls",
            "refetches",
        ];
        self.part.unit == Unit::Count && (self.part.better == Better::Less || EVENTS.contains(&self.part.key))
    }

    /// What it takes to know it.
    pub fn known_from(&self) -> KnownFrom {
        self.parts().map(|metric| metric.known_from).max().unwrap_or(KnownFrom::Replay)
    }

    /// Is it a number of events, or of calls of some kind, per call?
    pub fn is_rate(&self) -> bool {
        self.part.unit == Unit::Count && self.whole.is_some_and(|whole| whole.key == "calls")
    }

    /// Is it a share: tokens of tokens, calls of calls?
    pub fn is_share(&self) -> bool {
        let counts_of = |whole: &Metric| whole.unit == self.part.unit && whole.key != "sessions" && whole.key != "calls";
        self.whole.is_some_and(counts_of)
    }
}

/// What may stand behind a measure: signs of limits and constraints.
const SIGNS: [char; 5] = ['+', '-', '<', '>', '='];

/// Those of them that no name holds.
const SIGNS_IN_WORDS: [char; 4] = ['+', '<', '>', '='];

/// The names of all measures, those of quotients behind.
pub fn names() -> impl Iterator<Item = &'static str> {
    judged_by().iter().map(|metric| metric.key).chain(QUOTIENTS.iter().map(|(name, ..)| *name))
}

fn joined(words: &str) -> String {
    words
        .split(|letter: char| letter.is_whitespace() || "_-".contains(letter))
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("_")
        .to_lowercase()
}

/// The name that a measure has today, whatever it was called, and by the heading of its column.
pub(super) fn today(name: &str) -> &str {
    let formerly = || FORMERLY.iter().find(|(old, _)| *old == name).map(|(_, new)| *new);
    let headed =
        || names().filter_map(metric_of).find(|metric| joined(&metric.header.replace('\u{ad}', "")) == name).map(|metric| metric.key);
    if names().any(|known| known == name) { name } else { formerly().or_else(headed).unwrap_or(name) }
}

/// The key under which a file of an earlier version may hold a measure.
pub(super) fn key_of(written: &str) -> String {
    today(&joined(written)).to_owned()
}

impl Value {
    /// Compares two quotients exactly; those of nothing count as 0.
    pub fn compare(self, other: Value) -> Ordering {
        let part = |value: Value| if value.whole == 0 { 0 } else { i128::from(value.part) };
        let whole = |value: Value| i128::from(value.whole.max(1));
        (part(self) * whole(other)).cmp(&(part(other) * whole(self)))
    }
}
