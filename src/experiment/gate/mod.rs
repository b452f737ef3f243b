//! One policy over a corpus, held against what it came to when somebody was content with it: a check for the tests of an agent's project.

mod allowance;
mod baseline;
mod comparison;

pub use allowance::Allowance;
pub use baseline::{Baseline, BaselineSession, SCHEMA};
pub use comparison::{Comparison, Mismatch, Moved, MovedSession, compare};
