//! MyCoder.

use super::excerpt::apply;
use super::given::{ENDLESS, Given, call, list, part, plan, reply_row, text};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::context::{Context, Region};
use ctxsim::policy::{Facts, Plan, Trigger};
use ctxsim::sim::{EventKind, watch};
use ctxsim::trace::PartKind;
use ctxsim::transcript::Role;
use serde_json::Value;

const FACTS: Facts = Facts { window: Some(200_000), max_input: 0, max_output: 0, family: None, item_bytes: 0, sealed_thousandths: 0 };

fn preset(name: &'static str, case: &Case, window: &Value, more: &[(&str, &Value)]) -> Plan {
    let none = Value::from(0);
    let window = if window.is_null() { &none } else { window };
    let mut settings = vec![
        ("contextWindow", window),
        ("status_every", &case.params["STATUS_UPDATE_FREQUENCY"]),
        ("high_usage_percent", &case.params["TOKEN_USAGE_THRESHOLD"]),
    ];
    settings.extend_from_slice(more);
    let window_is_the_models = window.as_u64() == FACTS.window;
    settings.retain(|(name, _)| *name != "contextWindow" || !window_is_the_models);
    plan(name, FACTS, &settings)
}

/// Usage from which on it is called high.
fn high(plan: &Plan) -> f64 {
    fn of(trigger: &Trigger) -> Option<f64> {
        match trigger {
            Trigger::Level(level) => level.ge,
            Trigger::All(triggers) | Trigger::Any(triggers) => triggers.iter().find_map(of),
            _ => None,
        }
    }
    let rule = plan.rule.iter().find(|rule| rule.id == "status").unwrap();
    rule.when.as_ref().and_then(of).unwrap()
}

pub fn compact_history(case: &Case) -> Checked {
    let settings = [("preserveRecentMessages", &case.params["preserveRecentMessages"])];
    let plan = plan("mycoder@documented", FACTS, &settings);
    let mut given = Given::default();
    for message in list(&case.input["messages"]) {
        let words = text(&message["content"]);
        match text(&message["role"]) {
            // Whatever the agent puts in by itself is a message of the history, but for the system prompt, which stands apart.
            "system" => {
                given.push(Role::System, vec![part(PartKind::Text, words)]);
                given.is_summary();
            }
            "assistant" => drop(given.push(Role::Assistant, vec![part(PartKind::Text, words)])),
            "tool_use" => drop(given.push(Role::Assistant, vec![call(text(&message["name"]), words)])),
            "tool_result" => drop(given.push(Role::Tool, vec![part(PartKind::ToolResult, words)])),
            _ => drop(given.push(Role::User, vec![part(PartKind::Text, words)])),
        }
    }
    let mut probe = given.probe(&plan, &ENDLESS);
    let changed = probe.force("compactHistory");
    expect("summarised", Some(changed), case.expected["summariser_called"].as_bool())?;
    expect("length", Some(probe.context().len() as u64), case.expected["len_after"].as_u64())?;
    let name = |entry: &ctxsim::context::Entry| match (entry.role, probe.context().item(entry.first).map(|item| item.region)) {
        (Role::System, _) => "system",
        (Role::User, _) => "user",
        (_, Some(Region::ToolCall)) => "tool_use",
        (Role::Assistant, _) => "assistant",
        (Role::Tool, _) => "tool_result",
    };
    expect(
        "roles",
        probe.context().live().map(|(_, entry)| name(&entry)).collect(),
        list(&case.expected["roles"]).iter().map(text).collect::<Vec<_>>(),
    )?;
    if changed {
        let gone = given.len() + 1 - probe.context().len();
        let said = format!(
            "Successfully compacted {gone} messages into a summary, preserving the {} most recent messages.",
            case.params["preserveRecentMessages"]
        );
        expect("result", text(&case.expected["result"]).starts_with(&said), true)?;
    }
    Ok(Passed::Whole)
}

pub fn whole_loop(case: &Case) -> Checked {
    let mut reported = list(&case.expected["requests"]).iter().zip(list(&case.input["steps"]));
    let silent = reported.any(|(request, step)| step["total"].as_u64() < request["status"].as_u64());
    match requests_alike(case) {
        Err(_) if silent => Ok(Passed::NotModelled("a reply without usage after status updates: here each prompt has a size")),
        checked => checked,
    }
}

