//! The shapes of a rollout's records.

use crate::format::ground::{Absurd, Count, Words, at, compact, is_drawn, wire};
use crate::format::usage::Reported;
use crate::format::wire::blocks::{Block, Blocks};
use crate::format::wire::held;
use crate::transcript::Usage;
use serde_json::Value;
use serde_json::value::RawValue;

wire! {
    /// A line: a payload with its kind and time, or (before version 0.30) a bare item.
    pub struct Record<'a> {
        pub timestamp: Words<'a>,
        /// The place of the line in its history, that of the files which it goes on with included (since version 0.146).
        pub ordinal: Count,
        pub kind: Words<'a> = "type",
        pub payload: Option<&'a RawValue>,
        /// Set in bare files alone, where it marks lines that are not for the model.
        pub record_type: Words<'a>,
        /// What the program notes beside an item, for itself.
        pub metadata: Option<&'a RawValue>,
    }

    /// Such a note.
    struct Note<'a> { delivered_assistant_message: Words<'a> }

    /// A `session_meta` record: what the session is, and where it comes from.
    pub struct Meta<'a> {
        pub id: Words<'a>,
        pub cli_version: Words<'a>,
        pub cwd: Words<'a>,
        /// The user's own instructions (AGENTS.md); mostly shown again as a message.
        pub instructions: Option<&'a RawValue>,
        pub base_instructions: Blocks<'a, held::Said<'a>>,
        /// A word, or an object for sub-agents; how one came to be is an object too, or a word for reviews and the like.
        pub source: Value,
        /// Who started a sub-agent of any kind (since version 0.139).
        pub parent_thread_id: Words<'a>,
        /// The session that this one goes on with, whose history it repeats.
        pub forked_from_id: Words<'a>,
        /// Where the history lies that this file goes on with and does not repeat, and up to which line: `null` for none.
        pub history_base: Value,
        /// The first line that is the sub-agent's own, behind what it repeats of its parent.
        pub subagent_history_start_ordinal: Count,
    }

    /// `turn_context`.
    pub struct TurnContext<'a> {
        pub model: Words<'a>,
        /// The mark of the models that can share a history: a word, or a number.
        pub comp_hash: Option<&'a RawValue>,
    }

    /// `compacted`.
    pub struct Compacted<'a> {
        /// The summary; empty where it is encrypted.
        pub message: Words<'a>,
        /// The context that it left.
        pub replacement_history: Blocks<'a, Left<'a>>,
        /// The summariser's response.
        pub compaction_response_id: Words<'a>,
        /// The last response before this; it is the summariser's in the first versions that have records.
        pub latest_token_usage_record: Option<UsageRecord<'a>>,
    }

    /// `token_usage_record`: what a response used, of any request (since version 0.153).
    pub struct UsageRecord<'a> { pub thread_id: Words<'a>, pub response_id: Words<'a>, pub usage: TokenUsage }

    /// `inter_agent_communication`: what an agent says to another.
    pub struct Sent<'a> {
        pub id: Words<'a>,
        pub author: Words<'a>,
        pub recipient: Words<'a>,
        pub content: Words<'a>,
        pub encrypted_content: Words<'a>,
        pub trigger_turn: Option<bool>,
    }

    /// An item of the context behind a compaction, as far as it stands nowhere else.
    pub struct Left<'a> { pub kind: Words<'a> = "type", pub encrypted_content: Words<'a> }

    /// An `event_msg`, with the fields of all kinds.
    pub struct Event<'a> {
        pub kind: Words<'a> = "type",
        /// Of `error`: what went wrong, as a word; an object for errors of other kinds.
        pub codex_error_info: Option<&'a RawValue>,
        /// Of `thread_rolled_back`: how many turns leave the context.
        pub num_turns: Count,
        /// Of `token_count`: a [`TokenInfo`]. Without it rate limits alone are reported.
        pub info: Option<&'a RawValue>,
    }

    /// Usage so far and of the last call.
    pub struct TokenInfo {
        pub total_token_usage: TokenUsage,
        pub last_token_usage: TokenUsage,
        pub model_context_window: Count,
    }

    /// `input_tokens` includes the cached ones, those read and those written; `output_tokens` the reasoning.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct TokenUsage {
        pub input_tokens: Count,
        pub cached_input_tokens: Count,
        pub cache_write_input_tokens: Count,
        pub output_tokens: Count,
        pub reasoning_output_tokens: Count,
        pub total_tokens: Count,
    }

    /// A `response_item`: one entry of the model's context.
    pub struct Item<'a> {
        pub kind: Words<'a> = "type",
        pub id: Words<'a>,
        pub role: Words<'a>,
        pub content: Blocks<'a, Piece<'a>>,
        pub summary: Blocks<'a, Piece<'a>>,
        pub encrypted_content: Words<'a>,
        pub name: Words<'a>,
        pub call_id: Words<'a>,
        /// A string that holds JSON, or an object.
        pub arguments: Option<&'a RawValue>,
        /// The free text that a custom tool takes.
        pub input: Option<&'a RawValue>,
        pub action: Option<&'a RawValue>,
        pub output: Blocks<'a, Piece<'a>>,
        /// What a search for tools found, or definitions that join the conversation.
        pub tools: Option<&'a RawValue>,
        pub metadata: Option<&'a RawValue> = "internal_chat_message_metadata_passthrough",
    }
}

