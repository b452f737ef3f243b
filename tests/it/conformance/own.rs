//! Vectors of our own, for numbers of the presets that no golden vector reaches: what arrives of a long result, and short replays in
//! which the size of every prompt was worked out by hand from what is written down of each system (`params.source`).

use super::excerpt::apply;
use super::given::{Given, call, expanded, list, part, plan, reply_row, text};
use super::{Case, Checked, Passed, expect};
use crate::support::project;
use ctxsim::context::Region;
use ctxsim::policy::{Facts, Hook, Plan};
use ctxsim::sim::{Conditions, simulate};
use ctxsim::trace::{PartKind, PartRow};
use ctxsim::transcript::{Length, Role, Text};
use serde_json::Value;

/// Systems with vectors of our own.
pub const SYSTEMS: [&str; 6] = ["baseagent", "codex", "mycoder", "opencode", "pi", "picoclaw"];

/// A document of cases in this folder.
pub fn upstream(name: &str) -> Value {
    let file = project().join("tests/data/conformance").join(name).with_extension("json");
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

/// The vectors of a system.
pub fn cases(system: &str) -> Vec<Case> {
    let vectors = upstream(system);
    let case = |vector: &Value| Case {
        name: text(&vector["name"]).to_owned(),
        input: expanded(&vector["input"]),
        params: vector["params"].clone(),
        expected: vector["expected"].clone(),
    };
    list(&vectors).iter().map(case).collect()
}

/// The preset that a vector is about.
pub fn preset(case: &Case) -> &str {
    text(&case.input["preset"])
}

pub fn check(case: &Case) -> Checked {
    let name: &'static str = ctxsim::policy::presets().iter().find(|known| known.name == preset(case)).unwrap().name;
    let facts = Facts {
        window: case.input["window"].as_u64(),
        max_input: 0,
        max_output: case.input["max_output"].as_u64().unwrap_or(0),
        family: None,
        ..Facts::default()
    };
    let plan = plan(name, facts, &[]);
    if case.input["arrives"].is_object() { arrival(case, &plan) } else { replay(case, &plan) }
}

/// What the ingestion limits leave of a tool's result.
fn arrival(case: &Case, plan: &Plan) -> Checked {
    let arrives = &case.input["arrives"];
    let tools = [text(&arrives["tool"]).to_owned()];
    let wanted = |rule: &&ctxsim::policy::Rule| {
        rule.at == Hook::Ingest && rule.select.wants_arrival(Region::ToolResult, Role::Tool, Some(0), &tools)
    };
    let mut left = text(&arrives["text"]).to_owned();
    for limits in plan.rule.iter().map(std::sync::Arc::as_ref).filter(wanted).filter_map(|rule| rule.truncate.as_ref()) {
        left = apply(limits, &left).unwrap_or(left);
    }
    let tail: Vec<char> = left.chars().rev().take(80).collect();
    expect("bytes", Some(left.len() as u64), case.expected["bytes"].as_u64())?;
    expect("lines", Some(left.matches('\n').count() as u64 + 1), case.expected["lines"].as_u64())?;
    expect("tail", tail.iter().rev().collect::<String>().as_str(), text(&case.expected["tail"]))?;
    Ok(Passed::Whole)
}

fn replay(case: &Case, plan: &Plan) -> Checked {
    let window = case.input["window"].as_u64().unwrap();
    let conditions = Conditions { window, prompt_limit: window, ..Conditions::default() };
    let outcome = simulate(&conversation(case).trace, plan, &conditions);
    let numbers = |name: &str| list(&case.expected[name]).iter().filter_map(Value::as_u64).collect::<Vec<_>>();
    expect("prompts", outcome.calls.iter().map(|call| call.actual).collect(), numbers("prompts"))?;
    if case.expected["estimates"].is_array() {
        expect("estimates", outcome.calls.iter().map(|call| call.estimated).collect(), numbers("estimates"))?;
    }
    if case.expected["refused"].is_array() {
        expect("refused", outcome.calls.iter().map(|call| u64::from(call.refused)).collect(), numbers("refused"))?;
    }
    expect("summariser calls", outcome.totals.summariser_calls, case.expected["summariser_calls"].as_u64().unwrap_or(0))?;
    expect("summariser tokens", outcome.totals.summariser_tokens, case.expected["summariser_tokens"].as_u64().unwrap_or(0))?;
    Ok(Passed::Whole)
}

/// Each line a message: who, for calls and results which tool, and how many tokens of four letters.
fn conversation(case: &Case) -> Given {
    let mut given = Given::default();
    let hidden = case.input["hidden"].as_u64().unwrap();
    for line in list(&case.input["said"]) {
        let words: Vec<&str> = text(line).split(' ').collect();
        let tokens = words.last().and_then(|number| number.parse().ok()).unwrap();
        match words[0] {
            "user" => drop(given.push(Role::User, vec![sized(PartKind::Text, tokens)])),
            "result" => drop(given.push(Role::Tool, vec![sized(PartKind::ToolResult, tokens)])),
            who => {
                let mut parts = vec![sized(PartKind::Text, tokens)];
                parts.extend((who == "call").then(|| call(words[1], "")));
                let message = given.push(Role::Assistant, parts);
                let mut row = reply_row(message, hidden);
                row.output = u64::from(tokens);
                given.trace.calls.push(row);
            }
        }
    }
    given
}

fn sized(kind: PartKind, tokens: u32) -> PartRow {
    let length = Length { bytes: tokens * 4, utf16: tokens * 4, chars: tokens * 4, newlines: 0 };
    let text = Text { length, tokens, json_bytes: tokens * 4, ..Text::default() };
    PartRow { text, truth: u64::from(tokens), ..part(kind, "") }
}

#[test]
fn vectors_of_our_own_pass() {
    let wrong: Vec<String> = SYSTEMS
        .iter()
        .flat_map(|system| cases(system).into_iter().map(move |case| (system, case)))
        .filter_map(|(system, case)| check(&case).err().map(|error| format!("{system} {}: {error}", case.name)))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
