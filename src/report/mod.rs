//! OUTCOMES -> REPORT. One file a question. Knows no width, no colour, no separator.

mod backtest;
mod backtest_record;
mod by_region;
mod by_session;
mod by_tool;
mod causes;
mod cost;
mod cost_figures;
mod cost_record;
mod curve;
mod diff;
mod document;
pub mod drift;
mod explain;
mod figures;
mod guesses;
mod measures;
mod notes;
mod record;
mod references;
mod replay;
mod sweep;
mod sweep_record;
mod words;

pub use backtest::{AskedBacktest, backtest};
pub use cost::{Breakdown, Priced, cost};
pub use curve::curve;
pub use diff::diff;
pub use document::{Better, Body, Cell, Column, Provenance, Report, Section, Table, Unit};
pub use explain::{Subject, explain};
pub use record::{Record, Series};
pub use replay::{Asked, By, replay};
pub use sweep::{Billed, Swept, sweep};
pub use words::{counted, decimal_dollars, dollars, first_few, grouped, percent};
