//! HOW AN AGENT GUESSES tokens: characters, bytes, public vocabularies.

mod estimator;

pub use estimator::{Counting, Estimator, Guess, RoundAt, Rounding, Unit};
