//! Runs of LangSmith, as its API and its SDK give them: a list, `{"runs": [...]}`, one a line, or the batches (`post`, `patch`) that the SDK sends. A trace
//! is a tree of runs; its calls are the innermost runs of the type `llm`. The keys are those of
//! <https://docs.langchain.com/langsmith/run-data-format>.

use super::calls::{Generation, join};
use super::messages::{is_blank, opened};
use super::spans::moment;
use super::tokens::{Tokens, count, dollars};
use crate::format::exchange::Sessions;
use crate::format::ground::{Count, ReadError, Source, sound};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript, Trust, Usage};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Traces of which each innermost run of the type `llm` is a call.
pub const READER: Reader = Reader { name: "langsmith", about: "LangSmith: runs of its API and SDK (JSON, JSON lines)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let run = |at: &str| outline.shows_at(at, "id run_type start_time trace_id|dotted_order|parent_run_id");
    Claim::when(["", "[].", "runs[].", "post[]."].into_iter().any(run))
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let sessions = Sessions::new(READER.name, source.name(), scale);
    let mut runs = Runs::default();
    let lists: &[&str] = if source.outline().has("run_type") { &[] } else { &["runs", "post", "patch"] };
    source.each_text(lists, |source, text, number, at_end| {
        source.values_of(text, number, at_end, |run: Map<String, Value>, lose| match id(&run).as_str() {
            "" => lose("unknown record type"),
            _ => runs.take(run),
        });
    })?;
    let spans = runs.all.into_iter().map(|run| generation(Value::Object(run), &mut |reason| source.lose(0, reason))).collect();
    join(spans, sessions, |reason| source.lose(0, reason), hand_over);
    Ok(())
}

/// Each run once, in the order in which they stand.
#[derive(Default)]
struct Runs {
    all: Vec<Map<String, Value>>,
    places: BTreeMap<String, usize>,
}

impl Runs {
    /// Takes a run with those within it. The SDK sends one when it begins, and what is new when it ends.
    fn take(&mut self, mut run: Map<String, Value>) {
        let within = run.remove("child_runs");
        let place = *self.places.entry(id(&run)).or_insert(self.all.len());
        match self.all.get_mut(place) {
            Some(earlier) => earlier.extend(run.into_iter().filter(|(_, value)| !is_blank(value))),
            None => self.all.push(run),
        }
        for run in within.as_ref().and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object) {
            self.take(run.clone());
        }
    }
}

/// The id of a run. What ends one may have it as the last word of the order alone: times and ids of all runs down to it.
fn id(run: &Map<String, Value>) -> String {
    let last = || run.get("dotted_order")?.as_str()?.rsplit('.').next()?.split_once('Z').map(|(_, id)| id);
    run.get("id").and_then(Value::as_str).or_else(last).unwrap_or_default().to_owned()
}

fn generation(mut run: Value, lose: &mut dyn FnMut(&str)) -> Generation {
    // Exports in bulk hold these as texts.
    for key in ["inputs", "outputs", "extra"] {
        if let Some(place) = run.get_mut(key) {
            *place = opened(place).into_owned();
        }
    }
    let failed = !first(&run, &["/error"]).is_null() && is_blank(&first(&run, &["/outputs"]));
    let asks = word(&run, &["/run_type"]) == "llm";
    let called = asks && !failed;
    let reply = reply(&run);
    let reported = reported(&run, &reply);
    // Where a reply has no usage, LangSmith counts the texts itself (<https://docs.langchain.com/langsmith/cost-tracking>).
    let trust = if reported.is_some() { Trust::Provider } else { Trust::Estimated };
    let tokens = tokens(reported.as_ref().unwrap_or(&run));
    let usage = if called { sound(tokens.usage(), lose) } else { tokens.usage().ok().flatten() };
    if asks && failed {
        lose("run that failed, without a reply");
    }
    let input = if called { first(&run, &["/inputs/prompts", "/inputs"]) } else { Value::Null };
    let tools = if input.get("tools").is_none() { first(&run, &["/extra/invocation_params/tools"]) } else { Value::Null };
    let above = run.get("parent_run_ids").and_then(Value::as_array).and_then(|above| above.last()?.as_str());
    let parent = [word(&run, &["/parent_run_id"]), above.unwrap_or_default().to_owned()].into_iter().find(|id| !id.is_empty());
    Generation {
        called,
        whole: false,
        id: run.as_object().map(id).unwrap_or_default(),
        parent: parent.unwrap_or_default(),
        trace: word(&run, &["/trace_id"]),
        response: word(&run, &["/outputs/id"]),
        time: moment(&first(&run, &["/start_time"])),
        model: word(
            &run,
            &["/extra/metadata/ls_model_name", "/extra/invocation_params/model", "/extra/invocation_params/model_name", "/outputs/model"],
        ),
        instructions: Value::Null,
        tools,
        input,
        output: if called { reply } else { Value::Null },
        usage: usage.map(|usage| Usage { trust, ..usage.or_cost(dollars(&first(&run, &["/total_cost"]))) }),
    }
}

