//! What is tuned, and the rows of its settings.

use super::bound::Bound;
use super::space::Axis;
use crate::corpus::Corpus;
use crate::experiment::charges::Billing;
use crate::experiment::metric::KnownFrom;
use crate::experiment::replay::ReplaySettings;
use crate::experiment::sweep::{Objective, Row, Setting, Sweep, SweepError, Watch, summed};
use crate::policy::Policy;
use crate::sim::Refetching;

/// The policy, the parameters and the goal of a search.
pub struct Tune<'a> {
    /// The policy, with what is not tuned as it shall be.
    pub policy: &'a Policy,
    /// The parameters that are tuned.
    pub axes: &'a [Axis],
    /// The measure to minimise or maximise.
    pub objective: Objective,
    /// The bounds that a setting must keep.
    pub bounds: &'a [Bound],
    /// The smallest difference that is worth a change, as a share.
    pub worth: f64,
    /// What holds for all settings.
    pub replay: &'a ReplaySettings<'a>,
    /// What bills are made by.
    pub billing: Billing<'a>,
    /// So many settings are looked at before the search is refined.
    pub coarse: usize,
    /// How often clusters of sessions are drawn.
    pub resamples: usize,
    /// The seed of these draws.
    pub seed: u64,
    /// Who is told how far it has come.
    pub watch: &'a dyn Watch,
}

impl Tune<'_> {
    /// The rows of settings over a corpus, in their order. Their sums are those of the objective, of each bound, and of failed sessions.
    pub(super) fn rows(&self, corpus: &Corpus, settings: &[Setting]) -> Result<Vec<Row>, SweepError> {
        let measures = summed(&self.objective, self.bounds.iter().map(Bound::measure))?;
        // The closed loop is run only where a measure needs it: it takes a second replay for each setting.
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
            watch: self.watch,
        };
        sweep.all(&sweep.sampling())
    }
}
