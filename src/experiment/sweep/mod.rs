//! One corpus under many settings: which values, in which design, judged by which measures, run together and written down as they come.

mod accounts;
mod design;
mod dimension;
pub(super) mod error;
mod goal;
mod judgement;
mod row;
mod run;
mod store;

pub use design::{Design, Setting, settings};
pub use dimension::Dimension;
pub use error::SweepError;
pub use goal::{Comparator, Constraint, Direction, Objective};
pub use judgement::{Judgement, Standing, judgements};
pub use row::Row;
pub(super) use row::between;
pub use run::Sweep;
pub use store::{Header, Known, Store};
