//! The record of any question.

use super::{backtest, cache, cost, curve, diff, drift, gate, idle, inspect, replay, sweep, tune, validate};
use serde::Serialize;
use serde_json::{Map, Value};

/// Rows by the keys of their columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListRecord {
    /// What is listed: the name of the schema.
    #[serde(skip)]
    pub question: &'static str,
    /// One object per row; null where there is nothing to say.
    pub rows: Vec<Map<String, Value>>,
}

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
    Replay(replay::ReplayRecord) = "replay" / 3,
    /// What one policy did to one session.
    Explain(replay::ExplainRecord) = "explain" / 3,
    /// How far estimators are from recorded usage.
    Drift(drift::EstimatorsRecord) = "drift" / 2,
    /// What recorded sessions and policies cost.
    Cost(cost::CostRecord) = "cost" / 3,
    /// What calls read from the prompt cache.
    Cache(cache::CacheRecord) = "cache" / 2,
    /// What pauses between calls cost.
    Idle(idle::IdleRecord) = "idle" / 2,
    /// What the recording agents did, and what their own policies would have done.
    Backtest(backtest::BacktestRecord) = "backtest" / 2,
    /// Where two policies part.
    Diff(diff::DiffRecord) = "diff" / 3,
    /// From how far back the model repeats texts.
    Curve(curve::CurveRecord) = "curve" / 2,
    /// What sessions and their logs hold.
    Inspect(inspect::InspectRecord) = "inspect" / 2,
    /// What many settings came to.
    Sweep(sweep::SweepRecord) = "sweep" / 2,
    /// A policy beside its baseline.
    Gate(gate::GateRecord) = "gate" / 2,
    /// The setting that tuning found, and the verdict.
    Tune(tune::TuneRecord) = "tune" / 2,
    /// Predictions beside what runs came to.
    Validate(validate::ValidateRecord) = "validate" / 1,
}
