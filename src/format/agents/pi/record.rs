//! The records of a pi session file, as far as they are of use.

use crate::format::ground::{Count, Dollars, Words};
use crate::format::wire::blocks::{Block, Blocks};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The first line, for telling the format.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Header<'a> {
    #[serde(rename = "type")]
    kind: Words<'a>,
    id: Words<'a>,
    cwd: Words<'a>,
    timestamp: Words<'a>,
    delegation_depth: Option<IgnoredAny>,
}

impl Header<'_> {
    /// Another agent's header looks the same but for its `delegationDepth`.
    pub fn is_of_pi(&self) -> bool {
        let named = !self.id.is_empty() && !self.cwd.is_empty() && !self.timestamp.is_empty();
        &*self.kind == "session" && named && self.delegation_depth.is_none()
    }
}

/// One line of a session file, with the fields of all kinds.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Entry<'a> {
    #[serde(rename = "type")]
    pub kind: Words<'a>,
    pub id: Words<'a>,
    /// Of the header alone: the folder that the agent works in.
    pub cwd: Words<'a>,
    /// Absent in version 1; null at a root.
    #[serde(deserialize_with = "parent")]
    pub parent_id: Option<Option<Cow<'a, str>>>,
    pub timestamp: Words<'a>,
    /// Of the state of an extension.
    pub custom_type: Words<'a>,
    pub message: Option<Payload<'a>>,
    pub content: Content<'a>,
    pub summary: Words<'a>,
    pub first_kept_entry_id: Words<'a>,
    pub first_kept_entry_index: Count,
    pub tokens_before: Count,
    pub usage: Option<Usage>,
}

impl Entry<'_> {
    /// A message as newer versions write it: with a parent, and a role of pi's own.
    pub fn is_linked_message(&self) -> bool {
        let role = self.message.as_ref().map_or("", |message| &*message.role);
        let spoken = matches!(role, "user" | "assistant" | "toolResult" | "bashExecution");
        &*self.kind == "message" && spoken && self.parent_id.is_some() && !self.id.is_empty() && !self.timestamp.is_empty()
    }
}

fn parent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Cow<'de, str>>>, D::Error> {
    let parent = Option::<Words<'de>>::deserialize(deserializer)?;
    Ok(Some(parent.map(|words| words.0)))
}

/// What a message entry holds.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Payload<'a> {
    pub role: Words<'a>,
    pub content: Content<'a>,
    pub provider: Words<'a>,
    pub model: Words<'a>,
    pub usage: Option<Usage>,
    pub stop_reason: Words<'a>,
    /// What the provider said where it refused or failed.
    pub error_message: Words<'a>,
    pub response_id: Words<'a>,
    pub timestamp: Option<f64>,
    pub tool_call_id: Words<'a>,
    pub tool_name: Words<'a>,
    pub is_error: Option<bool>,
    pub summary: Words<'a>,
    command: Words<'a>,
    output: Words<'a>,
    exit_code: Option<i64>,
    cancelled: Option<bool>,
    pub exclude_from_context: Option<bool>,
}

impl Payload<'_> {
    /// A command that the person ran, as the model sees it.
    pub fn command_as_text(&self) -> String {
        let command = &*self.command;
        let output = match &*self.output {
            "" => "(no output)".to_owned(),
            output => format!("```\n{output}\n```"),
        };
        let end = match self.exit_code {
            _ if self.cancelled == Some(true) => "\n\n(command cancelled)".to_owned(),
            Some(code) if code != 0 => format!("\n\nCommand exited with code {code}"),
            _ => String::new(),
        };
        format!("Ran `{command}`\n{output}{end}")
    }
}

/// The content of a message: a text, or blocks.
pub type Content<'a> = Blocks<'a, Piece<'a>>;

/// All texts of a content as one, a newline between two of them.
pub fn joined_text(content: &Content<'_>) -> String {
    content.joined(|piece| (&*piece.kind == "text").then_some(&*piece.text))
}

/// The text of a block; absent where it is something else.
pub fn text_of<'b>(block: &'b Block<'_, Piece<'_>>) -> Option<&'b str> {
    match block {
        Block::Text(text) => Some(text),
        Block::Object(piece) if &*piece.kind == "text" => Some(&piece.text),
        Block::Object(_) | Block::Other => None,
    }
}

/// One block of content.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Piece<'a> {
    #[serde(rename = "type")]
    pub kind: Words<'a>,
    pub text: Words<'a>,
    pub thinking: Words<'a>,
    pub thinking_signature: Words<'a>,
    pub data: Words<'a>,
    pub id: Words<'a>,
    pub name: Words<'a>,
    pub arguments: Option<&'a RawValue>,
}

/// What the provider reported. `input` leaves out what went through the cache; `reasoning` is part of `output`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct Usage {
    pub input: Count,
    pub output: Count,
    pub cache_read: Count,
    pub cache_write: Count,
    pub reasoning: Count,
    pub cost: Option<Cost>,
}

/// What the agent reckoned that the call cost, in dollars.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Cost {
    pub total: Dollars,
}
