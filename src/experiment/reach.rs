//! Where a policy acts: the sizes at which its rules look at the context, the sessions that come there, and how far contexts jump between two calls.

use super::replay::{Ready, Replay, ReplaySettings};
use crate::corpus::Corpus;
use crate::policy::{Policy, PolicyError};
use crate::sim::{EventKind, Refetching, SharedSession, Totals};
use crate::trace::Trace;
use serde::Serialize;

/// A session comes near a limit where its largest context reaches so many percent of it.
const NEAR: u64 = 80;

/// What a policy does to a context.
const ACTIONS: [EventKind; 5] = [EventKind::Truncate, EventKind::Prune, EventKind::Compact, EventKind::Drop, EventKind::Reset];

/// Does a policy do anything, or would it have had to?
pub fn acts(totals: &Totals) -> bool {
    totals.overflows > 0 || ACTIONS.iter().any(|kind| totals.events_of(*kind) > 0)
}

/// By session: does the policy act in it, or does it come near the lowest of its limits?
pub fn near(corpus: &Corpus, policy: &Policy, replay: &ReplaySettings<'_>) -> Result<Vec<bool>, PolicyError> {
    let ready = Ready::alone(corpus, policy, replay)?;
    Ok(corpus.traces.par_each(|place, trace| {
        let Some(limit) = ready.session(place).map(|(plan, conditions)| plan.lowest_limit().unwrap_or(conditions.prompt_limit)) else {
            return Some(false);
        };
        let totals = ready.outcome(&mut SharedSession::new(&trace), place, Refetching::Never).totals;
        Some(acts(&totals) || totals.peak_tokens.saturating_mul(100) >= limit.saturating_mul(NEAR))
    }))
}

/// By session the lowest size at which a rule of the policy looks at the context; `None` where none looks at a size.
pub fn thresholds(corpus: &Corpus, policy: &Policy, settings: &ReplaySettings<'_>) -> Result<Vec<Option<u64>>, PolicyError> {
    let ready = Ready::alone(corpus, policy, settings)?;
    Ok((0..corpus.traces.len()).map(|place| ready.threshold(place)).collect())
}

/// A policy whose rules no session reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NeverReached {
    /// The lowest size at which one of its rules looks at the context, over all sessions.
    pub threshold: u64,
    /// The largest context under the policy, in tokens.
    #[serde(rename = "largest_context")]
    pub largest: u64,
}

/// Does a policy with these thresholds and sums lie above all contexts? `None` where it acts, or where a rule of it looks at something else than a size.
pub fn never_reached(totals: &Totals, thresholds: &[Option<u64>]) -> Option<NeverReached> {
    let all: Option<Vec<u64>> = thresholds.iter().copied().collect();
    let threshold = all?.into_iter().min()?;
    let largest = totals.peak_tokens;
    (!acts(totals) && largest > 0 && threshold > largest).then_some(NeverReached { threshold, largest })
}

/// How far contexts jump from one call to the next, beside what a policy keeps free above its threshold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Jumps {
    /// All jumps that are more than nothing, ascending: tokens by which the conversation grows between two calls where nothing is taken out.
    pub sizes: Vec<u64>,
    /// The smallest and the largest reserve of a session: what the provider accepts less the threshold. `None` where no threshold lies below that.
    pub reserve: Option<(u64, u64)>,
    /// Jumps of sessions with a reserve.
    pub beside: u64,
    /// Those of them that are larger than the reserve of their session: from just below the threshold they end in a refusal.
    pub beyond: u64,
}

/// The quantiles of jumps that are shown, in percent, each with its name for programs.
pub const JUMP_QUANTILES: [(u64, &str); 4] = [(50, "p50"), (95, "p95"), (99, "p99"), (100, "largest")];

/// The jumps of a session, in the order of its calls.
pub fn jumps(trace: &Trace) -> impl Iterator<Item = u64> {
    let sizes: Vec<u64> = trace.calls.iter().map(|call| call.prompt(call.visible, call.visible)).collect();
    let jump = |pair: &[u64]| if let [before, after] = pair { after.saturating_sub(*before) } else { 0 };
    sizes.windows(2).map(jump).filter(|jump| *jump > 0).collect::<Vec<u64>>().into_iter()
}

impl Replay {
    /// Is none of its rules ever reached?
    pub fn never_reached(&self) -> Option<NeverReached> {
        // Most policies act: none of their sessions needs a look.
        if acts(&self.totals) {
            return None;
        }
        let replayed = self.outcomes.each().zip(&self.thresholds).filter(|(outcome, _)| outcome.totals.sessions > 0);
        never_reached(&self.totals, &replayed.map(|(_, threshold)| *threshold).collect::<Vec<_>>())
    }

    /// The jumps of all sessions beside its reserves.
    pub fn jumps(&self, corpus: &Corpus) -> Jumps {
        let mut all = Jumps::default();
        for ((trace, outcome), threshold) in corpus.traces.each().zip(self.outcomes.each()).zip(&self.thresholds) {
            let reserve = threshold.and_then(|threshold| outcome.prompt_limit.checked_sub(threshold)).filter(|reserve| *reserve > 0);
            if let Some(reserve) = reserve {
                let (least, most) = all.reserve.unwrap_or((reserve, reserve));
                all.reserve = Some((least.min(reserve), most.max(reserve)));
            }
            for jump in jumps(&trace) {
                all.sizes.push(jump);
                all.beside += u64::from(reserve.is_some());
                all.beyond += u64::from(reserve.is_some_and(|reserve| jump > reserve));
            }
        }
        all.sizes.sort_unstable();
        all
    }
}
