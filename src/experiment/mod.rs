//! MANY x MANY: walking a corpus, reading it on all cores, replaying it through many policies. The only room with threads.

mod corpus;
mod counters;
mod facts;
mod once;
mod replay;
mod source;
mod sweep;
mod tracefile;

pub use corpus::{Corpus, CorpusFacts, Duplicates, FileLoss, Progress, ReadSettings, Skipped, read};
pub use replay::{Replay, ReplaySettings, WindowFrom, replay};
pub use source::{Found, Home, discover, homes};
pub use sweep::{
    Comparator, Constraint, Design, Dimension, Direction, Header, METRICS, Measure, Metric, Objective, Row, Setting, Standing, Store, Sweep,
    SweepError, Value, Verdict, settings, verdicts,
};
pub use tracefile::{TraceFileError, read_traces, write_traces};
