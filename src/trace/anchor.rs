//! Which recorded usage is the truth.

use super::CallRow;
use crate::transcript::{Trust, Usage};

impl CallRow {
    /// Usage that anchors truth: the provider's own, of a prompt.
    pub fn anchor(&self) -> Option<Usage> {
        self.usage.filter(|usage| usage.trust == Trust::Provider && usage.prompt > 0)
    }

    /// The part of the hidden overhead that rests on such usage.
    pub fn anchored_hidden(&self) -> u64 {
        self.anchor().map_or(0, |_| self.hidden)
    }
}
