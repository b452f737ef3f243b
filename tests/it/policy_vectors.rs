//! Presets against golden vectors: what the systems' own code does with the same messages.

use super::support;
use ctxsim::context::{Arrival, Context, Item, Region, SeenItem, State};
use ctxsim::estimate::Estimator;
use ctxsim::policy::{Comparison, Facts, MinSaving, Plan, Policy, Rule, Sight};
use ctxsim::trace::{PartKind, PartRow};
use ctxsim::transcript::{Image, Length, Role, Text};
use serde_json::Value;

const FACTS: Facts = Facts { window: Some(200_000), max_input: 0, max_output: 32_000 };

/// The vectors of one file; none where they are absent.
fn vectors(name: &str) -> Vec<Value> {
    let Some(folder) = support::shared() else { return Vec::new() };
    match std::fs::read_to_string(folder.join("vectors/dev").join(name).with_extension("json")) {
        Ok(text) => serde_json::from_str(&text).unwrap(),
        Err(_) => {
            println!("skipped: no vectors {name}");
            Vec::new()
        }
    }
}

fn plan(preset: &str, settings: &[(&str, &Value)]) -> Plan {
    let mut policy = Policy::load(preset).unwrap();
    settings.iter().for_each(|(name, value)| policy.set(name, &value.to_string()).unwrap());
    policy.plan(&FACTS).unwrap()
}

fn rule<'a>(plan: &'a Plan, id: &str) -> &'a Rule {
    plan.rule.iter().find(|rule| rule.id == id).unwrap()
}

/// A text of a vector, where `{"$rep": ["x", 3]}` stands for `xxx`.
fn string(value: &Value) -> String {
    match (value.as_str(), &value["$rep"]) {
        (Some(text), _) => text.to_owned(),
        (None, Value::Array(repeat)) => repeat[0].as_str().unwrap().repeat(repeat[1].as_u64().unwrap() as usize),
        _ => String::new(),
    }
}

fn weigh(text: &str) -> Text {
    let length = Length {
        bytes: text.len() as u32,
        utf16: text.encode_utf16().count() as u32,
        chars: text.chars().count() as u32,
        newlines: text.matches('\n').count() as u32,
    };
    let json_bytes = serde_json::to_string(text).unwrap().len() as u32 - 2;
    Text { length, tokens: length.bytes / 4, json_bytes, ..Text::default() }
}

fn part(kind: PartKind, text: &str) -> PartRow {
    PartRow {
        kind,
        tool: None,
        name: Length::default(),
        id_bytes: 0,
        text: weigh(text),
        image: Image::default(),
        error: false,
        sealed_bytes: 0,
        truth: 0,
        anchored: false,
        expires: false,
    }
}

/// A message of a vector: its parts with what has become of them, and whether it is a summary.
struct Given {
    role: Role,
    parts: Vec<(PartRow, State)>,
    is_summary: bool,
}

impl Given {
    fn new(role: Role, parts: Vec<PartRow>) -> Given {
        Given { role, parts: parts.into_iter().map(|part| (part, State::Whole)).collect(), is_summary: false }
    }
}

fn context(estimator: &Estimator, messages: &[Given]) -> Context {
    let mut context = Context::new(estimator.clone());
    for message in messages {
        let item = |(part, state): &(PartRow, State)| Item {
            part: Some(0),
            tool: part.tool,
            region: Region::of(message.role, part.kind),
            state: *state,
            error: part.error,
            expires: false,
            guess: estimator.part(part, &part.text),
            alone: estimator.text(&part.text),
            actual: 0,
            anchored: 0,
        };
        let arrival = Arrival {
            message: Some(0),
            role: message.role,
            opens_turn: message.role == Role::User,
            is_summary: message.is_summary,
            call: 0,
        };
        context.push(arrival, message.parts.iter().map(item).collect(), None);
    }
    context
}

/// Messages in the shape of OpenAI chat, as BaseAgent and PicoClaw keep them.
fn chat(messages: &Value) -> Vec<Given> {
    messages.as_array().unwrap().iter().map(chat_message).collect()
}

fn chat_message(message: &Value) -> Given {
    let role = match message["role"].as_str() {
        Some("system") => Role::System,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => Role::User,
    };
    let kind = if role == Role::Tool { PartKind::ToolResult } else { PartKind::Text };
    let mut parts = match &message["content"] {
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| if block["type"] == "image_url" { part(PartKind::Image, "") } else { part(kind, &string(&block["text"])) })
            .collect(),
        content => vec![PartRow { id_bytes: string(&message["tool_call_id"]).len() as u32, ..part(kind, &string(content)) }],
    };
    parts.extend(message["reasoning_content"].as_str().map(|text| part(PartKind::Thinking, text)));
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let function = &call["function"];
        let id_bytes = call["id"].as_str().map_or(0, str::len) as u32;
        let name = weigh(function["name"].as_str().unwrap_or(""));
        parts.push(PartRow { name: name.length, id_bytes, ..part(PartKind::ToolCall, &string(&function["arguments"])) });
    }
    parts.extend(message["media"].as_array().into_iter().flatten().map(|_| part(PartKind::Image, "")));
    Given::new(role, parts)
}

