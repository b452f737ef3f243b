//! Messages as the AI SDK's screens have them (vercel/ai, `packages/ai/src/ui/ui-messages.ts`): one message of the model holds all steps of a turn, with what its
//! tools returned. Version 4 keeps calls of tools beside the content, later ones everything as parts.

use super::chat::{ChatMessage, text_of};
use crate::format::ground::Lose;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The reason for the loss of one usage that stands beside several calls.
pub const OF_SEVERAL: &str = "usage beside a conversation of several calls";

/// One request for a reply: what the model said, its calls, and what came back.
#[derive(Default)]
struct Step {
    number: Option<u64>,
    content: Vec<Value>,
    calls: Vec<Value>,
    results: Vec<Value>,
}

/// The messages of Chat Completions that such a message stands for. `None` where it is another one.
pub fn steps(message: &ChatMessage, lose: Lose<'_>) -> Option<Vec<Value>> {
    let list = |raw: Option<&RawValue>| serde_json::from_str::<Vec<Value>>(raw?.get()).ok().filter(|list| !list.is_empty());
    let (parts, called) = (list(message.parts), list(message.tool_invocations));
    if parts.is_none() && called.is_none() {
        return None;
    }
    let mut steps = vec![Step::default()];
    match parts {
        Some(parts) => parts.iter().for_each(|part| read(part, &mut steps, lose)),
        // What is said stands behind what came back, where all has come.
        None => {
            let called = called.unwrap_or_default();
            let words = json!({ "type": "text", "text": text_of(&message.content) });
            let open = called.iter().any(|call| call.get("result").is_none());
            if open {
                read(&words, &mut steps, lose);
            }
            called.iter().for_each(|call| invoke(call, text(call, "toolName"), &mut steps));
            if !open {
                read(&words, &mut steps, lose);
            }
        }
    }
    let role = &*message.role;
    let asked = steps.iter().filter(|step| !step.is_empty()).count();
    let kept = message.metadata.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()).unwrap_or_default();
    let own = message.usage.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let usage = own.or_else(|| ["usage", "totalUsage"].iter().find_map(|name| kept.get(name)).cloned());
    if asked > 1 && usage.is_some() {
        lose(OF_SEVERAL);
    }
    let mut made = Vec::new();
    for step in steps.into_iter().filter(|step| !step.is_empty()) {
        let first = made.is_empty();
        let mut said = json!({ "role": role, "content": step.content, "tool_calls": step.calls, "model": kept.get("model") });
        if let Some(said) = said.as_object_mut() {
            if first {
                let raw = |raw: Option<&RawValue>| raw.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()).unwrap_or_default();
                said.insert("id".to_owned(), raw(message.id));
                said.insert("timestamp".to_owned(), raw(message.timestamp));
            }
            if asked == 1 {
                said.insert("usage".to_owned(), usage.clone().unwrap_or_default());
            }
        }
        made.push(said);
        made.extend(step.results);
    }
    Some(made)
}

impl Step {
    fn is_empty(&self) -> bool {
        self.content.is_empty() && self.calls.is_empty()
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Takes in a part.
fn read(part: &Value, steps: &mut Vec<Step>, lose: Lose<'_>) {
    let kind = text(part, "type");
    let inner = part.get("toolInvocation");
    match kind {
        "step-start" => steps.push(Step::default()),
        "text" if text(part, "text").is_empty() => {}
        // The older versions have another name for what was thought.
        "reasoning" if part.get("reasoning").is_some() => {
            say(json!({ "type": "reasoning", "text": part.get("reasoning") }), steps);
        }
        "file" if text(part, "mediaType").starts_with("image/") || text(part, "mimeType").starts_with("image/") => {
            let data = text(part, "data");
            let url = if data.is_empty() { text(part, "url").to_owned() } else { format!("data:;base64,{data}") };
            say(json!({ "type": "image_url", "image_url": { "url": url } }), steps);
        }
        "file" => say(json!({ "type": "file", "file": { "filename": part.get("filename") } }), steps),
        "tool-invocation" if inner.is_some() => inner.into_iter().for_each(|call| invoke(call, text(call, "toolName"), steps)),
        "dynamic-tool" => invoke(part, text(part, "toolName"), steps),
        // Messages to a model have parts of these names, too.
        _ if kind.starts_with("tool-") && part.get("state").is_some() => {
            invoke(part, kind.trim_start_matches("tool-"), steps);
        }
        _ if kind.starts_with("data-") || kind.starts_with("source") => lose("part of a message that is shown alone"),
        _ => say(part.clone(), steps),
    }
}

/// The model says this. Behind what a tool returned it is another reply.
fn say(part: Value, steps: &mut Vec<Step>) {
    match steps.last_mut().filter(|step| step.results.is_empty()) {
        Some(step) => step.content.push(part),
        None => steps.push(Step { content: vec![part], ..Step::default() }),
    }
}

/// The model calls a tool.
fn invoke(call: &Value, name: &str, steps: &mut Vec<Step>) {
    let number = call.get("step").and_then(Value::as_u64);
    let goes_on = |step: &&mut Step| step.number.is_none() || number.is_none() || step.number == number;
    if steps.last_mut().filter(goes_on).is_none() {
        steps.push(Step::default());
    }
    let Some(step) = steps.last_mut() else { return };
    step.number = step.number.or(number);
    let field = |names: &[&str]| names.iter().filter_map(|name| call.get(name)).find(|value| !value.is_null());
    let id = field(&["toolCallId"]);
    let arguments = field(&["input", "args", "rawInput"]);
    step.calls.push(json!({ "id": id, "name": name, "arguments": arguments }));
    if let Some(result) = field(&["output", "result", "errorText"]) {
        let words = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
        step.results.push(json!({ "role": "tool", "tool_call_id": id, "name": name, "content": words }));
    }
}
