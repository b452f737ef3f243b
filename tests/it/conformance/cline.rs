//! Cline CLI 3.0.

use super::excerpt::{apply, tool_cap};
use super::given::{Given, call, list, part, plan, text};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::policy::{Facts, Hook, Plan, Truncate};
use ctxsim::sim::{Conditions, Probe};
use ctxsim::trace::{PartKind, PartRow};
use ctxsim::transcript::{Length, Role, Text};
use serde_json::Value;

const PRESET: &str = "cline@3.0";

const CUT_PROMPTS: &str = "without a model, prompts of the user that come to more than the target are cut";
const ANSWERS: &str = "without a model, steps of the newest turn stay before answers of older ones where not all of them fit";

/// An unknown model takes 128,000 tokens.
fn facts(info: &Value) -> Facts {
    let of = |name: &str| info[name].as_u64().filter(|tokens| *tokens > 0);
    let (window, input) = (of("contextWindow"), of("maxInputTokens"));
    let input = input.or(if window.is_none() { Some(128_000) } else { None });
    Facts {
        window: window.or(input),
        max_input: input.unwrap_or(0),
        max_output: of("maxTokens").unwrap_or(0),
        family: None,
        ..Facts::default()
    }
}

/// The preset for messages that are given as the JSON which it counts: nothing is to be added for their frames. A model that comes without an input limit,
/// as none of the agent's lists has one, is given nine tenths of its window.
fn preset(facts: Facts, settings: &[(&str, &Value)]) -> Plan {
    let unlisted = Value::from("=0.9 * window");
    let without_limit = (facts.max_input == 0).then_some(("maxInputTokens", &unlisted));
    let mut plan = plan(PRESET, facts, &settings.iter().copied().chain(without_limit).collect::<Vec<_>>());
    plan.rule.retain(|rule| rule.at != Hook::Ingest);
    let counted = &mut plan.estimator;
    (counted.user_units, counted.assistant_units, counted.tool_units) = (0, 0, 0);
    (counted.text_units, counted.call_units, counted.result_units) = (0, 0, 0);
    plan
}

/// What the function takes for the input limit.
fn most(facts: Facts) -> f64 {
    let window = facts.window.unwrap_or(0) as f64;
    if facts.max_input == 0 { 0.9 * window } else { (facts.max_input as f64).min(window) }
}

fn json_units(value: &Value) -> u64 {
    value.to_string().encode_utf16().count() as u64
}

fn tokens(units: u64) -> u64 {
    units.div_ceil(3).max(1)
}

fn is_summary(message: &Value) -> bool {
    message["metadata"]["kind"] == "compaction_summary"
}

/// Did a person write it?
fn typed(message: &Value) -> bool {
    let content = list(&message["content"]);
    let results = !content.is_empty() && content.iter().all(|block| block["type"] == "tool_result");
    message["role"] == "user" && !results && !is_summary(message)
}

/// A conversation, each message as the JSON that the agent counts.
fn conversation(messages: &[Value]) -> Given {
    let mut given = Given::default();
    for message in messages {
        let role = if message["role"] == "assistant" {
            Role::Assistant
        } else if typed(message) || is_summary(message) {
            Role::User
        } else {
            Role::Tool
        };
        let units = json_units(message) as u32;
        let length = Length { bytes: units, utf16: units, chars: units, newlines: 0 };
        let row = Text { length, json_bytes: units, ..Text::default() };
        let kind = if role == Role::Tool { PartKind::ToolResult } else { PartKind::Text };
        let calls = list(&message["content"]).iter().filter(|block| block["type"] == "tool_use").map(|_| call("", ""));
        given.push(role, [PartRow { text: row, ..part(kind, "") }].into_iter().chain(calls).collect());
        if is_summary(message) {
            given.is_summary();
        }
    }
    given
}

/// What the request counts beside its messages.
fn overhead(case: &Case) -> u64 {
    let messages = list(&case.input["messages"]);
    let tools = case.input.get("tools").cloned().unwrap_or(Value::Array(Vec::new()));
    let request = serde_json::json!({ "systemPrompt": case.input["system"], "messages": messages, "tools": tools });
    tokens(json_units(&request)).saturating_sub(messages.iter().map(|message| tokens(json_units(message))).sum())
}

const fn world(prompt_limit: u64) -> Conditions {
    Conditions { prompt_limit, ..super::given::ENDLESS }
}

