//! What the calls of a setting cost: the part of its bills that settings are judged by.

use crate::cost::{Bill, Bills, BillsSoFar, CacheKind, Calibration, Tariff};
use crate::experiment::price::calibrate;
use crate::policy::Plan;
use crate::sim::{Account, Batch, BatchOutcome, CallOutcome, Conditions, Outcome, Refetch, Refetching, SummaryCall, Totals, simulate};
use crate::trace::{Evidence, Trace};
use crate::units::adds;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Prices, cache and closed loop by which bills are made.
#[derive(Clone, Copy)]
pub struct Billing<'a> {
    /// Prices and rules of caches.
    pub tariff: &'a Tariff<'a>,
    /// The model of the prompt cache that all bills assume.
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

impl<'a> Billing<'a> {
    /// Bills of a replay that has not begun, with the cache that all bills assume.
    fn bills(&self, trace: &'a Trace, calibration: &'a Calibration) -> BillsSoFar<'a> {
        BillsSoFar::new(trace, self.tariff, calibration, Some(self.cache))
    }

    /// What a session's recording says of its cache, where bills are made by it.
    pub fn calibration(&self, trace: &Trace) -> Calibration {
        if self.cache == CacheKind::Recorded { calibrate(trace, self.tariff) } else { Calibration::default() }
    }
}

impl Charges {
    /// Has any call a price? None has where no bills were made.
    pub fn is_priced(&self) -> bool {
        self.calls > self.unpriced_calls
    }

    /// The charges of one session in the open loop. Where nothing is read again, they are the net ones as well.
    pub fn open(trace: &Trace, outcome: &Outcome, billing: Billing<'_>, calibration: &Calibration) -> Charges {
        Charges::of_bills(&billing.bills(trace, calibration).close(outcome), outcome, billing.cache)
    }

    fn of_bills(bills: &Bills, outcome: &Outcome, cache: CacheKind) -> Charges {
        let bill = bills.with(cache);
        Charges {
            net_nano_usd: bill.nano_usd(),
            net_failed_sessions: outcome.totals.failed_sessions,
            unpriced_sessions: u64::from(bills.calls > 0 && !bills.is_priced()),
            ..Charges::of(&[bill], bill.nano_usd(), bills.calls, bills.unpriced_calls)
        }
    }

    /// So many calls, and what they come to by these bills and at this price.
    pub(super) fn of(bills: &[&Bill], nano_usd: u64, calls: u64, unpriced_calls: u64) -> Charges {
        let cache_read = bills.iter().map(|bill| bill.cache_read.tokens).sum();
        let prompt_tokens = bills.iter().map(|bill| bill.prompt_tokens()).sum();
        Charges { nano_usd, cache_read, prompt_tokens, calls, unpriced_calls, ..Charges::default() }
    }

    /// The same with what its closed loop comes to.
    pub fn net_of(self, closed: &Charges) -> Charges {
        Charges { net_nano_usd: closed.nano_usd, net_failed_sessions: closed.net_failed_sessions, ..self }
    }
}

adds!(Charges += &Charges:
    nano_usd, net_nano_usd, net_failed_sessions, cache_read, prompt_tokens, calls, unpriced_calls, unpriced_sessions);

/// Settings that are replayed together.
struct Together<'a> {
    settings: Vec<(&'a Plan, &'a Conditions)>,
    batch: Batch<'a>,
}

/// Settings under which sessions are replayed and billed together: settings that act alike share a run and its bill.
pub(super) struct BilledBatch<'a> {
    open: Together<'a>,
    /// The closed loop, in which settings that acted alike may part.
    closed: Option<Together<'a>>,
    billing: Option<Billing<'a>>,
}

impl<'a> Together<'a> {
    fn new(plans: &'a [Arc<Plan>], conditions: &'a [Conditions]) -> Together<'a> {
        let settings: Vec<(&Plan, &Conditions)> = plans.iter().map(Arc::as_ref).zip(conditions).collect();
        Together { batch: Batch::new(&settings), settings }
    }

    /// What the settings come to in a session, with the charges of each of the sums that occur.
    fn charged(&self, trace: &Trace, billing: Billing<'_>, calibration: &Calibration) -> (BatchOutcome, Vec<Charges>) {
        let bills = billing.bills(trace, calibration);
        self.batch.watch(trace, Charging { settings: &self.settings, trace, billing, calibration, bills })
    }
}

/// The charges of a run, as far as it has come.
#[derive(Clone)]
struct Charging<'a> {
    settings: &'a [(&'a Plan, &'a Conditions)],
    trace: &'a Trace,
    billing: Billing<'a>,
    calibration: &'a Calibration,
    bills: BillsSoFar<'a>,
}

impl Account for Charging<'_> {
    type Sum = Charges;

    fn go_on(&mut self, calls: &[CallOutcome], summaries: &[SummaryCall], refetches: &[Refetch]) {
        self.bills.go_on(calls, summaries, refetches);
    }

    fn close(self, setting: usize, outcome: Option<&Outcome>) -> Charges {
        match (outcome, self.settings.get(setting)) {
            (Some(outcome), _) => Charges::of_bills(&self.bills.close(outcome), outcome, self.billing.cache),
            (None, Some((plan, conditions))) => {
                Charges::open(self.trace, &simulate(self.trace, plan, conditions), self.billing, self.calibration)
            }
            (None, None) => Charges::default(),
        }
    }
}

impl<'a> BilledBatch<'a> {
    /// Settings with the conditions of both loops.
    pub fn new(plans: &'a [Arc<Plan>], open: &'a [Conditions], closed: &'a [Conditions], billing: Option<Billing<'a>>) -> BilledBatch<'a> {
        let nets = billing.is_some_and(|billing| billing.refetch != Refetching::Never);
        BilledBatch { open: Together::new(plans, open), closed: nets.then(|| Together::new(plans, closed)), billing }
    }

    /// What the settings come to in a session, with the charges of each of the sums that occur.
    pub fn simulate(&self, trace: &Trace) -> (BatchOutcome, Vec<Charges>) {
        let Some(billing) = self.billing else {
            let shared = self.open.batch.simulate(trace);
            let none = vec![Charges::default(); shared.totals.len()];
            return (shared, none);
        };
        let calibration = billing.calibration(trace);
        let (shared, open) = self.open.charged(trace, billing, &calibration);
        // Where nothing is missed, nothing is read again.
        let misses = |totals: &Totals| totals.retention.of(Evidence::Line).broken() > 0;
        let Some(closed) = self.closed.as_ref().filter(|_| shared.totals.iter().any(misses)) else { return (shared, open) };
        let (again, closed) = closed.charged(trace, billing, &calibration);
        let mut parted = BatchOutcome { of: Vec::with_capacity(shared.of.len()), totals: Vec::new(), ..shared };
        let mut charges: Vec<Charges> = Vec::new();
        let mut known: BTreeMap<(u32, u64, u64), u32> = BTreeMap::new();
        for (of, again) in shared.of.iter().zip(&again.of) {
            let (Some(totals), Some(open)) = (shared.totals.get(*of as usize), open.get(*of as usize)) else { continue };
            let closed = closed.get(*again as usize).filter(|_| misses(totals));
            let net = closed.map_or(*open, |closed| open.net_of(closed));
            let place = *known.entry((*of, net.net_nano_usd, net.net_failed_sessions)).or_insert_with(|| {
                parted.totals.push(totals.clone());
                charges.push(net);
                charges.len() as u32 - 1
            });
            parted.of.push(place);
        }
        (parted, charges)
    }
}
