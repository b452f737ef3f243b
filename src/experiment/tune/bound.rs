//! What a tuned setting must keep.

use crate::experiment::measure::Measure;
use crate::experiment::metric::KnownFrom;
use crate::experiment::sweep::{Comparator, Constraint, Objective, Row, SweepError};

/// What a setting must keep.
#[derive(Clone, Debug)]
pub enum Bound {
    /// A limit of its own.
    Fixed(Constraint),
    /// No more than the default settings of the policy come to in the same sessions.
    AsDefault(Measure),
}

impl Bound {
    /// What is usually kept: no overflow, and no more broken references than the defaults. What is sought in a closed loop must not overflow for good in that
    /// loop either: nothing is read again before a call that is refused to the end, which would make it look cheap.
    pub fn usual(objective: &Objective) -> Result<Vec<Bound>, SweepError> {
        let closed = (objective.measure.known_from() == KnownFrom::ClosedLoop).then_some("net failed sessions = 0");
        ["overflows = 0", "broken references <= default"].into_iter().chain(closed).map(Bound::parse).collect()
    }

    /// Parses a bound in words: a constraint, or `MEASURE <= default`.
    pub fn parse(text: &str) -> Result<Bound, SweepError> {
        let relative = text.split_once("<=").filter(|(_, limit)| ["default", "defaults"].contains(&limit.trim()));
        match relative {
            Some((measure, _)) => Measure::parse(measure).map(Bound::AsDefault),
            None => Constraint::parse(text).map(Bound::Fixed),
        }
    }

    /// What is looked at.
    pub fn measure(&self) -> Measure {
        match self {
            Bound::Fixed(constraint) => constraint.measure,
            Bound::AsDefault(measure) => *measure,
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            Bound::Fixed(constraint) => constraint.words.clone(),
            Bound::AsDefault(measure) => format!("no more {} than the defaults", measure.name()),
        }
    }

    /// Is it kept by a setting, beside the default over the same sessions?
    pub fn holds(&self, row: &Row, default: &Row) -> bool {
        match self {
            Bound::Fixed(constraint) => constraint.holds(row.value(&constraint.measure)),
            Bound::AsDefault(measure) => {
                let limit = default.value(measure);
                Constraint { measure: *measure, comparator: Comparator::AtMost, limit, words: String::new() }.holds(row.value(measure))
            }
        }
    }
}
