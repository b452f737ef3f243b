//! What a policy was predicted to change, held against runs that were made under it.

mod compare;
mod index;
mod measures;
mod run;

pub use compare::{Arm, Drawn, Found, Intervals, MeanError, Sides, Validation, validate};
pub use index::{Index, IndexRow};
pub use measures::{COMPARED, Claim, Compared};
pub use run::{Label, PairBy, Run, identity, labels, predicted, recorded};
