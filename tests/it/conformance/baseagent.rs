//! BaseAgent.

use super::excerpt::apply;
use super::given::{ENDLESS, Given, call, chat, list, part, plan, reply_row, roles, text};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::context::{Context, State};
use ctxsim::policy::{Facts, Plan};
use ctxsim::sim::{Conditions, EventKind, watch};
use ctxsim::trace::PartKind;
use ctxsim::transcript::Role;
use serde_json::Value;

const FACTS: Facts = Facts { window: Some(200_000), max_input: 0, max_output: 32_000, family: None, item_bytes: 0, sealed_thousandths: 0 };
const CLEARED: &str = "[Old tool result content cleared]";

fn preset(case: &Case, more: &[(&str, &Value)]) -> Plan {
    let names = [
        ("model_context_limit", "MODEL_CONTEXT_LIMIT"),
        ("output_token_max", "OUTPUT_TOKEN_MAX"),
        ("auto_compact_threshold", "AUTO_COMPACT_THRESHOLD"),
        ("prune_protect", "PRUNE_PROTECT"),
        ("prune_minimum", "PRUNE_MINIMUM"),
        ("protect_last_turns", "protect_last_turns"),
        ("max_output_tokens", "max_tokens"),
        ("max_output_tokens", "max_output_tokens"),
    ];
    let settings = names.map(|(name, theirs)| (name, &case.params[theirs]));
    plan("baseagent", FACTS, &[&settings, more].concat())
}

fn messages(case: &Case) -> Given {
    let messages = list(&case.input["messages"]);
    let mut given = chat(messages);
    for (index, _) in messages.iter().enumerate().filter(|(_, message)| message["role"] == "tool" && message["content"] == CLEARED) {
        given.is_masked(given.trace.messages[index].first_part);
    }
    given
}

/// Indices of the messages that are masked now and were not before.
fn cleared(context: &Context, before: &Given) -> Vec<u64> {
    let masked = |entry: &&(u32, ctxsim::context::Entry)| {
        (entry.1.first..entry.1.first + entry.1.count).any(|item| context.item(item).is_some_and(|item| item.state == State::Masked))
    };
    let already =
        |index: u32| before.trace.parts_of(&before.trace.messages[index as usize]).next().unwrap().text == super::given::weigh(CLEARED);
    let entries: Vec<_> = context.live().collect();
    entries.iter().filter(masked).filter(|(id, _)| !already(*id)).map(|(id, _)| u64::from(*id)).collect()
}

pub fn estimate_tokens(case: &Case) -> Checked {
    let plan = preset(case, &[]);
    let given = messages(case);
    let probe = given.probe(&Plan { rule: Vec::new(), ..plan.clone() }, &ENDLESS).context().clone();
    let estimates: Vec<u64> = probe.live().map(|(_, entry)| entry.estimated).collect();
    expect("each", estimates, list(&case.expected["per_message"]).iter().filter_map(Value::as_u64).collect())?;
    expect("all", Some(probe.view().request()), case.expected["total"].as_u64())?;
    Ok(Passed::Whole)
}

pub fn is_overflow(case: &Case) -> Checked {
    let plan = preset(case, &[("hidden_prompt_tokens", &case.input["total_tokens"])]);
    let given = Given::default();
    let probe = given.probe(&plan, &ENDLESS);
    for rule in ["prune", "compact"] {
        expect(rule, probe.verdict(rule).map(|verdict| verdict.fires), case.expected["overflow"].as_bool())?;
    }
    Ok(Passed::Whole)
}

pub fn prune(case: &Case) -> Checked {
    let plan = without_limits(preset(case, &[]));
    let given = messages(case);
    let mut probe = given.probe(&plan, &ENDLESS);
    expect("before", Some(probe.context().view().request()), case.expected["tokens_before"].as_u64())?;
    probe.force("prune");
    let mut expected: Vec<u64> = list(&case.expected["pruned_indices"]).iter().filter_map(Value::as_u64).collect();
    expected.sort_unstable();
    expect("pruned", cleared(probe.context(), &given), expected)?;
    expect("after", Some(probe.context().view().request()), case.expected["tokens_after"].as_u64())?;
    Ok(Passed::Whole)
}

