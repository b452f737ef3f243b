//! Qwen Code 0.24.

use super::excerpt::apply_rule;
use super::given::{ENDLESS, Given, call, list, part, plan, reply_row, text};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::context::State;
use ctxsim::policy::{Facts, Hook, Measure, Plan, Take, Trigger};
use ctxsim::sim::{Conditions, Probe, watch};
use ctxsim::trace::{PartKind, PartRow};
use ctxsim::transcript::Role;
use serde_json::Value;
use std::sync::Arc;

const PRESET: &str = "qwen-code@0.24";

fn facts(window: &Value) -> Facts {
    Facts { window: Some(window.as_u64().unwrap_or(200_000)), max_input: 0, max_output: 32_000, family: None, ..Facts::default() }
}

/// The preset without its limits for what arrives.
fn preset(window: &Value, settings: &[(&str, &Value)]) -> Plan {
    let plan = plan(PRESET, facts(window), settings);
    Plan { rule: plan.rule.into_iter().filter(|rule| rule.at != Hook::Ingest).collect(), ..plan }
}

/// A share as a policy can have it: what lies below nothing is nothing to the agent too.
fn share(given: &Value) -> Value {
    given.as_f64().map_or(Value::Null, |share| Value::from(share.max(0.0)))
}

/// The first two of its thresholds: the third is shown to a person.
pub fn thresholds(case: &Case) -> Checked {
    let plan = preset(&case.input["window"], &[("autoCompactThreshold", &share(&case.input["pct"]))]);
    for (id, name) in [("compress", "auto"), ("hard", "hard")] {
        let when = plan.rule.iter().find(|rule| rule.id == id).and_then(|rule| rule.when.as_ref()).unwrap();
        let levels = if let Trigger::Any(any) = when { any } else { std::slice::from_ref(when) };
        let limit = levels.iter().find_map(|trigger| if let Trigger::Level(level) = trigger { level.ge } else { None }).unwrap();
        let expected = case.expected[name].as_f64().unwrap();
        expect(name, (limit - expected).abs() < 1e-6, true).map_err(|_| format!("{name}: {limit} instead of {expected}"))?;
    }
    Ok(Passed::Whole)
}

/// What wraps name, id and arguments of a call in the JSON that counts.
const CALL: u64 = 44;

/// What a content holds, as the reader gives it. The JSON that counts for a call holds more than name and arguments.
fn parts(content: &Value) -> Vec<PartRow> {
    let media = |block: &Value| block["inlineData"].is_object() || block["fileData"].is_object();
    let mut parts = Vec::new();
    for block in list(&content["parts"]) {
        let (called, answer) = (&block["functionCall"], &block["functionResponse"]);
        if let Some(words) = block["text"].as_str() {
            parts.push(part(if block["thought"] == true { PartKind::Thinking } else { PartKind::Text }, words));
        } else if called.is_object() {
            let (json, name) = (utf16(&block.to_string()), text(&called["name"]));
            parts.push(call(name, &"x".repeat(json.saturating_sub(CALL + utf16(name)) as usize)));
        } else if answer.is_object() {
            let response = &answer["response"];
            let words = response["output"].as_str().or(response["error"].as_str()).unwrap_or("");
            parts.push(PartRow { error: !response["error"].is_null(), ..part(PartKind::ToolResult, words) });
            let nested = |nested: &Value| if media(nested) { part(PartKind::Image, "") } else { part(PartKind::Text, &nested.to_string()) };
            parts.extend(list(&answer["parts"]).iter().map(nested));
        } else if media(block) {
            parts.push(part(PartKind::Image, ""));
        } else {
            parts.push(part(PartKind::Text, &block.to_string()));
        }
    }
    parts
}

