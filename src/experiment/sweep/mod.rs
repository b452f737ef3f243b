//! One corpus under many settings: which values, in which design, judged by which measures, run together and written down as they come.

mod accounts;
mod design;
mod dimension;
mod goal;
mod judgement;
mod row;
mod run;
mod sampling;
mod store;
mod sums;
mod watch;

pub use super::error::SweepError;
pub(super) use design::combined;
pub use design::{Design, Setting, settings, with_own};
pub use dimension::Dimension;
pub(crate) use dimension::mistyped_range;
pub use goal::{Comparator, Constraint, Direction, Objective, priced, summed};
pub use judgement::{Adherence, Against, Judgement, Judging, Standing, judgements};
pub use row::Row;
pub use run::Sweep;
pub use sampling::{Difference, Sampling, Summarised, found};
pub use store::{Header, Known, Store};
pub use sums::Sums;
pub(crate) use sums::beside;
pub use watch::Watch;