/// Indices of the messages that a rule for messages takes; none where a guard of the rule forbids it.
fn gone(rule: &Rule, context: &Context) -> Vec<u32> {
    let view = context.view();
    let selection = rule.select.messages(view, view.request());
    let new = selection.gone.iter().filter(|id| context.entry(**id).is_some_and(|entry| !entry.is_summary)).count() as u64;
    if new >= rule.min_messages.unwrap_or(0) { selection.gone } else { Vec::new() }
}

/// The items that a rule for items takes, in order; none where the saving is too small.
fn masked(rule: &Rule, context: &Context, tools: &[String]) -> Vec<SeenItem> {
    let mut items = rule.select.items(context.view(), tools);
    items.sort_by_key(|item| item.id);
    let gross: u64 = items.iter().map(|item| item.alone).sum();
    let enough = match &rule.min_saving {
        Some(MinSaving { tokens, cmp: Comparison::Gt, .. }) => gross > *tokens,
        Some(MinSaving { tokens, .. }) => gross >= *tokens,
        None => true,
    };
    if enough { items } else { Vec::new() }
}

#[test]
fn baseagent_prunes_as_its_code_does() {
    for vector in vectors("baseagent_prune") {
        let params = &vector["params"];
        let settings = [
            ("prune_protect", &params["PRUNE_PROTECT"]),
            ("prune_minimum", &params["PRUNE_MINIMUM"]),
            ("protect_last_turns", &params["protect_last_turns"]),
        ];
        let plan = plan("baseagent", &settings);
        let mut given = chat(&vector["input"]["messages"]);
        let marker = string(&vector["expected"]["marker"]);
        for (given, message) in given.iter_mut().zip(vector["input"]["messages"].as_array().unwrap()) {
            if given.role == Role::Tool && string(&message["content"]) == marker {
                given.parts[0].1 = State::Masked;
            }
        }
        let context = context(&plan.estimator, &given);
        let owners = |items: Vec<SeenItem>| -> Vec<u64> {
            let owner = |item: &SeenItem| context.live().find(|(_, entry)| (entry.first..entry.first + entry.count).contains(&item.id));
            items.iter().filter_map(owner).map(|(id, _)| u64::from(id)).collect()
        };
        let mut expected: Vec<u64> = vector["expected"]["pruned_indices"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        expected.sort_unstable();
        assert_eq!(owners(masked(rule(&plan, "prune"), &context, &[])), expected, "{}", vector["name"]);
        assert_eq!(Some(context.view().request()), vector["expected"]["tokens_before"].as_u64(), "{}", vector["name"]);
    }
}

#[test]
fn baseagent_overflows_where_its_code_says_so() {
    for vector in vectors("baseagent_is_overflow") {
        let params = &vector["params"];
        let settings = [
            ("model_context_limit", &params["MODEL_CONTEXT_LIMIT"]),
            ("output_token_max", &params["OUTPUT_TOKEN_MAX"]),
            ("auto_compact_threshold", &params["AUTO_COMPACT_THRESHOLD"]),
        ];
        let plan = plan("baseagent", &settings);
        let total = vector["input"]["total_tokens"].as_u64().unwrap();
        // A context of exactly so many estimated tokens; a message costs four at least.
        if total < 4 {
            continue;
        }
        let context =
            context(&plan.estimator, &[Given::new(Role::User, vec![part(PartKind::Text, &"x".repeat(4 * (total as usize - 4)))])]);
        let sight = sight(&context);
        let fires = rule(&plan, "compact").when.as_ref().unwrap().evaluate(&sight).fires;
        assert_eq!(Some(fires), vector["expected"]["overflow"].as_bool(), "{}", vector["name"]);
    }
}

fn sight(context: &Context) -> Sight<'_> {
    Sight { view: context.view(), usage: None, pending: 0, incoming: 0, calls: 0, calls_since_fired: 0, idle_seconds: None }
}

