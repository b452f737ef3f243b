//! Predicted beside measured: pooled over tasks, each with its interval, its noise and its verdict.

use super::measures::{COMPARED, Claim, Compared};
use super::run::Run;
use crate::experiment::metric::Unit;
use crate::sim::EventKind;
use crate::statistics::{
    ANCHORED, Agreement, Chance, Estimate, FEWEST, FINE, RESAMPLES, Resamples, SEED, agreement, expected, quantile, quotient,
    rank_correlation, share, showing,
};
use std::collections::BTreeMap;

/// What makes quotients of the figures of a comparison: two of them are changes.
const QUOTIENTS: [f64; 6] = [0.0, 0.0, 0.0, 1.0, 1.0, 0.0];

/// The runs of one arm of an experiment, and those that it is held against.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    /// The arm's name, as the command gives it.
    pub name: String,
    /// Runs without the policy.
    pub before: Vec<Run>,
    /// The same as the policy would have had them; empty where none was named.
    pub predicted: Vec<Run>,
    /// Runs under the policy.
    pub after: Vec<Run>,
}

/// What intervals are drawn by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawn {
    /// Tasks, with all their runs on both sides.
    Tasks,
    /// Runs, each side by itself.
    Runs,
}

/// A figure with its interval, before, as predicted and after; and the changes, as shares of before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    /// Measured without the policy.
    pub before: Estimate,
    /// As predicted; what is before where no policy was named. As of the predicted change, the interval holds what drawing other tasks before would make of it, not the
    /// error of the prediction: that is measured by what came after.
    pub predicted: Estimate,
    /// Measured under the policy.
    pub after: Estimate,
    /// Change from `before` to `predicted`.
    pub predicted_change: Estimate,
    /// Change from `before` to `after`.
    pub measured_change: Estimate,
    /// Measured over predicted, in the same draws: how unlike tasks are before is on both sides. It judges the prediction. `None` where nothing of it is predicted.
    pub ratio: Option<Estimate>,
}

/// Errors of a prediction, by task: the mean of their sizes, as shares of what was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanError {
    /// Mean error of the prediction.
    pub predicted: f64,
    /// Mean error of the claim that the policy changes nothing.
    pub unchanged: f64,
}

/// One measure in one arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The measure that is compared.
    pub measure: &'static Compared,
    /// What it is without the policy; `None` where no run tells.
    pub before: Option<f64>,
    /// What is predicted; `None` where no policy was named.
    pub predicted: Option<f64>,
    /// What it is under the policy; `None` where no run tells.
    pub after: Option<f64>,
    /// Of cost, what the policy's summarisers are predicted to take beside it; `None` of other measures, and where no policy was named.
    pub predicted_summarisers: Option<f64>,
    /// What they took; `None` where logs do not hold the request of each compaction.
    pub summarisers: Option<f64>,
    /// Absent with fewer than five runs on a side, or fewer than five of what is drawn.
    pub intervals: Option<Intervals>,
    /// By how much two random halves of the runs before differ at most in nine of ten splits: as a share, for rates as they are. `None` where nothing can be split.
    pub noise: Option<f64>,
    /// So many runs more in this arm would show a difference of 10 %, and of 20 %. Absent without an interval.
    pub more_runs: Option<[u64; 2]>,
    /// By task, where tasks tell.
    pub mean_error: Option<MeanError>,
    /// What is to be said; `None` where nothing is predicted.
    pub agreement: Option<Agreement>,
}

impl Found {
    /// What a value is more than before, as a share of that. `None` where before is nothing, or not known.
    pub fn change(&self, now: f64) -> Option<f64> {
        self.before.filter(|before| *before > 0.0).map(|before| now / before - 1.0)
    }
}

/// One arm of the experiment: what was predicted beside what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// The arm's name, as the command gives it.
    pub name: String,
    /// Runs without the policy that were compared, and those under it.
    pub runs: (usize, usize),
    /// Runs of tasks that the other side lacks, on either side: left out.
    pub left_out: (usize, usize),
    /// Runs before that the policy would not have brought to their end: left out.
    pub failed: usize,
    /// The share of the prompt tokens of the runs before that rests on recorded usage, and of those after; `None` without any token.
    pub anchored: [Option<f64>; 2],
    /// The share of the list price of both that rests on recorded usage: the rest is estimated replies, and calls without usage. `None` without a price.
    pub recorded_cost: [Option<f64>; 2],
    /// Runs without a call before and after, which are in no figure.
    pub silent: (usize, usize),
    /// Compared runs before of which text was removed that their logs do not note: with any, nothing is judged, for what was removed is not known.
    pub unnoted: usize,
    /// Runs after of which text was removed that nothing counts: with any, compactions after are not known.
    pub uncounted: usize,
    /// Tasks of both sides; 0 where no task is known.
    pub tasks: usize,
    /// What intervals are drawn by.
    pub drawn: Drawn,
    /// The measures that are known.
    pub measures: Vec<Found>,
}