pub fn trigger(case: &Case) -> Checked {
    let messages = list(&case.input["messages"]);
    let hidden = Value::from(overhead(case));
    let plan = preset(facts(&case.params["info"]), &[("hidden_tokens", &hidden)]);
    let given = conversation(messages);
    let conditions = world(u64::MAX / 4);
    let mut probe = given.probe(&plan, &conditions);
    let expected = &case.expected;
    let request = probe.measure(ctxsim::policy::Measure::EstRequest);
    expect("request", request, expected["requestInputTokens"].as_u64())?;
    let previous = case.params["previous"].as_i64().unwrap_or(0);
    let factor = expected["underestimateFactor"].as_f64().unwrap();
    probe.report(u64::try_from(previous).ok().filter(|previous| *previous > 0).map(|previous| (previous, 0)));
    let plain = probe.verdict("agentic").unwrap();
    let limit = plain.level.unwrap().limit;
    let near = |found: f64, wanted: f64| (found - wanted).abs() <= 1e-6 * wanted.abs().max(1.0);
    let wanted = expected["triggerTokens"].as_f64().unwrap() * factor;
    expect("trigger", near(limit, wanted), true).map_err(|_| format!("trigger: {limit} instead of {wanted}"))?;
    expect("compacts", Some(plain.fires), expected["compact"].as_bool())?;
    let pairs = messages.iter().filter(|message| message["role"] == "assistant").count();
    if let Some(target) = expected["messageTargetTokens"].as_f64().filter(|_| factor == 1.0 && pairs >= 6) {
        let rule = plan.rule.iter().find(|rule| rule.id == "agentic").unwrap();
        let end = &rule.select.tail[0];
        let room = (end.request.unwrap() - overhead(case) as f64).floor().max(1.0);
        expect("kept", end.n.min(room), target.min(20_000.0))?;
    }
    Ok(Passed::Whole)
}

/// The place of the first message that stays.
fn first_kept(probe: &Probe) -> usize {
    probe.context().live().filter_map(|(_, entry)| entry.message.get()).min().unwrap_or(0) as usize
}

pub fn cut_index(case: &Case) -> Checked {
    let messages = list(&case.input["messages"]);
    let roomy = Facts { window: Some(100_000_000), max_input: 0, max_output: 0, family: None, ..Facts::default() };
    let plan = preset(roomy, &[("preserveRecentTokens", &case.params["preserve"])]);
    let given = conversation(messages);
    let conditions = world(u64::MAX / 4);
    let mut probe = given.probe(&plan, &conditions);
    let estimates: Vec<u64> = probe.context().live().map(|(_, entry)| entry.estimated).collect();
    let expected: Vec<u64> = list(&case.expected["message_tokens"]).iter().filter_map(Value::as_u64).collect();
    expect("estimates", estimates, expected)?;
    let changed = probe.force("agentic");
    let cut = case.expected["cut"].as_u64().unwrap() as usize;
    if changed && messages[..cut].iter().all(is_summary) && cut > 0 {
        return Ok(Passed::NotModelled("nothing but a summary stands before a long turn"));
    }
    // A cut that leaves nothing new to summarise changes nothing.
    let wanted = if messages[..cut].iter().all(is_summary) { 0 } else { cut };
    expect("cut", if changed { first_kept(&probe) } else { 0 }, wanted)?;
    Ok(Passed::Whole)
}

pub fn agentic_compaction(case: &Case) -> Checked {
    let messages = list(&case.input["messages"]);
    let expected = &case.expected;
    let (hidden, target) = (Value::from(overhead(case)), Value::from(aim(case) + overhead(case)));
    let settings = [("preserveRecentTokens", &case.params["preserve"]), ("hidden_tokens", &hidden), ("target", &target)];
    let plan = preset(facts(&case.params["info"]), &settings);
    let given = conversation(messages);
    let conditions = world(u64::MAX / 4);
    let mut probe = given.probe(&plan, &conditions);
    let skipped = expected["messages"].is_null();
    if case.params["mode"] == "overflow" || (case.input["summary"].is_null() && !skipped) {
        return without_model(case);
    }
    if !expected["summariser"].is_null() && text(&case.input["summary"]).trim().is_empty() {
        return Ok(Passed::NotModelled("a summary without words"));
    }
    // A person asks for it, or the trigger does.
    let compacts = if case.params["mode"] == "manual" { probe.force("agentic") } else { probe.run("agentic") };
    let room = case.params["provider"]["modelInfo"]["maxInputTokens"].as_u64();
    if compacts && skipped && room.is_some_and(|room| room < 1_000) {
        return Ok(Passed::NotModelled("a summariser without room for the conversation"));
    }
    expect("compacts", compacts, !skipped)?;
    if compacts {
        let stays: Vec<&str> = list(&expected["messages"]).iter().filter_map(|message| message["id"].as_str()).collect();
        let live = probe.context().live().filter_map(|(_, entry)| entry.message.get());
        let found: Vec<&str> = live.map(|message| text(&messages[message as usize]["id"])).collect();
        expect("what stays", found, stays)?;
    }
    Ok(Passed::Whole)
}

