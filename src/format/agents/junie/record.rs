//! What the events hold, as far as it is read.

use crate::format::ground::{Absurd, Count, Dollars, Words, wire};
use crate::format::usage::{Cached, Reported};
use crate::format::wire::held;
use crate::transcript::Usage;
use serde_json::value::RawValue;

wire! {
    pub struct Record<'a> {
        pub kind: Words<'a>,
        pub request_id: Words<'a> = "requestId",
        pub prompt: Words<'a>,
        pub timestamp_ms: Option<i64> = "timestampMs",
        pub event: Option<Wrapped<'a>>,
    }

    pub struct Wrapped<'a> { pub agent_event: Event<'a> = "agentEvent" }

    /// An event of an agent, with the fields of all kinds.
    pub struct Event<'a> {
        pub kind: Words<'a>,
        pub agent: held::Kind<'a>,
        pub step_id: Words<'a> = "stepId",
        pub status: Words<'a>,
        pub text: Words<'a>,
        pub command: Words<'a>,
        pub output: Words<'a>,
        pub result: Words<'a>,
        pub changes: Option<&'a RawValue>,
        pub model_usage: Vec<Spent<'a>> = "modelUsage",
        /// Tokens of the context, and the window.
        pub used: Count,
        pub size: Count,
    }

    /// Each token of the input is counted in one of three figures: read from the cache, written to it, or neither.
    pub struct Spent<'a> {
        pub model: Words<'a>,
        input_tokens: Count = "inputTokens",
        cache_input_tokens: Count = "cacheInputTokens",
        cache_create_tokens: Count = "cacheCreateTokens",
        output_tokens: Count = "outputTokens",
        cost: Dollars,
    }
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
