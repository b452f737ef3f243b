//! OpenCode, two versions.

use super::excerpt::{apply, tool_cap};
use super::given::{ENDLESS, Given, call, list, part, plan, text, weigh};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::context::State;
use ctxsim::format::agents::opencode::history::{End, Entry, EntryKind, Request, in_context, latest};
use ctxsim::policy::{Facts, Plan};
use ctxsim::trace::{PartKind, PartRow};
use ctxsim::transcript::{Role, Usage};
use serde_json::Value;

const NEW: &str = "opencode@1.15";
const OLD: &str = "opencode@2025-12";
const NEWER: &str = "opencode@1.18";
const KILO: &str = "kilo@7.7";

fn facts(limit: &Value) -> Facts {
    let of = |name: &str| limit[name].as_u64().unwrap_or(0);
    Facts { window: Some(of("context")), max_input: of("input"), max_output: of("output"), family: None, ..Facts::default() }
}

fn model() -> Facts {
    Facts { window: Some(200_000), max_input: 0, max_output: 32_000, family: None, ..Facts::default() }
}

fn without_limits(plan: Plan) -> Plan {
    Plan { rule: plan.rule.into_iter().filter(|rule| rule.at != ctxsim::policy::Hook::Ingest).collect(), ..plan }
}

pub fn token_estimate(case: &Case) -> Checked {
    for preset in [NEW, OLD] {
        let plan = plan(preset, model(), &[]);
        expect(preset, Some(plan.estimator.text(&weigh(text(&case.input["text"])))), case.expected["tokens"].as_u64())?;
    }
    Ok(Passed::Whole)
}

pub fn is_overflow(case: &Case) -> Checked {
    let compaction = &case.params["compaction"];
    let auto = Value::from(u8::from(compaction["auto"] != false));
    let settings = [("auto", &auto), ("reserved", &compaction["reserved"]), ("output_token_max", &case.params["outputTokenMax"])];
    let plan = plan(NEW, facts(&case.input["model_limit"]), &settings);
    let tokens = &case.input["tokens"];
    let of = |value: &Value| value.as_u64().unwrap_or(0);
    let sum = of(&tokens["input"]) + of(&tokens["output"]) + of(&tokens["cache"]["read"]) + of(&tokens["cache"]["write"]);
    let total = if of(&tokens["total"]) > 0 { of(&tokens["total"]) } else { sum };
    check_overflow(&plan, Usage { prompt: total, ..Usage::default() }, case)
}

pub fn is_overflow_2025(case: &Case) -> Checked {
    let auto = Value::from(u8::from(case.params["disable_autocompact"] != true));
    let plan = plan(OLD, facts(&case.input["model_limit"]), &[("auto", &auto)]);
    let tokens = &case.input["tokens"];
    let of = |value: &Value| value.as_u64().unwrap_or(0);
    let (read, write) = (of(&tokens["cache"]["read"]), of(&tokens["cache"]["write"]));
    let usage = Usage {
        prompt: of(&tokens["input"]) + read + write,
        cache_read: read,
        cache_write: write,
        output: of(&tokens["output"]),
        ..Usage::default()
    };
    check_overflow(&plan, usage, case)
}

fn check_overflow(plan: &Plan, usage: Usage, case: &Case) -> Checked {
    let mut given = Given::default();
    given.push(Role::Assistant, vec![part(PartKind::Text, "")]);
    let mut probe = given.probe(plan, &ENDLESS);
    probe.report(Some(plan.belief.reads(&usage)));
    let verdict = probe.verdict("compact");
    expect("overflow", Some(verdict.is_some_and(|verdict| verdict.fires)), case.expected["overflow"].as_bool())?;
    if let (Some(level), Some(usable)) = (verdict.and_then(|verdict| verdict.level), case.expected["usable"].as_f64()) {
        expect("usable", level.limit, usable)?;
    }
    Ok(Passed::Whole)
}

pub fn prune(case: &Case) -> Checked {
    let on = Value::from(u8::from(case.params["compaction"]["prune"] == true));
    prunes(NEW, case, &on)
}

