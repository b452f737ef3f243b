//! How a provider's prompt cache works.

use super::model::Model;
use super::name::Name;
use super::table::CatalogError;
use crate::decode;
use serde::Deserialize;

const CACHES: &str = include_str!("../../catalog/caches.toml");

/// How far into a prompt a hit may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hits {
    /// As far as the prompt is the same as an earlier one.
    Prefix,
    /// To the end of an earlier prompt, if that end is found among the last blocks of this one.
    Blocks,
}

/// Does a read of a cache entry begin the entry's lifetime anew?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Refresh {
    /// A read begins the lifetime anew.
    On,
    /// A read leaves the lifetime as it is.
    Off,
}

/// Price of the tokens that a prompt writes to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Writes {
    /// The price of a write in the price table.
    Paid,
    /// The input price: writes cost nothing beside it.
    Free,
}

/// The rules of one cache. Sources and meanings stand in `catalog/caches.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheRule {
    provider: String,
    #[serde(default)]
    models: Vec<String>,
    /// How names of models begin that the catalogue does not know and that have this rule all the same.
    unknown: Option<String>,
    /// Shortest prompt that is cached, in tokens.
    pub minimum: u64,
    /// Hits come in multiples of so many tokens.
    pub step: u64,
    /// How far a hit may reach.
    pub hits: Hits,
    /// Blocks that are looked at from the end backwards, the last included; absent where blocks do not matter.
    pub lookback: Option<u32>,
    /// Seconds after which an entry is gone.
    lifetime: i64,
    /// The same for writes that ask for the longer lifetime; absent where there is none.
    long_lifetime: Option<i64>,
    /// Does a read begin the lifetime anew?
    pub refresh: Refresh,
    /// Price of the tokens that a prompt writes to the cache.
    pub writes: Writes,
    /// Of a thousand tokens that are alive by these rules, how many are not read all the same: the provider does not guarantee every hit. 0 where it does.
    #[serde(default)]
    pub misses: u64,
}

impl CacheRule {
    /// Is it what is assumed of providers that no row is for?
    pub fn is_assumed(&self) -> bool {
        self.provider.is_empty()
    }

    /// The part of so many tokens that can be cached: none below the minimum, else whole steps.
    pub fn cached(&self, tokens: u64) -> u64 {
        if tokens < self.minimum { 0 } else { tokens / self.step * self.step }
    }

    /// Tokens that the next call is expected to read, given what a call has read and written and how long its prompt was: what it has read and written.
    /// Where hits follow the prefix, providers report no writes, or not all: there it is the prompt, in whole steps.
    pub fn expected_read(&self, read: u64, written: u64, prompt: u64) -> u64 {
        if self.hits == Hits::Blocks { read + written } else { self.cached(prompt) }
    }

    /// Does a prompt stay out of the cache unless the request marks where it shall end (Anthropic's `cache_control`, Bedrock's `cachePoint`)?
    pub fn is_asked_for(&self) -> bool {
        self.hits == Hits::Blocks
    }

    /// Milliseconds after which an entry is gone.
    pub fn lifetime_millis(&self) -> i64 {
        self.lifetime.saturating_mul(1000)
    }

    /// The lifetime, in milliseconds, for writes that ask for the longer one.
    pub fn long_lifetime_millis(&self) -> i64 {
        self.long_lifetime.unwrap_or(self.lifetime).saturating_mul(1000)
    }
}

/// The cache rules of all providers.
#[derive(Clone, Debug)]
pub struct CacheRules {
    rows: Vec<CacheRule>,
    head_changes: Vec<HeadChange>,
}

/// Tools of an agent whose use changes what stands in front of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeadChange {
    agent: String,
    tools: Vec<String>,
}

impl CacheRules {
    /// The rules that ship with the program.
    pub fn builtin() -> Result<CacheRules, CatalogError> {
        CacheRules::parse(CACHES)
    }

    /// Rules from the text of a table like `catalog/caches.toml`.
    pub fn parse(text: &str) -> Result<CacheRules, CatalogError> {
        let table: Table = decode::from_toml(text).map_err(CatalogError::Caches)?;
        match table.caches.iter().find(|rule| rule.step == 0) {
            Some(rule) => Err(CatalogError::CacheStep { provider: rule.provider.clone() }),
            None => Ok(CacheRules { rows: table.caches, head_changes: table.head_changes }),
        }
    }

    /// The rule for a model as a log names it, known or unknown; absent where the table has none for it.
    pub fn of(&self, name: &str, model: Option<&Model>) -> Option<&CacheRule> {
        let lists = |rule: &&CacheRule, model: &Model| rule.models.iter().any(|name| name == model.plain_id());
        let named = |model: &Model| self.rows.iter().find(|rule| rule.provider == model.provider && lists(rule, model));
        let plain = |provider: &str| self.rows.iter().find(|rule| rule.provider == provider && rule.models.is_empty());
        let begins = |rule: &&CacheRule| rule.unknown.as_ref().is_some_and(|front| Name::new(name).begins_with(front));
        let rule = match model {
            Some(model) => named(model).or_else(|| plain(&model.provider)),
            None => self.rows.iter().find(begins),
        };
        rule.or_else(|| plain(""))
    }

    /// Does the use of this tool change what stands in front of an agent's conversation?
    pub fn changes_head(&self, agent: &str, tool: &str) -> bool {
        self.head_changes.iter().any(|row| row.agent == agent && row.tools.iter().any(|name| name == tool))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    caches: Vec<CacheRule>,
    #[serde(default)]
    head_changes: Vec<HeadChange>,
}
