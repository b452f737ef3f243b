//! How an agent guesses tokens, and how they are counted exactly.

mod length;
mod memo;
mod pieces;
mod ranks;
mod ratio;
pub mod seam;
mod shape;
mod vocabulary;

pub use length::{Chars, Rounding, Unit, Words, tally};
pub use ratio::Ratio;
pub use shape::Extent;
pub use vocabulary::{Counter, CounterError, Engine, Vocabulary};

use crate::transcript::Text;
use serde::{Deserialize, Serialize};

/// What an agent believes that a text costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Estimator {
    /// So many characters are a token.
    Chars(Chars),
    /// So many words are a token.
    Words(Words),
    /// A public tokenizer. The scale must count in this very vocabulary.
    Vocabulary {
        /// Which one.
        name: Vocabulary,
    },
    /// The tokens that the scale counted, whatever its vocabulary.
    Exact {},
}

impl Estimator {
    /// The estimate for a text, without anything that an agent adds for the message around it.
    pub fn text(&self, text: &Text) -> u64 {
        match self {
            Estimator::Chars(chars) => chars.text(text),
            Estimator::Words(words) => words.text(text),
            Estimator::Vocabulary { .. } | Estimator::Exact {} => u64::from(text.tokens),
        }
    }
}