#[test]
fn picoclaw_estimates_as_its_code_does() {
    let plan = plan("picoclaw", &[]);
    for vector in vectors("picoclaw_estimate_tokens") {
        let messages = vector["input"]["messages"].as_array().unwrap();
        // Parts of the system prompt that are kept beside its text, and calls without a function, do not occur in logs.
        if messages.iter().any(|message| !message["system_parts"].is_null() || message.to_string().contains("\"function\":null")) {
            continue;
        }
        let context = context(&plan.estimator, &chat(&vector["input"]["messages"]));
        let estimates: Vec<Option<u64>> = context.live().map(|(_, entry)| Some(entry.estimated)).collect();
        let expected: Vec<Option<u64>> = vector["expected"]["per_message"].as_array().unwrap().iter().map(Value::as_u64).collect();
        assert_eq!(estimates, expected, "{}", vector["name"]);
    }
}

#[test]
fn picoclaw_compresses_as_its_code_does() {
    let plan = plan("picoclaw", &[]);
    for vector in vectors("picoclaw_force_compression") {
        let given = chat(&vector["input"]["messages"]);
        // A history of more than two messages without any user is the exception that the preset names.
        if given.len() > 2 && given.iter().all(|given| given.role != Role::User) {
            continue;
        }
        let context = context(&plan.estimator, &given);
        let dropped = if given.len() > 2 { gone(rule(&plan, "compress"), &context) } else { Vec::new() };
        assert_eq!(Some(dropped.len() as u64), vector["expected"]["dropped"].as_u64(), "{}", vector["name"]);
        let letter = |given: &Given| given.role;
        let kept: Vec<Role> =
            given.iter().enumerate().filter(|(index, _)| !dropped.contains(&(*index as u32))).map(|(_, given)| letter(given)).collect();
        let roles = |text: &str| {
            text.chars()
                .map(|c| match c {
                    'u' => Role::User,
                    'a' => Role::Assistant,
                    't' => Role::Tool,
                    _ => Role::System,
                })
                .collect::<Vec<Role>>()
        };
        assert_eq!(kept, roles(vector["expected"]["kept_roles"].as_str().unwrap()), "{}", vector["name"]);
    }
}

#[test]
fn picoclaw_summarises_when_and_what_its_code_does() {
    for vector in vectors("picoclaw_summarize") {
        let names = ["max_tokens", "context_window", "summarize_message_threshold", "summarize_token_percent"];
        let settings: Vec<(&str, &Value)> = names.iter().map(|name| (*name, &vector["params"][name])).collect();
        let plan = plan("picoclaw", &settings);
        let given = chat(&vector["input"]["messages"]);
        if given.iter().all(|given| given.role != Role::User) {
            continue;
        }
        let context = context(&plan.estimator, &given);
        let rule = rule(&plan, "summarise");
        let due = given.len() as u64 > vector["params"]["summarize_message_threshold"].as_u64().unwrap()
            || context.view().history() > vector["expected"]["token_threshold"].as_u64().unwrap();
        let fires = rule.when.as_ref().unwrap().evaluate(&sight(&context)).fires;
        assert_eq!(fires, due && given.len() > 4, "{}", vector["name"]);
        // A summary that its model refuses to write changes nothing there; here it always succeeds.
        let after = vector["expected"]["history_after"].as_u64().unwrap();
        if fires && after < given.len() as u64 {
            assert_eq!(given.len() as u64 - gone(rule, &context).len() as u64, after, "{}", vector["name"]);
        }
    }
}

#[test]
fn opencode_prunes_as_its_code_does() {
    let on = Value::from(1);
    for (file, preset) in [("opencode_prune_v1_15", "opencode@1.15"), ("opencode_prune_2025_12", "opencode@2025-12")] {
        let tools = ["bash".to_owned(), "skill".to_owned()];
        for vector in vectors(file) {
            let params = &vector["params"];
            if params["compaction"]["prune"].as_bool() == Some(false) || params["disable_prune"].as_bool() == Some(true) {
                continue;
            }
            if file.ends_with("15") && params["compaction"]["prune"].is_null() {
                assert!(plan(preset, &[]).rule.iter().all(|rule| rule.id != "prune"), "off unless asked for");
                continue;
            }
            let plan =
                plan(preset, &[("prune", &on), ("prune_protect", &params["PRUNE_PROTECT"]), ("prune_minimum", &params["PRUNE_MINIMUM"])]);
            let mut places = Vec::new();
            let given: Vec<Given> = vector["input"]["messages"]
                .as_array()
                .unwrap()
                .iter()
                .enumerate()
                .map(|(index, message)| {
                    let parts = message["parts"].as_array().unwrap().iter().enumerate().map(|(place, given)| {
                        places.push((index as u64, place as u64));
                        opencode_part(given)
                    });
                    let role = if message["info"]["role"] == "user" { Role::User } else { Role::Assistant };
                    Given { role, parts: parts.collect(), is_summary: message["info"]["summary"] == true }
                })
                .collect();
            let context = context(&plan.estimator, &given);
            let pruned: Vec<(u64, u64)> =
                masked(rule(&plan, "prune"), &context, &tools).iter().map(|item| places[item.id as usize]).collect();
            let pair = |pair: &Value| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap());
            let mut expected: Vec<(u64, u64)> = vector["expected"]["pruned"].as_array().unwrap().iter().map(pair).collect();
            expected.sort_unstable();
            assert_eq!(pruned, expected, "{file}: {}", vector["name"]);
        }
    }
}

