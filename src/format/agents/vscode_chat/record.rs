//! The shapes of a request.

use crate::format::ground::{Figures, Words};
use crate::format::wire::chat::ChatToolCall;
use crate::format::wire::held;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// What a person asked, and what came of it.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Request<'a> {
    pub request_id: Words<'a>,
    pub message: Option<held::Said<'a>>,
    /// What the screen showed.
    pub response: Option<Vec<&'a RawValue>>,
    pub result: Option<Outcome<'a>>,
    /// The model, with its vendor before it.
    pub model_id: Words<'a>,
    pub timestamp: Option<&'a RawValue>,
}

/// What the screen shows of a reply: Markdown where it is of no kind, or of this one.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Shown<'a> {
    pub kind: Words<'a>,
    pub value: Option<&'a RawValue>,
    pub content: Option<Markdown<'a>>,
}

/// Markdown in an object of its own.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Markdown<'a> {
    pub value: Words<'a>,
}

/// How a request ended.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Outcome<'a> {
    pub error_details: Option<IgnoredAny>,
    pub metadata: Option<Metadata<'a>>,
    /// Of the last round alone.
    pub usage: Option<Figures>,
}

/// What Copilot keeps to build later prompts from.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Metadata<'a> {
    /// The person's message as it was sent: attachments and reminders with it.
    pub rendered_user_message: Option<Vec<Rendered<'a>>>,
    /// What stands before all messages: the environment and the workspace.
    pub rendered_global_context: Option<Vec<Rendered<'a>>>,
    pub tool_call_rounds: Option<Vec<Round<'a>>>,
    /// By the ids of the calls.
    pub tool_call_results: Option<BTreeMap<String, Answer<'a>>>,
    pub session_id: Words<'a>,
}

/// A part of a message as it was sent; marks of the cache have neither text nor picture.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Rendered<'a> {
    pub text: Words<'a>,
    pub image_url: Option<held::Url<'a>>,
}

/// One call of the model.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Round<'a> {
    pub id: Words<'a>,
    pub response: Words<'a>,
    pub tool_calls: Option<Vec<ChatToolCall<'a>>>,
    pub thinking: Option<Thinking<'a>>,
    /// Set where all up to this round was replaced by it.
    pub summary: Words<'a>,
    pub timestamp: Option<&'a RawValue>,
}

/// Reasoning; its words are a string or a list of strings.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Thinking<'a> {
    pub text: Option<&'a RawValue>,
    pub encrypted: Words<'a>,
}

/// What a tool returned.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Answer<'a> {
    pub content: Option<Vec<AnswerPart<'a>>>,
}

/// A part of it: a text, or a tree of texts.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct AnswerPart<'a> {
    pub value: Option<&'a RawValue>,
}
