//! Spans of OpenTelemetry in OTLP's JSON: one export a file, or one a line. Calls of models are told by the attributes that the
//! conventions for generative models, OpenLLMetry and OpenInference give them; their messages stand in attributes or in events.

use super::tokens::{Tokens, count};
use super::{Generation, join};
use crate::format::count::{ABSURD, Count, Dollars};
use crate::format::exchange::Sessions;
use crate::format::json::{fault, values};
use crate::format::words::Words;
use crate::format::{Claim, ReadError, Reader, Source};
use crate::transcript::{Scale, Transcript};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Exports of OpenTelemetry.
pub const READER: Reader =
    Reader { name: "otlp", about: "OpenTelemetry: OTLP JSON spans of model calls (gen_ai, OpenLLMetry, OpenInference)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    if outline.has("resourceSpans") || outline.has("resource_spans") { Claim::Yes } else { Claim::No }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Export<'a> {
    #[serde(borrow, rename = "resourceSpans", alias = "resource_spans")]
    resources: Option<Vec<Resource<'a>>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Resource<'a> {
    #[serde(borrow, rename = "scopeSpans", alias = "scope_spans", alias = "instrumentationLibrarySpans")]
    scopes: Vec<Scope<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Scope<'a> {
    #[serde(borrow)]
    spans: Vec<Span<'a>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Span<'a> {
    #[serde(borrow, alias = "trace_id")]
    trace_id: Words<'a>,
    #[serde(borrow, alias = "span_id")]
    span_id: Words<'a>,
    #[serde(borrow, alias = "parent_span_id")]
    parent_span_id: Words<'a>,
    #[serde(borrow, alias = "start_time_unix_nano")]
    start_time_unix_nano: Words<'a>,
    attributes: Vec<Attribute>,
    events: Vec<Event>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Attribute {
    key: String,
    value: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Event {
    name: String,
    attributes: Vec<Attribute>,
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let sessions = Sessions::new(READER.name, source.name(), scale);
    let mut spans = Vec::new();
    if source.is_printed_over_lines() {
        let text = source.document()?;
        take(&text, 1, true, &mut spans, source);
    } else {
        source.each_line(|source, line| take(&line.text, line.number, line.last_unterminated, &mut spans, source))?;
    }
    join(spans, sessions, |reason| source.lose(0, reason), hand_over);
    Ok(())
}

/// `at_end`: the text is the end of the file, and may be cut off.
fn take(text: &str, number: u64, at_end: bool, spans: &mut Vec<Generation>, source: &mut Source) {
    for export in values::<Export>(text) {
        match export {
            Ok(Export { resources: Some(resources) }) => {
                for span in resources.into_iter().flat_map(|resource| resource.scopes).flat_map(|scope| scope.spans) {
                    spans.push(generation(span, &mut |reason| source.lose(number, reason)));
                }
            }
            Ok(Export { resources: None }) => source.lose(number, "unknown record type"),
            Err(error) => source.lose(number, fault(&error, at_end)),
        }
    }
}

/// The value of an attribute without the name of its type. Whole numbers are written as texts.
fn plain(value: Value) -> Value {
    let Value::Object(mut typed) = value else { return value };
    if let Some(number) = typed.get("intValue") {
        return number.as_str().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| number.clone());
    }
    if let Some(list) = typed.remove("arrayValue") {
        return list.get("values").and_then(Value::as_array).into_iter().flatten().cloned().map(plain).collect();
    }
    if let Some(list) = typed.remove("kvlistValue") {
        let pairs = list.get("values").and_then(Value::as_array).cloned().unwrap_or_default();
        let pair = |pair: Value| Some((pair.get("key")?.as_str()?.to_owned(), plain(pair.get("value")?.clone())));
        return Value::Object(pairs.into_iter().filter_map(pair).collect());
    }
    ["stringValue", "doubleValue", "boolValue"].iter().find_map(|kind| typed.remove(*kind)).unwrap_or_default()
}

fn map(attributes: Vec<Attribute>) -> Map<String, Value> {
    attributes.into_iter().map(|attribute| (attribute.key, plain(attribute.value))).collect()
}

fn generation(span: Span, lose: &mut dyn FnMut(&str)) -> Generation {
    let kept = map(span.attributes);
    let first = |names: &[&str]| names.iter().find_map(|name| kept.get(*name)).cloned().unwrap_or_default();
    let word = |names: &[&str]| first(names).as_str().unwrap_or_default().to_owned();
    let number = |names: &[&str]| names.iter().find_map(|name| kept.get(*name)).map_or(Count::Absent, count);
    let operation = word(&["gen_ai.operation.name", "llm.request.type"]);
    let kind = word(&["openinference.span.kind", "traceloop.span.kind"]);
    let tokens = Tokens {
        input: number(&["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens", "llm.token_count.prompt"]),
        output: number(&[
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.usage.completion_tokens",
            "llm.token_count.completion",
        ]),
        total: number(&["gen_ai.usage.total_tokens", "llm.usage.total_tokens", "llm.token_count.total"]),
        cache_read: number(&[
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "llm.token_count.prompt_details.cache_read",
        ]),
        cache_write: number(&[
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "llm.token_count.prompt_details.cache_write",
        ]),
        reasoning: number(&[
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "llm.token_count.completion_details.reasoning",
        ]),
        ..Tokens::default()
    };
    let called = match operation.as_str() {
        "chat" | "text_completion" | "generate_content" | "completion" => true,
        // A span of an agent or of a tool repeats the figures of what it holds.
        "" => kind == "LLM" || (kind.is_empty() && tokens.input != Count::Absent),
        _ => false,
    };
    let usage = if called { tokens.usage() } else { Ok(None) }.unwrap_or_else(|_| {
        lose(ABSURD);
        None
    });
    let cost = serde_json::from_value::<Dollars>(first(&["gen_ai.usage.cost", "llm.cost.total"])).unwrap_or_default();
    let (mut input, mut output) = (first(&["gen_ai.input.messages"]), first(&["gen_ai.output.messages"]));
    let mut instructions = first(&["gen_ai.system_instructions"]);
    for event in if called { span.events } else { Vec::new() } {
        event_messages(event, &mut input, &mut output, &mut instructions);
    }
    let indexed =
        |names: [&str; 2]| names.iter().map(|name| nested(&kept, name)).find(|found| !found.is_null() && called).unwrap_or_default();
    if input.is_null() {
        input = indexed(["gen_ai.prompt.", "llm.input_messages."]);
    }
    if output.is_null() {
        output = indexed(["gen_ai.completion.", "llm.output_messages."]);
    }
    if input.is_null() {
        input = first(&["gen_ai.prompt", "ai.prompt.messages", "input.value"]);
    }
    if output.is_null() {
        output = first(&["gen_ai.completion", "ai.response.text", "ai.response.toolCalls", "output.value"]);
    }
    if called && input.is_null() {
        lose("call without its content");
    }
    Generation {
        called,
        id: span.span_id.to_string(),
        parent: span.parent_span_id.to_string(),
        trace: span.trace_id.to_string(),
        time: span.start_time_unix_nano.parse::<i64>().ok().map(|nanoseconds| nanoseconds / 1_000_000),
        model: word(&["gen_ai.response.model", "gen_ai.request.model", "llm.model_name"]),
        instructions,
        tools: Some(first(&["gen_ai.tool.definitions"]))
            .filter(|tools| !tools.is_null())
            .unwrap_or_else(|| nested(&kept, "llm.request.functions.")),
        input,
        output,
        usage: usage.map(|mut usage| {
            usage.cost_nano_usd = cost.above_zero();
            usage
        }),
    }
}

/// Messages that stand in events: one an event (`gen_ai.user.message`), or all of them in one.
fn event_messages(event: Event, input: &mut Value, output: &mut Value, instructions: &mut Value) {
    let mut kept = map(event.attributes);
    for (name, place) in
        [("gen_ai.input.messages", &mut *input), ("gen_ai.output.messages", &mut *output), ("gen_ai.system_instructions", instructions)]
    {
        if let Some(found) = kept.remove(name) {
            *place = found;
        }
    }
    let Some(role) = event.name.strip_prefix("gen_ai.").map(|name| name.trim_end_matches(".message")) else { return };
    let place = match role {
        "system" | "user" | "tool" | "assistant" => {
            kept.entry("role").or_insert_with(|| json!(role));
            input
        }
        "choice" => output,
        _ => return,
    };
    if !place.is_array() {
        *place = json!([]);
    }
    if let Value::Array(list) = place {
        list.push(Value::Object(kept));
    }
}

/// A list that was written as one attribute a field: `gen_ai.prompt.0.role`, `gen_ai.prompt.0.tool_calls.0.name`.
fn nested(kept: &Map<String, Value>, start: &str) -> Value {
    let mut root = Value::Null;
    for (key, value) in kept {
        if let Some(path) = key.strip_prefix(start).filter(|path| path.split('.').count() <= DEEPEST) {
            put(&mut root, path, value);
        }
    }
    root
}

/// Puts a value at a path of names and indices.
fn put(place: &mut Value, path: &str, value: &Value) {
    if path.is_empty() {
        *place = value.clone();
        return;
    }
    let (word, rest) = path.split_once('.').unwrap_or((path, ""));
    match word.parse::<usize>() {
        Ok(index) if index < MOST_INDEXED => {
            if !place.is_array() {
                *place = json!([]);
            }
            if let Value::Array(list) = place {
                if list.len() <= index {
                    list.resize(index + 1, Value::Null);
                }
                list.get_mut(index).into_iter().for_each(|place| put(place, rest, value));
            }
        }
        _ => {
            if !place.is_object() {
                *place = json!({});
            }
            if let Value::Object(fields) = place {
                put(fields.entry(word).or_insert(Value::Null), rest, value);
            }
        }
    }
}

/// No conversation has more messages; a larger index is a name.
const MOST_INDEXED: usize = 10_000;

/// No field of a message lies deeper.
const DEEPEST: usize = 8;
