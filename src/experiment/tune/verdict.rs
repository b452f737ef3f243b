//! What is to be said of the setting that was found: recommended, or not, and why not.

use super::bound::Bound;
use super::split::Split;
use crate::experiment::sweep::{Direction, Objective, Row, Setting, between};
use std::cmp::Ordering;

/// With fewer held-out sessions than this nothing is recommended: intervals over them would say nothing.
pub const FEWEST: usize = 5;

/// Quotients are told in parts of one of this size.
const PARTS: i128 = 1_000_000;

/// One setting on both parts of the corpus.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The setting.
    pub setting: Setting,
    /// What it came to on the sessions that it was sought on.
    pub training: Row,
    /// What it came to on the others.
    pub held_out: Row,
}

/// The objective under the setting less that under the defaults, over the held-out sessions; quotients in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Over all of them.
    pub value: i64,
    /// The 5th percentile over resampled sessions.
    pub low: i64,
    /// The 95th.
    pub high: i64,
}

/// What is to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// On the held-out sessions the setting keeps every bound and fails fewer sessions than the defaults, or as many and is better by more
    /// than the uncertainty.
    Recommended,
    /// Nothing that keeps the bounds is better than the defaults on the training sessions.
    DefaultIsBest,
    /// No setting keeps all bounds on the training sessions, the defaults included; these are kept by none.
    NoneAllowed(Vec<String>),
    /// On the held-out sessions these bounds are broken, or more sessions fail than under the defaults.
    Breaks(Vec<String>),
    /// The difference on the held-out sessions is within the uncertainty. About so many more sessions in all would tell; `None` where
    /// there is no difference at all.
    NoDifference(Option<u64>),
    /// The setting is worse on the held-out sessions.
    Worse,
    /// There are too few sessions to judge by: so many more are needed at the least.
    TooFew(u64),
}

/// What came of tuning.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// What was sought.
    pub objective: Objective,
    /// What had to be kept.
    pub bounds: Vec<Bound>,
    /// So many settings were looked at.
    pub tried: usize,
    /// The defaults.
    pub default: Trial,
    /// The best setting of the training sessions that keeps all bounds there; absent where none does.
    pub best: Option<Trial>,
    /// The best setting beside the defaults, on the held-out sessions; absent without such a setting, or with fewer than two sessions.
    pub difference: Option<Difference>,
    /// What is to be said.
    pub verdict: Verdict,
}

impl Tuned {
    pub(super) fn new(split: &Split, objective: Objective, bounds: Vec<Bound>, tried: usize, default: Trial, best: Option<Trial>) -> Tuned {
        let difference = best.as_ref().and_then(|best| difference(&objective, &best.held_out, &default.held_out));
        let mut tuned = Tuned { objective, bounds, tried, default, best, difference, verdict: Verdict::DefaultIsBest };
        tuned.verdict = tuned.judge(split);
        tuned
    }

    fn judge(&self, split: &Split) -> Verdict {
        let (training, held_out) = (split.training.traces.len(), split.held_out.traces.len());
        let Some(best) = &self.best else { return Verdict::NoneAllowed(self.broken(&self.default.training, &self.default.training)) };
        if held_out < FEWEST || training < FEWEST {
            let needed = |percent: usize| (FEWEST * 100).div_ceil(percent.max(1));
            let percent = usize::from(split.percent);
            let wanted = needed(percent).max(needed(100_usize.saturating_sub(percent))).max(training + held_out + 1);
            return Verdict::TooFew((wanted - training - held_out) as u64);
        }
        if best.setting.values.is_empty() {
            return Verdict::DefaultIsBest;
        }
        let mut broken = self.broken(&best.held_out, &self.default.held_out);
        let failed = best.held_out.failed_sessions().cmp(&self.default.held_out.failed_sessions());
        if failed == Ordering::Greater {
            broken.push("no more failed sessions than the defaults".to_owned());
        }
        if !broken.is_empty() {
            return Verdict::Breaks(broken);
        }
        let Some(difference) = self.difference else { return Verdict::TooFew(1) };
        let better = if self.objective.direction == Direction::Minimise { difference.high < 0 } else { difference.low > 0 };
        if failed == Ordering::Less || better {
            Verdict::Recommended
        } else if difference.low <= 0 && difference.high >= 0 {
            Verdict::NoDifference(more_sessions(difference, held_out, split.percent))
        } else {
            Verdict::Worse
        }
    }

    fn broken(&self, row: &Row, default: &Row) -> Vec<String> {
        self.bounds.iter().filter(|bound| !bound.holds(row, default)).map(Bound::words).collect()
    }
}

/// How the objective of one row, as a whole number, differs from that of another.
fn difference(objective: &Objective, row: &Row, default: &Row) -> Option<Difference> {
    let pairs = row.resampled.iter().zip(&default.resampled).map(|(row, default)| row - default).collect();
    let (low, high) = between(pairs)?;
    let whole = |row: &Row| {
        let value = row.value(&objective.measure);
        match objective.measure.whole {
            None => value.part,
            Some(_) => (i128::from(value.part) * PARTS)
                .checked_div(i128::from(value.whole))
                .and_then(|value| i64::try_from(value).ok())
                .unwrap_or(0),
        }
    };
    Some(Difference { value: whole(row) - whole(default), low, high })
}

/// An interval narrows with the root of the number of sessions: so many more, in all, would part it from nought.
fn more_sessions(difference: Difference, held_out: usize, percent: u8) -> Option<u64> {
    if difference.value == 0 {
        return None;
    }
    let half = (difference.high - difference.low) as f64 / 2.0;
    let needed = held_out as f64 * (half / difference.value as f64).powi(2);
    let more = (needed - held_out as f64).max(1.0) * 100.0 / f64::from(percent.max(1));
    Some(more.ceil().min(1e15) as u64)
}
