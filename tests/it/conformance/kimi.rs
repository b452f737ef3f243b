//! Kimi Code 2.1.

use super::excerpt::{apply, excerpt};
use super::given::{ENDLESS, Given, call, list, part, plan, text, weigh};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::context::Seen;
use ctxsim::policy::{Facts, Hook, Plan, Rule, older_than};
use ctxsim::trace::{PartKind, PartRow};
use ctxsim::transcript::Role;
use serde_json::Value;

const KIMI: &str = "kimi-code";

fn preset(params: &Value, settings: &[(&str, &Value)]) -> Plan {
    let of = |name: &str| params[name].as_u64().unwrap_or(0);
    let window = params["max_context_tokens"].as_u64().or(Some(262_144));
    plan(KIMI, Facts { window, max_input: of("max_input_tokens"), max_output: 0, family: None, ..Facts::default() }, settings)
}

/// The preset without its limits on ingestion.
fn of_history(settings: &[(&str, &Value)]) -> Plan {
    let plan = preset(&Value::Null, settings);
    Plan { rule: plan.rule.into_iter().filter(|rule| rule.at != Hook::Ingest).collect(), ..plan }
}

fn rule<'p>(plan: &'p Plan, id: &str) -> Option<&'p Rule> {
    plan.rule.iter().map(std::sync::Arc::as_ref).find(|rule| rule.id == id)
}

/// A message as the reader gives it.
fn push(given: &mut Given, message: &Value) {
    let role = match text(&message["role"]) {
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        "system" => Role::System,
        _ => Role::User,
    };
    let kind = if role == Role::Tool { PartKind::ToolResult } else { PartKind::Text };
    let block = |block: &Value| match text(&block["type"]) {
        "text" => Some(part(kind, text(&block["text"]))),
        "think" => Some(part(PartKind::Thinking, text(&block["think"]))),
        "image_url" | "audio_url" | "video_url" => Some(part(PartKind::Image, "")),
        _ => None,
    };
    let calls = list(&message["toolCalls"]).iter().map(|asked| call(text(&asked["name"]), text(&asked["arguments"])));
    let parts: Vec<PartRow> = list(&message["content"]).iter().filter_map(block).chain(calls).collect();
    let index = given.push(role, parts);
    let origin = &message["origin"];
    let typed = match text(&origin["kind"]) {
        "" | "user" => true,
        "skill_activation" | "plugin_command" => origin["trigger"] == "user-slash",
        _ => false,
    };
    given.trace.messages[index as usize].synthetic = role == Role::User && !typed;
    if origin["kind"] == "compaction_summary" {
        given.is_summary();
    }
}

fn conversation(messages: &Value) -> Given {
    let mut given = Given::default();
    list(messages).iter().for_each(|message| push(&mut given, message));
    given
}

pub fn estimate_text(case: &Case) -> Checked {
    let plan = of_history(&[]);
    expect("tokens", Some(plan.estimator.text(&weigh(text(&case.input["text"])))), case.expected["tokens"].as_u64())?;
    Ok(Passed::Whole)
}

pub fn estimate_messages(case: &Case) -> Checked {
    let plan = of_history(&[]);
    let given = conversation(&case.input["messages"]);
    let probe = given.probe(&plan, &ENDLESS);
    let found: Vec<u64> = probe.context().live().map(|(_, entry)| entry.estimated).collect();
    expect("messages", found, list(&case.expected["per_message"]).iter().filter_map(Value::as_u64).collect())?;
    expect("all", Some(probe.context().view().request()), case.expected["total"].as_u64())?;
    Ok(Passed::Whole)
}

