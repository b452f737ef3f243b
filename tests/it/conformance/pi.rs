//! pi, four versions.

use super::excerpt::{apply, tool_cap};
use super::given::{ENDLESS, Given, call, list, part, plan, reply_row, text};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::format::agents::pi::refusal::{Answer, Refusals, Rules};
use ctxsim::policy::{Facts, Measure, Plan, Truncate};
use ctxsim::sim::{Conditions, Probe, simulate};
use ctxsim::trace::{PartKind, PartRow};
use ctxsim::transcript::Role;
use serde_json::Value;

const ALL: [(&str, &str); 4] = [("pi@0.12", "0.12.14"), ("pi@0.58", "0.58.3"), ("pi@0.73", "0.73.1"), ("pi@1.5", "1.5.2")];

/// The presets that a vector is about, each with its version.
fn versions(case: &Case) -> impl Iterator<Item = (&'static str, &'static str)> {
    ALL.into_iter().filter(|(_, version)| case.expected.get(version).is_some())
}

/// As [`versions`], without the oldest: its code has other functions.
fn later(case: &Case) -> impl Iterator<Item = (&'static str, &'static str)> {
    versions(case).filter(|(name, _)| *name != "pi@0.12")
}

/// 0.73.1 counts and cuts as 0.58.3.
fn before_1(version: &str) -> bool {
    matches!(version, "0.58.3" | "0.73.1")
}

fn facts(window: &Value) -> Facts {
    Facts { window: window.as_u64(), max_input: 0, max_output: 0, family: None, ..Facts::default() }
}

fn preset(name: &'static str, case: &Case) -> Plan {
    preset_with(name, case, &[])
}

fn preset_with(name: &'static str, case: &Case, more: &[(&str, &Value)]) -> Plan {
    let enabled = Value::from(u8::from(case.params["enabled"] != false));
    let names = ["reserveTokens", "keepRecentTokens"];
    let settings = names.map(|name| (name, &case.params[name]));
    let plan = plan(name, facts(&case.input["contextWindow"]), &[&settings[..], &[("enabled", &enabled)], more].concat());
    Plan { rule: plan.rule.into_iter().filter(|rule| rule.at != ctxsim::policy::Hook::Ingest).collect(), ..plan }
}

/// A message of pi as its reader gives it; nothing for roles that no log knows.
fn message(given: &Value) -> Option<(Role, Vec<PartRow>)> {
    let content = &given["content"];
    Some(match text(&given["role"]) {
        "user" | "custom" => (Role::User, blocks(PartKind::Text, content)),
        "assistant" => (Role::Assistant, blocks(PartKind::Text, content)),
        "toolResult" => (Role::Tool, blocks(PartKind::ToolResult, content)),
        "bashExecution" => (Role::User, vec![part(PartKind::Text, text(&given["command"])), part(PartKind::Text, text(&given["output"]))]),
        "branchSummary" | "compactionSummary" => (Role::User, vec![part(PartKind::Text, text(&given["summary"]))]),
        "system" => (Role::System, [blocks(PartKind::Text, content), prompt_state(given)].concat()),
        _ => return None,
    })
}

/// Sections of a system prompt, and the definitions of tools that come with it.
fn prompt_state(given: &Value) -> Vec<PartRow> {
    let sections = given["sections"].as_object().into_iter().flatten().map(|(_, words)| text(words).to_owned());
    let tools = given["toolsAdded"].is_array().then(|| given["toolsAdded"].to_string());
    sections.chain(tools).map(|words| part(PartKind::Text, &words)).collect()
}

fn blocks(kind: PartKind, content: &Value) -> Vec<PartRow> {
    if let Some(words) = content.as_str() {
        return vec![part(kind, words)];
    }
    let block = |block: &Value| match text(&block["type"]) {
        "thinking" => part(PartKind::Thinking, text(&block["thinking"])),
        "toolCall" => call(text(&block["name"]), &block["arguments"].to_string()),
        "image" => part(PartKind::Image, ""),
        _ => part(kind, text(&block["text"])),
    };
    list(content).iter().map(block).collect()
}