/// The messages of a vector are in the history already: nothing is cut as it arrives.
fn without_limits(mut plan: Plan) -> Plan {
    plan.rule.retain(|rule| rule.at != ctxsim::policy::Hook::Ingest);
    plan
}

pub fn middle_out_truncate(case: &Case) -> Checked {
    let plan = preset(case, &[]);
    let rule = plan.rule.iter().find(|rule| rule.id == "middle-out").unwrap();
    let given = text(&case.input["text"]);
    let cut = apply(rule.truncate.as_ref().unwrap(), given);
    digest::same(cut.as_deref().unwrap_or(given), &case.expected["output"])?;
    Ok(Passed::Whole)
}

/// The summary's size is what the vector's summary has: a message of the prefix and the summary, whose fractions of a token add up.
fn summary_tokens(case: &Case) -> Value {
    let prefix = 298;
    let chars = text(&case.input["summary"]).chars().count() as u64;
    Value::from(((prefix + chars) / 4) as i64 - 70)
}

pub fn manage_context(case: &Case) -> Checked {
    let own = list(&case.input["messages"]);
    let is_prompt = |message: &&Value| message["role"] == "system";
    let prompt_alone =
        own.iter().filter(is_prompt).count() == 1 && own[0]["role"] == "system" && own[0]["content"] == case.input["system_prompt"];
    if case.expected["action"] == "compact" && !prompt_alone {
        return Ok(Passed::NotModelled("system messages other than the system prompt give way to it: logs hold it alone, in front"));
    }
    if case.expected["action"] == "compact" && own.len() == 1 {
        return Ok(Passed::NotModelled("a summary of nothing but the system prompt, forced: the loop forces none"));
    }
    let plan = without_limits(preset(case, &[("summary_tokens", &summary_tokens(case))]));
    let given = messages(case);
    // A summariser that fails and one that is refused are the same to the policy.
    let refused = Conditions { prompt_limit: 0, ..ENDLESS };
    let answers = case.input["llm"] == "ok" && !text(&case.input["summary"]).is_empty();
    let conditions = if answers { &ENDLESS } else { &refused };
    let mut probe = given.probe(&plan, conditions);
    let before = probe.context().view().request();
    expect("before", Some(before), case.expected["tokens_before"].as_u64())?;
    let forced = case.input["force"] == true;
    let mut asked = Vec::new();
    for rule in ["prune", "compact"] {
        let request = probe.context().view().request();
        let due = forced || probe.verdict(rule).is_some_and(|verdict| verdict.fires);
        if rule == "compact" && due {
            let prompt = plan.rule.iter().find(|rule| rule.id == "compact").and_then(|rule| rule.summarise.as_ref()).unwrap().prompt_tokens;
            asked.push((probe.context().len() as u64 + 1, request + prompt));
        }
        let _ = if forced { probe.force(rule) } else { probe.run(rule) };
    }
    let context = probe.context();
    expect("after", Some(context.view().request()), case.expected["tokens_after"].as_u64())?;
    expect("length", Some(context.len() as u64), case.expected["len_after"].as_u64())?;
    let summariser = list(&case.expected["summariser_calls"]).iter();
    let summariser = summariser.map(|call| (call["n"].as_u64().unwrap(), call["est"].as_u64().unwrap())).collect();
    expect("summariser", asked, summariser)?;
    expect("lasts", Some(probe.stored().len() < given.len()), case.expected["persisted_by_loop"].as_bool())?;
    if let Some(pruned) = case.expected["pruned_indices"].as_array().filter(|_| case.expected["action"] != "compact") {
        let mut pruned: Vec<u64> = pruned.iter().filter_map(Value::as_u64).collect();
        pruned.sort_unstable();
        expect("pruned", cleared(context, &given), pruned)?;
    }
    Ok(Passed::Whole)
}

/// What the code says after an answer without tool calls; its text holds the instruction.
const VERIFICATION_CHARS: usize = 1_697;

