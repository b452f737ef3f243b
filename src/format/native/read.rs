//! Reading the native shape.

use super::measured::{MARK, Measured};
use crate::format::ground::{Absurd, Count, Dollars, ReadError, Source, Words, millis, odd, sound, text_or_json, values, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::{Chain, Tools, end};
use crate::format::usage::Reported;
use crate::transcript::{
    Call, Compaction, CompactionKind, Image, Message, Part, Project, Role, Scale, Text, Transcript, Trust, Usage, project,
};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_64;

/// The program's own shape.
pub const READER: Reader =
    Reader { name: "native", about: "ctxsim's own JSONL, for agents that are not listed (docs/native.md)", claims, read };

fn claims(source: &Source) -> Claim {
    Claim::when(source.outline().shows("ctxsim=native/*"))
}

wire! {
    /// A line: a session's head, a message, a compaction or a side call.
    struct Line<'a> {
        // A head.
        ctxsim: Words<'a>,
        session: Words<'a>,
        parent: Words<'a>,
        agent: Words<'a>,
        version: Words<'a>,
        window: Count,
        overhead: Count,
        host: Words<'a>,
        item_bytes: Count,
        project: Words<'a>,
        begins_in_middle: bool,
        printed: bool,
        takes_up: Words<'a>,
        copied: bool,
        /// The vocabulary that measured texts were counted in.
        measured_in: Words<'a>,
        // A message. `model` is a head's too.
        role: Option<Role>,
        id: Words<'a>,
        time: Option<&'a RawValue>,
        text: Option<Words<'a>>,
        parts: Vec<NativePart<'a>>,
        model: Words<'a>,
        usage: Option<NativeUsage>,
        output: Count,
        call_id: Option<Words<'a>>,
        aborted: bool,
        unchained: bool,
        synthetic: bool,
        rewind: Option<Words<'a>>,
        copy_of: Words<'a>,
        // Events.
        compaction: Option<NativeCompaction<'a>>,
        refused: bool,
        side_call: Option<NativeCall<'a>>,
        mirrored_call: Option<NativeCall<'a>>,
    }

    /// A part: an object with one key.
    struct NativePart<'a> {
        text: Option<Words<'a>>,
        thinking: Option<Words<'a>>,
        sealed_bytes: u32,
        call: Option<NativeToolCall<'a>>,
        result: Option<NativeResult<'a>>,
        image: Option<Image>,
        tools: Option<&'a RawValue>,
        other: Option<Words<'a>>,
        /// Of a text without its words: what was measured.
        measured: Option<Measured>,
    }

    struct NativeToolCall<'a> {
        id: Words<'a>,
        name: Words<'a>,
        arguments: Option<&'a RawValue>,
        measured: Option<Measured>,
    }

    struct NativeResult<'a> {
        id: Words<'a>,
        name: Words<'a>,
        text: Words<'a>,
        error: bool,
        truncated: bool,
        measured: Option<Measured>,
    }

    struct NativeUsage {
        prompt: Count,
        cache_read: Count,
        cache_write: Count,
        cache_write_1h: Count,
        output: Count,
        reasoning: Count,
        cost_usd: Dollars,
        trust: Trust,
        /// True where `output` was written before the reply had come.
        output_is_placeholder: bool,
        /// True where the provider itself counted what was read and written, be it 0.
        counts_cache: bool,
    }

    struct NativeCall<'a> {
        id: Words<'a>,
        model: Words<'a>,
        usage: Option<NativeUsage>,
        unchained: bool,
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct NativeCompaction<'a> {
    #[serde(default)]
    id: Words<'a>,
    kind: CompactionKind,
    automatic: Option<bool>,
    #[serde(default)]
    by_extension: bool,
    #[serde(default)]
    behind_gap: bool,
    #[serde(default)]
    between_turns: bool,
    #[serde(default)]
    tokens_before: Count,
    #[serde(default)]
    tokens_after: Count,
    #[serde(default)]
    duration_ms: Count,
    incompatible: Option<bool>,
    summary: Option<Words<'a>>,
    measured: Option<Measured>,
    kept_from: Option<Words<'a>>,
    /// Message and number of its part, from 1.
    #[serde(default)]
    taken: Vec<(Words<'a>, usize)>,
    call: Option<NativeCall<'a>>,
    time: Option<&'a RawValue>,
}

