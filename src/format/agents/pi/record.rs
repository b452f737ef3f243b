//! The records of a pi session file, as far as they are of use.

use crate::format::ground::{Count, Dollars, Source, Words, wire};
use crate::format::wire::blocks::{Block, Blocks};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

const MODELS: &str = "models.json";

wire! {
    /// The first line, for telling the format.
    pub struct Header<'a> {
        kind: Words<'a> = "type",
        id: Words<'a>,
        cwd: Words<'a>,
        timestamp: Words<'a>,
        delegation_depth: Option<IgnoredAny> = "delegationDepth",
    }

    /// One line of a session file, with the fields of all kinds.
    pub struct Entry<'a> {
        pub kind: Words<'a> = "type",
        pub id: Words<'a>,
        /// Of the header alone: the folder that the agent works in.
        pub cwd: Words<'a>,
        /// Absent in version 1; null at a root.
        pub parent_id: Option<Option<Cow<'a, str>>> = "parentId" as Parent,
        pub timestamp: Words<'a>,
        /// Of the state of an extension.
        pub custom_type: Words<'a> = "customType",
        pub message: Option<Payload<'a>>,
        pub content: Content<'a>,
        pub summary: Words<'a>,
        pub first_kept_entry_id: Words<'a> = "firstKeptEntryId",
        pub first_kept_entry_index: Count = "firstKeptEntryIndex",
        pub tokens_before: Count = "tokensBefore",
        pub usage: Option<Usage>,
        /// Of Command Code: the model of a reply, beside whose message it stands, as its usage does.
        pub model: Option<&'a RawValue>,
        /// Of a compaction as it is printed (`--mode json`): what made it, and what an entry says of it.
        pub reason: Words<'a>,
        pub result: Option<&'a RawValue>,
        /// Of a compaction: what extensions keep with it, and what Letta Code counts.
        pub details: Option<&'a RawValue>,
        /// Of a compaction: an extension made it (`session_before_compact`).
        pub from_hook: Option<bool> = "fromHook",
        /// Of a change to what an earlier entry gives the model.
        pub target_id: Words<'a> = "targetId",
    }

    /// What Letta Code keeps with a compaction.
    pub struct Details<'a> { pub stats: Option<Stats<'a>> }

    pub struct Stats<'a> {
        pub trigger: Words<'a>,
        pub context_tokens_after: Count,
        pub context_window: Count,
    }

    /// OpenClaw's models, by the names of their providers. Keys and addresses stand there too, and are passed over.
    pub struct Models { providers: Option<HashMap<String, Provider>> }

    struct Provider { models: Option<Vec<Model>> }

    struct Model {
        id: Option<String>,
        context_window: Count = "contextWindow",
        context_tokens: Count = "contextTokens",
    }

    /// What Letta Code keeps with a message.
    pub struct Local<'a> { pub agent_id: Words<'a> }
}

impl Models {
    /// Is this `agents/<name>/agent/models.json`, two folders up from the sessions of the agent?
    pub fn are_in(source: &Source) -> bool {
        let folder = source.path.parent().and_then(Path::file_name);
        source.name() == MODELS && folder.is_some_and(|name| name == "agent") && source.outline().shows("providers")
    }

    /// Those of the agent that this session is of; none where the file is not there.
    pub fn of(source: &mut Source) -> Models {
        let path = source.path.parent().and_then(Path::parent).map(|home| home.join("agent").join(MODELS));
        path.and_then(|path| source.record_beside(&path, "windows of models beside the session that cannot be read", &mut String::new()))
            .unwrap_or_default()
    }

    /// The window by which the agent compacts with this model: a smaller `contextTokens` takes the place of the model's own (`resolveContextWindowInfo` of
    /// src/agents/context-window-guard.ts).
    pub fn window(&self, provider: &str, model: &str) -> Option<u64> {
        let offered = self.providers.as_ref()?.get(provider)?.models.iter().flatten();
        let windows =
            offered.filter(|offer| offer.id.as_deref() == Some(model)).flat_map(|offer| [offer.context_window, offer.context_tokens]);
        windows.filter_map(|count| count.known().ok().flatten()).filter(|window| *window > 0).min()
    }
}

impl Header<'_> {
    /// Another agent's header looks the same but for its `delegationDepth`.
    pub fn is_of_pi(&self) -> bool {
        let named = !self.id.is_empty() && !self.cwd.is_empty() && !self.timestamp.is_empty();
        &*self.kind == "session" && named && self.delegation_depth.is_none()
    }
}

impl Entry<'_> {
    /// A message as newer versions write it: with a parent, and a role of pi's own.
    pub fn is_linked_message(&self) -> bool {
        let role = self.message.as_ref().map_or("", |message| &*message.role);
        let spoken = matches!(role, "user" | "assistant" | "toolResult" | "bashExecution");
        &*self.kind == "message" && spoken && self.parent_id.is_some() && !self.id.is_empty() && !self.timestamp.is_empty()
    }
}