/// Does 0.58.3 know no message of this role? What it does not know costs nothing there.
fn unknown(version: &str, given: &Value) -> bool {
    before_1(version) && given["role"] == "system"
}

pub fn estimate_tokens(case: &Case) -> Checked {
    let given_message = &case.input["message"];
    if given_message["role"] == "custom" && list(&given_message["content"]).iter().any(|block| block["type"] == "image") {
        return Ok(Passed::NotModelled("0.58.3 counts the pictures of an extension's message, but not those of the user"));
    }
    let Some((role, parts)) = message(&case.input["message"]) else {
        // No reader gives a message of an unknown role: it is counted as lost, and costs nothing.
        let nothing = later(case).all(|(_, version)| case.expected[version] == 0);
        return expect("costs nothing", nothing, true).map(|()| Passed::Whole);
    };
    for (name, version) in later(case) {
        if unknown(version, given_message) {
            expect(version, case.expected[version].as_u64(), Some(0))?;
            continue;
        }
        let plan = preset(name, case);
        let mut given = Given::default();
        given.push(role, parts.clone());
        let probe = given.probe(&plan, &ENDLESS);
        expect(version, probe.context().live().map(|(_, entry)| entry.estimated).next(), case.expected[version].as_u64())?;
    }
    Ok(Passed::Whole)
}

/// Usage as pi reads it.
fn total(usage: &Value, version: &str) -> u64 {
    let sum = ["input", "output", "cacheRead", "cacheWrite"].iter().filter_map(|name| usage[name].as_u64()).sum();
    match usage["totalTokens"].as_u64() {
        Some(total) if total > 0 && version != "0.12.14" => total,
        _ => sum,
    }
}

pub fn should_compact(case: &Case) -> Checked {
    for (name, version) in versions(case) {
        let plan = preset(name, case);
        let mut given = Given::default();
        given.push(Role::Assistant, vec![part(PartKind::Text, "")]);
        let mut probe = given.probe(&plan, &ENDLESS);
        probe.report(Some((total(&case.input["usage"], version), 0)));
        let expected = &case.expected[version];
        expect("tokens", probe.measure(Measure::UsageTotal), expected["tokens"].as_u64())?;
        let rules: &[&str] = if version == "0.12.14" { &["compact"] } else { &["compact", "compact-turn-start"] };
        for rule in rules {
            let fires = probe.verdict(rule).is_some_and(|verdict| verdict.fires);
            expect(&format!("{version} {rule}"), Some(fires), expected["compact"].as_bool())?;
        }
    }
    Ok(Passed::Whole)
}

pub fn estimate_context_tokens(case: &Case) -> Checked {
    for (name, version) in later(case) {
        let plan = preset(name, case);
        let mut given = Given::default();
        let mut usages = Vec::new();
        for entry in list(&case.input["messages"]) {
            let Some((role, parts)) = message(entry) else { return Ok(Passed::NotModelled("a message of an unknown role")) };
            given.push(role, parts);
            let stopped = matches!(text(&entry["stopReason"]), "aborted" | "error");
            let usage = (role == Role::Assistant && !stopped && !entry["usage"].is_null()).then(|| total(&entry["usage"], version));
            usages.push(usage.filter(|usage| *usage > 0 || before_1(version)));
        }
        let mut probe = Probe::new(&given.trace, &plan, &ENDLESS);
        for (index, usage) in usages.iter().enumerate() {
            probe.enter(index as u32, given.standing(index));
            if usage.is_some() {
                probe.report(usage.map(|usage| (usage, 0)));
            }
        }
        expect(version, probe.measure(Measure::UsagePlusPending), case.expected[version]["tokens"].as_u64())?;
    }
    Ok(Passed::Whole)
}

