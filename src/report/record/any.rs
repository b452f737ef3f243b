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

/// Declares the records: the name of each schema, which is that of the command that asked, and the version.
macro_rules! records {
    ($($(#[$about:meta])* $kind:ident($record:ty) = $schema:literal / $version:literal,)+) => {
        /// A report for programs.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Record {
            $($(#[$about])* $kind(Box<$record>),)+
            /// Tables of the program: formats, models, presets, metrics.
            List(Box<ListRecord>),
        }

        impl Record {
            /// The name of its schema, and the version.
            pub fn schema(&self) -> (&'static str, u64) {
                match self {
                    $(Record::$kind(_) => ($schema, $version),)+
                    Record::List(list) => (list.question, 1),
                }
            }
        }

        $(impl From<$record> for Record {
            fn from(record: $record) -> Record {
                Record::$kind(Box::new(record))
            }
        })+
    };
}

records! {
    /// What policies did to a corpus.
    Replay(ReplayRecord) = "replay" / 3,
    /// What one policy did to one session.
    Explain(ExplainRecord) = "explain" / 3,
    /// How far estimators are from recorded usage.
    Drift(EstimatorsRecord) = "drift" / 2,
    /// What recorded sessions and policies cost.
    Cost(CostRecord) = "cost" / 3,
    /// What calls read from the prompt cache.
    Cache(CacheRecord) = "cache" / 2,
    /// What pauses between calls cost.
    Idle(IdleRecord) = "idle" / 2,
    /// What the recording agents did, and what their own policies would have done.
    Backtest(BacktestRecord) = "backtest" / 2,
    /// Where two policies part.
    Diff(DiffRecord) = "diff" / 3,
    /// From how far back the model repeats texts.
    Curve(CurveRecord) = "curve" / 2,
    /// What sessions and their logs hold.
    Inspect(InspectRecord) = "inspect" / 2,
    /// What many settings came to.
    Sweep(SweepRecord) = "sweep" / 2,
    /// A policy beside its baseline.
    Gate(GateRecord) = "gate" / 2,
    /// The setting that tuning found, and the verdict.
    Tune(TuneRecord) = "tune" / 2,
    /// Predictions beside what runs came to.
    Validate(ValidateRecord) = "validate" / 1,
}
