//! Bills held against recordings: placeholders, tiers of prices, factors of the cache, the program's own error.

use crate::made::{self, Native, Tables};
use crate::support::{ctxsim, project, read_text, shared, skip};
use ctxsim::catalog::{Prices, Rate};
use ctxsim::corpus::{ReadSettings, impose, read};
use ctxsim::cost::{Bills, CacheKind, Calibration, Check, Measured, OwnError, Tariff, bills, check, check_by};
use ctxsim::experiment::{ReplaySettings, calibrate, check_model, own_agents, own_error, price, recorders, recording};
use ctxsim::list::List;
use ctxsim::policy::Plan;
use ctxsim::sim::{Conditions, Outcome, SummaryCall, simulate};
use ctxsim::trace::{CompactionRow, Trace, WholePrompt};
use ctxsim::transcript::{Trust, Usage};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A recorded call, a minute after the one before: prompt, tokens read and written, and the prefix that stood before.
type Given = (u64, u64, u64, u64);

/// A session of Claude Sonnet 4.5 with a hidden part of 1,500 tokens and replies of 100, as it was sent.
fn session(calls: &[Given]) -> (Trace, Outcome) {
    let mut trace =
        Trace { id: "s".to_owned(), agent: "test".to_owned(), models: vec!["claude-sonnet-4-5".to_owned()], ..Trace::default() };
    let mut outcome = Outcome::default();
    for (index, (prompt, cache_read, cache_write, prefix)) in calls.iter().enumerate() {
        let usage = Usage {
            prompt: *prompt,
            cache_read: *cache_read,
            cache_write: *cache_write,
            output: 100,
            output_is_final: true,
            ..Usage::default()
        };
        made::add_call(&mut trace, &mut outcome, index as i64 * 60_000, usage, *prefix);
    }
    (trace, outcome)
}

fn whole_prompts(unchanged: &Outcome) -> Vec<WholePrompt> {
    unchanged.whole_prompts().collect()
}

fn billed(trace: &Trace, unchanged: &Outcome, outcome: &Outcome) -> Bills {
    let tables = Tables::builtin();
    let tariff = tables.tariff();
    bills(trace, outcome, &tariff, &Calibration::of(trace, &whole_prompts(unchanged), &tariff))
}

/// Reads, writes, fresh tokens.
fn parts(bill: &ctxsim::cost::Bill) -> (u64, u64, u64) {
    (bill.cache_read.tokens, bill.cache_write.tokens, bill.fresh.tokens)
}

#[test]
fn the_recording_itself_costs_what_it_was_recorded_to() {
    // The third call finds a quarter of what the model does; a part of the rest is fresh.
    let (trace, outcome) = session(&[(2000, 0, 2000, 0), (3000, 2000, 1000, 2000), (4000, 750, 3000, 3000), (5000, 4000, 1000, 4000)]);
    let bill = billed(&trace, &outcome, &outcome);
    assert_eq!(parts(&bill.modelled), (9000, 5000, 0));
    assert_eq!(parts(&bill.calibrated), (6750, 7000, 250));
    let tables = Tables::builtin();
    let check = check(&trace, &whole_prompts(&outcome), &tables.tariff());
    assert_eq!(check.recorded, check.calibrated);
    assert_eq!(bill.with(CacheKind::Recorded), &bill.calibrated);
    // Factors from every second call: (0 + 750) of 3,000 for the even ones, 6,000 of 6,000 for the odd.
    let half: Vec<_> =
        Calibration::of(&trace, &whole_prompts(&outcome), &tables.tariff()).halves().map(|half| (half.read, half.modelled)).into();
    assert_eq!(half, [(750, 3000), (6000, 6000)]);
    assert_eq!(check.held_out.cache_read.tokens, 500 + 3000 + 1000);
}

