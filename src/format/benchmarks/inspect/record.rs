//! The records of Inspect as they are written.

use crate::format::ground::{Absurd, Count, Figures, Words, text_or_json, wire};
use crate::format::usage::{Cached, Reported};
use crate::format::wire::blocks::Blocks;
use crate::format::wire::held;
use crate::transcript::{Trust, Usage};
use serde_json::value::RawValue;
use std::collections::HashMap;

wire! {
    /// One sample in one epoch.
    pub struct Sample<'a> {
        id: Option<&'a RawValue>,
        epoch: Option<&'a RawValue>,
        pub uuid: Words<'a>,
        /// The conversation as it stood at the end.
        pub messages: Option<Vec<Written<'a>>>,
        pub events: Option<Vec<&'a RawValue>>,
        /// In old logs the events, and the texts that they refer to.
        pub transcript: Option<OldTranscript<'a>>,
        pub attachments: Option<HashMap<&'a str, Words<'a>>>,
        pub message_pool: Option<Vec<&'a RawValue>>,
        pub events_data: Option<EventsData<'a>>,
    }

    /// Events of old logs.
    pub struct OldTranscript<'a> {
        pub events: Vec<&'a RawValue>,
        pub content: Option<HashMap<&'a str, Words<'a>>>,
    }

    /// What events refer to.
    pub struct EventsData<'a> { pub messages: Option<Vec<&'a RawValue>> }

    /// What every event has.
    pub struct Kind<'a> {
        pub event: Words<'a>,
        pub kind: Words<'a> = "type",
        pub action: Words<'a>,
        pub tokens_before: Count,
        pub tokens_after: Count,
        pub timestamp: Words<'a>,
    }

    /// A call of a model.
    pub struct ModelEvent<'a> {
        pub uuid: Words<'a>,
        pub timestamp: Words<'a>,
        pub model: Words<'a>,
        pub role: Words<'a>,
        pub input: Option<Vec<&'a RawValue>>,
        /// Ranges of the pool of messages, in place of the input.
        pub input_refs: Option<Vec<(usize, usize)>>,
        pub tools: Option<&'a RawValue>,
        pub output: Option<Reply<'a>>,
    }

    /// What the model answered.
    pub struct Reply<'a> {
        pub model: Words<'a>,
        pub choices: Option<Vec<Choice<'a>>>,
        pub usage: Option<Figures>,
    }

    /// One of the replies that a call returned.
    pub struct Choice<'a> { pub message: Option<&'a RawValue> }

    /// A message. Strings may refer to attachments.
    pub struct Written<'a> {
        pub id: Words<'a>,
        pub role: Words<'a>,
        pub content: Blocks<'a, Part<'a>>,
        pub tool_calls: Option<Vec<ToolCall<'a>>>,
        pub tool_call_id: Words<'a>,
        pub function: Words<'a>,
        pub error: Option<held::Message<'a>>,
    }

    /// A part of a message.
    pub struct Part<'a> {
        pub kind: Words<'a> = "type",
        pub text: Words<'a>,
        pub reasoning: Words<'a>,
        pub signature: Words<'a>,
        pub image: Words<'a>,
        pub redacted: Option<bool>,
    }

    /// A tool that the model wants to run.
    pub struct ToolCall<'a> {
        pub id: Words<'a>,
        pub function: Words<'a>,
        pub arguments: Option<&'a RawValue>,
    }
}

impl Sample<'_> {
    /// The sample and its epoch.
    pub fn number(&self) -> String {
        format!("{}_epoch_{}", text_or_json(self.id), text_or_json(self.epoch))
    }
}

/// The usage of a call. The input leaves out what was cached, but in old logs of OpenAI's models it does not: the total tells.
pub fn usage(tokens: &Figures, trust: Trust) -> Result<Option<Usage>, Absurd> {
    Reported {
        input: tokens.count("input_tokens"),
        cache_read: tokens.count("input_tokens_cache_read"),
        cache_write: tokens.count("input_tokens_cache_write"),
        cached: Cached::Beside,
        // Null where the provider says nothing (`ModelUsage` of inspect_ai).
        counts_cache: [tokens.count("input_tokens_cache_read"), tokens.count("input_tokens_cache_write")]
            .iter()
            .all(|count| *count != Count::Absent),
        output: tokens.count("output_tokens"),
        reasoning: tokens.count("reasoning_tokens"),
        total: tokens.count("total_tokens"),
        cost_nano_usd: tokens.dollars("total_cost").above_zero(),
        trust,
        ..Reported::default()
    }
    .usage()
}
