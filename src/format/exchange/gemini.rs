//! Exchanges with Google's generateContent interface.

use super::entry::{Entry, Exchange, call, watching};
use super::verbatim::Verbatim;
use crate::format::ground::{Lose, Words, decoded, sound, wire};
use crate::format::recorder::definitions;
use crate::format::usage::billed;
use crate::format::wire::anthropic::visible_text;
use crate::format::wire::blocks::{Block, Blocks};
use crate::format::wire::google::{Piece, TokenCounts, piece};
use crate::transcript::{Message, Part, Role, Scale};
use serde_json::value::RawValue;
use std::cell::Cell;

wire! {
    struct Request<'a> {
        model: Words<'a>,
        contents: Blocks<'a, Content<'a>>,
        system_instruction: Blocks<'a, Content<'a>> = "systemInstruction" | "system_instruction",
        tools: Option<&'a RawValue>,
        /// A part of the prompt that the provider keeps.
        cached_content: Option<&'a RawValue> = "cachedContent" | "cached_content",
        /// The same three, where a program keeps the call of Google's client for Python and not what that sends.
        config: Option<Config<'a>>,
    }

    struct Config<'a> {
        system_instruction: Blocks<'a, Content<'a>>,
        tools: Option<&'a RawValue>,
        cached_content: Option<&'a RawValue>,
    }

    struct Content<'a> {
        role: Words<'a>,
        /// A list, or its one part.
        parts: Option<&'a RawValue>,
    }

    /// What came back, or a piece of a stream of it. Python programs write the keys with underscores.
    struct Response<'a> {
        candidates: Option<Vec<Candidate<'a>>>,
        response_id: Words<'a> = "responseId" | "response_id",
        model_version: Words<'a> = "modelVersion" | "model_version",
        usage_metadata: Option<&'a RawValue> = "usageMetadata" | "usage_metadata",
    }

    /// What of a usage tells how the call is billed: Vertex AI names throughput that was bought before (`PROVISIONED_THROUGHPUT`), and its tiers.
    struct Traffic<'a> { kind: Words<'a> = "trafficType" | "traffic_type" }

    struct Candidate<'a> { content: Content<'a> }

    /// The part kinds that are the provider's own tools at work.
    struct Served<'a> {
        tool_call: Option<&'a RawValue> = "toolCall" | "executableCode" | "tool_call" | "executable_code",
        tool_response: Option<&'a RawValue> = "toolResponse" | "codeExecutionResult" | "tool_response" | "code_execution_result",
    }
}

/// The exchange of a request with its response, which may be a list of the pieces of a stream.
pub fn decode(request: &str, response: Option<&str>, lose: Lose<'_>) -> Result<Exchange, serde_json::Error> {
    let mut held = String::new();
    let attached = Cell::new(false);
    let lose = &mut watching(lose, &attached);
    let request = decoded::<Request, Block<Content>>(request, "contents", &mut held, lose)?;
    let mut exchange = Exchange { model: request.model.trim_start_matches("models/").to_owned(), ..Exchange::default() };
    let config = request.config.unwrap_or_default();
    let mut hidden = request.cached_content.or(config.cached_content).is_some();
    for instruction in request.system_instruction.0.iter().chain(&config.system_instruction.0) {
        exchange.setting.extend(said(instruction, &mut hidden, lose).0);
    }
    exchange.setting.extend(definitions(&Verbatim, request.tools.or(config.tools)));
    for content in &request.contents.0 {
        exchange.entries.push(entry(content, &mut hidden, lose));
    }
    let pieces = response.map(pieces).unwrap_or_default();
    let metadata = pieces.iter().rev().find_map(|piece| piece.usage_metadata);
    let usage = metadata.and_then(|raw| serde_json::from_str::<TokenCounts>(raw.get()).ok());
    let traffic = metadata.and_then(|raw| serde_json::from_str::<Traffic>(raw.get()).ok()).unwrap_or_default();
    hidden |= usage.is_some_and(|usage| usage.tool_use_prompt_token_count.or_zero().is_ok_and(|tokens| tokens > 0));
    if pieces.iter().all(|piece| piece.candidates.is_none()) && usage.is_none() {
        return Ok(exchange.unanswered(response, lose));
    }
    let mut parts = Vec::new();
    for candidates in pieces.iter().filter_map(|piece| piece.candidates.as_deref()) {
        if candidates.len() > 1 {
            lose("second choice of a reply");
        }
        for candidate in candidates.iter().take(1) {
            let (own, results) = read(&candidate.content, &mut hidden, lose);
            for part in own.into_iter().chain(results) {
                append(&mut parts, part);
            }
        }
    }
    let usage = sound(usage.map_or(Ok(None), |usage| usage.reported()?.usage()), lose);
    let last = pieces.last();
    let id = last.map_or("", |piece| &piece.response_id);
    let model = last.map_or("", |piece| &piece.model_version);
    let model = billed(if model.is_empty() { &exchange.model } else { model }, [&*traffic.kind]);
    let mut message = Message::new(Role::Assistant, parts);
    message.id = id.to_owned();
    message.call = Some(Box::new(call(id, &model, usage)));
    exchange.reply = Some(Entry::of(message));
    exchange.hidden = hidden || attached.get();
    Ok(exchange)
}

