//! Which recorded usage is the truth.

use super::CallRow;
use crate::transcript::{Trust, Usage};

impl CallRow {
    /// Usage that anchors truth: the provider's own, of a prompt.
    #[inline]
    pub fn anchor(&self) -> Option<Usage> {
        self.usage.get().filter(|usage| usage.trust == Trust::Provider && usage.prompt > 0)
    }

    /// What the provider reported of a prompt, also of one that is not all in the log. Such usage anchors no text. `None` of a part of a prompt: of
    /// [`Trust::Partial`] that holds less than the log shows.
    pub fn reported(&self) -> Option<Usage> {
        let is_whole = |usage: &Usage| matches!(usage.trust, Trust::Beyond | Trust::Shared) || usage.trust == Trust::Partial && self.covers;
        self.anchor().or_else(|| self.usage.get().filter(|usage| usage.prompt > 0 && is_whole(usage)))
    }

    /// What the log says of this call by itself: no share of a sum.
    pub fn own_usage(&self) -> Option<Usage> {
        self.usage.get().filter(|usage| usage.trust != Trust::Shared)
    }

    /// What so many of the visible tokens come to in a prompt of this size: they lack what the log does not tell, in proportion.
    pub fn in_prompt(&self, tokens: u64, visible: u64, prompt: u64) -> u64 {
        let sent = prompt.saturating_sub(self.hidden);
        if sent < visible { (u128::from(tokens) * u128::from(sent) / u128::from(visible)) as u64 } else { tokens }
    }

    /// The part of a prompt that rests on such usage, as `anchored` of the visible tokens do.
    pub fn anchored_in(&self, anchored: u64, visible: u64, prompt: u64) -> u64 {
        let hidden = self.anchor().map_or(0, |_| self.hidden);
        (hidden + self.in_prompt(anchored, visible, prompt)).min(prompt)
    }
}
