//! All settings over all sessions, a block of settings at a time, with the uncertainty over sessions.

use super::accounts::{Account, Accounts};
use super::design::Setting;
use super::row::Row;
use super::sampling::{DrawnSums, Sampling};
use super::sums::adds_up;
use super::watch::Watch;
use crate::corpus::Corpus;
use crate::experiment::charges::{BilledBatch, Billing, Charges};
use crate::experiment::error::SweepError;
use crate::experiment::measure::Measure;
use crate::experiment::metric::{KnownFrom, Metric, Unit, judged_by};
use crate::experiment::replay::ReplaySettings;
use crate::experiment::summaries::RecordedSummaries;
use crate::experiment::window::{Window, window_of};
use crate::list::{Gather, each_of};
use crate::policy::{Dialled, Drafts, Facts, Plan, Policy, PolicyError, SummaryModel};
use crate::sim::{BatchOutcome, Conditions, RecordedSummary, Refetching};
use crate::statistics::{Estimate, distinct};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Settings that are run, and written down, together.
const BLOCK: usize = 1_024;

/// Sessions whose sums wait to be added up.
const BATCH: usize = 64;

/// A sweep that can be run.
pub struct Sweep<'a> {
    /// The sessions that each setting replays.
    pub corpus: &'a Corpus,
    /// The policies that settings change.
    pub bases: &'a [Policy],
    /// The parameters that each setting sets in a base policy.
    pub settings: &'a [Setting],
    /// What holds for all of them.
    pub replay: &'a ReplaySettings<'a>,
    /// What is asked for, the objective first.
    pub measures: &'a [Measure],
    /// How often sessions are resampled.
    pub resamples: usize,
    /// The seed of these draws.
    pub seed: u64,
    /// What bills are made by; absent where cost is not asked for.
    pub billing: Option<Billing<'a>>,
    /// Who is told how far it has come.
    pub watch: &'a dyn Watch,
}

/// The windows of one session under each default that a policy may have: sessions with the same ones share their plans.
type Windows = Vec<(Facts, u64, u64)>;

/// Sessions in which the settings come to the same plans, under the same conditions.
struct Alike {
    /// The plan of each setting.
    plans: Vec<Arc<Plan>>,
    /// The conditions of each setting.
    conditions: Vec<Conditions>,
    /// The places of the sessions.
    sessions: Vec<usize>,
}

impl Alike {
    /// Are these the plans and conditions? Drafts hand out plans that come to the same numbers as one.
    fn come_to(&self, plans: &[Arc<Plan>], conditions: &[Conditions]) -> bool {
        let same_plans = || self.plans.iter().zip(plans).all(|(one, other)| Arc::ptr_eq(one, other));
        self.plans.len() == plans.len() && self.conditions == conditions && same_plans()
    }
}

