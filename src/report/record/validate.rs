//! Predictions beside what runs came to, for programs: schema `ctxsim.validate/1`, as `docs/json.md` describes it.

use super::number::round;
use crate::experiment::Unit;
use crate::experiment::validate::{Arm, Claim, Compared, Drawn, Found};
use crate::report::asked::Validated;
use crate::report::finding::agreement;
use crate::statistics::{Estimate, LEVEL};
use serde::Serialize;

/// The record of `ctxsim validate`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValidateRecord {
    policy: Option<String>,
    arm: String,
    level_percent: u64,
    arms: Vec<ArmRecord>,
    rank_correlations: Vec<RankRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ArmRecord {
    arm: String,
    runs_before: usize,
    runs_after: usize,
    left_out_before: usize,
    left_out_after: usize,
    failed_before: usize,
    unnoted_before: usize,
    anchored_share_before: Option<f64>,
    anchored_share_after: Option<f64>,
    tasks: usize,
    drawn_by: &'static str,
    measures: Vec<FoundRecord>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct FoundRecord {
    measure: &'static str,
    claim: &'static str,
    before: f64,
    predicted: Option<f64>,
    measured: Option<f64>,
    intervals: Option<IntervalsRecord>,
    noise: Option<f64>,
    more_runs_10: Option<u64>,
    more_runs_20: Option<u64>,
    mean_error_by_task: Option<f64>,
    unchanged_mean_error_by_task: Option<f64>,
    verdict: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct IntervalsRecord {
    before: [f64; 2],
    predicted: [f64; 2],
    measured: [f64; 2],
    predicted_change: Option<[f64; 2]>,
    measured_change: Option<[f64; 2]>,
    measured_over_predicted: Option<[f64; 2]>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct RankRecord {
    measure: &'static str,
    rank_correlation: f64,
    cells: usize,
}

impl ValidateRecord {
    pub fn new(asked: &Validated<'_>) -> ValidateRecord {
        let rank = |(measure, rank, cells): &(&'static Compared, f64, usize)| RankRecord {
            measure: measure.key,
            rank_correlation: round(*rank),
            cells: *cells,
        };
        ValidateRecord {
            policy: asked.policy.map(str::to_owned),
            arm: asked.arm.to_owned(),
            level_percent: LEVEL,
            arms: asked.validation.arms.iter().map(ArmRecord::new).collect(),
            rank_correlations: asked.validation.ranks.iter().map(rank).collect(),
        }
    }
}

impl ArmRecord {
    fn new(arm: &Arm) -> ArmRecord {
        ArmRecord {
            arm: arm.name.clone(),
            runs_before: arm.runs.0,
            runs_after: arm.runs.1,
            left_out_before: arm.left_out.0,
            left_out_after: arm.left_out.1,
            failed_before: arm.failed,
            unnoted_before: arm.unnoted,
            anchored_share_before: arm.anchored[0].map(round),
            anchored_share_after: arm.anchored[1].map(round),
            tasks: arm.tasks,
            drawn_by: match arm.drawn {
                Drawn::Tasks => "tasks",
                Drawn::Runs => "runs",
            },
            measures: arm.measures.iter().map(FoundRecord::new).collect(),
        }
    }
}

impl FoundRecord {
    fn new(found: &Found) -> FoundRecord {
        let number = |value: f64| if found.measure.unit() == Unit::Money { value / 1e9 } else { round(value) };
        let bounds = |estimate: Estimate| [number(estimate.low), number(estimate.high)];
        let shares = |estimate: Estimate| [round(estimate.low), round(estimate.high)];
        FoundRecord {
            measure: found.measure.key,
            claim: match found.measure.claim {
                Claim::PerCall => "unchanged_behaviour",
                Claim::IfAsLong => "if_runs_stay_as_long",
                Claim::Nothing => "none",
            },
            before: number(found.before),
            predicted: found.predicted.map(number),
            measured: found.after.map(number),
            intervals: found.intervals.map(|known| IntervalsRecord {
                before: bounds(known.before),
                predicted: bounds(known.predicted),
                measured: bounds(known.after),
                // A rate has no share of itself: it is compared as it is.
                predicted_change: (!found.measure.is_rate).then(|| shares(known.predicted_change)),
                measured_change: (!found.measure.is_rate).then(|| shares(known.measured_change)),
                measured_over_predicted: known.ratio.map(shares),
            }),
            noise: found.noise.map(|noise| if found.measure.is_rate { number(noise) } else { round(noise) }),
            more_runs_10: found.more_runs.map(|[fine, _]| fine),
            more_runs_20: found.more_runs.map(|[_, coarse]| coarse),
            mean_error_by_task: found.mean_error.map(|error| round(error.predicted)),
            unchanged_mean_error_by_task: found.mean_error.map(|error| round(error.unchanged)),
            verdict: found.agreement.map(agreement),
        }
    }
}
