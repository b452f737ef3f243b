//! Sessions dealt out into two halves, so that what is fitted on one is judged by the other.

use super::sample::Session;
use crate::corpus::version;

/// One half of the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The first, third, fifth...
    First,
    /// The others.
    Second,
}

impl Half {
    /// Both.
    pub const ALL: [Half; 2] = [Half::First, Half::Second];

    /// The other one.
    pub fn other(self) -> Half {
        match self {
            Half::First => Half::Second,
            Half::Second => Half::First,
        }
    }
}

/// What sessions are dealt out by: agent, its version, and a hash of agent and id.
pub(super) type Card = (String, Vec<u64>, (u64, usize));

impl Session<'_> {
    /// What it is dealt out by.
    pub(super) fn card(&self) -> Card {
        (self.source(), version(&self.trace.version), self.order())
    }
}

/// The half of each session, in their order: dealt out in turn. So both halves hold the same mixture of agents and versions, and neither the order of files
/// nor their names decide anything.
pub(super) fn deal(cards: &[Card]) -> Vec<Half> {
    let mut order: Vec<usize> = (0..cards.len()).collect();
    order.sort_by_key(|place| cards.get(*place));
    let mut halves = vec![Half::First; cards.len()];
    for place in order.into_iter().skip(1).step_by(2) {
        if let Some(half) = halves.get_mut(place) {
            *half = Half::Second;
        }
    }
    halves
}