pub fn prune_2025(case: &Case) -> Checked {
    let on = Value::from(u8::from(case.params["disable_prune"] != true));
    prunes(OLD, case, &on)
}

fn prunes(preset: &'static str, case: &Case, on: &Value) -> Checked {
    let settings = [("prune", on), ("prune_protect", &case.params["PRUNE_PROTECT"]), ("prune_minimum", &case.params["PRUNE_MINIMUM"])];
    let plan = without_limits(plan(preset, model(), &settings));
    let mut given = Given::default();
    given.trace.tools = vec!["bash".to_owned(), "skill".to_owned()];
    let mut places = Vec::new();
    for (index, message) in list(&case.input["messages"]).iter().enumerate() {
        let role = if message["info"]["role"] == "user" { Role::User } else { Role::Assistant };
        let mut parts = Vec::new();
        for (place, given_part) in list(&message["parts"]).iter().enumerate() {
            if given_part["state"]["time"]["compacted"].as_u64() > Some(0) {
                given.is_masked(places.len() as u32);
            }
            places.push((index as u64, place as u64));
            parts.push(stored_part(given_part));
        }
        given.push(role, parts);
        if message["info"]["summary"] == true {
            given.is_summary();
        }
    }
    let mut probe = given.probe(&plan, &ENDLESS);
    let masked = |probe: &ctxsim::sim::Probe| -> Vec<(u64, u64)> {
        let items = (0..places.len()).filter(|item| probe.context().item(*item as u32).is_some_and(|item| item.state == State::Masked));
        items.map(|item| places[item]).collect()
    };
    let before = masked(&probe);
    probe.run("prune");
    let pruned: Vec<(u64, u64)> = masked(&probe).into_iter().filter(|place| !before.contains(place)).collect();
    let pair = |pair: &Value| (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap());
    let mut expected: Vec<(u64, u64)> = list(&case.expected["pruned"]).iter().map(pair).collect();
    expected.sort_unstable();
    expect("pruned", pruned, expected)?;
    Ok(Passed::Whole)
}

fn stored_part(given: &Value) -> PartRow {
    if given["type"] != "tool" {
        return part(PartKind::Text, text(&given["text"]));
    }
    let state = &given["state"];
    let error = state["status"] != "completed";
    PartRow { tool: Some(u32::from(given["tool"] == "skill")).into(), error, ..part(PartKind::ToolResult, text(&state["output"])) }
}

pub fn truncate_tool_output(case: &Case) -> Checked {
    truncated_by(NEW, case)
}

fn truncated_by(preset: &'static str, case: &Case) -> Checked {
    let settings = [("tool_output_max_lines", &case.params["maxLines"]), ("tool_output_max_bytes", &case.params["maxBytes"])];
    let plan = plan(preset, model(), &settings);
    let id = if case.params["direction"] == "tail" { "output-limit-tail" } else { "output-limit" };
    let rule = plan.rule.iter().find(|rule| rule.id == "output-limit").unwrap();
    let mut limits = rule.truncate.clone().unwrap();
    if id == "output-limit-tail" {
        // The same function for the other end: the note stands in front then.
        limits.head = 0.0;
        limits.marker = format!("{}\n\n", limits.marker.trim_start());
    }
    let path = "/home/user/.local/share/opencode/tool-output/tool_0123456789abcdef";
    // The later vectors name no path: theirs is fixed.
    limits.marker = limits.marker.replace(path, case.params["output_path"].as_str().unwrap_or("/TRUNC/tool_X"));
    let given = text(&case.input["text"]);
    let cut = apply(&limits, given);
    expect("truncated", Some(cut.is_some()), case.expected["truncated"].as_bool())?;
    digest::same(cut.as_deref().unwrap_or(given), &case.expected["content"])?;
    Ok(Passed::Whole)
}