impl NativeUsage {
    fn usage(&self) -> Result<Option<Usage>, Absurd> {
        let reported = Reported {
            input: self.prompt,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_1h: self.cache_write_1h,
            output: self.output,
            reasoning: self.reasoning,
            cost_nano_usd: self.cost_usd.0,
            trust: self.trust,
            counts_cache: self.counts_cache,
            ..Reported::default()
        };
        Ok(reported.usage()?.map(|usage| Usage { output_is_final: usage.output_is_final && !self.output_is_placeholder, ..usage }))
    }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut open: Option<Session> = None;
    source.each_line(|source, line| {
        for value in values::<Line>(&line.text) {
            let written = match value {
                Ok(written) => written,
                Err(error) => {
                    source.lose(line.number, &odd(&error, line.last_unterminated, &line.text));
                    continue;
                }
            };
            if !written.ctxsim.is_empty() {
                if let Some(ended) = open.take() {
                    ended.hand_over(source, hand_over);
                }
                if &*written.ctxsim != MARK {
                    // This reader does not interpret a later shape.
                    source.lose(line.number, "session in an unknown version of the native shape");
                    continue;
                }
                // Numbers of another vocabulary are all that there is: they are used, and that is said.
                if !written.measured_in.is_empty() && scale.vocabulary().is_some_and(|name| name != &*written.measured_in) {
                    source.lose(line.number, "session whose texts were measured in another vocabulary");
                }
                open = Some(Session::new(&written, line.number, source));
            } else if let Some(session) = &mut open {
                session.take(&written, scale, line.number, source);
            } else {
                source.lose(line.number, "line before the head of a session");
            }
        }
    })?;
    if let Some(last) = open {
        last.hand_over(source, hand_over);
    }
    Ok(())
}

struct Session {
    transcript: Transcript,
    /// The line of its head.
    head: u64,
    model: String,
    chain: Chain,
    /// Places of messages by the hashes of their ids: a long session has as many ids as messages.
    places: FxHashMap<u64, u32>,
    /// Names of tools by the ids of their calls.
    tools: Tools,
}

impl Session {
    fn new(head: &Line, number: u64, source: &Source) -> Session {
        let id = if head.session.is_empty() { source.name() } else { head.session.to_string() };
        let agent = if head.agent.is_empty() { READER.name.to_owned() } else { head.agent.to_string() };
        let mut transcript = Transcript {
            id,
            parent: (!head.parent.is_empty()).then(|| head.parent.to_string()),
            agent,
            version: head.version.to_string(),
            window: head.window.known().ok().flatten(),
            overhead: head.overhead.known().ok().flatten(),
            host: head.host.some_id().map(str::to_owned),
            item_bytes: head.item_bytes.known().ok().flatten().and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(0),
            project: project_of(&head.project),
            begins_in_middle: head.begins_in_middle,
            printed: head.printed,
            takes_up: head.takes_up.some_id().map(str::to_owned),
            copied: head.copied,
            ..Transcript::default()
        };
        transcript.messages.pack();
        Session {
            transcript,
            head: number,
            model: head.model.to_string(),
            chain: Chain::default(),
            places: FxHashMap::default(),
            tools: Tools::default(),
        }
    }

    fn hand_over(self, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
        // What else is remembered goes before the session is measured.
        let Session { transcript, head, .. } = { self };
        let Transcript { messages, compactions, side_calls, mirrored, .. } = &transcript;
        let is_empty = messages.is_empty() && compactions.is_empty() && side_calls.is_empty() && mirrored.is_empty();
        end(Some(transcript).filter(|_| !is_empty), head, source, hand_over);
    }

    fn take(&mut self, line: &Line, scale: &dyn Scale, number: u64, source: &mut Source) {
        if let Some(compaction) = &line.compaction {
            let compaction = self.compaction(compaction, scale, number, source);
            self.transcript.compactions.push(compaction);
        } else if line.refused {
            self.transcript.refused = true;
            self.transcript.refusals.push(self.transcript.messages.len());
        } else if let Some(call) = &line.side_call {
            let call = self.call(&call.id, &call.model, call.usage.as_ref(), call.unchained, number, source);
            self.transcript.side_calls.push(call);
        } else if let Some(call) = &line.mirrored_call {
            let call = self.call(&call.id, &call.model, call.usage.as_ref(), call.unchained, number, source);
            self.transcript.mirrored.push(call);
        } else if let Some(role) = line.role {
            self.message(role, line, scale, number, source);
        } else {
            source.lose(number, "unknown record type");
        }
    }

    fn message(&mut self, role: Role, line: &Line, scale: &dyn Scale, number: u64, source: &mut Source) {
        let here = self.transcript.messages.len();
        let mut parts: Vec<Part> = line.text.iter().map(|text| Part::Text(scale.weigh(text))).collect();
        for part in &line.parts {
            match self.part(part, scale) {
                Some(part) => parts.push(part),
                None => source.lose(number, "unknown content part"),
            }
        }
        let mut message = Message::new(role, parts);
        message.id = line.id.to_string();
        message.time = time(line.time);
        message.synthetic = line.synthetic;
        // The id names the last message that stays; the empty one means that none does.
        message.rewind = line.rewind.as_ref().and_then(|stays| match self.find(stays) {
            Some(place) => Some(place + 1),
            None if stays.is_empty() => Some(0),
            None => {
                source.lose(number, "reference to an unknown message");
                None
            }
        });
        if !line.copy_of.is_empty() {
            message.copy_of = self.place(&line.copy_of, number, source);
        }
        if role == Role::Assistant && !line.aborted && line.copy_of.is_empty() {
            let id = line.call_id.as_ref().unwrap_or(&line.id);
            let mut call = self.call(id, &line.model, line.usage.as_ref(), line.unchained, number, source);
            call.output = sound(line.output.known(), &mut |reason| source.lose(number, reason));
            // A call without a model may have been made by the model before it.
            if !call.model.is_empty() {
                call.unchained |= self.chain.link(&call.model);
            }
            message.call = Some(Box::new(call));
            self.transcript.refused = false;
        } else if line.usage.is_some() {
            source.lose(number, "usage of a message that no call produced");
        }
        if !message.id.is_empty() {
            self.places.insert(xxh3_64(message.id.as_bytes()), here as u32);
        }
        self.transcript.messages.push(message);
    }

