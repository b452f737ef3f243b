//! Sessions dealt out into two halves, so that what is fitted on one is judged by the other.

use super::sample::Session;
use crate::corpus::version;
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// One half of the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// The first, third, fifth...
    First,
    /// The second, fourth, sixth...
    Second,
}

impl Half {
    /// Both halves, the first one first.
    pub const ALL: [Half; 2] = [Half::First, Half::Second];

    /// The half that is not this one.
    pub fn other(self) -> Half {
        match self {
            Half::First => Half::Second,
            Half::Second => Half::First,
        }
    }
}

/// What a session is ordered by among others that are alike, and its number.
type Card = ((u64, usize), usize);

/// Sessions to be dealt out: by source and version what each of them is ordered by, with its number. So both halves hold the same mixture of agents and versions,
/// and neither the order of files nor their names decide anything.
#[derive(Default)]
pub(super) struct Deal {
    alike: BTreeMap<(String, Vec<u64>), Vec<Card>>,
    sessions: usize,
}

impl Deal {
    /// Adds a session to those to be dealt out. One of which no call is compared decides nothing, and moves no other to another half.
    pub fn add(&mut self, session: &Session) {
        if session.compared().next().is_some() {
            let alike = self.alike.entry((session.source.clone(), version(&session.version))).or_default();
            alike.push((session.order(), self.sessions));
        }
        self.sessions += 1;
    }

    /// The half of each session, in the order in which they came: dealt out in turn.
    pub fn halves(mut self) -> Vec<Half> {
        self.alike.values_mut().for_each(|alike| alike.sort_unstable());
        let order = self.alike.values().flatten().map(|(_, number)| *number);
        let mut halves = vec![Half::First; self.sessions];
        for number in order.skip(1).step_by(2) {
            if let Some(half) = halves.get_mut(number) {
                *half = Half::Second;
            }
        }
        halves
    }
}

/// The half of each of these sessions.
pub(super) fn deal(sessions: impl Iterator<Item = impl Borrow<Session>>) -> Vec<Half> {
    let mut deal = Deal::default();
    sessions.for_each(|session| deal.add(session.borrow()));
    deal.halves()
}
