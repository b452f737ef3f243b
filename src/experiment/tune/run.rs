//! The search and its judgement.

use super::asked::Tune;
use super::bound::Bound;
use super::search::Search;
use super::split::Split;
use super::verdict::{Trial, Tuned};
use crate::experiment::sweep::{Row, Setting, SweepError};

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
}

fn row(rows: &[Row], place: usize) -> Row {
    rows.get(place).cloned().unwrap_or_default()
}