/// The first value that is not null at one of these places.
fn first(value: &Value, places: &[&str]) -> Value {
    places.iter().filter_map(|place| value.pointer(place)).find(|found| !found.is_null()).cloned().unwrap_or_default()
}

fn word(value: &Value, places: &[&str]) -> String {
    first(value, places).as_str().unwrap_or_default().to_owned()
}

/// The reply: what a provider returned, or the first of what LangChain calls generations, a list for each of a list of prompts.
fn reply(run: &Value) -> Value {
    let made = first(run, &["/outputs/generations/0/0", "/outputs/generations/0"]);
    let said = first(&made, &["/message", "/text"]);
    let mut returned = first(run, &["/outputs"]);
    if let Some(fields) = returned.as_object_mut() {
        // Figures alone say nothing.
        ["llm_output", "usage_metadata"].iter().for_each(|key| drop(fields.remove(*key)));
    }
    if said.is_null() && !is_blank(&returned) { returned } else { said }
}

/// What the reply reports of its usage; `None` where it reports nothing.
fn reported(run: &Value, reply: &Value) -> Option<Value> {
    let told = first(reply, &["/kwargs/usage_metadata", "/data/usage_metadata", "/usage_metadata"]);
    let reported = first(
        run,
        &[
            "/outputs/usage_metadata",
            "/extra/metadata/usage_metadata",
            "/outputs/llm_output/token_usage",
            "/outputs/llm_output/usage",
            "/outputs/usage",
        ],
    );
    [told, reported].into_iter().find(|found| !is_blank(found))
}

/// The figures of a usage by the names of LangChain, OpenAI and Anthropic, and by those that stand beside a run.
fn tokens(found: &Value) -> Tokens {
    let number = |places: &[&str]| match first(found, places) {
        Value::Null => Count::Absent,
        value => count(&value),
    };
    let (input, output) = (["/input_tokens", "/prompt_tokens"], ["/output_tokens", "/completion_tokens"]);
    // LangSmith writes zeros where it knows nothing.
    if [&input[..], &output, &["/total_tokens"]].into_iter().all(|places| number(places).or_zero().is_ok_and(|tokens| tokens == 0)) {
        return Tokens::default();
    }
    // LangChain's counts of what was written for some time stand beside a zero for the sum.
    let lasting: u64 = ["/input_token_details/ephemeral_5m_input_tokens", "/input_token_details/ephemeral_1h_input_tokens"]
        .iter()
        .filter_map(|place| found.pointer(place)?.as_u64())
        .fold(0, u64::saturating_add);
    let written = number(&["/input_token_details/cache_creation", "/prompt_token_details/cache_creation", "/cache_creation_input_tokens"]);
    Tokens {
        input: number(&input),
        output: number(&output),
        total: number(&["/total_tokens"]),
        cache_read: number(&[
            "/input_token_details/cache_read",
            "/prompt_token_details/cache_read",
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
            "/cache_read_input_tokens",
        ]),
        cache_write: if lasting > 0 && written.or_zero().is_ok_and(|written| written == 0) { count(&lasting.into()) } else { written },
        reasoning: number(&[
            "/output_token_details/reasoning",
            "/completion_token_details/reasoning",
            "/completion_tokens_details/reasoning_tokens",
            "/output_tokens_details/reasoning_tokens",
        ]),
        // Anthropic's own names.
        beside: found.get("cache_read_input_tokens").is_some(),
        ..Tokens::default()
    }
}
