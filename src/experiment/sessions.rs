//! What one policy came to, session by session.

use super::charges::{Billing, Charges};
use super::metric::Metric;
use super::replay::{ReplaySettings, replay, replay_closed};
use crate::corpus::Corpus;
use crate::policy::{Policy, PolicyError};
use crate::sim::{Outcome, Refetching, Totals};
use crate::trace::Trace;
use rayon::prelude::*;
use std::borrow::Cow;

/// The sums of one session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionFigures {
    /// What the replay counts.
    pub totals: Totals,
    /// What it costs; 0 where no bill was asked for.
    pub charges: Charges,
}

impl SessionFigures {
    /// The value of a metric.
    pub fn value(&self, metric: &Metric) -> i64 {
        metric.value(&self.totals, &self.charges)
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
    let closed = |place: usize| replayed.closed.as_ref().and_then(|closed| closed.outcomes.at(place));
    let figures = |(place, (trace, open)): (usize, (Cow<'_, Trace>, Cow<'_, Outcome>))| {
        let charges = |by: Billing<'_>| {
            let calibration = by.calibration(&trace);
            let charges = Charges::open(&trace, &open, by, &calibration);
            closed(place).map_or(charges, |closed| charges.net_of(&Charges::open(&trace, &closed, by, &calibration)))
        };
        SessionFigures { totals: open.totals.sums(), charges: billing.map(charges).unwrap_or_default() }
    };
    Ok(corpus.traces.par_each().zip(replayed.outcomes.par_each()).enumerate().map(figures).collect())
}
