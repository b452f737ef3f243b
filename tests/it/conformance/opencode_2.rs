//! OpenCode v2, as its packages/core has it at 031a4a9c.

use super::excerpt::apply;
use super::given::{ENDLESS, Given, call, list, part, plan, text};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::policy::{Facts, Hook, Measure, Plan};
use ctxsim::sim::Probe;
use ctxsim::trace::{PartKind, PartRow};
use ctxsim::transcript::Role;
use serde_json::Value;

fn preset(limit: &Value, settings: &[(&str, &Value)]) -> Plan {
    let of = |name: &str| limit[name].as_u64().unwrap_or(0);
    let facts = Facts { window: Some(of("context")), max_input: of("input"), max_output: of("output"), family: None, ..Facts::default() };
    let plan = plan("opencode@2", facts, settings);
    Plan { rule: plan.rule.into_iter().filter(|rule| rule.at != Hook::Ingest).collect(), ..plan }
}

/// The parts of a message that goes to the model.
fn parts(content: &Value) -> Vec<PartRow> {
    let mut found = Vec::new();
    for block in list(content) {
        let result = &block["result"];
        match text(&block["type"]) {
            "tool-call" => {
                let input = if block["input"].is_null() { String::new() } else { block["input"].to_string() };
                found.push(call(text(&block["name"]), &input));
            }
            "tool-result" if result["type"] == "content" => {
                found.extend(list(&result["value"]).iter().map(|inner| match text(&inner["type"]) {
                    "text" => part(PartKind::ToolResult, text(&inner["text"])),
                    _ => file(inner),
                }))
            }
            "tool-result" => {
                let words = result["value"].as_str().map_or_else(|| result["value"].to_string(), str::to_owned);
                found.push(part(PartKind::ToolResult, if result["value"].is_null() { "" } else { &words }));
            }
            "reasoning" => found.push(part(PartKind::Thinking, text(&block["text"]))),
            "text" => found.push(part(PartKind::Text, text(&block["text"]))),
            _ => found.push(file(block)),
        }
    }
    found
}

/// A picture; other media have no size that a reader gives.
fn file(block: &Value) -> PartRow {
    let mime = block["mime"].as_str().or(block["mediaType"].as_str()).unwrap_or("");
    part(if mime.starts_with("image/") { PartKind::Image } else { PartKind::Other }, "")
}

pub fn required(case: &Case) -> Checked {
    let messages = list(&case.input["messages"]);
    let auto = Value::from(u8::from(case.params["auto"] != false));
    let plan = preset(&case.params["limit"], &[("auto", &auto), ("buffer", &case.params["buffer"])]);
    let mut given = Given::default();
    let prompt = list(&case.input["system"]).iter().map(|words| part(PartKind::Text, text(words)));
    // A definition counts by its name, its description and the JSON of its schema.
    let definition = |tool: &Value| [text(&tool["name"]), text(&tool["description"]), &tool["inputSchema"].to_string()].concat();
    let tools = list(&case.input["tools"]).iter().map(|tool| part(PartKind::Tools, &definition(tool)));
    given.push(Role::System, prompt.chain(tools).collect());
    let mut usages = vec![None];
    for message in messages {
        for model in list(&message["llm"]) {
            let role = match text(&model["role"]) {
                "assistant" => Role::Assistant,
                "tool" => Role::Tool,
                _ => Role::User,
            };
            given.push(role, parts(&model["content"]));
            let of = |name: &str| message["tokens"][name].as_u64().unwrap_or(0);
            let cache = |name: &str| message["tokens"]["cache"][name].as_u64().unwrap_or(0);
            let read = of("input") + cache("read") + cache("write");
            let known = role == Role::Assistant && message["error"].is_null() && read > 0;
            usages.push(known.then(|| (read, of("output") + of("reasoning"))));
        }
    }
    let mut probe = Probe::new(&given.trace, &plan, &ENDLESS);
    for (index, usage) in usages.iter().enumerate() {
        probe.enter(index as u32, given.standing(index));
        if usage.is_some() {
            probe.report(*usage);
        }
    }
    expect("tokens", probe.measure(Measure::UsagePlusPending), case.expected["tokens"].as_u64())?;
    // It does not look again right after a compaction: a rule runs once before a call.
    let compacted = messages.last().is_some_and(|message| message["type"] == "compaction" && message["status"] == "completed");
    let fires = probe.verdict("compact").is_some_and(|verdict| verdict.fires) && !compacted;
    expect("required", Some(fires), case.expected["required"].as_bool())?;
    Ok(Passed::Whole)
}

/// What stays, by the sizes that the vector gives of each entry's text.
pub fn tail(case: &Case) -> Checked {
    let plan = preset(&serde_json::json!({ "context": 200_000, "output": 32_000 }), &[("keep_tokens", &case.params["keep_tokens"])]);
    let messages = list(&case.input["messages"]);
    let ends = plan.estimator.ends.clone().unwrap();
    let mut given = Given::default();
    let mut places = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        if message["type"] == "compaction" && message["status"] == "completed" {
            // What an earlier compaction has kept as text stands behind its summary.
            let recent = text(&message["recent"]);
            let carried = (!recent.is_empty()).then(|| given.push(Role::Assistant, vec![part(PartKind::Text, recent)]));
            given.push(Role::User, vec![part(PartKind::Text, "")]);
            given.is_summary_in_front();
            places.extend(carried.map(|_| None).into_iter().chain([None]));
        }
        let Some(tokens) = case.expected["entry_tokens"][place].as_u64() else { continue };
        let reply = message["type"] == "assistant";
        let role = if reply { Role::Assistant } else { Role::User };
        let wrapper = if reply { ends.assistant_units } else { ends.user_units };
        let words = "x".repeat((tokens * 4).saturating_sub(wrapper) as usize);
        let index = given.push(role, vec![part(PartKind::Text, &words)]);
        given.trace.messages[index as usize].synthetic = role == Role::User && message["type"] != "user";
        places.push(Some(place));
    }
    let mut probe = given.probe(&plan, &ENDLESS);
    for message in probe.context().view().messages().filter(|message| !message.is_summary) {
        let Some(place) = places[message.id as usize] else { continue };
        expect("size of an entry", Some(message.in_ends), case.expected["entry_tokens"][place].as_u64())?;
    }
    if !probe.force("compact") {
        return expect("refuses", case.expected["tail_start"].is_null(), true).map(|()| Passed::Whole);
    }
    let carried = probe.context().live().any(|(_, entry)| entry.message.get().is_some_and(|message| places[message as usize].is_none()));
    expect("what an earlier compaction has kept stays", carried, false)?;
    let first = probe.context().live().filter_map(|(_, entry)| places[entry.message.get()? as usize]).min();
    expect("tail", Some(first.unwrap_or(messages.len()) as u64), case.expected["tail_start"].as_u64())?;
    Ok(Passed::Whole)
}

pub fn truncate_tool_output(case: &Case) -> Checked {
    let plan = preset(&serde_json::json!({ "context": 200_000, "output": 32_000 }), &[]);
    let limits = plan.rule.iter().find_map(|rule| rule.summarise.as_ref()?.flatten.clone()).unwrap();
    let given = text(&case.input["text"]);
    digest::same(apply(&limits, given).as_deref().unwrap_or(given), &case.expected["text"])?;
    Ok(Passed::Whole)
}