/// What stands in the context: each entry that is a message, with its place among all entries.
fn entries(case: &Case, from: usize, version: &str) -> (Given, Vec<usize>, Vec<Option<u64>>) {
    let mut given = Given::default();
    let (mut places, mut usages) = (Vec::new(), Vec::new());
    let all = list(&case.input["entries"]);
    let end = case.input["endIndex"].as_u64().map_or(all.len(), |end| end as usize);
    for (place, entry) in all.iter().enumerate().take(end).skip(from) {
        let found = match text(&entry["type"]) {
            "message" => message(&entry["message"]),
            "branch_summary" | "custom_message" if version == "0.12.14" => None,
            // 0.58.3 does not count them: they stand with the message behind them, or where it cannot cut there, in its place.
            "branch_summary" | "custom_message" if before_1(version) => {
                let next = all[place..end].iter().find(|entry| entry["type"] == "message");
                let cut_behind = next.is_some_and(|entry| entry["message"]["role"] != "toolResult");
                (!cut_behind).then(|| (Role::User, vec![part(PartKind::Text, "")]))
            }
            "branch_summary" => Some((Role::User, vec![part(PartKind::Text, text(&entry["summary"]))])),
            "custom_message" => Some((Role::User, blocks(PartKind::Text, &entry["content"]))),
            _ => None,
        };
        let Some((role, parts)) = found else { continue };
        // The oldest version cuts at what the user wrote alone.
        let other = version == "0.12.14" && entry["message"]["role"] != "user" && role == Role::User;
        given.push(if other { Role::Assistant } else { role }, parts);
        places.push(place);
        let reply = &entry["message"];
        let stopped =
            matches!(text(&reply["stopReason"]), "aborted" | "error") && version != "0.12.14" || text(&reply["stopReason"]) == "aborted";
        usages.push((role == Role::Assistant && !stopped && !reply["usage"].is_null()).then(|| total(&reply["usage"], version)));
    }
    (given, places, usages)
}

pub fn find_cut_point(case: &Case) -> Checked {
    for (name, version) in versions(case) {
        let plan = preset(name, case);
        let start = case.input["startIndex"].as_u64().unwrap() as usize;
        let (given, places, usages) = entries(case, start, version);
        let mut probe = Probe::new(&given.trace, &plan, &ENDLESS);
        for (index, usage) in usages.iter().enumerate() {
            probe.enter(index as u32, given.standing(index));
            if usage.is_some() {
                probe.report(usage.map(|usage| (usage, 0)));
            }
        }
        probe.force("compact");
        let first = probe.context().live().filter_map(|(_, entry)| entry.message.get()).next();
        let found = first.map_or(places.len(), |message| message as usize);
        let expected = case.expected[version]["firstKeptEntryIndex"].as_u64().unwrap() as usize;
        // Entries that are no messages belong to the message behind them.
        let expected = places.iter().filter(|place| **place < expected).count();
        expect(version, found, expected)?;
    }
    Ok(Passed::Whole)
}

