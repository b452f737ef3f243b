//! Codex.

use super::excerpt::{apply, apply_to_texts, excerpt};
use super::given::{ENDLESS, Given, call, list, part, plan, text};
use super::{Case, Checked, Passed, digest, expect};
use ctxsim::context::Region;
use ctxsim::format::ground::image::from_data_url;
use ctxsim::policy::{Facts, Measure, Plan, Select, Take, Trigger, Truncate};
use ctxsim::sim::Standing;
use ctxsim::trace::{PartKind, PartRow};
use ctxsim::transcript::{Image, Role};
use serde_json::{Value, json};

const NAME: &str = "codex@2026-06";
const FACTS: Facts = Facts { window: Some(272_000), max_input: 0, max_output: 0, family: None, item_bytes: 0, sealed_thousandths: 0 };
const SUMMARY_PREFIX: &str = "Another language model started to solve this problem";

/// Why some items cannot be measured as Codex measures them; `None` where all can.
fn unmeasured(items: &[Value]) -> Option<&'static str> {
    items.iter().find_map(|item| match text(&item["type"]) {
        "message" | "function_call" => None,
        "function_call_output" if item["output"].is_array() => {
            Some("a result made of several texts counts what wraps each of them: logs are read with such texts joined")
        }
        "function_call_output" => None,
        "reasoning" if item["encrypted_content"].is_string() => None,
        "reasoning" => match list(&item["summary"]) {
            [one] if !text(&one["text"]).is_empty() => None,
            _ => Some("readable reasoning of no text, or of several, counts what wraps each of them"),
        },
        "compaction" | "compaction_summary" | "context_compaction" if item["encrypted_content"].is_string() => None,
        _ => Some("items of a kind that logs hold seldom"),
    })
}

/// Items of Codex as messages, one each. A contextual message is put in by the agent itself and opens no turn.
fn items(items: &[Value]) -> Given {
    let mut given = Given::default();
    for item in items {
        let id_bytes = text(&item["call_id"]).len() as u32;
        match text(&item["type"]) {
            "function_call" => {
                let parts = vec![PartRow { id_bytes, ..call(text(&item["name"]), text(&item["arguments"])) }];
                given.push(Role::Assistant, parts);
            }
            "function_call_output" => {
                given.push(Role::Tool, vec![PartRow { id_bytes, ..part(PartKind::ToolResult, text(&item["output"])) }]);
            }
            "reasoning" | "compaction" | "compaction_summary" | "context_compaction" => {
                let sealed_bytes = text(&item["encrypted_content"]).len() as u32;
                let readable = list(&item["summary"]).iter().map(|said| text(&said["text"])).collect::<Vec<_>>().join("\n");
                given.push(Role::Assistant, vec![PartRow { sealed_bytes, ..part(PartKind::Thinking, &readable) }]);
            }
            _ => message(&mut given, item),
        }
    }
    given
}

fn message(given: &mut Given, item: &Value) {
    let content = list(&item["content"]);
    let block = |block: &Value| match text(&block["type"]) {
        "input_image" => PartRow { image: picture(block).into(), ..part(PartKind::Image, "") },
        _ => part(PartKind::Text, text(&block["text"])),
    };
    let role = match text(&item["role"]) {
        "assistant" => Role::Assistant,
        "user" => Role::User,
        _ => Role::System,
    };
    let index = given.push(role, content.iter().map(block).collect());
    let first = content.first().map_or("", |block| text(&block["text"]));
    given.trace.messages[index as usize].synthetic = first.starts_with("<environment_context>");
    if role == Role::User && (first.starts_with(SUMMARY_PREFIX) || first.starts_with("<environment_context>")) {
        given.is_summary();
    }
}

/// A picture as the reader of logs sees it. How closely it is looked at is written beside its address.
fn picture(block: &Value) -> Image {
    let image = from_data_url(text(&block["image_url"]));
    let detail = block["detail"].as_str().map_or(0, |detail| format!(",\"detail\":\"{detail}\"").len());
    Image { address: image.address + detail as u32, ..image }
}

fn bare(plan: Plan) -> Plan {
    Plan { rule: plan.rule.into_iter().filter(|rule| rule.at != ctxsim::policy::Hook::Ingest).collect(), ..plan }
}

