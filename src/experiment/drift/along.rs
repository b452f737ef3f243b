//! Does the error grow along a session?

use super::figures::{Figures, Pair};

/// A stretch of the sessions, by number of the call from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first call of the stretch.
    pub from: usize,
    /// The last call of it; `None` for all that follow.
    pub to: Option<usize>,
}

/// The stretches that are looked at.
pub const STRETCHES: [Stretch; 5] = [
    Stretch { from: 1, to: Some(1) },
    Stretch { from: 2, to: Some(5) },
    Stretch { from: 6, to: Some(20) },
    Stretch { from: 21, to: Some(50) },
    Stretch { from: 51, to: None },
];

impl Stretch {
    /// The calls of the stretch in words: `2 to 5`, `from 51`.
    pub fn words(self) -> String {
        match self.to {
            Some(to) if to == self.from => format!("{to}"),
            Some(to) => format!("{} to {to}", self.from),
            None => format!("from {}", self.from),
        }
    }

    /// The figures of the pairs that lie in it.
    pub(super) fn figures(self, pairs: &[Pair]) -> Figures {
        let within = |pair: &&Pair| pair.call + 1 >= self.from && self.to.is_none_or(|to| pair.call < to);
        Figures::of(&pairs.iter().filter(within).copied().collect::<Vec<_>>())
    }
}
