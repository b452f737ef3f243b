//! What the events hold, as far as it is read.

use crate::format::ground::count::{Absurd, Count, Dollars};
use crate::format::ground::words::Words;
use crate::format::usage::{Cached, Reported};
use crate::transcript::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Record<'a> {
    #[serde(borrow)]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub request_id: Words<'a>,
    #[serde(borrow)]
    pub prompt: Words<'a>,
    pub timestamp_ms: Option<i64>,
    #[serde(borrow)]
    pub event: Option<Wrapped<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Wrapped<'a> {
    #[serde(borrow)]
    pub agent_event: Event<'a>,
}

/// An event of an agent, with the fields of all kinds.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Event<'a> {
    #[serde(borrow)]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub agent: Agent<'a>,
    #[serde(borrow)]
    pub step_id: Words<'a>,
    #[serde(borrow)]
    pub status: Words<'a>,
    #[serde(borrow)]
    pub text: Words<'a>,
    #[serde(borrow)]
    pub command: Words<'a>,
    #[serde(borrow)]
    pub output: Words<'a>,
    #[serde(borrow)]
    pub result: Words<'a>,
    #[serde(borrow)]
    pub changes: Option<&'a RawValue>,
    #[serde(borrow)]
    pub model_usage: Vec<Spent<'a>>,
    /// Tokens of the context, and the window.
    pub used: Count,
    pub size: Count,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Agent<'a> {
    #[serde(borrow)]
    pub kind: Words<'a>,
}

/// Each token of the input is counted in one of three figures: read from the cache, written to it, or neither.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Spent<'a> {
    #[serde(borrow)]
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
