//! What one policy came to, session by session.

use super::corpus::Corpus;
use super::replay::{ReplaySettings, replay};
use super::sweep::{Billing, Charges, Metric};
use crate::cost::bills;
use crate::policy::{Policy, PolicyError};
use crate::sim::Totals;
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
    let Some(replayed) = replay(corpus, std::slice::from_ref(policy), settings)?.pop() else { return Ok(Vec::new()) };
    let figures = |(trace, outcome): (&crate::trace::Trace, &crate::sim::Outcome)| SessionFigures {
        totals: outcome.totals.sums(),
        charges: billing.map(|by| Charges::of(&bills(trace, outcome, by.tariff), by.cache)).unwrap_or_default(),
    };
    Ok(corpus.traces.par_iter().zip(&replayed.outcomes).map(figures).collect())
}
