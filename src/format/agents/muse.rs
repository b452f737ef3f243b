//! Meta's Muse Code: `~/.local/share/muse/sessions/<year>/<month>/<day>/<id>/session.jsonl`, one event a line.
//!
//! A reply is several events of one response: reasoning, text, requests for tools. Its usage comes with none of them, but before the
//! requests for tools and after the text. Sub-agents have a log of their own below the session's folder.

use crate::format::ground::{Absurd, Figures, Lose, ReadError, Source, Words, at, sound, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::format::usage::Reported;
use crate::format::wire::held;
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript, Usage};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::path::Path;

/// Sessions of Muse Code.
pub const READER: Reader =
    Reader { name: "muse", about: "Muse Code sessions (~/.local/share/muse/sessions/*/*/*/*/session.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    Claim::when(source.has_line(5, &["schema_version stream.kind payload_type|retained_marker"]))
}

wire! {
    struct Record<'a> {
        id: Words<'a>,
        stream: held::Id<'a>,
        recorded_at: Option<i64>,
        retained_marker: Words<'a>,
        payload_type: Words<'a>,
        payload: Option<Payload<'a>>,
    }

    struct Payload<'a> { kind: Words<'a>, event: Option<&'a RawValue>, record: Option<&'a RawValue> }

    /// An event of a run, with the fields of all kinds.
    struct Event<'a> {
        kind: Words<'a>,
        prompt: Words<'a>,
        base_instructions: Words<'a>,
        response_id: Words<'a>,
        text: Words<'a>,
        encrypted_content: Words<'a>,
        tool_calls: Vec<ToolCall<'a>>,
        results: Vec<Answer<'a>>,
        model: Words<'a>,
        usage: Option<Figures>,
    }

    struct ToolCall<'a> { call_id: Words<'a>, name: Words<'a>, args: Option<&'a RawValue> }

    struct Answer<'a> { tool_call_id: Words<'a>, text: Words<'a> }
}

/// The input holds what was read from the cache, the output the reasoning.
fn usage(tokens: &Figures) -> Result<Option<Usage>, Absurd> {
    Reported {
        input: tokens.count("input_tokens"),
        cache_read: tokens.count("cache_read_tokens").or(tokens.count("cached_tokens")),
        cache_write: tokens.count("cache_write_tokens"),
        output: tokens.count("output_tokens"),
        reasoning: tokens.count("reasoning_tokens"),
        ..Reported::default()
    }
    .usage()
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let made = Recorder::new(READER.name, source.name(), scale);
    let mut session = Session { made, failed: HashSet::new(), reply: None, waiting: None };
    session.made.transcript.parent = parent(&source.path);
    source.each_line(|source, line| source.values(line, |record: Record, lose| session.record(&record, lose)))?;
    let Session { mut made, waiting, .. } = session;
    made.transcript.side_calls.extend(waiting.filter(|call| call.usage.is_some()));
    made.end_spoken(source, hand_over);
    Ok(())
}

/// Sub-agents lie in `<session>/subagent/<id>/`.
fn parent(path: &Path) -> Option<String> {
    let folder = path.parent()?.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "subagent"))?;
    Some(folder.parent()?.file_name()?.to_string_lossy().into_owned())
}

struct Session<'s> {
    made: Recorder<'s>,
    /// The calls of tools that did not end well.
    failed: HashSet<String>,
    /// The response that is being given, and its message.
    reply: Option<(String, usize)>,
    /// Usage whose reply has not come yet.
    waiting: Option<Call>,
}

