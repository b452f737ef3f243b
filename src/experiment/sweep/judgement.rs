//! Which settings are allowed, which is the best of them, which cannot be told from it, and which no other one beats in everything.

use super::goal::{Constraint, Direction, Objective};
use super::row::{Row, between};
use crate::experiment::measure::{Measure, Value};
use crate::experiment::metric::judged_by;
use crate::statistics::front;
use std::cmp::Ordering;

/// How a setting stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The best of those that keep all constraints and fail the fewest sessions; of several that are equally good the one nearest to what its policy has by itself.
    Best,
    /// What is sought comes to exactly the same as under the best one.
    Equal,
    /// Its difference from the best one is smaller than the uncertainty over sessions.
    NoDifference,
    /// Worse than the best one, or it fails more sessions.
    Worse,
    /// It breaks a constraint.
    Breaks,
}

/// What is to be said of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// How it stands.
    pub standing: Standing,
    /// Places of the constraints that it breaks.
    pub broken: Vec<usize>,
    /// Does no setting fail fewer sessions, and is none of those that fail as many at least as good in everything and better in something?
    pub on_front: bool,
}

/// A verdict on each row. A setting that fails a session makes fewer calls, so that whatever it comes to looks small: settings are ranked by
/// the sessions that they fail first, and by the objective then. Of rows that are equally good the one of the least remoteness is called the best, then the first one; rows look
/// theirs up by their setting, and those without one are as near as can be.
pub fn judgements(rows: &[Row], objective: &Objective, constraints: &[Constraint], remoteness: &[f64]) -> Vec<Judgement> {
    let broken = |row: &Row| {
        let breaks = |constraint: &Constraint| !constraint.holds(row.value(&constraint.measure));
        constraints.iter().enumerate().filter(|(_, constraint)| breaks(constraint)).map(|(place, _)| place).collect::<Vec<usize>>()
    };
    let broken: Vec<Vec<usize>> = rows.iter().map(broken).collect();
    let worth_of = |row: &Row| row.value(&objective.measure);
    let worth = |place: &usize| rows.get(*place).map(worth_of);
    let allowed = (0..rows.len()).filter(|place| broken.get(*place).is_some_and(Vec::is_empty));
    let failed = |place: &usize| rows.get(*place).map_or(0, Row::failed_sessions);
    let far = |place: &usize| rows.get(*place).and_then(|row| remoteness.get(row.setting)).copied().unwrap_or_default();
    let best = allowed.min_by(|one, other| match (worth(one), worth(other)) {
        (Some(a), Some(b)) => failed(one)
            .cmp(&failed(other))
            .then(toward(objective.direction, a, b))
            .then(far(one).total_cmp(&far(other)))
            .then(one.cmp(other)),
        _ => Ordering::Equal,
    });
    let best_row = best.and_then(|place| rows.get(place));
    let front = on_front(rows, objective, constraints);
    let standing = |place: usize, row: &Row, broken: &[usize]| match best_row {
        _ if !broken.is_empty() => Standing::Breaks,
        _ if best == Some(place) => Standing::Best,
        Some(best) if row.failed_sessions() != best.failed_sessions() => Standing::Worse,
        Some(best) if worth_of(row).compare(worth_of(best)) == Ordering::Equal => Standing::Equal,
        Some(best) if cannot_be_told(row, best) => Standing::NoDifference,
        _ => Standing::Worse,
    };
    let verdict = |((place, row), (broken, on_front)): ((usize, &Row), (Vec<usize>, bool))| Judgement {
        standing: standing(place, row, &broken),
        broken,
        on_front,
    };
    rows.iter().enumerate().zip(broken.into_iter().zip(front)).map(verdict).collect()
}

/// Resamples are the same for all settings, so that their differences are those of pairs.
fn cannot_be_told(row: &Row, best: &Row) -> bool {
    let differences = row.resampled.iter().zip(&best.resampled).map(|(row, best)| row - best).collect();
    between(differences).is_some_and(|(low, high)| low <= 0 && high >= 0)
}

fn toward(direction: Direction, one: Value, other: Value) -> Ordering {
    match direction {
        Direction::Minimise => one.compare(other),
        Direction::Maximise => other.compare(one),
    }
}

/// What the front is judged by: the objective and the constraints; overflows and compactions where there are none.
fn axes(objective: &Objective, constraints: &[Constraint]) -> Vec<(Direction, Measure)> {
    let mut axes = vec![(objective.direction, objective.measure)];
    axes.extend(constraints.iter().map(|constraint| (constraint.direction(), constraint.measure)));
    if constraints.is_empty() {
        let usual = judged_by().iter().copied().filter(|metric| ["overflows", "compactions"].contains(&metric.name));
        axes.extend(usual.map(|part| (Direction::Minimise, Measure { part, whole: None })));
    }
    axes
}

fn on_front(rows: &[Row], objective: &Objective, constraints: &[Constraint]) -> Vec<bool> {
    let axes = axes(objective, constraints);
    let values: Vec<Vec<Value>> = rows.iter().map(|row| axes.iter().map(|(_, measure)| row.value(measure)).collect()).collect();
    let failed: Vec<u64> = rows.iter().map(Row::failed_sessions).collect();
    front(&failed, |one, other| {
        let (Some(one), Some(other)) = (values.get(one), values.get(other)) else { return Vec::new() };
        axes.iter().zip(one.iter().zip(other)).map(|((direction, _), (one, other))| toward(*direction, *one, *other)).collect()
    })
}
