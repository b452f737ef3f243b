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

/// The half of each session, in their order: dealt out in turn by agent, its version, and a hash of agent and id. So both halves
/// hold the same mixture of agents and versions, and neither the order of files nor their names decide anything.
pub(super) fn deal(sessions: &[&Session<'_>]) -> Vec<Half> {
    let mut order: Vec<usize> = (0..sessions.len()).collect();
    order.sort_by_cached_key(|place| {
        sessions.get(*place).map(|session| (session.source(), version(&session.trace.version), session.order()))
    });
    let mut halves = vec![Half::First; sessions.len()];
    for place in order.into_iter().skip(1).step_by(2) {
        if let Some(half) = halves.get_mut(place) {
            *half = Half::Second;
        }
    }
    halves
}
