//! The search and its judgement.

use super::asked::Tune;
use super::search::Search;
use super::split::Split;
use super::verdict::{Judged, Trial, Tuned};
use crate::experiment::charges::Billing;
use crate::experiment::metric::Unit;
use crate::experiment::recording::own_error;
use crate::experiment::sweep::{Row, Sampling, Setting, SweepError};

impl Tune<'_> {
    /// Searches the training sessions, and holds what it finds against the default on the others.
    pub fn run(&self, split: &Split) -> Result<Tuned, SweepError> {
        let untouched = Setting { base: 0, values: Vec::new() };
        let mut search = Search::new(self, split);
        let found = search.run()?;
        let (tried, acted) = (search.tried(), search.acted());
        let default_training = search.default_row();
        let mut settings = vec![untouched.clone()];
        settings.extend(found.as_ref().map(|(setting, _)| setting.clone()));
        let held_out = self.rows(&split.held_out, &settings)?;
        let default = Trial { setting: untouched, training: default_training, held_out: row(&held_out, 0) };
        let best = found.map(|(setting, training)| Trial { setting, training, held_out: row(&held_out, 1) });
        let is_money = self.objective.measure.part.unit == Unit::Money;
        let Billing { tariff, cache, .. } = self.billing;
        let own_error = if is_money { own_error(&split.held_out, tariff, cache, self.replay)? } else { None };
        let sampling = Sampling::new(&split.held_out.traces, Some(tariff), is_money, self.resamples, self.seed);
        Ok(Tuned::new(split, Judged { tune: self, sampling: &sampling, own_error, tried, acted }, default, best))
    }
}

fn row(rows: &[Row], place: usize) -> Row {
    rows.get(place).cloned().unwrap_or_default()
}
