//! Gemini CLI 0.61.

use super::excerpt::apply;
use super::given::{ENDLESS, Given, call, list, part, plan, text};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::context::State;
use ctxsim::policy::{Facts, Hook, NoInflate, Plan};
use ctxsim::sim::{Probe, Standing};
use ctxsim::trace::{PartKind, PartRow};
use ctxsim::transcript::{Length, Role};
use serde_json::Value;

const WINDOW: u64 = 1_048_576;

fn preset(settings: &[(&str, &Value)]) -> Plan {
    plan("gemini-cli", Facts { window: Some(WINDOW), max_input: 0, max_output: 0, family: None, ..Facts::default() }, settings)
}

/// What stands in a vector has passed the limits on ingestion.
fn of_history(settings: &[(&str, &Value)]) -> Plan {
    let plan = preset(settings);
    Plan { rule: plan.rule.into_iter().filter(|rule| rule.at != Hook::Ingest).collect(), ..plan }
}

/// A part of a content as the reader gives it; `Err` says what no reader gives.
fn row(given: &mut Given, block: &Value) -> Result<PartRow, &'static str> {
    let id = |of: &Value| text(&of["id"]).len() as u32;
    if block["text"].is_string() {
        let kind = if block["thought"] == true { PartKind::Thinking } else { PartKind::Text };
        return Ok(part(kind, text(&block["text"])));
    }
    let (asks, answers) = (&block["functionCall"], &block["functionResponse"]);
    if asks.is_object() {
        let arguments = if asks["args"].is_null() { String::new() } else { asks["args"].to_string() };
        return Ok(PartRow { id_bytes: id(asks), ..call(text(&asks["name"]), &arguments) });
    }
    if answers.is_object() {
        if answers["parts"].is_array() {
            return Err("parts within the response of a tool");
        }
        let response = &answers["response"];
        let output = response["output"].as_str().or(response["error"].as_str());
        let Some(output) = output else { return Err("a response that is no object with a text") };
        let name = text(&answers["name"]);
        let tool = given.trace.tools.iter().position(|known| known == name).unwrap_or_else(|| {
            given.trace.tools.push(name.to_owned());
            given.trace.tools.len() - 1
        });
        let error = response["error"].is_string();
        let row = part(PartKind::ToolResult, output);
        return Ok(PartRow { tool: Some(tool as u32).into(), name: Length::of(name).into(), id_bytes: id(answers), error, ..row });
    }
    match text(&block["inlineData"]["mimeType"]) {
        "application/pdf" => Err("a PDF counts 25,800 tokens"),
        mime if mime.starts_with("image/") => Ok(part(PartKind::Image, "")),
        _ => Ok(part(PartKind::Other, &block.to_string())),
    }
}

/// A history as the reader gives it, but for results of parallel calls: one content holds them.
fn history(contents: &Value) -> Result<Given, &'static str> {
    let mut given = Given::default();
    for content in list(contents) {
        let blocks = list(&content["parts"]);
        let rows = blocks.iter().map(|block| row(&mut given, block)).collect::<Result<Vec<PartRow>, _>>()?;
        let answers = rows.iter().any(|row| row.kind == PartKind::ToolResult);
        let role = match text(&content["role"]) {
            "model" => Role::Assistant,
            _ if answers => Role::Tool,
            _ => Role::User,
        };
        given.push(role, rows);
    }
    Ok(given)
}

pub fn estimate_tokens(case: &Case) -> Checked {
    if case.params["chars_per_token"].as_u64().is_some_and(|chars| chars != 4) {
        return Ok(Passed::NotModelled("a number of characters per token that nothing in the agent asks for"));
    }
    let given = match history(&serde_json::json!([{ "role": "model", "parts": case.input["parts"] }])) {
        Ok(given) => given,
        Err(reason) => return Ok(Passed::NotModelled(reason)),
    };
    let plan = of_history(&[]);
    let estimated = given.probe(&plan, &ENDLESS).context().view().request();
    let expected = case.expected["tokens"].as_u64().unwrap();
    // `{"error":"..."}` is a letter shorter than `{"output":"..."}`.
    let failed = given.trace.parts.iter().filter(|part| part.kind == PartKind::ToolResult && part.error).count() as u64;
    if estimated != expected && estimated.abs_diff(expected) <= failed.div_ceil(4) {
        return Ok(Passed::NotModelled("a failed result is a letter shorter than another one"));
    }
    expect("tokens", estimated, expected)?;
    Ok(Passed::Whole)
}

