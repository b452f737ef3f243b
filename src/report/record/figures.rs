//! The figures of a policy, over a corpus or one session, as `docs/json.md` describes them.

use super::number::{share, usd};
use crate::experiment::metric::{Amount, METRICS, Of, Part};
use crate::experiment::{Charges, Metric, Unit};
use crate::sim::{AfterEnd, Category, Cause, Drift, EventKind, Fates, Refetches, Totals, Warning};
use crate::trace::Evidence;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// What a policy came to: its measures, and what they are made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FiguresRecord {
    #[serde(flatten)]
    calls: Fields,
    events: BTreeMap<EventKind, u64>,
    causes: BTreeMap<Cause, u64>,
    warnings: BTreeMap<Warning, u64>,
    #[serde(flatten)]
    sessions: Fields,
    after_end: Option<AfterEnd>,
    #[serde(flatten)]
    tokens: Fields,
    estimator_drift: DriftRecord,
    belief_drift: DriftRecord,
    references: Vec<ReferenceRecord>,
    #[serde(flatten)]
    retention: Fields,
    broken_by_rule: Vec<RuleRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refetches: Option<Refetches>,
}

/// Measures as fields, in the order of their table.
#[derive(Clone, Debug, PartialEq)]
pub struct Fields(Vec<(&'static str, Field)>);

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Field {
    Number(u64),
    Signed(i64),
    Share(f64),
    Money(String),
    Unknown(()),
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, field)| (name, field)))
    }
}

impl Fields {
    fn of(part: Part, totals: &Totals) -> Fields {
        Fields::made(part, |metric| match metric.amount(totals) {
            None => Field::Unknown(()),
            Some(Amount::Number(number)) => Field::Number(number),
            Some(Amount::Signed(number)) => Field::Signed(number),
            Some(Amount::Share(part, whole)) => Field::Share(share(part as f64, whole)),
        })
    }

    /// The fields of bills: money and tokens.
    pub fn of_charges(charges: &Charges) -> Fields {
        Fields::made(Part::Charges, |metric| match metric.of {
            Of::Charge(of) if metric.unit == Unit::Money => Field::Money(usd(of(charges))),
            Of::Charge(of) => Field::Number(of(charges)),
            _ => Field::Unknown(()),
        })
    }

    fn made(part: Part, field: impl Fn(&Metric) -> Field) -> Fields {
        Fields(METRICS.iter().filter(|metric| metric.part == part).map(|metric| (metric.key, field(metric))).collect())
    }
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
        let all = totals.retention.fates.iter();
        let references = all.map(|((evidence, source), fates)| ReferenceRecord { evidence: *evidence, source: *source, fates: *fates });
        FiguresRecord {
            calls: Fields::of(Part::Calls, totals),
            events: totals.events.clone(),
            causes: totals.causes.clone(),
            warnings: totals.warnings.clone(),
            sessions: Fields::of(Part::Sessions, totals),
            after_end: Some(totals.after_end),
            tokens: Fields::of(Part::Tokens, totals),
            estimator_drift: DriftRecord::new(&totals.estimates),
            belief_drift: DriftRecord::new(&totals.beliefs),
            references: references.collect(),
            retention: Fields::of(Part::Retention, totals),
            broken_by_rule: by_rule.collect(),
            refetches: (totals.refetches != Refetches::default()).then_some(totals.refetches),
        }
    }

    /// The record of one setting of many. Their runs stop where a session fails: what is behind its end is not known.
    pub fn of_setting(totals: &Totals) -> FiguresRecord {
        FiguresRecord { after_end: None, ..FiguresRecord::new(totals) }
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
