//! What is to be said of the setting that was found: recommended, or not, and why not.

use super::asked::Tune;
use super::bound::Bound;
use super::split::{Part, Split};
use crate::experiment::reach::acts;
use crate::experiment::sweep::{Difference, Objective, Row, Sampling, Setting, Summarised};
use crate::statistics::{Bars, Finding, Keeping, Sample, Within, needed};
use std::cmp::Ordering;

/// With fewer held-out sessions than this nothing is recommended: intervals over them would say nothing.
pub const FEWEST: usize = 5;

/// One setting on both parts of the corpus.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Values of the tuned parameters.
    pub setting: Setting,
    /// What it came to on the sessions that it was sought on.
    pub training: Row,
    /// What it came to on the others.
    pub held_out: Row,
}

/// Whether a setting is recommended, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// On the held-out sessions the setting keeps every bound and fails fewer sessions than the defaults, or as many and is better by more
    /// than the uncertainty, the model's own error, and what is worth a change.
    Recommended,
    /// Nothing that keeps the bounds is better than the defaults on the training sessions.
    DefaultIsBest,
    /// No setting keeps all bounds on the training sessions, the defaults included; these are kept by none.
    NoneAllowed(Vec<String>),
    /// On the held-out sessions these bounds are broken, or more sessions fail than under the defaults.
    Breaks(Vec<String>),
    /// Whether these bounds are kept cannot be told from the held-out sessions.
    CannotTell(Vec<String>),
    /// The difference on the held-out sessions is no larger than what is known of it. About so many more sessions in all would tell; `None` where
    /// no number of them would.
    NoDifference(Within, Option<u64>),
    /// Better by prompt tokens alone: with the requests of its summariser, which are not among them, it is not.
    NotSummarised,
    /// The setting is worse on the held-out sessions.
    Worse,
    /// Most of the tokens are estimated.
    Estimated,
    /// There are too few sessions to judge by: so many more are needed at the least.
    TooFew(u64),
    /// In no held-out session (in no session at all, where nothing was found) does either setting do anything, or anything else than the other: they say nothing
    /// of it.
    NotReached,
}

impl Verdict {
    /// Do the sessions bear a judgement? Where not, the setting that was found is nothing to go by.
    pub fn judges(&self) -> bool {
        !matches!(self, Verdict::TooFew(_) | Verdict::Estimated | Verdict::NotReached)
    }
}

/// What a search found, and how that is judged.
#[derive(Clone, Debug)]
pub struct Tuned {
    /// The objective of the search.
    pub objective: Objective,
    /// The bounds that a setting had to keep.
    pub bounds: Vec<Bound>,
    /// So many settings were looked at.
    pub tried: usize,
    /// The policy's own defaults.
    pub default: Trial,
    /// The best setting of the training sessions that keeps all bounds there; absent where none does.
    pub best: Option<Trial>,
    /// By bound: does that setting keep it on the held-out sessions? Empty without such a setting.
    pub keeping: Vec<Keeping>,
    /// That setting beside the defaults, on the held-out sessions; absent without such a setting, or with too few sessions.
    pub difference: Option<Difference>,
    /// What summarisers make of it, where they are not in what is sought and it is worth a word.
    pub summarised: Option<Summarised>,
    /// The bars that a difference must exceed to count.
    pub bars: Bars,
    /// How the held-out sessions are drawn.
    pub drawn: Sample,
    /// Recommended or not, and why.
    pub verdict: Verdict,
}

/// What a verdict rests on beside the two settings.
pub(super) struct Judged<'a> {
    pub tune: &'a Tune<'a>,
    pub sampling: &'a Sampling,
    /// What bills are off on the recordings themselves.
    pub own_error: Option<f64>,
    pub tried: usize,
    /// Did any setting do anything in the training sessions?
    pub acted: bool,
}

impl Tuned {
    pub(super) fn new(split: &Split, by: Judged<'_>, default: Trial, best: Option<Trial>) -> Tuned {
        let Tune { objective, bounds, worth, .. } = *by.tune;
        let keeping = |best: &Trial| -> Vec<Keeping> {
            let keeping = |(place, bound): (usize, &Bound)| {
                bound.of_part(split.share(Part::HeldOut)).keeping(place + 1, &best.held_out, &default.held_out, by.sampling, worth)
            };
            bounds.iter().enumerate().map(keeping).collect()
        };
        let keeping = best.as_ref().map(keeping).unwrap_or_default();
        let difference = best.as_ref().and_then(|best| best.held_out.difference(&default.held_out, by.sampling));
        let summarised = best.as_ref().zip(difference.as_ref());
        let summarised = summarised
            .and_then(|(best, difference)| best.held_out.summarised(&default.held_out, difference, &objective.measure, by.sampling));
        let bars = Bars { own_error: by.own_error, worth, anchored: split.facts.anchored() };
        let mut tuned = Tuned {
            objective,
            bounds: bounds.to_vec(),
            tried: by.tried,
            default,
            best,
            keeping,
            difference,
            summarised,
            bars,
            drawn: by.sampling.sought().clone(),
            verdict: Verdict::DefaultIsBest,
        };
        tuned.verdict = tuned.judge(split, &by);
        tuned
    }

