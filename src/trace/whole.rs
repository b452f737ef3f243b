//! Prompts of a session from which nothing is ever removed.

use serde::{Deserialize, Serialize};

/// The prompt of a call under no policy, as caches see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WholePrompt {
    /// Tokens of the prompt.
    pub tokens: u64,
    /// Tokens at its head that stood the same in the prompt of the call before.
    pub prefix: u64,
    /// Items in the prompt.
    pub blocks: u32,
}
