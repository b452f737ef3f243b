//! Results of tools that a context holds and that are not masked, summed: what rules that look for results ask before they look at each.

use super::item::Item;
use crate::estimate::{Estimator, Guess};

/// How many they are, and their estimates.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Results {
    pub count: u64,
    /// Estimated tokens of their texts, each by itself.
    pub alone: u64,
    /// What they add to the estimates of their messages.
    pub guess: Guess,
}

impl Results {
    pub fn add(&mut self, item: &Item) {
        self.count += 1;
        self.alone += item.alone;
        self.guess = self.guess.plus(item.guess);
    }

    pub fn take_out(&mut self, item: &Item) {
        self.count -= 1;
        self.alone -= item.alone;
        self.guess = self.guess.less(item.guess);
    }

    /// No fewer tokens than they come to as parts of messages, each rounded by itself.
    pub fn most_as_parts(&self, estimator: &Estimator) -> u64 {
        estimator.message_part(self.guess).saturating_add(self.count)
    }
}