    fn part(&mut self, part: &NativePart, scale: &dyn Scale) -> Option<Part> {
        Some(match part {
            NativePart { text: Some(text), measured, .. } => Part::Text(known(measured, || scale.weigh(text))),
            NativePart { thinking: Some(text), sealed_bytes, measured, .. } => {
                Part::Thinking { text: known(measured, || scale.weigh(text)), sealed_bytes: *sealed_bytes }
            }
            NativePart { call: Some(call), .. } => {
                self.tools.call(&call.id, &call.name, known(&call.measured, || scale.weigh(&text_or_json(call.arguments))))
            }
            NativePart { result: Some(result), .. } => {
                let called = || self.tools.name(&result.id).unwrap_or_default();
                let name = if result.name.is_empty() { called() } else { &*result.name }.to_owned();
                let text = known(&result.measured, || scale.weigh_result(&result.text));
                let text = Text { truncated: result.truncated, ..text };
                Part::ToolResult { call_id: result.id.to_string(), name, text, error: result.error }
            }
            NativePart { image: Some(image), .. } => Part::Image(*image),
            NativePart { tools: tools @ Some(_), measured, .. } => Part::Tools(known(measured, || scale.weigh(&text_or_json(*tools)))),
            NativePart { other: Some(text), measured, .. } => Part::Other(known(measured, || scale.weigh(text))),
            _ => return None,
        })
    }

    fn call(&self, id: &str, model: &str, usage: Option<&NativeUsage>, unchained: bool, number: u64, source: &mut Source) -> Call {
        let usage = sound(usage.map_or(Ok(None), NativeUsage::usage), &mut |reason| source.lose(number, reason));
        let model = if model.is_empty() { &self.model } else { model };
        Call { id: id.to_owned(), model: model.to_owned(), usage, unchained, ..Call::default() }
    }

    fn compaction(&self, written: &NativeCompaction, scale: &dyn Scale, number: u64, source: &mut Source) -> Compaction {
        // What is kept may begin with the message that comes next.
        let next = format!("#{}", self.transcript.messages.len() + 1);
        let kept_from = written.kept_from.as_ref().and_then(|id| match **id == next {
            true => Some(self.transcript.messages.len()),
            false => self.place(id, number, source),
        });
        let mut taken = Vec::new();
        for (message, part) in &written.taken {
            let found = self.place(message, number, source).zip(part.checked_sub(1));
            taken.extend(found);
        }
        let mut tokens = |count: Count| sound(count.known(), &mut |reason| source.lose(number, reason));
        Compaction {
            id: written.id.to_string(),
            before: self.transcript.messages.len(),
            kind: written.kind,
            automatic: written.automatic,
            by_extension: written.by_extension,
            behind_gap: written.behind_gap,
            between_turns: written.between_turns,
            tokens_before: tokens(written.tokens_before),
            tokens_after: tokens(written.tokens_after),
            duration_ms: tokens(written.duration_ms),
            incompatible: written.incompatible,
            summary: written.summary.as_ref().and_then(|summary| match &written.measured {
                Some(measured) => Some(measured.text()),
                None => scale.weigh_summary(summary),
            }),
            kept_from,
            taken,
            call: written.call.as_ref().map(|call| self.call(&call.id, &call.model, call.usage.as_ref(), call.unchained, number, source)),
            time: time(written.time),
        }
    }

    fn place(&self, id: &str, number: u64, source: &mut Source) -> Option<usize> {
        let place = self.find(id);
        if place.is_none() {
            source.lose(number, "reference to an unknown message");
        }
        place
    }

    /// The message with this id, or, as in `#12`, with this number from 1.
    fn find(&self, id: &str) -> Option<usize> {
        let by_number =
            || id.strip_prefix('#')?.parse::<usize>().ok()?.checked_sub(1).filter(|place| *place < self.transcript.messages.len());
        self.places.get(&xxh3_64(id.as_bytes())).map(|place| *place as usize).or_else(by_number)
    }
}

/// What was measured, or what the words weigh.
fn known(measured: &Option<Measured>, weigh: impl FnOnce() -> Text) -> Text {
    measured.as_ref().map_or_else(weigh, Measured::text)
}

/// An RFC 3339 text, or milliseconds since 1970.
fn time(raw: Option<&RawValue>) -> Option<i64> {
    let raw = raw?.get();
    raw.parse().ok().or_else(|| millis(&serde_json::from_str::<Words>(raw).ok()?))
}

/// A project by its name, or by the number that this program wrote for it.
fn project_of(name: &str) -> Option<Project> {
    let number = (name.len() == 16).then(|| u64::from_str_radix(name, 16).ok()).flatten();
    number.map(|number| Project { number, folder: None }).or_else(|| project(name))
}
