//! Requests with their responses as LiteLLM's users log them: a file a call (the SDK of OpenHands writes `<model>-<seconds>.json`), or a
//! line a call (the logging payload of LiteLLM's proxy).
//!
//! Each request repeats the conversation so far. One whose messages begin with those of an earlier request and its reply goes on with
//! that session, in whichever file it lies: the first file of a folder is read together with those after it.

use super::chat::{Chat, ChatMessage, ChatUsage, fingerprint};
use super::count::{ABSURD, Count, Dollars};
use super::json::{compact, fault, string, values};
use super::time::millis;
use super::words::Words;
use super::{Claim, ReadError, Reader, Source};
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// Logs of LiteLLM.
pub const READER: Reader =
    Reader { name: "litellm", about: "LiteLLM and OpenHands SDK: logged requests with their responses (*.json, *.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let keys = ["kwargs", "latency_sec", "context_window", "call_type", "response_cost", "model_parameters"];
    let kept = keys.iter().any(|key| outline.has(key));
    // A long conversation hides the response.
    let asked = outline.has("messages[].role") && (kept || outline.top().eq(["messages"]) && is_a_call_by_name(&source.path));
    if !asked || outline.has("request") || outline.has("trajectory_format") || outline.has("info") {
        Claim::No
    } else if calls_beside(&source.path).first().is_some_and(|first| *first != source.path) {
        Claim::Companion
    } else {
        Claim::Yes
    }
}

/// The time of the call that ends the file's name, and the name before it.
fn time_in_name(path: &Path) -> Option<(String, f64)> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let (model, seconds) = name.strip_suffix(".json")?.rsplit_once('-')?;
    // No call was logged before the year 2001, when seconds got ten digits.
    let seconds = seconds.parse::<f64>().ok().filter(|seconds| *seconds >= 1e9)?;
    Some((model.to_owned(), seconds))
}

fn is_a_call_by_name(path: &Path) -> bool {
    time_in_name(path).is_some()
}

/// The calls of the same model in the same folder, this one among them, in the order of their times; none where the name tells no time.
fn calls_beside(path: &Path) -> Vec<PathBuf> {
    let Some((model, _)) = time_in_name(path) else { return Vec::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut calls: Vec<(f64, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.ok()?.file_name();
            let (other, seconds) = time_in_name(Path::new(&name))?;
            (other == model).then(|| (seconds, path.with_file_name(name)))
        })
        .collect();
    calls.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
    calls.into_iter().map(|(_, path)| path).collect()
}

/// One request with its response.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Exchange<'a> {
    #[serde(borrow)]
    messages: Option<Vec<ChatMessage<'a>>>,
    /// The conversation before the calls of tools were rewritten as text, for models that know no tools.
    #[serde(borrow)]
    raw_messages: Option<Vec<ChatMessage<'a>>>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    kwargs: Option<Parameters<'a>>,
    #[serde(borrow)]
    model_parameters: Option<Parameters<'a>>,
    context_window: Count,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Words<'a>,
    #[serde(alias = "response_cost")]
    cost: Dollars,
    #[serde(borrow, rename = "startTime", alias = "start_time", alias = "timestamp")]
    time: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Parameters<'a> {
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Response<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    model: Words<'a>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Choice<'a> {
    #[serde(borrow)]
    message: Option<ChatMessage<'a>>,
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut log = Log { name: source.name(), scale, open: Vec::new(), sessions: 0, hand_over };
    let calls = calls_beside(&source.path);
    let main = calls.first().is_some_and(|first| *first == source.path);
    if source.is_printed_over_lines() || is_a_call_by_name(&source.path) {
        let text = source.document()?;
        log.values(&text, 1, source);
    } else {
        source.each_line(|source, line| log.values(&line.text, line.number, source))?;
    }
    for (index, path) in calls.iter().enumerate().skip(1).filter(|_| main) {
        match Source::open(path).and_then(|mut call| call.document()) {
            Ok(text) => log.values(&text, index as u64 + 1, source),
            Err(_) => source.lose(index as u64 + 1, "call of the session that cannot be read"),
        }
    }
    log.finish();
    Ok(())
}

/// A log as far as it has been read.
struct Log<'s> {
    name: String,
    scale: &'s dyn Scale,
    /// Sessions that may go on, the one that went on last at the end.
    open: Vec<Session>,
    sessions: u64,
    hand_over: &'s mut dyn FnMut(Transcript),
}

/// More conversations at once than this are taken for ended, the one that rested longest first.
const MOST_OPEN: usize = 64;

struct Session {
    transcript: Transcript,
    chat: Chat,
    /// One for each message so far, the last reply included.
    fingerprints: Vec<u64>,
    tools: u64,
}