impl Record<'_> {
    /// Is this what the model said to the person by a tool? The item of the tool's call holds it for the model.
    pub fn is_delivered(&self, item: &Item) -> bool {
        let note = || serde_json::from_str::<Note>(self.metadata?.get()).ok();
        &*item.role == "assistant" && note().is_some_and(|note| note.delivered_assistant_message.starts_with("codex:code-mode-delivery:"))
    }
}

impl Meta<'_> {
    /// Does the history begin in another file?
    pub fn goes_on(&self) -> bool {
        self.history_base.pointer("/end_ordinal_exclusive").and_then(Value::as_u64).is_some_and(|lines| lines > 0)
    }

    /// The id of the session that started this one; absent for a session of its own.
    pub fn parent(&self) -> Option<String> {
        let spawned = at(&self.source, "/subagent/thread_spawn/parent_thread_id");
        let parent = self.parent_thread_id.some_id().unwrap_or(&spawned);
        (!parent.is_empty()).then(|| parent.to_owned())
    }
}

impl Compacted<'_> {
    /// The id of the summariser's response; empty where the record does not tell it.
    pub fn response(&self) -> &str {
        let latest = || self.latest_token_usage_record.as_ref().map_or("", |record| record.response_id.id());
        self.compaction_response_id.some_id().unwrap_or_else(latest)
    }

    /// The size of an encrypted summary in tokens, as Codex reckons it: three quarters of its bytes less 650, four to a token. `None` where there is
    /// none, or a word stands for it.
    pub fn sealed_tokens(&self) -> Option<u32> {
        let mut sealed = self.replacement_history.0.iter().rev().filter_map(|item| match item {
            Block::Object(item) if matches!(&*item.kind, "compaction" | "context_compaction" | "compaction_summary") => {
                Some(item.encrypted_content.len())
            }
            _ => None,
        });
        let bytes = sealed.next()? * 3 / 4;
        bytes.checked_sub(650).map(|bytes| bytes.div_ceil(4) as u32).filter(|tokens| *tokens > 0)
    }
}

impl Sent<'_> {
    /// The words that reach the model, less those that are sealed.
    pub fn words(&self) -> String {
        if self.encrypted_content.is_empty() {
            return self.content.to_string();
        }
        let kind = if self.trigger_turn == Some(true) { "NEW_TASK" } else { "MESSAGE" };
        format!("Message Type: {kind}\nTask name: {}\nSender: {}\nPayload:\n", &*self.recipient, &*self.author)
    }
}