/// The tokens of messages that a compaction aims at. It is told here, as it depends on what asked for it and on the number of exchanges.
fn aim(case: &Case) -> u64 {
    let messages = list(&case.input["messages"]);
    let hidden = overhead(case) as f64;
    let facts = facts(&case.params["info"]);
    let most = most(facts);
    let trigger = most * 0.9;
    let within = |size: f64| (size - hidden).floor().max(1.0);
    if case.params["mode"] != "auto" {
        let all: u64 = messages.iter().map(|message| tokens(json_units(message))).sum();
        return within(trigger).min(all as f64 * 0.5).floor().max(1.0) as u64;
    }
    let (mut exchanges, mut asked) = (0, false);
    for message in messages {
        exchanges += u64::from(message["role"] == "assistant" && asked);
        asked = message["role"] == "user";
    }
    let half = exchanges >= 5 && facts.max_output > 0 && (facts.max_output as f64) < most;
    let target = if half { (most * 0.5).floor() } else { (trigger * 0.7).floor() };
    within(target.min(most).min((trigger - 1.0).max(1.0)).max(1.0)).min(within(trigger)) as u64
}

/// What is left without a model, driven as the answer to a refusal.
fn without_model(case: &Case) -> Checked {
    let messages = list(&case.input["messages"]);
    let latest = messages.iter().rposition(typed);
    // Prompts count trimmed, and without attachments but for the newest.
    let counted: Vec<Value> = messages.iter().enumerate().map(|(place, message)| prompt(message, Some(place) == latest)).collect();
    if messages.iter().any(|message| !message["metadata"]["compaction"].is_null()) {
        return Ok(Passed::NotModelled("what an earlier reduction has kept stays"));
    }
    let (hidden, target) = (overhead(case), Value::from(aim(case) + overhead(case)));
    let facts = facts(&case.params["info"]);
    let (hidden, nothing) = (Value::from(hidden), Value::from(0));
    let plan = preset(facts, &[("hidden_tokens", &hidden), ("target", &target), ("digest_tokens", &nothing)]);
    let given = conversation(&counted);
    let conditions = world(u64::MAX / 4);
    let mut probe = given.probe(&plan, &conditions);
    probe.checkpoint(Hook::Overflow);
    // Prompts that follow each other are one.
    let of_model = |place: &usize| !typed(&messages[*place]);
    let found: Vec<usize> =
        probe.context().live().filter_map(|(_, entry)| entry.message.get()).map(|place| place as usize).filter(of_model).collect();
    let place_of = |message: &Value| messages.iter().position(|known| known["id"] == message["id"]);
    let expected: Vec<usize> = list(&case.expected["messages"]).iter().filter_map(place_of).filter(of_model).collect();
    if found == expected {
        return Ok(Passed::Whole);
    }
    let notices = list(&case.expected["notices"]);
    if notices.iter().any(|notice| notice == "compaction-budget-adjusted") {
        return Ok(Passed::NotModelled(CUT_PROMPTS));
    }
    // Where all answers stay, they and the steps do not compete.
    let closing = |place: &usize| messages[*place]["role"] == "assistant" && messages.get(place + 1).is_some_and(typed);
    match (0..messages.len()).filter(closing).all(|answer| expected.contains(&answer)) {
        true => Err(format!("what stays: {found:?} instead of {expected:?}")),
        false => Ok(Passed::NotModelled(ANSWERS)),
    }
}

/// A message as the reduction counts it.
fn prompt(message: &Value, newest: bool) -> Value {
    if !typed(message) {
        return message.clone();
    }
    let words = |words: &Value| serde_json::json!({ "type": "text", "text": text(words).trim() });
    let content: Vec<Value> = match &message["content"] {
        content @ Value::String(_) => vec![words(content)],
        content => {
            let stays = |block: &&Value| newest || !matches!(text(&block["type"]), "file" | "image");
            let blocks = list(content).iter().filter(stays);
            blocks.map(|block| if block["type"] == "text" { words(&block["text"]) } else { block.clone() }).collect()
        }
    };
    let mut message = message.clone();
    message["content"] = Value::Array(content);
    message
}

