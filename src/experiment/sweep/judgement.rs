//! Which settings are allowed, which is the best of them, how they stand to the policy's own setting, and which no other one beats in everything.

use super::goal::{Constraint, Direction, Objective};
use super::row::Row;
use super::sampling::{Difference, DrawnSums, Sampling, found};
use crate::experiment::measure::{Measure, Value};
use crate::experiment::metric::judged_by;
use crate::list::{Gather, each_of, on_all_cores};
use crate::statistics::{Bars, Finding, Keeping, Within, front};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// How a setting stands to the best one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The best of those that keep all constraints and fail the fewest sessions; of several that are equally good the one nearest to what its policy has by itself.
    Best,
    /// What is sought comes to exactly the same as under the best one.
    Equal,
    /// Its difference from the best one is no larger than what is known of it, or not worth a change; so are the sessions that it fails more.
    NoDifference(Within),
    /// Worse than the best one, or it fails more sessions, by more than the uncertainty.
    Worse,
    /// There is too little to judge its difference from the best one by, or most is estimated.
    CannotJudge,
    /// Whether it keeps a constraint cannot be told: its interval lies on both sides of the limit.
    CannotTell,
    /// It breaks a constraint.
    Breaks,
}

/// How a setting stands to its constraints, those that keep them best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Adherence {
    /// It keeps all of them.
    Kept,
    /// One or more are undecided: as counted, it keeps all.
    KeptAsCounted,
    /// One or more are undecided, and as counted it breaks one of these.
    BrokenAsCounted,
    /// It breaks one.
    Broken,
}

/// What is to be said of a setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// How it stands to the best one.
    pub standing: Standing,
    /// How it stands to the constraints.
    pub adherence: Adherence,
    /// Places of the constraints that it breaks.
    pub broken: Vec<usize>,
    /// Places of those of which that cannot be told.
    pub untold: Vec<usize>,
    /// Does no setting fail fewer sessions, and is none of those that fail as many at least as good in everything and better in something?
    pub on_front: bool,
    /// How it stands to the policy's own setting. Absent for that one itself, and where there is none.
    pub own: Option<Against>,
}

/// A setting beside the own one of its policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Against {
    /// Better, worse, no difference, or too little to judge by.
    pub finding: Finding,
    /// The difference; absent where there is too little to judge by.
    pub difference: Option<Difference>,
}

/// The goal, the draws and the bars that settings are judged by.
pub struct Judging<'a> {
    /// The measure that is sought, and its direction.
    pub objective: &'a Objective,
    /// The constraints that a setting must keep.
    pub constraints: &'a [Constraint],
    /// By setting how far it is from its policy's own; those without a number are as near as can be.
    pub distance: &'a [f64],
    /// By setting the place of its policy's own one; `None` where there is none.
    pub own: &'a [Option<usize>],
    /// The sessions as they are drawn.
    pub sampling: &'a Sampling,
    /// The bars that a difference must exceed to count.
    pub bars: Bars,
}

