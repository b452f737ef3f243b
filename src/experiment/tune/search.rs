//! The search: a coarse grid over all parameters, then ever finer ones around the best setting. Nothing in it is left to chance.

use super::asked::Tune;
use super::bound::Bound;
use super::space::{Axis, Coordinate};
use super::split::{Part, Split};
use crate::corpus::Corpus;
use crate::experiment::reach::acts;
use crate::experiment::sweep::{Direction, Row, Setting, SweepError, combined};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The grid is made finer so many times at most.
const ROUNDS: usize = 6;

/// What has been looked at so far.
pub(super) struct Search<'a> {
    tune: &'a Tune<'a>,
    training: &'a Corpus,
    /// The bounds as they are for that part.
    bounds: Vec<Bound>,
    points: Vec<Vec<Coordinate>>,
    rows: Vec<Row>,
    known: BTreeMap<Vec<Coordinate>, usize>,
}

impl<'a> Search<'a> {
    pub fn new(tune: &'a Tune<'a>, split: &'a Split) -> Search<'a> {
        let bounds = tune.bounds.iter().map(|bound| bound.of_part(split.share(Part::Training))).collect();
        Search { tune, training: &split.training, bounds, points: Vec::new(), rows: Vec::new(), known: BTreeMap::new() }
    }

    /// The best setting that keeps all bounds, with its row; `None` where none does.
    pub fn run(&mut self) -> Result<Option<(Setting, Row)>, SweepError> {
        let axes = self.tune.axes;
        let each = (self.tune.coarse.max(2) as f64).powf(1.0 / axes.len().max(1) as f64).floor() as usize;
        // The default stands in every list beside the others.
        let coarse: Vec<Vec<Coordinate>> = axes.iter().map(|axis| axis.coarse(each.saturating_sub(1).max(3))).collect();
        self.look_at(combined(&coarse))?;
        for _ in 0..ROUNDS {
            let Some(best) = self.best() else { break };
            let finer: Vec<Vec<Coordinate>> = axes.iter().enumerate().map(|(place, axis)| self.around(best, place, axis)).collect();
            let before = self.points.len();
            self.look_at(combined(&finer))?;
            if self.points.len() == before {
                break;
            }
        }
        Ok(self.best().and_then(|best| Some((self.setting(self.points.get(best)?), self.rows.get(best)?.clone()))))
    }

    /// So many settings have been looked at.
    pub fn tried(&self) -> usize {
        self.rows.len()
    }

    /// Does any of them do anything in any session?
    pub fn acted(&self) -> bool {
        self.rows.iter().any(|row| acts(&row.totals))
    }

    /// The row of the policy's defaults.
    pub fn default_row(&self) -> Row {
        self.rows.first().cloned().unwrap_or_default()
    }

    /// Runs the points that are new. The first point of all is that of the defaults.
    fn look_at(&mut self, points: Vec<Vec<Coordinate>>) -> Result<(), SweepError> {
        let mut seen = BTreeSet::new();
        let new: Vec<Vec<Coordinate>> =
            points.into_iter().filter(|point| !self.known.contains_key(point) && seen.insert(point.clone())).collect();
        let settings: Vec<Setting> = new.iter().map(|point| self.setting(point)).collect();
        for (point, mut row) in new.into_iter().zip(self.tune.rows(self.training, &settings)?) {
            row.setting = self.rows.len();
            self.known.insert(point.clone(), self.rows.len());
            self.points.push(point);
            self.rows.push(row);
        }
        Ok(())
    }

    fn setting(&self, point: &[Coordinate]) -> Setting {
        let values = self.tune.axes.iter().zip(point).filter_map(|(axis, coordinate)| Some((axis.param.clone(), coordinate.clone()?)));
        Setting { base: 0, values: values.collect() }
    }

    /// The best of those that keep all bounds and fail the fewest sessions; of equals the one that changes least, then the one that came first.
    fn best(&self) -> Option<usize> {
        let default = self.rows.first()?;
        let keeps = |row: &&Row| self.bounds.iter().enumerate().all(|(place, bound)| bound.holds(place + 1, row, default, self.tune.worth));
        let changes = |row: &Row| self.points.get(row.setting).map_or(0, |point| point.iter().flatten().count());
        let better = |one: &&Row, other: &&Row| {
            let objective = &self.tune.objective;
            let order: Ordering = one.value(&objective.measure).compare(other.value(&objective.measure));
            let order = if objective.direction == Direction::Minimise { order } else { order.reverse() };
            one.failed_sessions()
                .cmp(&other.failed_sessions())
                .then(order)
                .then(changes(one).cmp(&changes(other)))
                .then(one.setting.cmp(&other.setting))
        };
        self.rows.iter().filter(keeps).min_by(better).map(|row| row.setting)
    }

    /// The best setting's value of one parameter, and what lies halfway to the nearest values on both sides that are known.
    fn around(&self, best: usize, place: usize, axis: &Axis) -> Vec<Coordinate> {
        let coordinate = |point: &Vec<Coordinate>| point.get(place).cloned().flatten();
        let Some(here) = self.points.get(best).map(coordinate) else { return vec![None] };
        let Some(number) = axis.number(&here) else { return vec![here] };
        let known = || self.points.iter().filter_map(|point| axis.number(&coordinate(point)));
        let below =
            known().filter(|other| *other < number).fold(None, |most: Option<f64>, other| Some(most.map_or(other, |most| most.max(other))));
        let above = known()
            .filter(|other| *other > number)
            .fold(None, |least: Option<f64>, other| Some(least.map_or(other, |least| least.min(other))));
        let mut around = vec![here];
        for other in [below, above].into_iter().flatten() {
            let halfway = axis.between(number, other);
            if !around.contains(&halfway) {
                around.push(halfway);
            }
        }
        around
    }
}