fn utf16(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// Whose message a content is: what tools answer is one of theirs.
fn role(content: &Value) -> Role {
    let answers = list(&content["parts"]).iter().any(|block| block["functionResponse"].is_object());
    match content["role"] == "model" {
        true => Role::Assistant,
        false if answers => Role::Tool,
        false => Role::User,
    }
}

/// The estimate of everything together, which the function rounds once: one message here.
pub fn estimate_contents(case: &Case) -> Checked {
    let plan = preset(&Value::Null, &[("imageTokenEstimate", &case.params["imageTokenEstimate"])]);
    let mut given = Given::default();
    given.push(Role::User, list(&case.input["contents"]).iter().flat_map(parts).collect());
    let probe = given.probe(&plan, &ENDLESS);
    expect("tokens", probe.measure(Measure::EstHistory), case.expected["tokens"].as_u64())?;
    Ok(Passed::Whole)
}

/// What the trigger sees. Where no prompt is known, history and new message are rounded as one.
pub fn prompt_estimate(case: &Case) -> Checked {
    let known = case.params["lastPrompt"].as_u64().filter(|tokens| *tokens > 0);
    let plan = preset(&Value::Null, &[]);
    let mut given = Given::default();
    let history = list(&case.input["history"]).iter().flat_map(parts).collect::<Vec<_>>();
    let pending = parts(&case.input["pending"]);
    let reported = |given: &Given, rows: u32| {
        let mut probe = Probe::new(&given.trace, &plan, &ENDLESS);
        for message in 0..rows {
            probe.enter(message, given.standing(message as usize));
            if message == 0 {
                probe.report(known.map(|prompt| (prompt, case.params["lastOutput"].as_u64().unwrap_or(0))));
            }
        }
        probe.measure(Measure::UsagePlusPending)
    };
    let found = if known.is_some() {
        given.push(Role::Assistant, history);
        given.push(Role::User, pending);
        reported(&given, 2)
    } else {
        given.push(Role::User, [history, pending].concat());
        reported(&given, 1)
    };
    // Where it caps the longest reply, it takes half as much again for what is new: told here, as a replay has the replies of the log.
    let reported_tokens = known.map(|prompt| prompt + case.params["lastOutput"].as_u64().unwrap_or(0));
    let found = match (found, reported_tokens) {
        (Some(found), Some(reported)) if case.params["conservative"] == 1 => Some(reported + ((found - reported) * 3).div_ceil(2)),
        (found, _) => found,
    };
    expect("tokens", found, case.expected["tokens"].as_u64())?;
    Ok(Passed::Whole)
}

/// The longest reply that a request asks for is never less than what the preset keeps free; how it shrinks down to that is told here.
pub fn clamp_output(case: &Case) -> Checked {
    let number = |name: &str| case.input[name].as_i64().unwrap();
    let window = number("window");
    let least = preset(&case.input["window"], &[]).window.reserve as i64;
    let margin = (window as f64 * 0.05).round().max(10_000.0) as i64;
    let room = window - number("prompt") - margin;
    expect("tokens", number("ceiling").min(room.max(least)), case.expected["tokens"].as_i64().unwrap())?;
    Ok(Passed::Whole)
}

/// Where the agent saves a whole result: the place in the vectors, and an ordinary one, by which it is known whether a cut is worth while.
const SAVED: [&str; 2] = ["/TMP/tool.output", "/home/user/.qwen/tmp/0123456789abcdef/read_file_0123456789ab.output"];

pub fn truncate_tool_output(case: &Case) -> Checked {
    let given = text(&case.input["text"]);
    let (all, limits) = (&case.params, &case.params["limits"]);
    let (id, settings) = match (text(&limits["keep"]), text(&limits["lines"])) {
        ("tail", "Infinity") => ("agent-limit", vec![("agent_output_threshold", &limits["threshold"])]),
        ("both", "Infinity") => ("shell-limit", vec![("shell_output_threshold", &limits["threshold"])]),
        _ if limits.is_null() => {
            ("output-limit", vec![("truncateToolOutputThreshold", &all["threshold"]), ("truncateToolOutputLines", &all["lines"])])
        }
        _ => return Ok(Passed::NotModelled("limits that no tool of the agent's own has")),
    };
    let plan = plan(PRESET, facts(&Value::Null), &settings);
    // A result that bears the mark is not cut again.
    let marked = given.starts_with("Tool output was too large and has been truncated");
    let rule = plan.rule.iter().find(|rule| rule.id == id && !marked);
    let cut = rule.and_then(|rule| apply_rule(rule, given));
    expect("truncated", Some(cut.is_some()), case.expected["truncated"].as_bool())?;
    let left = cut.map_or_else(|| given.to_owned(), |cut| cut.replacen(SAVED[1], SAVED[0], 1));
    digest::same(&left, &case.expected["content"])?;
    Ok(Passed::Whole)
}

/// What clears, with an estimator that counts characters: by tokens of four each, a result is up to three characters larger.
fn in_characters(mut plan: Plan) -> Plan {
    plan.estimator.denominator = 1;
    plan.rule.retain(|rule| rule.summarise.is_none() && rule.action().is_some());
    for rule in plan.rule.iter_mut().map(Arc::make_mut) {
        if let Take::DownTo(size) = &mut rule.select.take {
            (size.tokens, size.above) = (size.tokens * 4.0, size.above.map(|above| above * 4.0));
        }
    }
    plan
}

/// Old results and pictures, cleared as the next message is sent: the content that stands before it, a reply, and the message.
pub fn microcompact(case: &Case) -> Checked {
    let settings = &case.params["settings"];
    let names = ["toolResultsThresholdMinutes", "toolResultsNumToKeep", "toolResultsTotalCharsThreshold"];
    let settings = names.map(|name| (name, &settings[name]));
    let plan = in_characters(preset(&Value::Null, &settings));
    if case.params["force"] == true {
        return Ok(Passed::NotModelled("a person asks for it"));
    }
    let cleared_tools = plan.rule.iter().find(|rule| !rule.select.tools.is_empty()).map_or(&[][..], |rule| &rule.select.tools);
    let mut given = Given::default();
    let mut places = Vec::new();
    given.push(Role::User, Vec::new());
    for (index, content) in list(&case.input["history"]).iter().enumerate() {
        answered(&mut given, content, cleared_tools, |place| places.push((index as u64, place)));
    }
    // One turn, so that nothing is looked at before the message that is to be sent.
    given.trace.messages.iter_mut().skip(1).for_each(|message| message.synthetic = true);
    let reply = |given: &mut Given, time: Option<i64>| {
        let message = given.push(Role::Assistant, vec![part(PartKind::Text, "")]);
        given.trace.messages[message as usize].time = time.into();
        given.trace.calls.push(reply_row(message, 0));
    };
    let size_only = case.params["sizeOnly"] == true;
    let idle = case.params["idle_ms"].as_i64().filter(|_| !size_only);
    reply(&mut given, idle.map(|_| 0));
    let pending = list(&case.input["pending"]);
    let results = pending.iter().flat_map(|content| list(&content["parts"])).filter(|block| block["functionResponse"].is_object());
    if results.count() > 1 {
        return Ok(Passed::NotModelled("results that come together count as one among the newest that are spared"));
    }
    // What answers no tool is a message of the user.
    if pending.is_empty() {
        given.push(Role::User, vec![part(PartKind::Text, "next")]);
    }
    for content in pending {
        answered(&mut given, content, cleared_tools, |_| {});
    }
    reply(&mut given, idle);
    let mut cleared = Vec::new();
    watch(&given.trace, &plan, &ENDLESS, &mut |context| {
        let gone = |item: &usize| context.item(*item as u32).is_some_and(|item| matches!(item.state, State::Masked | State::Removed));
        cleared = (0..places.len()).filter(gone).map(|item| places[item]).collect();
    });
    let pair = |pair: &Value| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap());
    let expected: Vec<(u64, u64)> = list(&case.expected["cleared"]).iter().map(pair).collect();
    expect("cleared", cleared, expected)?;
    Ok(Passed::Whole)
}