pub fn estimate_items(case: &Case) -> Checked {
    let given_items = list(&case.input["items"]);
    if let Some(reason) = unmeasured(given_items) {
        return Ok(Passed::NotModelled(reason));
    }
    let by_pixels = |block: &Value| block["detail"] == "original" && from_data_url(text(&block["image_url"])).bytes > 0;
    if given_items.iter().any(|item| list(&item["content"]).iter().any(by_pixels)) {
        return Ok(Passed::NotModelled("a picture that is looked at in its original size counts by its pixels"));
    }
    let base = Value::from(format!("=ceil({} / 4)", text(&case.input["base_instructions"]).len()));
    let plan = bare(plan(NAME, FACTS, &[("base_instruction_tokens", &base)]));
    let given = items(given_items);
    let probe = given.probe(&plan, &ENDLESS);
    let each = probe.context().live().map(|(_, entry)| entry.estimated).collect();
    expect("each", each, list(&case.expected["per_item"]).iter().filter_map(Value::as_u64).collect::<Vec<_>>())?;
    expect("all", Some(probe.context().view().request()), case.expected["total_with_base"].as_u64())?;
    Ok(Passed::Whole)
}

fn limit(plan: &Plan, id: &str) -> Option<f64> {
    match plan.rule.iter().find(|rule| rule.id == id)?.when.as_ref()? {
        Trigger::Level(level) => level.ge,
        _ => None,
    }
}

pub fn model_limits(case: &Case) -> Checked {
    let model = &case.input["model"];
    let own = &case.params["model_auto_compact_token_limit"];
    let own = if own.is_null() { &model["auto_compact_token_limit"] } else { own };
    // A configured window cannot be larger than the model's largest.
    let largest = model["max_context_window"].as_u64();
    let configured = case.params["model_context_window"].as_u64().map(|window| largest.map_or(window, |largest| window.min(largest)));
    let facts = Facts { window: configured.or(model["context_window"].as_u64()).or(largest), ..FACTS };
    let plan = with_policy(facts, &model["truncation_policy"], &[("model_auto_compact_token_limit", own)]);
    for rule in ["compact-turn-start", "compact-step"] {
        expect(rule, limit(&plan, rule), case.expected["auto_compact_token_limit"].as_f64())?;
    }
    expect("full", plan.belief.full, case.expected["effective_context_window"].as_u64())?;
    let policy = &case.expected["truncation_policy"];
    let bytes = policy["limit"].as_u64().unwrap() * if policy["mode"] == "tokens" { 4 } else { 1 };
    expect("cut", cut(&plan, "shell-limit").max, Some(bytes))?;
    Ok(Passed::Whole)
}

/// The preset with a truncation policy.
fn with_policy(facts: Facts, policy: &Value, more: &[(&str, &Value)]) -> Plan {
    let name = if policy["mode"] == "tokens" { "tool_output_token_limit" } else { "tool_output_byte_limit" };
    let bytes = Value::from(u8::from(policy["mode"] != "tokens"));
    plan(NAME, facts, &[&[(name, &policy["limit"]), ("counts_bytes", &bytes)][..], more].concat())
}

/// The limit of a rule in tokens or in bytes, whichever is in force.
fn cut<'p>(plan: &'p Plan, id: &str) -> &'p Truncate {
    plan.rule.iter().find(|rule| rule.id.starts_with(id)).and_then(|rule| rule.truncate.as_ref()).unwrap()
}

pub fn truncate_text(case: &Case) -> Checked {
    let plan = with_policy(FACTS, &case.params["policy"], &[]);
    let given = text(&case.input["text"]);
    let shell = cut(&plan, "shell-limit");
    let formatted = apply(shell, given);
    digest::same(formatted.as_deref().unwrap_or(given), &case.expected["formatted"])?;
    let plain = apply(&Truncate { header: String::new(), ..shell.clone() }, given);
    digest::same(plain.as_deref().unwrap_or(given), &case.expected["output"])?;
    Ok(Passed::Whole)
}

pub fn truncate_output_items(case: &Case) -> Checked {
    // The limit is the vector's own, without the room that is left for what wraps a recorded result.
    let plan = with_policy(FACTS, &case.params["policy"], &[("record_factor", &Value::from(1.0))]);
    let items: Vec<Option<&str>> = list(&case.input["items"]).iter().map(|item| item["text"].as_str()).collect();
    same_items(&plan, "shell-limit", &items, &case.expected["formatted_items"])?;
    same_items(&plan, "record-limit", &items, &case.expected["items"])
}

fn same_items(plan: &Plan, rule: &str, items: &[Option<&str>], expected: &Value) -> Checked {
    let whole = || items.iter().map(|text| text.map(str::to_owned)).collect();
    let left = apply_to_texts(cut(plan, rule), items).unwrap_or_else(whole);
    expect(&format!("{rule} items"), left.len(), list(expected).len())?;
    for (left, expected) in left.iter().zip(list(expected)) {
        match left {
            Some(text) => digest::same(text, expected)?,
            None => expect("what is no text", expected.as_str(), Some("[non-text]"))?,
        }
    }
    Ok(Passed::Whole)
}