/// Messages as the reader gives them: each tool's result is a message of its own. With the place of each among those of OpenCode, and
/// the places of those that stand in the history: a finished compaction leaves its summary alone.
fn model_messages(messages: &[Value]) -> (Given, Vec<usize>, Vec<usize>) {
    let mut given = Given::default();
    let (mut places, mut history) = (Vec::new(), Vec::new());
    let asks = |message: &Value| list(&message["parts"]).iter().any(|part| part["type"] == "compaction");
    let summarises = |message: &Value, request: &Value| {
        let info = &message["info"];
        info["summary"] == true && info["finish"].is_string() && info["error"].is_null() && info["parentID"] == request["info"]["id"]
    };
    for (place, message) in messages.iter().enumerate().take(messages.len().saturating_sub(1)) {
        if asks(message) && messages.iter().any(|reply| summarises(reply, message)) {
            continue;
        }
        let summary = messages.iter().any(|request| asks(request) && summarises(message, request));
        if !summary {
            history.push(place);
        }
        // A reply that failed, and a message of nothing, reach no model.
        let failed = !message["info"]["error"].is_null() && message["info"]["error"]["name"] != "MessageAbortedError";
        if failed || list(&message["parts"]).is_empty() {
            continue;
        }
        let user = message["info"]["role"] == "user";
        let mut parts = Vec::new();
        let mut results = Vec::new();
        for block in list(&message["parts"]) {
            match text(&block["type"]) {
                "tool" => {
                    let state = &block["state"];
                    let id_bytes = text(&block["callID"]).len() as u32;
                    parts.push(PartRow { id_bytes, ..call(text(&block["tool"]), &state["input"].to_string()) });
                    let output = match text(&state["status"]) {
                        _ if state["time"]["compacted"].as_u64() > Some(0) => "[Old tool result content cleared]",
                        "completed" => text(&state["output"]),
                        "error" => text(&state["error"]),
                        _ => "[Tool execution was interrupted]",
                    };
                    results.push(PartRow { id_bytes, ..part(PartKind::ToolResult, output) });
                }
                "text" if block["ignored"] != true => parts.push(part(PartKind::Text, text(&block["text"]))),
                "reasoning" => parts.push(part(PartKind::Thinking, text(&block["text"]))),
                "compaction" => parts.push(part(PartKind::Text, "What did we do so far?")),
                "subtask" => parts.push(part(PartKind::Text, "The following tool was executed by the user")),
                "file" if !matches!(text(&block["mime"]), "text/plain" | "application/x-directory") => {
                    parts.push(part(PartKind::Text, text(&block["url"])));
                }
                _ => {}
            }
        }
        let index = given.push(if user { Role::User } else { Role::Assistant }, parts);
        given.trace.messages[index as usize].synthetic = asks(message);
        if summary {
            given.is_summary();
        }
        places.push(place);
        for result in results {
            given.push(Role::Tool, vec![result]);
            places.push(place);
        }
    }
    (given, places, history)
}

pub fn compaction_select(case: &Case) -> Checked {
    let compaction = &case.params["compaction"];
    let settings = [
        ("tail_turns", &compaction["tail_turns"]),
        ("preserve_recent_tokens", &compaction["preserve_recent_tokens"]),
        ("reserved", &compaction["reserved"]),
    ];
    let plan = without_limits(plan(NEW, facts(&case.params["limit"]), &settings));
    let messages = list(&case.input["messages"]);
    let (given, places, history) = model_messages(messages);
    let mut probe = given.probe(&plan, &ENDLESS);
    let rule = if case.input["overflow"] == true { "overflow" } else { "compact" };
    probe.force(rule);
    let kept = probe.context().live().filter_map(|(_, entry)| entry.message.get()).map(|message| places[message as usize]);
    let first = kept.filter(|place| history.contains(place)).min().unwrap_or(messages.len());
    let mut gone: Vec<u64> = history.iter().map(|place| *place as u64).filter(|place| *place < first as u64).collect();
    let head: Vec<u64> = list(&case.expected["head_indices"]).iter().filter_map(Value::as_u64).collect();
    if case.input["overflow"] == true && case.expected["tail_start_index"].is_null() && first < messages.len() {
        // What came after the message that is replayed is lost, and in no summary.
        gone.retain(|place| *place < first as u64);
    }
    expect("head", gone, head)?;
    Ok(Passed::Whole)
}

