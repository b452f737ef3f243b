//! Exchanges with several providers' interfaces in one log: one line per exchange, `{api, url, seq, request, response, source}`. Request
//! and response are the bodies as they were sent, so instructions, tools and usage are complete, except where the provider itself
//! keeps the conversation or runs tools: that usage is marked as of a prompt that is not all in the log.
//!
//! People also save responses alone, as a document, a list, or one a line: each is a session of one call, whose prompt is not in the log. The events of a
//! stream are one response, as they came (`data: {...}`), in a list or one a line, and so are those that Gemini CLI records to play them back (`{method, response}`). AutoGen's
//! recorder keeps `{mode, messages, response, stream}`. Batches are read too: their requests, one a line, and what came of them, which names its request by `custom_id`.
//! A request and its response may be two files (`request.json`, `response.json`): they are read as one, from the response.

use crate::format::exchange::{Dialect, Exchange, Half, Sessions, autogen, events, half as half_of, is_stream, received};
use crate::format::ground::{CUT_OFF, Lose, Outline, ReadError, Source, Words, odd, wire};
use crate::format::reader::{Claim, Reader};
use crate::list::Arrange;
use crate::transcript::{Scale, Transcript};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Recorded exchanges of any of the providers.
pub const READER: Reader = Reader {
    name: "api-exchange",
    about: "Recorded API exchanges (JSONL), responses alone (JSON, JSONL, events): Anthropic Messages, OpenAI Chat and Responses, Gemini, Ollama",
    claims,
    read,
};

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let named = outline.shows("api request") && Dialect::of_name(outline.text("api")).is_some();
    // No other reader knows this interface.
    let addressed = outline.shows("url request response") && Dialect::at(outline.text("url")) == Some(Dialect::OpenAiResponses);
    let bare = |place: &&str| BARE.iter().any(|signature| outline.shows_at(place, signature));
    if named || addressed || ["", "[]."].iter().any(bare) {
        Claim::Yes
    } else if outline.shows("request.messages|request.prompt response={\"model\":*")
        || outline.shows("custom_id response|result|body.messages|body.input|params.messages")
        || ["", "[]."].iter().any(|place| answered(outline, place).is_some() || streams(outline, place))
        || begins_stream(source.head_text())
        || (outline.shows("method !request") && ["response.", "response[]."].iter().any(|place| answered(outline, place).is_some()))
    {
        // Agents and recorders keep such responses among other things.
        Claim::Maybe
    } else {
        Claim::No
    }
}

/// The claim on a file that is half of an exchange, where the other half lies beside it: that of the response reads both.
pub fn half(source: &Source) -> Option<Claim> {
    let (half, _) = other_half(source)?;
    Some(if half == Half::Response { Claim::Yes } else { Claim::Companion })
}

/// Which half of an exchange a file holds, and where the other one lies. Its name and what both files hold must agree.
fn other_half(source: &Source) -> Option<(Half, PathBuf)> {
    let (half, places) = half_of(&source.path)?;
    let holds = |source: &Source, half: Half| match half {
        Half::Request => source.outline().shows("messages|contents|input|prompt !response !choices !candidates !output !usage"),
        Half::Response => replied(source.outline()).is_some() || begins_stream(source.head_text()),
    };
    let other = if half == Half::Request { Half::Response } else { Half::Request };
    let is_other = |place: &PathBuf| source.beside(place).is_ok_and(|source| holds(&source, other));
    holds(source, half).then(|| places.into_iter().find(is_other)).flatten().map(|place| (half, place))
}

/// What shows an exchange without a name and an address, of which no other reader knows the interface: Gemini's, Ollama's, Cohere's in both versions,
/// completions of a text, and Responses; and AutoGen's records.
const BARE: [&str; 7] = [
    "request.contents response !type",
    "request.model response.model response.created_at response.done",
    "request.messages response.message.role response.finish_reason response.usage",
    "request.message response.generation_id response.text",
    "request.prompt response.object=text_completion",
    "mode messages[].type messages[].content response.finish_reason response.content response.usage",
    "request.input response.object=response",
];

