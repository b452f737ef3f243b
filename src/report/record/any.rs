//! The record of any question.

use super::backtest::BacktestRecord;
use super::cache::CacheRecord;
use super::cost::CostRecord;
use super::curve::CurveRecord;
use super::diff::DiffRecord;
use super::drift::EstimatorsRecord;
use super::gate::GateRecord;
use super::idle::IdleRecord;
use super::inspect::InspectRecord;
use super::list::ListRecord;
use super::replay::{ExplainRecord, ReplayRecord};
use super::sweep::SweepRecord;
use super::tune::TuneRecord;
use super::validate::ValidateRecord;
use serde::Serialize;

/// A report for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Record {
    /// What policies did to a corpus.
    Replay(Box<ReplayRecord>),
    /// What one policy did to one session.
    Explain(Box<ExplainRecord>),
    /// How far estimators are from recorded usage.
    Drift(Box<EstimatorsRecord>),
    /// What recorded sessions and policies cost.
    Cost(Box<CostRecord>),
    /// What calls read from the prompt cache.
    Cache(Box<CacheRecord>),
    /// What pauses between calls cost.
    Idle(Box<IdleRecord>),
    /// What the recording agents did, and what their own policies would have done.
    Backtest(Box<BacktestRecord>),
    /// Where two policies part.
    Diff(Box<DiffRecord>),
    /// From how far back the model repeats texts.
    Curve(Box<CurveRecord>),
    /// What sessions and their logs hold.
    Inspect(Box<InspectRecord>),
    /// What many settings came to.
    Sweep(Box<SweepRecord>),
    /// A policy beside its baseline.
    Gate(Box<GateRecord>),
    /// The setting that tuning found, and the verdict.
    Tune(Box<TuneRecord>),
    /// Predictions beside what runs came to.
    Validate(Box<ValidateRecord>),
    /// Tables of the program: formats, models, presets, metrics.
    List(Box<ListRecord>),
}

impl Record {
    /// The name of the command that asked.
    pub fn question(&self) -> &'static str {
        match self {
            Record::Replay(_) => "replay",
            Record::Explain(_) => "explain",
            Record::Drift(_) => "drift",
            Record::Cost(_) => "cost",
            Record::Cache(_) => "cache",
            Record::Idle(_) => "idle",
            Record::Backtest(_) => "backtest",
            Record::Diff(_) => "diff",
            Record::Curve(_) => "curve",
            Record::Inspect(_) => "inspect",
            Record::Sweep(_) => "sweep",
            Record::Gate(_) => "gate",
            Record::Tune(_) => "tune",
            Record::Validate(_) => "validate",
            Record::List(list) => list.question,
        }
    }

    /// The version of the record's schema.
    pub fn version(&self) -> u64 {
        match self {
            Record::Replay(_) | Record::Explain(_) | Record::Cost(_) => 3,
            Record::Cache(_) | Record::Idle(_) | Record::Diff(_) | Record::Sweep(_) | Record::Tune(_) | Record::Gate(_) => 2,
            _ => 1,
        }
    }
}
