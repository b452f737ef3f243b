//! Replies as programs log them beside their requests: a text, a message, or a response, with the usage beside it.

use super::entry::received;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// What a program logs beside a request and its reply; what it does not log is null.
#[derive(Default)]
pub struct Beside<'a> {
    /// What the call took.
    pub usage: Option<&'a RawValue>,
    /// When it was made.
    pub time: Option<&'a RawValue>,
}

/// The response to Chat Completions that a logged reply stands for: as it is where it is one, or where nothing is known of it.
pub fn response<'a>(reply: &'a RawValue, beside: &Beside) -> Cow<'a, str> {
    let body = received(reply);
    let is_stream = ["data:", "event:"].iter().any(|field| body.trim_start().starts_with(field));
    let mut value = match serde_json::from_str::<Value>(&body) {
        Ok(value) if !reply.get().starts_with('"') || value.get("choices").is_some() || value.get("role").is_some() => value,
        _ if is_stream || !reply.get().starts_with('"') => return body,
        _ => Value::String(body.to_string()),
    };
    let Some(mut whole) = whole(&mut value) else { return body };
    for (key, kept) in [("usage", beside.usage), ("created", beside.time)] {
        if let Some(kept) = kept.and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok())
            && whole.get(key).is_none_or(Value::is_null)
        {
            whole.insert(key.to_owned(), kept);
        }
    }
    Cow::Owned(Value::Object(whole).to_string())
}

/// A response with these choices, or with this reply and what stands beside it.
fn whole(value: &mut Value) -> Option<Map<String, Value>> {
    let replied = |message: Value| Map::from_iter([("choices".to_owned(), json!([{ "message": message }]))]);
    let listed = |list: &[Value], key: &str| list.iter().all(|item| item.get(key).is_some()) && !list.is_empty();
    match value.take() {
        Value::String(words) => Some(replied(json!({ "content": words }))),
        Value::Array(choices) if listed(&choices, "message") => Some(Map::from_iter([("choices".to_owned(), Value::Array(choices))])),
        Value::Array(messages) if listed(&messages, "role") => match <[Value; 1]>::try_from(messages) {
            Ok([message]) => Some(replied(message)),
            Err(_) => None,
        },
        Value::Array(content) if listed(&content, "type") => Some(replied(json!({ "content": content }))),
        Value::Object(response) if response.get("choices").is_some_and(Value::is_array) => Some(response),
        Value::Object(mut kept) => {
            let inner = kept.remove("message").filter(Value::is_object);
            let says = ["content", "tool_calls", "function_call", "reasoning_content"].iter().any(|key| kept.contains_key(*key));
            let words = ["text", "output_text"].iter().find_map(|key| kept.get(*key).filter(|words| words.is_string()).cloned());
            let beside: Vec<(String, Value)> =
                ["id", "model", "usage", "created"].iter().filter_map(|key| Some(((*key).to_owned(), kept.get(*key)?.clone()))).collect();
            let message =
                inner.or_else(|| says.then_some(Value::Object(kept))).or_else(|| words.map(|words| json!({ "content": words })))?;
            let mut whole = replied(message);
            whole.extend(beside);
            Some(whole)
        }
        _ => None,
    }
}