/// A verdict on each row. A setting that fails a session makes fewer calls, so that whatever it comes to looks small: settings are ranked by
/// the sessions that they fail first, and by the objective then; those that keep all constraints go before those of which that cannot be told,
/// and of these the ones that keep them as counted go first. Of rows that are equally good the one of the least distance is called the best, then the first one.
pub fn judgements(rows: &[Row], by: &Judging<'_>) -> Vec<Judgement> {
    let Judging { objective, constraints, sampling, .. } = by;
    let kept: Vec<Vec<Keeping>> = each_of(rows, |row| {
        constraints.iter().enumerate().map(|(place, limit)| sampling.keeping(limit, row, row.sums_of(place + 1))).collect()
    });
    let adherences: Vec<Adherence> = rows.iter().zip(&kept).map(|(row, kept)| adherence(row, constraints, kept)).collect();
    let class = |place: usize| adherences.get(place).copied().unwrap_or(Adherence::Kept);
    let worth_of = |row: &Row| row.value(&objective.measure);
    let far = |row: &Row| by.distance.get(row.setting).copied().unwrap_or_default();
    let allowed = rows.iter().enumerate().filter(|(place, _)| class(*place) < Adherence::Broken);
    let best = allowed.min_by(|(place, one), (other_place, other)| {
        class(*place)
            .cmp(&class(*other_place))
            .then(one.failed_sessions().cmp(&other.failed_sessions()))
            .then(toward(objective.direction, worth_of(one), worth_of(other)))
            .then(far(one).total_cmp(&far(other)))
            .then(place.cmp(other_place))
    });
    let best = best.map(|(place, row)| (place, class(place), row));
    let front = on_front(rows, objective, constraints);
    let of_best = best.and_then(|(.., best)| best.sums_of(0)).map(|sums| sampling.drawn(sums));
    // Rows stand in the order of their settings.
    let row_of = |setting: usize| rows.get(rows.partition_point(|row| row.setting < setting)).filter(|row| row.setting == setting);
    let owns: BTreeSet<usize> = by.own.iter().copied().flatten().collect();
    let of_own = |setting: usize| Some((setting, sampling.drawn(row_of(setting)?.sums_of(0)?)));
    let of_own: BTreeMap<usize, DrawnSums> = owns.into_iter().filter_map(of_own).gather();
    let fails_fewer = |one: &Row, other: &Row| {
        !by.bars.is_estimated()
            && one.failed_sessions() < other.failed_sessions()
            && sampling.fails_fewer(one, other, constraints.len() + 1)
    };
    let standing = |place: usize, row: &Row| match best {
        _ if class(place) == Adherence::Broken => Standing::Breaks,
        Some((best, ..)) if best == place => Standing::Best,
        Some((_, of_best, _)) if class(place) > of_best => Standing::CannotTell,
        Some((.., best)) if fails_fewer(best, row) => Standing::Worse,
        Some((.., best)) if row.failed_sessions() == best.failed_sessions() && worth_of(row).compare(worth_of(best)) == Ordering::Equal => {
            Standing::Equal
        }
        // Resamples are the same for all settings, so that their differences are those of pairs.
        _ => match found(of_best.as_ref().and_then(|best| row.difference_from(best, sampling)).as_ref(), objective.direction, &by.bars) {
            Finding::Worse => Standing::Worse,
            Finding::NoDifference(within) => Standing::NoDifference(within),
            // It comes to less and fails more sessions, by no more than the uncertainty: which weighs more cannot be judged.
            Finding::Better | Finding::CannotJudge => Standing::CannotJudge,
        },
    };
    let against = |row: &Row| {
        let own = by.own.get(row.setting).copied().flatten().filter(|own| *own != row.setting)?;
        let difference = of_own.get(&own).and_then(|own| row.difference_from(own, sampling));
        let own = row_of(own)?;
        let finding = match row.failed_sessions().cmp(&own.failed_sessions()) {
            Ordering::Less if difference.is_some() && fails_fewer(row, own) => Finding::Better,
            Ordering::Greater if difference.is_some() && fails_fewer(own, row) => Finding::Worse,
            // What fails more sessions is not called better, however few more.
            order => match found(difference.as_ref(), objective.direction, &by.bars) {
                Finding::Better if order == Ordering::Greater => Finding::CannotJudge,
                found => found,
            },
        };
        Some(Against { finding, difference })
    };
    let which = |kept: &[Keeping], wanted: Keeping| {
        kept.iter().enumerate().filter(|(_, keeping)| **keeping == wanted).map(|(place, _)| place).collect::<Vec<usize>>()
    };
    let verdict = |place: usize| {
        let (row, kept) = rows.get(place).zip(kept.get(place))?;
        Some(Judgement {
            standing: standing(place, row),
            adherence: class(place),
            broken: which(kept, Keeping::Broken),
            untold: which(kept, Keeping::CannotTell),
            on_front: *front.get(place)?,
            own: against(row),
        })
    };
    on_all_cores(rows.len(), &verdict)
}

fn adherence(row: &Row, constraints: &[Constraint], kept: &[Keeping]) -> Adherence {
    let breaks = |(limit, kept): (&Constraint, &Keeping)| *kept == Keeping::CannotTell && !limit.holds(row.value(&limit.measure));
    match kept {
        kept if kept.contains(&Keeping::Broken) => Adherence::Broken,
        kept if !kept.contains(&Keeping::CannotTell) => Adherence::Kept,
        kept if constraints.iter().zip(kept).any(breaks) => Adherence::BrokenAsCounted,
        _ => Adherence::KeptAsCounted,
    }
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
        let usual = judged_by().iter().copied().filter(|metric| ["overflows", "compactions"].contains(&metric.key));
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