#[test]
fn another_context_is_scaled_by_the_factor_of_the_call() {
    let (trace, outcome) = session(&[(2000, 0, 2000, 0), (3000, 2000, 1000, 2000), (4000, 750, 3000, 3000), (5000, 4000, 1000, 4000)]);
    let mut pruned = outcome.clone();
    // A policy keeps 1,600 tokens less from the third call on: what it reads there is scaled as the recorded call was.
    for (row, (actual, prefix)) in pruned.calls.iter_mut().skip(2).zip([(2400, 1600), (3400, 2400)]) {
        (row.actual, row.attempted, row.prefix) = (actual, actual, prefix);
    }
    pruned.summaries.push(SummaryCall { call: 2, prompt: 3100, prefix: 3000, output: 0, calls: 1, ..SummaryCall::default() });
    let bill = billed(&trace, &outcome, &pruned);
    assert_eq!(bill.modelled.cache_read.tokens, 2000 + 1500 + 2400);
    // 1,500 x 750 / 3,000 = 375 are read; of the other 2,025 it writes 3,000 of 3,250 parts.
    assert_eq!(parts(&bill.calibrated), (2000 + 375 + 2400, 2000 + 1000 + 1869 + 1000, 156));
    assert_eq!(bill.calibrated.prompt_tokens(), 2000 + 3000 + 2400 + 3400);
    // So is the summariser's request before that call: 750 of 3,000 tokens are read.
    assert_eq!(bill.calibrated.summariser.nano_usd, 750 * 300 + 2350 * 3000);
    assert_eq!(bill.modelled.summariser.nano_usd, 3000 * 300 + 100 * 3000);
}

#[test]
fn what_the_recordings_own_compaction_broke_is_not_carried_over() {
    // The agent compacted before the third call, which then read its system prompt alone.
    let (mut trace, outcome) = session(&[(2000, 0, 2000, 0), (3000, 2000, 1000, 2000), (2500, 1500, 1000, 3000), (3500, 2500, 1000, 4000)]);
    trace.compactions.push(CompactionRow { automatic: Some(true), ..made::compaction(2) });
    let mut never_compacted = outcome.clone();
    for (row, (actual, prefix)) in never_compacted.calls.iter_mut().skip(2).zip([(4000, 3000), (5000, 4000)]) {
        (row.actual, row.attempted, row.prefix) = (actual, actual, prefix);
    }
    let bill = billed(&trace, &never_compacted, &never_compacted);
    assert_eq!(bill.calibrated.cache_read.tokens, 2000 + 3000 + 4000);
}

#[test]
fn calls_that_say_nothing_have_the_sums_of_their_session() {
    // More is read than the model finds: that is read again where the prompt is the same. The first call has no modelled reads, the last no usage.
    let (mut trace, outcome) = session(&[(2000, 0, 2000, 0), (3000, 2500, 500, 2000), (4000, 600, 3400, 3000), (5000, 0, 0, 4000)]);
    trace.calls[3].usage = None.into();
    let bill = billed(&trace, &outcome, &outcome);
    // 3,100 of 5,000 modelled tokens were read in all.
    assert_eq!(bill.calibrated.cache_read.tokens, 2500 + 600 + 4000 * 3100 / 5000);
    // A log without any count has the modelled cache, unless other logs of its agent have counts: then it read nothing.
    let (mut silent, outcome) = session(&[(2000, 0, 0, 0), (3000, 0, 0, 2000)]);
    let bill = billed(&silent, &outcome, &outcome);
    assert_eq!(bill.calibrated, bill.modelled);
    silent.reports_cache = true;
    assert_eq!(parts(&billed(&silent, &outcome, &outcome).calibrated), (0, 0, 5000));
    // Another model than the recorded one has its own cache.
    let tables = Tables::builtin();
    let other = Tariff { model: Some("gpt-5".to_owned()), ..tables.tariff() };
    assert_eq!(Calibration::of(&trace, &whole_prompts(&outcome), &other), Calibration::default());
}

#[test]
fn placeholders_are_billed_by_estimate() {
    let (mut trace, outcome) = session(&[(2000, 0, 2000, 0), (3000, 2000, 1000, 2000)]);
    let usage = trace.calls[1].usage.get().unwrap();
    trace.calls[1].usage = Some(Usage { output: 3, output_is_final: false, ..usage }).into();
    trace.calls[1].output = 400;
    let tables = Tables::builtin();
    let check = check(&trace, &whole_prompts(&outcome), &tables.tariff());
    assert_eq!((check.recorded.output.tokens, check.modelled.output.tokens), (500, 500));
    assert_eq!((check.estimated_output.tokens, check.estimated_output.nano_usd), (400, 400 * 15_000));
    let outputs = trace.outputs();
    assert_eq!((outputs.recorded, outputs.estimated, outputs.placeholders, outputs.estimated_replies), (100, 400, 3, 1));
}

