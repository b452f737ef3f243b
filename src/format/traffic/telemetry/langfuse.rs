//! Exports of Langfuse: a trace with its observations, or a list of observations, as files have it or as its API returns it
//! (<https://api.reference.langfuse.com>). A trace is a run; its calls are the observations of
//! the type GENERATION.

use super::calls::{Generation, join};
use super::messages::opened;
use super::tokens::{Tokens, dollars};
use crate::format::exchange::Sessions;
use crate::format::ground::{ReadError, Source, Words, millis, sound, wire};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript};
use serde_json::Value;

/// Traces of which each observation of the type GENERATION is a call.
pub const READER: Reader =
    Reader { name: "langfuse", about: "Langfuse: exported traces with their observations, lists of observations (JSON)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let batch = |at: &str| outline.shows_at(at, "type trace_id start_time parent_observation_id");
    let observed = |at: &str| outline.shows_at(at, "type traceId") || batch(at);
    // A long trace hides its observations from who looks at the beginning alone.
    let trace = outline.shows("trace.projectId|trace.id trace.projectId|trace.timestamp");
    Claim::when(
        trace || ["observations[].", "[].", "data[]."].into_iter().any(observed) || (observed("") && outline.shows("startTime|start_time")),
    )
}

wire! {
    struct Observation<'a> {
        id: Words<'a>,
        // Batch exports write the same names with underscores.
        trace_id: Words<'a> = "traceId" | "trace_id",
        parent_observation_id: Words<'a> = "parentObservationId" | "parent_observation_id",
        kind: Words<'a> = "type",
        start_time: Words<'a> = "startTime" | "start_time",
        model: Words<'a> = "model" | "providedModelName" | "provided_model_name",
        input: Value,
        output: Value,
        metadata: Value,
        tool_definitions: Value = "toolDefinitions" | "tool_definitions",
        usage_details: Value = "usageDetails" | "usage_details",
        /// What older exports have in its place.
        usage: Value,
        cost_details: Value = "costDetails" | "cost_details",
        total_cost: Value = "totalCost" | "calculatedTotalCost" | "total_cost",
        /// Who recorded it, where the Python package has turned runs of another service into observations.
        ctxsim_agent: Words<'a> = "ctxsimAgent",
    }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let sessions = Sessions::new(READER.name, source.name(), scale);
    let (mut spans, mut recorded_by) = (Vec::new(), String::new());
    let one_a_line = source.outline().has("traceId") || source.outline().has("trace_id");
    let lists: &[&str] = if one_a_line && !source.is_printed_over_lines() { &[] } else { &["observations", "data"] };
    source.each_text(lists, |source, text, number, at_end| {
        source.values_of(text, number, at_end, |observation: Observation, lose| {
            if recorded_by.is_empty() {
                recorded_by = observation.ctxsim_agent.to_string();
            }
            spans.push(generation(observation, lose));
        });
    })?;
    join(spans, sessions, |reason| source.lose(0, reason), &mut |mut transcript| {
        if !recorded_by.is_empty() {
            transcript.agent.clone_from(&recorded_by);
        }
        hand_over(transcript);
    });
    Ok(())
}

fn generation(observation: Observation, lose: &mut dyn FnMut(&str)) -> Generation {
    let details = |value: &Value| opened(value).as_object().filter(|details| !details.is_empty()).map(Tokens::of_details);
    let tokens = details(&observation.usage_details).or_else(|| details(&observation.usage)).unwrap_or_default();
    let called = &*observation.kind == "GENERATION";
    let usage = if called { tokens.usage() } else { Ok(None) };
    let usage = sound(usage, lose);
    if usage.is_some_and(|usage| tokens.hold_more_than(&usage)) {
        lose("usage with a total of more than its parts");
    }
    let listed = opened(&observation.cost_details).get("total").cloned().unwrap_or_default();
    let cost = dollars(&listed).or_else(|| dollars(&observation.total_cost));
    let kept = opened(&observation.metadata);
    let attribute = |name: &str| kept.get("attributes").and_then(|kept| kept.get(name)).cloned().unwrap_or_default();
    Generation {
        called,
        whole: false,
        id: observation.id.to_string(),
        parent: observation.parent_observation_id.to_string(),
        trace: observation.trace_id.to_string(),
        response: attribute("gen_ai.response.id").as_str().unwrap_or_default().to_owned(),
        time: millis(&observation.start_time),
        model: observation.model.to_string(),
        instructions: attribute("gen_ai.system_instructions"),
        tools: Some(attribute("gen_ai.tool.definitions")).filter(|tools| !tools.is_null()).unwrap_or(observation.tool_definitions),
        input: observation.input,
        output: observation.output,
        usage: usage.map(|usage| usage.or_cost(cost)),
    }
}
