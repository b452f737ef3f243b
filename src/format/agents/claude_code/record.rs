//! The fields of a line that matter here. All else is passed over without being decoded.

use crate::format::ground::{Count, Words, wire};
use crate::format::usage::{Cached, Reported};
use crate::format::wire::anthropic::{Content, UsageRecord};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The model of messages that no model wrote.
pub(super) const SYNTHETIC: &str = "<synthetic>";

wire! {
    /// A line of the log, of whatever type.
    pub(super) struct Record<'a> {
        pub kind: Words<'a> = "type",
        pub subtype: Words<'a>,
        pub uuid: Words<'a>,
        pub parent_uuid: Words<'a> = "parentUuid",
        pub logical_parent_uuid: Words<'a> = "logicalParentUuid",
        forked_from: Option<&'a RawValue> = "forkedFrom",
        session_id: Words<'a> = "sessionId",
        agent_id: Words<'a> = "agentId",
        pub timestamp: Words<'a>,
        version: Words<'a>,
        pub cwd: Words<'a>,
        pub request_id: Words<'a> = "requestId" | "request_id",
        pub leaf_uuid: Words<'a> = "leafUuid",
        is_sidechain: Option<bool> = "isSidechain",
        is_meta: Option<bool> = "isMeta",
        pub is_compact_summary: Option<bool> = "isCompactSummary",
        pub is_visible_in_transcript_only: Option<bool> = "isVisibleInTranscriptOnly",
        pub is_api_error_message: Option<bool> = "isApiErrorMessage",
        pub origin: Option<&'a RawValue>,
        pub message: Option<Wire<'a>>,
        pub operation: Words<'a>,
        pub content: Option<&'a RawValue>,
        pub attachment: Option<&'a RawValue>,
        pub data: Option<&'a RawValue>,
        pub replacements: Option<&'a RawValue>,
        compact_metadata: Option<&'a RawValue> = "compactMetadata",
        pub microcompact_metadata: Option<&'a RawValue> = "microcompactMetadata",
        // The same things in what the program prints (`--output-format stream-json`). Logs have some of these names beside their own.
        streamed_session_id: Words<'a> = "session_id",
        parent_tool_use_id: Words<'a>,
        streamed_version: Words<'a> = "claude_code_version",
        streamed_compact_metadata: Option<&'a RawValue> = "compact_metadata",
        is_synthetic: Option<bool> = "isSynthetic",
        /// Of what comes last: the sum of the run, and by model that of all requests of the program.
        pub usage: Option<&'a RawValue>,
        pub model_usage: Option<&'a RawValue> = "modelUsage",
    }

    /// The message as it was sent or received.
    pub(super) struct Wire<'a> {
        pub id: Words<'a>,
        pub model: Words<'a>,
        pub stop_reason: Words<'a>,
        pub content: Content<'a>,
        pub usage: Option<UsageRecord>,
    }

    /// What stands for a result in the context from its first request on.
    pub(super) struct Replacement<'a> { pub tool_use_id: Words<'a> = "toolUseId", pub replacement: Words<'a> }

    /// The record that a fork has copied.
    struct ForkedFrom<'a> { message_uuid: Words<'a> = "messageUuid" }

    /// An object of which only the kind matters: the origin of a prompt.
    pub(super) struct Kind<'a> { pub kind: Words<'a> = "type" | "kind" }

    /// What a hook's record says about the hook.
    struct Hook<'a> { hook_name: Words<'a> = "hookName" }

    /// What was sent to a model in all requests together.
    pub(super) struct ModelUsage {
        input: Count = "inputTokens",
        cache_read: Count = "cacheReadInputTokens",
        cache_write: Count = "cacheCreationInputTokens",
    }

    /// What a boundary says about the compaction.
    pub(super) struct CompactMetadata<'a> {
        pub trigger: Words<'a>,
        pub pre_tokens: Count = "preTokens" | "pre_tokens",
        pub post_tokens: Count = "postTokens" | "post_tokens",
        pub duration_ms: Count = "durationMs" | "duration_ms",
        pub preserved_segment: Option<PreservedSegment<'a>> = "preservedSegment",
        pub preserved_messages: Option<PreservedMessages<'a>> = "preservedMessages",
        /// The results that a pruning cleared, by their calls; some versions note prunings that cleared none.
        pub compacted_tool_ids: Vec<Words<'a>> = "compactedToolIds",
        /// Attachments that it cleared, by their records.
        pub cleared_attachments: Vec<Words<'a>> = "clearedAttachmentUUIDs",
    }

    /// The stretch of old messages that stays.
    pub(super) struct PreservedSegment<'a> { pub head_uuid: Words<'a> = "headUuid" }

    /// The old messages that stay.
    pub(super) struct PreservedMessages<'a> { pub uuids: Vec<Words<'a>> }
}

