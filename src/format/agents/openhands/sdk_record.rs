//! The events of OpenHands' SDK as they are written. What a kind of event holds is decoded by itself: the same names hold other things elsewhere.

use super::record::{Config, Cost, TokenUsage};
use crate::format::ground::{Words, wire};
use crate::format::wire::blocks::Blocks;
use crate::format::wire::chat::ChatToolCall;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

wire! {
    /// What all events have.
    pub struct Event<'a> {
        pub kind: Words<'a>,
        pub id: Words<'a>,
        pub timestamp: Words<'a>,
        pub source: Words<'a>,
    }

    /// The instructions and the tools.
    pub struct SystemPrompt<'a> {
        pub system_prompt: Blocks<'a, Piece<'a>>,
        pub dynamic_context: Blocks<'a, Piece<'a>>,
        pub tools: Option<&'a RawValue>,
    }

    /// A message of a person, of the agent's program, or of the model.
    pub struct Said<'a> {
        pub llm_message: Option<&'a RawValue>,
        pub extended_content: Blocks<'a, Piece<'a>>,
        pub llm_response_id: Words<'a>,
    }

    /// What stands in `llm_message`: the words, and whose they are.
    pub struct Spoken<'a> { pub role: Words<'a>, pub content: Blocks<'a, Piece<'a>> }

    /// A call of a tool, with what the model thought before it.
    pub struct Action<'a> {
        pub thought: Blocks<'a, Piece<'a>>,
        pub tool_name: Words<'a>,
        pub tool_call_id: Words<'a>,
        pub tool_call: Option<ChatToolCall<'a>>,
        pub llm_response_id: Words<'a>,
    }

    /// Reasoning, in the forms that providers give it: it stands among the fields of a message, and of an action.
    pub struct Thought<'a> {
        pub reasoning_content: Words<'a>,
        pub thinking_blocks: Option<Vec<ThinkingBlock<'a>>>,
        pub responses_reasoning_item: Option<ReasoningItem<'a>>,
    }

    /// Reasoning as Anthropic returns it, with its sealed form.
    pub struct ThinkingBlock<'a> { pub thinking: Words<'a>, pub signature: Words<'a>, pub data: Words<'a> }

    /// Reasoning as OpenAI's Responses return it.
    pub struct ReasoningItem<'a> {
        pub summary: Option<Vec<Words<'a>>>,
        pub content: Option<Vec<Words<'a>>>,
        pub encrypted_content: Words<'a>,
    }

    /// A tool's result, with the id of the call that asked for it.
    pub struct Observation<'a> {
        pub tool_name: Words<'a>,
        pub tool_call_id: Words<'a>,
        pub observation: Option<Observed<'a>>,
        pub extended_content: Blocks<'a, Piece<'a>>,
        pub error: Words<'a>,
        pub rejection_reason: Words<'a>,
    }

    /// What a tool returned.
    pub struct Observed<'a> {
        pub content: Blocks<'a, Piece<'a>>,
        pub output: Blocks<'a, Piece<'a>>,
        pub text: Blocks<'a, Piece<'a>>,
        pub is_error: Option<bool>,
        pub exit_code: Option<i64>,
    }

    /// A piece of content: a text, or pictures.
    pub struct Piece<'a> { pub text: Words<'a>, pub image_urls: Option<Vec<Words<'a>>> }

    /// What a condenser did.
    pub struct Condensation<'a> {
        pub forgotten_event_ids: Vec<Words<'a>>,
        pub summary: Words<'a>,
        pub llm_response_id: Words<'a>,
    }

    /// Something of the program's state that changed.
    pub struct State<'a> { pub key: Words<'a>, pub value: Option<&'a RawValue> }

    /// What was spent so far, by what it was spent on: `agent`, `condenser`.
    pub struct Stats<'a> { pub usage_to_metrics: BTreeMap<String, Metrics<'a>> }

    /// The sums of one purpose, and in a saved state its calls.
    pub struct Metrics<'a> {
        pub model_name: Words<'a>,
        pub accumulated_token_usage: Option<TokenUsage<'a>>,
        pub token_usages: Vec<TokenUsage<'a>>,
        pub costs: Vec<Cost>,
    }

    /// The state that a conversation is saved with, beside its events.
    pub struct Saved<'a> { pub id: Words<'a>, pub agent: Agent<'a>, pub stats: Stats<'a> }

    /// The agent of a saved conversation.
    pub struct Agent<'a> { pub llm: Config<'a> }
}