/// The model that an address names; empty where it names none.
pub fn model(address: &str) -> &str {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.rsplit_once("/models/").and_then(|(_, rest)| rest.split_once(':')).map_or("", |(model, _)| model)
}

fn pieces(response: &str) -> Vec<Response<'_>> {
    if response.trim_start().starts_with('[') {
        serde_json::from_str(response).unwrap_or_default()
    } else {
        serde_json::from_str(response).map(|piece| vec![piece]).unwrap_or_default()
    }
}

/// Adds a part; a stream's pieces of one text are one text.
fn append(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (Some(Part::Text(text)), Part::Text(more)) => {
            let joined = [text.content.as_deref(), more.content.as_deref()].into_iter().flatten().collect::<String>();
            *text = Verbatim.weigh(&joined);
        }
        // A call that goes on has no name again.
        (Some(Part::ToolCall { arguments, .. }), Part::ToolCall { name, arguments: more, .. }) if name.is_empty() => {
            let joined = [&*arguments, &more].into_iter().filter_map(|text| text.content.as_deref()).collect::<String>();
            *arguments = Verbatim.weigh(&joined);
        }
        (_, part) => parts.push(part),
    }
}

fn entry(content: &Block<Content>, hidden: &mut bool, lose: Lose<'_>) -> Entry {
    let (own, results) = said(content, hidden, lose);
    let model = matches!(content, Block::Object(content) if matches!(&*content.role, "model" | "assistant"));
    let mut entry = Entry::default();
    if model {
        let mut message = Message::new(Role::Assistant, own.into_iter().chain(results).collect());
        message.call = Some(Box::default());
        entry.messages.push(message);
        return entry;
    }
    // A tool's result is a message of its own, with the pictures that follow it.
    for part in results {
        match (part, entry.messages.last_mut()) {
            (part @ Part::Image(_), Some(message)) => message.parts.push(part),
            (part, _) => entry.messages.push(Message::new(Role::Tool, vec![part])),
        }
    }
    if !own.is_empty() {
        entry.messages.push(Message::new(Role::User, own));
    }
    entry
}

/// The same of a content that may be a text alone.
fn said(content: &Block<Content>, hidden: &mut bool, lose: Lose<'_>) -> (Vec<Part>, Vec<Part>) {
    match content {
        Block::Object(content) => read(content, hidden, lose),
        Block::Text(text) => (vec![Part::Text(Verbatim.weigh(text))], Vec::new()),
        Block::Other => {
            lose("record of an unexpected shape");
            Default::default()
        }
    }
}

/// The parts of a content, and the results of tools in it.
fn read(content: &Content, hidden: &mut bool, lose: Lose<'_>) -> (Vec<Part>, Vec<Part>) {
    let (mut parts, mut results) = (Vec::new(), Vec::new());
    let parts_of = |raw| serde_json::from_str::<Vec<&RawValue>>(RawValue::get(raw)).unwrap_or_else(|_| vec![raw]);
    for raw in content.parts.map(parts_of).unwrap_or_default() {
        let served = serde_json::from_str::<Served>(raw.get()).unwrap_or_default();
        if let Some(work) = served.tool_call.or(served.tool_response) {
            *hidden = true;
            parts.push(Part::Other(Verbatim.weigh(&visible_text(work.get()))));
        } else {
            match serde_json::from_str::<Blocks<Piece>>(raw.get()) {
                Ok(Blocks(blocks)) => blocks.iter().for_each(|block| piece(block, &Verbatim, &mut parts, &mut results, lose)),
                Err(_) => lose("record of an unexpected shape"),
            }
        }
    }
    (parts, results)
}
