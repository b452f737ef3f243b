//! The events of OpenHands' SDK as they are written. What a kind of event holds is decoded by itself: the same names hold other things elsewhere.

use super::record::{Config, Cost, TokenUsage};
use crate::format::ground::words::Words;
use crate::format::wire::blocks::Blocks;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// What all events have.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Event<'a> {
    #[serde(borrow)]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub id: Words<'a>,
    #[serde(borrow)]
    pub timestamp: Words<'a>,
    #[serde(borrow)]
    pub source: Words<'a>,
}

/// The instructions and the tools.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct SystemPrompt<'a> {
    #[serde(borrow)]
    pub system_prompt: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub dynamic_context: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub tools: Option<&'a RawValue>,
}

/// A message of a person, of the agent's program, or of the model.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Said<'a> {
    #[serde(borrow)]
    pub llm_message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub extended_content: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub llm_response_id: Words<'a>,
}

/// The message itself.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Spoken<'a> {
    #[serde(borrow)]
    pub role: Words<'a>,
    #[serde(borrow)]
    pub content: Blocks<'a, Piece<'a>>,
}

/// A call of a tool, with what the model thought before it.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Action<'a> {
    #[serde(borrow)]
    pub thought: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub tool_name: Words<'a>,
    #[serde(borrow)]
    pub tool_call_id: Words<'a>,
    #[serde(borrow)]
    pub tool_call: Option<ToolCall<'a>>,
    #[serde(borrow)]
    pub llm_response_id: Words<'a>,
}

/// Reasoning, in the forms that providers give it: it stands among the fields of a message, and of an action.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Thought<'a> {
    #[serde(borrow)]
    pub reasoning_content: Words<'a>,
    #[serde(borrow)]
    pub thinking_blocks: Option<Vec<ThinkingBlock<'a>>>,
    #[serde(borrow)]
    pub responses_reasoning_item: Option<ReasoningItem<'a>>,
}

/// A block of Anthropic's.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ThinkingBlock<'a> {
    #[serde(borrow)]
    pub thinking: Words<'a>,
    #[serde(borrow)]
    pub signature: Words<'a>,
    #[serde(borrow)]
    pub data: Words<'a>,
}

/// An item of OpenAI's.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ReasoningItem<'a> {
    #[serde(borrow)]
    pub summary: Option<Vec<Words<'a>>>,
    #[serde(borrow)]
    pub content: Option<Vec<Words<'a>>>,
    #[serde(borrow)]
    pub encrypted_content: Words<'a>,
}

/// A call of a tool: flat, or as OpenAI nests it.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ToolCall<'a> {
    #[serde(borrow)]
    pub id: Words<'a>,
    #[serde(borrow)]
    pub name: Words<'a>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub function: Option<Function<'a>>,
}

/// The function of a nested call.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Function<'a> {
    #[serde(borrow)]
    pub name: Words<'a>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}

/// What came of a call.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Observation<'a> {
    #[serde(borrow)]
    pub tool_name: Words<'a>,
    #[serde(borrow)]
    pub tool_call_id: Words<'a>,
    #[serde(borrow)]
    pub observation: Option<Observed<'a>>,
    #[serde(borrow)]
    pub extended_content: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub error: Words<'a>,
    #[serde(borrow)]
    pub rejection_reason: Words<'a>,
}

/// What a tool returned.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Observed<'a> {
    #[serde(borrow)]
    pub content: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub output: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub text: Blocks<'a, Piece<'a>>,
    pub is_error: Option<bool>,
    pub exit_code: Option<i64>,
}

/// A piece of content: a text, or pictures.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Piece<'a> {
    #[serde(borrow)]
    pub text: Words<'a>,
    #[serde(borrow)]
    pub image_urls: Option<Vec<Words<'a>>>,
}

/// What a condenser did.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Condensation<'a> {
    #[serde(borrow)]
    pub forgotten_event_ids: Vec<Words<'a>>,
    #[serde(borrow)]
    pub summary: Words<'a>,
    #[serde(borrow)]
    pub llm_response_id: Words<'a>,
}

/// Something of the program's state that changed.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct State<'a> {
    #[serde(borrow)]
    pub key: Words<'a>,
    #[serde(borrow)]
    pub value: Option<&'a RawValue>,
}

/// What was spent so far, by what it was spent on: `agent`, `condenser`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Stats<'a> {
    #[serde(borrow)]
    pub usage_to_metrics: BTreeMap<String, Metrics<'a>>,
}

/// The sums of one purpose, and in a saved state its calls.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Metrics<'a> {
    #[serde(borrow)]
    pub model_name: Words<'a>,
    #[serde(borrow)]
    pub accumulated_token_usage: Option<TokenUsage<'a>>,
    #[serde(borrow)]
    pub token_usages: Vec<TokenUsage<'a>>,
    pub costs: Vec<Cost>,
}

/// The state that a conversation is saved with, beside its events.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Saved<'a> {
    #[serde(borrow)]
    pub id: Words<'a>,
    #[serde(borrow)]
    pub agent: Agent<'a>,
    #[serde(borrow)]
    pub stats: Stats<'a>,
}

/// The agent of a saved conversation.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Agent<'a> {
    #[serde(borrow)]
    pub llm: Config<'a>,
}
