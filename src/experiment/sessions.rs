//! What one policy came to, session by session.

use super::charges::{Billing, Charges};
use super::metric::Metric;
use super::replay::{ReplaySettings, replay, replay_closed};
use crate::corpus::Corpus;
use crate::list::{List, Pack};
use crate::policy::{Policy, PolicyError};
use crate::sim::{Refetching, Totals};
use serde::{Deserialize, Serialize};

/// The sums of one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionFigures {
    /// Calls, tokens and events of the replay.
    pub totals: Totals,
    /// What it costs; 0 where no bill was asked for.
    pub charges: Charges,
}

impl Pack for SessionFigures {}

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
) -> Result<List<SessionFigures>, PolicyError> {
    let policies = std::slice::from_ref(policy);
    let refetch = billing.map_or(Refetching::Never, |billing| billing.refetch);
    let mut replayed = if refetch == Refetching::Never {
        replay(corpus, policies, settings)?
    } else {
        replay_closed(corpus, policies, settings, refetch)?
    };
    let Some(replayed) = replayed.pop() else { return Ok(List::default()) };
    let closed = |place: usize| replayed.closed.as_ref().and_then(|closed| closed.outcomes.at(place));
    let figures = |place: usize| {
        let (Some(trace), Some(open)) = (corpus.traces.at(place), replayed.outcomes.at(place)) else { return SessionFigures::default() };
        let charges = |by: Billing<'_>| {
            let calibration = by.calibration(&trace);
            let charges = Charges::open(&trace, &open, by, &calibration);
            closed(place).map_or(charges, |closed| charges.net_of(&Charges::open(&trace, &closed, by, &calibration)))
        };
        SessionFigures { totals: open.totals.sums(), charges: billing.map(charges).unwrap_or_default() }
    };
    Ok(List::made(&corpus.traces, figures))
}