impl TokenUsage {
    /// Does it hold a number that cannot be true?
    pub fn is_absurd(&self) -> bool {
        self.all().contains(&None)
    }

    /// Does it say the same? A count that is absent is 0.
    pub fn equals(&self, other: &TokenUsage) -> bool {
        self.all() == other.all()
    }

    fn all(&self) -> [Option<u64>; 6] {
        let TokenUsage {
            input_tokens,
            cached_input_tokens,
            cache_write_input_tokens,
            output_tokens,
            reasoning_output_tokens,
            total_tokens,
        } = *self;
        [input_tokens, cached_input_tokens, cache_write_input_tokens, output_tokens, reasoning_output_tokens, total_tokens]
            .map(|count| count.or_zero().ok())
    }

    /// Input, what of it was read from the cache, and output; 0 for what is not told.
    pub fn numbers(&self) -> [u64; 3] {
        [self.input_tokens, self.cached_input_tokens, self.output_tokens].map(|count| count.or_zero().unwrap_or(0))
    }

    /// What was used since the sums were these; sums that are smaller started anew.
    pub fn since(&self, before: &TokenUsage) -> TokenUsage {
        let less = |now: Count, before: Count| now.or_zero().ok()?.checked_sub(before.or_zero().ok()?).map(Count::Sound);
        let spent = || {
            Some(TokenUsage {
                input_tokens: less(self.input_tokens, before.input_tokens)?,
                cached_input_tokens: less(self.cached_input_tokens, before.cached_input_tokens)?,
                cache_write_input_tokens: less(self.cache_write_input_tokens, before.cache_write_input_tokens)?,
                output_tokens: less(self.output_tokens, before.output_tokens)?,
                reasoning_output_tokens: less(self.reasoning_output_tokens, before.reasoning_output_tokens)?,
                total_tokens: less(self.total_tokens, before.total_tokens)?,
            })
        };
        spent().unwrap_or(*self)
    }

    /// The usage of a call; `None` for a record of no call (the estimate after a compaction has zeros here).
    pub fn usage(&self) -> Result<Option<Usage>, Absurd> {
        Reported {
            input: self.input_tokens,
            cache_read: self.cached_input_tokens,
            cache_write: self.cache_write_input_tokens,
            output: self.output_tokens,
            reasoning: self.reasoning_output_tokens,
            ..Reported::default()
        }
        .usage()
    }
}

impl Item<'_> {
    /// What a reply is known by in another file: the item's id, or that of its tool call where items have none and it is drawn.
    pub fn reply_id(&self) -> &str {
        self.id.some_id().or(self.call_id.some_id().filter(|id| is_drawn(id, &self.name))).unwrap_or_default()
    }

    /// Gives that to a reply that is known by nothing.
    pub fn name(&self, id: &mut String) {
        if id.is_empty() {
            self.reply_id().clone_into(id);
        }
    }

    /// Bytes that the metadata of an item takes in it, with its key, a comma and a colon. The program counts items with it.
    pub fn metadata_bytes(&self) -> u32 {
        const KEY: usize = ",\"internal_chat_message_metadata_passthrough\":".len();
        self.metadata.map_or(0, |metadata| u32::try_from(KEY + compact(metadata.get()).len()).unwrap_or(0))
    }
}

wire! {
    /// A block of a content list.
    pub struct Piece<'a> {
        pub kind: Words<'a> = "type",
        pub text: Words<'a>,
        pub refusal: Words<'a>,
        pub image_url: Words<'a>,
        /// How closely a picture is looked at.
        pub detail: Words<'a>,
        /// The text of the earliest tool results: `{content, success}`.
        pub content: Option<&'a RawValue>,
        pub success: Option<bool>,
    }
}

/// Is this a version of Open Interpreter? Codex itself is 0.0.0 where it is built from its sources, and has the day in the place of a small number in its first versions.
pub fn is_of_interpreter(version: &str) -> bool {
    version.strip_prefix("0.0.").and_then(|last| last.parse().ok()).is_some_and(|last: u64| (1..1000).contains(&last))
}
