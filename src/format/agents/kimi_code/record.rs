//! What the records of a wire hold, as far as it is read.

use crate::format::ground::count::{Absurd, Count};
use crate::format::ground::words::Words;
use crate::format::usage::{Cached, Reported};
use crate::format::wire::blocks::Blocks;
use crate::transcript::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// A line, with the fields of all kinds.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Record<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Words<'a>,
    pub time: Option<i64>,
    #[serde(borrow)]
    pub input: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub origin: Option<Origin<'a>>,
    #[serde(borrow)]
    pub message: Option<Put<'a>>,
    #[serde(borrow)]
    pub event: Option<Event<'a>>,
    #[serde(borrow)]
    pub system_prompt: Words<'a>,
    #[serde(borrow)]
    pub tools: Option<&'a RawValue>,
    #[serde(borrow)]
    pub model: Words<'a>,
    pub usage: Option<Tokens>,
    /// Of a compaction's begin: `auto` or `manual`. Others have one too.
    #[serde(borrow)]
    pub source: Option<&'a RawValue>,
    #[serde(borrow)]
    pub summary: Option<&'a RawValue>,
    #[serde(borrow)]
    pub context_summary: Words<'a>,
    pub compacted_count: Count,
    pub tokens_before: Count,
    pub tokens_after: Count,
    pub kept_user_message_count: Count,
    pub count: Count,
}

/// Who put a message in.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Origin<'a> {
    #[serde(borrow)]
    pub kind: Words<'a>,
}

/// A message that is put into the context as a whole.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Put<'a> {
    #[serde(borrow)]
    pub role: Words<'a>,
    #[serde(borrow)]
    pub content: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub tool_calls: Vec<ToolCall<'a>>,
    #[serde(borrow)]
    pub tool_call_id: Words<'a>,
    pub is_error: Option<bool>,
    #[serde(borrow)]
    pub origin: Option<Origin<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ToolCall<'a> {
    #[serde(borrow)]
    pub id: Words<'a>,
    #[serde(borrow)]
    pub name: Words<'a>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}

/// A step of the loop, with the fields of all kinds.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub part: Option<Piece<'a>>,
    #[serde(borrow)]
    pub tool_call_id: Words<'a>,
    #[serde(borrow)]
    pub name: Words<'a>,
    #[serde(borrow)]
    pub args: Option<&'a RawValue>,
    #[serde(borrow)]
    pub result: Option<Outcome<'a>>,
    pub usage: Option<Tokens>,
    #[serde(borrow)]
    pub message_id: Words<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Outcome<'a> {
    #[serde(borrow)]
    pub output: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub error: Words<'a>,
    pub is_error: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Piece<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub text: Words<'a>,
    #[serde(borrow)]
    pub think: Words<'a>,
    #[serde(borrow)]
    pub encrypted: Words<'a>,
    #[serde(borrow, alias = "image_url")]
    pub image_url: Option<Address<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Address<'a> {
    #[serde(borrow)]
    pub url: Words<'a>,
}

/// The input without what was read from the cache or written to it.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Tokens {
    input_other: Count,
    output: Count,
    input_cache_read: Count,
    input_cache_creation: Count,
}

impl Tokens {
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
        Reported {
            input: self.input_other,
            cache_read: self.input_cache_read,
            cache_write: self.input_cache_creation,
            cached: Cached::Beside,
            output: self.output,
            ..Reported::default()
        }
        .usage()
    }
}

/// What `state.json` says of the agents of a session.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct State<'a> {
    #[serde(borrow)]
    pub agents: HashMap<String, Agent<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Agent<'a> {
    #[serde(borrow)]
    pub parent_agent_id: Words<'a>,
}
