//! All settings over all sessions, a block of settings at a time, with the uncertainty over sessions.

use super::charges::{Billing, Charges, billed};
use super::metric::{KnownFrom, METRICS, Measure, Metric, OverSessions, Value};
use super::{Setting, SweepError};
use crate::catalog::Family;
use crate::experiment::chance::resamples;
use crate::experiment::corpus::Corpus;
use crate::experiment::replay::{ReplaySettings, Window, window_of};
use crate::experiment::summaries::RecordedSummaries;
use crate::policy::{Dialled, Drafts, Facts, Plan, Policy, PolicyError};
use crate::sim::{Conditions, Flock, RecordedSummary, Refetching, Shared, Totals};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Settings that are run, and written down, together.
const BLOCK: usize = 1_024;

/// Sessions whose sums wait to be added up.
const BATCH: usize = 64;

/// Quotients are told in parts of one of this size.
pub(super) const PARTS: u64 = 1_000_000;

/// What one setting came to over all sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The place of the setting.
    pub setting: usize,
    /// Sums over all sessions, without ratios of guesses and without tools.
    pub totals: Totals,
    /// What that costs; nought where nobody asked.
    pub charges: Charges,
    /// By measure: what lies between the 5th and the 95th percentile of the resamples. Quotients in millionths. Empty where there are
    /// fewer than two sessions.
    pub spread: BTreeMap<String, (i64, i64)>,
    /// The objective in each resample of the sessions; quotients in millionths. Resamples are the same for all settings. Empty where
    /// there are fewer than two sessions.
    pub resampled: Vec<i64>,
}

impl Row {
    /// The value of a measure.
    pub fn value(&self, measure: &Measure) -> Value {
        measure.of(&self.totals, &self.charges)
    }
}

/// A sweep that can be run.
pub struct Sweep<'a> {
    /// The sessions.
    pub corpus: &'a Corpus,
    /// The base policies.
    pub bases: &'a [Policy],
    /// What is set in them.
    pub settings: &'a [Setting],
    /// What holds for all of them.
    pub replay: &'a ReplaySettings<'a>,
    /// What is asked for, the objective first.
    pub measures: &'a [Measure],
    /// How often sessions are resampled.
    pub resamples: usize,
    /// The seed of that.
    pub seed: u64,
    /// What bills are made by; absent where nobody asks for cost.
    pub billing: Option<Billing<'a>>,
}

/// The windows of one session under each default that a policy may have: sessions with the same ones share their plans.
type Windows = Vec<(u64, u64, u64, u64, Option<Family>)>;