pub fn should_compact(case: &Case) -> Checked {
    let used = case.input["used"].as_u64();
    let ratio = &case.params["compaction_trigger_ratio"];
    let fires = |ratio: &Value| {
        let settings = [("compaction_trigger_ratio", ratio), ("reserved_context_size", &case.params["reserved_context_size"])];
        let plan = preset(&case.params, &settings);
        let mut given = Given::default();
        given.push(Role::Assistant, vec![part(PartKind::Text, "")]);
        let mut probe = given.probe(&plan, &ENDLESS);
        probe.report(used.map(|used| (used, 0)));
        probe.verdict("compact").is_some_and(|verdict| verdict.fires)
    };
    expect("compact", Some(fires(ratio)), case.expected["compact"].as_bool())?;
    // It waits from 0.85 on, or from the line of the reserve.
    let waits = Value::from(ratio.as_f64().unwrap_or(0.85).max(0.85));
    expect("block", Some(fires(&waits)), case.expected["block"].as_bool())?;
    Ok(Passed::Whole)
}

/// Stands where something of a message was left out.
const CUT: &str = "\u{1}";

/// The texts that stay of the user's messages, in order: of a message that is cut each of its ends by itself.
fn kept_texts(given: &Given, messages: &[Value], plan: &Plan) -> Vec<String> {
    let mut rule = rule(plan, "compact").unwrap().clone();
    rule.select.protect.iter_mut().for_each(|protect| protect.marker = CUT.to_owned());
    let probe = given.probe(plan, &ENDLESS);
    let view = probe.context().view();
    let selection = rule.select.messages(view, view.request());
    let mut kept = Vec::new();
    for (id, entry) in probe.context().live().filter(|(id, entry)| entry.role == Role::User && !selection.gone.contains(id)) {
        let blocks = list(&messages[entry.message.get().unwrap() as usize]["content"]);
        let whole: String = blocks.iter().map(|block| text(&block["text"])).collect();
        match selection.shortened.iter().find(|cut| cut.id == id) {
            None => kept.push(whole),
            Some(cut) => {
                let left = excerpt(&rule.select, cut, &plan.estimator, &whole).unwrap_or(whole);
                kept.extend(left.split(CUT).map(str::to_owned));
            }
        }
    }
    kept.retain(|text| !text.is_empty());
    kept
}

/// The same texts as a vector expects them. A message of nothing but pictures has none.
fn same_texts(found: &[String], expected: &[&Value]) -> Result<(), String> {
    let expected: Vec<&Value> = expected.iter().map(|message| &message["text"]).filter(|digest| digest["text"] != "").collect();
    expect("texts", found.len(), expected.len())?;
    found.iter().zip(expected).try_for_each(|(text, digest)| digest::same(text, digest))
}

pub fn select_user_messages(case: &Case) -> Checked {
    let settings = [("user_message_max_tokens", &case.params["max_tokens"]), ("user_message_head_tokens", &case.params["head_tokens"])];
    let plan = of_history(&settings);
    let messages = list(&case.input["messages"]);
    let given = conversation(&case.input["messages"]);
    let expected: Vec<&Value> = list(&case.expected["head"]).iter().chain(list(&case.expected["tail"])).collect();
    same_texts(&kept_texts(&given, messages, &plan), &expected)?;
    Ok(Passed::Whole)
}

/// What the note on a gap between the user's messages comes to, its number of tokens at six digits.
const NOTE: u64 = 105;

