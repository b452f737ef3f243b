//! The records of OpenHands as they are written.

use crate::format::ground::{Absurd, Count, Dollars, Words, wire};
use crate::format::usage::Reported;
use crate::format::wire::blocks::Blocks;
use crate::format::wire::chat::ChatChoice;
use crate::transcript::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

wire! {
    /// One run: its events, and what its calls used.
    pub struct Output<'a> {
        pub instance_id: Words<'a>,
        pub history: Vec<&'a RawValue> = "history" | "events" | "trajectory" | "items",
        pub metrics: Option<Metrics<'a>>,
        pub metadata: Option<Metadata<'a>>,
    }

    /// The model's settings, and the version of the SDK.
    pub struct Metadata<'a> {
        pub llm_config: Option<Config<'a>> = "llm_config" | "llm",
        pub openhands_sdk_version: Words<'a>,
    }

    /// Settings of the model that the agent calls.
    pub struct Config<'a> {
        pub model: Words<'a>,
        /// The most letters of a result that are sent; absent where all are.
        pub max_message_chars: Option<usize>,
    }

    /// Usage of all calls in their order, those of condensers among them, and what they cost together. The first versions list costs alone.
    pub struct Metrics<'a> { pub token_usages: Vec<TokenUsage<'a>>, pub costs: Vec<Cost>, pub accumulated_cost: Dollars }

    /// What an event says that all calls up to it used.
    pub struct Running<'a> { pub accumulated_token_usage: Option<TokenUsage<'a>> }
}

/// What a call cost: a number in old versions.
#[derive(Clone, Copy, Deserialize, Default)]
#[serde(from = "CostRecord")]
pub struct Cost(pub Option<i64>);

#[derive(Deserialize)]
#[serde(untagged)]
enum CostRecord {
    Full { cost: f64 },
    Plain(f64),
}

impl From<CostRecord> for Cost {
    fn from(record: CostRecord) -> Cost {
        let (CostRecord::Full { cost } | CostRecord::Plain(cost)) = record;
        Cost((cost > 0.0 && cost < 1e6).then(|| (cost * 1e9).round() as i64))
    }
}

wire! {
    /// Usage of one call.
    pub struct TokenUsage<'a> {
        pub model: Words<'a>,
        pub response_id: Words<'a>,
        prompt_tokens: Count,
        completion_tokens: Count,
        cache_read_tokens: Count,
        cache_write_tokens: Count,
        reasoning_tokens: Count,
        /// Prompt and reply of the last call, where the other figures are sums.
        pub per_turn_token: Count,
    }

    /// Something that was done, or that was seen after it. Old versions write the arguments of an action beside its name.
    pub struct Event<'a> {
        pub timestamp: Words<'a>,
        pub source: Words<'a>,
        pub action: Words<'a>,
        pub observation: Words<'a>,
        pub args: Option<Arguments<'a>>,
        pub content: Words<'a>,
        pub extras: Option<Extras<'a>>,
        pub tool_call_metadata: Option<ToolCall<'a>>,
        pub response_id: Words<'a>,
        /// What the whole run used so far.
        pub llm_metrics: Option<&'a RawValue>,
        /// Exit code of a command in old versions; newer ones write it in the metadata of `extras`.
        pub exit_code: Option<i64>,
    }

    /// The arguments of any action.
    pub struct Arguments<'a> {
        pub content: Words<'a>,
        pub thought: Words<'a>,
        pub final_thought: Words<'a>,
        pub command: Words<'a>,
        pub code: Words<'a>,
        pub path: Words<'a>,
        pub url: Words<'a>,
        pub browser_actions: Words<'a>,
        pub tools: Option<&'a RawValue>,
        pub openhands_version: Words<'a>,
        pub image_urls: Blocks<'a, serde::de::IgnoredAny> = "image_urls" | "images_urls",
        /// Of a condensation: what replaces the forgotten events.
        pub summary: Words<'a>,
        pub forgotten_event_ids: Option<Vec<u64>>,
        pub forgotten_events_end_id: Option<u64>,
    }

    /// What an observation tells beside its text.
    pub struct Extras<'a> {
        pub metadata: Option<CommandMetadata>,
        pub repo_instructions: Words<'a>,
        pub additional_agent_instructions: Words<'a>,
        pub conversation_instructions: Words<'a>,
        pub microagent_knowledge: Option<Vec<Knowledge<'a>>>,
    }

    /// The exit code of a command.
    pub struct CommandMetadata { pub exit_code: Option<i64> }

    /// Advice that a word in the task called up.
    pub struct Knowledge<'a> { pub content: Words<'a> }

    /// Which call of the model an event comes from.
    pub struct ToolCall<'a> {
        pub function_name: Words<'a>,
        pub tool_call_id: Words<'a>,
        pub model_response: Option<Response<'a>>,
    }

    /// The model's response, repeated at each event that it led to.
    pub struct Response<'a> {
        pub id: Words<'a>,
        pub model: Words<'a>,
        pub choices: Option<Vec<ChatChoice<'a>>>,
        pub usage: Option<&'a RawValue>,
        pub cost: Dollars,
    }
}

impl TokenUsage<'_> {
    /// The usage; the prompt includes what was cached.
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
        Reported {
            input: self.prompt_tokens,
            cache_read: self.cache_read_tokens,
            cache_write: self.cache_write_tokens,
            output: self.completion_tokens,
            reasoning: self.reasoning_tokens,
            ..Reported::default()
        }
        .usage()
    }
}