pub fn prepare_compaction(case: &Case) -> Checked {
    let all = list(&case.input["entries"]);
    if all.last().is_some_and(|entry| entry["type"] == "compaction") {
        // Nothing has come since: there is no call before which it could happen again.
        return expect("refused", case.expected["1.5.2"].is_null() && case.expected["0.58.3"].is_null(), true).map(|()| Passed::Whole);
    }
    // "NEW SUMMARY", with nothing around it.
    let (three, nothing) = (Value::from(3), Value::from(0));
    for (name, version) in later(case) {
        let plan = preset_with(name, case, &[("summary_tokens", &three), ("summary_wrapper_tokens", &nothing)]);
        let before = all.iter().rposition(|entry| entry["type"] == "compaction");
        let kept = before.and_then(|index| all.iter().position(|entry| entry["id"] == all[index]["firstKeptEntryId"]));
        // A first kept entry that is not there keeps nothing.
        let (rest, places, _) = entries(case, kept.or(before).unwrap_or(0), version);
        // The summary came behind the messages that its compaction kept, and stands in front of them.
        let behind = before.map(|before| places.iter().filter(|place| **place < before).count());
        let mut given = Given::default();
        let mut place_of = Vec::new();
        for (index, message) in rest.trace.messages.iter().enumerate() {
            if behind == Some(index) {
                summary(&mut given, &all[before.unwrap()], &mut place_of);
            }
            given.push(message.role, rest.trace.parts_of(message).map(std::borrow::Cow::into_owned).collect());
            place_of.push(Some(places[index]));
        }
        if behind == Some(rest.len()) {
            summary(&mut given, &all[before.unwrap()], &mut place_of);
        }
        let mut probe = given.probe(&plan, &ENDLESS);
        let changed = probe.force("compact");
        let expected = &case.expected[version];
        let summarised = expected["summarizeCount"].as_u64().unwrap_or(0) + expected["turnPrefixCount"].as_u64().unwrap_or(0);
        let first = probe.context().live().filter_map(|(_, entry)| place_of[entry.message.get()? as usize]).next();
        let first = first.unwrap_or(all.len());
        let wanted = all.iter().position(|entry| entry["id"] == expected["firstKeptEntryId"]).unwrap_or(first);
        // Before 0.63.1 a summary of nothing parts what was kept from what comes.
        if expected.is_null() || (summarised == 0 && version != "0.58.3") {
            expect(&format!("{version} refused"), changed, false)?;
            continue;
        }
        let found = places.iter().filter(|place| **place < first).count();
        expect(&format!("{version} first kept"), found, places.iter().filter(|place| **place < wanted).count())?;
        expect(&format!("{version} changed"), changed, true)?;
        let uncounted = all.iter().any(|entry| matches!(text(&entry["type"]), "branch_summary" | "custom_message"));
        if version == "1.5.2" || !uncounted {
            let roles: String = list(&expected["contextRolesAfter"]).iter().map(|role| letter(text(role))).collect();
            expect(&format!("{version} roles"), super::given::roles(probe.context()), roles)?;
            let estimate = expected["estTokensAfterWithSummaryNEW_SUMMARY"].as_u64();
            expect(&format!("{version} estimate"), Some(probe.context().view().request()), estimate)?;
        }
    }
    Ok(Passed::Whole)
}

fn letter(role: &str) -> char {
    match role {
        "assistant" => 'a',
        "toolResult" => 't',
        _ => 'u',
    }
}

fn summary(given: &mut Given, entry: &Value, place_of: &mut Vec<Option<usize>>) {
    given.push(Role::User, vec![part(PartKind::Text, text(&entry["summary"]))]);
    given.is_summary_in_front();
    place_of.push(None);
}

pub fn truncate(case: &Case) -> Checked {
    let (lines, bytes) = (&case.params["maxLines"], &case.params["maxBytes"]);
    let id = if case.input["fn"] == "truncateTail" { "bash-limit" } else { "read-limit" };
    for (name, version) in later(case) {
        let plan = plan(name, facts(&Value::from(200_000)), &[("tool_max_lines", lines), ("tool_max_bytes", bytes)]);
        let rule = plan.rule.iter().find(|rule| rule.id == id).unwrap();
        // The function itself has no footer: the tools add theirs.
        let limits = Truncate { marker: String::new(), ..rule.truncate.clone().unwrap() };
        let given = text(&case.input["text"]);
        let cut = apply(&limits, given);
        let expected = &case.expected[version];
        expect(&format!("{version} truncated"), Some(cut.is_some()), expected["truncated"].as_bool())?;
        digest::same(cut.as_deref().unwrap_or(given), &expected["output"]).map_err(|error| format!("{version} {error}"))?;
        let length = cut.as_deref().unwrap_or(given).len() as u64;
        expect("bytes", Some(length), expected["outputBytes"].as_u64())?;
    }
    Ok(Passed::Whole)
}

