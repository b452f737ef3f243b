//! What OpenCode recorded of the usage of a request, as a fact.

use super::record::Tokens;
use super::session::Lose;
use crate::format::count::{ABSURD, Count, Dollars};
use crate::transcript::{Trust, Usage};

impl Tokens {
    fn counts(&self) -> [Count; 5] {
        [self.input, self.cache.read, self.cache.write, self.output, self.reasoning]
    }

    /// Did the log write zeros alone?
    pub fn is_nothing(&self) -> bool {
        self.counts().iter().all(|count| matches!(count, Count::Absent | Count::Sound(0)))
    }

    /// The usage as a fact; `None` where the log has zeros, which is how messages without a request are written.
    pub fn read(&self, cost: Dollars, thinking: bool, lose: Lose<'_>) -> Option<Usage> {
        let [Ok(input), Ok(cache_read), Ok(cache_write), Ok(output), Ok(reasoning)] = self.counts().map(Count::or_zero) else {
            lose(ABSURD);
            return None;
        };
        let prompt = input + cache_read + cache_write;
        // Some versions write the reasoning as a part of the output, others beside it. The total tells, where there is one.
        let beside = match self.total {
            Count::Sound(total) if reasoning > 0 => total == prompt + output + reasoning,
            _ => reasoning > output,
        };
        (prompt > 0).then(|| Usage {
            prompt,
            cache_read,
            cache_write,
            cache_write_1h: 0,
            output: if beside { output + reasoning } else { output },
            // Where there is thinking, 0 means that the provider did not count it apart.
            reasoning: (self.reasoning != Count::Absent && (reasoning > 0 || !thinking)).then_some(reasoning),
            cost_nano_usd: cost.above_zero(),
            trust: Trust::Provider,
            output_is_final: true,
        })
    }

    /// A name for the request by which a copy of it is known.
    pub fn fingerprint(&self) -> String {
        let numbers = self.counts().map(|count| count.or_zero().unwrap_or_default().to_string());
        numbers.join("-")
    }
}
