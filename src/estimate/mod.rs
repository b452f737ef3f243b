//! HOW AN AGENT GUESSES tokens: characters, bytes, public vocabularies.

mod estimator;
mod memo;
mod pieces;
pub mod seam;
mod vocabulary;

pub use estimator::{Counting, Estimator, Guess, RoundAt, Rounding, Unit};
pub use vocabulary::{Counter, CounterError, Engine, Vocabulary};
