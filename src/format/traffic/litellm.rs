//! Requests with their responses as LiteLLM's users log them: one file per call (the SDK of OpenHands writes `<model>-<seconds>.json`), or
//! one line per call (the logging payload of LiteLLM's proxy).
//!
//! Each request repeats the conversation so far. One whose messages begin with those of an earlier request and its reply goes on with
//! that session, in whichever file it lies: the first file of a folder is read together with those after it, unless it alone is asked for.

use crate::format::exchange::logged::{self, Beside};
use crate::format::exchange::openai_chat::{Request, exchange};
use crate::format::exchange::{Exchange, Sessions};
use crate::format::ground::{Count, Dollars, ReadError, Source, decoded, fault, moment, values, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::wire::chat::ChatMessage;
use crate::list::Arrange;
use crate::transcript::{Scale, Transcript};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// One session for each chain of requests of which each repeats the one before.
pub const READER: Reader =
    Reader { name: "litellm", about: "LiteLLM and OpenHands SDK: logged requests with their responses (*.json, *.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let kept = outline.shows("kwargs|latency_sec|context_window|call_type|response_cost|model_parameters");
    let own = outline.shows("messages[].role !request !trajectory_format !info");
    // A long conversation hides the response.
    let answered = || outline.has("response") || values::<IgnoredAny>(source.head_text()).next().is_none_or(|value| value.is_err());
    let asked = own && (kept && answered() || outline.top().eq(["messages"]) && is_a_call_by_name(&source.path));
    if !asked {
        Claim::No
    } else if calls_beside(source).first().is_some_and(|first| *first != source.path) {
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

/// The calls of the same model in the same folder, this one among them, in the order of their times; none where the name tells no time,
/// and where the file alone is wanted.
fn calls_beside(source: &Source) -> Vec<PathBuf> {
    let path = &source.path;
    let Some((model, _)) = time_in_name(path).filter(|_| !source.alone) else { return Vec::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = crate::reading::entries(folder) else { return Vec::new() };
    let mut calls: Vec<(f64, PathBuf)> = entries
        .into_iter()
        .filter_map(|entry| {
            let (other, seconds) = time_in_name(&entry)?;
            (other == model).then(|| Some((seconds, path.with_file_name(entry.file_name()?))))?
        })
        .collect();
    calls.arrange_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.cmp(&other.1)));
    calls.into_iter().map(|(_, path)| path).collect()
}

wire! {
    /// One request with its response.
    struct Logged<'a> {
        messages: Option<Vec<ChatMessage<'a>>>,
        /// The conversation before the calls of tools were rewritten as text, for models that know no tools.
        raw_messages: Option<Vec<ChatMessage<'a>>>,
        tools: Option<&'a RawValue>,
        kwargs: Option<Parameters<'a>>,
        model_parameters: Option<Parameters<'a>>,
        context_window: Count,
        response: Option<&'a RawValue>,
        usage: Option<&'a RawValue>,
        model: Option<&'a RawValue>,
        cost: Dollars = "cost" | "response_cost",
        time: Option<&'a RawValue> = "startTime" | "start_time" | "timestamp",
    }

    struct Parameters<'a> { tools: Option<&'a RawValue> }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut log = Log { sessions: Sessions::new(READER.name, source.name(), scale), hand_over };
    let calls = calls_beside(source);
    let main = calls.first().is_some_and(|first| *first == source.path);
    if source.is_printed_over_lines() || is_a_call_by_name(&source.path) {
        let text = source.document()?;
        log.values(&text, 1, source);
    } else {
        source.each_line(|source, line| log.values(&line.text, line.number, source))?;
    }
    for (index, path) in calls.iter().enumerate().skip(1).filter(|_| main) {
        let number = index as u64 + 1;
        if let Some(text) = source.document_beside(path, number, "call of the session that cannot be read") {
            log.values(&text, number, source);
        }
    }
    log.sessions.finish().for_each(log.hand_over);
    Ok(())
}

/// A log as far as it has been read.
struct Log<'s> {
    sessions: Sessions<'s>,
    hand_over: &'s mut dyn FnMut(Transcript),
}

impl Log<'_> {
    fn values(&mut self, text: &str, number: u64, source: &mut Source) {
        for value in values::<&RawValue>(text) {
            let (mut held, lose) = (String::new(), &mut |reason: &str| source.lose(number, reason));
            let logged = value.and_then(|value| decoded::<Logged, ChatMessage>(value.get(), "messages", &mut held, lose));
            match logged.map(|logged| logged.exchange(lose)) {
                Ok(Some(exchange)) => self.sessions.add(exchange).into_iter().for_each(&mut *self.hand_over),
                Ok(None) => {}
                Err(error) => source.lose(number, fault(&error, true)),
            }
        }
    }
}

impl<'a> Logged<'a> {
    fn exchange(self, lose: &mut dyn FnMut(&str)) -> Option<Exchange> {
        let tools = self.tools();
        let Some(messages) = self.raw_messages.or(self.messages) else {
            lose("unknown record type");
            return None;
        };
        let request = Request { messages: &messages, tools, model: self.model };
        let response = self.response.map(|reply| logged::response(reply, &Beside { usage: self.usage, time: None }));
        let mut exchange = exchange(&request, response.as_deref(), lose);
        exchange.window = self.context_window.known().ok().flatten();
        for message in exchange.reply.iter_mut().flat_map(|reply| &mut reply.messages) {
            message.time = moment(self.time);
            if let Some(call) = &mut message.call {
                call.usage = call.usage.map(|usage| usage.or_cost(self.cost.above_zero()));
            }
        }
        // A request without a reply is counted, and begins no session.
        exchange.reply.is_some().then_some(exchange)
    }

    /// The definitions of the tools. OpenHands logs them twice.
    fn tools(&self) -> Option<&'a RawValue> {
        let parameters = self.kwargs.as_ref().or(self.model_parameters.as_ref());
        self.tools.or(parameters.and_then(|parameters| parameters.tools))
    }
}
