//! Writing the native shape.

use super::measured::MARK;
use super::measured::Measured;
use crate::transcript::{Call, Compaction, CompactionKind, Message, Part, Role, Text, Transcript, Trust, Usage};
use serde::Serialize;
use std::io::{self, Write};

/// Writes a session, a line for its head, each message and each event. Texts whose words were kept are written with them, all others by
/// what was measured, counted in the vocabulary of this name.
pub fn write(transcript: &Transcript, vocabulary: &str, out: &mut dyn Write) -> io::Result<()> {
    let writer = Writer { model: common_model(transcript), messages: &transcript.messages };
    let texts = transcript.messages.iter().flat_map(|message| &message.parts).filter_map(Part::text);
    let measured =
        texts.chain(transcript.compactions.iter().filter_map(|compaction| compaction.summary.as_ref())).any(|text| text.content.is_none());
    let head = Head {
        ctxsim: MARK,
        session: &transcript.id,
        parent: transcript.parent.as_deref(),
        agent: &transcript.agent,
        version: &transcript.version,
        model: writer.model,
        window: transcript.window,
        overhead: transcript.overhead,
        host: transcript.host.as_deref(),
        item_bytes: (transcript.item_bytes > 0).then_some(transcript.item_bytes),
        project: transcript.project.as_ref().map(|project| format!("{:016x}", project.number)),
        begins_in_middle: transcript.begins_in_middle,
        measured_in: if measured { vocabulary } else { "" },
    };
    line(&head, out)?;
    let mut compactions = transcript.compactions.iter().peekable();
    for (place, message) in transcript.messages.iter().enumerate() {
        while let Some(compaction) = compactions.next_if(|compaction| compaction.before <= place) {
            line(&writer.compaction(compaction), out)?;
        }
        line(&writer.message(message), out)?;
    }
    for compaction in compactions {
        line(&writer.compaction(compaction), out)?;
    }
    transcript.side_calls.iter().try_for_each(|call| line(&SideCall { side_call: writer.call(call) }, out))?;
    transcript.mirrored.iter().try_for_each(|call| line(&MirroredCall { mirrored_call: writer.call(call) }, out))
}

fn line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The model of the first call, where every call names one: the head's model stands for all calls that name none.
fn common_model(transcript: &Transcript) -> &str {
    let of_messages = transcript.messages.iter().filter_map(|message| message.call.as_deref());
    let of_events = transcript.compactions.iter().filter_map(|compaction| compaction.call.as_ref()).chain(&transcript.side_calls);
    let mut calls = of_messages.chain(of_events).chain(&transcript.mirrored).peekable();
    let first = calls.peek().map_or("", |call| &call.model);
    if calls.all(|call| !call.model.is_empty()) { first } else { "" }
}

struct Writer<'a> {
    model: &'a str,
    messages: &'a [Message],
}

#[derive(Serialize)]
struct Head<'a> {
    ctxsim: &'a str,
    session: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    agent: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    version: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overhead: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    item_bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    begins_in_middle: bool,
    #[serde(skip_serializing_if = "str::is_empty")]
    measured_in: &'a str,
}

#[derive(Serialize)]
struct MessageLine<'a> {
    role: Role,
    #[serde(skip_serializing_if = "str::is_empty")]
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<i64>,
    parts: Vec<PartLine<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageLine>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u64>,
    #[serde(skip_serializing_if = "is_false")]
    unchained: bool,
    #[serde(skip_serializing_if = "is_false")]
    aborted: bool,
    #[serde(skip_serializing_if = "is_false")]
    synthetic: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    rewind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy_of: Option<String>,
}

/// A part; the words of a text, or empty ones and what was measured of it.
#[derive(Serialize)]
struct PartLine<'a> {
    #[serde(flatten)]
    kind: KindLine<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum KindLine<'a> {
    Text(&'a str),
    Call(CallPart<'a>),
    Result(ResultPart<'a>),
    Image(crate::transcript::Image),
    Tools(&'a str),
    Other(&'a str),
    #[serde(untagged)]
    Thinking {
        thinking: &'a str,
        sealed_bytes: u32,
    },
}

#[derive(Serialize)]
struct CallPart<'a> {
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
}

#[derive(Serialize)]
struct ResultPart<'a> {
    id: &'a str,
    name: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "is_false")]
    error: bool,
    #[serde(skip_serializing_if = "is_false")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
}

#[derive(Serialize)]
struct UsageLine {
    prompt: u64,
    cache_read: u64,
    cache_write: u64,
    cache_write_1h: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    trust: Trust,
    #[serde(skip_serializing_if = "is_false")]
    output_is_placeholder: bool,
}