/// Decodes a parent: null is told apart from what is absent.
struct Parent;

impl<'de> DeserializeSeed<'de> for Parent {
    type Value = Option<Option<Cow<'de, str>>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let parent = Option::<Words<'de>>::deserialize(deserializer)?;
        Ok(Some(parent.map(|words| words.0)))
    }
}

wire! {
    /// What a message entry holds.
    pub struct Payload<'a> {
        /// Of Letta Code alone, as is what stands with it: another entry of the same message takes the place of this one.
        pub id: Words<'a>,
        pub metadata: Option<&'a RawValue>,
        /// Of Command Code alone.
        meta: Option<&'a RawValue>,
        pub role: Words<'a>,
        pub content: Content<'a>,
        pub api: Words<'a>,
        pub provider: Words<'a>,
        pub model: Words<'a>,
        pub usage: Option<Usage>,
        pub stop_reason: Words<'a> = "stopReason",
        /// What the provider said where it refused or failed.
        pub error_message: Words<'a> = "errorMessage",
        pub response_id: Words<'a> = "responseId",
        pub timestamp: Option<f64>,
        pub tool_call_id: Words<'a> = "toolCallId",
        pub tool_name: Words<'a> = "toolName",
        pub is_error: Option<bool> = "isError",
        pub summary: Words<'a>,
        /// Of instructions, since 0.86: texts by name behind the content, and definitions of tools that are new.
        pub sections: Option<Value>,
        pub tools_added: Option<&'a RawValue> = "toolsAdded",
        pub tools_removed: Option<&'a RawValue> = "toolsRemoved",
        command: Words<'a>,
        output: Words<'a>,
        exit_code: Option<i64> = "exitCode",
        cancelled: Option<bool>,
        pub exclude_from_context: Option<bool> = "excludeFromContext",
    }
}

wire! {
    /// What Command Code keeps with a message.
    struct Meta<'a> { message_id: Words<'a> = "messageId" }
}

impl Payload<'_> {
    /// Did Command Code write it?
    pub fn is_of_command_code(&self) -> bool {
        let meta = self.meta.and_then(|meta| serde_json::from_str::<Meta>(meta.get()).ok());
        meta.is_some_and(|meta| !meta.message_id.is_empty())
    }

    /// A command that the person ran, as the model sees it.
    pub fn command_as_text(&self) -> String {
        let command = &*self.command;
        let output = match &*self.output {
            "" => "(no output)".to_owned(),
            output => format!("```\n{output}\n```"),
        };
        let end = match self.exit_code {
            _ if self.cancelled == Some(true) => "\n\n(command cancelled)".to_owned(),
            Some(code) if code != 0 => format!("\n\nCommand exited with code {code}"),
            _ => String::new(),
        };
        format!("Ran `{command}`\n{output}{end}")
    }
}

/// The content of a message: a text, or blocks.
pub type Content<'a> = Blocks<'a, Piece<'a>>;

/// All texts of a content as one, a newline between two of them.
pub fn joined_text(content: &Content<'_>) -> String {
    content.joined(|piece| (&*piece.kind == "text").then_some(&*piece.text))
}

/// The text of a block; absent where it is something else.
pub fn text_of<'b>(block: &'b Block<'_, Piece<'_>>) -> Option<&'b str> {
    match block {
        Block::Text(text) => Some(text),
        Block::Object(piece) if &*piece.kind == "text" => Some(&piece.text),
        Block::Object(_) | Block::Other => None,
    }
}

wire! {
    /// One block of content.
    pub struct Piece<'a> {
        pub kind: Words<'a> = "type",
        pub text: Words<'a>,
        pub thinking: Words<'a>,
        pub thinking_signature: Words<'a> = "thinkingSignature",
        pub data: Words<'a>,
        pub id: Words<'a>,
        pub name: Words<'a>,
        pub arguments: Option<&'a RawValue> = "arguments" | "input",
        /// Of Command Code: the call that a result answers, what it says, and whether it is an error.
        pub tool_use_id: Words<'a>,
        pub content: Content<'a>,
        pub is_error: Option<bool>,
    }

    /// What the provider reported. `input` leaves out what went through the cache, but for Command Code's; `reasoning` is part of `output`.
    pub struct Usage {
        pub input: Count = "input" | "inputTokens",
        pub output: Count = "output" | "outputTokens",
        pub cache_read: Count = "cacheRead" | "cacheReadTokens",
        pub cache_write: Count = "cacheWrite" | "cacheWriteTokens",
        pub cache_write_1h: Count = "cacheWrite1h",
        pub reasoning: Count,
        pub cost: Option<Cost>,
        pub cost_usd: Dollars = "costUsd",
    }

    /// What the agent reckoned that the call cost, in dollars.
    pub struct Cost { pub total: Dollars }
}