fn opencode_part(given: &Value) -> (PartRow, State) {
    if given["type"] != "tool" {
        return (part(PartKind::Text, given["text"].as_str().unwrap_or("")), State::Whole);
    }
    let state = &given["state"];
    let masked = !state["time"]["compacted"].is_null();
    let tool = Some(u32::from(given["tool"] == "skill"));
    let error = state["status"] != "completed";
    (PartRow { tool, error, ..part(PartKind::ToolResult, &string(&state["output"])) }, if masked { State::Masked } else { State::Whole })
}

#[test]
fn pi_cuts_where_its_code_does() {
    for (preset, version) in [("pi@1.5", "1.5.2"), ("pi@0.58", "0.58.3")] {
        let mut compared = 0;
        for vector in vectors("pi_find_cut_point") {
            let entries = vector["input"]["entries"].as_array().unwrap();
            let plain = entries.iter().all(|entry| entry["type"] == "message" && pi_message(&entry["message"]).is_some());
            if !plain || vector["input"]["startIndex"] != 0 || vector["input"]["endIndex"].as_u64() != Some(entries.len() as u64) {
                continue;
            }
            let plan = plan(preset, &[("keepRecentTokens", &vector["params"]["keepRecentTokens"])]);
            let given: Vec<Given> = entries.iter().filter_map(|entry| pi_message(&entry["message"])).collect();
            let context = context(&plan.estimator, &given);
            let first_kept = gone(rule(&plan, "compact"), &context).len() as u64;
            assert_eq!(Some(first_kept), vector["expected"][version]["firstKeptEntryIndex"].as_u64(), "{version}: {}", vector["name"]);
            compared += 1;
        }
        println!("{version}: {compared} vectors");
    }
}

fn pi_message(message: &Value) -> Option<Given> {
    let role = match message["role"].as_str()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "toolResult" => Role::Tool,
        _ => return None,
    };
    let kind = if role == Role::Tool { PartKind::ToolResult } else { PartKind::Text };
    let Some(blocks) = message["content"].as_array() else { return Some(Given::new(role, vec![part(kind, &string(&message["content"]))])) };
    let block = |block: &Value| match block["type"].as_str() {
        Some("thinking") => part(PartKind::Thinking, &string(&block["thinking"])),
        Some("toolCall") => PartRow {
            name: weigh(block["name"].as_str().unwrap_or("")).length,
            ..part(PartKind::ToolCall, &block["arguments"].to_string())
        },
        Some("image") => part(PartKind::Image, ""),
        _ => part(kind, &string(&block["text"])),
    };
    Some(Given::new(role, blocks.iter().map(block).collect()))
}

#[test]
fn codex_keeps_the_user_messages_that_its_code_keeps() {
    let prefix = "Another language model started to solve this problem";
    for vector in vectors("codex_build_compacted_history") {
        let plan = plan("codex", &[("user_message_tokens", &vector["params"]["max_tokens"])]);
        let given: Vec<Given> = vector["input"]["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| {
                let texts: Vec<PartRow> = item["content"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|content| part(PartKind::Text, &string(&content["text"])))
                    .collect();
                let first = item["content"][0]["text"].as_str().unwrap_or("");
                let user = item["type"] == "message" && item["role"] == "user";
                let own = first.starts_with(prefix) || first.starts_with("<environment_context>");
                Given { is_summary: user && own, ..Given::new(if user { Role::User } else { Role::Assistant }, texts) }
            })
            .collect();
        let context = context(&plan.estimator, &given);
        let view = context.view();
        let selection = rule(&plan, "compact-step").select.messages(view, view.request());
        let history = vector["expected"]["history"].as_array().unwrap();
        let kept = given.len() - selection.gone.len();
        assert_eq!(kept, history.len() - 1, "{}", vector["name"]);
        let lengths: Vec<u64> = given.iter().flat_map(|given| &given.parts).map(|(part, _)| u64::from(part.text.length.bytes)).collect();
        let length = |text: &Value| text["bytes"].as_u64().unwrap_or_else(|| string(&text["text"]).len() as u64);
        let last = history.len() - 1;
        let cut =
            history[..last].iter().flat_map(|message| message["text"].as_array().unwrap()).any(|text| !lengths.contains(&length(text)));
        assert_eq!(selection.shortened.is_some(), cut, "{}", vector["name"]);
    }
}