fn requests_alike(case: &Case) -> Checked {
    let plan = preset("mycoder@1.7", case, &case.params["contextWindow"], &[("status_tokens", &Value::from(1))]);
    let given = conversation(case);
    let mut seen = Vec::new();
    let outcome = watch(&given.trace, &plan, &ENDLESS, &mut |context| seen.push(letters(context)));
    let limit = high(&plan);
    let updates: Vec<(u32, bool)> = outcome
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Inject)
        .map(|event| (event.call, event.belief.is_some_and(|belief| belief as f64 >= limit)))
        .collect();
    let requests = list(&case.expected["requests"]);
    expect("number of requests", seen.len(), requests.len())?;
    for (index, (seen, request)) in seen.iter().zip(requests).enumerate() {
        expect(&format!("roles {index}"), seen.as_str(), text(&request["roles"]))?;
        let before: Vec<bool> = updates.iter().filter(|(call, _)| (*call as usize) < index).map(|(_, high)| *high).collect();
        expect("updates", Some(before.len() as u64), request["status"].as_u64())?;
        expect("high", Some(before.iter().filter(|high| **high).count() as u64), request["high"].as_u64())?;
    }
    Ok(Passed::Whole)
}

/// Each part as a message of its own, as MyCoder keeps them.
fn letters(context: &Context) -> String {
    let items = context.live().flat_map(|(_, entry)| (entry.first..entry.first + entry.count).map(move |item| (entry.role, item)));
    items
        .map(|(role, item)| match (role, context.item(item).map(|item| item.region)) {
            (Role::System, _) => 'S',
            (Role::User, _) => 'u',
            (_, Some(Region::ToolCall)) => 'c',
            (Role::Assistant, _) => 'a',
            (Role::Tool, _) => 'r',
        })
        .collect()
}

fn conversation(case: &Case) -> Given {
    let mut given = Given::default();
    given.push(Role::System, vec![part(PartKind::Text, text(&case.input["systemPrompt"]))]);
    given.push(Role::User, vec![part(PartKind::Text, text(&case.input["initialPrompt"]))]);
    let requests = list(&case.expected["requests"]);
    let steps = list(&case.input["steps"]).iter().map(Some).chain(std::iter::repeat(None));
    for (request, step) in requests.iter().zip(steps) {
        let calls = step.map_or(&[][..], |step| list(&step["calls"]));
        let words = step.map_or("", |step| text(&step["text"]));
        let mut parts: Vec<_> = (!words.is_empty()).then(|| part(PartKind::Text, words)).into_iter().collect();
        parts.extend(calls.iter().map(|given| call(given["name"].as_str().unwrap_or("tool"), "{}")));
        let silent = parts.is_empty();
        let message = given.push(Role::Assistant, parts);
        // What the provider reports is what the script says, however many updates of one token stand in the context.
        let total = step.map_or(0, |step| step["total"].as_u64().unwrap_or(0));
        let hidden = total.saturating_sub(request["status"].as_u64().unwrap_or(0));
        given.trace.calls.push(reply_row(message, hidden));
        for _ in calls {
            given.push(Role::Tool, vec![part(PartKind::ToolResult, text(&case.input["tool_output"]))]);
        }
        if silent {
            given.push(Role::User, vec![part(PartKind::Text, "reminder")]);
        }
    }
    given
}

pub fn status_update(case: &Case) -> Checked {
    let plan = preset("mycoder@1.7", case, &case.input["contextWindow"], &[]);
    let mut given = Given::default();
    given.push(Role::Assistant, vec![part(PartKind::Text, "a")]);
    let mut probe = given.probe(&plan, &ENDLESS);
    probe.report(Some((case.input["totalTokens"].as_u64().unwrap(), 0)));
    let said = text(&case.expected["content"]).contains("Your token usage is high");
    expect("high", probe.verdict("status").map(|verdict| verdict.fires), Some(said))?;
    Ok(Passed::Whole)
}

pub fn tool_output_limit(case: &Case) -> Checked {
    let plan = plan("mycoder@1.7", FACTS, &[("tool_output_limit", &case.params["OUTPUT_LIMIT"])]);
    let rule = plan.rule.iter().find(|rule| rule.id == "output-limit").unwrap();
    let output = &case.input["tool_output"];
    if !output.is_string() {
        // Such results come from tools that the rule leaves out.
        let tools = ["shellStart".to_owned()];
        expect("looks at objects", rule.select.wants_arrival(Region::ToolResult, Role::Tool, Some(0), &tools), false)?;
        return Ok(Passed::Whole);
    }
    let cut = apply(rule.truncate.as_ref().unwrap(), text(output));
    digest::same(cut.as_deref().unwrap_or(text(output)), &case.expected["result"])?;
    Ok(Passed::Whole)
}
