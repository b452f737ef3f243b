//! What replays cost, session by session. It follows from the outcomes, so that other prices need no other replay.

use super::replay::Replay;
use crate::corpus::Corpus;
use crate::cost::{Bills, CacheKind, Calibration, Check, OwnError, Split, Tariff, bills, check, splits};
use crate::policy::Plan;
use crate::sim::{Conditions, Outcome, simulate};
use crate::trace::Trace;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Makes the bills of replays, in place of those that they had.
pub fn price(corpus: &Corpus, replays: &mut [Replay], tariff: &Tariff<'_>) {
    let calibrations: Vec<Calibration> = corpus.traces.par_iter().map(|trace| calibrate(trace, tariff)).collect();
    for replay in replays {
        bill(corpus, replay, tariff, &calibrations);
        if let Some(closed) = replay.closed.as_deref_mut() {
            bill(corpus, closed, tariff, &calibrations);
        }
    }
}

fn bill(corpus: &Corpus, replay: &mut Replay, tariff: &Tariff<'_>, calibrations: &[Calibration]) {
    let sessions = corpus.traces.par_iter().zip(&replay.outcomes).zip(calibrations).enumerate();
    let bill = |(place, ((trace, outcome), calibration))| bills(replay.imposed.get(&place).unwrap_or(trace), outcome, tariff, calibration);
    replay.bills = sessions.map(bill).collect();
    replay.bill = Bills::default();
    replay.bills.iter().for_each(|bills| replay.bill += bills);
}

/// What a session's recording says of its cache.
pub fn calibrate(trace: &Trace, tariff: &Tariff<'_>) -> Calibration {
    Calibration::of(trace, &unchanged(trace), tariff)
}

/// A session without any compaction.
fn unchanged(trace: &Trace) -> Outcome {
    let unlimited = Conditions { window: u64::MAX / 2, prompt_limit: u64::MAX / 2, ..Conditions::default() };
    simulate(trace, &Plan::default(), &unlimited)
}

/// What the modelled cache made of each call of each session.
pub fn reads(corpus: &Corpus, replay: &Replay, tariff: &Tariff<'_>) -> Vec<Vec<Split>> {
    corpus.traces.par_iter().zip(&replay.outcomes).map(|(trace, outcome)| splits(trace, outcome, tariff)).collect()
}

/// The model of the cache held against what was recorded, by agent in the order of their names.
pub fn check_model(corpus: &Corpus, tariff: &Tariff<'_>) -> BTreeMap<String, Check> {
    let checks = checks(corpus, tariff);
    let mut by_agent: BTreeMap<String, Check> = BTreeMap::new();
    for (trace, check) in corpus.traces.iter().zip(&checks) {
        *by_agent.entry(trace.agent.clone()).or_default() += check;
    }
    by_agent
}

/// The same session by session, in the order of the corpus.
pub(super) fn checks(corpus: &Corpus, tariff: &Tariff<'_>) -> Vec<Check> {
    corpus.traces.par_iter().map(|trace| check(trace, &unchanged(trace), tariff)).collect()
}

/// What bills with a cache are off on the recordings themselves, as a share of the list price of their usage. `None` where the cache models nothing, and where no
/// recorded usage has a price.
pub fn own_error(corpus: &Corpus, tariff: &Tariff<'_>, cache: CacheKind) -> Option<f64> {
    let error = OwnError::over(check_model(corpus, tariff).values(), cache)?;
    Some(error.off_nano_usd as f64 / error.recorded_nano_usd as f64)
}
