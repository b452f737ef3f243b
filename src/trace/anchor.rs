//! Which recorded usage is the truth.

use super::CallRow;
use crate::transcript::{Trust, Usage};

impl CallRow {
    /// Usage that anchors truth: the provider's own, of a prompt.
    pub fn anchor(&self) -> Option<Usage> {
        self.usage.filter(|usage| usage.trust == Trust::Provider && usage.prompt > 0)
    }

    /// What the provider reported of a prompt, also of one that is not all in the log: of an attached file, of what its own tools found. Such usage
    /// anchors no text. `None` where it holds less than the log shows: then it is of a part of the prompt.
    pub fn reported(&self) -> Option<Usage> {
        let partial = || self.usage.filter(|usage| usage.trust == Trust::Partial && usage.prompt > 0 && self.covers);
        self.anchor().or_else(partial)
    }

    /// The part of the hidden overhead that rests on such usage.
    pub fn anchored_hidden(&self) -> u64 {
        self.anchor().map_or(0, |_| self.hidden)
    }
}