impl Log<'_> {
    fn values(&mut self, text: &str, number: u64, source: &mut Source) {
        for value in values::<Exchange>(text) {
            match value {
                Ok(exchange) => self.exchange(&exchange, number, source),
                Err(error) => source.lose(number, fault(&error, true)),
            }
        }
    }

    fn exchange(&mut self, exchange: &Exchange, number: u64, source: &mut Source) {
        let Some(messages) = exchange.raw_messages.as_ref().or(exchange.messages.as_ref()) else {
            return source.lose(number, "unknown record type");
        };
        let response = exchange.response.and_then(|raw| serde_json::from_str::<Response>(raw.get()).ok()).unwrap_or_default();
        let mut choices = response.choices.unwrap_or_default().into_iter();
        let Some(mut reply) = choices.next().and_then(|choice| choice.message) else {
            return source.lose(number, "request without a reply");
        };
        if choices.next().is_some() {
            source.lose(number, "second choice of a reply");
        }
        reply.role = Words("assistant".into());
        let usage = response.usage.map_or(Ok(None), ChatUsage::read).unwrap_or_else(|_| {
            source.lose(number, ABSURD);
            None
        });
        let usage = usage.map(|mut usage| {
            usage.cost_nano_usd = usage.cost_nano_usd.or(exchange.cost.above_zero());
            usage
        });
        let tools = exchange.tools();
        let fingerprints: Vec<u64> = messages.iter().map(fingerprint).collect();
        let mut session = self.session(&fingerprints).unwrap_or_else(|| Session::new(tools, &response.id, self.scale));
        session.transcript.window = exchange.context_window.known().ok().flatten().or(session.transcript.window);
        for message in messages.iter().skip(session.fingerprints.len()) {
            session.add(message, self.scale, number, source);
        }
        let model = if response.model.is_empty() { exchange.model.to_string() } else { response.model.to_string() };
        let seen = digest(tools);
        let call = Call { id: response.id.to_string(), model, usage, unchained: seen != session.tools };
        session.tools = seen;
        if let Some(message) = session.add(&reply, self.scale, number, source) {
            message.call = Some(call);
            message.time = exchange.time.and_then(moment);
        }
        session.fingerprints = fingerprints;
        session.fingerprints.push(fingerprint(&reply));
        self.open.push(session);
        if self.open.len() > MOST_OPEN {
            let ended = self.open.remove(0);
            self.give(ended);
        }
    }

    /// The session that a request with these messages goes on with, taken out of the open ones.
    fn session(&mut self, request: &[u64]) -> Option<Session> {
        let continued = self.open.iter().enumerate().filter(|(_, session)| request.starts_with(&session.fingerprints));
        let (index, _) = continued.max_by_key(|(_, session)| session.fingerprints.len())?;
        Some(self.open.remove(index))
    }

    fn give(&mut self, session: Session) {
        let mut transcript = session.transcript;
        self.sessions += 1;
        if transcript.id.is_empty() {
            transcript.id = if self.sessions == 1 { self.name.clone() } else { format!("{}#{}", self.name, self.sessions) };
        }
        (self.hand_over)(transcript);
    }

    fn finish(mut self) {
        for session in std::mem::take(&mut self.open) {
            self.give(session);
        }
    }
}

impl<'a> Exchange<'a> {
    /// The definitions of the tools. OpenHands logs them twice.
    fn tools(&self) -> Option<&'a RawValue> {
        let parameters = self.kwargs.as_ref().or(self.model_parameters.as_ref());
        let tools = self.tools.or(parameters.and_then(|parameters| parameters.tools));
        tools.filter(|tools| !matches!(tools.get(), "[]" | "null"))
    }
}

fn digest(tools: Option<&RawValue>) -> u64 {
    tools.map_or(0, |tools| xxh3_64(tools.get().as_bytes()))
}

impl Session {
    fn new(tools: Option<&RawValue>, id: &str, scale: &dyn Scale) -> Session {
        let messages: Vec<Message> =
            tools.map(|tools| Message::new(Role::System, vec![Part::Tools(scale.weigh(&compact(tools.get())))])).into_iter().collect();
        let transcript = Transcript { id: id.to_owned(), agent: READER.name.to_owned(), messages, ..Transcript::default() };
        Session { transcript, chat: Chat::default(), fingerprints: Vec::new(), tools: digest(tools) }
    }

    /// Adds a message. A reply in a request's history was made by a call of which no log was found.
    fn add(&mut self, written: &ChatMessage, scale: &dyn Scale, number: u64, source: &mut Source) -> Option<&mut Message> {
        let Some(mut message) = self.chat.message(written, scale, &mut |reason| source.lose(number, reason)) else {
            source.lose(number, "message of an unknown role");
            return None;
        };
        if message.role == Role::Assistant {
            message.call = Some(Call::default());
        }
        self.transcript.messages.push(message);
        self.transcript.messages.last_mut()
    }
}

/// A time in seconds, or as a text.
fn moment(raw: &RawValue) -> Option<i64> {
    match raw.get().parse::<f64>() {
        Ok(seconds) => Some((seconds * 1000.0) as i64),
        Err(_) => millis(&string(Some(raw))),
    }
}
