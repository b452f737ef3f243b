//! Cline CLI: `~/.cline/data/sessions/<id>/<id>.messages.json`, with `<id>.json` about the session beside it.
//!
//! Messages are Anthropic's, whatever the provider; replies have their model and usage with them. What tools returned is a list of
//! objects for each file or command: it is taken as the JSON that the log holds.

use crate::format::ground::{Absurd, Figures, ReadError, Source, Take, Words, at, compact, each_piece, sound, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::format::usage::Reported;
use crate::format::wire::anthropic::{Content, Piece};
use crate::format::wire::blocks::{Block, Blocks};
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript, Usage};

/// Sessions of the Cline CLI.
pub const READER: Reader =
    Reader { name: "cline-cli", about: "Cline CLI sessions (~/.cline/data/sessions/*/*.messages.json)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    if outline.shows("sessionId agent messages updated_at") {
        return Claim::Yes;
    }
    // About a session; and what happened in all of them, for whoever listens.
    let about = outline.shows("session_id workspace_root enable_tools") || outline.shows("hookName sessionId ts");
    if about { Claim::Companion } else { Claim::No }
}

wire! {
    struct Entry<'a> {
        id: Words<'a>,
        role: Words<'a>,
        ts: Option<i64>,
        model_info: Option<ModelInfo<'a>> = "modelInfo",
        metrics: Option<Figures>,
        content: Content<'a>,
    }

    struct ModelInfo<'a> { id: Words<'a>, provider: Words<'a> }
}

/// The input holds what was read from the cache.
fn usage(metrics: &Figures) -> Result<Option<Usage>, Absurd> {
    Reported {
        input: metrics.count("inputTokens"),
        cache_read: metrics.count("cacheReadTokens"),
        cache_write: metrics.count("cacheWriteTokens"),
        output: metrics.count("outputTokens"),
        cost_nano_usd: metrics.dollars("cost").above_zero(),
        ..Reported::default()
    }
    .usage()
}

wire! {
    /// What one tool returned, as far as it says how that went.
    struct Outcome<'a> { kind: Words<'a> = "type", success: Option<bool> }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut session = Session(Recorder::new(READER.name, source.name(), scale));
    each_piece(source, &[("sessionId", Take::Whole), ("messages", Take::Elements)], |source, piece| {
        if piece.key == "messages" {
            piece.take(source, |entry: Entry, lose| session.entry(&entry, lose));
        } else if let Ok(id) = serde_json::from_str::<String>(piece.text) {
            session.0.transcript.id = id;
        }
    });
    let Session(mut made) = session;
    // A reply that was broken off has no usage, where the provider reports any.
    let calls = || made.transcript.messages.iter().filter_map(|message| message.call.as_ref());
    let reports = calls().any(|call| call.usage.is_some());
    for message in made.transcript.messages.iter_mut().filter(|_| reports) {
        message.call = message.call.take().filter(|call| call.usage.is_some());
    }
    made.link_calls();
    if made.next() > 0 {
        made.transcript.parent = parent(source);
    }
    made.end(source, hand_over);
    Ok(())
}

fn parent(source: &mut Source) -> Option<String> {
    let path = source.path.with_file_name(format!("{}.json", source.name().strip_suffix(".messages.json")?));
    let about = source.record_beside(&path, "file about the session that cannot be read", &mut String::new())?;
    at(&about, "/parent_session_id").some_id().map(str::to_owned)
}

struct Session<'s>(Recorder<'s>);

impl Session<'_> {
    fn entry(&mut self, entry: &Entry<'_>, lose: &mut dyn FnMut(&str)) {
        let Some(role) = Role::of(&entry.role, &[Role::System, Role::User, Role::Assistant]) else {
            return lose("message of an unknown role");
        };
        let mut messages = Vec::new();
        let mut others = Vec::new();
        for block in &entry.content.0 {
            match block {
                Block::Object(piece) if piece.is_result() => match self.listed(piece) {
                    Some(result) => messages.push(Message::new(Role::Tool, vec![result])),
                    None => others.push(block.clone()),
                },
                _ => others.push(block.clone()),
            }
        }
        messages.extend(self.0.anthropic().messages(role, &Blocks(others), &mut |reason| lose(reason)));
        if messages.is_empty() {
            lose("message without content");
        }
        if let Some(reply) = messages.iter_mut().find(|message| message.role == Role::Assistant) {
            reply.call = Some(Box::new(self.call(entry, lose)));
        }
        let time = entry.ts.filter(|time| *time > 0);
        let id = entry.id.id();
        self.0.transcript.messages.extend(messages.into_iter().map(|message| Message { id: id.to_owned(), time, ..message }));
    }

    /// A result whose content is a list of objects without a type.
    fn listed(&self, piece: &Piece<'_>) -> Option<Part> {
        let content = piece.content?.get();
        let outcomes = serde_json::from_str::<Vec<Outcome>>(content).ok().filter(|outcomes| !outcomes.is_empty())?;
        if outcomes.iter().any(|outcome| !outcome.kind.is_empty()) {
            return None;
        }
        let error = piece.is_error.unwrap_or_else(|| outcomes.iter().all(|outcome| outcome.success == Some(false)));
        Some(self.0.result(&piece.tool_use_id, &compact(content), error))
    }

    /// The request of a reply; those of providers that report nothing have no metrics.
    fn call(&mut self, entry: &Entry<'_>, lose: &mut dyn FnMut(&str)) -> Call {
        let usage = sound(entry.metrics.as_ref().map_or(Ok(None), usage), lose);
        let info = entry.model_info.as_ref();
        let model = info.map_or("", |info| &info.id);
        let host = &mut self.0.transcript.host;
        *host = host.take().or_else(|| info.and_then(|info| info.provider.some_id()).map(str::to_owned));
        Call { id: entry.id.id().to_owned(), model: model.to_string(), usage, ..Call::default() }
    }
}
