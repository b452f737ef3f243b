//! What a tuned setting must keep.

use crate::experiment::measure::{Measure, Value};
use crate::experiment::metric::{KnownFrom, Unit};
use crate::experiment::sweep::{Comparator, Constraint, Objective, Row, Sampling, SweepError, beside};
use crate::statistics::{Keeping, quotient};

/// What a setting must keep.
#[derive(Clone, Debug)]
pub enum Bound {
    /// A limit of its own.
    Fixed(Constraint),
    /// No more than the default settings of the policy come to in the same sessions.
    AsDefault(Measure),
}

impl Bound {
    /// The default constraints: no overflow, and no more reused text lost than under the defaults. What is sought in a closed loop must not overflow for good in that
    /// loop either: nothing is read again before a call that is refused to the end, which would make it look cheap.
    pub fn usual(objective: &Objective) -> Result<Vec<Bound>, SweepError> {
        let closed = (objective.measure.known_from() == KnownFrom::ClosedLoop).then_some("net_failed_sessions = 0");
        ["overflows = 0", "lost_lines <= default"].into_iter().chain(closed).map(Bound::parse).collect()
    }

    /// Parses a bound in words: a constraint, or `MEASURE <= default`.
    pub fn parse(text: &str) -> Result<Bound, SweepError> {
        let relative = text.split_once("<=").filter(|(_, limit)| ["default", "defaults"].contains(&limit.trim()));
        match relative {
            Some((measure, _)) => Measure::parse(measure).map(Bound::AsDefault),
            None => {
                let constraint = Constraint::parse(text)?;
                let is_sum = constraint.measure.whole.is_none() && constraint.limit.part != 0;
                if is_sum && constraint.comparator == Comparator::Equal {
                    let why = "the sessions are parted, and no part can be held to a share of an exact sum; say <= or >=, or `per session`";
                    return Err(SweepError::Asked(format!("`--subject-to {text}`: {why}")));
                }
                Ok(Bound::Fixed(constraint))
            }
        }
    }

    /// The measure that the bound limits.
    pub fn measure(&self) -> Measure {
        match self {
            Bound::Fixed(constraint) => constraint.measure,
            Bound::AsDefault(measure) => *measure,
        }
    }

    /// The bound as reports say it.
    pub fn words(&self) -> String {
        match self {
            Bound::Fixed(constraint) => constraint.words.clone(),
            Bound::AsDefault(measure) => format!("no more {} than the defaults", measure.words()),
        }
    }

    /// The usual guards, and what is asked for beside them; what is asked for of the measure of a guard stands in its place.
    pub fn guards_and(objective: &Objective, asked: Vec<Bound>) -> Result<Vec<Bound>, SweepError> {
        let mut all = Bound::usual(objective)?;
        all.retain(|guard| asked.iter().all(|asked| asked.measure().name() != guard.measure().name()));
        all.extend(asked);
        Ok(all)
    }

    /// The same for a part of the sessions, which is this share of them: a limit on a sum is that share of it, and one on a quotient is as it is.
    pub fn of_part(&self, share: f64) -> Bound {
        match self {
            Bound::Fixed(constraint) => Bound::Fixed(constraint.of_part(share)),
            Bound::AsDefault(measure) => Bound::AsDefault(*measure),
        }
    }

    /// Is it kept by both parts of the sessions together, as counted? The default is compared with part by part.
    pub fn holds_in_all(&self, place: usize, parts: [&Row; 2]) -> bool {
        let Bound::Fixed(constraint) = self else { return true };
        let adds_up = parts.iter().all(|row| row.sums_of(place).is_some());
        let [one, other] = parts.map(|row| row.value(&constraint.measure));
        let whole = if constraint.measure.whole.is_some() { one.whole + other.whole } else { one.whole };
        !adds_up || constraint.holds(Value { part: one.part.saturating_add(other.part), whole })
    }

    /// Is it kept by a setting, beside the default over the same sessions, as far as these sessions go? One more than the default, or what is not worth a
    /// change, decides nothing. Beside the default only sessions count that both bring to their end. `place` is that of its measure among the rows' sums.
    pub fn holds(&self, place: usize, row: &Row, default: &Row, worth: f64) -> bool {
        match self {
            Bound::Fixed(constraint) => constraint.holds(row.value(&constraint.measure)),
            Bound::AsDefault(measure) => {
                let worked_out = |row: &Row| {
                    let value = row.value(measure);
                    quotient(value.part as f64, value.whole as f64)
                };
                let [value, default] = match row.sums_of(place).zip(default.sums_of(place)) {
                    Some((sums, of_default)) => beside(sums, of_default).map(|sums| sums.value()),
                    None => [row, default].map(worked_out),
                };
                let one = if measure.whole.is_none() && measure.part.unit == Unit::Count { 1.0 } else { 0.0 };
                value <= default + (default.abs() * worth).max(one)
            }
        }
    }

    /// Is it kept, beyond these sessions?
    pub fn keeping(&self, place: usize, row: &Row, default: &Row, sampling: &Sampling, worth: f64) -> Keeping {
        match (self, row.sums_of(place), default.sums_of(place)) {
            (Bound::Fixed(constraint), sums, _) => sampling.keeping(constraint, row, sums),
            (Bound::AsDefault(_), Some(sums), Some(of_default)) => sampling.no_more(sums, of_default, worth),
            _ if self.holds(place, row, default, 0.0) => Keeping::Kept,
            _ => Keeping::Broken,
        }
    }
}