pub fn basic_compaction(case: &Case) -> Checked {
    let messages = list(&case.input["messages"]);
    let hidden = Value::from(overhead(case));
    let plan = preset(facts(&case.params["info"]), &[("hidden_tokens", &hidden)]);
    let given = conversation(messages);
    let conditions = world(u64::MAX / 4);
    let probe = given.probe(&plan, &conditions);
    let started = list(&case.expected["notices"]).iter().any(|notice| text(notice).ends_with("auto-compacting"));
    if case.params["mode"] == "auto" {
        expect("starts", probe.verdict("agentic").is_some_and(|verdict| verdict.fires), started)?;
    }
    match case.expected["messages"].is_null() {
        true => Ok(Passed::Whole),
        false => without_model(case),
    }
}

/// The sizes of the text: arguments of calls stand in it in the order of the log, which a vector does not keep.
pub fn serialise(case: &Case) -> Checked {
    let plan = plan(PRESET, facts(&Value::Null), &[]);
    let found = serialised(list(&case.input["messages"]), &plan);
    let expected = &case.expected["text"];
    if expected["text"].is_string() {
        return digest::same(&found, expected).map(|()| Passed::Whole);
    }
    let found = Length::of(&found);
    for (size, name) in [(found.bytes, "bytes"), (found.utf16, "utf16"), (found.chars, "chars")] {
        expect(name, Some(u64::from(size)), expected[name].as_u64())?;
    }
    Ok(Passed::Whole)
}

/// The frames around messages are told here; what is cut in them, files and reasoning like results, is the preset's.
fn serialised(messages: &[Value], plan: &Plan) -> String {
    let cap = plan.rule.iter().find(|rule| rule.id == "agentic").and_then(|rule| rule.summarise.as_ref()).and_then(tool_cap).unwrap();
    let shown: Vec<String> = messages.iter().map(|message| shown(message, &cap)).collect();
    shown.join("\n\n").trim().to_owned()
}

fn shown(message: &Value, cap: &Truncate) -> String {
    let short = |value: &Value| {
        let words = text(value);
        apply(cap, words).unwrap_or_else(|| words.to_owned())
    };
    let who = if message["role"] == "user" { "User" } else { "Bot" };
    if let Some(words) = message["content"].as_str() {
        return format!("[{who}]: {words}");
    }
    let line = |block: &Value| {
        Some(match text(&block["type"]) {
            "text" => format!("[{who}]: {}", text(&block["text"])),
            "thinking" => format!("[Bot thinking]: {}", short(&block["thinking"])),
            "redacted_thinking" => "[Bot thinking]: [redacted]".to_owned(),
            "tool_use" => {
                let input = block["input"].as_object().into_iter().flatten();
                let input: Vec<String> = input.map(|(key, value)| format!("{key}={value}")).collect();
                format!("[Bot tool calls]: {}({})", text(&block["name"]), input.join(", "))
            }
            "tool_result" => format!("[Tool result]: {}", result(&block["content"], &short)),
            "file" => format!("[{who} file {}]: {}", text(&block["path"]), short(&block["content"])),
            "image" => format!("[{who} image]: {}", text(&block["mediaType"])),
            "media" => format!("[Bot generated {}]: {}", text(&block["media"]["modality"]), text(&block["media"]["mediaType"])),
            _ => return None,
        })
    };
    list(&message["content"]).iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

fn result(content: &Value, short: &dyn Fn(&Value) -> String) -> String {
    let block = |block: &Value| match text(&block["type"]) {
        "text" => short(&block["text"]),
        "file" => format!("<file path=\"{}\">\n{}\n</file>", text(&block["path"]), short(&block["content"])),
        "image" => format!("[image:{}]", text(&block["mediaType"])),
        _ => String::new(),
    };
    if content.is_string() { short(content) } else { list(content).iter().map(block).collect::<Vec<_>>().join("\n") }
}

pub fn command_output(case: &Case) -> Checked {
    let (most, total) = (&case.params["maxChars"], case.params["totalChars"].as_u64());
    let given = text(&case.input["text"]);
    if most.as_u64().is_some_and(|most| most < 2) {
        return Ok(Passed::NotModelled("a limit of less than one character from either end"));
    }
    if total.is_some_and(|total| total != given.encode_utf16().count() as u64) {
        return Ok(Passed::NotModelled("a command whose output was longer than what is left of it"));
    }
    let plan = plan(PRESET, facts(&Value::Null), &[("tool_output_chars", most)]);
    let rule = plan.rule.iter().find(|rule| rule.id == "output-limit").unwrap();
    let cut = apply(rule.truncate.as_ref().unwrap(), given);
    digest::same(cut.as_deref().unwrap_or(given), &case.expected["output"])?;
    Ok(Passed::Whole)
}
