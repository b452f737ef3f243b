//! What the records of a wire hold, as far as it is read.

use crate::format::ground::{Count, Figures, Words, wire};
use crate::format::wire::chat::ChatToolCall;
use crate::format::wire::kimi::{Content, Piece};
use serde_json::value::RawValue;

wire! {
    /// A line, with the fields of all kinds.
    pub struct Record<'a> {
        pub kind: Words<'a> = "type",
        pub time: Option<i64>,
        pub input: Content<'a>,
        pub message: Option<Put<'a>>,
        pub event: Option<Event<'a>>,
        pub system_prompt: Words<'a> = "systemPrompt",
        pub tools: Option<&'a RawValue>,
        pub model: Words<'a>,
        pub usage: Option<Figures>,
        /// Of usage: `turn` for a step's, `session` for other requests.
        pub usage_scope: Words<'a> = "usageScope",
        /// Of a compaction's begin: `auto` or `manual`. Others have one too.
        pub source: Option<&'a RawValue>,
        pub summary: Option<&'a RawValue>,
        pub context_summary: Words<'a> = "contextSummary",
        pub compacted_count: Count = "compactedCount",
        pub tokens_before: Count = "tokensBefore",
        pub tokens_after: Count = "tokensAfter",
        pub kept_user_message_count: Count = "keptUserMessageCount",
        pub count: Count,
        /// Of a request: the longest reply that it allows.
        pub max_tokens: Count = "maxTokens",
    }

    /// A message that is put into the context as a whole.
    pub struct Put<'a> {
        pub role: Words<'a>,
        pub content: Content<'a>,
        pub tool_calls: Vec<ChatToolCall<'a>> = "toolCalls",
        pub tool_call_id: Words<'a> = "toolCallId",
        pub is_error: Option<bool> = "isError",
        pub origin: Option<Origin<'a>>,
    }

    /// Who put a message in: its kind, who called for a skill or command, and which of the reminders it is.
    pub struct Origin<'a> { pub kind: Words<'a>, pub trigger: Words<'a>, pub variant: Words<'a> }

    /// A step of the loop, with the fields of all kinds.
    pub struct Event<'a> {
        pub kind: Words<'a> = "type",
        pub part: Option<Piece<'a>>,
        pub tool_call_id: Words<'a> = "toolCallId",
        pub name: Words<'a>,
        pub args: Option<&'a RawValue>,
        pub result: Option<Outcome<'a>>,
        pub usage: Option<Figures>,
        pub message_id: Words<'a> = "messageId",
        /// Of a step's end: `interrupted` and `error` for one that did not come to its own.
        pub finish_reason: Words<'a> = "finishReason",
    }

    pub struct Outcome<'a> {
        pub output: Content<'a>,
        pub error: Words<'a>,
        pub is_error: Option<bool> = "isError",
    }
}

impl Origin<'_> {
    /// Did a person type it, as a prompt or as a slash command? Steps back count these.
    pub fn is_typed(&self) -> bool {
        match &*self.kind {
            "" | "user" => true,
            "skill_activation" | "plugin_command" => &*self.trigger == "user-slash",
            _ => false,
        }
    }
}
