//! What OpenCode recorded of the usage of a request, as a fact.

use super::record::Tokens;
use crate::format::ground::{Count, Dollars, Lose, sound};
use crate::format::usage::{Cached, Reasoning, Reported};
use crate::transcript::Usage;

impl Tokens {
    fn counts(&self) -> [Count; 5] {
        [self.input, self.cache.read, self.cache.write, self.output, self.reasoning]
    }

    /// Did the log write zeros alone?
    pub fn is_nothing(&self) -> bool {
        self.counts().iter().all(|count| matches!(count, Count::Absent | Count::Sound(0)))
    }

    /// The usage as a fact, with the reasoning where `reasoned` says; `None` where the log has zeros, which is how messages without a request are written.
    pub fn read(&self, cost: Dollars, reasoned: Reasoning, thinking: bool, lose: Lose<'_>) -> Option<Usage> {
        let reported = Reported {
            input: self.input,
            cache_read: self.cache.read,
            cache_write: self.cache.write,
            cached: Cached::Beside,
            output: self.output,
            reasoning: self.reasoning,
            reasoned,
            total: self.total,
            cost_nano_usd: cost.above_zero(),
            ..Reported::default()
        };
        let usage = sound(reported.usage(), lose)?;
        // Where there is thinking, 0 means that the provider did not count it apart.
        Some(Usage { reasoning: usage.reasoning.filter(|reasoning| *reasoning > 0 || !thinking), ..usage })
    }

    /// A name for the request by which a copy of it is known.
    pub fn fingerprint(&self) -> String {
        let numbers = self.counts().map(|count| count.or_zero().unwrap_or_default().to_string());
        numbers.join("-")
    }
}
