//! What can be done against a cache that goes cold, and what it costs.

use super::pause::Pause;
use crate::catalog::Rates;

/// A ping, or a compaction, goes out when so many hundredths of the lifetime are over: Claude Code compacts after 54 of 60 minutes (its change log of
/// 2.1.299; recorded ones of 2026-10 after 54.7 to 55.7).
const EARLY: i64 = 90;

/// What is done in a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Nothing: the cache goes cold.
    Nothing,
    /// So many requests at the most that read the whole prompt and so keep it for another lifetime.
    Pings(u64),
    /// A compaction before the entry expires.
    Compact,
}

impl Pause {
    /// Milliseconds from one ping to the next, and from a call to a compaction.
    pub fn interval(&self) -> i64 {
        interval(self.lifetime)
    }

    /// Does it last long enough that anything would be done?
    pub fn matters(&self) -> bool {
        self.length.is_none_or(|length| length > self.interval())
    }

    /// Does it outlast the entry, and is the session resumed?
    pub fn outlasts(&self) -> bool {
        self.length.is_some_and(|length| length > self.lifetime)
    }

    /// Does it outlast the entry, and did the call that ended it pay for the prompt again?
    pub fn goes_cold(&self) -> bool {
        self.outlasts() && self.lost > 0
    }

    /// What reading the prompt once costs within the pause, in thousand-millionths of a dollar.
    pub fn read(&self) -> u64 {
        self.rates.cache_read.of(self.tokens)
    }

    /// What writing so many tokens anew costs.
    fn write(&self, rates: &Rates, tokens: u64) -> u64 {
        if self.long { rates.cache_write_1h.of(tokens) } else { rates.cache_write.of(tokens) }
    }

    /// What a remedy costs, in thousand-millionths of a dollar, above a next call that reads the whole prompt; above nothing where none came. What
    /// a smaller context saves later is not in it, nor are the few tokens that a ping itself says and is answered.
    pub fn cost(&self, remedy: Remedy) -> u64 {
        if !self.matters() {
            return 0;
        }
        match (remedy, self.length) {
            (Remedy::Nothing, None) => 0,
            (Remedy::Nothing, Some(_)) => {
                if self.outlasts() {
                    self.cold
                } else {
                    0
                }
            }
            (Remedy::Pings(most), None) => most * self.read(),
            (Remedy::Pings(most), Some(length)) => {
                let due = u64::try_from((length - 1) / self.interval().max(1)).unwrap_or(0);
                let sent = due.min(most);
                let warm_until = self.interval().saturating_mul(i64::try_from(sent).unwrap_or(i64::MAX)).saturating_add(self.lifetime);
                sent * self.read() + if length > warm_until { self.cold } else { 0 }
            }
            (Remedy::Compact, length) => {
                let summarised = self.read() + self.rates.output.of(self.rest.summary);
                let next = || self.write(&self.compacted, self.rest.prompt.min(self.tokens));
                length.map_or(summarised, |_| (summarised + next()).saturating_sub(self.resumed.cache_read.of(self.tokens)))
            }
        }
    }
}

/// Milliseconds from one ping to the next, for entries of a lifetime.
pub fn interval(lifetime: i64) -> i64 {
    lifetime.saturating_mul(EARLY) / 100
}
