//! The shapes of a rollout's records.

use crate::format::ground::count::{Absurd, Count};
use crate::format::ground::words::Words;
use crate::format::usage::Reported;
use crate::format::wire::blocks::Blocks;
use crate::transcript::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A line: a payload with its kind and time, or (before version 0.30) a bare item.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Record<'a> {
    #[serde(borrow)]
    pub timestamp: Words<'a>,
    #[serde(borrow, rename = "type")]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub payload: Option<&'a RawValue>,
    /// Set in bare files alone, where it marks lines that are not for the model.
    #[serde(borrow)]
    pub record_type: Words<'a>,
}

/// `session_meta`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Meta<'a> {
    #[serde(borrow)]
    pub id: Words<'a>,
    #[serde(borrow)]
    pub cli_version: Words<'a>,
    /// The user's own instructions (AGENTS.md); mostly shown again as a message.
    #[serde(borrow)]
    pub instructions: Option<&'a RawValue>,
    #[serde(borrow)]
    pub base_instructions: Blocks<'a, Instructions<'a>>,
    /// A word, or an object for sub-agents.
    #[serde(borrow)]
    pub source: Option<&'a RawValue>,
    /// Who started a sub-agent of any kind (since version 0.139).
    #[serde(borrow)]
    pub parent_thread_id: Words<'a>,
}

impl Meta<'_> {
    /// The id of the session that started this one; absent for a session of its own.
    pub fn parent(&self) -> Option<String> {
        let spawned = || serde_json::from_str::<SubAgentSource>(self.source?.get()).ok().map(|source| source.subagent.thread_spawn);
        self.parent_thread_id.some_id().map(str::to_owned).or_else(|| spawned().map(|spawn| spawn.parent_thread_id.to_string()))
    }
}

/// The system prompt.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Instructions<'a> {
    #[serde(borrow)]
    pub text: Words<'a>,
}

/// `session_meta.source` of a sub-agent.
#[derive(Deserialize)]
pub struct SubAgentSource<'a> {
    #[serde(borrow)]
    pub subagent: SubAgent<'a>,
}

/// How a sub-agent came to be, where that is an object; reviews and the like are words.
#[derive(Deserialize)]
pub struct SubAgent<'a> {
    #[serde(borrow)]
    pub thread_spawn: Spawn<'a>,
}

/// Who started a sub-agent.
#[derive(Deserialize)]
pub struct Spawn<'a> {
    #[serde(borrow)]
    pub parent_thread_id: Words<'a>,
}

/// `turn_context`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct TurnContext<'a> {
    #[serde(borrow)]
    pub model: Words<'a>,
}

/// `compacted`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Compacted<'a> {
    /// The summary; empty where it is encrypted.
    #[serde(borrow)]
    pub message: Words<'a>,
}

/// What all `event_msg` payloads share.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Words<'a>,
}

/// `error`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Failure<'a> {
    /// What went wrong, as a word; an object for errors of other kinds.
    #[serde(borrow)]
    pub codex_error_info: Option<&'a RawValue>,
}

/// `thread_rolled_back`.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct RolledBack {
    pub num_turns: Count,
}

/// `token_count`. Without `info` it tells of rate limits alone.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct TokenCount {
    pub info: Option<TokenInfo>,
}

/// Usage so far and of the last call.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct TokenInfo {
    pub total_token_usage: TokenUsage,
    pub last_token_usage: TokenUsage,
    pub model_context_window: Count,
}

/// `input_tokens` includes the cached ones, `output_tokens` the reasoning.
#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(default)]
pub struct TokenUsage {
    pub input_tokens: Count,
    pub cached_input_tokens: Count,
    pub output_tokens: Count,
    pub reasoning_output_tokens: Count,
    pub total_tokens: Count,
}

impl TokenUsage {
    /// Does it hold a number that cannot be true?
    pub fn is_absurd(&self) -> bool {
        let TokenUsage { input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens, total_tokens } = *self;
        [input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens, total_tokens].contains(&Count::Absurd)
    }

    /// The usage of a call; `None` for a record of no call (the estimate after a compaction has zeros here).
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
        Reported {
            input: self.input_tokens,
            cache_read: self.cached_input_tokens,
            output: self.output_tokens,
            reasoning: self.reasoning_output_tokens,
            ..Reported::default()
        }
        .usage()
    }
}

/// A `response_item`: one entry of the model's context.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub id: Words<'a>,
    #[serde(borrow)]
    pub role: Words<'a>,
    #[serde(borrow)]
    pub content: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub summary: Blocks<'a, Piece<'a>>,
    #[serde(borrow)]
    pub encrypted_content: Words<'a>,
    #[serde(borrow)]
    pub name: Words<'a>,
    #[serde(borrow)]
    pub call_id: Words<'a>,
    /// A string that holds JSON, or an object.
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    /// The free text that a custom tool takes.
    #[serde(borrow)]
    pub input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub action: Option<&'a RawValue>,
    #[serde(borrow)]
    pub output: Blocks<'a, Piece<'a>>,
    /// What a search for tools found.
    #[serde(borrow)]
    pub tools: Option<&'a RawValue>,
}

/// A block of a content list.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Piece<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Words<'a>,
    #[serde(borrow)]
    pub text: Words<'a>,
    #[serde(borrow)]
    pub refusal: Words<'a>,
    #[serde(borrow)]
    pub image_url: Words<'a>,
    /// How closely a picture is looked at.
    #[serde(borrow)]
    pub detail: Words<'a>,
    /// The text of the earliest tool results: `{content, success}`.
    #[serde(borrow)]
    pub content: Option<&'a RawValue>,
    pub success: Option<bool>,
}
