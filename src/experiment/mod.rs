//! MANY x MANY: walking a corpus, reading it on all cores, replaying it through many policies. The only room with threads.

mod backtest;
mod corpus;
mod counters;
mod facts;
mod judge;
mod once;
mod replay;
mod segment;
mod source;
mod summaries;
mod tracefile;

pub use backtest::{Backtest, TOLERANCE, recorders, BacktestSettings, Mode, Predicted, Recorded, Tested, TestedSession, Verdict, backtest};
pub use corpus::{Corpus, CorpusFacts, Duplicates, FileLoss, Progress, ReadSettings, Skipped, read};
pub use judge::Reason;
pub use replay::{Replay, ReplaySettings, WindowFrom, replay};
pub use summaries::{Fitted, RecordedSummaries};
pub use source::{Found, Home, discover, homes};
pub use tracefile::{TraceFileError, read_traces, write_traces};
