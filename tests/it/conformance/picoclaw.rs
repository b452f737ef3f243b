//! PicoClaw.

use super::excerpt::apply_to_bytes;
use super::given::{ENDLESS, Given, call, chat, list, plan, roles, text, weigh};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::estimate::Estimator;
use ctxsim::policy::{Facts, Plan, Take};
use ctxsim::trace::PartKind;
use ctxsim::transcript::Text;
use serde_json::Value;

const FACTS: Facts = Facts { window: None, max_input: 0, max_output: 0, family: None, item_bytes: 0, sealed_thousandths: 0 };
fn preset(case: &Case, more: &[(&str, &Value)]) -> Plan {
    let names = ["max_tokens", "context_window", "summarize_message_threshold", "summarize_token_percent"];
    let definitions = Value::from(definitions(&plan("picoclaw", FACTS, &[]).estimator, list(&case.input["tools"])));
    let settings = names.map(|name| (name, &case.params[name]));
    plan("picoclaw", FACTS, &[&settings[..], &[("tool_definition_tokens", &definitions)], more].concat())
}

fn definitions(estimator: &Estimator, tools: &[Value]) -> u64 {
    let texts: Vec<Text> = tools.iter().map(|tool| weigh(&definition(&tool["function"]))).collect();
    estimator.definitions(texts.iter())
}

