//! The shapes of a request.

use crate::format::ground::count::{Absurd, Count};
use crate::format::ground::words::Words;
use crate::format::usage::Reported;
use crate::transcript::Usage;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// What a person asked, and what came of it.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Request<'a> {
    #[serde(borrow)]
    pub request_id: Words<'a>,
    #[serde(borrow)]
    pub message: Option<Said<'a>>,
    /// What the screen showed.
    #[serde(borrow)]
    pub response: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub result: Option<Outcome<'a>>,
    /// The model, with its vendor before it.
    #[serde(borrow)]
    pub model_id: Words<'a>,
    pub timestamp: Count,
}

/// The words of a person as they were typed.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Said<'a> {
    #[serde(borrow)]
    pub text: Words<'a>,
}

/// What the screen shows of a reply: Markdown where it is of no kind, or of this one.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Shown<'a> {
    #[serde(borrow)]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub value: Option<&'a RawValue>,
    #[serde(borrow)]
    pub content: Option<Markdown<'a>>,
}

/// Markdown in an object of its own.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Markdown<'a> {
    #[serde(borrow)]
    pub value: Words<'a>,
}

/// How a request ended.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Outcome<'a> {
    pub error_details: Option<IgnoredAny>,
    #[serde(borrow)]
    pub metadata: Option<Metadata<'a>>,
    /// Of the last round alone.
    pub usage: Option<Tokens>,
}

/// What a provider reported for a call.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default, rename_all = "camelCase")]
pub struct Tokens {
    prompt_tokens: Count,
    completion_tokens: Count,
}

impl Tokens {
    /// The usage; `None` where the prompt is not known.
    pub fn usage(self) -> Result<Option<Usage>, Absurd> {
        Reported { input: self.prompt_tokens, output: self.completion_tokens, ..Reported::default() }.usage()
    }
}

/// What Copilot keeps to build later prompts from.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Metadata<'a> {
    /// The person's message as it was sent: attachments and reminders with it.
    #[serde(borrow)]
    pub rendered_user_message: Option<Vec<Rendered<'a>>>,
    /// What stands before all messages: the environment and the workspace.
    #[serde(borrow)]
    pub rendered_global_context: Option<Vec<Rendered<'a>>>,
    #[serde(borrow)]
    pub tool_call_rounds: Option<Vec<Round<'a>>>,
    /// By the ids of the calls.
    #[serde(borrow)]
    pub tool_call_results: Option<BTreeMap<String, Answer<'a>>>,
    #[serde(borrow)]
    pub session_id: Words<'a>,
}

/// A part of a message as it was sent; marks of the cache have neither text nor picture.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Rendered<'a> {
    #[serde(borrow)]
    pub text: Words<'a>,
    #[serde(borrow)]
    pub image_url: Option<Picture<'a>>,
}

/// A picture by its address, which may hold its data.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Picture<'a> {
    #[serde(borrow)]
    pub url: Words<'a>,
}

/// One call of the model.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Round<'a> {
    #[serde(borrow)]
    pub id: Words<'a>,
    #[serde(borrow)]
    pub response: Words<'a>,
    #[serde(borrow)]
    pub tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(borrow)]
    pub thinking: Option<Thinking<'a>>,
    /// Set where all up to this round was replaced by it.
    #[serde(borrow)]
    pub summary: Words<'a>,
    pub timestamp: Count,
}

/// A request to run a tool.
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

/// Reasoning; its words are a string or a list of strings.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Thinking<'a> {
    #[serde(borrow)]
    pub text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub encrypted: Words<'a>,
}

/// What a tool returned.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Answer<'a> {
    #[serde(borrow)]
    pub content: Option<Vec<AnswerPart<'a>>>,
}

/// A part of it: a text, or a tree of texts.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct AnswerPart<'a> {
    #[serde(borrow)]
    pub value: Option<&'a RawValue>,
}