impl Sweep<'_> {
    /// The rows of all settings, in order.
    pub fn all(&self, sampling: &Sampling) -> Result<Vec<Row>, SweepError> {
        let mut rows = Vec::with_capacity(self.settings.len());
        self.run(0, sampling, &mut |block| {
            rows.extend_from_slice(block);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Runs all settings from this place on, and hands over their rows in order, block by block. `sampling` is that of [`Sweep::sampling`].
    pub fn run(&self, from: usize, sampling: &Sampling, give: &mut dyn FnMut(&[Row]) -> Result<(), SweepError>) -> Result<(), SweepError> {
        let summaries = self.replay.summaries.clone().unwrap_or_else(|| RecordedSummaries::fit(self.corpus.traces.each()));
        let mut from = from;
        self.watch.settings(self.settings.len().saturating_sub(from), self.corpus.traces.len());
        while let Some(block) = self.settings.get(from..).filter(|rest| !rest.is_empty()) {
            let block = block.get(..BLOCK).unwrap_or(block);
            let accounts = self.block(block, &summaries, sampling)?;
            give(&self.rows(from, accounts, sampling))?;
            from += block.len();
        }
        Ok(())
    }

    /// The sessions as they are drawn for what is sought.
    pub fn sampling(&self) -> Sampling {
        let is_money = self.measures.first().is_some_and(|measure| measure.part.unit == Unit::Money);
        Sampling::new(&self.corpus.traces, self.billing.map(|billing| billing.tariff), is_money, self.resamples, self.seed)
    }

    fn block(&self, block: &[Setting], summaries: &RecordedSummaries, sampling: &Sampling) -> Result<Accounts, SweepError> {
        let mut accounts = Accounts::new(block.len(), sampling.sample.len());
        for Alike { plans, conditions, sessions } in self.alike(block, summaries)? {
            let refetch = self.billing.map_or(Refetching::Never, |billing| billing.refetch);
            let closed: Vec<Conditions> = conditions.iter().map(|open| Conditions { refetch, ..open.clone() }).collect();
            let batch = BilledBatch::new(&plans, &conditions, &closed, self.billing);
            for chunk in sessions.chunks(BATCH) {
                let simulate = |place: &usize| {
                    self.corpus.traces.at(*place).map(|trace| {
                        let (shared, charges) = batch.simulate(&trace);
                        (*place, shared, charges)
                    })
                };
                let done: Vec<(usize, BatchOutcome, Vec<Charges>)> = each_of(chunk, simulate).into_iter().flatten().collect();
                for (place, shared, charges) in &done {
                    accounts.add(shared, charges, sampling.bundle(*place));
                }
                self.watch.replayed(done.len() * block.len());
            }
        }
        Ok(accounts)
    }

    /// The sessions by the plans that the settings come to for their models, and by the conditions under which they are replayed.
    fn alike(&self, block: &[Setting], summaries: &RecordedSummaries) -> Result<Vec<Alike>, SweepError> {
        let policies: Vec<Policy> = each_of(block, |setting| setting.policy(self.bases)).into_iter().collect::<Result<_, PolicyError>>()?;
        let mut drafts: Vec<Drafts<'_>> = self.bases.iter().map(Drafts::new).collect();
        let base = |setting: &Setting| drafts.get(setting.base);
        let mut dialled: Vec<Dialled<'_>> =
            block.iter().zip(&policies).filter_map(|(setting, policy)| Some(base(setting)?.dial(policy))).collect();
        let own: Vec<Option<u64>> = each_of(&policies, Policy::default_window);
        let defaults = distinct(own.iter().copied());
        let mut by_windows: BTreeMap<Windows, Vec<usize>> = BTreeMap::new();
        for (place, trace) in self.corpus.traces.each().enumerate() {
            let key = |window: Window| (window.facts, window.window, window.prompt_limit);
            let windows = defaults.iter().map(|default| key(window_of(&trace, *default, self.replay))).collect();
            by_windows.entry(windows).or_default().push(place);
        }
        let mut alike: Vec<Alike> = Vec::new();
        for (windows, places) in by_windows {
            let window = |default: &Option<u64>| {
                let place = defaults.binary_search(default).unwrap_or(0);
                windows.get(place).copied().unwrap_or_default()
            };
            let mut plans = Vec::with_capacity(block.len());
            for ((setting, dialled), default) in block.iter().zip(&mut dialled).zip(&own) {
                let (facts, ..) = window(default);
                let Some(drafts) = drafts.get_mut(setting.base) else { continue };
                plans.push(drafts.plan(dialled, &facts)?);
            }
            // Which summaries were recorded matters to none but those that model theirs by them.
            let by_record = plans.iter().any(|plan| plan.summary.model == SummaryModel::Recorded);
            let mut by_summary: BTreeMap<Option<RecordedSummary>, Vec<usize>> = BTreeMap::new();
            for place in places {
                let trace = by_record.then(|| self.corpus.traces.at(place)).flatten();
                let model = trace.and_then(|trace| summaries.model(&trace));
                by_summary.entry(model).or_default().push(place);
            }
            for (recorded_summary, places) in by_summary {
                let conditions = |default: &Option<u64>| {
                    let (_, window, prompt_limit) = window(default);
                    Conditions { window, prompt_limit, reserve: self.replay.reserve, recorded_summary, ..Conditions::default() }
                };
                let conditions: Vec<Conditions> = own.iter().map(conditions).collect();
                match alike.iter_mut().find(|known| known.come_to(&plans, &conditions)) {
                    Some(known) => known.sessions.extend(places),
                    None => alike.push(Alike { plans: plans.clone(), conditions, sessions: places }),
                }
            }
        }
        Ok(alike)
    }

    fn rows(&self, first: usize, accounts: Accounts, sampling: &Sampling) -> Vec<Row> {
        let known = |metric: &&'static Metric| match metric.known_from {
            KnownFrom::Replay => true,
            KnownFrom::Bill => self.billing.is_some(),
            KnownFrom::ClosedLoop => self.billing.is_some_and(|billing| billing.refetch != Refetching::Never),
        };
        let spread_over: Vec<Measure> = judged_by()
            .iter()
            .copied()
            .filter(known)
            .map(|part| Measure { part, whole: None })
            .chain(self.measures.iter().copied())
            .filter(adds_up)
            .collect();
        // What a setting comes to that never differs from the first one, worked out once.
        let between = |spread: Option<Estimate>| spread.map(|spread| (spread.low.round() as i64, spread.high.round() as i64));
        let of_first = |measure: &Measure| {
            let sums = accounts.sums(None, measure, &sampling.unpriced);
            (between(sampling.spread(&sums)), sampling.drawn(&sums))
        };
        let usual: Vec<(Option<(i64, i64)>, DrawnSums)> = each_of(&spread_over, of_first);
        let row = |account: &Account| {
            let spread_of = |measure: &Measure, (usual, drawn): &(Option<(i64, i64)>, DrawnSums)| {
                if account.is_as_usual(measure) {
                    return *usual;
                }
                between(sampling.spread_beside(&accounts.sums(Some(account), measure, &sampling.unpriced), drawn))
            };
            let spread = spread_over.iter().zip(&usual);
            let spread = spread.filter_map(|(measure, usual)| Some((measure.name(), spread_of(measure, usual)?))).gather();
            let (totals, charges) = accounts.sums_of(account);
            let sums = self.measures.iter().map(|measure| accounts.compared_sums(account, measure, &sampling.unpriced)).collect();
            Row { setting: 0, totals, charges, spread, sums }
        };
        let rows: Vec<Row> = each_of(accounts.all(), row);
        let of_setting = |(place, account): (usize, usize)| Some(Row { setting: first + place, ..rows.get(account)?.clone() });
        accounts.of_settings().enumerate().filter_map(of_setting).collect()
    }
}