/// What shows a response, and of which interface. Anthropic's are messages.
const RESPONSES: [(&str, Dialect); 4] = [
    ("choices[].message id|created|usage !request !messages", Dialect::OpenAiChat),
    // One that repeats its input is taken for another thing; the interface itself has sent an empty list.
    ("object=response output !request !input[].role|input[].type", Dialect::OpenAiResponses),
    ("candidates usageMetadata|modelVersion|responseId|usage_metadata|model_version|response_id !request !contents", Dialect::Gemini),
    ("model created_at done message.role|response !request !messages", Dialect::Ollama),
];

/// What shows the first event of a stream, where that is no response by itself.
const STREAMS: [(&str, Dialect); 3] = [
    ("type=message_start message.role message.usage", Dialect::Anthropic),
    ("object=chat.completion.chunk choices", Dialect::OpenAiChat),
    ("type=response.* response.object=response", Dialect::OpenAiResponses),
];

/// The interface that an event begins a stream of.
fn begun(event: &Outline) -> Option<Dialect> {
    STREAMS.iter().find(|(signature, _)| event.shows(signature)).map(|(_, dialect)| *dialect)
}

/// The interface of a response by itself.
fn replied(outline: &Outline) -> Option<Dialect> {
    answered(outline, "").or_else(|| outline.shows("role=assistant content usage").then_some(Dialect::Anthropic))
}

fn streams(outline: &Outline, place: &str) -> bool {
    STREAMS.iter().any(|(signature, _)| outline.shows_at(place, signature))
}

/// Does a text begin as a stream of events of one of the interfaces? What serves one may send events of its own first.
fn begins_stream(text: &str) -> bool {
    const MOST_OTHERS: usize = 5;
    let shows = |event: &Outline| streams(event, "") || answered(event, "").is_some();
    let first = || text.lines().filter_map(|line| line.strip_prefix("data:")).take(MOST_OTHERS);
    is_stream(text.trim_start()) && first().map(Outline::of).any(|event| shows(&event))
}

/// The interface whose response stands at this place.
fn answered(outline: &Outline, place: &str) -> Option<Dialect> {
    RESPONSES.iter().find(|(signature, _)| outline.shows_at(place, signature)).map(|(_, dialect)| *dialect)
}

wire! {
    struct Record<'a> {
        api: Words<'a>,
        url: Words<'a>,
        request: Option<&'a RawValue>,
        response: Option<&'a RawValue>,
        /// Of AutoGen's recorder: how the reply came, and what was asked.
        mode: Words<'a>,
        messages: Option<&'a RawValue>,
        /// Of a response of Gemini, which stands alone.
        response_id: Words<'a> = "responseId" | "response_id",
        candidates: Option<&'a RawValue>,
        /// Of an event of a stream: what it is at Anthropic and Responses, and whose it is at Chat Completions.
        kind: Words<'a> = "type",
        object: Words<'a>,
        id: Words<'a>,
        /// Is it Ollama's last one?
        done: Option<&'a RawValue>,
        created_at: Option<&'a RawValue>,
        /// Of a batch: what a request and its result have in common, the body of a request (Anthropic: `params`), and what came of it at Anthropic.
        custom_id: Words<'a>,
        body: Option<&'a RawValue> = "body" | "params",
        result: Option<&'a RawValue>,
    }

    /// What came of a request of a batch.
    struct Outcome<'a> { body: Option<&'a RawValue> = "body" | "message" }
}