/// A stored message, as the reader hands it to the rule.
fn entry(message: &Value) -> Entry {
    let info = &message["info"];
    let parts = || list(&message["parts"]).iter();
    let kind = if info["role"] == "user" {
        let request =
            |part: &Value| Request { automatic: part["auto"].as_bool(), kept_from: part["tail_start_id"].as_str().map(str::to_owned) };
        EntryKind::User {
            request: parts().find(|part| part["type"] == "compaction").map(request),
            subtasks: parts().filter(|part| part["type"] == "subtask").count(),
        }
    } else {
        let end = match (info["finish"].is_string(), info["error"].is_object()) {
            (false, _) => End::Open,
            (true, true) => End::Failed,
            (true, false) => End::Finished,
        };
        let summary_of = (info["summary"] == true).then(|| text(&info["parentID"]).to_owned());
        EntryKind::Reply { end, summary_of }
    };
    Entry { id: text(&info["id"]).to_owned(), kind }
}

pub fn filter_compacted(case: &Case) -> Checked {
    let history: Vec<Entry> = list(&case.input["messages_chronological"]).iter().map(entry).collect();
    let context = in_context(&history);
    let order = list(&case.expected["order"]).iter().filter_map(|place| place.as_u64().map(|place| place as usize)).collect();
    expect("order", &context, &order)?;
    let newest = latest(&history, &context);
    let expected = &case.expected["latest"];
    let id = |place: Option<usize>| place.map(|place| history[place].id.as_str());
    expect("user", id(newest.user), expected["user"].as_str())?;
    expect("assistant", id(newest.reply), expected["assistant"].as_str())?;
    expect("finished", id(newest.finished), expected["finished"].as_str())?;
    expect("tasks", Some(newest.pending as u64), expected["tasks"].as_u64())?;
    Ok(Passed::Whole)
}

/// The limits as the later vectors give them.
fn limits(case: &Case) -> Facts {
    let of = |name: &str| case.params[name].as_u64().unwrap_or(0);
    Facts { window: Some(of("context")), max_input: of("input"), max_output: of("output"), family: None, ..Facts::default() }
}

pub fn overflow_1_18(case: &Case) -> Checked {
    later_overflow(NEWER, case)
}

pub fn kilo_overflow(case: &Case) -> Checked {
    later_overflow(KILO, case)
}

fn later_overflow(preset: &'static str, case: &Case) -> Checked {
    let compaction = &case.params["compaction"];
    let auto = Value::from(u8::from(compaction["auto"] != false));
    let settings = [
        ("auto", &auto),
        ("reserved", &compaction["reserved"]),
        ("output_token_max", &case.params["output_token_max"]),
        ("preserve_recent_tokens", &compaction["preserve_recent_tokens"]),
    ];
    let plan = plan(preset, limits(case), &settings);
    let tokens = &case.input["tokens"];
    let of = |value: &Value| value.as_u64().unwrap_or(0);
    let (read, write) = (of(&tokens["cache"]["read"]), of(&tokens["cache"]["write"]));
    // Kilo counts the reasoning beside the reply; OpenCode leaves it out.
    let reasoning = if preset == KILO { of(&tokens["reasoning"]) } else { 0 };
    let sum = of(&tokens["input"]) + of(&tokens["output"]) + reasoning + read + write;
    let total = match of(&tokens["total"]) {
        // The sum goes first in Kilo.
        total if total > 0 && (preset != KILO || sum == 0) => total,
        _ => sum,
    };
    check_overflow(&plan, Usage { prompt: total, ..Usage::default() }, case)
}

pub fn prune_1_18(case: &Case) -> Checked {
    let on = Value::from(u8::from(case.params["compaction"]["prune"] == true));
    prunes(NEWER, case, &on)
}

