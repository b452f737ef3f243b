//! What is tuned, and the rows of its settings.

use super::bound::Bound;
use super::space::Axis;
use crate::corpus::Corpus;
use crate::experiment::charges::Billing;
use crate::experiment::measure::Measure;
use crate::experiment::metric::KnownFrom;
use crate::experiment::replay::ReplaySettings;
use crate::experiment::sweep::{Direction, Objective, Row, Setting, Sweep, SweepError};
use crate::policy::Policy;
use crate::sim::Refetching;

/// What is tuned, and how.
pub struct Tune<'a> {
    /// The policy, with what is not tuned as it shall be.
    pub policy: &'a Policy,
    /// The parameters that are tuned.
    pub axes: &'a [Axis],
    /// What is sought; `None` for cost net of refetches where anything is priced, else tokens.
    pub objective: Option<Objective>,
    /// What must be kept; `None` for what is usual with what is sought.
    pub bounds: Option<&'a [Bound]>,
    /// What holds for all settings.
    pub replay: &'a ReplaySettings<'a>,
    /// What bills are made by.
    pub billing: Billing<'a>,
    /// So many settings are looked at before the search is refined.
    pub coarse: usize,
    /// How often sessions are resampled.
    pub resamples: usize,
    /// The seed of that.
    pub seed: u64,
}

impl Tune<'_> {
    pub(super) fn usual_objective(&self, training: &Corpus, default: &Setting) -> Result<Objective, SweepError> {
        let cost = Objective { direction: Direction::Minimise, measure: Measure::parse("net cost")? };
        let rows = self.rows(training, std::slice::from_ref(default), &cost, &[])?;
        let priced = rows.first().is_some_and(|row| row.charges.calls > row.charges.unpriced_calls);
        if priced { Ok(cost) } else { Ok(Objective { measure: Measure::parse("tokens")?, ..cost }) }
    }

    /// The rows of settings over a corpus, in their order.
    pub(super) fn rows(
        &self,
        corpus: &Corpus,
        settings: &[Setting],
        objective: &Objective,
        bounds: &[Bound],
    ) -> Result<Vec<Row>, SweepError> {
        let mut measures = vec![objective.measure];
        measures.extend(bounds.iter().map(Bound::measure));
        // The closed loop is run only where somebody looks at it: it takes a replay more for each setting.
        let closed = measures.iter().any(|measure| measure.known_from() == KnownFrom::ClosedLoop);
        let refetch = if closed { self.billing.refetch } else { Refetching::Never };
        let sweep = Sweep {
            corpus,
            bases: std::slice::from_ref(self.policy),
            settings,
            replay: self.replay,
            measures: &measures,
            resamples: self.resamples,
            seed: self.seed,
            billing: Some(Billing { refetch, ..self.billing }),
        };
        let mut rows = Vec::with_capacity(settings.len());
        sweep.run(0, &mut |block| {
            rows.extend_from_slice(block);
            Ok(())
        })?;
        Ok(rows)
    }
}
