//! MANY x MANY: the questions that take many replays, on all cores.

mod advised;
mod arrivals;
mod backtest;
mod beside;
mod break_even;
pub mod cache;
mod charges;
mod choice;
mod composition;
mod curve;
mod diff;
mod distance;
pub mod drift;
mod error;
mod files;
pub mod gate;
mod groups;
pub mod idle;
mod inspect;
mod judge;
mod least_budget;
mod measure;
pub mod metric;
mod origin;
mod outliers;
mod own;
mod price;
mod reach;
mod read_again;
mod recording;
mod replay;
mod sessions;
mod settings;
mod summaries;
mod sweep;
mod tested;
pub mod tune;
pub mod validate;
mod window;

pub use advised::{Advised, advised, best_of};
pub use arrivals::{Arrival, arrivals};
pub use backtest::{
    Backtest, BacktestSettings, Foreseen, Mode, Predicted, Recorded, TOLERANCE, Tested, TestedSession, Verdict, backtest, recorders,
};
pub use beside::Beside;
pub use break_even::{BreakEven, break_even};
pub use charges::{Billing, Charges};
pub use choice::{Choice, choose, leading};
pub use composition::{Composer, Composition, Content, whole};
pub use curve::{
    AXES, Axis, Curve, Newest, Point, Protection, curve, kept_by, newest_limits, protections, quantile, quantiles, to_results, tool_of,
};
pub use diff::{Diff, Dropped, Parting, Side, diff};
pub use distance::{Distance, distances};
pub use error::SweepError;
pub use files::{FileReadings, files};
pub use groups::{Fewest, Group as CallGroup, GroupBy, Grouped};
pub use inspect::{Contents, ModelShare, by_agent, by_model};
pub use judge::Reason;
pub use least_budget::{LeastBudget, PERCENT, least_budget, most_kept};
pub use measure::{Measure, Value, names as measure_names};
pub use metric::{Better, KnownFrom, Metric, OverSessions, Provenance, Unit};
pub use origin::{part, sample, sample_of};
pub use outliers::{Outlier, UsageOutlier, usage_outliers};
pub use own::{Own, OwnAgent, OwnSettings, choose as recorded_under, is_manual, lies_below, own_agents};
pub use price::{calibrate, check_model, price, reads};
pub use reach::{JUMP_QUANTILES, Jumps, NeverReached, acts, jumps, near, never_reached, thresholds};
pub use read_again::{Basis, Group, ReadAgain, Standing as SourceStanding, read_again};
pub use recording::{RecordedSession, Recording, own_error, recording};
pub use replay::{Replay, ReplaySettings, plan_for, replay, replay_closed};
pub use sessions::{SessionFigures, by_session};
pub use summaries::{Fitted, RecordedSummaries};
pub use sweep::{
    Adherence, Against, Comparator, Constraint, Design, Difference, Dimension, Direction, Header, Judgement, Judging, Known, Objective,
    Row, Sampling, Setting, Standing, Store, Summarised, Sums, Sweep, Watch, found, judgements, priced, settings, summed, with_own,
};
pub use window::WindowFrom;