#[test]
fn inspect_shows_no_placeholder_as_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let words = "There are a good many words in this reply. ".repeat(20);
    let usage = json!({"prompt": 1200, "output": 2, "output_is_placeholder": true});
    let log = Native::new(json!({"model": "claude-sonnet-4-5"}))
        .line(json!({"role": "user", "text": "Say it."}))
        .line(json!({"role": "assistant", "text": words, "usage": usage}))
        .line(json!({"role": "assistant", "text": "Yes.", "usage": {"prompt": 1500, "output": 7}}))
        // A stream that broke off after 300 tokens: the log holds less of the reply than was written.
        .line(json!({"role": "assistant", "text": "No.", "usage": {"prompt": 1520, "output": 300, "output_is_placeholder": true}}))
        .write(folder.path(), "s.jsonl");
    let record = ctxsim(&["inspect", "--json", "--quiet"]).args([&log]).json();
    let number = |value: &Value| value.as_u64().unwrap();
    let (corpus, session) = (&record["corpus"], &record["sessions"][0]);
    assert_eq!((number(&corpus["recorded_output_tokens"]), number(&corpus["placeholder_output_tokens"])), (7, 302));
    let estimated = number(&corpus["estimated_output_tokens"]);
    assert!(estimated > 450, "{estimated}");
    assert_eq!(number(&session["estimated_output_tokens"]), estimated);
    assert_eq!(number(&session["output_tokens"]), estimated + 7);
}

/// A count that holds no fewer bytes of what can be read than sixteen a token is another figure than the reply's output: unless the next prompt did not grow by the text either.
#[test]
fn an_output_that_cannot_be_the_replys_is_a_placeholder() {
    // 860 bytes, as text and as arguments.
    let words = "There are a good many words in this reply. ".repeat(20);
    let said = json!([{"text": words}]);
    let called = json!([{"call": {"id": "c", "name": "write", "arguments": words}}]);
    let thought = json!([{"thinking": words}, {"text": "Yes."}]);
    let reported = |parts: &Value, output: u64, next: Option<u64>, trust: &str| {
        let usage = json!({"prompt": 1_000, "output": output, "trust": trust});
        let log = Native::new(json!({}))
            .line(json!({"role": "user", "text": "Say it."}))
            .line(json!({"role": "assistant", "parts": parts, "usage": usage}));
        let log = next.into_iter().fold(log, |log, prompt| log.asked("Go on.", "Yes.", prompt, 2));
        let session = &read_text("s.jsonl", &log.text()).0[0];
        session.messages[1].call.as_ref().unwrap().usage.unwrap().output_is_final
    };
    for (parts, output, next, trust, is_final) in [
        (&said, 1, Some(1_300), "provider", false),
        (&called, 1, Some(1_300), "provider", false),
        (&said, 53, None, "provider", false),
        (&said, 54, None, "provider", true),
        // A prompt that fell says nothing of what was written.
        (&said, 1, Some(700), "provider", false),
        (&said, 1, Some(1_053), "provider", true),
        // What came in between, a token for two bytes at the most, accounts for no more than three tokens here.
        (&said, 1, Some(1_058), "provider", false),
        (&said, 1, Some(1_056), "provider", true),
        // Reasoning that is shown may be a summary, which is not billed.
        (&thought, 1, Some(1_300), "provider", true),
        // Who counts nothing writes a 0, and a stand-in what it likes.
        (&said, 0, Some(1_300), "provider", true),
        (&said, 1, Some(1_300), "mock", true),
    ] {
        assert_eq!(reported(parts, output, next, trust), is_final, "{output} {next:?} {trust}");
    }
}

/// LiteLLM lists the tiers of Qwen: the prompt chooses one for the whole request.
#[test]
fn tiers_are_read_from_lists() {
    let text = r#"{"dashscope/qwen-x": {"output_cost_per_token": 9e-06, "tiered_pricing": [
        {"input_cost_per_token": 2e-06, "cache_read_input_token_cost": 2e-07, "output_cost_per_token": 4e-06, "range": [32000.0, 128000.0]},
        {"input_cost_per_token": 1e-06, "range": [0, 32000.0]}]},
        "aaa/qwen-x": {"input_cost_per_token": 1, "output_cost_per_token": 1}}"#;
    let prices = Prices::builtin().unwrap().with_file(text).unwrap();
    let price = prices.of("qwen-x", None, None).unwrap();
    assert_eq!((price.rates(32_000).input, price.rates(32_000).output), (Rate(1_000_000), Rate(9_000_000)));
    assert_eq!((price.rates(32_001).input, price.rates(32_001).cache_read), (Rate(2_000_000), Rate(200_000)));
    assert_eq!(price.rates(999_000).output, Rate(4_000_000), "above all tiers the highest holds");
}