pub fn record_items_truncation(case: &Case) -> Checked {
    let plan = with_policy(FACTS, &case.params["policy"], &[]);
    let rule = plan.rule.iter().find(|rule| rule.id.starts_with("record-limit")).unwrap();
    let kept: Vec<&Value> = list(&case.input["items"]).iter().filter(|item| item["role"] != "system").collect();
    let expected = list(&case.expected["items"]);
    if kept.len() < list(&case.input["items"]).len() {
        return Ok(Passed::NotModelled("system messages are not recorded in its history: its logs hold none"));
    }
    expect("number", kept.len(), expected.len())?;
    for (item, expected) in kept.into_iter().zip(expected) {
        let (region, role) = match text(&item["type"]) {
            "function_call_output" => (Region::ToolResult, Role::Tool),
            "message" if item["role"] == "user" => (Region::User, Role::User),
            _ => (Region::Assistant, Role::Assistant),
        };
        let wanted = rule.select.wants_arrival(region, role, None, &[]);
        expect("looks at results alone", wanted, role == Role::Tool)?;
        match &item["output"] {
            Value::String(given) if wanted => {
                let cut = apply(rule.truncate.as_ref().unwrap(), given);
                digest::same(cut.as_deref().unwrap_or(given), &expected["text"])?;
            }
            Value::Array(texts) if wanted => {
                let texts: Vec<Option<&str>> = texts.iter().map(|item| item["text"].as_str()).collect();
                let several = ["items", "text", "output"].into_iter().map(|name| &expected[name]).find(|expected| expected.is_array());
                same_items(&plan, "record-limit", &texts, several.ok_or("the result of a list is no list")?)?;
            }
            _ => {}
        }
    }
    Ok(Passed::Whole)
}

pub fn total_token_usage(case: &Case) -> Checked {
    let included = Value::from(u8::from(case.params["server_reasoning_included"] == true));
    let limit = &case.params["auto_compact_limit"];
    let facts = Facts { window: Some(limit.as_u64().unwrap() * 10), ..FACTS };
    let plan = plan(NAME, facts, &[("server_reasoning_included", &included), ("model_auto_compact_token_limit", limit)]);
    let plan = bare(plan);
    let given_items = list(&case.input["items"]);
    if let Some(reason) = unmeasured(given_items) {
        return Ok(Passed::NotModelled(reason));
    }
    let by_model =
        |item: &Value| item["role"] == "assistant" || matches!(text(&item["type"]), "function_call" | "reasoning" | "compaction");
    let given = items(given_items);
    let last = given_items.iter().rposition(by_model);
    let usage = Some((case.input["last_total_tokens"].as_u64().unwrap(), 0));
    let mut probe = ctxsim::sim::Probe::new(&given.trace, &plan, &ENDLESS);
    for index in 0..given.len() {
        // What the agent put in itself is pending like anything else.
        probe.enter(index as u32, Standing::Recorded);
        if last.is_none_or(|last| index <= last) {
            probe.report(usage);
        }
    }
    if given.len() == 0 {
        probe.report(usage);
    }
    expect("usage", probe.measure(Measure::UsagePlusPending), case.expected["total_usage"].as_u64())?;
    for rule in ["compact-turn-start", "compact-step"] {
        expect(rule, probe.verdict(rule).map(|verdict| verdict.fires), case.expected["limit_reached"].as_bool())?;
    }
    Ok(Passed::Whole)
}

pub fn build_compacted_history(case: &Case) -> Checked {
    let plan = bare(plan(NAME, FACTS, &[("user_message_tokens", &case.params["max_tokens"])]));
    let given = items(list(&case.input["items"]));
    let rules: Vec<_> = plan.rule.iter().filter(|rule| rule.id.starts_with("compact-")).collect();
    expect("both compact alike", &rules[0].select, &rules[1].select)?;
    let probe = given.probe(&plan, &ENDLESS);
    let view = probe.context().view();
    // The initial context that comes back is given apart.
    let selection = Select { head: Vec::new(), ..rules[1].select.clone() }.messages(view, view.request());
    let history = list(&case.expected["history"]);
    let kept: Vec<u32> = (0..given.len() as u32)
        .filter(|id| !selection.gone.contains(id))
        .filter(|id| given.trace.messages[*id as usize].role != Role::System)
        .collect();
    expect("kept", kept.len(), history.len() - 1)?;
    for (id, expected) in kept.iter().zip(history) {
        let texts: Vec<&str> =
            list(&list(&case.input["items"])[*id as usize]["content"]).iter().filter_map(|block| block["text"].as_str()).collect();
        let whole = texts.join("");
        let cut = selection
            .shortened
            .iter()
            .find(|shortened| shortened.id == *id)
            .and_then(|shortened| excerpt(&rules[1].select, shortened, &plan.estimator, &whole));
        digest::same(cut.as_deref().unwrap_or(&whole), &expected["text"][0])?;
    }
    Ok(Passed::Whole)
}

