//! Meta's Muse Code: `~/.local/share/muse/sessions/<year>/<month>/<day>/<id>/session.jsonl`, one event a line.
//!
//! A reply is several events of one response: reasoning, text, requests for tools. Its usage comes with none of them, but before the
//! requests for tools and after the text. Sub-agents have a log of their own below the session's folder.

use crate::format::ground::count::{ABSURD, Absurd, Count};
use crate::format::ground::json::{fault, text_or_json, values};
use crate::format::ground::outline::Outline;
use crate::format::ground::source::{ReadError, Source};
use crate::format::ground::words::Words;
use crate::format::reader::{Claim, Reader};
use crate::format::usage::Reported;
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Sessions of Muse Code.
pub const READER: Reader =
    Reader { name: "muse", about: "Muse Code sessions (~/.local/share/muse/sessions/*/*/*/*/session.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    let own =
        |line: &Outline| line.has("schema_version") && line.has("stream.kind") && (line.has("payload_type") || line.has("retained_marker"));
    if source.head_text().lines().take(5).any(|line| own(&Outline::of(line))) { Claim::Yes } else { Claim::No }
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Record<'a> {
    id: Words<'a>,
    stream: Stream<'a>,
    recorded_at: Option<i64>,
    retained_marker: Words<'a>,
    payload_type: Words<'a>,
    payload: Option<Payload<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Stream<'a> {
    id: Words<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Payload<'a> {
    kind: Words<'a>,
    event: Option<&'a RawValue>,
    record: Option<&'a RawValue>,
}

/// An event of a run, with the fields of all kinds.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
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
    usage: Option<Tokens>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ToolCall<'a> {
    call_id: Words<'a>,
    name: Words<'a>,
    args: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Answer<'a> {
    tool_call_id: Words<'a>,
    text: Words<'a>,
}

/// What the file says about a session, and about how a tool ended.
#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Told<'a> {
    build: Build<'a>,
    provider_id: Words<'a>,
    call_id: Words<'a>,
    outcome: Outcome<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Build<'a> {
    semver: Words<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Outcome<'a> {
    kind: Words<'a>,
}

/// The input holds what was read from the cache, the output the reasoning.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Tokens {
    input_tokens: Count,
    output_tokens: Count,
    cache_read_tokens: Count,
    cached_tokens: Count,
    cache_write_tokens: Count,
    reasoning_tokens: Count,
}

impl Tokens {
    fn usage(&self) -> Result<Option<Usage>, Absurd> {
        Reported {
            input: self.input_tokens,
            cache_read: self.cache_read_tokens.or(self.cached_tokens),
            cache_write: self.cache_write_tokens,
            output: self.output_tokens,
            reasoning: self.reasoning_tokens,
            ..Reported::default()
        }
        .usage()
    }
}

/// Takes the reason for something that could not be used.
type Lose<'a> = &'a mut dyn FnMut(&str);

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let transcript = Transcript { id: source.name(), parent: parent(&source.path), agent: READER.name.to_owned(), ..Transcript::default() };
    let mut session =
        Session { scale, transcript, tools: HashMap::new(), failed: HashSet::new(), reply: None, waiting: None, model: String::new() };
    source.each_line(|source, line| {
        for value in values::<Record>(&line.text) {
            match value {
                Ok(record) => session.record(&record, &mut |reason| source.lose(line.number, reason)),
                Err(error) => source.lose(line.number, fault(&error, line.last_unterminated)),
            }
        }
    })?;
    session.transcript.side_calls.extend(session.waiting.filter(|call| call.usage.is_some()));
    if session.transcript.messages.iter().all(|message| message.role == Role::System) {
        source.lose(0, "session without messages");
    } else {
        hand_over(session.transcript);
    }
    Ok(())
}

/// Sub-agents lie in `<session>/subagent/<id>/`.
fn parent(path: &Path) -> Option<String> {
    let folder = path.parent()?.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "subagent"))?;
    Some(folder.parent()?.file_name()?.to_string_lossy().into_owned())
}

struct Session<'s> {
    scale: &'s dyn Scale,
    transcript: Transcript,
    tools: HashMap<String, String>,
    /// The calls of tools that did not end well.
    failed: HashSet<String>,
    /// The response that is being given, and its message.
    reply: Option<(String, usize)>,
    /// Usage whose reply has not come yet.
    waiting: Option<Call>,
    model: String,
}

