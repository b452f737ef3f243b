//! A sweep for programs: schema `ctxsim.sweep/2`, as `docs/json.md` describes it.

use super::figures::{Fields, FiguresRecord};
use super::number::{ShareRecord, bound_number, number, round};
use crate::experiment::{Against, Charges, Direction, Measure};
use crate::report::asked::{Billed, Swept};
use crate::report::finding;
use crate::report::judged::Judged;
use crate::statistics::LEVEL;
use serde::Serialize;
use std::collections::BTreeMap;

/// The record of `ctxsim sweep`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepRecord {
    objective: ObjectiveRecord,
    constraints: Vec<String>,
    resamples: usize,
    seed: u64,
    level_percent: u64,
    worth_share: f64,
    own_error_share: Option<f64>,
    drawn_by: &'static str,
    clusters: usize,
    settings: Vec<SettingRecord>,
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
    own_setting: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    against_own: Option<AgainstRecord>,
    cannot_tell: Vec<String>,
    on_front: bool,
    objective: f64,
    spread: BTreeMap<String, SpreadRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    charges: Option<ChargesRecord>,
    #[serde(flatten)]
    figures: FiguresRecord,
}

/// What a setting costs; money as decimal dollars in a string, exact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChargesRecord {
    #[serde(flatten)]
    sums: Fields,
    calls: u64,
    unpriced_calls: u64,
    unpriced_sessions: u64,
}

impl ChargesRecord {
    /// The record of what a setting costs.
    pub fn new(charges: &Charges) -> ChargesRecord {
        let Charges { calls, unpriced_calls, unpriced_sessions, .. } = *charges;
        ChargesRecord { sums: Fields::of_charges(charges), calls, unpriced_calls, unpriced_sessions }
    }
}

/// A setting beside the own one of its policy. The share is absent where that one comes to zero, and with too few sessions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct AgainstRecord {
    finding: &'static str,
    #[serde(flatten)]
    share: Option<ShareRecord>,
}

impl AgainstRecord {
    fn new(against: &Against) -> AgainstRecord {
        AgainstRecord { finding: finding::key(against.finding), share: ShareRecord::new(against.difference) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct SpreadRecord {
    p05: f64,
    p95: f64,
}

impl SweepRecord {
    pub fn new(swept: &Swept<'_>, judged: &[Judged<'_>]) -> SweepRecord {
        let measure = swept.objective.measure;
        let setting = |judged: &Judged<'_>| {
            let spread = judged.row.spread.iter().filter_map(|(name, (low, high))| {
                let measure = Measure::parse(name).ok()?;
                Some((name.clone(), SpreadRecord { p05: bound_number(*low, &measure), p95: bound_number(*high, &measure) }))
            });
            let billed = swept.billed == Billed::Yes;
            SettingRecord {
                policy: judged.policy.to_owned(),
                params: judged.setting.values.iter().cloned().collect(),
                verdict: judged.words.clone(),
                own_setting: swept.own.contains(&judged.row.setting),
                against_own: judged.verdict.own.as_ref().map(AgainstRecord::new),
                cannot_tell: judged.verdict.untold.iter().filter_map(|place| Some(swept.constraints.get(*place)?.words.clone())).collect(),
                on_front: judged.verdict.on_front,
                objective: number(judged.row.value(&measure), &measure),
                charges: billed.then(|| ChargesRecord::new(&judged.row.charges)),
                spread: spread.collect(),
                figures: FiguresRecord::of_setting(&judged.row.totals),
            }
        };
        let direction = match swept.objective.direction {
            Direction::Minimise => "minimise",
            Direction::Maximise => "maximise",
        };
        SweepRecord {
            objective: ObjectiveRecord { direction, measure: measure.name() },
            constraints: swept.constraints.iter().map(|constraint| constraint.words.clone()).collect(),
            resamples: swept.chance.0,
            seed: swept.chance.1,
            level_percent: LEVEL,
            worth_share: swept.bars.worth,
            own_error_share: swept.bars.own_error.map(round),
            drawn_by: finding::drawn_by(&swept.sampling.sample),
            clusters: swept.sampling.sample.clusters(),
            settings: judged.iter().map(setting).collect(),
        }
    }
}