pub fn truncate_output(case: &Case) -> Checked {
    let most = &case.params["max_chars"];
    if most.as_i64() <= Some(0) {
        return Ok(Passed::NotModelled("a limit of nothing or less, which keeps nearly all of a text"));
    }
    let plan = preset(&[("truncateToolOutputThreshold", most)]);
    let rule = plan.rule.iter().find(|rule| rule.id == "shell-limit").unwrap();
    let mut limits = rule.truncate.clone().unwrap();
    limits.header = limits.header.replace("/home/user/.gemini/tmp/project/tool-outputs/run_shell_command_0.txt", "/F/out.txt");
    let given = text(&case.input["text"]);
    digest::same(apply(&limits, given).as_deref().unwrap_or(given), &case.expected["output"])?;
    Ok(Passed::Whole)
}

/// How many messages stay of those that the history holds.
fn kept(probe: &Probe<'_>) -> usize {
    probe.context().live().filter(|(_, entry)| entry.message.get().is_some()).count()
}

pub fn split_point(case: &Case) -> Checked {
    let share = Value::from(1.0 - case.params["fraction"].as_f64().unwrap());
    let share = if case.params["fraction"] == 0.7 { Value::from(0.3) } else { share };
    let mut plan = of_history(&[("preserve_share", &share), ("summary_tokens", &Value::from(0)), ("ack_tokens", &Value::from(0))]);
    let given = match history(&case.input["contents"]) {
        Ok(given) => given,
        Err(reason) => return Ok(Passed::NotModelled(reason)),
    };
    // No summary can be too large here: sizes have no truth in a vector.
    plan.rule.iter_mut().for_each(|rule| std::sync::Arc::make_mut(rule).no_inflate = NoInflate::Off);
    let mut probe = given.probe(&plan, &ENDLESS);
    let changed = probe.force("compress");
    if case.expected["error"].is_string() {
        // The agent throws there. Where everything is to stay, nothing happens here either.
        let refused = Passed::NotModelled("a share of nothing to be kept, which is refused there");
        return Ok(if changed { refused } else { Passed::Whole });
    }
    let split = if changed { given.len() - kept(&probe) } else { 0 };
    expect("split", Some(split as u64), case.expected["split"].as_u64())?;
    Ok(Passed::Whole)
}

pub fn mask(case: &Case) -> Checked {
    let latest = Value::from(u8::from(case.params["protect_latest"] != false));
    let settings = [
        ("toolProtectionThreshold", &case.params["protect"]),
        ("minPrunableTokensThreshold", &case.params["minimum"]),
        ("protectLatestTurn", &latest),
    ];
    let plan = of_history(&settings);
    let mut given = match history(&case.input["history"]) {
        Ok(given) => given,
        Err(reason) => return Ok(Passed::NotModelled(reason)),
    };
    let mut places = Vec::new();
    for (content, message) in list(&case.input["history"]).iter().enumerate() {
        for (place, block) in list(&message["parts"]).iter().enumerate() {
            if text(&block["functionResponse"]["response"]["output"]).contains("<tool_output_masked") {
                given.is_masked(places.len() as u32);
            }
            places.push((content as u64, place as u64));
        }
    }
    let mut probe = given.probe(&plan, &ENDLESS);
    let masked = |probe: &Probe<'_>| -> Vec<(u64, u64)> {
        let is_masked = |item: &usize| probe.context().item(*item as u32).is_some_and(|item| item.state == State::Masked);
        (0..places.len()).filter(is_masked).map(|item| places[item]).collect()
    };
    let before = masked(&probe);
    probe.run("mask");
    let found: Vec<(u64, u64)> = masked(&probe).into_iter().filter(|place| !before.contains(place)).collect();
    let place = |masked: &Value| (masked["at"][0].as_u64().unwrap(), masked["at"][1].as_u64().unwrap());
    let mut expected: Vec<(u64, u64)> = list(&case.expected["masked"]).iter().map(place).collect();
    expected.sort_unstable();
    // A preview that is as long as the output is no gain.
    let sections = |place: &(u64, u64)| {
        let block = &case.input["history"][place.0 as usize]["parts"][place.1 as usize]["functionResponse"];
        block["name"] == "run_shell_command" && text(&block["response"]["output"]).contains("\nExit Code: ")
    };
    if found != expected && found.iter().chain(&expected).filter(|place| found.contains(place) != expected.contains(place)).all(sections) {
        return Ok(Passed::NotModelled("previews of shell output keep the sections of its report"));
    }
    expect("masked", found, expected)?;
    Ok(Passed::Whole)
}

