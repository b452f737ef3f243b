//! A line of a chat, as far as it is read.

use crate::format::ground::{Absurd, Count, Words, wire};
use crate::format::usage::{Reasoning, Reported};
use crate::format::wire::blocks::Blocks;
use crate::format::wire::google::{Piece, TokenCounts};
use crate::transcript::{Trust, Usage};
use serde_json::value::RawValue;

wire! {
    /// One line of a chat, with the fields of all kinds.
    pub struct Record<'a> {
        pub uuid: Words<'a>,
        /// The record before it; empty at the root.
        pub parent_uuid: Words<'a> = "parentUuid",
        pub session_id: Words<'a> = "sessionId",
        pub timestamp: Words<'a>,
        pub kind: Words<'a> = "type",
        pub subtype: Words<'a>,
        pub version: Words<'a>,
        pub cwd: Words<'a>,
        /// The sub-agent that the record is of; empty for the session itself.
        pub agent_id: Words<'a> = "agentId",
        pub message: Option<Content<'a>>,
        pub model: Words<'a>,
        pub usage_metadata: Option<TokenCounts> = "usageMetadata",
        pub context_window_size: Count = "contextWindowSize",
        /// What the screen keeps of a tool's result; only the status is looked at.
        pub tool_call_result: Option<ToolStatus<'a>> = "toolCallResult",
        pub system_payload: Option<&'a RawValue> = "systemPayload",
    }

    /// A message as it is sent.
    pub struct Content<'a> { pub role: Words<'a>, pub parts: Option<&'a RawValue> }

    pub struct ToolStatus<'a> { pub status: Words<'a> }

    /// The payload of a compression.
    pub struct Compression<'a> {
        pub info: CompressionInfo,
        pub compressed_history: Vec<Content<'a>> = "compressedHistory",
    }

    pub struct CompressionInfo {
        pub original_token_count: Count = "originalTokenCount",
        pub new_token_count: Count = "newTokenCount",
    }

    /// The payload of a sub-agent that starts with what its parent knows.
    pub struct Bootstrap<'a> { pub history: Vec<Content<'a>> }

    /// The payload that names the session's parent.
    pub struct ParentSession<'a> { pub parent_session_id: Words<'a> = "parentSessionId" }

    /// The payload of a report to the screen's statistics.
    pub struct Telemetry<'a> { pub ui_event: Event<'a> = "uiEvent" }

    /// A request that was answered, as the statistics hear of it.
    pub struct Event<'a> {
        pub name: Words<'a> = "event.name",
        pub model: Words<'a>,
        pub response_id: Words<'a>,
        pub input_token_count: Count,
        pub output_token_count: Count,
        pub cached_content_token_count: Count,
        pub thoughts_token_count: Count,
        pub total_token_count: Count,
    }
}

impl<'a> Content<'a> {
    /// The parts, decoded; empty where they are of another shape.
    pub fn pieces(&self) -> Blocks<'a, Piece<'a>> {
        self.parts.and_then(|parts| serde_json::from_str(parts.get()).ok()).unwrap_or_default()
    }
}

impl Event<'_> {
    /// Its numbers under the names of a reply's.
    pub fn tokens(&self) -> TokenCounts {
        TokenCounts {
            prompt_token_count: self.input_token_count,
            candidates_token_count: self.output_token_count,
            cached_content_token_count: self.cached_content_token_count,
            thoughts_token_count: self.thoughts_token_count,
            total_token_count: self.total_token_count,
            ..TokenCounts::default()
        }
    }
}

/// The usage as a fact; `None` where nothing was reported.
///
/// Google counts thoughts beside the candidates. The agent translates what OpenAI-like providers report, and those count them
/// within the completion: the total tells which it is.
pub fn usage(tokens: &TokenCounts) -> Result<Option<Usage>, Absurd> {
    let (sent, candidates) = (tokens.prompt_token_count.or_zero()?, tokens.candidates_token_count.or_zero()?);
    let total = tokens.total_token_count.or_zero()?;
    // Where a provider reports a total alone, the agent takes seven tenths of it for the prompt and the rest for the reply.
    let shared_out = total > 10 && sent == (total * 7 + 5) / 10 && candidates == (total * 3 + 5) / 10;
    Reported {
        reasoned: if total > 0 { Reasoning::Beside } else { Reasoning::Within },
        trust: if shared_out { Trust::Estimated } else { Trust::Provider },
        ..tokens.reported()?
    }
    .usage()
}
