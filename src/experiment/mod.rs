//! MANY x MANY: walking a corpus, reading it on all cores, replaying it through many policies. The only room with threads.

mod corpus;
mod counters;
mod diff;
pub mod drift;
mod facts;
mod once;
mod replay;
mod source;
mod tracefile;

pub use corpus::{Corpus, CorpusFacts, Duplicates, FileLoss, Progress, ReadSettings, Skipped, Vocabularies, read};
pub use diff::{Diff, Dropped, Parting, Side, diff};
pub use replay::{Replay, ReplaySettings, WindowFrom, replay};
pub use source::{Found, Home, discover, homes};
pub use tracefile::{TraceFileError, read_traces, write_traces};