#[test]
fn the_catalogue_has_qwens_tiers_and_dated_cache_reads() {
    let tables = Tables::builtin();
    let price = |name: &str, time| tables.prices.of(name, tables.catalog.billed_as(name), time).unwrap().clone();
    let coder = price("qwen3-coder-plus", None);
    let at = |prompt| (coder.rates(prompt).input.0, coder.rates(prompt).cache_read.0, coder.rates(prompt).output.0);
    assert_eq!(at(32_000), (1_000_000, 100_000, 5_000_000));
    assert_eq!(at(128_001), (3_000_000, 300_000, 15_000_000));
    assert_eq!(at(300_000), (6_000_000, 600_000, 60_000_000));
    let plus = price("qwen3.7-plus", None);
    assert_eq!((plus.rates(1).input.0, plus.rates(1).output.0, plus.rates(256_001).input.0), (400_000, 1_600_000, 1_200_000));
    let day = |text: &str| Some(text.parse::<jiff::Timestamp>().unwrap().as_millisecond());
    let read = |time| price("claude-sonnet-5-5", time).rates(1).cache_read.0;
    assert_eq!((read(day("2026-10-06T12:00:00Z")), read(day("2026-10-07T00:00:00Z"))), (200_000, 100_000));
}

#[test]
fn the_programs_own_error_does_not_cancel_between_agents() {
    let of = |recorded: u64, modelled: u64| {
        let mut check = Check::default();
        (check.recorded.fresh.nano_usd, check.modelled.fresh.nano_usd, check.held_out.fresh.nano_usd) = (recorded, modelled, recorded);
        check.modelled_off_nano_usd = recorded.abs_diff(modelled);
        check
    };
    let mut checks = [of(1000, 1100), of(1000, 900)];
    let error = OwnError::over(&checks, CacheKind::Modelled).unwrap();
    assert_eq!((error.off_nano_usd, error.recorded_nano_usd), (200, 2000));
    // It rests on what is recorded, which is said where more than a few percent are not.
    assert_eq!(error.part(), None);
    checks[0].unrecorded.fresh.nano_usd = 3000;
    assert_eq!(OwnError::over(&checks, CacheKind::Modelled).unwrap().part(), Some((2000, 5000)));
    assert_eq!(OwnError::over(&checks, CacheKind::Recorded).unwrap().off_nano_usd, 0);
    assert_eq!(OwnError::over(&checks, CacheKind::Perfect), None);
}

/// What a search must exceed is what a replay must: the own agents' bills are further off than those of the unchanged recordings.
#[test]
fn the_bar_of_searches_holds_the_own_agents_bills_too() {
    let tables = Tables::builtin();
    let tariff = tables.tariff();
    let corpus = read(&[project().join("transcripts").to_string_lossy().into_owned()], &ReadSettings::new(&tables.catalog)).unwrap();
    let settings = ReplaySettings::new(&tables.catalog);
    let bar = |settings: &ReplaySettings<'_>| own_error(&corpus, &tariff, CacheKind::Recorded, settings).unwrap().unwrap();
    let unchanged = OwnError::over(check_model(&corpus, &tariff).values(), CacheKind::Recorded).unwrap().share();
    let mut own = own_agents(&corpus, &recorders().unwrap(), &[], &settings).unwrap().unwrap();
    price(&corpus, std::slice::from_mut(&mut own.replay), &tariff);
    let own = recording(&corpus, &tariff).beside_all(&own.replay, CacheKind::Recorded).error().unwrap().share();
    assert!(own > unchanged, "{own} {unchanged}");
    assert_eq!(bar(&settings), own);
    // The window that a search asks about is not the one in which the logs were made.
    assert_eq!(bar(&ReplaySettings { window: Some(50_000), ..settings.clone() }), own);
    assert_eq!(own_error(&corpus, &tariff, CacheKind::Perfect, &settings).unwrap(), None);
}

