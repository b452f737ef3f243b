//! The records of Inspect as they are written.

use crate::format::ground::count::{Absurd, Count, Dollars};
use crate::format::ground::json::text_or_json;
use crate::format::ground::words::Words;
use crate::format::usage::{Cached, Reported};
use crate::format::wire::blocks::Blocks;
use crate::transcript::{Trust, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The description of a log.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Log<'a> {
    #[serde(borrow)]
    pub eval: Evaluation<'a>,
}

/// What was evaluated.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Evaluation<'a> {
    #[serde(borrow)]
    pub packages: Packages<'a>,
}

/// Versions.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Packages<'a> {
    #[serde(borrow)]
    pub inspect_ai: Words<'a>,
}

/// One sample in one epoch.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Sample<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    epoch: Option<&'a RawValue>,
    #[serde(borrow)]
    pub uuid: Words<'a>,
    /// The conversation as it stood at the end.
    #[serde(borrow)]
    pub messages: Option<Vec<Written<'a>>>,
    #[serde(borrow)]
    pub events: Option<Vec<&'a RawValue>>,
    /// In old logs the events, and the texts that they refer to.
    #[serde(borrow)]
    pub transcript: Option<OldTranscript<'a>>,
    #[serde(borrow)]
    pub attachments: Option<HashMap<&'a str, Words<'a>>>,
    #[serde(borrow)]
    pub message_pool: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub events_data: Option<EventsData<'a>>,
}

impl Sample<'_> {
    /// The sample and its epoch.
    pub fn number(&self) -> String {
        format!("{}_epoch_{}", text_or_json(self.id), text_or_json(self.epoch))
    }
}

/// Events of old logs.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct OldTranscript<'a> {
    #[serde(borrow)]
    pub events: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub content: Option<HashMap<&'a str, Words<'a>>>,
}

/// What events refer to.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct EventsData<'a> {
    #[serde(borrow)]
    pub messages: Option<Vec<&'a RawValue>>,
}

/// What every event has.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Kind<'a> {
    #[serde(borrow)]
    pub event: Words<'a>,
    #[serde(borrow, rename = "type")]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub action: Words<'a>,
    pub tokens_before: Count,
    pub tokens_after: Count,
    #[serde(borrow)]
    pub timestamp: Words<'a>,
}

/// A call of a model.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ModelEvent<'a> {
    #[serde(borrow)]
    pub uuid: Words<'a>,
    #[serde(borrow)]
    pub timestamp: Words<'a>,
    #[serde(borrow)]
    pub model: Words<'a>,
    #[serde(borrow)]
    pub role: Words<'a>,
    #[serde(borrow)]
    pub input: Option<Vec<&'a RawValue>>,
    /// Ranges of the pool of messages, in place of the input.
    pub input_refs: Option<Vec<(usize, usize)>>,
    #[serde(borrow)]
    pub tools: Option<&'a RawValue>,
    #[serde(borrow)]
    pub output: Option<Reply<'a>>,
}

/// What the model answered.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Reply<'a> {
    #[serde(borrow)]
    pub model: Words<'a>,
    #[serde(borrow)]
    pub choices: Option<Vec<Choice<'a>>>,
    pub usage: Option<UsageRecord>,
}

/// One reply.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Choice<'a> {
    #[serde(borrow)]
    pub message: Option<&'a RawValue>,
}

/// A message. Strings may refer to attachments.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Written<'a> {
    #[serde(borrow)]
    pub id: Words<'a>,
    #[serde(borrow)]
    pub role: Words<'a>,
    #[serde(borrow)]
    pub content: Blocks<'a, Part<'a>>,
    #[serde(borrow)]
    pub tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(borrow)]
    pub tool_call_id: Words<'a>,
    #[serde(borrow)]
    pub function: Words<'a>,
    #[serde(borrow)]
    pub error: Option<ToolError<'a>>,
}

/// Why a tool failed: the model reads the message.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ToolError<'a> {
    #[serde(borrow)]
    pub message: Words<'a>,
}

/// A part of a message.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Part<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub text: Words<'a>,
    #[serde(borrow)]
    pub reasoning: Words<'a>,
    #[serde(borrow)]
    pub signature: Words<'a>,
    #[serde(borrow)]
    pub image: Words<'a>,
    pub redacted: Option<bool>,
}

/// A tool that the model wants to run.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ToolCall<'a> {
    #[serde(borrow)]
    pub id: Words<'a>,
    #[serde(borrow)]
    pub function: Words<'a>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}

/// Usage of a call.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct UsageRecord {
    input_tokens: Count,
    output_tokens: Count,
    total_tokens: Count,
    input_tokens_cache_write: Count,
    input_tokens_cache_read: Count,
    reasoning_tokens: Count,
    total_cost: Dollars,
}

impl UsageRecord {
    /// The usage. The input leaves out what was cached, but in old logs of OpenAI's models it does not: the total tells.
    pub fn usage(&self, trust: Trust) -> Result<Option<Usage>, Absurd> {
        Reported {
            input: self.input_tokens,
            cache_read: self.input_tokens_cache_read,
            cache_write: self.input_tokens_cache_write,
            cached: Cached::Beside,
            output: self.output_tokens,
            reasoning: self.reasoning_tokens,
            total: self.total_tokens,
            cost_nano_usd: self.total_cost.above_zero(),
            trust,
            ..Reported::default()
        }
        .usage()
    }
}