/// A content with its tools named. Pictures that belong to a result that is cleared go with it, those of other tools stand for themselves;
/// a result without text is one that says so; what was cleared before says that.
fn answered(given: &mut Given, content: &Value, cleared: &[String], mut note: impl FnMut(u64)) {
    let mut rows = Vec::new();
    for (place, block) in list(&content["parts"]).iter().enumerate() {
        let one = serde_json::json!({ "role": content["role"], "parts": [block] });
        let mut all = parts(&one);
        if !cleared.iter().any(|tool| block["functionResponse"]["name"] == tool.as_str())
            && all.iter().any(|row| row.kind == PartKind::Image)
        {
            all.retain(|row| row.kind == PartKind::Image);
        }
        let Some(mut row) = all.into_iter().next() else { continue };
        let name = text(&block["functionResponse"]["name"]);
        if !name.is_empty() {
            let tools = &mut given.trace.tools;
            let known = tools.iter().position(|tool| tool == name);
            let tool = known.unwrap_or_else(|| {
                tools.push(name.to_owned());
                tools.len() - 1
            });
            row.tool = Some(tool as u32).into();
            let words = text(&block["functionResponse"]["response"]["output"]);
            row.error |= (row.kind == PartKind::ToolResult && words.is_empty()) || words == "[Old tool result content cleared]";
        }
        rows.push(row);
        note(place as u64);
    }
    given.push(role(content), rows);
}