/// What the modelled cache was off, in percent, before entries of others aged and hits without a guarantee were missed.
const BEFORE: [(&str, &str, f64); 10] = [
    ("transcripts", "claude-code", 2.3),
    ("transcripts", "codex", 17.1),
    ("transcripts", "gemini-cli", 11.0),
    ("transcripts", "mini-swe-agent", 18.6),
    ("transcripts", "opencode", 7.9),
    ("transcripts", "pi", 11.1),
    ("transcripts-2", "claude-code", 5.0),
    ("transcripts-2", "codex", 7.0),
    ("transcripts-2", "opencode", 20.6),
    ("transcripts-2", "pi", 6.8),
];

/// The table of docs/cost.md: real logs with factors that were found elsewhere. `cargo test factors_from_elsewhere -- --nocapture` prints it.
#[test]
fn factors_from_elsewhere_give_the_list_price() {
    let Some(shared) = shared() else { return };
    let tables = Tables::builtin();
    let tariff = tables.tariff();
    for folder in ["transcripts", "transcripts-2"] {
        let path = shared.join(folder);
        if !path.is_dir() {
            skip("CTXSIM_REQUIRE_SHARED", &format!("no {folder}"));
            continue;
        }
        let settings = ReadSettings::new(&tables.catalog);
        let mut corpus = read(&[path.to_string_lossy().into_owned()], &settings).unwrap();
        // The passes of one call read each other's cache, which no model of the cache between calls knows.
        let whole: Vec<Trace> = corpus
            .traces
            .iter()
            .filter(|trace| trace.usages().all(|usage| !matches!(usage.trust, Trust::Partial | Trust::Beyond)))
            .cloned()
            .collect();
        corpus.traces = whole.into();
        // OpenClaw runs on pi's library, and has two sessions here.
        let agent_of = |trace: &Trace| if trace.agent == "openclaw" { "pi".to_owned() } else { trace.agent.clone() };
        let known: Vec<(String, Option<Measured>)> =
            corpus.traces.iter().map(|trace| (agent_of(trace), calibrate(trace, &tariff).session())).collect();
        // By agent: sessions, factors of every second call, factors of the agent's other sessions.
        let mut agents: BTreeMap<String, (usize, Check, Check)> = BTreeMap::new();
        for (place, trace) in corpus.traces.iter().enumerate() {
            let unlimited = Conditions { window: u64::MAX / 2, prompt_limit: u64::MAX / 2, ..Conditions::default() };
            let unchanged = whole_prompts(&simulate(trace, &Plan::default(), &unlimited));
            let mut others = Measured::default();
            let of_others = known.iter().enumerate().filter(|(other, (agent, _))| *other != place && *agent == agent_of(trace));
            of_others.filter_map(|(_, (_, measured))| *measured).for_each(|measured| others += measured);
            let others = Calibration::from_others(others);
            let (sessions, halves, by_others) = agents.entry(agent_of(trace)).or_default();
            *sessions += 1;
            *halves += &check(trace, &unchanged, &tariff);
            *by_others += &check_by(trace, &unchanged, &tariff, [&others, &others]);
        }
        let mut compared = 0;
        for (agent, (sessions, halves, by_others)) in agents {
            let list = halves.recorded.nano_usd();
            // Logs without counts of a cache are billed by the model alone.
            let counted = halves.recorded.cache_read.tokens + halves.recorded.cache_write.tokens + halves.recorded.cache_write_1h.tokens;
            if list < 500_000_000 || counted == 0 {
                continue;
            }
            let off = |bill: &ctxsim::cost::Bill| (bill.nano_usd() as f64 / list as f64 - 1.0) * 100.0;
            compared += 1;
            let errors = [&halves.modelled, &halves.held_out, &by_others.held_out].map(off);
            let [modelled, half, others] = errors;
            println!(
                "{folder} {agent}: {sessions} sessions, ${:.2}, modelled {modelled:+.1} %, every second call {half:+.1} %, other sessions {others:+.1} %",
                list as f64 / 1e9
            );
            assert!(half.abs() <= 3.0, "{folder} {agent}: {half}");
            // Few sessions say little about another one.
            assert!(sessions < 20 || others.abs() <= 3.0, "{folder} {agent}: {others}");
            if let Some((.., before)) = BEFORE.iter().find(|(of, name, _)| *of == folder && *name == agent) {
                assert!(modelled.abs() < *before, "{folder} {agent}: {modelled}, and {before} before");
            }
        }
        assert!(compared > 0, "{folder} has no agent to compare");
    }
}

