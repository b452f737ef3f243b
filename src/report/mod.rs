//! OUTCOMES -> REPORT. One file per question. Knows no width, no colour, no separator.

mod answer;
mod asked;
mod backtest;
mod by_region;
mod by_rule;
mod by_session;
mod by_tool;
mod cache;
mod causes;
pub mod chart;
mod cost;
mod cost_figures;
mod curve;
mod diff;
mod document;
pub mod drift;
mod envelope;
mod explain;
mod field;
mod figures;
mod finding;
mod gate;
mod guesses;
mod idle;
mod inspect;
mod judged;
mod measures;
mod notes;
mod over;
mod read_again;
mod record;
mod recording;
mod references;
mod refetch;
mod replay;
mod span;
mod sparkline;
mod story;
mod sweep;
mod tested_rows;
mod ties;
mod title;
mod tune;
mod verdict;
mod words;

pub use asked::{
    Asked, AskedBacktest, AskedCache, AskedIdle, Baselines, Billed, Breakdown, BreaksBy, By, Found, Gated, Grouping, Oracle, Priced,
    Series, SubAgents, Subject, Swept,
};
pub use backtest::backtest;
pub use cache::cache;
pub use cost::cost;
pub use curve::curve;
pub use diff::diff;
pub use document::{Better, Body, Cell, Column, Depth, Provenance, Report, Screen, Section, Table, Unit};
pub use envelope::Envelope;
pub use explain::explain;
pub use gate::{Check, Outcome, checks, gate};
pub use idle::idle;
pub use inspect::inspect;
pub use record::any::Record;
pub use replay::replay;
pub use story::{Browser, Chapter, Overview, SessionSeries, Shown, Story, Told, story};
pub use sweep::sweep;
pub use tune::{configuration, tune};
pub use words::{counted, counted_as, decimal_dollars, dollars, first_few, grouped, percent, short_dollars, three_digits};
