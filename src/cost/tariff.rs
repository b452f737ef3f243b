//! Who charges what: the model, its price and its cache, by the name in a log.

use super::cache::Split;
use crate::catalog::{CacheRule, CacheRules, Catalog, Price, Prices, Writes};
use crate::trace::{CallRow, Trace};

/// All that bills are made by.
pub struct Tariff<'a> {
    /// Models by the names in logs.
    pub catalog: &'a Catalog,
    /// Prices of tokens by model and day.
    pub prices: &'a Prices,
    /// Rules of the prompt caches by provider and model.
    pub caches: &'a CacheRules,
    /// The model to take, instead of the one that the log names.
    pub model: Option<String>,
    /// Milliseconds between two calls where the log has no times.
    pub gap_millis: i64,
}

/// What is known of the model of a call.
pub struct Known<'a> {
    /// The model as the log names it.
    pub name: &'a str,
    /// Price of the model at that time; absent where it is unknown.
    pub price: Option<&'a Price>,
    /// Cache rule of the model; absent where there is none.
    pub cache: Option<&'a CacheRule>,
}

impl Known<'_> {
    /// What is to be expected of a prompt, given what the rules of its cache find alive: where hits are not guaranteed, some do not come.
    pub(super) fn expected(&self, found: Split) -> Split {
        let Some(rule) = self.cache else { return found };
        let missed = found.read * rule.misses / 1000;
        let split = Split { read: found.read - missed, ..found };
        match rule.writes {
            Writes::Paid => Split { write: found.write + missed, ..split },
            Writes::Free => Split { fresh: found.fresh + missed, ..split },
        }
    }
}

impl Tariff<'_> {
    /// What is known of each model that a session names.
    pub fn models<'b>(&'b self, trace: &'b Trace) -> Models<'b> {
        let rows = |name| self.prices.rows(name, self.catalog.billed_as(name));
        // A client that asked for no cache with a prompt that is long enough asks for none under a policy.
        let model = |name| (name, rows(name), self.caches.of(name, self.catalog.find(name)).filter(|rule| !asks_for_no_cache(trace, rule)));
        let asked = self.model.as_deref();
        let named = trace.models.iter().filter(|_| asked.is_none()).map(|name| model(name)).collect();
        let began = trace.messages.iter().find_map(|message| message.time.get());
        Models { prices: self.prices, began, named, main: model(asked.or_else(|| trace.main_model()).unwrap_or("")) }
    }
}

/// Does the client of a session leave a cache alone that works by this rule? The cache is one that must be asked for, the provider counts that nothing was read or written
/// at any call, and at least one prompt is long enough to be written.
pub fn asks_for_no_cache(trace: &Trace, rule: &CacheRule) -> bool {
    rule.is_asked_for() && trace.largest_prompt() >= rule.minimum && trace.caches_nothing()
}

/// A model by its name in the log, by its prices, and by its cache.
type Found<'a> = (&'a str, &'a [Price], Option<&'a CacheRule>);

/// What is known of the models of a session, worked out once for all of its calls.
#[derive(Clone)]
pub struct Models<'a> {
    prices: &'a Prices,
    /// The first time of the session's messages: some agents note no other.
    began: Option<i64>,
    /// By their numbers in the trace; none where another one takes their place.
    named: Vec<Found<'a>>,
    /// The model that made most of the session's calls, or the one that is taken instead of them all.
    main: Found<'a>,
}

impl<'a> Models<'a> {
    /// What is known of a call's model. A call that names none was made by the model that made most of the session's calls, and one without a time
    /// has the price of when the session began.
    pub fn of(&self, call: &CallRow, time: Option<i64>) -> Known<'a> {
        let (name, prices, cache) = call.model.get().and_then(|model| self.named.get(model as usize)).copied().unwrap_or(self.main);
        Known { name, price: self.prices.at(prices, time.or(self.began)), cache }
    }
}
