//! A message of LangChain's, in any of its wrappers.

use crate::format::ground::{Lose, Words, fault, sound, wire};
use crate::format::recorder::thinking;
use crate::format::wire::chat::{Chat, ChatMessage, ChatToolCall, ChatUsage};
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript};
use serde_json::value::RawValue;
use std::borrow::Cow;
#[cfg(feature = "sqlite")]
use {crate::format::ground::string, crate::format::standing::Entry, xxhash_rust::xxh3::xxh3_64};

/// The role in the chat dialect, of a type or a class.
pub fn role_of(kind: &str) -> Option<&'static str> {
    match kind.strip_suffix("Chunk").unwrap_or(kind) {
        "human" | "HumanMessage" => Some("user"),
        "ai" | "AIMessage" => Some("assistant"),
        "system" | "SystemMessage" => Some("system"),
        "tool" | "ToolMessage" | "function" | "FunctionMessage" => Some("tool"),
        _ => None,
    }
}

/// The same of a dictionary that names its role, as `convert_to_messages` takes it.
fn role_of_plain(role: &str) -> Option<&'static str> {
    match role {
        "user" => Some("user"),
        "assistant" => Some("assistant"),
        "developer" => Some("system"),
        role => role_of(role),
    }
}

wire! {
    /// A message in any of its wrappers.
    struct Wrapped<'a> {
        kind: Words<'a> = "type",
        /// Of a plain dictionary of the chat dialect: a state whose reducer is no `add_messages` keeps what a node gave it.
        role: Words<'a>,
        data: Option<&'a RawValue>,
        kwargs: Option<&'a RawValue>,
        /// Of a dumped message the path of its class, else its id.
        id: Option<&'a RawValue>,
    }

    /// What the chat dialect does not have.
    struct Beside<'a> {
        status: Words<'a>,
        additional_kwargs: Option<More<'a>>,
        response_metadata: Option<&'a RawValue>,
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
}

impl Wrapped<'_> {
    fn role(&self) -> Option<&'static str> {
        let class = || serde_json::from_str::<Vec<String>>(self.id?.get()).ok()?.pop();
        if self.kwargs.is_some() { role_of(&class()?) } else { role_of(&self.kind).or_else(|| role_of_plain(&self.role)) }
    }
}

/// What a message of a history is known by there.
#[cfg(feature = "sqlite")]
pub fn entry(json: &str) -> Entry {
    let body = xxh3_64(json.as_bytes());
    let wrapped: Wrapped = serde_json::from_str(json).unwrap_or_default();
    let held = wrapped.kwargs.or(wrapped.data).map_or(json, RawValue::get);
    let id = string(serde_json::from_str::<Wrapped>(held).unwrap_or_default().id);
    let beside: Beside = serde_json::from_str(held).unwrap_or_default();
    Entry {
        key: if id.is_empty() { body } else { xxh3_64(id.as_bytes()) },
        body,
        instructs: wrapped.role() == Some("system"),
        summarises: &*beside.additional_kwargs.unwrap_or_default().lc_source == "summarization",
        ..Entry::default()
    }
}

/// Is this a message?
#[cfg(feature = "sqlite")]
pub fn is_message(json: &str) -> bool {
    serde_json::from_str::<Wrapped>(json).is_ok_and(|wrapped| wrapped.role().is_some())
}

/// The messages of one session.
#[derive(Default)]
pub struct Messages {
    chat: Chat,
}

impl Messages {
    /// Reads a message. Its call is still to be linked to the one before it.
    pub fn read(&mut self, json: &str, scale: &dyn Scale, lose: Lose<'_>) -> Option<Message> {
        let wrapped: Wrapped = match serde_json::from_str(json) {
            Ok(wrapped) => wrapped,
            Err(error) => return refuse(fault(&error, false), lose),
        };
        let Some(role) = wrapped.role() else { return refuse("message of an unknown role", lose) };
        let inner = wrapped.kwargs.or(wrapped.data).map_or(json, RawValue::get);
        let (Ok(mut chat), Ok(beside)) = (serde_json::from_str::<ChatMessage>(inner), serde_json::from_str::<Beside>(inner)) else {
            return refuse("record of an unexpected shape", lose);
        };
        chat.role = Words(Cow::Borrowed(role));
        let more = beside.additional_kwargs.unwrap_or_default();
        if chat.tool_calls.as_ref().is_none_or(Vec::is_empty) {
            chat.tool_calls = more.tool_calls;
        }
        let Some(mut message) = self.chat.message(&chat, scale, lose) else { return refuse("message of an unknown role", lose) };
        if role == "assistant" && !more.reasoning_content.is_empty() {
            message.parts.insert(0, thinking(scale, &more.reasoning_content, 0));
        }
        for part in &mut message.parts {
            if let Part::ToolResult { error, .. } = part {
                *error = &*beside.status == "error";
            }
        }
        message.synthetic = message.role == Role::User && !more.lc_source.is_empty();
        if message.role == Role::Assistant && !is_of_a_node(&message.id, &chat, beside.response_metadata) {
            let metadata = beside.response_metadata.and_then(|raw| serde_json::from_str(raw.get()).ok());
            message.call = Some(Box::new(call(&message.id, &chat, &metadata.unwrap_or_default(), lose)));
        }
        Some(message)
    }
}

/// Did a node of the graph write it in the model's name? The library gives the words of a model an id that begins with `run-`, or the provider's own; a state gives
/// what has none the UUID that Python draws, and what no model has said has empty metadata.
fn is_of_a_node(id: &str, chat: &ChatMessage<'_>, metadata: Option<&RawValue>) -> bool {
    let is_empty = metadata.is_some_and(|raw| raw.get() == "{}");
    let is_uuid = id.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && id.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit());
    is_empty && chat.usage_metadata.is_none() && is_uuid
}

/// A session without calls that no model made: where models report usage, a reply with no id, model and usage was written by a node of the graph.
pub fn of_models(mut session: Transcript) -> Transcript {
    let calls = || session.messages.iter().filter_map(|message| message.call.as_ref());
    if calls().any(|call| call.usage.is_some()) {
        let is_nameless = |call: &Call| call.usage.is_none() && call.id.is_empty() && call.model.is_empty();
        session
            .messages
            .iter_mut()
            .filter(|message| message.call.as_deref().is_some_and(is_nameless))
            .for_each(|message| message.call = None);
    }
    session
}

fn refuse(reason: &str, lose: Lose<'_>) -> Option<Message> {
    lose(reason);
    None
}

fn call(id: &str, chat: &ChatMessage<'_>, metadata: &Metadata<'_>, lose: Lose<'_>) -> Call {
    let model = if metadata.model_name.is_empty() { &metadata.model } else { &metadata.model_name };
    // LangChain's own words first, then the provider's.
    let reported = [chat.usage_metadata, metadata.token_usage, metadata.usage].into_iter().flatten().next();
    let usage = sound(reported.map_or(Ok(None), ChatUsage::read), lose);
    Call { id: id.to_owned(), model: model.to_string(), usage, ..Call::default() }
}