/// A tool as PicoClaw counts it, its parameters as Go writes JSON.
fn definition(function: &Value) -> String {
    let parameters = if function["parameters"].is_null() { String::new() } else { function["parameters"].to_string() };
    let escapes = [('<', "\\u003c"), ('>', "\\u003e"), ('&', "\\u0026"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];
    let parameters = escapes.iter().fold(parameters, |text, (from, to)| text.replace(*from, to));
    format!("{}{}{parameters}", text(&function["name"]), text(&function["description"]))
}

pub fn estimate_tokens(case: &Case) -> Checked {
    let plan = preset(case, &[]);
    let given = chat(list(&case.input["messages"]));
    let probe = given.probe(&plan, &ENDLESS);
    let estimates = probe.context().live().map(|(_, entry)| entry.estimated).collect();
    expect("each", estimates, list(&case.expected["per_message"]).iter().filter_map(Value::as_u64).collect::<Vec<_>>())?;
    expect("definitions", Some(plan.estimator.overhead), case.expected["tool_defs"].as_u64())?;
    Ok(Passed::Whole)
}

pub fn is_over_budget(case: &Case) -> Checked {
    let plan = preset(case, &[]);
    let given = chat(list(&case.input["messages"]));
    let probe = given.probe(&plan, &ENDLESS);
    let tools = case.expected["tool_tokens"].as_u64();
    expect("definitions", Some(plan.estimator.overhead), tools)?;
    let request = probe.context().view().request() - plan.estimator.overhead;
    expect("messages", Some(request), case.expected["message_tokens"].as_u64())?;
    for rule in ["trim", "trim-reactive"] {
        expect(rule, probe.verdict(rule).map(|verdict| verdict.fires), case.expected["over"].as_bool())?;
    }
    if probe.context().view().message_count() > 2 {
        expect("compress", probe.verdict("compress").map(|verdict| verdict.fires), case.expected["over"].as_bool())?;
    }
    Ok(Passed::Whole)
}

pub fn force_compression(case: &Case) -> Checked {
    let plan = preset(case, &[]);
    let rule = |id: &str| plan.rule.iter().find(|rule| rule.id == id).unwrap();
    expect("both paths compress alike", &rule("compress").select, &rule("compress-reactive").select)?;
    let given = chat(list(&case.input["messages"]));
    let mut probe = given.probe(&plan, &ENDLESS);
    let compressed = probe.run("compress-reactive");
    expect("compressed", Some(compressed), case.expected["compressed"].as_bool())?;
    // The note is part of the system prompt, and no message of the history.
    let kept: Vec<u32> = probe.context().live().filter_map(|(_, entry)| entry.message.get()).collect();
    expect("dropped", Some((given.len() - kept.len()) as u64), case.expected["dropped"].as_u64())?;
    expect(
        "roles",
        roles(probe.context()).trim_start_matches('s').to_owned(),
        text(&case.expected["kept_roles"]).trim_start_matches('s').to_owned(),
    )?;
    let note = rule("compress").drop.as_ref().unwrap().marker_for(given.len() - kept.len());
    let before = text(&case.input["summary"]);
    let summary = match (compressed, before.is_empty()) {
        (false, _) => String::new(),
        (true, true) => note,
        (true, false) => format!("{before}\n\n{note}"),
    };
    if compressed {
        expect("note", summary.as_str(), text(&case.expected["summary_after"]))?;
    }
    Ok(Passed::Whole)
}

pub fn safe_boundary(case: &Case) -> Checked {
    let given = chat(list(&case.input["messages"]));
    let target = case.params["target_index"].as_i64().unwrap();
    let kept = (given.len() as i64 - target).clamp(0, given.len() as i64);
    let plan = preset(case, &[("keep_messages", &Value::from(kept))]);
    let probe = given.probe(&plan, &ENDLESS);
    let rule = plan.rule.iter().find(|rule| rule.id == "summarise").unwrap();
    let selection = rule.select.messages(probe.context().view(), 0);
    expect("boundary", Some(selection.gone.len() as u64), case.expected["safe_boundary"].as_u64())?;
    Ok(Passed::Whole)
}

pub fn shell_truncate_bytes(case: &Case) -> Checked {
    let plan = preset(case, &[("exec_output_bytes", &case.params["max_bytes"])]);
    let rule = plan.rule.iter().find(|rule| rule.id == "exec-limit").unwrap();
    let given = text(&case.input["text"]);
    let cut = apply_to_bytes(rule.truncate.as_ref().unwrap(), given);
    digest::same_bytes(cut.as_deref().unwrap_or(given.as_bytes()), &case.expected)?;
    Ok(Passed::Whole)
}

pub fn summarize(case: &Case) -> Checked {
    let plan = preset(case, &[]);
    let given = chat(list(&case.input["messages"]));
    let mut probe = given.probe(&plan, &ENDLESS);
    expect("history", Some(probe.context().view().history()), case.expected["history_tokens"].as_u64())?;
    // The rule is for histories of more than four messages; the code is called, and then does nothing.
    let fires = probe.verdict("summarise").is_some_and(|verdict| verdict.fires);
    let triggered = case.expected["triggered"] == true;
    expect("triggered", fires, triggered && given.len() > 4)?;
    probe.run("summarise");
    let left = probe.context().live().filter(|(_, entry)| entry.message.get().is_some()).count() as u64;
    let after = case.expected["history_after"].as_u64();
    let asked = list(&case.expected["llm_prompt_runes"]).len() as u64;
    let nothing_came = after == Some(given.len() as u64) && left < given.len() as u64;
    if asked == 0 && nothing_came {
        return Ok(Passed::NotModelled("where every message that it would read is more than half a window, nothing is summarised"));
    }
    let replies = list(&case.input["replies"]);
    if nothing_came && replies.iter().any(|reply| !text(reply).is_empty() && text(reply).trim().is_empty()) {
        return Ok(Passed::NotModelled("a summary of blanks alone is none"));
    }
    expect("left", Some(left), after)?;
    let window = case.params["context_window"].as_u64().unwrap() as usize;
    let omitted = list(&case.input["messages"]).iter().any(|message| text(&message["content"]).len() / 2 > window / 2);
    if omitted && asked > 0 && probe.outcome().totals.summariser_calls > asked {
        return Ok(Passed::NotModelled(
            "messages of more than half a window are not read, and do not count towards a summary in three calls",
        ));
    }
    if asked > 0 && replies.len() as u64 >= asked && replies.iter().all(|reply| !text(reply).trim().is_empty()) {
        expect("calls", probe.outcome().totals.summariser_calls, asked)?;
    }
    Ok(Passed::Whole)
}

pub fn trim_history(case: &Case) -> Checked {
    let plan = preset(case, &[]);
    let mut messages = vec![case.input["system"].clone()];
    messages.extend_from_slice(list(&case.input["messages"]));
    let given = chat(&messages);
    let tail: Given = chat(list(&case.input["tail"]));
    let tail = tail
        .probe(&Plan { estimator: Estimator { overhead: 0, ..plan.estimator.clone() }, ..Plan::default() }, &ENDLESS)
        .context()
        .view()
        .request();
    let mut probe = given.probe(&plan, &ENDLESS);
    probe.expect(tail);
    probe.run("trim");
    let left = probe.context().len() - 1;
    expect("left", Some(left as u64), case.expected["kept_history"].as_u64())?;
    let built = probe.context().view().request() + tail;
    expect("size", Some(built - plan.estimator.overhead), case.expected["built_tokens"].as_u64())?;
    expect("fits", Some(!probe.verdict("trim").is_some_and(|verdict| verdict.fires)), case.expected["fit"].as_bool())?;
    Ok(Passed::Whole)
}

/// The limit that a plan of the preset cuts to.
fn smart_limit(plan: &Plan) -> Option<f64> {
    match plan.rule.iter().find(|rule| rule.id == "truncate")?.select.take {
        Take::UntilRequest(limit) => Some(limit),
        _ => None,
    }
}

pub fn truncate_context_smart(case: &Case) -> Checked {
    if !list(&case.input["messages"]).is_sorted_by_key(|message| message["role"] != "system") {
        return Ok(Passed::NotModelled("a system message among the others moves to the front: logs hold none there"));
    }
    let window = &case.params["context_window"];
    let facts = Facts { window: Some(1), ..FACTS };
    let by_window = plan("picoclaw@smart", facts, &[("context_window", window)]);
    // A limit that is given instead leaves the room for the notice as it is.
    let plan = plan("picoclaw@smart", facts, &[("max_context_runes", &case.params["max_runes"])]);
    let notice = case.params["max_runes"].as_f64().zip(smart_limit(&plan)).map(|(max, limit)| max - limit);
    let by_window = smart_limit(&by_window).zip(notice).map(|(limit, notice)| limit + notice);
    expect("limit by the window", by_window, case.expected["default_max_runes"].as_f64())?;
    let mut given = chat(list(&case.input["messages"]));
    // It looks at fields of a call that a stored one does not have: no name, and no arguments, written as `null`.
    given.trace.parts.change_each(|part| {
        if part.kind == PartKind::ToolCall {
            *part = call("", "null");
        }
    });
    let mut probe = given.probe(&plan, &ENDLESS);
    expect("before", Some(probe.context().view().request()), case.expected["measure_before"].as_u64())?;
    probe.run("system-alone");
    probe.run("truncate");
    expect("roles", roles(probe.context()).as_str(), text(&case.expected["roles"]))?;
    expect("kept", Some(probe.context().len() as u64), case.expected["kept"].as_u64())?;
    expect("after", Some(probe.context().view().request()), case.expected["measure_after"].as_u64())?;
    let gone = given.len() - probe.context().live().filter(|(_, entry)| entry.message.get().is_some()).count();
    let notice = plan.rule.iter().find(|rule| rule.id == "truncate").and_then(|rule| rule.drop.as_ref()).unwrap().marker_for(gone);
    let noticed = probe.context().len() + gone > given.len();
    expect("notice", if noticed { notice.as_str() } else { "" }, text(&case.expected["notice"]))?;
    expect("lasts", probe.stored().len(), given.len())?;
    Ok(Passed::Whole)
}