/// The arms of an experiment, and how well predictions rank tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validation {
    /// The arms, in the order in which they were named.
    pub arms: Vec<Arm>,
    /// The rank correlation of predicted and measured values over all cells of arm and task, by measure, with the number of cells: five at least.
    pub ranks: Vec<(&'static Compared, f64, usize)>,
}

/// The places of a task's runs.
#[derive(Default)]
struct Task {
    before: Vec<usize>,
    after: Vec<usize>,
}

/// Holds predictions against runs.
pub fn validate(sides: Vec<Sides>) -> Validation {
    let mut cells: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
    let arms = sides.into_iter().map(|side| arm(side, &mut cells)).collect();
    let ranks = cells.into_iter().filter(|(_, cells)| cells.len() >= FEWEST).filter_map(|(place, cells)| {
        let measure = COMPARED.get(place)?;
        Some((measure, rank_correlation(&cells)?, cells.len()))
    });
    Validation { ranks: ranks.collect(), arms }
}

fn arm(mut side: Sides, cells: &mut BTreeMap<usize, Vec<(f64, f64)>>) -> Arm {
    let asks = |run: &Run| run.figures.totals.calls > 0;
    let of_no_call = |runs: &[Run]| runs.iter().filter(|run| !asks(run)).count();
    let silent = (of_no_call(&side.before), of_no_call(&side.after));
    let failed: Vec<bool> = side.predicted.iter().zip(&side.before).map(|(run, before)| run.is_failed && asks(before)).collect();
    let told: Vec<bool> = side.before.iter().map(asks).collect();
    let ends = |place: usize| told.get(place) == Some(&true) && failed.get(place) != Some(&true);
    side.after.retain(asks);
    let keep = |runs: Vec<Run>| runs.into_iter().enumerate().filter(|(place, _)| ends(*place)).map(|(_, run)| run).collect::<Vec<_>>();
    (side.before, side.predicted) = (keep(side.before), keep(side.predicted));
    let mut tasks: BTreeMap<Option<&str>, Task> = BTreeMap::new();
    for (place, run) in side.before.iter().enumerate() {
        tasks.entry(run.task.as_deref()).or_default().before.push(place);
    }
    for (place, run) in side.after.iter().enumerate() {
        tasks.entry(run.task.as_deref()).or_default().after.push(place);
    }
    tasks.retain(|_, task| !task.before.is_empty() && !task.after.is_empty());
    let named = tasks.keys().filter(|name| name.is_some()).count();
    let tasks: Vec<Task> = tasks.into_values().collect();
    let runs = tasks.iter().fold((0, 0), |(before, after), task| (before + task.before.len(), after + task.after.len()));
    let drawn = if tasks.len() >= FEWEST { Drawn::Tasks } else { Drawn::Runs };
    let rests = |runs: &[Run], places: fn(&Task) -> &Vec<usize>, of: fn(&Run) -> (u64, u64)| {
        let runs = tasks.iter().flat_map(places).filter_map(|place| runs.get(*place));
        let (rests, all) = runs.map(of).fold((0, 0), |(rests, all), (own, whole)| (rests + own, all + whole));
        (all > 0).then(|| rests as f64 / all as f64)
    };
    let both = |of: fn(&Run) -> (u64, u64)| [rests(&side.before, |task| &task.before, of), rests(&side.after, |task| &task.after, of)];
    let anchored = both(|run| (run.figures.totals.anchored_tokens, run.figures.totals.prompt_tokens));
    let recorded_cost = both(|run| {
        let all = run.figures.charges.nano_usd;
        (all.saturating_sub(run.estimated_nano_usd), all)
    });
    let compared = tasks.iter().flat_map(|task| &task.before).filter_map(|place| side.before.get(*place));
    let unnoted = compared.filter(|run| run.is_unnoted).count();
    let uncounted = side.after.iter().filter(|run| run.is_uncounted).count();
    let is_estimated = |shares: [Option<f64>; 2]| shares.iter().flatten().any(|share| *share < ANCHORED);
    let is_unknown = unnoted > 0 || is_estimated(anchored);
    let arm = Comparison { side: &side, tasks: &tasks, runs, drawn, is_unknown, is_cost_unknown: is_estimated(recorded_cost) };
    let measures = COMPARED.iter().enumerate().filter_map(|(place, measure)| {
        let values = Values::new(&side, measure)?;
        if named > 0 {
            cells.entry(place).or_default().extend(arm.cells(&values));
        }
        Some(arm.found(measure, &values, named > 0))
    });
    let measures = measures.collect();
    let left_out = (side.before.len() - runs.0, side.after.len() - runs.1);
    let failed = failed.iter().filter(|failed| **failed).count();
    Arm {
        name: side.name.clone(),
        runs,
        left_out,
        failed,
        silent,
        anchored,
        recorded_cost,
        unnoted,
        uncounted,
        tasks: named,
        drawn,
        measures,
    }
}