/// What bills of recordings rest on is worked out once for a corpus, also for sessions that are held as bytes; a session that compactions are imposed on
/// has other prompts.
#[test]
fn a_corpus_knows_what_prompts_come_to_under_no_policy() {
    let tables = Tables::builtin();
    let corpus =
        read(&[project().join("transcripts/claude-code").to_string_lossy().into_owned()], &ReadSettings::new(&tables.catalog)).unwrap();
    for (trace, packed) in corpus.traces.each().zip(List::packed(corpus.traces.to_vec()).each()) {
        assert_eq!(*trace.whole, whole_prompts(&simulate(&trace, &Plan::default(), &Conditions::endless())));
        assert_eq!(trace, packed);
        let imposed = impose(&trace, &|_| true);
        assert!(imposed.whole.is_empty() || matches!(imposed, Cow::Borrowed(_)));
    }
}

/// A provider that is asked for no cache counts 0 of it at each call: neither the recording nor a policy has one, in a log as in a trace of it. Where it counts nothing, nothing is known.
#[test]
fn a_client_that_asks_for_no_cache_has_none_under_any_policy() {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str, counts: &Value| {
        let mut messages: Vec<Value> = Vec::new();
        let mut lines = String::new();
        for number in 0..4 {
            messages.push(json!({"role": "user", "content": format!("question {number}")}));
            let mut usage = json!({"input_tokens": 5_000 + 100 * number, "output_tokens": 40});
            usage.as_object_mut().unwrap().extend(counts.as_object().unwrap().clone());
            let reply = json!({"id": format!("m{number}"), "role": "assistant", "model": "claude-sonnet-4-5", "content": [{"type": "text", "text": "answer"}], "usage": usage});
            let request = json!({"model": "claude-sonnet-4-5", "messages": messages});
            lines += &format!("{}\n", json!({"api": "anthropic_messages", "request": request, "response": reply}));
            messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "answer"}]}));
        }
        let path = folder.path().join(name).display().to_string();
        std::fs::write(&path, lines).unwrap();
        path
    };
    let cost = |path: &str| {
        let answer: Value = serde_json::from_str(&ctxsim(&["cost", path, "-p", "none", "--json"]).stdout()).unwrap();
        let said = answer["notes"].as_array().unwrap().iter().filter_map(Value::as_str).any(|note| note.contains("uses no prompt cache"));
        let bills = &answer["policies"][0];
        let [uncached, modelled, calibrated] =
            ["uncached", "modelled", "calibrated"].map(|kind| bills[kind]["cost"].as_str().unwrap().to_owned());
        (answer["recorded"]["cost"].as_str().unwrap().to_owned(), [uncached, modelled, calibrated], said)
    };
    let zeros = log("zeros.jsonl", &json!({"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}));
    let trace = folder.path().join("zeros.ctxtrace").display().to_string();
    ctxsim(&["trace", "build", &zeros, "-o", &trace]).code(0);
    // 20,600 x $3 and 160 x $15, in millions.
    let whole = "0.0642".to_owned();
    for path in [&zeros, &trace] {
        let (recorded, bills, said) = cost(path);
        assert!(recorded.starts_with(&whole) && said, "{recorded} {said}");
        assert_eq!(bills, [recorded.clone(), recorded.clone(), recorded]);
    }
    let native = folder.path().join("zeros-native.jsonl").display().to_string();
    ctxsim(&["convert", &zeros, "-o", &native]).code(0);
    assert_eq!(cost(&native).1[1], cost(&zeros).1[1]);
    let (recorded, [uncached, modelled, _], said) = cost(&log("silent.jsonl", &json!({})));
    assert_eq!((uncached == recorded, modelled == recorded, said), (true, false, false));
    let read = json!({"cache_creation_input_tokens": 0, "cache_read_input_tokens": 2_000});
    assert!(!cost(&log("cached.jsonl", &read)).2);
}