impl Wire<'_> {
    /// The model, with the tier that the call is billed by.
    pub fn billed_model(&self) -> String {
        self.usage.as_ref().map_or_else(|| self.model.to_string(), |usage| usage.billed(&self.model))
    }

    /// The host other than Anthropic's own that wrote the reply: both mark the ids of their messages.
    pub fn host(&self) -> Option<&'static str> {
        let marks = [("msg_bdrk_", "amazon-bedrock"), ("msg_vrtx_", "vertexai")];
        marks.into_iter().find_map(|(mark, host)| self.id.starts_with(mark).then_some(host))
    }
}

impl Record<'_> {
    /// The prompt tokens of all requests that the program made, whatever for; 0 where the record does not say.
    pub fn sent_in_all(&self) -> u64 {
        let models = self.model_usage.and_then(|usage| serde_json::from_str::<BTreeMap<String, ModelUsage>>(usage.get()).ok());
        let prompt = |&ModelUsage { input, cache_read, cache_write }: &ModelUsage| {
            let reported = Reported { input, cache_read, cache_write, cached: Cached::Beside, ..Reported::default() };
            reported.usage().ok().flatten().map_or(0, |usage| usage.prompt)
        };
        models.iter().flatten().map(|(_, used)| prompt(used)).sum()
    }

    /// The parent's id, across a compaction's boundary too.
    pub fn parent(&self) -> &str {
        self.parent_uuid.some_id().unwrap_or(self.logical_parent_uuid.id())
    }

    /// The id that the record was first written under, empty where it has none: `fork_session` of the Agent SDK gives each line that it copies a new one, and
    /// notes the former (`_internal/session_mutations.py`). `/branch` notes it too, and keeps it.
    pub fn first_id(&self) -> String {
        let copied = self.forked_from.and_then(|raw| serde_json::from_str::<ForkedFrom<'_>>(raw.get()).ok());
        let former = copied.as_ref().and_then(|copied| copied.message_uuid.some_id());
        former.unwrap_or(self.uuid.id()).to_owned()
    }

    /// Was it printed, and not written into a log?
    pub fn is_streamed(&self) -> bool {
        self.session_id.is_empty() && !self.streamed_session_id.is_empty()
    }

    /// The session's id; empty where there is none. What is sent to the program may call its session so before it has an id.
    pub fn session(&self) -> &str {
        self.session_id.some_id().or(self.streamed_session_id.some_id().filter(|id| *id != "default")).unwrap_or_default()
    }

    /// The sub-agent's id: its own, or that of the call that started it; empty where there is none.
    pub fn agent(&self) -> &str {
        self.agent_id.some_id().unwrap_or(if self.is_streamed() { self.parent_tool_use_id.id() } else { "" })
    }

    /// The program's version; empty where the record does not say.
    pub fn program(&self) -> &str {
        if self.version.is_empty() { &self.streamed_version } else { &self.version }
    }

    /// The metadata of a compaction's boundary.
    pub fn boundary(&self) -> Option<&RawValue> {
        self.compact_metadata.or(self.streamed_compact_metadata)
    }

    /// Did the program put it in by itself?
    pub fn is_injected(&self) -> bool {
        self.is_meta == Some(true) || self.is_synthetic == Some(true)
    }

    /// Does it belong to a sub-agent?
    pub fn is_side(&self) -> bool {
        self.is_sidechain == Some(true) || (self.is_streamed() && !self.parent_tool_use_id.is_empty())
    }

    /// Is it of a hook that ran because the conversation was emptied? Accepting a plan empties it as `/clear` does.
    pub fn is_of_clearing(&self) -> bool {
        let hook = self.data.or(self.attachment).and_then(|raw| serde_json::from_str::<Hook<'_>>(raw.get()).ok());
        hook.is_some_and(|hook| &*hook.hook_name == "SessionStart:clear")
    }

    /// Is it the summary that a compaction left?
    pub fn is_summary(&self) -> bool {
        // Some versions give the summary a record type of its own. A record of that type with a leaf is the session's title.
        self.is_compact_summary == Some(true) || (&*self.kind == "summary" && self.message.is_some() && self.leaf_uuid.is_empty())
    }
}
