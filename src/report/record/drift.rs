//! Drift for programs: schema `ctxsim.drift/1`.

use super::number::{share, share_of};
use crate::corpus::Corpus;
use crate::estimate::ContentKind;
use crate::experiment::drift::{
    Basis, Buffer, Counts, EVIDENCE, FamilyCosts, Figures, Findings, Interval, LeftOut, Separated, Spread, Use,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// The record of `ctxsim drift`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EstimatorsRecord {
    compared_calls: u64,
    compared_sessions: u64,
    left_out: BTreeMap<LeftOut, u64>,
    estimators: Vec<ComparisonRecord>,
    agents: Vec<ComparisonRecord>,
    along: Vec<ComparisonRecord>,
    separation: Vec<PartsRecord>,
    hidden: Vec<HiddenRecord>,
    costs: Vec<CostRecord>,
    predictions: Vec<ComparisonRecord>,
    buffers: Vec<BufferRecord>,
    consequences: Vec<ConsequenceRecord>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct ComparisonRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    estimator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    family: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_calls: Option<String>,
    calls: u64,
    sessions: u64,
    estimated_tokens: u64,
    recorded_tokens: u64,
    bias: f64,
    mape: f64,
    p05: Option<f64>,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    worst: Option<WorstRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct WorstRecord {
    session: String,
    call: u64,
    estimated_tokens: u64,
    recorded_tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct PartsRecord {
    estimator: String,
    family: &'static str,
    calls: u64,
    bias: f64,
    bias_interval: Option<[f64; 2]>,
    hidden: f64,
    hidden_interval: Option<[f64; 2]>,
    messages: f64,
    messages_interval: Option<[f64; 2]>,
    texts: f64,
    texts_interval: Option<[f64; 2]>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct HiddenRecord {
    agent: String,
    version: Option<String>,
    family: &'static str,
    sessions: u64,
    p05_tokens: u64,
    median_tokens: u64,
    median_interval: Option<[i64; 2]>,
    p95_tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct CostRecord {
    family: &'static str,
    content: &'static str,
    unit: &'static str,
    tokens: Option<f64>,
    interval: Option<[f64; 2]>,
    evidence_tokens: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct BufferRecord {
    estimator: String,
    used: &'static str,
    family: &'static str,
    level: f64,
    buffer_tokens: Option<i64>,
    covered: Option<f64>,
    covered_of: u64,
    swapped_buffer_tokens: Option<i64>,
    swapped_covered: Option<f64>,
    swapped_covered_of: u64,
    needs_calls: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ConsequenceRecord {
    policy: String,
    own: Counts,
    perfect: Counts,
}

impl EstimatorsRecord {
    /// The record of a corpus's drift.
    pub fn new(corpus: &Corpus, findings: &Findings) -> EstimatorsRecord {
        let comparison = |figures: &Figures| ComparisonRecord::new(corpus, figures);
        let mut estimators = Vec::new();
        let mut agents = Vec::new();
        for row in &findings.comparisons {
            let family = row.family.map_or("all", |family| family.name());
            let record =
                ComparisonRecord { estimator: Some(row.estimator.clone()), family, agent: row.source.clone(), ..comparison(&row.figures) };
            if row.source.is_some() { agents.push(record) } else { estimators.push(record) }
        }
        let along = findings.along.iter().map(|row| ComparisonRecord {
            estimator: Some(row.estimator.clone()),
            family: "all",
            session_calls: Some(row.stretch.words()),
            ..comparison(&row.figures)
        });
        let predictions = findings.predictions.iter().map(|row| ComparisonRecord {
            method: Some(row.method.name()),
            family: row.family.name(),
            agent: row.source.clone(),
            ..comparison(&row.figures)
        });
        let used = |used: Use| if used == Use::Request { "request" } else { "since_usage" };
        let mut buffers: Vec<BufferRecord> = Vec::new();
        for row in &findings.buffers {
            let family = row.family.map_or("all", |family| family.name());
            buffers.extend(row.buffers.iter().map(|buffer| BufferRecord::new(&row.estimator, used(row.used), family, buffer)));
        }
        for row in &findings.consequences {
            buffers.extend(row.buffers.iter().map(|buffer| BufferRecord::new(&row.policy, "belief", "all", buffer)));
        }
        let consequences =
            findings.consequences.iter().map(|row| ConsequenceRecord { policy: row.policy.clone(), own: row.own, perfect: row.perfect });
        EstimatorsRecord {
            compared_calls: findings.compared.0,
            compared_sessions: findings.compared.1,
            left_out: findings.left_out.clone(),
            estimators,
            agents,
            along: along.collect(),
            separation: findings.parts.iter().map(PartsRecord::new).collect(),
            hidden: findings.hidden.iter().map(HiddenRecord::new).collect(),
            costs: findings.costs.iter().flat_map(CostRecord::all).collect(),
            predictions: predictions.collect(),
            buffers,
            consequences: consequences.collect(),
        }
    }
}

impl ComparisonRecord {
    fn new(corpus: &Corpus, figures: &Figures) -> ComparisonRecord {
        let ratios = figures.ratios.as_ref();
        let ratio = |thousandths: u64| thousandths as f64 / 1000.0;
        ComparisonRecord {
            calls: figures.calls,
            sessions: figures.sessions,
            estimated_tokens: figures.estimated_tokens,
            recorded_tokens: figures.recorded_tokens,
            bias: share(figures.bias_tokens() as f64, figures.recorded_tokens),
            mape: millionths(figures.mape_millionths as i64),
            p05: ratios.map(|ratios| ratio(ratios.p05)),
            p50: ratios.map(|ratios| ratio(ratios.p50)),
            p95: ratios.map(|ratios| ratio(ratios.p95)),
            p99: ratios.map(|ratios| ratio(ratios.p99)),
            worst: figures.worst.map(|worst| WorstRecord {
                session: corpus.traces.at(worst.session).map(|trace| trace.id.clone()).unwrap_or_default(),
                call: worst.call as u64 + 1,
                estimated_tokens: worst.estimated,
                recorded_tokens: worst.recorded,
            }),
            ..ComparisonRecord::default()
        }
    }
}

fn millionths(number: i64) -> f64 {
    number as f64 / 1e6
}

impl PartsRecord {
    fn new((parts, intervals): &Separated) -> PartsRecord {
        let interval = |place: usize| {
            let interval = intervals.as_ref()?.get(place)?;
            Some([millionths(interval.low), millionths(interval.high)])
        };
        PartsRecord {
            estimator: parts.estimator.clone(),
            family: parts.family.name(),
            calls: parts.calls,
            bias: millionths(parts.bias),
            bias_interval: interval(0),
            hidden: millionths(parts.hidden),
            hidden_interval: interval(1),
            messages: millionths(parts.messages),
            messages_interval: interval(2),
            texts: millionths(parts.texts),
            texts_interval: interval(3),
        }
    }
}

impl HiddenRecord {
    fn new(spread: &Spread) -> HiddenRecord {
        HiddenRecord {
            agent: spread.source.clone(),
            version: spread.version.clone(),
            family: spread.family.name(),
            sessions: spread.sessions,
            p05_tokens: spread.p05,
            median_tokens: spread.median,
            median_interval: spread.interval.map(|Interval { low, high }| [low, high]),
            p95_tokens: spread.p95,
        }
    }
}

impl CostRecord {
    fn all(costs: &FamilyCosts) -> Vec<CostRecord> {
        let unit = if costs.basis == Basis::Tokens { "token" } else { "char" };
        let interval = |place: usize| {
            let interval = costs.intervals.as_ref()?.get(place)?;
            Some([interval.low as f64 / 1000.0, interval.high as f64 / 1000.0])
        };
        let kind = |kind: ContentKind| {
            let evidence = costs.evidence.get(kind.place()).copied().unwrap_or_default();
            let enough = evidence >= EVIDENCE;
            CostRecord {
                family: costs.family.name(),
                content: kind.name(),
                unit,
                tokens: enough.then(|| costs.costs.of(kind) as f64 / 1000.0),
                interval: interval(kind.place()).filter(|_| enough),
                evidence_tokens: Some(evidence),
            }
        };
        let message = CostRecord {
            family: costs.family.name(),
            content: "message",
            unit: "message",
            tokens: Some(costs.costs.message as f64 / 1000.0),
            interval: interval(ContentKind::ALL.len()),
            evidence_tokens: None,
        };
        let mut all: Vec<CostRecord> = ContentKind::ALL.into_iter().map(kind).collect();
        all.extend((costs.basis == Basis::Tokens).then_some(message));
        all
    }
}

impl BufferRecord {
    fn new(estimator: &str, used: &'static str, family: &'static str, buffer: &Buffer) -> BufferRecord {
        let of = |tokens: Option<i64>, (within, all): (u64, u64)| tokens.and_then(|_| share_of(within, all));
        BufferRecord {
            estimator: estimator.to_owned(),
            used,
            family,
            level: buffer.level as f64 / 1000.0,
            buffer_tokens: buffer.tokens,
            covered: of(buffer.tokens, buffer.covered),
            covered_of: buffer.covered.1,
            swapped_buffer_tokens: buffer.swapped,
            swapped_covered: of(buffer.swapped, buffer.swapped_covered),
            swapped_covered_of: buffer.swapped_covered.1,
            needs_calls: buffer.needs(),
        }
    }
}