/// Part and whole of each run.
struct Values {
    before: Vec<(f64, f64)>,
    /// Empty where no policy was named.
    predicted: Vec<(f64, f64)>,
    /// Empty where no run tells.
    after: Vec<(f64, f64)>,
    /// Of cost, what summarisers take beside it, as predicted and after. Empty of other measures, and where that is not known.
    beside: [Vec<(f64, f64)>; 2],
}

impl Values {
    /// `None` where neither a recording nor a prediction tells.
    fn new(side: &Sides, measure: &Compared) -> Option<Values> {
        let of = |runs: &[Run]| runs.iter().map(|run| measure.of(run)).collect::<Option<Vec<_>>>();
        let (before, after) = (of(&side.before), of(&side.after));
        let predicted = of(&side.predicted).unwrap_or_default();
        let beside = [&side.predicted, &side.after]
            .map(|runs| runs.iter().map(|run| measure.beside(run)).collect::<Option<_>>().unwrap_or_default());
        // What no log knows stands beside nothing.
        (before.is_some() || !predicted.is_empty()).then(|| Values {
            before: before.unwrap_or_default(),
            predicted,
            after: after.unwrap_or_default(),
            beside,
        })
    }
}

struct Comparison<'a> {
    side: &'a Sides,
    tasks: &'a [Task],
    runs: (usize, usize),
    drawn: Drawn,
    /// Does one of the sides rest on estimates, or on logs that do not note what was removed?
    is_unknown: bool,
    /// Does the cost of one of the sides rest on estimates?
    is_cost_unknown: bool,
}

