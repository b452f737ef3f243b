//! Does a prune pay? It breaks the cache once, and saves reads at every call that follows.

use super::tariff::Tariff;
use crate::catalog::Writes;
use crate::sim::{EventKind, Outcome};
use crate::trace::{CallRow, Trace};
use std::ops::AddAssign;

/// What one prune took out, cost and saves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prune {
    /// M: tokens that it took out of the prompt.
    pub removed: u64,
    /// Tokens behind the first edited place, which no cache knows any more.
    pub rewritten: u64,
    /// Calls from this one to the end of the session.
    pub calls_left: u64,
    /// What rewriting costs above reading, in thousand-millionths of a dollar.
    pub cost_nano_usd: u64,
    /// What the missing tokens save at one call.
    pub saving_nano_usd: u64,
}

impl Prune {
    /// The calls after which it has paid; absent where reading costs nothing, so that it never does.
    pub fn calls_to_pay(&self) -> Option<u64> {
        (self.saving_nano_usd > 0).then(|| self.cost_nano_usd.div_ceil(self.saving_nano_usd))
    }

    /// Did it pay before the session ended?
    pub fn pays(&self) -> bool {
        self.calls_to_pay().is_some_and(|calls| calls <= self.calls_left)
    }
}

/// All prunes of some sessions that have a price, and what their best size follows from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prunes {
    /// The prunes, session by session.
    pub all: Vec<Prune>,
    /// Calls of all sessions in which anything was pruned.
    pub calls: u64,
    /// Prunes before calls of models without a price: they are in no other figure.
    pub unpriced: u64,
}

impl AddAssign for Prunes {
    fn add_assign(&mut self, other: Prunes) {
        self.all.extend(other.all);
        self.calls += other.calls;
        self.unpriced += other.unpriced;
    }
}

impl Prunes {
    /// The prune size at which the cost of breaking the cache and the cost of carrying what could be pruned are together least:
    /// `sqrt(2 x growth x rewriting / reading)`, where growth is prunable tokens a call, rewriting what one prune costs and reading what
    /// a token costs at each call. It is the rule of the economic order quantity. Absent without prunes, or where reading is free.
    pub fn best_size(&self) -> Option<u64> {
        let count = self.all.len() as u128;
        let sum = |part: fn(&Prune) -> u64| self.all.iter().map(|prune| u128::from(part(prune))).sum::<u128>();
        let (removed, cost, saving) = (sum(|prune| prune.removed), sum(|prune| prune.cost_nano_usd), sum(|prune| prune.saving_nano_usd));
        // growth = removed / calls; rewriting = cost / count; reading a token = saving / removed.
        let square = (2 * removed).checked_mul(cost)?.checked_mul(removed)?;
        let below = u128::from(self.calls).checked_mul(count)?.checked_mul(saving)?;
        u64::try_from(square.checked_div(below)?.isqrt()).ok()
    }
}

/// The prunes of a session under a policy, with what each cost and saved at the prices of its model. What was removed is what a prompt
/// lacks against the one before and all that came since: a view that masks the same items again removes nothing more. Calls before
/// which the policy compacted or dropped messages as well are left out.
pub fn prunes(trace: &Trace, outcome: &Outcome, tariff: &Tariff<'_>) -> Prunes {
    let mut found = Prunes::default();
    let models = tariff.models(trace);
    let mut events = outcome.events.iter().peekable();
    let count = outcome.answered().len() as u64;
    let whole = |call: &CallRow| (call.hidden + call.visible).saturating_sub(call.missing);
    let pairs = outcome.answered().iter().zip(&trace.calls);
    // What happens behind a reply, as at the end of a turn, shows in the prompt after it.
    let mut behind = (false, false);
    for (index, ((last, last_call), (row, call))) in pairs.clone().zip(pairs.skip(1)).enumerate() {
        let place = index as u64 + 1;
        let (mut pruned, mut rewrote) = std::mem::take(&mut behind);
        while let Some(event) = events.next_if(|event| u64::from(event.call) <= place) {
            pruned |= event.kind == EventKind::Prune;
            rewrote |= matches!(event.kind, EventKind::Compact | EventKind::Reset | EventKind::Drop);
        }
        // What came since the last call would have been new all the same.
        let arrived = whole(call).saturating_sub(whole(last_call));
        let removed = (last.actual + arrived).saturating_sub(row.actual);
        if removed == 0 {
            behind = (pruned, rewrote);
        }
        if !pruned || rewrote || removed == 0 {
            continue;
        }
        let time = trace.time_of(call);
        let known = models.of(call, time);
        let Some(rates) = known.price.map(|price| price.rates(row.actual)) else {
            found.unpriced += 1;
            continue;
        };
        let paid = known.cache.is_some_and(|rule| rule.writes == Writes::Paid);
        let rewritten = row.actual.saturating_sub(row.prefix).saturating_sub(arrived);
        let written = if paid { rates.cache_write } else { rates.input };
        let cost = written.of(rewritten).saturating_sub(rates.cache_read.of(rewritten));
        let saving = rates.cache_read.of(removed);
        found.all.push(Prune { removed, rewritten, calls_left: count - place, cost_nano_usd: cost, saving_nano_usd: saving });
    }
    if !found.all.is_empty() {
        found.calls = count;
    }
    found
}
