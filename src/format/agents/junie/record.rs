//! What the events hold, as far as it is read.

use crate::format::ground::{Absurd, Count, Dollars, Words};
use crate::format::usage::{Cached, Reported};
use crate::format::wire::held;
use crate::transcript::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Record<'a> {
    pub kind: Words<'a>,
    pub request_id: Words<'a>,
    pub prompt: Words<'a>,
    pub timestamp_ms: Option<i64>,
    pub event: Option<Wrapped<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Wrapped<'a> {
    pub agent_event: Event<'a>,
}

/// An event of an agent, with the fields of all kinds.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Event<'a> {
    pub kind: Words<'a>,
    pub agent: held::Kind<'a>,
    pub step_id: Words<'a>,
    pub status: Words<'a>,
    pub text: Words<'a>,
    pub command: Words<'a>,
    pub output: Words<'a>,
    pub result: Words<'a>,
    pub changes: Option<&'a RawValue>,
    pub model_usage: Vec<Spent<'a>>,
    /// Tokens of the context, and the window.
    pub used: Count,
    pub size: Count,
}

/// Each token of the input is counted in one of three figures: read from the cache, written to it, or neither.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Spent<'a> {
    pub model: Words<'a>,
    input_tokens: Count,
    cache_input_tokens: Count,
    cache_create_tokens: Count,
    output_tokens: Count,
    cost: Dollars,
}

impl Spent<'_> {
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
        Reported {
            input: self.input_tokens,
            cache_read: self.cache_input_tokens,
            cache_write: self.cache_create_tokens,
            cached: Cached::Beside,
            output: self.output_tokens,
            cost_nano_usd: self.cost.above_zero(),
            ..Reported::default()
        }
        .usage()
    }
}
