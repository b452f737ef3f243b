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
    /// The name of its schema, which is that of the command that asked, and the version.
    pub fn schema(&self) -> (&'static str, u64) {
        match self {
            Record::Replay(_) => ("replay", 3),
            Record::Explain(_) => ("explain", 3),
            Record::Drift(_) => ("drift", 2),
            Record::Cost(_) => ("cost", 3),
            Record::Cache(_) => ("cache", 2),
            Record::Idle(_) => ("idle", 2),
            Record::Backtest(_) => ("backtest", 2),
            Record::Diff(_) => ("diff", 3),
            Record::Curve(_) => ("curve", 2),
            Record::Inspect(_) => ("inspect", 2),
            Record::Sweep(_) => ("sweep", 2),
            Record::Gate(_) => ("gate", 2),
            Record::Tune(_) => ("tune", 2),
            Record::Validate(_) => ("validate", 1),
            Record::List(list) => (list.question, 1),
        }
    }
}
