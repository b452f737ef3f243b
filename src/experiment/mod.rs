//! MANY x MANY: walking a corpus, reading it on all cores, replaying it through many policies. The only room with threads.

mod corpus;
mod counters;
mod curve;
mod diff;
mod distance;
mod facts;
mod once;
mod replay;
mod source;
mod tracefile;

pub use corpus::{Corpus, CorpusFacts, Duplicates, FileLoss, Progress, ReadSettings, Skipped, read};
pub use curve::{Axis, Curve, Point, Protection, curve, kept_by, protections, quantile, to_results, tool_of};
pub use diff::{Diff, Dropped, Parting, Side, diff};
pub use distance::{Distance, distances};
pub use replay::{Replay, ReplaySettings, WindowFrom, replay};
pub use source::{Found, Home, discover, homes};
pub use tracefile::{TraceFileError, read_traces, write_traces};