    fn judge(&self, split: &Split, by: &Judged<'_>) -> Verdict {
        let training = telling(&self.default.training, split.training.traces.len());
        let held_out = telling(&self.default.held_out, split.held_out.traces.len());
        let Some(best) = &self.best else {
            return Verdict::NoneAllowed(self.broken_by_default(split, Part::Training).map(|(_, bound)| bound.words()).collect());
        };
        if held_out < FEWEST || training < FEWEST {
            let percent = usize::from(split.percent);
            let needed = |percent: usize| (FEWEST * 100).div_ceil(percent.max(1));
            let wanted = needed(percent).max(needed(100_usize.saturating_sub(percent))).max(training + held_out + 1);
            return Verdict::TooFew((wanted - training - held_out) as u64);
        }
        if self.bars.is_estimated() {
            return Verdict::Estimated;
        }
        let trials = [&self.default, best];
        if best.setting.values.is_empty() {
            return if by.acted { Verdict::DefaultIsBest } else { Verdict::NotReached };
        }
        if !trials.iter().any(|trial| acts(&trial.held_out.totals)) || best.held_out.is_as(&self.default.held_out) {
            return Verdict::NotReached;
        }
        let which = |wanted: Keeping| {
            let such = self.bounds.iter().zip(&self.keeping).filter(|(_, keeping)| **keeping == wanted);
            such.map(|(bound, _)| bound.words()).collect::<Vec<String>>()
        };
        let mut broken = which(Keeping::Broken);
        let both = [&best.training, &best.held_out];
        let in_all = self.bounds.iter().enumerate().filter(|(place, bound)| !bound.holds_in_all(place + 1, both));
        broken.extend(in_all.map(|(_, bound)| format!("{} with the training sessions", bound.words())));
        let failed = best.held_out.failed_sessions().cmp(&self.default.held_out.failed_sessions());
        if failed == Ordering::Greater {
            broken.push("no more failed sessions than the defaults".to_owned());
        }
        if !broken.is_empty() {
            return Verdict::Breaks(broken);
        }
        let untold = which(Keeping::CannotTell);
        if !untold.is_empty() {
            return Verdict::CannotTell(untold);
        }
        let fewer = by.sampling.fails_fewer(&best.held_out, &self.default.held_out, self.bounds.len() + 1);
        let Some(difference) = &self.difference else {
            let sought = best.held_out.sums_of(0).zip(self.default.held_out.sums_of(0));
            let compared = sought.map_or(FEWEST, |(one, other)| by.sampling.compared(one, other));
            let lacking = FEWEST.saturating_sub(compared) * 100;
            return Verdict::TooFew(lacking.div_ceil(usize::from(split.percent).max(1)).max(1) as u64);
        };
        match difference.finding(self.objective.direction, &self.bars) {
            _ if failed == Ordering::Less && fewer => Verdict::Recommended,
            Finding::Better if !self.stays_better() => Verdict::NotSummarised,
            Finding::Better => Verdict::Recommended,
            Finding::Worse => Verdict::Worse,
            Finding::NoDifference(within) => Verdict::NoDifference(within, more_sessions(difference, &self.bars, held_out, split.percent)),
            Finding::CannotJudge => Verdict::TooFew(1),
        }
    }

    /// The bounds that the defaults themselves break on a part of the sessions, with the row of that part.
    pub fn broken_by_default(&self, split: &Split, part: Part) -> impl Iterator<Item = (&Row, &Bound)> {
        let row = if part == Part::Training { &self.default.training } else { &self.default.held_out };
        let breaks = move |(place, bound): &(usize, &Bound)| !bound.of_part(split.share(part)).holds(place + 1, row, row, 0.0);
        self.bounds.iter().enumerate().filter(breaks).map(move |(_, bound)| (row, bound))
    }

    /// Is it better with what summarisers take too?
    fn stays_better(&self) -> bool {
        let found = |summarised: Summarised| summarised.with.finding(self.objective.direction, &self.bars);
        self.summarised.is_none_or(|summarised| found(summarised) == Finding::Better)
    }
}

/// The sessions of a part that have a value of what is sought: those with a call and, where that is money, a price.
pub fn telling(row: &Row, sessions: usize) -> usize {
    sessions - row.sums_of(0).map_or(0, |sums| sums.empty.len())
}

/// So many more sessions, in all, would part the difference from zero, or show that it is not worth a change; 0 where that is shown.
fn more_sessions(difference: &Difference, bars: &Bars, held_out: usize, percent: u8) -> Option<u64> {
    let wanted = needed(&difference.share, difference.clusters, &difference.bars(bars))? / difference.clusters.max(1) as f64;
    if wanted == 0.0 {
        return Some(0);
    }
    let more = (held_out as f64 * (wanted - 1.0)).max(1.0) * 100.0 / f64::from(percent.max(1));
    Some(more.ceil().min(1e15) as u64)
}
