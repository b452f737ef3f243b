//! At what prices: arguments of commands that count money.

use super::choices::{Choices, name_of, one_of};
use super::failure::Failure;
use super::known::catalog;
use super::shell::option;
use crate::catalog::{CacheRules, Catalog, Prices};
use crate::cost::{CacheKind, Tariff};
use crate::experiment::{Billing, KnownFrom};
use crate::sim::Refetching;
use clap::Args;
use std::path::PathBuf;

const CACHES: Choices<CacheKind> = &[
    (
        "recorded",
        CacheKind::Recorded,
        "The provider's, as far as the recorded calls got with it; modelled where a log tells nothing of its cache",
    ),
    ("modelled", CacheKind::Modelled, "The provider's by its rules: minimum, steps, lifetime, price of writes"),
    (
        "perfect",
        CacheKind::Perfect,
        "One that forgets nothing of the session's request before; a real one may hold replies and other sessions' prompts too",
    ),
    ("none", CacheKind::None, "None: every prompt token at the input price"),
];

/// A table of prices in front of the built-in one.
#[derive(Args, Clone, Debug, Default)]
pub struct PriceTable {
    /// Take prices from this file first: the JSON of LiteLLM's or models.dev's price table, as they publish it
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
}

/// Prices, and the cache that bills are made with.
#[derive(Args, Clone, Debug, Default)]
pub struct Pricing {
    #[command(flatten)]
    pub table: PriceTable,
    /// The prompt cache that costs are shown with
    #[arg(long, value_name = "CACHE", default_value = "recorded", value_parser = one_of(CACHES))]
    pub cache: CacheKind,
    /// Assume so many seconds between calls where a log has no times: the prompt cache may expire in them
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u32))]
    pub gap: u32,
}

/// The tables that bills are made by.
pub struct Tables {
    catalog: &'static Catalog,
    prices: Prices,
    caches: CacheRules,
}

impl Tables {
    /// What bills are made by.
    pub fn tariff(&self, model: Option<String>, gap_seconds: u32) -> Tariff<'_> {
        Tariff { catalog: self.catalog, prices: &self.prices, caches: &self.caches, model, gap_millis: i64::from(gap_seconds) * 1000 }
    }
}

impl PriceTable {
    /// Prices and rules of caches; prices of the user's file stand before the built-in ones.
    pub fn tables(&self) -> Result<Tables, Failure> {
        let builtin = Prices::builtin()?;
        let prices = match &self.prices {
            None => builtin,
            Some(path) => {
                let unreadable = |error: &dyn std::fmt::Display| Failure::Usage(format!("{}: {error}", path.display()));
                let text = crate::reading::text(path).map_err(|error| unreadable(&error))?;
                builtin.with_file(&text).map_err(|error| unreadable(&error))?
            }
        };
        Ok(Tables { catalog: catalog()?, prices, caches: CacheRules::builtin()? })
    }

    /// The option as it would be typed again.
    pub fn words(&self) -> Vec<String> {
        option("--prices", self.prices.iter().map(|path| path.display()))
    }
}

impl Pricing {
    pub fn tables(&self) -> Result<Tables, Failure> {
        self.table.tables()
    }

    /// The cache as it is typed.
    pub fn cache_name(&self) -> &'static str {
        name_of(CACHES, &self.cache)
    }

    /// The options as they would be typed again.
    pub fn words(&self) -> Vec<String> {
        let cache = option("--cache", (self.cache != CacheKind::default()).then(|| self.cache_name()));
        [self.table.words(), cache, option("--gap", Some(self.gap).filter(|gap| *gap > 0))].concat()
    }

    /// The bills that a sweep makes, where what is asked of it is known from bills alone.
    pub fn billing<'a>(&self, tariff: &'a Tariff<'a>, known_from: KnownFrom) -> Option<Billing<'a>> {
        let refetch = if known_from == KnownFrom::ClosedLoop { Refetching::Lost } else { Refetching::Never };
        (known_from > KnownFrom::Replay).then_some(Billing { tariff, cache: self.cache, refetch })
    }

    /// What bills are made by.
    pub fn tariff<'a>(&self, tables: &'a Tables, model: Option<String>) -> Tariff<'a> {
        tables.tariff(model, self.gap)
    }
}
