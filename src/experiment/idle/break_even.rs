//! Where remedies begin to pay: it follows from prices alone, and from what a compaction leaves.

use super::pause::{Pause, Rest};
use super::remedy::interval;
use crate::catalog::Rates;
use crate::experiment::cache::Step;
use crate::list::Arrange;
use crate::statistics::median;
use std::collections::BTreeMap;

/// Where remedies begin to pay for a model and a lifetime.
#[derive(Clone, Debug, PartialEq)]
pub struct BreakEven {
    /// The model, as logs name it.
    pub model: String,
    /// The lifetime of an entry, in milliseconds.
    pub lifetime: i64,
    /// Pauses of the corpus that are long enough to matter.
    pub pauses: u64,
    /// So many pings cost no more than going cold; `None` where a read costs nothing.
    pub pings: Option<u64>,
    /// The pause that they bridge, in milliseconds: behind it one more is due, and that would cost more than going cold.
    pub gap: Option<i64>,
    /// From so many tokens on a compaction before the entry expires costs less than going cold.
    pub tokens: Option<u64>,
    /// What a compaction is taken to leave.
    pub rest: Rest,
    /// A pause of the model's at the prices of this point, of as many tokens as its pauses have in the median.
    pub typical: Pause,
}

impl BreakEven {
    fn of(model: &str, lifetime: i64, tokens: &[u64], pause: &Pause) -> BreakEven {
        let Rates { cache_read, cache_write, cache_write_1h, output, .. } = pause.rates;
        let write = if pause.long { cache_write_1h } else { cache_write };
        let dearer = write.0.saturating_sub(cache_read.0);
        let pings = dearer.checked_div(cache_read.0);
        let compaction = u128::from(pause.rest.summary) * u128::from(output.0) + u128::from(pause.rest.prompt) * u128::from(write.0);
        let typical = median(tokens.to_vec()).unwrap_or(pause.tokens);
        let cold = write.of(typical).saturating_sub(cache_read.of(typical));
        BreakEven {
            model: model.to_owned(),
            lifetime,
            pauses: tokens.len() as u64,
            pings,
            gap: pings.map(|pings| interval(lifetime).saturating_mul(i64::try_from(pings).unwrap_or(i64::MAX).saturating_add(1))),
            tokens: compaction.checked_div(u128::from(dearer)).and_then(|tokens| u64::try_from(tokens).ok()),
            rest: pause.rest,
            typical: Pause { tokens: typical, lost: typical, cold, resumed: pause.rates, compacted: pause.rates, ..*pause },
        }
    }
}

/// The break-even points of each model and lifetime, as pauses come in: the contexts of those that matter, and time and prices of the last one, without tiers
/// of long prompts.
#[derive(Default)]
pub struct BreakEvens(BTreeMap<(String, i64), (Vec<u64>, i64, Pause)>);

impl BreakEvens {
    /// Takes in a pause and its call.
    pub fn add(&mut self, pause: &Pause, step: &Step<'_>) {
        let Some(price) = step.known.price else { return };
        let time = step.time.unwrap_or(0);
        let one = self.0.entry((step.known.name.to_owned(), pause.lifetime)).or_insert((Vec::new(), time, *pause));
        one.0.extend(pause.matters().then_some(pause.tokens));
        if time >= one.1 {
            (one.1, one.2) = (time, Pause { rates: *price.rates(0), ..*pause });
        }
    }

    /// Those with most pauses first.
    pub fn all(&self) -> Vec<BreakEven> {
        let points = self.0.iter().filter(|(_, (tokens, ..))| !tokens.is_empty());
        let mut found: Vec<BreakEven> =
            points.map(|((model, lifetime), (tokens, _, pause))| BreakEven::of(model, *lifetime, tokens, pause)).collect();
        found.arrange_by_key(|one| std::cmp::Reverse(one.pauses));
        found
    }
}
