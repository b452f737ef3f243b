//! MANY x MANY: walking a corpus, reading it on all cores, replaying it through many policies. The only room with threads.

mod backtest;
mod break_even;
mod choice;
mod composition;
mod convert;
mod corpus;
mod counters;
mod curve;
mod diff;
mod distance;
pub mod drift;
mod excerpt;
mod facts;
pub mod gate;
mod impose;
mod inspect;
mod judge;
mod least_budget;
mod once;
mod own;
mod price;
mod read_again;
mod recording;
mod replay;
mod segment;
mod sessions;
mod source;
mod stores;
mod summaries;
mod sweep;
mod tracefile;
pub mod tune;
mod unseen;
mod window;

pub use backtest::{Backtest, BacktestSettings, Mode, Predicted, Recorded, TOLERANCE, Tested, TestedSession, Verdict, backtest, recorders};
pub use break_even::{BreakEven, break_even};
pub use choice::{Choice, DRAWS, choose};
pub use composition::{Composed, Composition, Content, compose, whole};
pub use convert::{ConvertError, Converted, Target, convert};
pub use corpus::{Corpus, CorpusFacts, Duplicates, FileLoss, Mirrored, Progress, ReadSettings, Skipped, Vocabularies, read};
pub use curve::{Axis, Curve, Point, Protection, curve, kept_by, protections, quantile, to_results, tool_of};
pub use diff::{Diff, Dropped, Parting, Side, diff};
pub use distance::{Distance, distances};
pub use excerpt::{Excerpts, excerpts};
pub use impose::impose;
pub use inspect::{Contents, ModelShare, by_agent, by_model};
pub use judge::Reason;
pub use least_budget::{LeastBudget, PERCENT, least_budget};
pub use own::{Own, OwnAgent, OwnSettings, lies_below, own_agents};
pub use price::{calibrate, check_model, price, reads};
pub use read_again::{Basis, Group, ReadAgain, Standing as SourceStanding, read_again};
pub use recording::{Beside, RecordedSession, Recording, recording};
pub use replay::{Replay, ReplaySettings, plan_for, replay, replay_closed};
pub use sessions::{SessionFigures, by_session};
pub use source::{Found, Home, discover, homes};
pub use stores::{is_log, session_in, store_of};
pub use summaries::{Fitted, RecordedSummaries};
pub use sweep::{
    Billing, Charges, Comparator, Constraint, Design, Dimension, Direction, Header, Judgement, Known, KnownFrom, METRICS, Measure, Metric,
    MetricUnit, Objective, OverSessions, Row, Setting, Standing, Store, Sweep, SweepError, Value, judgements, settings,
};
pub use tracefile::{LARGEST_TRACE_FILE, TraceFileError, is_trace_file, read_traces, read_traces_up_to, write_traces};
pub use unseen::UnseenFacts;
pub use window::WindowFrom;
