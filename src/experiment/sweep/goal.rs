//! What is sought: an objective, and constraints that a setting must keep.

use crate::cost::Tariff;
use crate::experiment::error::SweepError;
use crate::experiment::measure::{Measure, Value};
use crate::experiment::metric::Unit;
use crate::experiment::origin::{part, sample_of};
use crate::list::List;
use crate::policy::number;
use crate::statistics::{Part, Sample};
use crate::trace::Trace;
use std::cmp::Ordering;

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The smaller, the better.
    Minimise,
    /// The larger, the better.
    Maximise,
}

/// What is to be as small, or as large, as can be.
#[derive(Clone, Copy, Debug)]
pub struct Objective {
    /// Whether small or large is good.
    pub direction: Direction,
    /// The measure that is sought.
    pub measure: Measure,
}

impl Objective {
    /// What is asked to be small or large, in the words of [`Measure::parse`]; `None` where neither is asked for.
    pub fn asked(minimise: Option<&str>, maximise: Option<&str>) -> Result<Option<Objective>, SweepError> {
        let asked = maximise.map(|words| (Direction::Maximise, words)).or(minimise.map(|words| (Direction::Minimise, words)));
        asked.map(|(direction, words)| Ok(Objective { direction, measure: Measure::parse(words)? })).transpose()
    }

    /// What is sought where nothing is asked for: the least cost net of what is read again, where any call has a price, else the fewest tokens.
    pub fn usual(traces: &List<Trace>, tariff: &Tariff<'_>) -> Result<Objective, SweepError> {
        let words = if traces.each().any(|trace| is_priced(&trace, tariff)) { "net_cost" } else { "tokens" };
        Ok(Objective { direction: Direction::Minimise, measure: Measure::parse(words)? })
    }
}

/// What rows of settings have the sums of: what is sought, what is limited, failed sessions, in the loop that is spoken of, and all tokens, where what is sought
/// leaves out those of summarisers.
pub fn summed(objective: &Objective, limited: impl IntoIterator<Item = Measure>) -> Result<Vec<Measure>, SweepError> {
    let mut measures = vec![objective.measure];
    measures.extend(limited);
    measures.push(Measure::parse(objective.measure.failures())?);
    if objective.measure.leaves_out_summarisers() {
        measures.push(Measure::parse("tokens")?);
    }
    Ok(measures)
}

/// By session: has any call a price?
pub fn priced(traces: &List<Trace>, tariff: &Tariff<'_>) -> Vec<bool> {
    traces.each().map(|trace| is_priced(&trace, tariff)).collect()
}

/// The clusters of the sessions. Where money is sought and any session has a price, those without are drawn and not judged.
pub(super) fn sample_for(traces: &List<Trace>, priced: &[bool], is_money: bool) -> Sample {
    let any = is_money && priced.contains(&true);
    let of = |(trace, has_price): (_, &bool)| match part(std::borrow::Borrow::borrow(&trace)) {
        Part::Judged if any && !has_price => Part::Drawn,
        part => part,
    };
    sample_of(traces.each(), traces.each().zip(priced).map(of).collect::<Vec<Part>>())
}

fn is_priced(trace: &Trace, tariff: &Tariff<'_>) -> bool {
    let models = tariff.models(trace);
    trace.calls.iter().any(|call| models.of(call, trace.time_of(call)).price.is_some())
}

/// How a constraint compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// The limit or less: `<=`.
    AtMost,
    /// Less than the limit: `<`.
    Below,
    /// The limit or more: `>=`.
    AtLeast,
    /// More than the limit: `>`.
    Above,
    /// The limit exactly: `=` or `==`.
    Equal,
}

/// What a setting must keep: `overflows = 0`, `compactions per session <= 2`, `saved >= 20 %`.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// The measure that is limited.
    pub measure: Measure,
    /// How the measure stands to the limit.
    pub comparator: Comparator,
    /// The limit, in the measure's own unit.
    pub limit: Value,
    /// As it was typed.
    pub words: String,
}

const COMPARATORS: [(&str, Comparator); 6] = [
    ("<=", Comparator::AtMost),
    (">=", Comparator::AtLeast),
    ("==", Comparator::Equal),
    ("<", Comparator::Below),
    (">", Comparator::Above),
    ("=", Comparator::Equal),
];

/// Limits are kept as this many parts of one.
const PARTS: u64 = 1_000_000;

/// Parts of a dollar in which money is counted.
const NANO: u64 = 1_000_000_000;

impl Constraint {
    /// Parses a constraint in words.
    pub fn parse(text: &str) -> Result<Constraint, SweepError> {
        let wrong = |reason: &str| SweepError::Asked(format!("`--subject-to {text}`: {reason}"));
        let found = COMPARATORS.iter().find_map(|(sign, comparator)| Some((text.split_once(sign)?, *comparator)));
        let ((left, right), comparator) =
            found.ok_or_else(|| wrong("it is written as in 'overflows = 0' or 'compactions per session <= 2'"))?;
        let compact: String = right.chars().filter(|letter| !letter.is_whitespace()).collect();
        let measure = Measure::parse(left)?;
        let money = measure.part.unit == Unit::Money;
        let plain = if money { compact.trim_start_matches('$') } else { compact.as_str() };
        let limit = number(plain).ok_or_else(|| wrong(&format!("`{}` is no number", right.trim())))?;
        // Money is limited in dollars and counted in thousand-millionths of one.
        let (scale, whole) = if money { (NANO, 1) } else { (PARTS, PARTS) };
        let part = limit * scale as f64;
        if part.abs() > 9e18 {
            return Err(wrong("the number is too large"));
        }
        let limit = Value { part: part.round() as i64, whole };
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let share = || measure.as_share().ok_or_else(|| wrong("percent of what? Say `per`, as in 'prunes per call <= 5 %'"));
        let measure = if compact.ends_with('%') { share()? } else { measure };
        Ok(Constraint { measure, comparator, limit, words })
    }

    /// The same for a part of the sessions, which is this share of them: a limit on a sum is that share of it, to the next whole one that is no stricter.
    pub fn of_part(&self, share: f64) -> Constraint {
        let unit = if self.measure.part.unit == Unit::Money { 1.0 } else { PARTS as f64 };
        let units = self.limit.part as f64 * share / unit;
        let units = if self.direction() == Direction::Minimise { units.ceil() } else { units.floor() };
        let is_sum = self.measure.whole.is_none();
        let part = if is_sum { (units * unit) as i64 } else { self.limit.part };
        Constraint { limit: Value { part, ..self.limit }, ..self.clone() }
    }

    /// Does a value keep the constraint?
    pub fn holds(&self, value: Value) -> bool {
        let order = value.compare(self.limit);
        match self.comparator {
            Comparator::AtMost => order != Ordering::Greater,
            Comparator::Below => order == Ordering::Less,
            Comparator::AtLeast => order != Ordering::Less,
            Comparator::Above => order == Ordering::Greater,
            Comparator::Equal => order == Ordering::Equal,
        }
    }

    /// The direction in which values keep the constraint more easily.
    pub fn direction(&self) -> Direction {
        match self.comparator {
            Comparator::AtLeast | Comparator::Above => Direction::Maximise,
            _ => Direction::Minimise,
        }
    }
}
