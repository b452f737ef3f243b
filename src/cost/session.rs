//! What the caches of a session make of its prompts, in the order of its calls.

use super::cache::{Ages, Lifetime, PromptCache, Request, Split};
use super::tariff::{Known, Models, Tariff};
use crate::catalog::CacheRule;
use crate::trace::{CallRow, Trace};
use std::collections::BTreeMap;

/// The cache of one model, twice: with ages and without.
#[derive(Clone)]
struct Caches<'a> {
    cache: PromptCache<'a>,
    /// The cache as it is if entries do not age.
    ageless: PromptCache<'a>,
    /// The number of its last request among those of all models.
    last: u64,
}

/// What the caches make of a request.
pub(super) struct Answer {
    /// The prefix that is left of the model's own last request.
    pub common: u64,
    /// What the provider's rules find alive of the prompt.
    pub found: Split,
    /// What is found of the prompt if entries do not age.
    pub ageless: Split,
}

/// The caches of one session, one for each of its models, and its clock.
#[derive(Clone)]
pub(super) struct Session<'a> {
    trace: &'a Trace,
    tariff: &'a Tariff<'a>,
    models: Models<'a>,
    lifetime: Lifetime,
    has_times: bool,
    now: i64,
    caches: BTreeMap<Option<u32>, Caches<'a>>,
    /// Number of requests so far, over all models.
    requests: u64,
    /// Of the requests so far those that left a shorter prefix than all later ones: number and prefix, both growing.
    shortest: Vec<(u64, u64)>,
    /// What the first call is recorded to have read, as far as all requests since have kept it: others had put it there.
    shared: (Option<u32>, u64),
}

impl<'a> Session<'a> {
    pub fn new(trace: &'a Trace, tariff: &'a Tariff<'a>) -> Session<'a> {
        let (written, long) = trace.usages().fold((0, 0), |(all, long), usage| (all + usage.cache_write, long + usage.cache_write_1h));
        let lifetime = if long * 2 > written { Lifetime::Long } else { Lifetime::Usual };
        let first = trace.calls.first().filter(|_| tariff.model.is_none());
        let shared = first.map_or((None, 0), |call| (call.model.get(), call.usage.get().map_or(0, |usage| usage.cache_read)));
        let has_times = trace.calls.iter().any(|call| trace.time_of(call).is_some());
        let models = tariff.models(trace);
        let (caches, shortest) = (BTreeMap::new(), Vec::new());
        Session { trace, tariff, models, lifetime, has_times, now: 0, caches, requests: 0, shortest, shared }
    }

    /// When a call was made. Where the log does not say, the gap that was asked for lies before it; a clock never goes back.
    pub fn time(&mut self, call: &CallRow) -> i64 {
        let recorded = self.trace.time_of(call);
        self.now = recorded.unwrap_or(self.now.saturating_add(self.tariff.gap_millis)).max(self.now);
        self.now
    }

    /// How long entries of the session are kept by a rule, in milliseconds.
    pub fn lifetime_millis(&self, rule: &CacheRule) -> i64 {
        self.lifetime.millis(rule)
    }

    /// What is known of a call's model at a time.
    pub fn known(&self, call: &CallRow, time: i64) -> Known<'a> {
        self.models.of(call, Some(time).filter(|_| self.has_times))
    }

    /// Asks the cache of the call's model.
    pub fn ask(&mut self, call: &CallRow, known: &Known<'a>, request: Request) -> Answer {
        // The first request of all has none before it that it could have parted from.
        if !self.caches.is_empty() {
            self.shared.1 = self.shared.1.min(request.prefix);
        }
        let shared = self.shared_of(call);
        let model = self.model_of(call);
        self.requests += 1;
        while self.shortest.pop_if(|(_, prefix)| *prefix >= request.prefix).is_some() {}
        self.shortest.push((self.requests, request.prefix));
        let lifetime = self.lifetime;
        // Most sessions have one model, whose prompts mostly begin with those before: lists that double while they grow take twice the room.
        let expected = if self.caches.is_empty() { self.trace.calls.len() } else { 0 };
        let caches = self.caches.entry(model).or_insert_with(|| Caches {
            cache: PromptCache::new(known.cache, lifetime, Ages::Lives).expecting(expected),
            ageless: PromptCache::new(known.cache, lifetime, Ages::Never).expecting(expected),
            last: 0,
        });
        // Of the prompt before, the model's cache knows what every request since has left. A model that is asked for the first time knows nothing.
        let since = self.shortest.partition_point(|(number, _)| *number <= caches.last);
        let left = self.shortest.get(since).filter(|_| caches.last > 0);
        let prefix = left.map_or(0, |(_, prefix)| *prefix);
        caches.last = self.requests;
        let request = Request { prefix, shared, ..request };
        let answer = Answer { common: prefix, found: caches.cache.ask(&request), ageless: caches.ageless.ask(&request) };
        if self.caches.len() == 1 {
            // No other model will ask what this request left.
            self.shortest.clear();
        }
        answer
    }

    /// Tokens that other sessions keep in the cache of the call's model.
    pub fn shared_of(&self, call: &CallRow) -> u64 {
        if call.model.get() == self.shared.0 { self.shared.1 } else { 0 }
    }

    fn model_of(&self, call: &CallRow) -> Option<u32> {
        call.model.get().filter(|_| self.tariff.model.is_none())
    }
}