impl Sweep<'_> {
    /// Runs all settings from this place on, and hands over their rows in order, block by block.
    pub fn run(&self, from: usize, give: &mut dyn FnMut(&[Row]) -> Result<(), SweepError>) -> Result<(), SweepError> {
        let sessions = self.corpus.traces.len();
        let weights = resamples(&self.corpus.by_identity(), if sessions < 2 { 0 } else { self.resamples }, self.seed);
        let summaries = RecordedSummaries::fit(&self.corpus.traces);
        let mut from = from;
        while let Some(block) = self.settings.get(from..).filter(|rest| !rest.is_empty()) {
            let block = block.get(..BLOCK).unwrap_or(block);
            let accounts = self.block(block, &summaries, &weights)?;
            give(&self.rows(from, accounts))?;
            from += block.len();
        }
        Ok(())
    }

    fn block(&self, block: &[Setting], summaries: &RecordedSummaries, weights: &[Vec<u16>]) -> Result<Accounts, SweepError> {
        let policies: Vec<Policy> = block.par_iter().map(|setting| setting.policy(self.bases)).collect::<Result<_, PolicyError>>()?;
        let mut drafts: Vec<Drafts<'_>> = self.bases.iter().map(Drafts::new).collect();
        let base = |setting: &Setting| drafts.get(setting.base);
        let dialled: Vec<Dialled<'_>> =
            block.iter().zip(&policies).filter_map(|(setting, policy)| Some(base(setting)?.dial(policy))).collect();
        let own: Vec<Option<u64>> = policies.iter().map(Policy::default_window).collect();
        let mut defaults = own.clone();
        defaults.sort_unstable();
        defaults.dedup();
        let mut alike: BTreeMap<(Windows, Option<RecordedSummary>), Vec<usize>> = BTreeMap::new();
        for (place, trace) in self.corpus.traces.iter().enumerate() {
            let key =
                |window: Window| (window.window, window.prompt_limit, window.facts.max_input, window.facts.max_output, window.facts.family);
            let windows = defaults.iter().map(|default| key(window_of(trace, *default, self.replay))).collect();
            alike.entry((windows, summaries.model(trace))).or_default().push(place);
        }
        let mut accounts = Accounts::new(block.len(), weights.first().map_or(0, Vec::len));
        // Sessions of the same windows stand side by side here: their plans are worked out once.
        let mut known: Option<(&Windows, Vec<Arc<Plan>>)> = None;
        for ((windows, recorded_summary), places) in &alike {
            let window = |default: &Option<u64>| {
                let place = defaults.binary_search(default).unwrap_or(0);
                windows.get(place).copied().unwrap_or_default()
            };
            let plans = match known.take() {
                Some((of, plans)) if of == windows => plans,
                _ => {
                    let mut plans = Vec::with_capacity(block.len());
                    for ((setting, dialled), default) in block.iter().zip(&dialled).zip(&own) {
                        let (window, _, max_input, max_output, family) = window(default);
                        let facts = Facts { window: Some(window), max_input, max_output, family };
                        let Some(drafts) = drafts.get_mut(setting.base) else { continue };
                        plans.push(drafts.plan(dialled, &facts)?);
                    }
                    plans
                }
            };
            let conditions = |default: &Option<u64>| {
                let (window, prompt_limit, ..) = window(default);
                Conditions {
                    window,
                    prompt_limit,
                    reserve: self.replay.reserve,
                    recorded_summary: *recorded_summary,
                    ..Conditions::default()
                }
            };
            let conditions: Vec<Conditions> = own.iter().map(conditions).collect();
            let settings: Vec<(&Plan, &Conditions)> = plans.iter().map(Arc::as_ref).zip(&conditions).collect();
            let flock = Flock::new(&settings);
            for batch in places.chunks(BATCH) {
                let simulate = |place: &usize| {
                    self.corpus.traces.get(*place).map(|trace| {
                        let (shared, charges) = billed(trace, flock.simulate(trace), &settings, self.billing);
                        (*place, shared, charges)
                    })
                };
                let done: Vec<(usize, Shared, Vec<Charges>)> = batch.par_iter().with_max_len(1).filter_map(simulate).collect();
                for (place, shared, charges) in &done {
                    accounts.add(shared, charges, weights.get(*place).map_or(&[], Vec::as_slice));
                }
            }
            known = Some((windows, plans));
        }
        Ok(accounts)
    }

    fn rows(&self, first: usize, accounts: Accounts) -> Vec<Row> {
        let known = |metric: &&Metric| match metric.known_from {
            KnownFrom::Replay => true,
            KnownFrom::Bill => self.billing.is_some(),
            KnownFrom::ClosedLoop => self.billing.is_some_and(|billing| billing.refetch != Refetching::Never),
        };
        let spread_over: Vec<Measure> = METRICS
            .iter()
            .filter(known)
            .map(|part| Measure { part, whole: None })
            .chain(self.measures.iter().copied())
            .filter(|measure| measure.parts().all(|metric| metric.over_sessions == OverSessions::Sum))
            .collect();
        let objective = self.measures.first().filter(|measure| measure.parts().all(|part| part.over_sessions == OverSessions::Sum));
        // What a setting comes to that is nowhere different from the first one, worked out once.
        let usual: Vec<Option<(i64, i64)>> = spread_over.iter().map(|measure| between(accounts.resampled(None, measure))).collect();
        let row = |place: usize| {
            let resampled = |measure: &Measure| accounts.resampled(Some(place), measure);
            let spread_of = |measure: &Measure, usual: &Option<(i64, i64)>| {
                if accounts.as_usual(place, measure) { *usual } else { between(resampled(measure)) }
            };
            let spread = spread_over.iter().zip(&usual);
            let spread = spread.filter_map(|(measure, usual)| Some((measure.name(), spread_of(measure, usual)?))).collect();
            Row {
                setting: first + place,
                totals: accounts.totals_of(place),
                charges: accounts.charges_of(place),
                spread,
                resampled: objective.map(resampled).unwrap_or_default(),
            }
        };
        (0..accounts.totals.len()).into_par_iter().map(row).collect()
    }
}

/// The 5th and the 95th percentile; `None` of nothing.
pub(in crate::experiment) fn between(mut values: Vec<i64>) -> Option<(i64, i64)> {
    let last = values.len().checked_sub(1)?;
    let (low, high) = (last * 5 / 100, (last * 95).div_ceil(100));
    let (_, high, _) = values.select_nth_unstable(high);
    let high = *high;
    let (_, low, _) = values.select_nth_unstable(low);
    Some((*low, high))
}

/// Sums that grow session by session.
struct Accounts {
    /// By setting: the sums over sessions in which it came to something else than another setting.
    totals: Vec<Totals>,
    charges: Vec<Charges>,
    /// The sums over sessions that were the same for all settings.
    common: (Totals, Charges),
    resamples: usize,
    /// By metric and resample: what the first setting came to.
    first: Vec<i64>,
    /// By setting, metric and resample: what it came to beyond the first one. Most sessions are the same for most settings.
    beyond: Vec<i64>,
}

