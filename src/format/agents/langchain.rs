//! LangChain and LangGraph: lists of messages as `messages_to_dict`, `dumpd` or `model_dump` write them, alone, under `messages`, or in the
//! state of a graph (`values`, `channel_values`), or a message a line.
//!
//! Within its wrapper a message is close to the chat dialect. Definitions of tools are not in it.

use crate::format::ground::{Lose, Outline, ReadError, Source, Take, Words, each_piece, fault, sound, wire};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::{Recorder, thinking};
use crate::format::wire::chat::{Chat, ChatMessage, ChatToolCall, ChatUsage};
use crate::transcript::{Call, Part, Role, Scale, Transcript};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Message lists of LangChain and LangGraph.
pub const READER: Reader = Reader { name: "langchain", about: "LangChain and LangGraph messages and states (JSON, JSONL)", claims, read };

/// Where the first message of a document may stand.
const PLACES: [&str; 4] = ["[].", "messages[].", "values.messages[].", "channel_values.messages[]."];

fn claims(source: &Source) -> Claim {
    Claim::when(is_document(source.outline()) || is_message(source.outline(), ""))
}

fn is_document(outline: &Outline) -> bool {
    PLACES.iter().any(|at| is_message(outline, at))
}

/// Does a message stand at this place?
fn is_message(outline: &Outline, at: &str) -> bool {
    let named = role_of(outline.text(&format!("{at}type"))).is_some();
    let plain = outline.shows_at(at, "!role data.content|content data.content|additional_kwargs|response_metadata");
    (named && plain) || outline.shows_at(at, "type=constructor lc kwargs.content")
}

/// The role in the chat dialect, of a type or a class.
fn role_of(kind: &str) -> Option<&'static str> {
    match kind.strip_suffix("Chunk").unwrap_or(kind) {
        "human" | "HumanMessage" => Some("user"),
        "ai" | "AIMessage" => Some("assistant"),
        "system" | "SystemMessage" => Some("system"),
        "tool" | "ToolMessage" | "function" | "FunctionMessage" => Some("tool"),
        _ => None,
    }
}

wire! {
    /// A message in any of its wrappers.
    struct Wrapped<'a> {
        kind: Words<'a> = "type",
        data: Option<&'a RawValue>,
        kwargs: Option<&'a RawValue>,
        /// Of a dumped message the path of its class, else its id.
        id: Option<&'a RawValue>,
    }

    /// What the chat dialect does not have.
    struct Beside<'a> {
        status: Words<'a>,
        additional_kwargs: Option<More<'a>>,
        response_metadata: Option<Metadata<'a>>,
    }

    struct More<'a> {
        tool_calls: Option<Vec<ChatToolCall<'a>>>,
        reasoning_content: Words<'a>,
        /// Which middleware said it in the person's name.
        lc_source: Words<'a>,
    }

    struct Metadata<'a> {
        model_name: Words<'a>,
        model: Words<'a>,
        token_usage: Option<&'a RawValue>,
        usage: Option<&'a RawValue>,
    }

    /// The state of a graph.
    struct State<'a> { messages: Vec<&'a RawValue> }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut session = Session { made: Recorder::new(READER.name, source.name(), scale), chat: Chat::default() };
    if is_document(source.outline()) {
        let wanted = [("messages", Take::Elements), ("values", Take::Whole), ("channel_values", Take::Whole)];
        each_piece(source, &wanted, |source, piece| match piece.key {
            "values" | "channel_values" => {
                piece.take(source, |state: State, lose| state.messages.iter().for_each(|raw| session.message(raw.get(), lose)));
            }
            _ => session.message(piece.text, &mut |reason| source.lose(piece.number, reason)),
        });
    } else {
        source.each_line(|source, line| source.values(line, |raw: &RawValue, lose| session.message(raw.get(), lose)))?;
    }
    session.made.end(source, hand_over);
    Ok(())
}

struct Session<'s> {
    made: Recorder<'s>,
    chat: Chat,
}

impl Session<'_> {
    fn message(&mut self, json: &str, lose: Lose<'_>) {
        let wrapped: Wrapped = match serde_json::from_str(json) {
            Ok(wrapped) => wrapped,
            Err(error) => return lose(fault(&error, false)),
        };
        let class = || wrapped.id.and_then(|id| serde_json::from_str::<Vec<String>>(id.get()).ok()?.pop()).unwrap_or_default();
        let kind = if wrapped.kwargs.is_some() { Cow::Owned(class()) } else { Cow::Borrowed(&*wrapped.kind) };
        let Some(role) = role_of(&kind) else { return lose("message of an unknown role") };
        let inner = wrapped.kwargs.or(wrapped.data).map_or(json, RawValue::get);
        let (Ok(mut chat), Ok(beside)) = (serde_json::from_str::<ChatMessage>(inner), serde_json::from_str::<Beside>(inner)) else {
            return lose("record of an unexpected shape");
        };
        chat.role = Words(Cow::Borrowed(role));
        let more = beside.additional_kwargs.unwrap_or_default();
        if chat.tool_calls.as_ref().is_none_or(Vec::is_empty) {
            chat.tool_calls = more.tool_calls;
        }
        let Some(mut message) = self.chat.message(&chat, self.made.scale, lose) else { return lose("message of an unknown role") };
        if role == "assistant" && !more.reasoning_content.is_empty() {
            message.parts.insert(0, thinking(self.made.scale, &more.reasoning_content, 0));
        }
        for part in &mut message.parts {
            if let Part::ToolResult { error, .. } = part {
                *error = &*beside.status == "error";
            }
        }
        message.synthetic = message.role == Role::User && !more.lc_source.is_empty();
        if message.role == Role::Assistant {
            message.call = Some(Box::new(self.call(&message.id, &chat, &beside.response_metadata.unwrap_or_default(), lose)));
        }
        self.made.push(message);
    }

    fn call(&mut self, id: &str, chat: &ChatMessage<'_>, metadata: &Metadata<'_>, lose: Lose<'_>) -> Call {
        let model = if metadata.model_name.is_empty() { &metadata.model } else { &metadata.model_name };
        // LangChain's own words first, then the provider's.
        let reported = [chat.usage_metadata, metadata.token_usage, metadata.usage].into_iter().flatten().next();
        let usage = sound(reported.map_or(Ok(None), ChatUsage::read), lose);
        let unchained = self.made.chain.link(model);
        Call { id: id.to_owned(), model: model.to_string(), usage, unchained, ..Call::default() }
    }
}
