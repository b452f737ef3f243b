//! What an agent believes that a single text costs.

use super::{Chars, Vocabulary, Words};
use crate::transcript::Text;
use serde::{Deserialize, Serialize};

/// What an agent believes that a text costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum TextEstimator {
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

impl TextEstimator {
    /// The estimate for a text, without anything that an agent adds for the message around it.
    pub fn text(&self, text: &Text) -> u64 {
        match self {
            TextEstimator::Chars(chars) => chars.text(text),
            TextEstimator::Words(words) => words.text(text),
            TextEstimator::Vocabulary { .. } | TextEstimator::Exact {} => u64::from(text.tokens),
        }
    }
}