/// The compression of the whole history as a message is about to be sent. An attempt that fails, for whatever reason, is driven as one
/// that the provider refuses, and the summary's own size decides whether it makes anything smaller.
pub fn compress(case: &Case) -> Checked {
    let history = list(&case.input["history"]);
    let forced = case.params["force"] == true;
    let status = text(&case.expected["status"]);
    let usage = &case.params["usage"];
    let words = text(&case.input["summary"]);
    let summary = words.split("</analysis>").last().unwrap_or("").trim_start();
    let input = usage["promptTokenCount"].as_u64();
    let output = usage["candidatesTokenCount"].as_u64();
    let own = Value::from(output.unwrap_or((summary.encode_utf16().count() as u64).div_ceil(4)));
    let share = share(&case.params["pct"]);
    let mut settings = vec![("autoCompactThreshold", &share), ("summary_tokens", &own)];
    let nothing = Value::from(0);
    if output.is_some() {
        settings.push(("wrapper_tokens", &nothing));
    }
    let plan = preset(&case.params["window"], &settings);
    let mut given = Given::default();
    for content in history {
        given.push(role(content), parts(content));
    }
    let last = history.last();
    let calls = last.is_some_and(|last| list(&last["parts"]).iter().any(|block| block["functionCall"].is_object()));
    // What is about to be sent: the answer to an open call, or something new.
    let kept = usize::from(calls && !forced) + 1;
    let sent = if kept == 2 { part(PartKind::ToolResult, "") } else { part(PartKind::Text, "") };
    given.push(if kept == 2 { Role::Tool } else { Role::User }, vec![sent]);
    // What the summariser read beside its own prompt is what it replaces; where that is not known, the estimate of the history.
    let estimate = given.probe(&plan, &ENDLESS).measure(Measure::EstHistory).unwrap();
    let replaced = input.map_or(estimate, |input| input.saturating_sub(1_000));
    given.trace.parts.change(0, |first| first.truth = replaced);
    let fails = !matches!(status, "COMPRESSED" | "NOOP" | "INFLATED");
    let conditions = Conditions { prompt_limit: if fails { 0 } else { ENDLESS.prompt_limit }, ..ENDLESS };
    let mut probe = Probe::new(&given.trace, &plan, &conditions);
    for message in 0..given.len() {
        probe.enter(message as u32, given.standing(message));
    }
    let size = case.params["effective"].as_u64().or(case.params["originalTokenCount"].as_u64());
    probe.report(size.map(|size| (size, 0)));
    let most = plan.rule.iter().find(|rule| rule.id == "compress").and_then(|rule| rule.give_up_after).map(u64::from);
    let spent = !forced && case.params["failures"].as_u64().zip(most).is_some_and(|(failures, most)| failures >= most);
    let changed = if forced { probe.force("compress") } else { !spent && probe.run("compress") };
    expect("compressed", changed, status == "COMPRESSED")?;
    if changed {
        let stays = probe.context().live().filter(|(_, entry)| entry.message.get().is_some()).count();
        let new = list(&case.expected["newHistory"]);
        let open = new.last().is_some_and(|last| list(&last["parts"]).iter().any(|block| !block["call"].is_null()));
        expect("what stays", stays, 1 + usize::from(open))?;
    }
    Ok(Passed::Whole)
}