impl Session<'_> {
    fn record(&mut self, record: &Record<'_>, lose: Lose<'_>) {
        if let Some(id) = record.stream.id.some_id() {
            self.transcript.id = id.to_owned();
        }
        if !record.retained_marker.is_empty() {
            return;
        }
        let Some(payload) = &record.payload else { return lose("record without a payload") };
        let told = || payload.record.and_then(|told| serde_json::from_str::<Told>(told.get()).ok());
        match &*record.payload_type {
            "runtime.session" if &*payload.kind == "run" => match payload.event.map(|event| serde_json::from_str(event.get())) {
                Some(Ok(event)) => self.event(record, &event, lose),
                _ => lose("record of an unexpected shape"),
            },
            "runtime.session.metadata" => match told() {
                Some(told) => {
                    self.transcript.version = told.build.semver.to_string();
                    self.transcript.host = told.provider_id.some_id().map(str::to_owned);
                }
                None => lose("record of an unexpected shape"),
            },
            "tool_batch.effect.terminal" => match told() {
                Some(told) if &*told.outcome.kind != "completed" => {
                    self.failed.insert(told.call_id.to_string());
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
                self.list(record, Role::User, vec![Part::Text(self.scale.weigh(&event.prompt))]);
            }
            "model_request_configured" => self.instructions(record, &event.base_instructions),
            "reasoning_committed" => {
                let sealed_bytes = u32::try_from(event.encrypted_content.len()).unwrap_or(u32::MAX);
                self.reply(record, event, vec![Part::Thinking { text: self.scale.weigh(&event.text), sealed_bytes }]);
            }
            "assistant_message_committed" => self.reply(record, event, vec![Part::Text(self.scale.weigh(&event.text))]),
            "assistant_tool_calls_committed" => {
                let part = |call: &ToolCall<'_>| Part::ToolCall {
                    id: call.call_id.to_string(),
                    name: call.name.to_string(),
                    arguments: self.scale.weigh(&text_or_json(call.args)),
                };
                let parts = event.tool_calls.iter().map(part).collect();
                let named = event.tool_calls.iter().map(|call| (call.call_id.to_string(), call.name.to_string()));
                self.tools.extend(named);
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
        self.transcript.messages.push(Message { id: record.id.id().to_owned(), time, ..Message::new(role, parts) });
    }

    fn instructions(&mut self, record: &Record<'_>, text: &str) {
        let first = self.transcript.messages.iter().all(|message| message.role != Role::System);
        if first && !text.is_empty() {
            self.list(record, Role::System, vec![Part::Text(self.scale.weigh(text))]);
        }
    }

    fn reply(&mut self, record: &Record<'_>, event: &Event<'_>, parts: Vec<Part>) {
        if let Some((response, at)) = &self.reply
            && *response == *event.response_id
            && let Some(message) = self.transcript.messages.get_mut(*at)
        {
            return message.parts.extend(parts);
        }
        self.reply = Some((event.response_id.to_string(), self.transcript.messages.len()));
        self.list(record, Role::Assistant, parts);
        let call = self.waiting.take();
        if let Some(message) = self.transcript.messages.last_mut() {
            message.call = call;
        }
    }

    fn completed(&mut self, record: &Record<'_>, event: &Event<'_>, lose: Lose<'_>) {
        let usage = event.usage.as_ref().map_or(Ok(None), Tokens::usage).unwrap_or_else(|_| {
            lose(ABSURD);
            None
        });
        let unchained = !self.model.is_empty() && self.model != *event.model;
        self.model = event.model.to_string();
        let call = Call { id: record.id.id().to_owned(), model: self.model.clone(), usage, unchained };
        let open = self.reply.as_ref().and_then(|(_, at)| self.transcript.messages.get_mut(*at));
        match open.filter(|message| message.call.is_none()) {
            Some(message) => message.call = Some(call),
            None => self.transcript.side_calls.extend(self.waiting.replace(call).filter(|call| call.usage.is_some())),
        }
    }

    fn results(&mut self, record: &Record<'_>, event: &Event<'_>) {
        self.reply = None;
        for answer in &event.results {
            let part = Part::ToolResult {
                call_id: answer.tool_call_id.to_string(),
                name: self.tools.get(&*answer.tool_call_id).cloned().unwrap_or_default(),
                text: self.scale.weigh_result(&answer.text),
                error: self.failed.contains(&*answer.tool_call_id),
            };
            self.list(record, Role::Tool, vec![part]);
        }
    }
}
