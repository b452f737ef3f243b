//! What the calls of a setting cost: the part of its bills that settings are judged by.

use crate::cost::{Bills, CacheKind, Tariff, bills};
use crate::policy::Plan;
use crate::sim::{Conditions, Shared, simulate};
use crate::trace::Trace;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// What bills are made by.
#[derive(Clone, Copy)]
pub struct Billing<'a> {
    /// Prices and rules of caches.
    pub tariff: &'a Tariff<'a>,
    /// The prompt cache.
    pub cache: CacheKind,
}

/// Sums of bills with one prompt cache. All nought where nobody made bills.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charges {
    /// The list price of all calls that have one, in thousand-millionths of a dollar.
    pub nano_usd: u64,
    /// Prompt tokens that the cache reads.
    pub cache_read: u64,
    /// Prompt tokens, the summariser's left out.
    pub prompt_tokens: u64,
    /// Requests, the summariser's included.
    pub calls: u64,
    /// The part of them whose model has no price: they are not in `nano_usd`.
    pub unpriced_calls: u64,
    /// Sessions without a single price: they decide nothing where cost is sought.
    pub unpriced_sessions: u64,
}

impl Charges {
    /// The charges of one session.
    pub fn of(bills: &Bills, cache: CacheKind) -> Charges {
        let bill = bills.with(cache);
        Charges {
            nano_usd: bill.nano_usd(),
            cache_read: bill.cache_read.tokens,
            prompt_tokens: bill.prompt_tokens(),
            calls: bills.calls,
            unpriced_calls: bills.unpriced_calls,
            unpriced_sessions: u64::from(bills.calls > 0 && !bills.is_priced()),
        }
    }
}

impl AddAssign<&Charges> for Charges {
    fn add_assign(&mut self, other: &Charges) {
        self.nano_usd += other.nano_usd;
        self.cache_read += other.cache_read;
        self.prompt_tokens += other.prompt_tokens;
        self.calls += other.calls;
        self.unpriced_calls += other.unpriced_calls;
        self.unpriced_sessions += other.unpriced_sessions;
    }
}

/// The charges of what settings came to in one session, in the order of the sums that occur. A bill needs every call; of settings that
/// act alike one is replayed again for it.
pub(super) fn charges(trace: &Trace, shared: &Shared, settings: &[(&Plan, &Conditions)], billing: Option<Billing<'_>>) -> Vec<Charges> {
    let Some(Billing { tariff, cache }) = billing else { return vec![Charges::default(); shared.totals.len()] };
    let of_one = |place: usize| {
        let acts_so = shared.of.iter().position(|of| *of as usize == place);
        let (plan, conditions) = acts_so.and_then(|setting| settings.get(setting))?;
        Some(Charges::of(&bills(trace, &simulate(trace, plan, conditions), tariff), cache))
    };
    (0..shared.totals.len()).map(|place| of_one(place).unwrap_or_default()).collect()
}
