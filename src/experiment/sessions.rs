//! What one policy came to, session by session.

use super::corpus::Corpus;
use super::replay::{ReplaySettings, replay, replay_closed};
use super::sweep::{Billing, Charges, Metric};
use crate::cost::bills;
use crate::policy::{Policy, PolicyError};
use crate::sim::{Outcome, Refetching, Totals};
use crate::trace::Trace;
use rayon::prelude::*;

/// The sums of one session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFigures {
    /// What the replay counts.
    pub totals: Totals,
    /// What it costs; nought where nobody asked.
    pub charges: Charges,
}

impl SessionFigures {
    /// The value of a metric.
    pub fn value(&self, metric: &Metric) -> i64 {
        (metric.of)(&self.totals, &self.charges)
    }
}

/// The figures of each session under a policy, in the corpus's order.
pub fn by_session(
    corpus: &Corpus,
    policy: &Policy,
    settings: &ReplaySettings<'_>,
    billing: Option<Billing<'_>>,
) -> Result<Vec<SessionFigures>, PolicyError> {
    let policies = std::slice::from_ref(policy);
    let refetch = billing.map_or(Refetching::Never, |billing| billing.refetch);
    let mut replayed = if refetch == Refetching::Never {
        replay(corpus, policies, settings)?
    } else {
        replay_closed(corpus, policies, settings, refetch)?
    };
    let Some(replayed) = replayed.pop() else { return Ok(Vec::new()) };
    let closed = replayed.closed.as_ref().map_or(&replayed.outcomes, |closed| &closed.outcomes);
    let figures = |(trace, (open, closed)): (&Trace, (&Outcome, &Outcome))| {
        let charges = |by: Billing<'_>| Charges::of(&bills(trace, open, by.tariff), &bills(trace, closed, by.tariff), by.cache);
        SessionFigures { totals: open.totals.sums(), charges: billing.map(charges).unwrap_or_default() }
    };
    let outcomes = replayed.outcomes.par_iter().zip(closed);
    Ok(corpus.traces.par_iter().zip(outcomes).map(figures).collect())
}