pub fn remove_first_item(case: &Case) -> Checked {
    let ids: Vec<&str> = list(&case.input["items"]).iter().map(|item| text(&item["call_id"])).collect();
    let role = |index: usize| text(&list(&case.input["items"])[index]["type"]);
    // In a log each result stands behind its call, with nothing but its like between them.
    let apart = (0..ids.len()).any(|index| role(index) == "function_call_output" && (index == 0 || ids[index - 1] != ids[index]));
    match removals(case) {
        Err(_) if apart => Ok(Passed::NotModelled("a result that does not follow its call: no log has it")),
        checked => checked,
    }
}

fn removals(case: &Case) -> Checked {
    let plan = bare(plan(NAME, FACTS, &[]));
    let given = items(list(&case.input["items"]));
    let probe = given.probe(&plan, &ENDLESS);
    let mut context = probe.context().clone();
    let mut lengths = Vec::new();
    for _ in 0..case.params["remove_count"].as_u64().unwrap() {
        let oldest = Select { take: Take::Count(1), ..Select::default() };
        context.remove(&oldest.messages(context.view(), 0).gone);
        lengths.push(context.len() as u64);
    }
    expect("lengths", lengths, list(&case.expected["lengths_after_each"]).iter().filter_map(Value::as_u64).collect())?;
    let named = |item: &Value| (text(&item["type"]).to_owned(), text(&item["role"]).to_owned(), text(&item["call_id"]).to_owned());
    let all = list(&case.input["items"]);
    let left = context.live().filter_map(|(_, entry)| all.get(entry.message.get()? as usize)).map(named).collect::<Vec<_>>();
    expect("remaining", left, list(&case.expected["remaining"]).iter().map(named).collect())?;
    Ok(Passed::Whole)
}

/// Items that no golden vector holds, each with the size that Codex's own rule gives for its JSON.
#[test]
fn items_are_measured_by_what_the_model_reads_of_them() {
    let encrypted = "A".repeat(5_000);
    let message = |picture: Value| json!({ "type": "message", "role": "user", "content": [picture] });
    let picture = |url: &str| json!({ "type": "input_image", "image_url": url });
    let cases = [
        // 45 bytes of a message, 37 of a picture, and the address as it is.
        (message(picture("data:image/svg+xml,<svg/>")), 27),
        (message(picture("https://x/y.png")), 25),
        // The data of a picture in base64 counts as 7,373 bytes, the head of its address as it is.
        (message(picture("data:image/png;base64,AAAA")), 1_870),
        (message(picture(&format!("data:image/{};base64,AAAA", "x".repeat(43)))), 1_880),
        (message(json!({ "type": "input_image", "image_url": "https://x/y.png", "detail": "high" })), 29),
        // 58 bytes of an item, 33 of a text in it.
        (json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": "x".repeat(24) }], "encrypted_content": null }), 29),
        (json!({ "type": "reasoning", "summary": [], "encrypted_content": encrypted }), 775),
        (json!({ "type": "compaction", "encrypted_content": encrypted }), 775),
    ];
    let plan = bare(plan(NAME, FACTS, &[]));
    for (item, tokens) in cases {
        assert_eq!(unmeasured(std::slice::from_ref(&item)), None, "{item}");
        let given = items(std::slice::from_ref(&item));
        let probe = given.probe(&plan, &ENDLESS);
        assert_eq!(probe.context().view().request(), tokens, "{item:.200}");
    }
    let of_two = json!({ "type": "function_call_output", "call_id": "c", "output": [{ "type": "input_text", "text": "a" }] });
    assert!(unmeasured(&[of_two]).is_some());
}

/// A configured window goes before the model's, and is no larger than its largest.
#[test]
fn a_configured_window_sets_the_limits() {
    let case = |configured: u64, limit: u64, effective: u64| Case {
        name: String::new(),
        input: json!({ "model": { "context_window": 272_000, "max_context_window": 400_000, "truncation_policy": { "mode": "tokens", "limit": 10_000 } } }),
        params: json!({ "model_context_window": configured }),
        expected: json!({
            "auto_compact_token_limit": limit,
            "effective_context_window": effective,
            "truncation_policy": { "mode": "tokens", "limit": 10_000 }
        }),
    };
    for case in [case(100_000, 90_000, 95_000), case(500_000, 360_000, 380_000)] {
        assert!(model_limits(&case).is_ok(), "{:?}", model_limits(&case).err());
    }
}
