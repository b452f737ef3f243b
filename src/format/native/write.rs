//! Writing the native shape.

use super::measured::{MARK, Measured};
use crate::transcript::{Call, Compaction, Message, Part, Role, Text, Transcript, Usage};
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use std::io::{self, Write};

/// Writes a session, a line for its head, each message and each event. Texts whose words were kept are written with them, all others by
/// what was measured, counted in the vocabulary of this name.
pub fn write(transcript: &Transcript, vocabulary: &str, out: &mut dyn Write) -> io::Result<()> {
    let model = common_model(transcript).unwrap_or_default();
    let writer = Writer { model: &model, messages: transcript.messages.len() };
    let is_measured = |text: &Text| text.content.is_none();
    let measured = transcript.messages.each().any(|message| message.parts.iter().filter_map(Part::text).any(is_measured))
        || transcript.compactions.iter().filter_map(|compaction| compaction.summary.as_ref()).any(is_measured);
    let head = Object::default()
        .with("ctxsim", MARK)
        .with("session", &transcript.id)
        .some("parent", transcript.parent.as_deref())
        .with("agent", &transcript.agent)
        .filled("version", &transcript.version)
        .filled("model", writer.model)
        .some("window", transcript.window)
        .some("overhead", transcript.overhead)
        .some("item_bytes", Some(transcript.item_bytes).filter(|bytes| *bytes > 0))
        .some("host", transcript.host.as_deref())
        .some("project", transcript.project.as_ref().map(|project| format!("{:016x}", project.number)))
        .flag("begins_in_middle", transcript.begins_in_middle)
        .flag("printed", transcript.printed)
        .some("takes_up", transcript.takes_up.as_deref())
        .flag("copied", transcript.copied)
        .filled("measured_in", if measured { vocabulary } else { "" });
    line(&head, out)?;
    let mut compactions = transcript.compactions.iter().peekable();
    let mut refusals = transcript.refusals.iter().peekable();
    let mut events_until = |place: usize, out: &mut dyn Write| -> io::Result<()> {
        while refusals.next_if(|before| **before <= place).is_some() {
            line(&Object::default().with("refused", true), out)?;
        }
        while let Some(compaction) = compactions.next_if(|compaction| compaction.before <= place) {
            line(&writer.compaction(compaction), out)?;
        }
        Ok(())
    };
    for (place, message) in transcript.messages.each().enumerate() {
        events_until(place, out)?;
        line(&writer.message(&message), out)?;
    }
    events_until(usize::MAX, out)?;
    let calls = transcript.side_calls.iter().map(|call| ("side_call", call));
    let mut calls = calls.chain(transcript.mirrored.iter().map(|call| ("mirrored_call", call)));
    calls.try_for_each(|(key, call)| line(&Object::default().with(key, writer.call(call)), out))
}

fn line(value: &Object, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The model of the first call, where every call names one: the head's model stands for all calls that name none.
fn common_model(transcript: &Transcript) -> Option<String> {
    let of_messages = transcript.messages.each().filter_map(|message| Some(message.call.as_ref()?.model.clone()));
    let of_events = transcript.compactions.iter().filter_map(|compaction| compaction.call.as_ref()).chain(&transcript.side_calls);
    let mut models = of_messages.chain(of_events.chain(&transcript.mirrored).map(|call| call.model.clone()));
    models.next().filter(|first| !first.is_empty() && models.all(|model| !model.is_empty()))
}

struct Writer<'a> {
    model: &'a str,
    /// How many messages the session has.
    messages: usize,
}