impl Comparison<'_> {
    /// The quotient of a side: means over the runs of a task, summed over tasks. `times` says how often each run counts, and each task.
    fn pooled(
        &self,
        values: &[(f64, f64)],
        places: impl Fn(&Task) -> &[usize],
        run: impl Fn(usize) -> f64,
        task: impl Fn(usize) -> f64,
    ) -> f64 {
        let (mut part, mut whole) = (0.0, 0.0);
        for (number, one) in self.tasks.iter().enumerate() {
            let weights: f64 = places(one).iter().map(|place| run(*place)).sum();
            let share = quotient(task(number), weights);
            for place in places(one) {
                let (own_part, own_whole) = values.get(*place).copied().unwrap_or_default();
                part += share * run(*place) * own_part;
                whole += share * run(*place) * own_whole;
            }
        }
        quotient(part, whole)
    }

    /// Before, predicted, after, both changes, and measured over predicted, of clusters that count so often.
    fn figures(&self, values: &Values, times: &[u16]) -> [f64; 6] {
        let count = |place: usize| times.get(place).copied().map_or(0.0, f64::from);
        let first_after = self.side.before.len();
        let by_runs = self.drawn == Drawn::Runs;
        let run = |place: usize| if by_runs { count(place) } else { 1.0 };
        let run_after = |place: usize| if by_runs { count(first_after + place) } else { 1.0 };
        // A task that a draw lacks on one side is left out on both.
        let drawn = |task: &Task| {
            let here = |places: &[usize], of: &dyn Fn(usize) -> f64| places.iter().map(|place| of(*place)).sum::<f64>() > 0.0;
            here(&task.before, &run) && here(&task.after, &run_after)
        };
        let task = |number: usize| match self.tasks.get(number) {
            _ if !by_runs => count(number),
            Some(task) if drawn(task) => 1.0,
            _ => 0.0,
        };
        let before = self.pooled(&values.before, |task| &task.before, run, task);
        let predicted = if values.predicted.is_empty() { before } else { self.pooled(&values.predicted, |task| &task.before, run, task) };
        let after = self.pooled(&values.after, |task| &task.after, run_after, task);
        let change = |now: f64| if before > 0.0 { now / before - 1.0 } else { 0.0 };
        [before, predicted, after, change(predicted), change(after), share(after, predicted)]
    }

    /// How few and how many events a call would bring this rate by chance: draws of few events are more alike than chance makes them, and those of none hold none.
    fn counted(&self, measure: &Compared, values: &Values, rate: f64) -> Option<[f64; 2]> {
        let (mut weighted, mut squares) = (0.0, 0.0);
        for task in self.tasks {
            let weight = 1.0 / task.after.len() as f64;
            let calls: f64 = task.after.iter().filter_map(|place| values.after.get(*place)).map(|(_, calls)| calls).sum();
            (weighted, squares) = (weighted + weight * calls, squares + weight * weight * calls);
        }
        // So many calls that count alike would say as much.
        let calls = quotient(weighted * weighted, squares);
        (measure.counts_events() && calls > 0.0).then(|| expected(rate * calls).map(|events| events / calls))
    }

    /// What summarisers take beside a measure of cost, as predicted (0) or after (1).
    fn beside(&self, values: &Values, side: usize) -> Option<f64> {
        let beside = values.beside.get(side).filter(|beside| !beside.is_empty())?;
        let places: fn(&Task) -> &[usize] = if side == 0 { |task| &task.before } else { |task| &task.after };
        Some(self.pooled(beside, places, |_| 1.0, |_| 1.0))
    }

    /// Do the logs after hold the requests that made their summaries?
    fn holds_summarisers(&self) -> bool {
        let runs = self.tasks.iter().flat_map(|task| &task.after).filter_map(|place| self.side.after.get(*place));
        let of = |run: &Run| (run.figures.totals.summariser_calls, run.figures.totals.events_of(EventKind::Compact));
        let (requests, compactions) = runs.map(of).fold((0, 0), |(requests, all), (own, compactions)| (requests + own, all + compactions));
        requests > 0 && requests >= compactions
    }

    fn found(&self, measure: &'static Compared, values: &Values, told_tasks: bool) -> Found {
        let clusters = match self.drawn {
            Drawn::Tasks => vec![self.tasks.len()],
            Drawn::Runs => vec![self.side.before.len(), self.side.after.len()],
        };
        let [before, predicted, after, ..] = self.figures(values, &vec![1; clusters.iter().sum()]);
        let is_enough = self.runs.0.min(self.runs.1) >= FEWEST && clusters.iter().all(|clusters| *clusters >= FEWEST);
        let resamples = Resamples::all_within(&clusters, RESAMPLES, SEED);
        let is_compared = self.runs.0.min(self.runs.1) > 0;
        let measured = !values.after.is_empty() && !values.before.is_empty() && is_compared;
        let intervals =
            (is_enough && measured).then(|| resamples.estimates_of_tails(QUOTIENTS, |times| self.figures(values, times))).flatten();
        let is_predicted = !values.predicted.is_empty() && measure.claim != Claim::Nothing && is_compared;
        let intervals = intervals.map(|[before, predicted, after, predicted_change, measured_change, ratio]| {
            let counted = self.counted(measure, values, after.value);
            let seen = counted.map_or(after, |[low, high]| Estimate { low: after.low.min(low), high: after.high.max(high), ..after });
            let ratio = counted.filter(|_| predicted.value > 0.0).map_or(ratio, |[low, high]| Estimate {
                low: ratio.low.min(low / predicted.value),
                high: ratio.high.max(high / predicted.value),
                ..ratio
            });
            Intervals {
                before: within_whole(measure, before),
                predicted: within_whole(measure, predicted),
                after: within_whole(measure, seen),
                predicted_change,
                measured_change,
                ratio: (is_predicted && ratio.value.is_finite()).then_some(ratio),
            }
        });
        let agreed = (is_predicted && measured).then(|| match intervals {
            _ if self.is_unknown || (self.is_cost_unknown && measure.is_cost()) => Agreement::CannotJudge,
            Some(Intervals { ratio: Some(ratio), .. }) => agreement(&ratio, before / predicted),
            // Nothing of it is predicted: what is surely there was missed.
            Some(known) if known.after.low > 0.0 => Agreement::Off,
            _ => Agreement::CannotTell,
        });
        let change = intervals.map(|known| if measure.is_rate { scaled(known.after) } else { known.measured_change });
        let more = |size: f64| {
            change.and_then(|change| showing(&change, self.runs.1, size)).map(|all| (all.ceil() as u64).saturating_sub(self.runs.1 as u64))
        };
        Found {
            measure,
            before: (!values.before.is_empty() && is_compared).then_some(before),
            predicted: is_predicted.then_some(predicted),
            after: measured.then_some(after),
            predicted_summarisers: is_predicted.then(|| self.beside(values, 0)).flatten(),
            summarisers: self.beside(values, 1).filter(|_| measured && self.holds_summarisers()),
            intervals,
            noise: self.noise(measure, &values.before),
            more_runs: more(FINE).zip(more(2.0 * FINE)).map(|(fine, coarse)| [fine, coarse]),
            mean_error: (told_tasks && measured && is_predicted && !measure.is_rate).then(|| self.mean_error(values)).flatten(),
            agreement: agreed,
        }
    }

    /// By task: before, predicted, after.
    fn by_task<'v>(&'v self, values: &'v Values) -> impl Iterator<Item = [f64; 3]> + 'v {
        let mean = |values: &[(f64, f64)], places: &[usize]| {
            let of = |part: fn(&(f64, f64)) -> f64| places.iter().filter_map(|place| values.get(*place)).map(part).sum::<f64>();
            quotient(of(|value| value.0), of(|value| value.1))
        };
        self.tasks
            .iter()
            .map(move |task| [mean(&values.before, &task.before), mean(&values.predicted, &task.before), mean(&values.after, &task.after)])
    }

    fn cells(&self, values: &Values) -> Vec<(f64, f64)> {
        let both = !values.predicted.is_empty() && !values.after.is_empty();
        self.by_task(values).filter(|_| both).map(|[_, predicted, after]| (predicted, after)).collect()
    }

    fn mean_error(&self, values: &Values) -> Option<MeanError> {
        let errors: Vec<(f64, f64)> = self
            .by_task(values)
            .filter(|[.., after]| *after > 0.0)
            .map(|[before, predicted, after]| ((predicted / after - 1.0).abs(), (before / after - 1.0).abs()))
            .collect();
        let mean = |of: fn(&(f64, f64)) -> f64| errors.iter().map(of).sum::<f64>() / errors.len() as f64;
        (!errors.is_empty()).then(|| MeanError { predicted: mean(|error| error.0), unchanged: mean(|error| error.1) })
    }

    /// Runs before, of each task in two random halves.
    fn noise(&self, measure: &Compared, values: &[(f64, f64)]) -> Option<f64> {
        let halved: Vec<&Task> = self.tasks.iter().filter(|task| task.before.len() >= 2).collect();
        if halved.is_empty() || values.is_empty() {
            return None;
        }
        let mut chance = Chance::new(SEED);
        let mut differences = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            let mut halves = [(0.0, 0.0); 2];
            for task in &halved {
                let order = chance.order(task.before.len());
                // Of an odd number chance says which half gets one more.
                let first = order.len() / 2 + if order.len() % 2 == 1 { chance.below(2) } else { 0 };
                for (number, place) in order.iter().enumerate() {
                    let (half, size) = if number < first { (0, first) } else { (1, order.len() - first) };
                    let value = task.before.get(*place).and_then(|run| values.get(*run)).copied().unwrap_or_default();
                    if let Some(half) = halves.get_mut(half) {
                        *half = (half.0 + value.0 / size as f64, half.1 + value.1 / size as f64);
                    }
                }
            }
            let [one, other] = halves.map(|(part, whole)| quotient(part, whole));
            differences.push(if measure.is_rate { (one - other).abs() } else { quotient((one - other).abs(), one.min(other)) });
        }
        differences.sort_by(f64::total_cmp);
        quantile(&differences, 900)
    }
}

/// No share is more than the whole.
fn within_whole(measure: &Compared, estimate: Estimate) -> Estimate {
    let most = if measure.unit() == Unit::Share { 1.0 } else { f64::INFINITY };
    Estimate { high: estimate.high.min(most), ..estimate }
}

/// An interval as a share of its figure.
fn scaled(estimate: Estimate) -> Estimate {
    Estimate { value: 1.0, low: quotient(estimate.low, estimate.value), high: quotient(estimate.high, estimate.value) }
}
