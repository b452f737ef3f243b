//! Messages in the shapes that frameworks hand to their observability tools: those of OpenAI (of both interfaces), Anthropic, Google, OpenTelemetry,
//! LangChain, the AI SDK, and bare texts. A value may be a string that holds JSON.

use crate::format::exchange::{Verbatim, openai_responses};
use crate::format::ground::image;
use crate::format::recorder::thinking;
use crate::format::wire::anthropic::visible_text;
use crate::transcript::{Message, Part, Role, Scale};
use serde_json::Value;
use std::borrow::Cow;

/// What was found of a conversation.
#[derive(Default)]
pub struct Said {
    /// Instructions and tools that were sent apart.
    pub setting: Vec<Part>,
    pub messages: Vec<Message>,
    /// Something had an unknown shape: its text was taken as it stands.
    pub unclear: bool,
    /// The model read more than the content shows: what tools of the provider found.
    pub hidden: bool,
    /// The provider keeps a part of the conversation.
    pub kept: bool,
    /// What the provider calls this response and its conversation.
    pub known_as: Vec<String>,
    /// What it calls the response or the conversation that this one goes on with; empty where it does not say.
    pub follows: String,
}

/// The value, or what the text is in which it was kept.
pub fn opened(value: &Value) -> Cow<'_, Value> {
    let inner = value.as_str().map(str::trim_start).filter(|text| text.starts_with(['{', '[', '"']));
    match inner.and_then(|text| serde_json::from_str::<Value>(text).ok()) {
        // Some tools write a text twice as JSON.
        Some(Value::String(text)) if text.starts_with(['{', '[']) => Cow::Owned(opened(&Value::String(text)).into_owned()),
        Some(inner) => Cow::Owned(inner),
        None => Cow::Borrowed(value),
    }
}

/// Does it say nothing?
pub fn is_blank(value: &Value) -> bool {
    match opened(value).as_ref() {
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(words) => words.is_empty(),
        other => other.is_null(),
    }
}

fn field<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names.iter().filter_map(|name| value.get(name)).find(|found| !found.is_null())
}

