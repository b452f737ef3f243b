//! DeepSeek Harness: one event a line, a header first that looks like pi's but for its `createdAt`. Its `delegationDepth` may be absent.
//!
//! The log shows everything that a request holds: the system prompt and the tools in `request/header`. Later changes of them
//! (`request/header-delta`, a second header) are not listed as messages: the call after one is marked as unchained.

use crate::format::ground::{Count, Figures, Lose, ReadError, Source, Words, image, sound, text_or_json, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::{Recorder, definitions};
use crate::format::usage::{Cached, Reported};
use crate::format::wire::blocks::{Block, Blocks};
use crate::format::wire::held;
use crate::transcript::{Call, Compaction, Message, Messages, Part, Role, Scale, Transcript, Trust, Usage};
use serde_json::value::RawValue;

/// Sessions of DeepSeek Harness.
pub const READER: Reader = Reader { name: "deepseek-harness", about: "DeepSeek Harness sessions (*.session.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    Claim::when(outline.shows("type=session delegationDepth") || outline.shows("type=session createdAt version id !timestamp"))
}

wire! {
    struct Event<'a> {
        kind: Words<'a> = "type",
        seq: Option<i64>,
        time: Option<i64>,
        data: Option<&'a RawValue>,
        // The header's own.
        id: Words<'a>,
        version: Words<'a>,
        cwd: Words<'a>,
        parent_session: Words<'a> = "parentSession",
        origin: Words<'a>,
        /// Absent in older versions, and zero of a session that a person began.
        delegation_depth: Count = "delegationDepth",
    }

    struct Data<'a> {
        header: Option<Header<'a>>,
        context_window: Count = "contextWindow",
        content: Blocks<'a, Piece<'a>>,
        /// Newer versions wrap the content into a message.
        message: Option<Wrapped<'a>>,
        source: Option<Origin<'a>>,
        call_id: Words<'a> = "callId",
        is_error: Option<bool> = "isError",
        usage: Option<Figures>,
        model: Words<'a>,
        compaction_id: Words<'a> = "compactionId",
        summary: Blocks<'a, Piece<'a>>,
        shadowed_range: Option<Range> = "shadowedRange",
    }

    struct Header<'a> { config: Config<'a>, system: Option<&'a RawValue>, tools: Option<&'a RawValue> }

    struct Config<'a> { model: Words<'a> }

    struct Wrapped<'a> { id: Words<'a>, content: Blocks<'a, Piece<'a>>, source: Option<Origin<'a>> }

    /// Who put the message in.
    struct Origin<'a> { kind: Words<'a>, model: Words<'a>, compaction_id: Words<'a> = "compactionId" }

    /// The events that a summary stands for, by their numbers.
    struct Range { end: i64 }

    struct Piece<'a> {
        kind: Words<'a> = "type",
        text: Words<'a>,
        id: Words<'a>,
        name: Words<'a>,
        arguments: Option<&'a RawValue>,
        data: Words<'a>,
        // A result within a message.
        tool_call_id: Words<'a> = "toolCallId",
        is_error: Option<bool> = "isError",
        content: Blocks<'a, held::Said<'a>>,
    }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let made = Recorder::new(READER.name, source.name(), scale);
    let mut session = Session { made, named: false, places: Vec::new(), model: String::new(), trust: Trust::Provider };
    source.each_line(|source, line| source.values(line, |event: Event, lose| session.event(&event, lose)))?;
    let messages = &mut session.made.transcript.messages;
    if messages.iter().all(|message| message.role == Role::System) {
        *messages = Messages::default();
    }
    session.made.end(source, hand_over);
    Ok(())
}

struct Session<'s> {
    made: Recorder<'s>,
    /// Does the log itself name the session?
    named: bool,
    /// The numbers of the events that messages came with.
    places: Vec<(i64, usize)>,
    /// The model that requests go to now.
    model: String,
    trust: Trust,
}

