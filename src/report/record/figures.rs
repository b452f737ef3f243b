//! The figures of a policy, over a corpus or one session, as `docs/json.md` describes them.

use super::number::share;
use crate::report::figures::mean_tokens;
use crate::sim::{AfterEnd, Category, Cause, Drift, EventKind, Fates, Refetches, Totals, Warning};
use crate::trace::Evidence;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FiguresRecord {
    calls: u64,
    overflows: u64,
    recovered: u64,
    refused: u64,
    reply_cut: u64,
    over_budget: u64,
    missed: u64,
    early: u64,
    events: BTreeMap<EventKind, u64>,
    causes: BTreeMap<Cause, u64>,
    warnings: BTreeMap<Warning, u64>,
    overflowing_sessions: u64,
    failed_sessions: u64,
    after_end: AfterEnd,
    peak_tokens: u64,
    mean_tokens: u64,
    prompt_tokens: u64,
    baseline_tokens: u64,
    compared_sessions: u64,
    compared_tokens: u64,
    recorded_tokens: u64,
    tokens_saved: Option<i64>,
    tokens_saved_share: Option<f64>,
    vs_recorded: Option<f64>,
    saved_vs_none: i64,
    saved_vs_none_share: f64,
    output_tokens: u64,
    summariser_tokens: u64,
    summariser_calls: u64,
    injected_tokens: u64,
    anchored_share: f64,
    estimator_drift: DriftRecord,
    belief_drift: DriftRecord,
    references: Vec<ReferenceRecord>,
    broken_calls: u64,
    oracle: Option<u64>,
    oracle_broken_calls: Option<u64>,
    achievable: Option<u64>,
    carried_tokens: u64,
    needed_tokens: u64,
    dead_tokens: u64,
    broken_by_rule: Vec<RuleRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refetches: Option<Refetches>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ReferenceRecord {
    evidence: Evidence,
    source: Category,
    #[serde(flatten)]
    fates: Fates,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct RuleRecord {
    evidence: Evidence,
    rule: String,
    #[serde(flatten)]
    fates: Fates,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct DriftRecord {
    calls: u64,
    guessed_tokens: u64,
    actual_tokens: u64,
    bias: f64,
    p05: Option<f64>,
    p50: Option<f64>,
    p95: Option<f64>,
}

impl FiguresRecord {
    pub fn new(totals: &Totals) -> FiguresRecord {
        let rules = totals.retention.by_rule.iter();
        let by_rule = rules.map(|((evidence, rule), fates)| RuleRecord { evidence: *evidence, rule: rule.clone(), fates: *fates });
        let saved = totals.is_comparable().then(|| share(totals.tokens_saved() as f64, totals.recorded_tokens));
        let in_hindsight = |number: u64| totals.retention.knows_hindsight().then_some(number);
        let all = totals.retention.fates.iter();
        let references = all.map(|((evidence, source), fates)| ReferenceRecord { evidence: *evidence, source: *source, fates: *fates });
        FiguresRecord {
            calls: totals.calls,
            overflows: totals.overflows,
            recovered: totals.recovered,
            refused: totals.refused,
            reply_cut: totals.reply_cut,
            over_budget: totals.over_budget,
            missed: totals.missed,
            early: totals.early,
            events: totals.events.clone(),
            causes: totals.causes.clone(),
            warnings: totals.warnings.clone(),
            overflowing_sessions: totals.overflowing_sessions,
            failed_sessions: totals.failed_sessions,
            after_end: totals.after_end,
            peak_tokens: totals.peak_tokens,
            mean_tokens: mean_tokens(totals),
            prompt_tokens: totals.prompt_tokens,
            baseline_tokens: totals.baseline_tokens,
            compared_sessions: totals.compared_sessions,
            compared_tokens: totals.compared_tokens,
            recorded_tokens: totals.recorded_tokens,
            tokens_saved: totals.is_comparable().then(|| totals.tokens_saved()),
            tokens_saved_share: saved,
            vs_recorded: saved.map(|saved| 0.0 - saved),
            saved_vs_none: totals.saved_vs_none(),
            saved_vs_none_share: share(totals.saved_vs_none() as f64, totals.baseline_tokens),
            output_tokens: totals.output_tokens,
            summariser_tokens: totals.summariser_tokens,
            summariser_calls: totals.summariser_calls,
            injected_tokens: totals.injected_tokens,
            anchored_share: share(totals.anchored_tokens as f64, totals.prompt_tokens),
            estimator_drift: DriftRecord::new(&totals.estimates),
            belief_drift: DriftRecord::new(&totals.beliefs),
            references: references.collect(),
            broken_calls: totals.retention.broken_calls,
            oracle: in_hindsight(totals.retention.oracle),
            oracle_broken_calls: in_hindsight(totals.retention.oracle_broken_calls),
            achievable: in_hindsight(totals.retention.achievable),
            carried_tokens: totals.retention.carried_tokens,
            needed_tokens: totals.retention.needed_tokens,
            dead_tokens: totals.retention.dead_tokens,
            broken_by_rule: by_rule.collect(),
            refetches: (totals.refetches != Refetches::default()).then_some(totals.refetches),
        }
    }
}

impl DriftRecord {
    fn new(drift: &Drift) -> DriftRecord {
        let ratio = |hundredths| drift.quantile(hundredths).map(|ratio| ratio as f64 / 100.0);
        DriftRecord {
            calls: drift.calls,
            guessed_tokens: drift.guessed_tokens,
            actual_tokens: drift.actual_tokens,
            bias: share(drift.guessed_tokens as f64 - drift.actual_tokens as f64, drift.actual_tokens),
            p05: ratio(5),
            p50: ratio(50),
            p95: ratio(95),
        }
    }
}