impl Session<'_> {
    fn record(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        self.made.identify(record.stream.id.id());
        if !record.retained_marker.is_empty() {
            return;
        }
        let Some(payload) = &record.payload else { return lose("record without a payload") };
        let told = || payload.record.and_then(|told| serde_json::from_str::<Value>(told.get()).ok());
        match &*record.payload_type {
            "runtime.session" if &*payload.kind == "run" => match payload.event.map(|event| serde_json::from_str(event.get())) {
                Some(Ok(event)) => self.event(record, &event, lose),
                _ => lose("record of an unexpected shape"),
            },
            "runtime.session.metadata" => match told() {
                Some(told) => {
                    self.made.transcript.version = at(&told, "/build/semver").to_string();
                    self.made.transcript.host = at(&told, "/provider_id").some_id().map(str::to_owned);
                }
                None => lose("record of an unexpected shape"),
            },
            "tool_batch.effect.terminal" => match told() {
                Some(told) if &*at(&told, "/outcome/kind") != "completed" => {
                    self.failed.insert(at(&told, "/call_id").to_string());
                }
                Some(_) => {}
                None => lose("record of an unexpected shape"),
            },
            kind if ["runtime.", "session.", "run.", "reminder.", "tool_batch."].iter().any(|start| kind.starts_with(start)) => {}
            _ => lose("unknown record type"),
        }
    }

    fn event(&mut self, record: &Record<'_>, event: &Event<'_>, lose: Lose<'_>) {
        match &*event.kind {
            "started" => {
                self.reply = None;
                self.list(record, Role::User, vec![self.made.text(&event.prompt)]);
            }
            "model_request_configured" => self.instructions(record, &event.base_instructions),
            "reasoning_committed" => {
                let thought = self.made.thinking(&event.text, event.encrypted_content.len());
                self.reply(record, event, vec![thought]);
            }
            "assistant_message_committed" => self.reply(record, event, vec![self.made.text(&event.text)]),
            "assistant_tool_calls_committed" => {
                let parts = event.tool_calls.iter().map(|call| self.made.tool_call(&call.call_id, &call.name, call.args)).collect();
                self.reply(record, event, parts);
            }
            "tool_result_batch_committed" => self.results(record, event),
            "model_completed" => self.completed(record, event, lose),
            "terminal" => self.reply = None,
            // Attributions repeat the usage of a call.
            "goal_usage_attribution" | "model_response_created" | "provider_request_options_configured" => {}
            "model_input_trace_recorded" | "task_stream_linked" | "resource_usage_sampled" => {}
            _ => lose("unknown record type"),
        }
    }

    fn list(&mut self, record: &Record<'_>, role: Role, parts: Vec<Part>) {
        // Microseconds since 1970.
        let time = record.recorded_at.map(|time| time / 1000).filter(|time| *time > 0);
        self.made.push(Message { id: record.id.id().to_owned(), time, ..Message::new(role, parts) });
    }

    fn instructions(&mut self, record: &Record<'_>, text: &str) {
        let first = self.made.transcript.messages.iter().all(|message| message.role != Role::System);
        if first && !text.is_empty() {
            self.list(record, Role::System, vec![self.made.text(text)]);
        }
    }

    fn reply(&mut self, record: &Record<'_>, event: &Event<'_>, parts: Vec<Part>) {
        if let Some((response, at)) = &self.reply
            && *response == *event.response_id
            && let Some(message) = self.made.transcript.messages.get_mut(*at)
        {
            return message.parts.extend(parts);
        }
        self.reply = Some((event.response_id.to_string(), self.made.next()));
        self.list(record, Role::Assistant, parts);
        let call = self.waiting.take();
        if let Some(message) = self.made.transcript.messages.last_mut() {
            message.call = call.map(Box::new);
        }
    }

    fn completed(&mut self, record: &Record<'_>, event: &Event<'_>, lose: Lose<'_>) {
        let usage = sound(event.usage.as_ref().map_or(Ok(None), usage), lose);
        let call = self.made.call(record.id.id(), &event.model, usage);
        let open = self.reply.as_ref().and_then(|(_, at)| self.made.transcript.messages.get_mut(*at));
        match open.filter(|message| message.call.is_none()) {
            Some(message) => message.call = Some(Box::new(call)),
            None => self.made.transcript.side_calls.extend(self.waiting.replace(call).filter(|call| call.usage.is_some())),
        }
    }

    fn results(&mut self, record: &Record<'_>, event: &Event<'_>) {
        self.reply = None;
        for answer in &event.results {
            let part = self.made.result(&answer.tool_call_id, &answer.text, self.failed.contains(&*answer.tool_call_id));
            self.list(record, Role::Tool, vec![part]);
        }
    }
}