pub fn is_context_overflow(case: &Case) -> Checked {
    let reply = &case.input["message"];
    let prompt = ["input", "cacheRead"].iter().filter_map(|name| reply["usage"][name].as_u64()).sum();
    let answer = Answer {
        stop_reason: text(&reply["stopReason"]),
        error: text(&reply["errorMessage"]),
        provider: text(&reply["provider"]),
        prompt,
        output: reply["usage"]["output"].as_u64().unwrap_or(0),
        window: case.input["contextWindow"].as_u64(),
    };
    for (rules, version) in [(Rules::Before1, "0.58.3"), (Rules::Since1, "1.5.2")] {
        expect(version, Some(Refusals::by(rules).include(&answer)), case.expected[version].as_bool())?;
    }
    let Some(window) = answer.window.filter(|window| *window > 0 && answer.stop_reason == "stop") else { return Ok(Passed::Whole) };
    // A provider that takes too much and says nothing: the engine's own refusal stands at the same place.
    let conditions = Conditions { window, prompt_limit: window, ..ENDLESS };
    let mut given = Given::default();
    let message = given.push(Role::Assistant, vec![part(PartKind::Text, "")]);
    given.trace.calls.push(reply_row(message, prompt));
    for (name, version) in later(case) {
        let outcome = simulate(&given.trace, &preset(name, case), &conditions);
        expect(version, Some(outcome.totals.overflows > 0), case.expected[version].as_bool())?;
    }
    Ok(Passed::Whole)
}

pub fn serialize_conversation(case: &Case) -> Checked {
    for (name, version) in later(case) {
        let plan = preset(name, case);
        let cap = plan.rule.iter().find_map(|rule| rule.summarise.as_ref()).and_then(tool_cap).unwrap();
        let shown: Vec<String> = list(&case.input["messages"]).iter().flat_map(|message| shown(message, &cap, version)).collect();
        digest::same(&shown.join("\n\n"), &case.expected[version]).map_err(|error| format!("{version} {error}"))?;
    }
    Ok(Passed::Whole)
}

/// The frame that pi puts around messages for its summariser is told here; what is cut in them is the preset's.
fn shown(message: &Value, cap: &Truncate, version: &str) -> Vec<String> {
    let content = &message["content"];
    let of = |kind: &str, key: &str| -> Vec<String> {
        let blocks = list(content).iter().filter(|block| block["type"] == kind);
        blocks.map(|block| text(&block[key]).to_owned()).collect()
    };
    let words = content.as_str().map_or_else(|| of("text", "text"), |words| vec![words.to_owned()]);
    let mut lines = Vec::new();
    // A reply's block without words has its line all the same.
    let mut spoken = |who, words: Vec<String>, between| {
        if !words.is_empty() {
            lines.push((who, words.join(between)));
        }
    };
    match text(&message["role"]) {
        "user" => spoken("User", if words.concat().is_empty() { Vec::new() } else { words }, ""),
        "assistant" => {
            if version != "1.5.2" {
                spoken("Assistant thinking", of("thinking", "thinking"), "\n");
            }
            spoken("Assistant", words, "\n");
            let calls = list(content).iter().filter(|block| block["type"] == "toolCall");
            let calls: Vec<String> = calls
                .map(|call| {
                    let arguments = call["arguments"].as_object().into_iter().flatten();
                    let arguments: Vec<String> = arguments.map(|(key, value)| format!("{key}={value}")).collect();
                    format!("{}({})", text(&call["name"]), arguments.join(", "))
                })
                .collect();
            spoken("Assistant tool calls", calls, "; ");
        }
        _ => {
            let words = words.concat();
            let left = apply(cap, &words).unwrap_or(words);
            spoken("Tool result", (!left.is_empty()).then_some(left).into_iter().collect(), "");
        }
    }
    lines.into_iter().map(|(who, words)| format!("[{who}]: {words}")).collect()
}
