//! The shapes of a request.

use crate::format::ground::{Count, Figures, Words, wire};
use crate::format::wire::chat::ChatToolCall;
use crate::format::wire::held;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

wire! {
    /// What a person asked, and what came of it.
    pub struct Request<'a> {
        pub request_id: Words<'a> = "requestId",
        pub message: Option<held::Said<'a>>,
        /// What the screen showed.
        pub response: Option<Vec<&'a RawValue>>,
        pub result: Option<Outcome<'a>>,
        /// The model, with its vendor before it.
        pub model_id: Words<'a> = "modelId",
        pub timestamp: Option<&'a RawValue>,
    }

    /// What the screen shows of a reply: Markdown where it is of no kind, or of this one.
    pub struct Shown<'a> {
        pub kind: Words<'a>,
        pub value: Option<&'a RawValue>,
        pub content: Option<Markdown<'a>>,
    }

    /// Markdown in an object of its own.
    pub struct Markdown<'a> { pub value: Words<'a> }

    /// How a request ended.
    pub struct Outcome<'a> {
        pub error_details: Option<IgnoredAny> = "errorDetails",
        pub metadata: Option<Metadata<'a>>,
        /// Of the last round alone.
        pub usage: Option<Figures>,
    }

    /// What Copilot keeps to build later prompts from.
    pub struct Metadata<'a> {
        /// The person's message as it was sent: attachments and reminders with it.
        pub rendered_user_message: Option<Vec<Rendered<'a>>> = "renderedUserMessage",
        /// What stands before all messages: the environment and the workspace.
        pub rendered_global_context: Option<Vec<Rendered<'a>>> = "renderedGlobalContext",
        pub tool_call_rounds: Option<Vec<Round<'a>>> = "toolCallRounds",
        /// By the ids of the calls.
        pub tool_call_results: Option<BTreeMap<String, Answer<'a>>> = "toolCallResults",
        pub session_id: Words<'a> = "sessionId",
        /// Of the last round alone, where its model is one of Anthropic's, since January 2026.
        pub prompt_tokens: Count = "promptTokens",
        /// The tokens of its reply.
        pub output_tokens: Count = "outputTokens",
    }

    /// A part of a message as it was sent; marks of the cache have neither text nor picture.
    pub struct Rendered<'a> { pub text: Words<'a>, pub image_url: Option<held::Url<'a>> = "imageUrl" }

    /// One call of the model.
    pub struct Round<'a> {
        pub id: Words<'a>,
        pub response: Words<'a>,
        pub tool_calls: Option<Vec<ChatToolCall<'a>>> = "toolCalls",
        pub thinking: Option<Thinking<'a>>,
        /// Set where all up to this round was replaced by it.
        pub summary: Words<'a>,
        pub timestamp: Option<&'a RawValue>,
    }

    /// Reasoning; its words are a string or a list of strings.
    pub struct Thinking<'a> { pub text: Option<&'a RawValue>, pub encrypted: Words<'a> }

    /// What a tool returned.
    pub struct Answer<'a> { pub content: Option<Vec<AnswerPart<'a>>> }

    /// A part of it: a text, or a tree of texts.
    pub struct AnswerPart<'a> { pub value: Option<&'a RawValue> }
}
