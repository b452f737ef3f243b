//! Spans of OpenTelemetry, in OTLP's JSON, as its libraries print them or as Jaeger and Tempo return them: one export a file, one a line, or a list of them. Calls of models are told by the
//! attributes that the conventions for generative models, OpenLLMetry and OpenInference give them; their messages stand in attributes or in events.

use super::calls::{Generation, join};
use super::messages::opened;
use super::spans::{Event, Span, spans};
use super::tokens::{Tokens, count};
use crate::format::exchange::Sessions;
use crate::format::ground::{Count, Dollars, ReadError, Source, fault, sound};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Spans of which those with the attributes of a model's call are calls.
pub const READER: Reader = Reader {
    name: "otlp",
    about: "OpenTelemetry: spans of model calls in OTLP JSON or printed (gen_ai, OpenLLMetry, OpenInference), Jaeger, Tempo",
    claims,
    read,
};

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let printed = |at: &&str| outline.shows_at(at, "attributes spanId|span_id|context.span_id|context.trace_id|spanContext.spanId");
    let exported = |at: &&str| {
        outline.shows_at(at, "resourceSpans|resource_spans|trace.resourceSpans|batches[].scopeSpans|batches[].instrumentationLibrarySpans")
    };
    let jaeger = |at: &&str| outline.shows_at(at, "traceID spanID operationName");
    Claim::when(
        ["", "[]."].iter().any(exported)
            || ["", "[].", "spans[].", "data[]."].iter().any(printed)
            || ["", "[].", "spans[].", "[].spans[].", "data[].spans[]."].iter().any(jaeger),
    )
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let sessions = Sessions::new(READER.name, source.name(), scale);
    let mut found = Vec::new();
    source.each_text(&[], |source, text, number, at_end| {
        source.values_of(text, number, at_end, |value: &RawValue, lose| match spans(value.get()) {
            Ok(Some(listed)) => found.extend(listed.into_iter().map(|span| generation(span, lose))),
            Ok(None) => lose("unknown record type"),
            Err(error) => lose(fault(&error, at_end)),
        });
    })?;
    join(found, sessions, |reason| source.lose(0, reason), hand_over);
    Ok(())
}

fn generation(mut span: Span, lose: &mut dyn FnMut(&str)) -> Generation {
    let kept = std::mem::take(&mut span.attributes).0;
    let operation = word(&kept, &["gen_ai.operation.name", "llm.request.type"]);
    let named = word(&kept, &["openinference.span.kind", "traceloop.span.kind"]);
    let kind = if named.is_empty() { span.kind() } else { &named };
    let tokens = tokens(&kept);
    let called = match operation.as_str() {
        "chat" | "text_completion" | "generate_content" | "completion" | "call_llm" => true,
        // A span of an agent or of a tool repeats the figures of what it holds.
        "" => kind == "LLM" || (kind.is_empty() && tokens.input != Count::Absent),
        _ => false,
    };
    // Of other operations, and of an agent's whole run, it tells what is left out.
    let whole = operation.is_empty() && kind == "AGENT";
    let other = || tokens.usage().ok().flatten().filter(|_| whole || !operation.is_empty());
    let usage = if called { sound(tokens.usage(), lose) } else { other() };
    let cost = serde_json::from_value::<Dollars>(first(&kept, &["gen_ai.usage.cost", "llm.cost.total"])).unwrap_or_default();
    let (mut input, mut output) = (first(&kept, &["gen_ai.input.messages"]), first(&kept, &["gen_ai.output.messages"]));
    let mut instructions = first(&kept, &["gen_ai.system_instructions"]);
    for event in span.events.take().filter(|_| called).into_iter().flatten() {
        event_messages(event, &mut input, &mut output, &mut instructions);
    }
    complete(&kept, called, &mut input, &mut output);
    Generation {
        called,
        whole,
        id: span.id(),
        parent: span.parent(),
        trace: span.trace(),
        response: word(&kept, &["gen_ai.response.id", "ai.response.id"]),
        time: span.time(),
        model: word(&kept, &["gen_ai.response.model", "gen_ai.request.model", "llm.model_name"]),
        instructions,
        tools: [
            first(&kept, &["gen_ai.tool.definitions", "ai.prompt.tools"]),
            nested(&kept, "llm.request.functions."),
            nested(&kept, "llm.tools."),
        ]
        .into_iter()
        .find(|tools| !tools.is_null())
        .unwrap_or_default(),
        input,
        output,
        usage: usage.map(|usage| usage.or_cost(cost.above_zero())),
    }
}

