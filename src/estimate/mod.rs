//! HOW AN AGENT GUESSES tokens, and how they are counted exactly.

mod clean;
mod estimator;
mod length;
mod long_piece;
mod memo;
mod pieces;
mod ranks;
mod ratio;
pub mod seam;
mod shape;
mod text;
mod vocabulary;

pub use clean::cleaned;
pub use estimator::{Counting, Estimator, Guess, RoundAt};
pub use length::{Chars, Rounding, Unit, Words, tally};
pub use ratio::Ratio;
pub use shape::Extent;
pub use text::TextEstimator;
pub use vocabulary::{Counter, CounterError, Engine, Vocabulary};