pub fn whole_loop(case: &Case) -> Checked {
    let plan = preset(case, &[("summary_tokens", &summary_tokens(case))]);
    let given = conversation(case, &plan);
    // Which bytes of a text end a character is not measured: what is not ASCII is cut as text, before it arrives.
    let plan = if cut_as_text(case) { without_limits(plan) } else { plan };
    let mut seen = Vec::new();
    let outcome = watch(&given.trace, &plan, &ENDLESS, &mut |context| {
        let masked = context.live().flat_map(|(_, entry)| entry.first..entry.first + entry.count);
        let masked = masked.filter(|item| context.item(*item).is_some_and(|item| item.state == State::Masked)).count() as u64;
        seen.push((roles(context), context.view().request(), masked));
    });
    let compacted: Vec<u32> = outcome.events.iter().filter(|event| event.kind == EventKind::Compact).map(|event| event.call).collect();
    let mut expected = Vec::new();
    let mut compactions = Vec::new();
    for call in list(&case.expected["llm_calls"]) {
        match text(&call["kind"]) {
            "step" => {
                expected.push((text(&call["roles"]).to_owned(), call["est_tokens"].as_u64().unwrap(), call["cleared"].as_u64().unwrap()))
            }
            _ => compactions.push(expected.len() as u32),
        }
    }
    expect("compactions", compacted, compactions)?;
    expect("number of calls", seen.len(), expected.len())?;
    for (index, (seen, expected)) in seen.into_iter().zip(expected).enumerate() {
        expect(&format!("call {index}"), seen, expected)?;
    }
    Ok(Passed::Whole)
}

/// Some result has characters of more than one byte.
fn cut_as_text(case: &Case) -> bool {
    let outputs = list(&case.input["steps"]).iter().flat_map(|step| list(&step["calls"])).map(|call| text(&call["output"]));
    outputs.into_iter().any(|output| !output.is_ascii())
}

/// The conversation that the scripted model and tools make, whatever the policy does.
fn conversation(case: &Case, plan: &Plan) -> Given {
    let mut given = Given::default();
    let say = |given: &mut Given, role: Role, words: &str| given.push(role, vec![part(PartKind::Text, words)]);
    say(&mut given, Role::System, text(&case.input["system_prompt"]));
    let instruction = text(&case.input["instruction"]);
    say(&mut given, Role::User, instruction);
    let limits = plan.rule.iter().find(|rule| rule.id == "middle-out").and_then(|rule| rule.truncate.as_ref()).unwrap();
    let left = |output: &Value| apply(limits, text(output)).unwrap_or_else(|| text(output).to_owned());
    let listed = left(&case.input["initial_shell_output"]);
    let state = format!("Current directory and files:\n```\n{listed}\n```");
    say(&mut given, Role::User, &state);
    let steps = list(&case.input["steps"]);
    let last = serde_json::json!({"text": "final", "calls": []});
    // The script names a tool call by the number of the request that it answered, summaries counted.
    let requests = list(&case.expected["llm_calls"]).iter().enumerate();
    let mut numbers = requests.filter(|(_, call)| call["kind"] == "step").map(|(index, _)| index + 1);
    let mut verifying = false;
    for step in steps.iter().chain(std::iter::repeat(&last)) {
        let number = numbers.next().unwrap_or(0);
        let calls = list(&step["calls"]);
        let mut parts = vec![part(PartKind::Text, text(&step["text"]))];
        parts.extend((0..calls.len()).map(|index| call("shell_command", &format!("{{'id': 'c{number}_{index}'}}"))));
        let message = given.push(Role::Assistant, parts);
        given.trace.calls.push(reply_row(message, 0));
        if calls.is_empty() {
            if verifying {
                break;
            }
            verifying = true;
            say(&mut given, Role::User, &"v".repeat(VERIFICATION_CHARS + instruction.chars().count()));
            continue;
        }
        verifying = false;
        for result in calls {
            if result["image"] == true {
                given.push(Role::User, vec![part(PartKind::Text, "Image from shell_command:"), part(PartKind::Image, "")]);
            }
            let output = if cut_as_text(case) { left(&result["output"]) } else { text(&result["output"]).to_owned() };
            given.push(Role::Tool, vec![part(PartKind::ToolResult, &output)]);
        }
    }
    given
}