fn text(value: &Value, names: &[&str]) -> String {
    field(value, names).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A text as it is, anything else as JSON.
fn text_or_json(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

fn role(name: &str) -> Option<Role> {
    Some(match name {
        "system" | "developer" => Role::System,
        "user" | "human" => Role::User,
        "assistant" | "model" | "ai" | "AIMessage" | "tool-call" => Role::Assistant,
        "tool" | "function" | "tool-response" => Role::Tool,
        _ => return None,
    })
}

/// Is there a tool's result whose call is not among the messages before it? A request that begins as conversations do and holds a reply is whole: some clients
/// give results other ids than calls, or write calls down as text.
pub fn answers_unseen(messages: &[Message]) -> bool {
    if messages.first().is_some_and(|first| matches!(first.role, Role::System | Role::User)) {
        let early = messages.iter().take_while(|message| message.role != Role::Assistant);
        return early.flat_map(|message| &message.parts).any(|part| matches!(part, Part::ToolResult { .. }));
    }
    let parts = messages.iter().flat_map(|message| &message.parts);
    let mut calls: Vec<&str> = Vec::new();
    for part in parts {
        match part {
            Part::ToolCall { id, .. } => calls.push(id),
            Part::ToolResult { call_id, .. } if calls.is_empty() || !(call_id.is_empty() || calls.contains(&call_id.as_str())) => {
                return true;
            }
            _ => {}
        }
    }
    false
}

impl Said {
    /// Adds instructions that were kept apart.
    pub fn instructions(&mut self, value: &Value) {
        let value = opened(value);
        let words = match value.as_ref() {
            Value::Null => return,
            Value::String(words) => words.clone(),
            other => readable(field(other, &["parts", "content"]).unwrap_or(other)),
        };
        if !words.is_empty() {
            self.setting.push(text_part(&words));
        }
    }

    /// Adds definitions of tools that were kept apart.
    pub fn tools(&mut self, value: &Value) {
        let value = opened(value);
        if !is_blank(&value) {
            self.setting.push(Part::Tools(Verbatim.weigh(&text_or_json(Some(&value)))));
        }
    }

    /// Adds what a value says; a text without a role is of this one.
    pub fn add(&mut self, value: &Value, default: Role, lose: &mut dyn FnMut(&str)) {
        let value = opened(value);
        match value.as_ref() {
            Value::Null => {}
            Value::String(words) if words.is_empty() => {}
            Value::String(words) => self.push(default, vec![text_part(words)]),
            Value::Array(list) if list.iter().any(is_item) && list.iter().all(fits_items) => self.items(&value, lose),
            Value::Array(list) => self.list(list, default, lose),
            Value::Object(_) => self.object(&value, default, lose),
            Value::Bool(_) | Value::Number(_) => self.push(default, vec![text_part(&value.to_string())]),
        }
    }

    /// Adds items of OpenAI's Responses interface.
    fn items(&mut self, list: &Value, lose: &mut dyn FnMut(&str)) {
        let (entries, hidden) = openai_responses::items(&list.to_string(), lose);
        self.hidden |= hidden;
        self.messages.extend(entries.into_iter().flat_map(|entry| entry.messages));
    }

    fn list(&mut self, list: &[Value], default: Role, lose: &mut dyn FnMut(&str)) {
        for item in list {
            let item = opened(item);
            // Calls and blocks that stand alone are parts of one message.
            let alone = ["role", "message"].iter().all(|key| item.get(key).is_none()) && is_part(&item);
            match self.messages.last_mut().filter(|message| alone && message.role == default && default == Role::Assistant) {
                Some(last) => last.parts.extend(part(&item, lose)),
                None if alone => {
                    let found = part(&item, lose);
                    self.push(default, found.into_iter().collect());
                }
                None => self.add(&item, default, lose),
            }
        }
    }

    fn object(&mut self, value: &Value, default: Role, lose: &mut dyn FnMut(&str)) {
        if is_item(value) {
            return self.items(&Value::Array(vec![value.clone()]), lose);
        }
        if let Some(output) = value.get("output").filter(|output| output.is_array() && is_response(value)) {
            value.get("instructions").into_iter().for_each(|instructions| self.instructions(instructions));
            value.get("tools").into_iter().for_each(|tools| self.tools(tools));
            let conversation = field(value, &["conversation"]).map_or_else(String::new, |kept| text_or_json(Some(kept)));
            let before = [text(value, &["previous_response_id"]), conversation.clone()].into_iter().find(|id| !id.is_empty());
            self.known_as.extend([text(value, &["id"]), conversation].into_iter().filter(|id| !id.is_empty()));
            self.kept |= before.is_some();
            self.follows = before.unwrap_or_default();
            return self.items(output, lose);
        }
        let config = field(value, &["config"]).unwrap_or(value);
        if let Some(choices) = field(value, &["choices", "candidates"]).and_then(Value::as_array) {
            return choices.iter().take(1).for_each(|choice| self.add(choice, Role::Assistant, lose));
        }
        let named = text(value, &["role"]);
        if !named.is_empty() || value.get("parts").is_some() {
            return self.message(value, &named, default, lose);
        }
        if let Some(inner) = field(value, &["message"]) {
            return self.add(inner, default, lose);
        }
        if let Some(conversation) = field(value, &["messages", "contents", "prompt", "input", "args", "generations"]) {
            if let Some(instructions) = field(config, &["system_instruction", "systemInstruction", "system", "instructions"]) {
                self.instructions(instructions);
            }
            if let Some(tools) = field(config, &["tools"]) {
                self.tools(tools);
            }
            return self.add(conversation, default, lose);
        }
        // LangChain's own classes: the fields stand under `kwargs`, the kind in the last word of `id`, or in `type`.
        let held = field(value, &["kwargs", "data"]).unwrap_or(value);
        let class = field(value, &["id"]).and_then(Value::as_array).and_then(|words| words.last()).and_then(Value::as_str);
        let class = class
            .map_or_else(|| text(value, &["type"]), |class| class.trim_end_matches("Chunk").trim_end_matches("Message").to_lowercase());
        if let Some(inner) = role(&class).filter(|_| held.get("content").is_some()) {
            return self.message(held, "", inner, lose);
        }
        if let Some(content) = field(value, &["content", "text", "output", "tool_calls"]) {
            return match content {
                Value::Object(_) => self.add(content, default, lose),
                _ => self.message(value, "", default, lose),
            };
        }
        if is_part(value) {
            let found = part(value, lose);
            return self.push(default, found.into_iter().collect());
        }
        self.unclear = true;
        lose("content of an unknown shape (taken as it stands)");
        self.push(default, vec![Part::Other(Verbatim.weigh(&value.to_string()))]);
    }

    fn message(&mut self, value: &Value, named: &str, default: Role, lose: &mut dyn FnMut(&str)) {
        // OpenInference wraps each part of several.
        let wrapped = |part: &Value| part.get("message_content").unwrap_or(part).clone();
        let contents = field(value, &["contents"]).and_then(Value::as_array).map(|list| list.iter().map(wrapped).collect::<Value>());
        let content = contents.as_ref().or_else(|| field(value, &["content", "parts", "text", "output"]));
        // Some frameworks put the definitions of the tools into the conversation.
        if named == "tool" && content.is_some_and(|content| content.get("function").is_some()) {
            return self.tools(content.unwrap_or(&Value::Null));
        }
        // Others give a tool's result the name of the tool for a role.
        let (role, tool) = match role(named) {
            Some(role) => (role, String::new()),
            None if named.is_empty() => (default, String::new()),
            None => (Role::Tool, named.to_owned()),
        };
        let mut parts = Vec::new();
        let thought = text(value, &["reasoning_content", "reasoning"]);
        if role == Role::Assistant && !thought.is_empty() {
            parts.push(thinking(&Verbatim, &thought, 0));
        }
        let calls = field(value, &["tool_calls"]).or_else(|| value.pointer("/additional_kwargs/tool_calls"));
        let listed = content.map(opened).filter(|_| text(value, &["finish_reason"]) == "tool_calls");
        let in_text = listed.as_deref().filter(|calls| calls.pointer("/0/function").is_some());
        match content {
            _ if in_text.is_some() => {}
            None | Some(Value::Null) => {}
            Some(content) if role == Role::Tool && !is_list_of_parts(content) => {
                let name = if tool.is_empty() { text(value, &["name", "tool_name"]) } else { tool };
                let call_id = text(value, &["tool_call_id", "id"]);
                parts.push(result(call_id, name, &readable_or_json(content)));
            }
            Some(Value::String(words)) if words.is_empty() => {}
            Some(Value::String(words)) => parts.push(text_part(words)),
            Some(Value::Array(list)) => parts.extend(list.iter().filter_map(|item| part(&opened(item), lose))),
            Some(other) => parts.extend(part(other, lose)),
        }
        for call in in_text.or(calls).and_then(Value::as_array).into_iter().flatten() {
            let call = tool_call(call.get("tool_call").unwrap_or(call));
            // LangChain lists what Anthropic's blocks hold already.
            if !parts.iter().any(|part| same_call(part, &call)) {
                parts.push(call);
            }
        }
        self.push(role, parts);
        // smolagents writes calls down as what the assistant said: no model was asked for that.
        if let Some(message) = self.messages.last_mut().filter(|_| named == "tool-call") {
            message.call = None;
        }
    }

    /// Adds a message. Each tool's result is a message of its own.
    fn push(&mut self, role: Role, parts: Vec<Part>) {
        let (results, own): (Vec<Part>, Vec<Part>) = parts.into_iter().partition(|part| matches!(part, Part::ToolResult { .. }));
        let answered = !results.is_empty();
        self.messages.extend(results.into_iter().map(|result| Message::new(Role::Tool, vec![result])));
        if !own.is_empty() || !answered {
            let mut message = Message::new(role, own);
            message.call = (role == Role::Assistant).then(Box::default);
            self.messages.push(message);
        }
    }
}

/// Texts alone are what a tool returned.
fn is_list_of_parts(content: &Value) -> bool {
    content.as_array().is_some_and(|list| list.iter().all(is_part) && list.iter().any(|item| item.get("text").is_none()))
}

/// Is it a block of a message's content, rather than a message?
fn is_part(value: &Value) -> bool {
    let kind = text(value, &["type"]);
    let marks = ["functionCall", "function_call", "functionResponse", "function_response", "toolCallId", "toolName"];
    value.is_object()
        && (marks.iter().any(|mark| value.get(mark).is_some())
            || (value.get("text").is_some() && value.get("role").is_none())
            || matches!(kind.as_str(), "text" | "reasoning" | "thinking" | "image" | "image_url" | "blob" | "file" | "uri")
            || kind.starts_with("tool"))
}

/// Is it a response of OpenAI's Responses interface?
fn is_response(value: &Value) -> bool {
    text(value, &["object"]) == "response" || value.get("text").is_some_and(Value::is_object)
}

/// Is it an item of that interface other than a message: a call of a tool, a result, or reasoning?
fn is_item(value: &Value) -> bool {
    let kind = text(value, &["type"]);
    let called = kind != "tool_call" && (kind.ends_with("_call") || kind.ends_with("_call_output"));
    let marked = |marks: &[&str]| marks.iter().any(|mark| value.get(mark).is_some());
    called && marked(&["call_id", "status"]) || kind == "reasoning" && marked(&["summary"])
}

/// Does it fit a list of such items: one of them, or a message without what other interfaces put into one?
fn fits_items(value: &Value) -> bool {
    let is_message =
        || ["user", "system", "developer", "assistant"].contains(&&*text(value, &["role"])) && value.get("tool_calls").is_none();
    is_item(value) || is_message()
}

fn result(call_id: String, name: String, words: &str) -> Part {
    Part::ToolResult { call_id, name, text: Verbatim.weigh_result(words), error: false }
}

fn tool_call(value: &Value) -> Part {
    let inner = field(value, &["function", "functionCall", "function_call"]).unwrap_or(value);
    let arguments = text_or_json(field(inner, &["arguments", "args", "input"]));
    let id = [text(value, &["id", "toolCallId", "call_id", "tool_call_id"]), text(inner, &["id"])];
    let id = id.into_iter().find(|id| !id.is_empty()).unwrap_or_default();
    Part::ToolCall { id, name: text(inner, &["name", "toolName"]), arguments: Verbatim.weigh(&arguments) }
}

/// Are these one call of a tool, by its id?
fn same_call(one: &Part, other: &Part) -> bool {
    matches!((one, other), (Part::ToolCall { id, .. }, Part::ToolCall { id: known, .. }) if id == known && !id.is_empty())
}

/// One block of a message's content.
fn part(value: &Value, lose: &mut dyn FnMut(&str)) -> Option<Part> {
    if let Some(words) = value.as_str() {
        return (!words.is_empty()).then(|| text_part(words));
    }
    if let Some(answer) = field(value, &["functionResponse", "function_response"]) {
        return Some(result(text(answer, &["id"]), text(answer, &["name"]), &text_or_json(answer.get("response"))));
    }
    if field(value, &["functionCall", "function_call"]).is_some() {
        return Some(tool_call(value));
    }
    let kind = text(value, &["type"]);
    let content = field(value, &["text", "content", "thinking", "reasoning"]);
    match kind.as_str() {
        "tool_call" | "tool-call" | "tool_use" | "function" => Some(tool_call(value)),
        "tool_call_response" | "tool_result" | "tool-result" => {
            let id = text(value, &["id", "tool_use_id", "toolCallId", "call_id"]);
            let answer = field(value, &["response", "result", "output", "content"]);
            Some(result(id, text(value, &["name", "toolName"]), &answer.map(readable_or_json).unwrap_or_default()))
        }
        "reasoning" | "thinking" | "thought" => Some(thinking(&Verbatim, &text_or_json(content), 0)),
        "image_url" | "image" | "blob" | "input_image" | "uri" => {
            let address = field(value, &["image_url", "url", "data", "content", "image"]);
            let address = address.map(|address| address.get("url").or(address.pointer("/image/url")).unwrap_or(address));
            let address = address.and_then(Value::as_str).unwrap_or_default();
            Some(Part::Image(if address.contains(':') { image::from_data_url(address) } else { image::from_base64(address) }))
        }
        // .NET writes the class of what it cannot name otherwise.
        _ if kind.contains("Reasoning") => {
            let inner = content.filter(|content| content.is_object()).unwrap_or(value);
            Some(thinking(&Verbatim, &text(inner, &["text"]), text(inner, &["protectedData"]).len()))
        }
        "text" | "input_text" | "output_text" | "" if content.is_some() => Some(text_part(&text_or_json(content))),
        _ if field(value, &["toolName"]).is_some() => Some(tool_call(value)),
        _ => {
            lose("unknown content part");
            let words = readable(value);
            (!words.is_empty()).then(|| Part::Other(Verbatim.weigh(&words)))
        }
    }
}

/// The texts in a value of any shape.
fn readable(value: &Value) -> String {
    match value {
        Value::String(words) => words.clone(),
        other => visible_text(&other.to_string()),
    }
}

/// What a tool returned: its text, the texts of its blocks, or JSON.
fn readable_or_json(value: &Value) -> String {
    match value {
        Value::Array(list) if !list.is_empty() && list.iter().all(|item| item.get("text").is_some()) => {
            list.iter().map(|item| text(item, &["text"])).collect::<Vec<_>>().join("\n")
        }
        other => text_or_json(Some(other)),
    }
}

fn text_part(text: &str) -> Part {
    Part::Text(Verbatim.weigh(text))
}
