//! A sweep for programs: schema `ctxsim.sweep/1`, as `docs/json.md` describes it.

use super::record::{CorpusRecord, FiguresRecord};
use super::sweep::{Judged, Swept, words};
use crate::experiment::Direction;
use serde::Serialize;
use std::collections::BTreeMap;

/// Schema `ctxsim.sweep/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepRecord {
    schema: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    corpus: CorpusRecord,
    objective: ObjectiveRecord,
    constraints: Vec<String>,
    resamples: usize,
    seed: u64,
    settings: Vec<SettingRecord>,
    notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ObjectiveRecord {
    direction: &'static str,
    measure: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct SettingRecord {
    policy: String,
    params: BTreeMap<String, String>,
    verdict: String,
    on_front: bool,
    objective: f64,
    spread: BTreeMap<String, SpreadRecord>,
    #[serde(flatten)]
    figures: FiguresRecord,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct SpreadRecord {
    p05: f64,
    p95: f64,
}

impl SweepRecord {
    pub(super) fn new(swept: &Swept<'_>, judged: &[Judged<'_>], notes: Vec<String>) -> SweepRecord {
        let measure = swept.objective.measure;
        let setting = |judged: &Judged<'_>| {
            let value = measure.of(&judged.row.totals);
            // Quotients, whose names have a `per` in them, are kept in millionths.
            let scale = |name: &str| if name.contains(" per ") { 1e-6 } else { 1.0 };
            let spread = judged.row.spread.iter().map(|(name, (low, high))| {
                let scaled = |bound: i64| (bound as f64 * scale(name) * 1e6).round() / 1e6;
                (name.clone(), SpreadRecord { p05: scaled(*low), p95: scaled(*high) })
            });
            SettingRecord {
                policy: judged.policy.to_owned(),
                params: judged.setting.values.iter().cloned().collect(),
                verdict: words(&judged.verdict, swept.constraints),
                on_front: judged.verdict.on_front,
                objective: if value.whole == 0 { 0.0 } else { (value.part as f64 / value.whole as f64 * 1e6).round() / 1e6 },
                spread: spread.collect(),
                figures: FiguresRecord::new(&judged.row.totals),
            }
        };
        let direction = match swept.objective.direction {
            Direction::Minimise => "minimise",
            Direction::Maximise => "maximise",
        };
        SweepRecord {
            schema: "ctxsim.sweep/1",
            version: env!("CARGO_PKG_VERSION"),
            command: swept.command.clone(),
            corpus: CorpusRecord::new(&swept.corpus.facts),
            objective: ObjectiveRecord { direction, measure: measure.name() },
            constraints: swept.constraints.iter().map(|constraint| constraint.words.clone()).collect(),
            resamples: swept.chance.0,
            seed: swept.chance.1,
            settings: judged.iter().map(setting).collect(),
            notes,
        }
    }
}
