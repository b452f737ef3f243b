//! MANY x MANY: walking a corpus, reading it on all cores, replaying it through many policies. The only room with threads.

mod corpus;
mod counters;
pub mod drift;
mod facts;
mod once;
mod replay;
mod source;
mod tracefile;

pub use corpus::{Corpus, CorpusFacts, Duplicates, FileLoss, Progress, ReadSettings, Skipped, Vocabularies, read};
pub use replay::{Replay, ReplaySettings, WindowFrom, estimators, replay, replay_with};
pub use source::{Found, Home, discover, homes};
pub use tracefile::{TraceFileError, read_traces, write_traces};
