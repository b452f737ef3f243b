//! One corpus under many settings: which values, in which design, judged by which measures, run together and written down as they come.

mod accounts;
mod design;
mod dimension;
pub(super) mod error;
mod goal;
mod judgement;
mod run;
mod store;

pub use design::{Design, Setting, settings};
pub use dimension::Dimension;
pub use error::SweepError;
pub use goal::{Comparator, Constraint, Direction, Objective};
pub use judgement::{Judgement, Standing, judgements};
pub(super) use run::between;
pub use run::{Row, Sweep};
pub use store::{Header, Known, Store};
