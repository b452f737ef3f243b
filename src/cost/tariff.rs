//! Who charges what: the model, its price and its cache, by the name in a log.

use super::cache::Split;
use crate::catalog::{CacheRule, CacheRules, Catalog, Model, Price, Prices, Writes};
use crate::trace::{CallRow, Trace};

/// All that bills are made by.
pub struct Tariff<'a> {
    /// The models.
    pub catalog: &'a Catalog,
    /// What tokens cost.
    pub prices: &'a Prices,
    /// How caches work.
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
    /// Its price at that time; absent where it is unknown.
    pub price: Option<&'a Price>,
    /// Its cache; absent where there is no rule for it.
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

impl<'a> Tariff<'a> {
    /// What is known of a call's model. A call that names none was made by the model that made most of the session's calls.
    pub fn of<'b>(&'b self, trace: &'b Trace, call: &CallRow, time: Option<i64>) -> Known<'b> {
        let named = || call.model.and_then(|model| trace.models.get(model as usize)).map(String::as_str);
        let name = self.model.as_deref().or_else(named).or_else(|| trace.main_model()).unwrap_or("");
        let model: Option<&Model> = self.catalog.find(name);
        let price = self.prices.of(name, model, time);
        Known { name, price, cache: self.caches.of(model) }
    }
}