#[derive(Serialize)]
struct CallLine<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageLine>,
    #[serde(skip_serializing_if = "is_false")]
    unchained: bool,
}

#[derive(Serialize)]
struct SideCall<'a> {
    side_call: CallLine<'a>,
}

#[derive(Serialize)]
struct MirroredCall<'a> {
    mirrored_call: CallLine<'a>,
}

#[derive(Serialize)]
struct Event<'a> {
    compaction: CompactionLine<'a>,
}

#[derive(Serialize)]
struct CompactionLine<'a> {
    kind: CompactionKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    automatic: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_before: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incompatible: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_from: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    taken: Vec<(String, usize)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<i64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A message by its number, from 1: ids may be missing, or stand twice.
fn number(place: usize) -> String {
    format!("#{}", place + 1)
}

fn measured(text: &Text) -> Option<Measured> {
    text.content.is_none().then(|| Measured::of(text))
}

impl<'a> Writer<'a> {
    fn message(&self, message: &'a Message) -> MessageLine<'a> {
        let call = message.call.as_ref();
        // An id of the call that is the message's own goes without saying.
        let call_id = call.map(|call| &*call.id).filter(|id| *id != message.id);
        let stays = |from: usize| from.checked_sub(1).map_or_else(String::new, number);
        MessageLine {
            role: message.role,
            id: &message.id,
            time: message.time,
            parts: message.parts.iter().map(part).collect(),
            model: call.map_or("", |call| self.own_model(call)),
            call_id,
            usage: call.and_then(|call| call.usage.as_ref()).map(usage),
            output: call.and_then(|call| call.output),
            unchained: call.is_some_and(|call| call.unchained),
            aborted: message.role == Role::Assistant && call.is_none() && message.copy_of.is_none(),
            synthetic: message.synthetic,
            rewind: message.rewind.map(|from| stays(from.min(self.messages.len()))),
            copy_of: message.copy_of.map(number),
        }
    }

    fn own_model(&self, call: &'a Call) -> &'a str {
        if call.model == self.model { "" } else { &call.model }
    }

    fn call(&self, call: &'a Call) -> CallLine<'a> {
        CallLine { id: &call.id, model: self.own_model(call), usage: call.usage.as_ref().map(usage), unchained: call.unchained }
    }

    fn compaction(&self, compaction: &'a Compaction) -> Event<'a> {
        let summary = compaction.summary.as_ref();
        Event {
            compaction: CompactionLine {
                kind: compaction.kind,
                automatic: compaction.automatic,
                tokens_before: compaction.tokens_before,
                tokens_after: compaction.tokens_after,
                duration_ms: compaction.duration_ms,
                incompatible: compaction.incompatible,
                summary: summary.map(Text::as_str),
                measured: summary.and_then(measured),
                kept_from: compaction.kept_from.map(number),
                taken: compaction.taken.iter().map(|(message, part)| (number(*message), part + 1)).collect(),
                call: compaction.call.as_ref().map(|call| self.call(call)),
                time: compaction.time,
            },
        }
    }
}

fn part(part: &Part) -> PartLine<'_> {
    let own = |kind| PartLine { kind, measured: None };
    let of = |kind, text| PartLine { kind, measured: measured(text) };
    match part {
        Part::Text(text) => of(KindLine::Text(text.as_str()), text),
        Part::Thinking { text, sealed_bytes } => of(KindLine::Thinking { thinking: text.as_str(), sealed_bytes: *sealed_bytes }, text),
        Part::ToolCall { id, name, arguments } => {
            own(KindLine::Call(CallPart { id, name, arguments: arguments.as_str(), measured: measured(arguments) }))
        }
        Part::ToolResult { call_id, name, text, error } => {
            let (error, truncated) = (*error, text.truncated);
            own(KindLine::Result(ResultPart { id: call_id, name, text: text.as_str(), error, truncated, measured: measured(text) }))
        }
        Part::Image(image) => own(KindLine::Image(*image)),
        Part::Tools(text) => of(KindLine::Tools(text.as_str()), text),
        Part::Other(text) => of(KindLine::Other(text.as_str()), text),
    }
}

fn usage(usage: &Usage) -> UsageLine {
    // The number that is read back as the same amount: whole nano-dollars are far below what a float tells apart.
    let dollars = |nano: i64| nano as f64 / 1e9;
    UsageLine {
        prompt: usage.prompt,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        cache_write_1h: usage.cache_write_1h,
        output: usage.reported_output(),
        reasoning: usage.reasoning,
        cost_usd: usage.cost_nano_usd.map(dollars),
        trust: usage.trust,
        output_is_placeholder: !usage.output_is_final && usage.output > 0,
    }
}