pub fn kilo_prune(case: &Case) -> Checked {
    // Behind a compaction it prunes by itself, and nothing is left to prune in a replay: see the preset.
    let behind = case.params["reason"] == "post-compaction" && case.params["compaction"]["prune"] != false;
    let on = Value::from(u8::from(behind || case.params["compaction"]["prune"] == true));
    let checked = prunes(KILO, case, &on);
    // Before the first summary two finished answers are spared, where they are less than two turns of the user.
    let messages = list(&case.input["messages"]);
    let of_user = |message: &&Value| message["info"]["role"] == "user";
    let start = messages.iter().enumerate().filter(|(_, message)| of_user(message)).rev().nth(1).map_or(0, |(place, _)| place);
    let answers = messages[start..].iter().filter(|message| !of_user(message)).count();
    match checked {
        Err(_) if answers > 2 && messages.iter().all(|message| message["info"]["summary"] != true) => {
            Ok(Passed::NotModelled("before the first summary two answers are spared instead of two turns, where those are longer"))
        }
        checked => checked,
    }
}

pub fn truncate_1_18(case: &Case) -> Checked {
    if case.params["task"] == 1 {
        return Ok(Passed::NotModelled("the hint for agents that may start another one"));
    }
    truncated_by(NEWER, case)
}

/// Messages in the form that goes to the model, each with its place; the whole text of a message counts, with what wraps it.
fn given_models(messages: &[Value]) -> (Given, Vec<usize>) {
    let mut given = Given::default();
    let mut places = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        for model in list(&message["model"]) {
            let role = if model["role"] == "user" { Role::User } else { Role::Assistant };
            let parts = list(&model["content"]).iter().map(|block| part(PartKind::Text, text(&block["text"])));
            let index = given.push(role, parts.collect());
            given.trace.messages[index as usize].synthetic = list(&message["parts"]).iter().any(|part| part["type"] == "compaction");
            places.push(place);
        }
    }
    (given, places)
}

pub fn select_1_18(case: &Case) -> Checked {
    later_select(NEWER, case)
}

pub fn kilo_select(case: &Case) -> Checked {
    later_select(KILO, case)
}

fn later_select(preset: &'static str, case: &Case) -> Checked {
    let compaction = &case.params["compaction"];
    let settings = [("tail_turns", &compaction["tail_turns"]), ("preserve_recent_tokens", &compaction["preserve_recent_tokens"])];
    let plan = without_limits(plan(preset, limits(case), &settings));
    let messages = list(&case.input["messages"]);
    let (given, places) = given_models(messages);
    let mut probe = given.probe(&plan, &ENDLESS);
    probe.force("compact");
    let first = probe.context().live().filter_map(|(_, entry)| entry.message.get()).map(|message| places[message as usize]).min();
    let head = case.expected["head"].as_u64();
    expect("head", Some(first.unwrap_or(messages.len()) as u64), head)?;
    Ok(Passed::Whole)
}

/// The text of one message in the summariser's request: what frames it is told here, what is cut in it is the preset's.
pub fn summariser_text(case: &Case) -> Checked {
    let plan = plan(NEWER, model(), &[]);
    let cap = plan.rule.iter().find_map(|rule| rule.summarise.as_ref()).and_then(tool_cap).unwrap();
    let message = &case.input["message"];
    let user = message["info"]["role"] == "user";
    let mut lines = Vec::new();
    for block in list(&message["parts"]) {
        let words = text(&block["text"]);
        match text(&block["type"]) {
            "text" if !words.is_empty() && block["ignored"] != true => {
                lines.push(format!("[{}]: {words}", if user { "User" } else { "Assistant" }))
            }
            "reasoning" if !words.is_empty() => lines.push(format!("[Assistant reasoning]: {words}")),
            "file" => lines.push(attached(block)),
            "tool" => {
                let state = &block["state"];
                lines.push(format!("[Assistant tool call]: {}({})", text(&block["tool"]), state["input"]));
                let output = match text(&state["status"]) {
                    // An error stands whole.
                    "error" => {
                        lines.push(format!("[Tool error]: {}", text(&state["error"])));
                        continue;
                    }
                    _ if state["time"]["compacted"].as_u64() > Some(0) => "[Old tool result content cleared]".to_owned(),
                    "completed" => {
                        let attached = list(&state["attachments"]).iter().map(attached);
                        [vec![text(&state["output"]).to_owned()], attached.collect()].concat().join("\n")
                    }
                    _ => continue,
                };
                lines.push(format!("[Tool result]: {}", apply(&cap, &output).unwrap_or(output)));
            }
            _ => {}
        }
    }
    digest::same(&lines.join("\n"), &case.expected["text"])?;
    Ok(Passed::Whole)
}

