//! Headers of a response, in the shapes that recorders give them.

use crate::format::ground::{Count, millis};
use crate::format::usage::Reported;
use crate::transcript::Usage;
use serde_json::Value;
use serde_json::value::RawValue;

/// When it was sent, by its own word.
pub fn dated(headers: Option<&RawValue>) -> Option<i64> {
    millis(&header(headers, "date")?).filter(|time| *time > 0)
}

/// The id that Amazon gives a request, whose replies have none; empty where there is none, or where something else was written over it.
pub fn named(headers: Option<&RawValue>) -> String {
    let is_own = |id: &String| id.bytes().filter(u8::is_ascii_hexdigit).count() >= 32;
    header(headers, "x-amzn-requestid").filter(is_own).unwrap_or_default()
}

/// What Amazon counts of a reply there, the only count of models whose replies have none.
pub fn counted(headers: Option<&RawValue>) -> Option<Usage> {
    let count = |what: &str| header(headers, &format!("x-amzn-bedrock-{what}-token-count"))?.parse::<u64>().ok().map(Count::of);
    let reported = Reported { input: count("input")?, output: count("output")?, ..Reported::default() };
    reported.usage().ok().flatten()
}

/// The value of a header: of an object, whose values may be lists, of an archive's list of objects, or of a list of names and values in turn.
fn header(headers: Option<&RawValue>, name: &str) -> Option<String> {
    let is_it = |key: &str| key.eq_ignore_ascii_case(name);
    let value = match serde_json::from_str::<Value>(headers?.get()).ok()? {
        Value::Object(fields) => fields.into_iter().find_map(|(key, value)| is_it(&key).then_some(value)),
        Value::Array(list) => {
            let named = |field: &Value| field.get("name").and_then(Value::as_str).is_some_and(is_it);
            let object = list.iter().find(|field| named(field)).and_then(|field| field.get("value"));
            let pair = || list.chunks_exact(2).find_map(|pair| pair.first()?.as_str().filter(|key| is_it(key)).and(pair.last()));
            object.or_else(pair).cloned()
        }
        _ => None,
    }?;
    value.get(0).unwrap_or(&value).as_str().map(str::to_owned)
}