/// What the records before have left open.
#[derive(Default)]
struct Open {
    /// Responses that come in pieces, by their ids, or by their numbers: which of them began first, and the pieces so far.
    streamed: BTreeMap<String, (usize, Dialect, Vec<String>)>,
    /// Are all records events of one stream, so that they need no id?
    one: bool,
    /// How many began of those whose pieces have no id, and the interface of the last one until it ends.
    unnamed: usize,
    unended: Option<Dialect>,
    /// Requests of a batch, by their ids.
    asked: BTreeMap<String, String>,
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut sessions = Sessions::new(READER.name, source.name(), scale);
    let is_stream = is_stream(source.head_text().trim_start());
    let mut open = Open { one: is_stream, ..Open::default() };
    let mut take = |value: &RawValue, lose: Lose| {
        let listed = serde_json::from_str::<Vec<&RawValue>>(value.get()).unwrap_or_else(|_| vec![value]);
        let found: Vec<Exchange> = listed.iter().flat_map(|value| open.exchanges(value, lose)).collect();
        found.into_iter().filter_map(|exchange| sessions.add(exchange)).for_each(&mut *hand_over)
    };
    let other = other_half(source)
        .and_then(|(half, place)| Some((half, source.document_beside(&place, 0, "other half of an exchange that cannot be read")?)));
    if let Some((half, other)) = other {
        let own = source.document()?;
        let (request, response) = if half == Half::Request { (own, other) } else { (other, own) };
        let is_json = serde_json::from_str::<&RawValue>(&response).is_ok();
        let response = if is_json { response } else { Value::String(response).to_string() };
        source.values_of(&format!(r#"{{"request":{request},"response":{response}}}"#), 0, false, &mut take);
    } else if is_stream {
        let text = source.document()?;
        if !text.ends_with('\n') && !text.trim_end().ends_with(['}', ']']) {
            source.lose(text.lines().count() as u64, CUT_OFF);
        }
        let events: String = events(&text).iter().map(|event| format!("{event}\n")).collect();
        source.values_of(&events, 0, false, &mut take);
    } else {
        source.each_text(&[], |source, text, number, at_end| source.values_of(text, number, at_end, &mut take))?;
    }
    let last = open.joined(&mut |reason| source.lose(0, reason));
    open.asked.values().for_each(|_| source.lose(0, "request without a reply"));
    last.into_iter().filter_map(|exchange| sessions.add(exchange)).for_each(&mut *hand_over);
    sessions.finish().for_each(hand_over);
    Ok(())
}

impl Open {
    /// The exchanges that a record ends, and that it is.
    fn exchanges(&mut self, value: &RawValue, lose: Lose) -> Vec<Exchange> {
        let record = match serde_json::from_str::<Record>(value.get()) {
            Ok(record) => record,
            Err(error) => {
                lose(&odd(&error, false, value.get()));
                return Vec::new();
            }
        };
        // Pieces of several responses may stand between each other.
        if let Some((dialect, id)) = self.piece(&record) {
            let begun = self.streamed.len();
            self.streamed.entry(id).or_insert((begun, dialect, Vec::new())).2.push(value.get().to_owned());
            return Vec::new();
        }
        let ended = self.joined(lose);
        let own = if record.custom_id.is_empty() || record.request.is_some() {
            exchange(value, &record, lose)
        } else {
            self.batched(&record, lose)
        };
        ended.into_iter().chain(own).collect()
    }

    /// Of which interface's stream a record is a piece, and which response it belongs to.
    fn piece(&mut self, record: &Record) -> Option<(Dialect, String)> {
        if record.request.is_some() {
            return None;
        }
        if record.candidates.is_some() && (self.one || !record.response_id.is_empty()) {
            return Some((Dialect::Gemini, record.response_id.to_string()));
        }
        let is_ollama = || record.done.filter(|_| record.created_at.is_some());
        let (dialect, begins) = match (&*record.kind, &*record.object, self.unended) {
            (_, "chat.completion.chunk", _) => return Some((Dialect::OpenAiChat, record.id.to_string())),
            ("message_start", ..) => (Dialect::Anthropic, true),
            ("response.created", ..) => (Dialect::OpenAiResponses, true),
            // Clients put events of their own between those that came.
            (kind, _, Some(open)) if !kind.is_empty() && open != Dialect::Ollama => (open, false),
            (.., open) => (is_ollama().map(|_| Dialect::Ollama)?, open != Some(Dialect::Ollama)),
        };
        self.unnamed += usize::from(begins);
        let ends = matches!(&*record.kind, "message_stop" | "response.completed" | "response.incomplete" | "response.failed");
        self.unended = Some(dialect).filter(|_| !ends && is_ollama().is_none_or(|done| done.get() != "true"));
        Some((dialect, format!("{} of those without an id", self.unnamed)))
    }

    /// The exchange that a result of a batch ends. Batches are billed by a tariff of their own.
    fn batched(&mut self, record: &Record, lose: Lose) -> Option<Exchange> {
        if let Some(request) = record.body {
            self.asked.insert(record.custom_id.to_string(), request.get().to_owned());
            return None;
        }
        let request = self.asked.remove(&*record.custom_id);
        let outcome = record.response.or(record.result).and_then(|raw| serde_json::from_str::<Outcome>(raw.get()).ok());
        let body = outcome.and_then(|outcome| outcome.body).map_or("", RawValue::get);
        let outline = Outline::of(body);
        let Some(dialect) = replied(&outline) else {
            lose("request without a reply");
            return None;
        };
        let mut exchange = decoded(dialect, request.as_deref().unwrap_or("{}"), Some(body), lose)?;
        exchange.hidden |= request.is_none();
        for call in exchange.reply.iter_mut().flat_map(|reply| &mut reply.messages).filter_map(|message| message.call.as_mut()) {
            if !call.model.is_empty() && !call.model.ends_with(BATCH) {
                call.model.push_str(BATCH);
            }
        }
        Some(exchange)
    }

    /// The responses whose pieces have all come.
    fn joined(&mut self, lose: Lose) -> Vec<Exchange> {
        let mut ended: Vec<(usize, Dialect, Vec<String>)> = std::mem::take(&mut self.streamed).into_values().collect();
        ended.arrange_by_key(|(begun, ..)| *begun);
        self.unended = None;
        let wholes = ended.into_iter().map(|(_, dialect, pieces)| (dialect, format!("[{}]", pieces.join(","))));
        let exchanges = wholes.filter_map(|(dialect, whole)| decoded(dialect, "{}", Some(&whole), lose));
        exchanges.map(|exchange| Exchange { hidden: true, ..exchange }).collect()
    }
}

/// How the models of calls in a batch end.
const BATCH: &str = ":batch";

fn exchange(value: &RawValue, record: &Record, lose: Lose) -> Option<Exchange> {
    let response = record.response.map(received);
    let Some(request) = record.request.map(RawValue::get) else {
        return match response.as_deref().filter(|_| record.messages.is_some() && !record.mode.is_empty()) {
            Some(response) if autogen::is_kept(response) => {
                lose("reply that the program had kept (no call)");
                None
            }
            Some(response) => decoded(Dialect::AutoGen, value.get(), Some(response), lose),
            None => response_alone(record.response.unwrap_or(value).get(), lose),
        };
    };
    let told = || Dialect::of_response(request, response.as_deref()?).filter(|(_, holds)| *holds).map(|(dialect, _)| dialect);
    // The first event of a stream is of an interface, too.
    let first = || response.as_deref()?.lines().find_map(|line| line.strip_prefix("data:")).map(Outline::of).as_ref().and_then(begun);
    let shown = || Dialect::of_body(request).or_else(|| replied(&Outline::of(record.response?.get()))).or_else(told).or_else(first);
    let Some(dialect) = Dialect::of_name(&record.api).or_else(|| Dialect::of_address(&record.url, request)).or_else(shown) else {
        lose("exchange with an unknown interface");
        return None;
    };
    decoded(dialect, request, response.as_deref(), lose)
}

fn response_alone(response: &str, lose: Lose) -> Option<Exchange> {
    let place = if response.starts_with('[') { "[]." } else { "" };
    let Some(dialect) = answered(&Outline::of(response), place) else {
        lose("unknown record type");
        return None;
    };
    Some(Exchange { hidden: true, ..decoded(dialect, "{}", Some(response), lose)? })
}

fn decoded(dialect: Dialect, request: &str, response: Option<&str>, lose: Lose) -> Option<Exchange> {
    let decoded = dialect.decode(request, response, lose);
    decoded.inspect_err(|_| lose("request of an unexpected shape")).ok()
}