fn attached(file: &Value) -> String {
    format!("[Attached {}: {}]", text(&file["mime"]), file["filename"].as_str().unwrap_or("file"))
}

/// Does it compact before the first request of a turn?
pub fn kilo_preflight(case: &Case) -> Checked {
    let compaction = &case.params["compaction"];
    let auto = Value::from(u8::from(compaction["auto"] != false));
    let settings = [("auto", &auto), ("threshold_percent", &compaction["threshold_percent"]), ("usable", &case.params["usable"])];
    let plan = without_limits(plan(KILO, limits(case), &settings));
    let messages = list(&case.input["messages"]);
    let mut given = Given::default();
    let prompt =
        messages.iter().filter(|message| message["role"] == "system").map(|message| part(PartKind::Text, text(&message["content"])));
    let tools =
        case.input["tools"].as_object().filter(|tools| !tools.is_empty()).map(|_| part(PartKind::Tools, &case.input["tools"].to_string()));
    given.push(Role::System, prompt.chain(tools).collect());
    let mut replied = None;
    for message in messages.iter().filter(|message| message["role"] != "system") {
        let block = |block: &Value| match text(&block["type"]) {
            "tool-result" => {
                let output = &block["output"];
                let words = output["value"].as_str().map_or_else(|| output["value"].to_string(), str::to_owned);
                PartRow { id_bytes: text(&block["toolCallId"]).len() as u32, ..part(PartKind::ToolResult, &words) }
            }
            "tool-call" => {
                PartRow { id_bytes: text(&block["toolCallId"]).len() as u32, ..call(text(&block["toolName"]), &block["input"].to_string()) }
            }
            "reasoning" => part(PartKind::Thinking, text(&block["text"])),
            "file" | "image" => part(PartKind::Image, ""),
            _ => part(PartKind::Text, text(&block["text"])),
        };
        let role = match text(&message["role"]) {
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            _ => Role::User,
        };
        let index = given.push(role, list(&message["content"]).iter().map(block).collect());
        if role == Role::Assistant {
            replied = Some(index);
        }
    }
    let mut probe = ctxsim::sim::Probe::new(&given.trace, &plan, &ENDLESS);
    let reported = case.params["reported"].as_u64().filter(|reported| *reported > 0).map(|reported| (reported, 0));
    for index in 0..given.len() {
        probe.enter(index as u32, given.standing(index));
        if Some(index as u32) == replied.or(Some(0)) && reported.is_some() {
            probe.report(reported);
        }
    }
    let rule = plan.rule.iter().find(|rule| rule.id == "preflight");
    if let Some(rule) = rule {
        expect("only before the first request of a turn", rule.at == ctxsim::policy::Hook::TurnStart, true)?;
    }
    // A result after the newest user message: the turn has gone on.
    let newest = messages.iter().rposition(|message| message["role"] == "user");
    let goes_on = messages.iter().skip(newest.unwrap_or(0)).any(|message| message["role"] == "tool");
    expect("goes on", Some(goes_on), case.expected["measure"]["continuation"].as_bool())?;
    let verdict = probe.verdict("preflight");
    let fires = verdict.is_some_and(|verdict| verdict.fires) && !goes_on;
    if let Some(limit) = verdict.and_then(|verdict| verdict.level).map(|level| level.limit) {
        expect("limit", limit, case.expected["limit"].as_f64().unwrap())?;
    }
    expect("compact", Some(fires), case.expected["compact"].as_bool())?;
    Ok(Passed::Whole)
}
