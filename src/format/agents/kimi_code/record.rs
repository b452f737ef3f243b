//! What the records of a wire hold, as far as it is read.

use crate::format::ground::{Count, Figures, Words};
use crate::format::wire::chat::ChatToolCall;
use crate::format::wire::held;
use crate::format::wire::kimi::{Content, Piece};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A line, with the fields of all kinds.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Record<'a> {
    #[serde(rename = "type")]
    pub kind: Words<'a>,
    pub time: Option<i64>,
    pub input: Content<'a>,
    pub origin: Option<held::Kind<'a>>,
    pub message: Option<Put<'a>>,
    pub event: Option<Event<'a>>,
    pub system_prompt: Words<'a>,
    pub tools: Option<&'a RawValue>,
    pub model: Words<'a>,
    pub usage: Option<Figures>,
    /// Of a compaction's begin: `auto` or `manual`. Others have one too.
    pub source: Option<&'a RawValue>,
    pub summary: Option<&'a RawValue>,
    pub context_summary: Words<'a>,
    pub compacted_count: Count,
    pub tokens_before: Count,
    pub tokens_after: Count,
    pub kept_user_message_count: Count,
    pub count: Count,
    /// Of a request: the longest reply that it allows.
    pub max_tokens: Count,
}

/// A message that is put into the context as a whole.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Put<'a> {
    pub role: Words<'a>,
    pub content: Content<'a>,
    pub tool_calls: Vec<ChatToolCall<'a>>,
    pub tool_call_id: Words<'a>,
    pub is_error: Option<bool>,
    pub origin: Option<held::Kind<'a>>,
}

/// A step of the loop, with the fields of all kinds.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Event<'a> {
    #[serde(rename = "type")]
    pub kind: Words<'a>,
    pub part: Option<Piece<'a>>,
    pub tool_call_id: Words<'a>,
    pub name: Words<'a>,
    pub args: Option<&'a RawValue>,
    pub result: Option<Outcome<'a>>,
    pub usage: Option<Figures>,
    pub message_id: Words<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Outcome<'a> {
    pub output: Content<'a>,
    pub error: Words<'a>,
    pub is_error: Option<bool>,
}