/// What is left of a history after the check before a request.
pub fn compress(case: &Case) -> Checked {
    let written = [&case.input["verified"], &case.input["summary"]].map(text).into_iter().find(|said| !said.is_empty()).unwrap_or("");
    let settings = [
        ("compressionThreshold", &case.params["threshold"]),
        ("truncateToolOutputThreshold", &case.params["truncate_chars"]),
        ("summary_tokens", &Value::from(written.encode_utf16().count() / 4)),
    ];
    let plan = of_history(&settings);
    let given = match history(&case.input["history"]) {
        Ok(given) => given,
        Err(reason) => return Ok(Passed::NotModelled(reason)),
    };
    let status = text(&case.expected["status"]);
    let forced = case.params["force"] == true;
    let mut probe = Probe::new(&given.trace, &plan, &ENDLESS);
    for message in 0..given.len() {
        probe.enter(message as u32, Standing::Recorded);
    }
    probe.report(case.params["last_prompt"].as_u64().map(|prompt| (prompt, 0)));
    if case.params["failed"] == true && !forced {
        // After a rejected summary later attempts only cut old tool outputs: the summary's rule is latched, the other one goes on.
        let latched = |id: &str| plan.rule.iter().any(|rule| rule.id == id && rule.give_up_after == Some(1));
        let together = plan.rule.iter().any(|rule| rule.id == "compress-mid-turn" && rule.give_up_with.as_deref() == Some("compress"));
        expect("latched", latched("compress") && latched("compress-mid-turn") && together, true)?;
        probe.run("cut-old-outputs");
        let cut = cut_as(&probe, &case.expected["newHistory"]);
        return if cut.is_err() && fits_again(&given, &plan) { Ok(Passed::NotModelled(FITS_AGAIN)) } else { cut };
    }
    let run = |probe: &mut Probe<'_>, rule: &str| if forced { probe.force(rule) } else { probe.run(rule) };
    run(&mut probe, "cut-old-outputs");
    let changed = run(&mut probe, "compress");
    expect("compressed", changed, status == "COMPRESSED")?;
    expect("requests", probe.outcome().totals.summariser_calls, list(&case.expected["requests"]).len() as u64)?;
    if !changed {
        return Ok(Passed::Whole);
    }
    let new = list(&case.expected["newHistory"]);
    if kept(&probe) != new.len() - 2 && fits_again(&given, &plan) {
        return Ok(Passed::NotModelled(FITS_AGAIN));
    }
    // The snapshot and the answer to it are one message here.
    expect("kept", kept(&probe), new.len() - 2)?;
    Ok(Passed::Whole)
}

/// Are the results cut that are cut in the history that a vector expects?
fn cut_as(probe: &Probe<'_>, expected: &Value) -> Checked {
    let mut item = 0;
    for (content, message) in list(expected).iter().enumerate() {
        for block in list(&message["parts"]) {
            let digest = &block["result"];
            let left = digest["head"].as_str().or(digest["text"].as_str()).unwrap_or("");
            let state = probe.context().item(item).map(|item| item.state);
            let cut = left.starts_with("{\"output\":\"Output too large. Showing first ");
            expect(&format!("cut in content {content}"), state == Some(State::Truncated), cut)?;
            item += 1;
        }
    }
    Ok(Passed::Whole)
}

const FITS_AGAIN: &str = "a tool output behind one that was cut stays whole, where it fits with what was left of that one";

/// Does an output that is longer than a cut one fit the budget behind one that was cut?
fn fits_again(given: &Given, plan: &Plan) -> bool {
    const BUDGET: u64 = 50_000;
    let rule = plan.rule.iter().find(|rule| rule.id == "cut-old-outputs").unwrap();
    let most = rule.truncate.as_ref().unwrap().max.unwrap();
    let (mut sum, mut cut, mut again) = (0, false, false);
    for part in given.trace.parts.iter().rev().filter(|part| part.kind == PartKind::ToolResult) {
        let tokens = plan.estimator.text(&part.text);
        let long = u64::from(part.text.length.utf16) > most;
        if sum + tokens > BUDGET {
            cut |= long;
            sum += if long { most / 4 } else { tokens };
        } else {
            again |= cut && long;
            sum += tokens;
        }
    }
    again
}