impl Accounts {
    fn new(settings: usize, resamples: usize) -> Accounts {
        let cells = METRICS.len() * resamples;
        Accounts {
            totals: vec![Totals::default(); settings],
            charges: vec![Charges::default(); settings],
            common: Default::default(),
            resamples,
            first: vec![0; cells],
            beyond: vec![0; cells * settings],
        }
    }

    /// Adds what all settings came to in one session, which stands so often in each resample.
    fn add(&mut self, shared: &Shared, charges: &[Charges], weights: &[u16]) {
        let values_of =
            |totals: &Totals, charges: &Charges| METRICS.iter().map(|metric| (metric.of)(totals, charges)).collect::<Vec<i64>>();
        let Some(place) = shared.of.first().map(|of| *of as usize) else { return };
        let same = shared.of.iter().all(|of| *of as usize == place);
        if let (true, Some(totals), Some(charges)) = (same, shared.totals.get(place), charges.get(place)) {
            self.common.0 += totals;
            self.common.1 += charges;
            add_weighted(&mut self.first, values_of(totals, charges).into_iter(), weights);
            return;
        }
        let values: Vec<Vec<i64>> = shared.totals.iter().zip(charges).map(|(totals, charges)| values_of(totals, charges)).collect();
        let Some(first) = shared.of.first().and_then(|of| values.get(*of as usize)) else { return };
        add_weighted(&mut self.first, first.iter().copied(), weights);
        let cells = METRICS.len() * self.resamples;
        for (setting, of) in shared.of.iter().enumerate() {
            let (Some(sum), Some(totals)) = (self.totals.get_mut(setting), shared.totals.get(*of as usize)) else { continue };
            *sum += totals;
            if let (Some(sum), Some(charges)) = (self.charges.get_mut(setting), charges.get(*of as usize)) {
                *sum += charges;
            }
            let own = values.get(*of as usize).filter(|own| *own != first);
            if let (Some(own), Some(beyond)) = (own, self.beyond.get_mut(setting * cells..(setting + 1) * cells)) {
                add_weighted(beyond, own.iter().zip(first).map(|(own, first)| own - first), weights);
            }
        }
    }

    /// The sums of one setting over all sessions.
    fn totals_of(&self, setting: usize) -> Totals {
        let mut totals = self.totals.get(setting).cloned().unwrap_or_default();
        totals += &self.common.0;
        totals
    }

    /// Its charges over all sessions.
    fn charges_of(&self, setting: usize) -> Charges {
        let mut charges = self.charges.get(setting).copied().unwrap_or_default();
        charges += &self.common.1;
        charges
    }

    /// What a setting came to beyond the first one, in each resample.
    fn beyond(&self, setting: usize, metric: &Metric) -> &[i64] {
        self.row(&self.beyond, setting * METRICS.len() + place_of(metric))
    }

    fn row<'c>(&self, cells: &'c [i64], place: usize) -> &'c [i64] {
        cells.get(place * self.resamples..(place + 1) * self.resamples).unwrap_or(&[])
    }

    /// Does a setting come to the same as the first one in each resample?
    fn as_usual(&self, setting: usize, measure: &Measure) -> bool {
        measure.parts().all(|metric| self.beyond(setting, metric).iter().all(|beyond| *beyond == 0))
    }

    /// A measure of one setting in each resample; of the first one where none is named.
    fn resampled(&self, setting: Option<usize>, measure: &Measure) -> Vec<i64> {
        let part = |metric: &'static Metric| {
            let first = self.row(&self.first, place_of(metric)).iter();
            match setting {
                None => first.copied().collect(),
                Some(setting) => first.zip(self.beyond(setting, metric)).map(|(first, beyond)| first + beyond).collect::<Vec<i64>>(),
            }
        };
        let parts = part(measure.part);
        match measure.whole {
            None => parts,
            Some(whole) => {
                let quotient = |(part, whole): (i64, i64)| {
                    let scaled = i128::from(part) * i128::from(PARTS);
                    scaled.checked_div(i128::from(whole)).and_then(|value| i64::try_from(value).ok()).unwrap_or(0)
                };
                parts.into_iter().zip(part(whole)).map(quotient).collect()
            }
        }
    }
}

fn place_of(metric: &Metric) -> usize {
    METRICS.iter().position(|known| known.name == metric.name).unwrap_or(0)
}

fn add_weighted(cells: &mut [i64], values: impl Iterator<Item = i64>, weights: &[u16]) {
    if weights.is_empty() {
        return;
    }
    for (cells, value) in cells.chunks_mut(weights.len()).zip(values).filter(|(_, value)| *value != 0) {
        for (cell, weight) in cells.iter_mut().zip(weights) {
            *cell += value * i64::from(*weight);
        }
    }
}