/// The first attribute with one of these names; null where there is none.
fn first(kept: &Map<String, Value>, names: &[&str]) -> Value {
    names.iter().find_map(|name| kept.get(*name)).cloned().unwrap_or_default()
}

fn word(kept: &Map<String, Value>, names: &[&str]) -> String {
    first(kept, names).as_str().unwrap_or_default().to_owned()
}

/// The usage of a call, by the names of all conventions.
fn tokens(kept: &Map<String, Value>) -> Tokens {
    let number = |names: &[&str]| names.iter().find_map(|name| kept.get(*name)).map_or(Count::Absent, count);
    Tokens {
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
            "ai.usage.cachedInputTokens",
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
            "ai.usage.reasoningTokens",
        ]),
        ..Tokens::default()
    }
}

/// Messages that stand in other attributes, where those of the conventions name none.
fn complete(kept: &Map<String, Value>, called: bool, input: &mut Value, output: &mut Value) {
    let indexed =
        |names: [&str; 2]| names.iter().map(|name| nested(kept, name)).find(|found| !found.is_null() && called).unwrap_or_default();
    if input.is_null() {
        *input = indexed(["gen_ai.prompt.", "llm.input_messages."]);
    }
    if output.is_null() {
        *output = indexed(["gen_ai.completion.", "llm.output_messages."]);
    }
    if input.is_null() {
        *input = first(kept, &["gen_ai.prompt", "ai.prompt.messages", "input.value", "gcp.vertex.agent.llm_request"]);
    }
    if output.is_null() {
        *output = said_to_the_ai_sdk(kept);
    }
    if output.is_null() {
        *output = first(kept, &["gen_ai.completion", "output.value", "gcp.vertex.agent.llm_response"]);
    }
    if output.is_null() {
        *output = said_to_any_agent(&first(kept, &["gen_ai.output"]));
    }
}

/// A reply as the AI SDK keeps it, each of its parts apart; nothing where it keeps none.
fn said_to_the_ai_sdk(kept: &Map<String, Value>) -> Value {
    let text = |name: &str| kept.get(name).and_then(Value::as_str).filter(|words| !words.is_empty());
    let thought = text("ai.response.reasoning").map(|words| json!({ "type": "reasoning", "text": words }));
    let words = ["ai.response.text", "ai.response.object"].into_iter().find_map(text).map(|words| json!({ "type": "text", "text": words }));
    let calls = kept.get("ai.response.toolCalls").map(|calls| opened(calls).into_owned());
    let parts: Vec<Value> =
        thought.into_iter().chain(words).chain(calls.as_ref().and_then(Value::as_array).cloned().into_iter().flatten()).collect();
    if parts.is_empty() { Value::Null } else { Value::Array(parts) }
}

/// A reply as any-agent keeps it: a text, or calls of tools by name and arguments.
fn said_to_any_agent(kept: &Value) -> Value {
    let kept = opened(kept);
    let call = |call: &Value| Some(json!({ "type": "tool-call", "toolName": call.get("tool.name")?, "input": call.get("tool.args") }));
    let calls: Option<Vec<Value>> = kept.as_array().and_then(|list| list.iter().map(call).collect());
    calls.map_or_else(|| kept.into_owned(), Value::Array)
}

/// Messages that stand in events: one an event (`gen_ai.user.message`), or all of them in one.
fn event_messages(event: Event, input: &mut Value, output: &mut Value, instructions: &mut Value) {
    let mut kept = event.attributes.0;
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
    // Each element of a list has an attribute: lists cannot have more elements, at all depths together, than attributes have words.
    let mut room = kept.len() * DEEPEST;
    for (key, value) in kept {
        if let Some(path) = key.strip_prefix(start).filter(|path| path.split('.').count() <= DEEPEST) {
            put(&mut root, path, value, &mut room);
        }
    }
    root
}

/// Puts a value at a path of names and indices.
fn put(place: &mut Value, path: &str, value: &Value, room: &mut usize) {
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
                let more = (index + 1).saturating_sub(list.len());
                if let Some(left) = room.checked_sub(more) {
                    *room = left;
                    list.resize(list.len() + more, Value::Null);
                }
                list.get_mut(index).into_iter().for_each(|place| put(place, rest, value, room));
            }
        }
        _ => {
            if !place.is_object() {
                *place = json!({});
            }
            if let Value::Object(fields) = place {
                put(fields.entry(word).or_insert(Value::Null), rest, value, room);
            }
        }
    }
}

/// No conversation has more messages; a larger index is a name.
const MOST_INDEXED: usize = 10_000;

/// No field of a message lies deeper.
const DEEPEST: usize = 8;