impl Session<'_> {
    fn event(&mut self, event: &Event<'_>, lose: Lose<'_>) {
        if &*event.kind == "session" {
            return self.open(event);
        }
        // Nearly all lines are pieces of replies that come again as a whole.
        let (family, _) = event.kind.split_once('/').unwrap_or((&event.kind, ""));
        let silent = matches!(family, "turn" | "step" | "approval" | "bash" | "agent" | "session" | "tool-workflow" | "plugin");
        if silent
            || matches!(
                &*event.kind,
                "assistant/chunk" | "tool/call" | "compact/start" | "compact/end" | "compaction/start" | "compaction/end"
            )
        {
            return;
        }
        let data = match event.data.map(|data| serde_json::from_str::<Data>(data.get())) {
            Some(Ok(data)) => data,
            Some(Err(_)) => return lose("record of an unexpected shape"),
            None => Data::default(),
        };
        match &*event.kind {
            "request/header" => self.header(data.header.as_ref(), event),
            "request/header-delta" => self.made.chain.broken = true,
            "request/context" => {
                if !data.model.is_empty() {
                    self.model = data.model.to_string();
                }
                if let Some(window) = data.context_window.known().ok().flatten() {
                    self.made.windows.name(&self.model, window);
                }
            }
            "user/message" | "context/message" => self.user(event, &data, lose),
            "assistant/message" => self.assistant(event, &data, lose),
            "tool/result" => self.result(event, &data, lose),
            // The event's older name comes first.
            "compact/summary" | "compaction/summary" => self.compaction(event, &data, lose),
            // Tools that code runs answer the code; the model sees what the code makes of them.
            kind if kind.starts_with("tool/code-dispatch") => {}
            _ => lose("unknown record type"),
        }
    }

    fn open(&mut self, event: &Event<'_>) {
        self.made.identify(event.id.id());
        self.named |= event.id.some_id().is_some();
        // A person's fork names the session that it goes on from, too.
        let delegated = &*event.origin == "subagent" || event.delegation_depth.or_zero().is_ok_and(|depth| depth > 0);
        self.made.transcript.parent = event.parent_session.some_id().filter(|_| delegated).map(str::to_owned);
        self.made.transcript.version = event.version.to_string();
        // Recordings for the program's own tests name places by marks, and their model is a program.
        if event.cwd.starts_with("{{") {
            self.trust = Trust::Mock;
        }
    }

    fn header(&mut self, header: Option<&Header<'_>>, event: &Event<'_>) {
        let Some(header) = header else { return };
        self.model = header.config.model.to_string();
        if self.made.transcript.messages.iter().any(|message| message.role == Role::System) {
            self.made.chain.broken = true;
            return;
        }
        let mut parts = vec![Part::Text(self.made.scale.weigh(&text_or_json(header.system)))];
        parts.extend(definitions(self.made.scale, header.tools));
        self.made.push(Message { time: event.time, ..Message::new(Role::System, parts) });
    }

    fn list(&mut self, event: &Event<'_>, wrapped: Option<&Wrapped<'_>>, message: Message) {
        self.places.push((event.seq.unwrap_or(i64::MAX), self.made.next()));
        let id = wrapped.map_or("", |wrapped| wrapped.id.id()).to_owned();
        self.made.push(Message { id, time: event.time.filter(|time| *time > 0), ..message });
    }

    fn user(&mut self, event: &Event<'_>, data: &Data<'_>, lose: Lose<'_>) {
        let wrapped = data.message.as_ref();
        let origin = wrapped.and_then(|message| message.source.as_ref()).or(data.source.as_ref());
        // The summary of a compaction comes again as a message.
        if origin.is_some_and(|origin| !origin.compaction_id.is_empty()) && !self.made.transcript.compactions.is_empty() {
            return;
        }
        let parts = self.parts(wrapped.map_or(&data.content, |message| &message.content), lose);
        let synthetic = &*event.kind == "context/message" || origin.is_some_and(|origin| !matches!(&*origin.kind, "" | "user"));
        self.list(event, wrapped, Message { synthetic, ..Message::new(Role::User, parts) });
    }

    fn assistant(&mut self, event: &Event<'_>, data: &Data<'_>, lose: Lose<'_>) {
        let wrapped = data.message.as_ref();
        let parts = self.parts(wrapped.map_or(&data.content, |message| &message.content), lose);
        let origin = wrapped.and_then(|message| message.source.as_ref());
        let model = origin.map_or("", |origin| &origin.model);
        let model = if model.is_empty() { self.model.clone() } else { model.to_owned() };
        let id = wrapped.map_or("", |message| message.id.id());
        // A session's number and the event's name the call in copies of the file.
        let id = match id {
            "" if self.named => format!("{}#{}", self.made.transcript.id, event.seq.unwrap_or_default()),
            id => id.to_owned(),
        };
        let usage = self.usage(data, lose);
        // A reply without words and without usage is what a request that failed leaves behind.
        let call = (usage.is_some() || !parts.is_empty()).then(|| {
            let unchained = self.made.chain.link(&model);
            Call { id, model, usage, unchained, ..Call::default() }
        });
        self.made.chain.broken |= call.is_none();
        self.list(event, wrapped, Message { call: call.map(Box::new), ..Message::new(Role::Assistant, parts) });
    }

    /// The input excludes what was read from the cache.
    fn usage(&self, data: &Data<'_>, lose: Lose<'_>) -> Option<Usage> {
        let tokens = data.usage.as_ref()?;
        let reported = Reported {
            input: tokens.count("inputTokens"),
            cache_read: tokens.count("cacheReadTokens"),
            cache_write: tokens.count("cacheWriteTokens"),
            cached: Cached::Beside,
            output: tokens.count("outputTokens"),
            reasoning: tokens.count("reasoningTokens"),
            trust: self.trust,
            ..Reported::default()
        };
        sound(reported.usage(), lose)
    }

    fn parts(&mut self, content: &Blocks<Piece<'_>>, lose: Lose<'_>) -> Vec<Part> {
        let mut parts = Vec::new();
        for block in &content.0 {
            match block {
                Block::Text(text) => parts.push(self.made.text(text)),
                Block::Object(piece) => match &*piece.kind {
                    "text" => parts.push(self.made.text(&piece.text)),
                    "reasoning" => parts.push(self.made.thinking(&piece.text, 0)),
                    "tool-call" => parts.push(self.made.tool_call(&piece.id, &piece.name, piece.arguments)),
                    "image" => parts.push(Part::Image(image::from_base64(&piece.data))),
                    _ => lose("unknown content part"),
                },
                Block::Other => lose("unknown content part"),
            }
        }
        parts
    }

    fn result(&mut self, event: &Event<'_>, data: &Data<'_>, lose: Lose<'_>) {
        let mut parts = Vec::new();
        match &data.message {
            Some(message) => {
                for piece in message.content.objects() {
                    let text = piece.content.joined(|inner| Some(&*inner.text));
                    parts.push(self.made.result(&piece.tool_call_id, &text, piece.is_error.unwrap_or_default()));
                }
            }
            None => {
                let text = data.content.joined(|piece| Some(&*piece.text));
                parts.push(self.made.result(&data.call_id, &text, data.is_error.unwrap_or_default()));
            }
        }
        if parts.is_empty() {
            return lose("record without a message");
        }
        self.list(event, data.message.as_ref(), Message::new(Role::Tool, parts));
    }

    fn compaction(&mut self, event: &Event<'_>, data: &Data<'_>, lose: Lose<'_>) {
        let before = self.made.next();
        let usage = self.usage(data, lose);
        let id = data.compaction_id.id().to_owned();
        let end = data.shadowed_range.as_ref().map(|range| range.end);
        self.made.cut(Compaction {
            summary: self.made.scale.weigh_summary(&data.summary.joined(|piece| Some(&*piece.text))),
            kept_from: end.map(|end| self.places.iter().find(|(seq, _)| *seq > end).map_or(before, |(_, index)| *index)),
            call: usage.map(|usage| Call { id, model: data.model.to_string(), usage: Some(usage), unchained: true, ..Call::default() }),
            time: event.time,
            ..Compaction::default()
        });
    }
}
