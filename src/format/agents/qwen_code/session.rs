//! One conversation, put together record by record.

use super::record::{Bootstrap, Compression, Content, ParentSession, Record, Telemetry, usage};
use crate::format::ground::{ABSURD, Branches, Count, Lose, compact, millis, sound};
use crate::format::recorder::Recorder;
use crate::format::wire::google::{piece, text_of};
use crate::transcript::{Call, Compaction, CompactionKind, Message, Part, Role, Scale, Transcript, parts_where, project};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

/// The agent's name in transcripts and reports.
pub const AGENT: &str = "qwen-code";

pub struct Session<'s> {
    made: Recorder<'s>,
    branches: Branches,
    /// The newest message with these parts, by the hash of their JSON: a compression repeats what it keeps as it was.
    by_parts: HashMap<u64, usize>,
    /// Requests that the statistics heard of.
    reported: Vec<Call>,
}

impl<'s> Session<'s> {
    pub fn new(scale: &'s dyn Scale, file: &str) -> Session<'s> {
        let made = Recorder::new(AGENT, file.to_owned(), scale);
        Session { made, branches: Branches::default(), by_parts: HashMap::new(), reported: Vec::new() }
    }

    pub fn record(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        if !record.uuid.id().is_empty() && self.branches.place_of(record.uuid.id()).is_some() {
            return if self.goes_on(record) { self.join(record, lose) } else { lose("record that is in the file already") };
        }
        self.describe(record);
        // A first record that names one before it goes on from another file.
        let parent = record.parent_uuid.id();
        let parent = if parent.is_empty() { None } else { self.branches.place_of(parent).or(self.branches.leaf()) };
        self.made.transcript.begins_in_middle |= parent.is_none() && !record.parent_uuid.id().is_empty();
        self.made.chain.broken |= self.branches.enter(record.uuid.id(), parent, &mut self.made.transcript.messages, lose);
        let time = millis(&record.timestamp);
        match &*record.kind {
            "user" => self.user(record, time, lose),
            "assistant" => self.assistant(record, time, lose),
            "tool_result" => self.tool_result(record, time, lose),
            "system" => self.system(record, time, lose),
            _ => lose("unknown record type"),
        }
    }

    /// Is a record with a known id more of the reply that came last, whose usage is still to come?
    fn goes_on(&self, record: &Record<'_>) -> bool {
        let written = record.message.as_ref().and_then(hash).and_then(|hash| self.by_parts.get(&hash).copied());
        let last = self.made.transcript.messages.last().filter(|last| last.id == record.uuid.id());
        let waits = last.and_then(|last| last.call.as_ref()).is_some_and(|call| call.usage.is_none());
        &*record.kind == "assistant" && waits && written.is_none_or(|at| at + 1 != self.made.next())
    }

    fn join(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        let mut results = Vec::new();
        let mut parts = record.message.as_ref().map(|content| self.parts(content, &mut results, lose)).unwrap_or_default();
        parts.append(&mut results);
        self.made.tools.note_all(&parts);
        let usage = record.usage_metadata.as_ref().and_then(|tokens| sound(usage(tokens), lose));
        let Some(last) = self.made.transcript.messages.last_mut() else { return };
        last.parts.extend(parts);
        if let Some(call) = &mut last.call {
            call.usage = usage;
            if !record.model.is_empty() {
                call.model = record.model.to_string();
            }
        }
    }

    fn describe(&mut self, record: &Record<'_>) {
        if let Some(id) = record.session_id.some_id() {
            match record.agent_id.some_id() {
                Some(agent) => {
                    self.made.transcript.id = format!("{id}/{agent}");
                    self.made.transcript.parent = Some(id.to_owned());
                }
                None => self.made.transcript.id = id.to_owned(),
            }
        }
        if !record.version.is_empty() {
            self.made.transcript.version = record.version.to_string();
        }
        if self.made.transcript.project.is_none() {
            self.made.transcript.project = project(&record.cwd);
        }
        if let Count::Sound(window) = record.context_window_size {
            self.made.windows.name(&record.model, window);
        }
    }

    /// The parts of a content; a tool's answers to `results`.
    fn parts(&self, content: &Content<'_>, results: &mut Vec<Part>, lose: Lose<'_>) -> Vec<Part> {
        let mut parts = Vec::new();
        for block in &content.pieces().0 {
            piece(block, self.made.scale, &mut parts, results, lose);
        }
        parts
    }

    fn give(&mut self, message: Message, content: Option<&Content<'_>>) {
        if let Some(hash) = content.and_then(hash) {
            self.by_parts.insert(hash, self.made.next());
        }
        self.branches.list(message, &mut self.made.transcript.messages);
    }

    fn user(&mut self, record: &Record<'_>, time: Option<i64>, lose: Lose<'_>) {
        let Some(content) = &record.message else { return lose("record without a message") };
        let mut results = Vec::new();
        let parts = self.parts(content, &mut results, lose);
        self.results(results, record, time);
        if !parts.is_empty() {
            // What the agent says in the person's name has a subtype; what a person says during a turn has one too.
            let synthetic = !matches!(&*record.subtype, "" | "mid_turn_user_message" | "realtime_message" | "agent_launch_prompt");
            let id = record.uuid.id().to_owned();
            self.give(Message { id, time, synthetic, ..Message::new(Role::User, parts) }, Some(content));
        }
    }

    fn assistant(&mut self, record: &Record<'_>, time: Option<i64>, lose: Lose<'_>) {
        let mut parts = Vec::new();
        if let Some(content) = &record.message {
            let mut results = Vec::new();
            parts = self.parts(content, &mut results, lose);
            parts.append(&mut results);
        }
        self.made.tools.note_all(&parts);
        let usage = record.usage_metadata.as_ref().and_then(|tokens| sound(usage(tokens), lose));
        // A reply without words and without usage is what a request that failed leaves behind.
        let called = usage.is_some() || !parts.is_empty();
        let call = called.then(|| {
            let model = record.model.to_string();
            let unchained = self.made.chain.link(&model);
            Call { id: record.uuid.id().to_owned(), model, usage, unchained, ..Call::default() }
        });
        self.made.chain.broken |= call.is_none();
        if call.is_some() {
            let id = record.uuid.id().to_owned();
            self.give(Message { id, time, call: call.map(Box::new), ..Message::new(Role::Assistant, parts) }, record.message.as_ref());
        }
    }

    fn tool_result(&mut self, record: &Record<'_>, time: Option<i64>, lose: Lose<'_>) {
        let Some(content) = &record.message else { return lose("record without a message") };
        let mut results = Vec::new();
        let beside = self.parts(content, &mut results, lose);
        results.extend(beside);
        self.results(results, record, time);
    }

    fn results(&mut self, mut parts: Vec<Part>, record: &Record<'_>, time: Option<i64>) {
        if parts.is_empty() {
            return;
        }
        let failed = record.tool_call_result.as_ref().is_some_and(|result| matches!(&*result.status, "error" | "cancelled"));
        for part in &mut parts {
            if let Part::ToolResult { call_id, name, error, .. } = part {
                *error |= failed;
                if name.is_empty() {
                    name.push_str(self.made.tools.name(call_id).unwrap_or_default());
                }
            }
        }
        let id = record.uuid.id().to_owned();
        self.give(Message { id, time, ..Message::new(Role::Tool, parts) }, record.message.as_ref());
    }

    fn system(&mut self, record: &Record<'_>, time: Option<i64>, lose: Lose<'_>) {
        match &*record.subtype {
            "chat_compression" => match payload::<Compression>(record.system_payload) {
                Some(compression) => self.compression(&compression, time),
                None => lose("compression of an unexpected shape"),
            },
            "agent_bootstrap" => {
                for content in payload::<Bootstrap>(record.system_payload).unwrap_or_default().history {
                    self.inherited(&content, time, lose);
                }
            }
            "parent_session" => {
                let parent = payload::<ParentSession>(record.system_payload).unwrap_or_default();
                self.made.transcript.parent = parent.parent_session_id.some_id().map(str::to_owned);
            }
            "ui_telemetry" => self.telemetry(record.system_payload, lose),
            // What the screen and the program keep for themselves.
            "" | "slash_command" | "at_command" | "attribution_snapshot" | "custom_title" | "session_source" | "session_model" => {}
            "session_notes" | "session_execution_engine" | "session_approval_mode" | "omni_recall" | "rewind" | "turn_result" => {}
            "agent_retry" | "agent_session_ready" | "file_history_snapshot" | "user_text_elements" | "background_task_completed" => {}
            "session_artifact_event" | "session_artifact_snapshot" | "session_sources_snapshot" | "branch_checkpoint" => {}
            "goal_state" | "goal_runtime" | "goal_turn_end" | "notification" => {}
            _ => lose("unknown record type"),
        }
    }

    /// A message that a sub-agent takes over from its parent: it stands in the context, but its request was the parent's.
    fn inherited(&mut self, content: &Content<'_>, time: Option<i64>, lose: Lose<'_>) {
        let mut results = Vec::new();
        let parts = self.parts(content, &mut results, lose);
        if !results.is_empty() {
            self.give(Message { time, ..Message::new(Role::Tool, results) }, None);
        }
        if !parts.is_empty() {
            let role = if &*content.role == "model" { Role::Assistant } else { Role::User };
            self.give(Message { time, synthetic: role == Role::User, ..Message::new(role, parts) }, Some(content));
        }
    }

    fn compression(&mut self, compression: &Compression<'_>, time: Option<i64>) {
        let before = self.made.next();
        let known = |content: &Content<'_>| hash(content).and_then(|hash| self.by_parts.get(&hash).copied());
        let kept_from = compression.compressed_history.iter().filter_map(known).min();
        let new = compression.compressed_history.iter().find(|content| known(content).is_none());
        let pruned = kept_from == Some(0);
        let stays: HashSet<usize> = compression.compressed_history.iter().filter_map(known).collect();
        let taken = if pruned {
            parts_where(&self.made.transcript.messages, |_, part| matches!(part, Part::ToolResult { .. }))
        } else {
            Vec::new()
        };
        let tokens = |count: Count| count.known().ok().flatten().filter(|tokens| *tokens > 0);
        self.made.cut(Compaction {
            // A compression that only clears old results keeps the first message, and writes no summary.
            kind: if pruned { CompactionKind::Prune } else { CompactionKind::Compact },
            tokens_before: tokens(compression.info.original_token_count),
            tokens_after: tokens(compression.info.new_token_count),
            summary: new.filter(|_| !pruned).and_then(|content| self.made.scale.weigh_summary(&text_of(&content.pieces()))),
            kept_from: if pruned { None } else { Some(kept_from.unwrap_or(before)) },
            taken: taken.into_iter().filter(|(message, _)| !stays.contains(message)).collect(),
            time,
            ..Compaction::default()
        });
    }

    fn telemetry(&mut self, raw: Option<&RawValue>, lose: Lose<'_>) {
        let Some(Telemetry { ui_event: event }) = payload(raw) else { return };
        if !event.name.ends_with("api_response") {
            return;
        }
        match usage(&event.tokens()) {
            Ok(Some(usage)) => {
                let id = event.response_id.some_id().unwrap_or_default().to_owned();
                self.reported.push(Call { id, model: event.model.to_string(), usage: Some(usage), unchained: true, ..Call::default() });
            }
            Ok(None) => {}
            Err(_) => lose(ABSURD),
        }
    }

    /// The session; `None` where nothing was said.
    pub fn finish(mut self) -> Option<Transcript> {
        // A report of a reply's own request says nothing new; one that no reply explains was made on the side.
        for reply in self.made.transcript.messages.iter().filter_map(|message| message.call.as_ref()?.usage) {
            let same = |call: &Call| call.usage.is_some_and(|usage| (usage.prompt, usage.output) == (reply.prompt, reply.output));
            if let Some(index) = self.reported.iter().position(same) {
                self.reported.remove(index);
            }
        }
        self.made.transcript.side_calls = self.reported;
        self.made.finish()
    }
}

fn payload<'a, T: serde::Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
}

fn hash(content: &Content<'_>) -> Option<u64> {
    content.parts.map(|parts| xxh3_64(compact(parts.get()).as_bytes()))
}
