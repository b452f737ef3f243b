//! The cheapest setting of one policy that keeps its constraints: sought on some sessions, judged on the others.

mod decided;
mod search;
mod space;
mod split;
mod verdict;

pub use decided::{Decided, Part};
pub use search::Bound;
pub use space::Axis;
pub use split::{HELD_OUT_PERCENT, Split, split};
pub use verdict::{Difference, FEWEST, Trial, Tuned, Verdict};

use super::charges::Billing;
use super::measure::Measure;
use super::metric::KnownFrom;
use super::replay::ReplaySettings;
use super::sweep::{Direction, Objective, Row, Setting, Sweep, SweepError};
use crate::corpus::Corpus;
use crate::policy::Policy;
use crate::sim::Refetching;
use search::Search;

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
    /// Searches the training sessions, and holds what it finds against the default on the others.
    pub fn run(&self, split: &Split) -> Result<Tuned, SweepError> {
        let untouched = Setting { base: 0, values: Vec::new() };
        let objective = match self.objective {
            Some(objective) => objective,
            None => self.usual_objective(&split.training, &untouched)?,
        };
        let bounds = self.bounds.map_or_else(|| Bound::usual(&objective), |asked| Ok(asked.to_vec()))?;
        let mut search = Search::new(self, &split.training, objective, &bounds);
        let found = search.run()?;
        let tried = search.tried();
        let default_training = search.default_row();
        let mut settings = vec![untouched.clone()];
        settings.extend(found.as_ref().map(|(setting, _)| setting.clone()));
        let held_out = self.rows(&split.held_out, &settings, &objective, &bounds)?;
        let default = Trial { setting: untouched, training: default_training, held_out: row(&held_out, 0) };
        let best = found.map(|(setting, training)| Trial { setting, training, held_out: row(&held_out, 1) });
        Ok(Tuned::new(split, objective, bounds, tried, default, best))
    }

    fn usual_objective(&self, training: &Corpus, default: &Setting) -> Result<Objective, SweepError> {
        let cost = Objective { direction: Direction::Minimise, measure: Measure::parse("net cost")? };
        let rows = self.rows(training, std::slice::from_ref(default), &cost, &[])?;
        let priced = rows.first().is_some_and(|row| row.charges.calls > row.charges.unpriced_calls);
        if priced { Ok(cost) } else { Ok(Objective { measure: Measure::parse("tokens")?, ..cost }) }
    }

    /// The rows of settings over a corpus, in their order.
    fn rows(&self, corpus: &Corpus, settings: &[Setting], objective: &Objective, bounds: &[Bound]) -> Result<Vec<Row>, SweepError> {
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

fn row(rows: &[Row], place: usize) -> Row {
    rows.get(place).cloned().unwrap_or_default()
}