/// An object that is written, key by key in their order. Nothing in it can fail to be written as JSON.
#[derive(Default)]
struct Object(Vec<(&'static str, Box<RawValue>)>);

impl Object {
    fn with(self, key: &'static str, value: impl Serialize) -> Object {
        self.some(key, Some(value))
    }

    /// A key that is left out where there is no value.
    fn some(mut self, key: &'static str, value: Option<impl Serialize>) -> Object {
        self.0.extend(value.and_then(|value| Some((key, to_raw_value(&value).ok()?))));
        self
    }

    /// A key that is left out where the text is empty.
    fn filled(self, key: &'static str, text: &str) -> Object {
        self.some(key, Some(text).filter(|text| !text.is_empty()))
    }

    /// A key that is left out where it does not hold.
    fn flag(self, key: &'static str, holds: bool) -> Object {
        self.some(key, holds.then_some(true))
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// A message by its number, from 1: ids may be missing, or stand twice.
fn number(place: usize) -> String {
    format!("#{}", place + 1)
}

fn measured(text: &Text) -> Option<Measured> {
    text.content.is_none().then(|| Measured::of(text))
}

impl Writer<'_> {
    fn message(&self, message: &Message) -> Object {
        let call = message.call.as_ref();
        let stays = |from: usize| from.checked_sub(1).map_or_else(String::new, number);
        Object::default()
            .with("role", message.role)
            .filled("id", &message.id)
            .some("time", message.time)
            .with("parts", message.parts.iter().map(part).collect::<Vec<_>>())
            .filled("model", call.map_or("", |call| self.own_model(call)))
            // An id of the call that is the message's own goes without saying.
            .some("call_id", call.map(|call| &call.id).filter(|id| **id != message.id))
            .some("usage", call.and_then(|call| call.usage.as_ref()).map(usage))
            .some("output", call.and_then(|call| call.output))
            .flag("unchained", call.is_some_and(|call| call.unchained))
            .flag("aborted", message.role == Role::Assistant && call.is_none() && message.copy_of.is_none())
            .flag("synthetic", message.synthetic)
            .some("rewind", message.rewind.map(|from| stays(from.min(self.messages))))
            .some("copy_of", message.copy_of.map(number))
    }

    fn own_model<'c>(&self, call: &'c Call) -> &'c str {
        if call.model == self.model { "" } else { &call.model }
    }

    fn call(&self, call: &Call) -> Object {
        let named = Object::default().with("id", &call.id).filled("model", self.own_model(call));
        named.some("usage", call.usage.as_ref().map(usage)).flag("unchained", call.unchained)
    }

    fn compaction(&self, compaction: &Compaction) -> Object {
        let summary = compaction.summary.as_ref();
        let taken: Vec<(String, usize)> = compaction.taken.iter().map(|(message, part)| (number(*message), part + 1)).collect();
        let written = Object::default()
            .filled("id", &compaction.id)
            .with("kind", compaction.kind)
            .some("automatic", compaction.automatic)
            .flag("by_extension", compaction.by_extension)
            .flag("behind_gap", compaction.behind_gap)
            .flag("between_turns", compaction.between_turns)
            .some("tokens_before", compaction.tokens_before)
            .some("tokens_after", compaction.tokens_after)
            .some("duration_ms", compaction.duration_ms)
            .some("incompatible", compaction.incompatible)
            .some("summary", summary.map(Text::as_str))
            .some("measured", summary.and_then(measured))
            .some("kept_from", compaction.kept_from.map(number))
            .some("taken", Some(taken).filter(|taken| !taken.is_empty()))
            .some("call", compaction.call.as_ref().map(|call| self.call(call)))
            .some("time", compaction.time);
        Object::default().with("compaction", written)
    }
}

/// A part; the words of a text, or empty ones and what was measured of it.
fn part(part: &Part) -> Object {
    let of = |kind, text: &Text| Object::default().with(kind, text.as_str());
    let whole = |kind, text: &Text| of(kind, text).some("measured", measured(text));
    match part {
        Part::Text(text) => whole("text", text),
        Part::Thinking { text, sealed_bytes } => of("thinking", text).with("sealed_bytes", sealed_bytes).some("measured", measured(text)),
        Part::ToolCall { id, name, arguments } => {
            let call = Object::default().with("id", id).with("name", name);
            Object::default().with("call", call.with("arguments", arguments.as_str()).some("measured", measured(arguments)))
        }
        Part::ToolResult { call_id, name, text, error } => {
            let result = Object::default().with("id", call_id).with("name", name).with("text", text.as_str());
            let marked = result.flag("error", *error).flag("truncated", text.truncated);
            Object::default().with("result", marked.some("measured", measured(text)))
        }
        Part::Image(image) => Object::default().with("image", image),
        Part::Tools(text) => whole("tools", text),
        Part::Other(text) => whole("other", text),
    }
}

fn usage(usage: &Usage) -> Object {
    // The number that is read back as the same amount: whole nano-dollars are far below what a float tells apart.
    let dollars = |nano: i64| nano as f64 / 1e9;
    Object::default()
        .with("prompt", usage.prompt)
        .with("cache_read", usage.cache_read)
        .with("cache_write", usage.cache_write)
        .with("cache_write_1h", usage.cache_write_1h)
        .some("output", usage.reported_output())
        .some("reasoning", usage.reasoning)
        .some("cost_usd", usage.cost_nano_usd.map(dollars))
        .with("trust", usage.trust)
        .flag("output_is_placeholder", !usage.output_is_final && usage.output > 0)
        // Counts above 0 speak for themselves.
        .flag("counts_cache", usage.counts_cache && usage.cache_read + usage.cache_write == 0)
}
