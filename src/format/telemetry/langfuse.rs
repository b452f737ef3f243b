//! Exports of Langfuse: a trace with its observations, or a list of observations. A trace is a run; its calls are the observations of
//! the type GENERATION.

use super::messages::opened;
use super::tokens::Tokens;
use super::{Generation, join};
use crate::format::count::{ABSURD, Dollars};
use crate::format::exchange::Sessions;
use crate::format::json::fault;
use crate::format::pieces::{Piece, Take, each_piece};
use crate::format::time::millis;
use crate::format::words::Words;
use crate::format::{Claim, ReadError, Reader, Source};
use crate::transcript::{Scale, Transcript};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Traces of Langfuse.
pub const READER: Reader = Reader { name: "langfuse", about: "Langfuse: exported traces with their observations (JSON)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let observed = |at: &str| outline.has(&format!("{at}type")) && outline.has(&format!("{at}traceId"));
    // A long trace hides its observations from who looks at the beginning alone.
    let trace = outline.has("trace.projectId") || (outline.has("trace.id") && outline.has("trace.timestamp"));
    if trace || observed("observations[].") || observed("[].") { Claim::Yes } else { Claim::No }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Observation<'a> {
    #[serde(borrow)]
    id: Words<'a>,
    #[serde(borrow)]
    trace_id: Words<'a>,
    #[serde(borrow)]
    parent_observation_id: Words<'a>,
    #[serde(borrow, rename = "type")]
    kind: Words<'a>,
    #[serde(borrow)]
    start_time: Words<'a>,
    #[serde(borrow, alias = "providedModelName")]
    model: Words<'a>,
    input: Value,
    output: Value,
    metadata: Value,
    tool_definitions: Value,
    usage_details: Option<Map<String, Value>>,
    cost_details: Option<Cost>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Cost {
    total: Dollars,
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let sessions = Sessions::new(READER.name, source.name(), scale);
    let mut spans = Vec::new();
    each_piece(source, &[("observations", Take::Elements)], |source, Piece { text, number, .. }| {
        match serde_json::from_str::<Observation>(text) {
            Ok(observation) => spans.push(generation(observation, &mut |reason| source.lose(number, reason))),
            Err(error) => source.lose(number, fault(&error, false)),
        }
        Ok(())
    })?;
    join(spans, sessions, |reason| source.lose(0, reason), hand_over);
    Ok(())
}

fn generation(observation: Observation, lose: &mut dyn FnMut(&str)) -> Generation {
    let tokens = observation.usage_details.as_ref().map(Tokens::of_details).unwrap_or_default();
    let called = &*observation.kind == "GENERATION";
    let usage = if called { tokens.usage() } else { Ok(None) };
    let usage = usage.unwrap_or_else(|_| {
        lose(ABSURD);
        None
    });
    let cost = observation.cost_details.and_then(|cost| cost.total.above_zero());
    let kept = opened(&observation.metadata);
    let attribute = |name: &str| kept.get("attributes").and_then(|kept| kept.get(name)).cloned().unwrap_or_default();
    Generation {
        called,
        id: observation.id.to_string(),
        parent: observation.parent_observation_id.to_string(),
        trace: observation.trace_id.to_string(),
        time: millis(&observation.start_time),
        model: observation.model.to_string(),
        instructions: attribute("gen_ai.system_instructions"),
        tools: Some(attribute("gen_ai.tool.definitions")).filter(|tools| !tools.is_null()).unwrap_or(observation.tool_definitions),
        input: observation.input,
        output: observation.output,
        usage: usage.map(|mut usage| {
            usage.cost_nano_usd = cost;
            usage
        }),
    }
}
