//! The figures of a policy, over a corpus or one session, as `docs/json.md` describes them.

use super::keys::record;
use super::number::{share, usd_of};
use crate::experiment::metric::{Amount, METRICS, Of, Part};
use crate::experiment::{Charges, Metric, Unit};
use crate::sim::{AfterEnd, Category, Cause, Drift, EventKind, Fates, Refetches, Totals, Warning};
use crate::trace::Evidence;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;

record! {
    /// What a policy came to: its measures, and what they are made of.
    pub struct FiguresRecord(totals: &Totals) {
        ..calls: Fields = Fields::of(Part::Calls, totals),
        events: BTreeMap<EventKind, u64> = totals.events.clone(),
        causes: BTreeMap<Cause, u64> = totals.causes.clone(),
        warnings: BTreeMap<Warning, u64> = totals.warnings.clone(),
        ..sessions: Fields = Fields::of(Part::Sessions, totals),
        after_end: Option<AfterEnd> = Some(totals.after_end),
        ..tokens: Fields = Fields::of(Part::Tokens, totals),
        estimator_drift: DriftRecord = DriftRecord::new(&totals.estimates),
        belief_drift: DriftRecord = DriftRecord::new(&totals.beliefs),
        references: Vec<ReferenceRecord> = totals.retention.fates.iter().map(ReferenceRecord::new).collect(),
        ..retention: Fields = Fields::of(Part::Retention, totals),
        broken_by_rule: Vec<RuleRecord> = totals.retention.by_rule.iter().map(RuleRecord::new).collect(),
        ?refetches: Option<Refetches> = (totals.refetches != Refetches::default()).then_some(totals.refetches),
    }
}

/// Measures as fields, in the order of their table.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields(Vec<(&'static str, Value)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl Fields {
    fn of(part: Part, totals: &Totals) -> Fields {
        Fields::made(part, |metric| match metric.amount(totals) {
            None => Value::Null,
            Some(Amount::Number(number)) => number.into(),
            Some(Amount::Signed(number)) => number.into(),
            Some(Amount::Share(part, whole)) => share(part as f64, whole).into(),
        })
    }

    /// The fields of bills: money and tokens.
    pub fn of_charges(charges: &Charges) -> Fields {
        Fields::made(Part::Charges, |metric| match metric.of {
            Of::Charge(of) if metric.unit == Unit::Money => usd_of(charges.is_priced(), of(charges)).into(),
            Of::Charge(of) => of(charges).into(),
            _ => Value::Null,
        })
    }

    fn made(part: Part, value: impl Fn(&Metric) -> Value) -> Fields {
        Fields(METRICS.iter().filter(|metric| metric.part == part).map(|metric| (metric.key, value(metric))).collect())
    }
}

record! {
    struct ReferenceRecord(((evidence, source), fates): (&(Evidence, Category), &Fates)) {
        evidence: Evidence = *evidence,
        source: Category = *source,
        ..fates: Fates = *fates,
    }

    struct RuleRecord(((evidence, rule), fates): (&(Evidence, String), &Fates)) {
        evidence: Evidence = *evidence,
        rule: String = rule.clone(),
        ..fates: Fates = *fates,
    }

    struct DriftRecord(drift: &Drift) with {
        let ratio = |hundredths| drift.quantile(hundredths).map(|ratio| ratio as f64 / 100.0);
    } {
        calls: u64 = drift.calls,
        guessed_tokens: u64 = drift.guessed_tokens,
        actual_tokens: u64 = drift.actual_tokens,
        bias: Option<f64> = share(drift.guessed_tokens as f64 - drift.actual_tokens as f64, drift.actual_tokens),
        p05: Option<f64> = ratio(5),
        p50: Option<f64> = ratio(50),
        p95: Option<f64> = ratio(95),
    }
}

impl FiguresRecord {
    /// The record of one setting of many. Their runs stop where a session fails: what is behind its end is not known.
    pub fn of_setting(totals: &Totals) -> FiguresRecord {
        FiguresRecord { after_end: None, ..FiguresRecord::new(totals) }
    }
}
