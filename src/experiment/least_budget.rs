//! The smallest contexts in which nearly all references could be kept by one who knows the future.

use crate::corpus::Corpus;
use crate::list::each_of;
use crate::sim::hindsight::{Lookahead, costs};
use crate::statistics::{first, sorted};
use serde::Serialize;

/// Budgets are tried in steps of so many tokens.
const STEP: u64 = 1_000;

/// Points of the bound. Between them it is drawn straight, which is a little too low: many keep that below what can be seen.
const POINTS: usize = 400;

/// So many percent of the references are to be kept.
pub const PERCENT: u64 = 99;

/// What it takes to keep [`PERCENT`] of a corpus's reused lines.
///
/// A budget is the visible content of each call's context, in tokens; what has just arrived and what the system says stands in it even where that alone is more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LeastBudget {
    /// References to lines in all.
    pub references: u64,
    /// So many of them are to be kept.
    pub needed: u64,
    /// With no more than this no policy keeps so many; by the bound. `None` where even an empty budget is enough.
    #[serde(rename = "impossible_tokens")]
    pub impossible: Option<u64>,
    /// With this the oracle keeps so many.
    #[serde(rename = "attained_tokens")]
    pub attained: u64,
}

/// Looks for the least budget. `None` where there is no reference.
pub fn least_budget(corpus: &Corpus) -> Option<LeastBudget> {
    let all = corpus.traces.par_each(|_, trace| Some(Lookahead::of_everything(&trace)).filter(|ahead| !ahead.needs.is_empty()));
    let references: u64 = all.iter().map(|ahead| ahead.needs.len() as u64).sum();
    let needed = (references * PERCENT).div_ceil(100);
    let largest = all.iter().flat_map(|ahead| ahead.rooms.iter().zip(&ahead.taken).map(|(room, taken)| room + taken)).max()?;
    let kept = |budget: u64| -> u64 {
        let of = |ahead: &Lookahead| ahead.at_budget(budget).oracle().iter().filter(|kept| **kept).count() as u64;
        each_of(&all, of).iter().sum()
    };
    let bound = |budget: u64| -> u64 { each_of(&all, |ahead| ahead.at_budget(budget).bound(0)).iter().sum() };
    let attained = first(largest.div_ceil(STEP), |steps| kept(steps * STEP) >= needed) * STEP;
    // No policy keeps more with less, so a budget that is too small for all makes all smaller budgets too small.
    let possible = first(attained / STEP, |steps| bound(steps * STEP) >= needed);
    Some(LeastBudget { references, needed, impossible: possible.checked_sub(1).map(|steps| steps * STEP), attained })
}

/// The most references that can be kept by carrying so many tokens, summed over calls, up to this many.
pub fn most_kept(corpus: &Corpus, most: u64) -> Vec<(u64, u64)> {
    let costs = sorted(corpus.traces.each().flat_map(|trace| costs(&trace, trace.calls.len())));
    let mut points = vec![(0, 0)];
    let mut carried: u64 = 0;
    let step = costs.len().div_ceil(POINTS).max(1);
    for (place, cost) in costs.iter().enumerate() {
        carried = carried.saturating_add(*cost);
        if (place + 1).is_multiple_of(step) || place + 1 == costs.len() {
            points.push((carried, place as u64 + 1));
        }
    }
    // What the policies carried beyond the last reference kept nothing more.
    if let Some((_, kept)) = points.last().copied().filter(|(carried, _)| *carried < most) {
        points.push((most, kept));
    }
    points
}
