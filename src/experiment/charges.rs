//! What the calls of a setting cost: the part of its bills that settings are judged by.

use crate::cost::{CacheKind, Calibration, Tariff, bills};
use crate::experiment::price::calibrate;
use crate::policy::Plan;
use crate::sim::{BatchOutcome, Conditions, Outcome, Refetching, simulate};
use crate::trace::{Evidence, Trace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::AddAssign;

/// What bills are made by.
#[derive(Clone, Copy)]
pub struct Billing<'a> {
    /// Prices and rules of caches.
    pub tariff: &'a Tariff<'a>,
    /// The prompt cache.
    pub cache: CacheKind,
    /// What the agent reads again in the bill net of refetches; `Never` where that bill is not asked for; it then is the plain one.
    pub refetch: Refetching,
}

/// Sums of bills with one prompt cache. All 0 where no bills were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charges {
    /// The list price of all calls that have one, in thousand-millionths of a dollar.
    pub nano_usd: u64,
    /// The same in a closed loop, in which the agent reads again what the policy took from it.
    pub net_nano_usd: u64,
    /// Sessions that fail in that loop: nothing is read again before a call that is refused to the end.
    pub net_failed_sessions: u64,
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

impl Billing<'_> {
    /// What a session's recording says of its cache, where bills are made by it.
    pub fn calibration(&self, trace: &Trace) -> Calibration {
        if self.cache == CacheKind::Recorded { calibrate(trace, self.tariff) } else { Calibration::default() }
    }
}

impl Charges {
    /// The charges of one session in the open loop. Where nothing is read again, they are the net ones as well.
    pub fn open(trace: &Trace, outcome: &Outcome, billing: Billing<'_>, calibration: &Calibration) -> Charges {
        let bills = bills(trace, outcome, billing.tariff, calibration);
        let bill = bills.with(billing.cache);
        Charges {
            nano_usd: bill.nano_usd(),
            net_nano_usd: bill.nano_usd(),
            net_failed_sessions: outcome.totals.failed_sessions,
            cache_read: bill.cache_read.tokens,
            prompt_tokens: bill.prompt_tokens(),
            calls: bills.calls,
            unpriced_calls: bills.unpriced_calls,
            unpriced_sessions: u64::from(bills.calls > 0 && !bills.is_priced()),
        }
    }

    /// The same with what its closed loop comes to.
    pub fn net_of(self, trace: &Trace, closed: &Outcome, billing: Billing<'_>, calibration: &Calibration) -> Charges {
        let net_nano_usd = bills(trace, closed, billing.tariff, calibration).with(billing.cache).nano_usd();
        Charges { net_nano_usd, net_failed_sessions: closed.totals.failed_sessions, ..self }
    }
}

impl AddAssign<&Charges> for Charges {
    fn add_assign(&mut self, other: &Charges) {
        self.nano_usd += other.nano_usd;
        self.net_nano_usd += other.net_nano_usd;
        self.net_failed_sessions += other.net_failed_sessions;
        self.cache_read += other.cache_read;
        self.prompt_tokens += other.prompt_tokens;
        self.calls += other.calls;
        self.unpriced_calls += other.unpriced_calls;
        self.unpriced_sessions += other.unpriced_sessions;
    }
}

/// What settings came to in one session, with the charges of each of the sums that occur. A bill needs every call, so of settings that
/// act alike one is replayed again for it. In a closed loop settings that acted alike may part: each of them is replayed by itself where
/// anything is missed, and stands with those that come to the same.
pub(super) fn billed(
    trace: &Trace,
    shared: BatchOutcome,
    settings: &[(&Plan, &Conditions)],
    billing: Option<Billing<'_>>,
) -> (BatchOutcome, Vec<Charges>) {
    let none = vec![Charges::default(); shared.totals.len()];
    let Some(billing) = billing else { return (shared, none) };
    let calibration = billing.calibration(trace);
    let of_one = |place: usize| {
        let acts_so = shared.of.iter().position(|of| *of as usize == place);
        let (plan, conditions) = acts_so.and_then(|setting| settings.get(setting))?;
        let outcome = simulate(trace, plan, conditions);
        Some(Charges::open(trace, &outcome, billing, &calibration))
    };
    let open: Vec<Charges> = (0..shared.totals.len()).map(|place| of_one(place).unwrap_or_default()).collect();
    if billing.refetch == Refetching::Never {
        return (shared, open);
    }
    let mut parted = BatchOutcome { of: Vec::with_capacity(shared.of.len()), totals: Vec::new(), runs: shared.runs, steps: shared.steps };
    let mut charges: Vec<Charges> = Vec::new();
    let mut known: BTreeMap<(u32, u64, u64), u32> = BTreeMap::new();
    for (of, (plan, conditions)) in shared.of.iter().zip(settings) {
        let (Some(totals), Some(open)) = (shared.totals.get(*of as usize), open.get(*of as usize)) else { continue };
        let net = if totals.retention.of(Evidence::Line).broken() == 0 {
            *open
        } else {
            let conditions = Conditions { refetch: billing.refetch, ..(*conditions).clone() };
            open.net_of(trace, &simulate(trace, plan, &conditions), billing, &calibration)
        };
        let place = *known.entry((*of, net.net_nano_usd, net.net_failed_sessions)).or_insert_with(|| {
            parted.totals.push(totals.clone());
            charges.push(net);
            charges.len() as u32 - 1
        });
        parted.of.push(place);
    }
    (parted, charges)
}