pub fn compaction_shape(case: &Case) -> Checked {
    let summary =
        weigh(text(if case.input["contextSummary"].is_string() { &case.input["contextSummary"] } else { &case.input["summary"] }));
    let plan = of_history(&[]);
    let wrote = case.params["summaryOutputTokens"].as_u64().unwrap_or(plan.estimator.text(&summary));
    let plan = of_history(&[("summary_tokens", &Value::from(wrote)), ("summary_wrapper_tokens", &Value::from(0))]);
    let messages = list(&case.input["history"]);
    let given = conversation(&case.input["history"]);
    let own = |message: &&Value| {
        !matches!(text(&message["origin"]), "compaction_summary" | "compaction_continuation" | "compaction_elision" | "injection")
    };
    let expected: Vec<&Value> = list(&case.expected["messages"]).iter().filter(own).collect();
    same_texts(&kept_texts(&given, messages, &plan), &expected)?;
    let mut probe = given.probe(&plan, &ENDLESS);
    // Where there is nothing but what stays, nothing happens here.
    if !probe.force("compact") {
        return Ok(Passed::Whole);
    }
    let overhead = case.params["requestOverheadTokens"].as_u64().unwrap_or(0);
    let after = case.expected["tokensAfter"].as_u64().unwrap() - overhead;
    // The summary counts without its role there. What is cut by numbers lies within a token of what is cut by letters.
    let elided = case.expected["keptHeadUserMessageCount"].is_u64();
    let system = probe.context().view().system();
    let found = probe.context().view().request() - system - u64::from(wrote > 0);
    let apart = found.abs_diff(after);
    expect("tokens after", apart <= if elided { NOTE } else { 0 }, true).map_err(|error| format!("{error}: {found} instead of {after}"))?;
    Ok(Passed::Whole)
}

pub fn overflow_shrink(case: &Case) -> Checked {
    let plan = of_history(&[]);
    let given = conversation(&case.input["messages"]);
    let probe = given.probe(&plan, &ENDLESS);
    let messages: Vec<Seen> = probe.context().view().messages().collect();
    let on_overflow = &rule(&plan, "compact").unwrap().summarise.as_ref().unwrap().on_overflow;
    let from = if let Some(budget) = case.params["budget"].as_u64() {
        older_than(&messages, budget)
    } else if case.params["drop"].is_u64() {
        // An answer that breaks off, or none: nothing breaks off in a replay, but the rule is that of a share that all fit into.
        if messages.len() <= 1 { 0 } else { older_than(&messages, u64::MAX) }
    } else {
        // The fourth refusal is the last.
        let attempt = (case.params["attempt"].as_u64().unwrap() as u32).min(3);
        on_overflow.leaves_out(&messages, attempt).unwrap_or(0)
    };
    let kept: Vec<u64> = (from as u64..messages.len() as u64).collect();
    expect("kept", kept, list(&case.expected["kept"]).iter().filter_map(Value::as_u64).collect())?;
    Ok(Passed::Whole)
}

pub fn tool_result_truncation(case: &Case) -> Checked {
    if case.params["save"] == false {
        return Ok(Passed::NotModelled("a file that cannot be written"));
    }
    let plan = preset(&Value::Null, &[]);
    let limits = rule(&plan, "output-limit").unwrap();
    let tool = if case.params["exempt"].is_null() { "Bash" } else { "Read" };
    let looked_at = limits.select.wants_tool(Some(0), &[tool.to_owned()]);
    let mut limits = limits.truncate.clone().unwrap();
    let own = "/home/user/.kimi-code/sessions/project/session/agents/main/tool-results/Bash-call_1.txt";
    let texts: Vec<&str> = match &case.input["output"] {
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        output => vec![text(output)],
    };
    let [given] = texts.as_slice() else { return Ok(Passed::NotModelled("a result of several texts, whose lines are cut text by text")) };
    let expected = match &case.expected["output"] {
        Value::Array(blocks) if blocks.len() == 1 => &blocks[0]["text"],
        Value::Array(_) => return Ok(Passed::NotModelled("a result with pictures, whose note names them")),
        output => output,
    };
    let saved = "/HOME/tool-results/Bash-call_1-UUID.txt";
    limits.header = limits.header.replace(own, saved);
    let footer = &mut limits.long_lines.as_mut().unwrap().footer;
    *footer = footer.replace(own, saved);
    let cut = apply(&limits, given).filter(|_| looked_at);
    expect("truncated", Some(cut.is_some()), case.expected["truncated"].as_bool())?;
    digest::same(cut.as_deref().unwrap_or(given), expected)?;
    Ok(Passed::Whole)
}
