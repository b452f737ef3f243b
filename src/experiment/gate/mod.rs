//! One policy over a corpus, compared with its accepted baseline: a check for the tests of an agent's project.

mod allowance;
mod baseline;
mod comparison;
mod values;

pub use allowance::Allowance;
pub use baseline::{Baseline, BaselineSession, SCHEMA, session_name};
pub use comparison::{Comparison, Mismatch, Moved, MovedSession, compare, fails_all};
pub use values::Values;
