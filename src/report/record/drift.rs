//! Drift for programs: schema `ctxsim.drift/2`.

use super::keys::record;
use super::number::{share, share_of};
use crate::corpus::Corpus;
use crate::estimate::ContentKind;
use crate::experiment::drift::{
    Basis, Buffer, Consequence, Counts, EVIDENCE, FamilyCosts, Figures, Findings, Interval, LeftOut, Separated, Spread, Use, Worst,
};
use std::collections::BTreeMap;

record! {
    /// The record of `ctxsim drift`.
    pub struct EstimatorsRecord(corpus: &Corpus, findings: &Findings) with {
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
    } {
        compared_calls: u64 = findings.compared.0,
        compared_sessions: u64 = findings.compared.1,
        left_out: BTreeMap<LeftOut, u64> = findings.left_out.clone(),
        estimators: Vec<ComparisonRecord> = estimators,
        agents: Vec<ComparisonRecord> = agents,
        along: Vec<ComparisonRecord> = along.collect(),
        separation: Vec<PartsRecord> = findings.parts.iter().map(PartsRecord::new).collect(),
        hidden: Vec<HiddenRecord> = findings.hidden.iter().map(HiddenRecord::new).collect(),
        costs: Vec<CostRecord> = findings.costs.iter().flat_map(CostRecord::all).collect(),
        predictions: Vec<ComparisonRecord> = predictions.collect(),
        buffers: Vec<BufferRecord> = buffers,
        consequences: Vec<ConsequenceRecord> = findings.consequences.iter().map(ConsequenceRecord::new).collect(),
    }
}

record! {
    /// Estimates beside recorded usage. What is absent here is filled in by what is compared: estimators, methods, agents, stretches of sessions.
    struct ComparisonRecord(corpus: &Corpus, figures: &Figures) with {
        let ratios = figures.ratios.as_ref();
        let ratio = |thousandths: u64| thousandths as f64 / 1000.0;
    } {
        ?estimator: Option<String> = None,
        ?method: Option<&'static str> = None,
        family: &'static str = "",
        ?agent: Option<String> = None,
        ?session_calls: Option<String> = None,
        calls: u64 = figures.calls,
        sessions: u64 = figures.sessions,
        estimated_tokens: u64 = figures.estimated_tokens,
        recorded_tokens: u64 = figures.recorded_tokens,
        bias: Option<f64> = share(figures.bias_tokens() as f64, figures.recorded_tokens),
        mape: Option<f64> = ratios.map(|_| millionths(figures.mape_millionths as i64)),
        p05: Option<f64> = ratios.map(|ratios| ratio(ratios.p05)),
        p50: Option<f64> = ratios.map(|ratios| ratio(ratios.p50)),
        p95: Option<f64> = ratios.map(|ratios| ratio(ratios.p95)),
        p99: Option<f64> = ratios.map(|ratios| ratio(ratios.p99)),
        worst: Option<WorstRecord> = figures.worst.map(|worst| WorstRecord::new(corpus, worst)),
    }

    struct WorstRecord(corpus: &Corpus, worst: Worst) {
        session: String = corpus.traces.at(worst.session).map(|trace| trace.id.clone()).unwrap_or_default(),
        call: u64 = worst.call as u64 + 1,
        estimated_tokens: u64 = worst.estimated,
        recorded_tokens: u64 = worst.recorded,
    }

    struct PartsRecord((parts, intervals): &Separated) with {
        let interval = |place: usize| {
            let interval = intervals.as_ref()?.get(place)?;
            Some([millionths(interval.low), millionths(interval.high)])
        };
    } {
        estimator: String = parts.estimator.clone(),
        family: &'static str = parts.family.name(),
        calls: u64 = parts.calls,
        bias: f64 = millionths(parts.bias),
        bias_interval: Option<[f64; 2]> = interval(0),
        hidden: f64 = millionths(parts.hidden),
        hidden_interval: Option<[f64; 2]> = interval(1),
        messages: f64 = millionths(parts.messages),
        messages_interval: Option<[f64; 2]> = interval(2),
        texts: f64 = millionths(parts.texts),
        texts_interval: Option<[f64; 2]> = interval(3),
    }

    struct HiddenRecord(spread: &Spread) {
        agent: String = spread.source.clone(),
        version: Option<String> = spread.version.clone(),
        family: &'static str = spread.family.name(),
        sessions: u64 = spread.sessions,
        p05_tokens: u64 = spread.p05,
        median_tokens: u64 = spread.median,
        median_interval: Option<[i64; 2]> = spread.interval.map(|Interval { low, high }| [low, high]),
        p95_tokens: u64 = spread.p95,
    }

    /// What a kind of content costs, by its place among the costs; messages, which stand last, have no evidence of their own.
    struct CostRecord(costs: &FamilyCosts, kind: Option<ContentKind>) with {
        let evidence = kind.map(|kind| costs.evidence.get(kind.place()).copied().unwrap_or_default());
        let enough = evidence.is_none_or(|evidence| evidence >= EVIDENCE);
        let place = kind.map_or(ContentKind::ALL.len(), |kind| kind.place());
        let interval = costs.intervals.as_ref().and_then(|all| all.get(place)).filter(|_| enough);
        let cost = kind.map_or(costs.costs.message, |kind| costs.costs.of(kind));
        let unit = if costs.basis == Basis::Tokens { "token" } else { "char" };
    } {
        family: &'static str = costs.family.name(),
        content: &'static str = kind.map_or("message", |kind| kind.name()),
        unit: &'static str = if kind.is_some() { unit } else { "message" },
        tokens: Option<f64> = enough.then(|| cost as f64 / 1000.0),
        interval: Option<[f64; 2]> = interval.map(|interval| [interval.low as f64 / 1000.0, interval.high as f64 / 1000.0]),
        evidence_tokens: Option<u64> = evidence,
    }

    struct BufferRecord(estimator: &str, used: &'static str, family: &'static str, buffer: &Buffer) with {
        let of = |tokens: Option<i64>, (within, all): (u64, u64)| tokens.and_then(|_| share_of(within, all));
    } {
        estimator: String = estimator.to_owned(),
        used: &'static str = used,
        family: &'static str = family,
        level: f64 = buffer.level as f64 / 1000.0,
        buffer_tokens: Option<i64> = buffer.tokens,
        covered: Option<f64> = of(buffer.tokens, buffer.covered),
        covered_of: u64 = buffer.covered.1,
        swapped_buffer_tokens: Option<i64> = buffer.swapped,
        swapped_covered: Option<f64> = of(buffer.swapped, buffer.swapped_covered),
        swapped_covered_of: u64 = buffer.swapped_covered.1,
        needs_calls: u64 = buffer.needs(),
    }

    struct ConsequenceRecord(row: &Consequence) {
        policy: String = row.policy.clone(),
        own: Counts = row.own,
        perfect: Counts = row.perfect,
    }
}

fn millionths(number: i64) -> f64 {
    number as f64 / 1e6
}

impl CostRecord {
    fn all(costs: &FamilyCosts) -> impl Iterator<Item = CostRecord> {
        let message = (costs.basis == Basis::Tokens).then_some(None);
        ContentKind::ALL.into_iter().map(Some).chain(message).map(|kind| CostRecord::new(costs, kind))
    }
}
