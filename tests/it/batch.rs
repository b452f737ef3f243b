//! Settings that fly together come to the same sums, field by field, as each of them by itself; each of them by itself to the same
//! outcome as where every view of the history is made anew; and the running sums of a context are those of a naive engine that adds all
//! of it up anew at every call.

use crate::made;
use crate::policies::{Session, text};
use crate::support::shared;
use ctxsim::catalog::{Catalog, Family};
use ctxsim::context::{Context, Region, State};
use ctxsim::corpus::{ReadSettings, impose, read};
use ctxsim::policy::{Drafts, Facts, Plan, Policy, presets};
use ctxsim::sim::{
    Account, Batch, CallOutcome, Conditions, EventKind, Outcome, RecordedSummary, Refetch, Refetching, SummaryCall, Totals, Whole,
    estimate_requests, simulate, watch, watch_anew,
};
use ctxsim::trace::{CallRow, Evidence, MessageRow, PartKind, PartRow, Place, Reference, Repetition, Trace};
use ctxsim::transcript::{Length, Role, Standing, Text, Trust, Usage};

pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn one_in(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }
}

/// A session of nothing but numbers, with everything that traces know: rewinds, reasoning that expires, prompts that were smaller.
pub(crate) fn session(random: &mut Random) -> Trace {
    let tools = ["bash", "read", "grep", "TaskOutput"].map(str::to_owned).to_vec();
    let mut trace = Trace { tools, agent: ["codex", "opencode", "other"][random.below(3) as usize].to_owned(), ..Trace::default() };
    let (mut visible, hidden) = (0, random.below(3_000));
    for place in 0..20 + random.below(120) {
        let role = match place {
            0 => Role::System,
            1 => Role::User,
            _ if random.one_in(9) => Role::User,
            _ if place % 2 == 0 => Role::Assistant,
            _ => Role::Tool,
        };
        let kinds: &[PartKind] = match role {
            Role::System => &[PartKind::Text],
            Role::User => &[PartKind::Text, PartKind::Image],
            Role::Assistant => &[PartKind::Thinking, PartKind::Text, PartKind::ToolCall],
            Role::Tool => &[PartKind::ToolResult],
        };
        let first_part = trace.parts.len() as u32;
        for kind in kinds.iter().filter(|kind| **kind != PartKind::Image || place % 11 == 0) {
            let is_result = *kind == PartKind::ToolResult;
            let tokens = match is_result {
                true if random.one_in(15) => random.below(20_000),
                true if random.one_in(30) => 0,
                true => random.below(4_000),
                false => random.below(300),
            } as u32;
            let chars = if tokens == 0 { 0 } else { tokens * 3 + random.below(50) as u32 };
            let length = Length { bytes: chars, utf16: chars, chars, newlines: chars / 40 };
            trace.parts.push(PartRow {
                tool: matches!(kind, PartKind::ToolCall | PartKind::ToolResult).then(|| random.below(4) as u32).into(),
                name: Length { bytes: 4, utf16: 4, chars: 4, newlines: 0 }.into(),
                id_bytes: 24,
                text: Text { length, tokens, json_bytes: chars + 10, truncated: is_result && random.one_in(8), ..Text::default() },
                error: random.one_in(10),
                sealed_bytes: if *kind == PartKind::Thinking { 1_500 } else { 0 },
                truth: u64::from(tokens) + random.below(20),
                anchored: random.one_in(2),
                expires: *kind == PartKind::Thinking && random.one_in(2),
                ..made::part(*kind)
            });
            visible += trace.parts.iter().last().unwrap().truth;
        }
        let rewind = (place > 10 && random.one_in(40)).then(|| place as u32 - 3);
        if role == Role::Assistant {
            let missing = if random.one_in(5) { random.below(400) } else { 0 };
            let prompt = (hidden + visible).saturating_sub(missing).max(1);
            let usage = Usage { prompt, cache_write: prompt / 3, output: 50, trust: Trust::Provider, ..Usage::default() };
            let usage = (!random.one_in(6)).then_some(usage).into();
            trace.calls.push(CallRow { usage, hidden, visible, missing, output: 50, ..made::call(place as u32) });
        }
        trace.messages.push(MessageRow {
            first_part,
            part_count: trace.parts.len() as u32 - first_part,
            time: Some(place as i64 * 60_000).into(),
            rewind: rewind.into(),
            synthetic: random.one_in(30),
            ..made::message(role)
        });
    }
    remember(&mut trace, random);
    trace
}

/// Replies that go back to what came before, and results that show again what an earlier one has shown.
fn remember(trace: &mut Trace, random: &mut Random) {
    for (message, row) in trace.messages.iter().enumerate().filter(|(_, row)| row.role == Role::Assistant && row.first_part > 0) {
        for _ in 0..random.below(4) {
            let weight = 1 + random.below(3) as u32;
            let mut place = || {
                let part = random.below(u64::from(row.first_part)) as u32;
                let bytes = u64::from(trace.parts.get(part as usize).unwrap().text.length.bytes);
                let first = trace.pieces.len() as u32;
                trace.pieces.extend((0..weight).map(|_| {
                    let mut once = || random.below(1 + bytes) as usize;
                    let (one, other) = (once(), once());
                    Standing::once(one..one + 10).and(Standing::once(other..other + 10))
                }));
                Place { part, first, pieces: weight }
            };
            let (sources, beside) = (vec![place(), place()], vec![place(), place()]);
            // Each of the last two lacks a piece.
            for (piece, part) in beside.iter().enumerate() {
                trace.pieces[part.first as usize + piece % weight as usize] = Standing::NOWHERE;
            }
            let kind = if random.one_in(3) { Evidence::Identifier } else { Evidence::Line };
            trace.references.push(Reference {
                message: message as u32,
                kind,
                weight,
                sources,
                beside,
                summary: random.one_in(5).then_some(0),
            });
        }
    }
    let results: Vec<u32> =
        (0..trace.parts.len() as u32).filter(|part| trace.parts.get(*part as usize).unwrap().kind == PartKind::ToolResult).collect();
    for (place, later) in results.iter().enumerate().skip(1) {
        if !random.one_in(3) {
            continue;
        }
        trace.repetitions.push(Repetition { later: *later, earlier: results[random.below(place as u64) as usize] });
    }
}

/// A policy under many settings of its parameters.
fn plans(name: &str, facts: &Facts, count: u64, random: &mut Random) -> Vec<Plan> {
    let base = Policy::load(name).unwrap();
    let numbers: Vec<(String, f64)> = base
        .params
        .iter()
        .filter_map(|(name, parameter)| {
            Some((name.clone(), parameter.value.as_float().or(parameter.value.as_integer().map(|n| n as f64))?))
        })
        .collect();
    let turned = |random: &mut Random| {
        let mut policy = base.clone();
        for (name, value) in &numbers {
            if random.one_in(2) {
                let factor = [0.1, 0.25, 0.5, 0.75, 1.25][random.below(5) as usize];
                let value = if value.fract() == 0.0 { (value * factor).round() } else { value * factor };
                policy.set(name, &value.to_string()).unwrap();
            }
        }
        policy.plan(facts).ok()
    };
    std::iter::once(base.plan(facts).unwrap()).chain((0..count).filter_map(|_| turned(random))).collect()
}

/// In the open loop, and where the agent reads again what it lost.
fn compare(name: &str, trace: &Trace, plans: &[Plan], conditions: &Conditions) -> (u64, u64) {
    // What is made anew has tests of its own.
    compare_with_anew(4, name, trace, plans, conditions)
}

/// The requests of a run, as they were shown while it went on.
#[derive(Clone, Default)]
struct Requests {
    calls: Vec<CallOutcome>,
    summaries: Vec<SummaryCall>,
    refetches: Vec<Refetch>,
}

impl Account for Requests {
    type Sum = (usize, Option<Outcome>);

    fn go_on(&mut self, calls: &[CallOutcome], summaries: &[SummaryCall], refetches: &[Refetch]) {
        (self.calls, self.summaries, self.refetches) = (calls.to_vec(), summaries.to_vec(), refetches.to_vec());
    }

    fn close(self, setting: usize, outcome: Option<&Outcome>) -> (usize, Option<Outcome>) {
        if let Some(outcome) = outcome {
            assert!(outcome.calls.starts_with(&self.calls) && outcome.summaries.starts_with(&self.summaries), "setting {setting}");
            assert!(outcome.refetches.starts_with(&self.refetches), "setting {setting}");
        }
        (setting, outcome.cloned())
    }
}

/// The same. Of the settings one in `step` is replayed with its views made anew as well.
fn compare_with_anew(step: usize, name: &str, trace: &Trace, plans: &[Plan], conditions: &Conditions) -> (u64, u64) {
    let closed = Conditions { refetch: Refetching::Lost, ..conditions.clone() };
    compare_loop(step, &format!("{name}, closed"), trace, plans, &closed);
    compare_loop(step, name, trace, plans, conditions)
}

fn compare_loop(step: usize, name: &str, trace: &Trace, plans: &[Plan], conditions: &Conditions) -> (u64, u64) {
    let each_alone: Vec<Outcome> = plans.iter().map(|plan| simulate(trace, plan, conditions)).collect();
    let settings: Vec<(&Plan, &Conditions)> = plans.iter().map(|plan| (plan, conditions)).collect();
    let batch = Batch::new(&settings);
    let shared = batch.simulate(trace);
    let (watched, requests) = batch.watch(trace, Requests::default());
    assert_eq!(watched, shared, "{name}, {}, with requests", trace.id);
    for (setting, outcome) in requests {
        let Some(outcome) = outcome else { continue };
        let alone = &each_alone[setting];
        // The budget is each setting's own.
        let sent = |calls: &[CallOutcome]| calls.iter().map(|row| CallOutcome { over_budget: false, ..*row }).collect::<Vec<_>>();
        assert!(sent(&outcome.calls) == sent(&alone.calls), "{name}, requests of setting {setting} of {}", trace.id);
        let again = |outcome: &Outcome| {
            outcome.refetches.iter().map(|again| (again.call, again.request.actual, again.request.prefix)).collect::<Vec<_>>()
        };
        assert!(outcome.summaries == alone.summaries && again(&outcome) == again(alone), "{name}, setting {setting} of {}", trace.id);
    }
    for (setting, alone) in each_alone.iter().enumerate() {
        if setting % step == 0 {
            let anew = watch_anew(trace, &plans[setting], conditions, &mut |_| {});
            assert_eq!(*alone, anew, "{name}, setting {setting} of {}, made anew", trace.id);
        }
        let alone = alone.totals.sums();
        let together = &shared.totals[shared.of[setting] as usize];
        assert_eq!(*together, alone, "{name}, setting {setting} of {}", trace.id);
    }
    (shared.runs, plans.len() as u64)
}

/// Prompts that are summed from a session's rows are those of a replay in which nothing is ever removed.
fn compare_whole(trace: &Trace) {
    let mut visible = Vec::new();
    let replayed = watch(trace, &Plan::default(), &Conditions::endless(), &mut |context| visible.push(context.recorded()));
    let prompts = replayed.whole_prompts().collect();
    let Totals { prompt_tokens, anchored_tokens, .. } = replayed.totals;
    assert_eq!(Whole::of(trace), Whole { prompts, visible, prompt_tokens, anchored_tokens }, "{}", trace.id);
}

#[test]
fn whole_prompts_as_replayed() {
    let mut random = Random(11);
    (0..400).for_each(|_| compare_whole(&session(&mut random)));
    let Some(folder) = shared() else { return };
    let catalog = Catalog::builtin().unwrap();
    let corpus = read(&[folder.join("transcripts").to_string_lossy().into_owned()], &ReadSettings::new(&catalog)).unwrap();
    for trace in &corpus.traces {
        compare_whole(trace);
        compare_whole(&impose(trace, &|_| true));
    }
}

#[test]
fn together_as_alone_over_random_sessions() {
    let mut random = Random(7);
    for preset in presets() {
        let (mut runs, mut settings) = (0, 0);
        for window in [12_000, 60_000] {
            let facts = Facts { window: Some(window), max_input: 0, max_output: window / 4, family: None, ..Facts::default() };
            let conditions = Conditions {
                window,
                prompt_limit: window,
                reserve: None,
                recorded_summary: Some(RecordedSummary::Share { millionths: 50_000, min: 300, max: 2_000 }),
                ..Conditions::default()
            };
            let plans = plans(preset.name, &facts, 12, &mut random);
            for _ in 0..3 {
                let (begun, of) = compare(preset.name, &session(&mut random), &plans, &conditions);
                runs += begun;
                settings += of;
            }
        }
        assert!(runs <= settings, "{}: {runs} runs for {settings} settings", preset.name);
    }
}

/// Every parameter of every preset by itself, from far below to above what it is: settings that differ in one thing share most of their runs, and
/// part where it decides.
#[test]
fn every_knob_as_alone() {
    let mut random = Random(23);
    for preset in presets() {
        let base = Policy::load(preset.name).unwrap();
        for (name, parameter) in &base.params {
            let window = [12_000, 30_000, 60_000][random.below(3) as usize];
            let facts = Facts { window: Some(window), max_input: 0, max_output: window / 4, family: None, ..Facts::default() };
            let conditions = Conditions { window, prompt_limit: window, ..Conditions::default() };
            let number = parameter.value.as_float().or(parameter.value.as_integer().map(|number| number as f64));
            let turned = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.25].into_iter().filter_map(|factor| {
                let mut policy = base.clone();
                let value = match number {
                    Some(number) if number.fract() == 0.0 => (number * factor).round().to_string(),
                    Some(number) => (number * factor).to_string(),
                    // A formula stands for tokens, most of the time.
                    None => (window as f64 * factor).round().to_string(),
                };
                policy.set(name, &value).ok()?;
                policy.plan(&facts).ok()
            });
            let plans: Vec<Plan> = std::iter::once(base.plan(&facts).unwrap()).chain(turned).collect();
            compare(&format!("{}, {name}", preset.name), &session(&mut random), &plans, &conditions);
        }
    }
}

/// Two limits of what arrives, a trigger and what a compaction keeps, turned together: classes of cuts with dials of their own.
#[test]
fn cuts_and_dials_together_as_alone() {
    let mut random = Random(29);
    let knobs = [
        ("codex", ["tool_output_token_limit", "model_auto_compact_token_limit", "user_message_tokens", "record_factor"]),
        ("opencode", ["tool_output_max_bytes", "preserve_recent_tokens", "usable", "tool_output_max_lines"]),
        ("opencode@2025-12", ["bash_max_chars", "prune_protect", "usable", "prune_minimum"]),
        ("claude-code", ["BASH_MAX_OUTPUT_LENGTH", "TASK_MAX_OUTPUT_LENGTH", "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "output_reserve"]),
        ("pi", ["tool_max_bytes", "tool_max_lines", "keepRecentTokens", "reserveTokens"]),
        ("picoclaw", ["exec_output_bytes", "summarize_token_percent", "summarize_message_threshold", "max_tokens"]),
        ("gemini-cli", ["truncateToolOutputThreshold", "compressionThreshold", "toolProtectionThreshold", "read_max_lines"]),
    ];
    for (name, params) in knobs {
        let base = Policy::load(name).unwrap();
        for window in [12_000, 40_000, 150_000] {
            let facts = Facts { window: Some(window), max_input: 0, max_output: window / 4, family: None, ..Facts::default() };
            let conditions = Conditions { window, prompt_limit: window, ..Conditions::default() };
            let turned = (0..40).filter_map(|_| {
                let mut policy = base.clone();
                for param in params {
                    let value = match param {
                        "record_factor" => (1.0 + random.below(8) as f64 / 8.0).to_string(),
                        "compressionThreshold" => (random.below(9) as f64 / 10.0 + 0.1).to_string(),
                        "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE" | "summarize_token_percent" => (10 + random.below(80)).to_string(),
                        "summarize_message_threshold" | "tool_max_lines" | "tool_output_max_lines" | "read_max_lines" => {
                            (5 + random.below(300)).to_string()
                        }
                        "tool_output_token_limit" => (100 + random.below(5) * 700).to_string(),
                        _ => (200 + random.below(12) * window / 16).to_string(),
                    };
                    policy.set(param, &value).unwrap();
                }
                policy.plan(&facts).ok()
            });
            let plans: Vec<Plan> = turned.collect();
            for _ in 0..4 {
                compare(name, &session(&mut random), &plans, &conditions);
            }
        }
    }
}

/// A limit of what arrives, and summaries that are held against the last prompt, which a rewind leaves as it was: the context is the same
/// for all settings, and what they know of it is not.
#[test]
fn limits_and_last_prompts_as_alone() {
    let plans = |at: &str, summary: u64, share: f64| -> Vec<Plan> {
        let rules = format!(
            "[params]\ncut = {{ value = 40_000, unit = \"chars\", help = \"h\" }}\n[estimator]\nunit = \"chars\"\nnumerator = 1\ndenominator = 3\n\
             [summary]\ntokens = {summary}\n[[rule]]\nid = \"limit\"\nat = \"ingest\"\ntruncate = {{ max = \"=cut\", unit = \"chars\" }}\n\
             [[rule]]\nid = \"compress\"\nat = \"{at}\"\nwhen.level = {{ of = \"usage_in\", ge = 1 }}\n\
             select = {{ tail = [{{ n = {share}, unit = \"size_share\" }}] }}\nsummarise = {{}}\nno_inflate = \"usage_in\"\n"
        );
        let turned = |cut: &u64| {
            let mut policy = Policy::parse("limits", &rules).unwrap();
            policy.set("cut", &cut.to_string()).unwrap();
            policy.plan(&Facts { window: Some(150_000), max_input: 0, max_output: 8_000, family: None, ..Facts::default() }).unwrap()
        };
        [3_000, 6_000, 9_000, 15_000, 30_000, 60_000].iter().map(turned).collect()
    };
    let conditions = Conditions { window: 150_000, prompt_limit: 150_000, ..Conditions::default() };
    // The result of up to 12,000 tokens is taken back before the second turn. The summary fits below the prompts of the higher limits alone.
    let session_of_two = Session::default()
        .user(400)
        .reply(400, None)
        .user(400)
        .step(40, None, "t", text(36_000, 12_000))
        .reply(40, None)
        .user(400)
        .reply(4, None);
    let mut trace = session_of_two.trace();
    trace.messages[6].rewind = Some(3).into();
    let direct = plans("turn_start", 5_000, 0.3);
    let compactions = |plan: &Plan| {
        simulate(&trace, plan, &conditions).events.iter().filter(|event| event.kind == EventKind::Compact && event.call == 3).count()
    };
    assert_eq!(direct.iter().map(compactions).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1]);
    compare("direct", &trace, &direct, &conditions);
    let mut random = Random(31);
    for at in ["turn_start", "pre_call", "post_call"] {
        for share in [0.0, 0.5, 0.9] {
            let plans = plans(at, 500 + random.below(4) * 2_000, share);
            for _ in 0..6 {
                compare(at, &session(&mut random), &plans, &conditions);
            }
        }
    }
}

#[test]
fn together_as_alone_over_real_sessions() {
    let Some(folder) = shared() else { return };
    let catalog = Catalog::builtin().unwrap();
    let settings = ReadSettings::new(&catalog);
    let corpus = read(&[folder.join("transcripts/claude-code").to_string_lossy().into_owned()], &settings).unwrap();
    assert!(!corpus.traces.is_empty());
    let mut random = Random(11);
    for name in ["baseagent", "opencode", "opencode@2025-12", "pi", "codex", "picoclaw", "goose"] {
        let facts = Facts { window: Some(40_000), max_input: 0, max_output: 8_000, family: None, ..Facts::default() };
        let conditions =
            Conditions { window: 40_000, prompt_limit: 40_000, reserve: None, recorded_summary: None, ..Conditions::default() };
        let plans = plans(name, &facts, 20, &mut random);
        for trace in &corpus.traces {
            compare(name, trace, &plans, &conditions);
        }
    }
}

/// Estimators that share one walk through a session say what each says by itself; messages without any part come and go as well.
#[test]
fn estimators_together_as_alone() {
    let facts = Facts { window: Some(200_000), max_input: 0, max_output: 8_000, family: Some(Family::ClaudeNew), ..Facts::default() };
    let plans: Vec<Plan> = presets().iter().filter_map(|preset| Policy::load(preset.name).unwrap().plan(&facts).ok()).collect();
    let estimators: Vec<_> = plans.iter().map(|plan| &plan.estimator).collect();
    let endless = Conditions { window: u64::MAX / 2, prompt_limit: u64::MAX / 2, ..Conditions::default() };
    let (mut random, mut calls) = (Random(11), 0);
    for _ in 0..40 {
        let mut trace = session(&mut random);
        for row in &mut trace.messages {
            row.part_count *= u32::from(!random.one_in(7));
        }
        let together = estimate_requests(&trace, &estimators);
        assert_eq!(together.len(), estimators.len());
        for (estimator, together) in estimators.iter().zip(together) {
            let plan = Plan { estimator: (*estimator).clone(), ..Plan::default() };
            let alone: Vec<u64> = simulate(&trace, &plan, &endless).calls.iter().map(|row| row.estimated).collect();
            assert_eq!(together, alone);
            calls += alone.iter().filter(|estimated| **estimated > 0).count();
        }
    }
    assert!(calls > 10_000, "{calls}");
}

/// A view that is kept from call to call, and grows by what has come, is the one that a replay makes anew for each call: whatever its
/// selection protects, and whatever happens between two of them. So is what a limit cuts that looks at what has come alone.
#[test]
fn kept_views_are_those_made_anew() {
    const MASK: &str = "mode = \"view\"\nmask = { text = \"[gone]\" }";
    const DROP: &str = "mode = \"view\"\ndrop = {}";
    const MARK: &str = "mode = \"view\"\ndrop = { marker = \"[{dropped} older messages are left out]\", role = \"user\" }";
    const CUT: &str = "truncate = { max = \"=tail / 10\", unit = \"chars\", head = 0.5, marker = \" [...] \" }";
    const RULES: [(&str, &str); 18] = [
        (
            r#"kind = ["tool_result"], tail = [{ n = "=turns", unit = "user_messages" }, { n = "=tail", unit = "tokens", of = "selected", crossing = "select" }], stop_at = ["masked"]"#,
            MASK,
        ),
        (
            r#"kind = ["tool_result"], tail = [{ n = "=turns", unit = "turns" }, { n = "=tail", unit = "tokens", of = "selected", crossing = "keep" }], stop_at = ["summary"]"#,
            MASK,
        ),
        (r#"kind = ["tool_result", "tool_call"], tail = [{ n = "=turns", unit = "items", of = "selected" }], not_tools = ["read"]"#, MASK),
        (r#"kind = ["tool_result"], tail = [{ n = "=turns", unit = "messages" }], not_errors = true"#, MASK),
        (r#"kind = ["assistant", "user", "image"], tail = [{ n = "=tail", unit = "tokens", of = "selected", crossing = "select" }]"#, MASK),
        (r#"kind = ["tool_result"], tail = [{ n = "=tail", unit = "tokens" }]"#, MASK),
        (r#"kind = ["thinking", "tool_result"], tail = [{ n = "=turns", unit = "messages" }]"#, MASK),
        (r#"kind = ["tool_result"], superseded = true, tail = [{ n = "=turns", unit = "messages" }]"#, MASK),
        (r#"head = [{ n = 1, unit = "messages" }], tail = [{ n = "=turns + 3", unit = "messages" }]"#, DROP),
        (r#"tail = [{ n = "=turns + 3", unit = "messages" }], snap = { direction = "forward", to = ["user", "assistant"] }"#, MARK),
        (r#"tail = [{ n = "=tail", unit = "tokens", crossing = "select" }], snap = { direction = "forward", to = ["user"] }"#, DROP),
        (r#"head = [{ n = "=turns", unit = "messages" }], tail = [{ n = "=tail", unit = "tokens" }], pairs = "split""#, MARK),
        (r#"take = { until_request = "=limit" }, pairs = "split""#, MARK),
        (r#"head = [{ n = 2, unit = "messages" }], take = { until_request = "=limit" }"#, DROP),
        (r#"head = [{ n = 2, unit = "messages" }], take = { until_request = "=limit" }, pairs = "loops""#, DROP),
        (r#"head = [{ n = "=turns", unit = "messages" }], tail = [{ n = "=turns + 3", unit = "messages" }], pairs = "loops""#, MARK),
        (r#"kind = ["tool_result"]"#, CUT),
        (r#"kind = ["tool_result"], tail = [{ n = "=tail", unit = "tokens", of = "selected", crossing = "select" }]"#, CUT),
    ];
    const AFTERWARDS: [&str; 4] = [
        "",
        "[[rule]]\nid = \"drop\"\nat = \"overflow\"\nselect = { take = { share = 0.5 } }\ndrop = {}\n",
        "[[rule]]\nid = \"compact\"\nat = \"pre_call\"\nmode = \"commit_if_fewer\"\nwhen.level = { of = \"est_request\", gt = \"=2 * limit\" }\nsummarise = { place = \"head\", role = \"user\", input = \"context\" }\n",
        "[[rule]]\nid = \"compact\"\nat = \"turn_end\"\nwhen.level = { of = \"est_request\", gt = \"=2 * limit\" }\nselect = { tail = [{ n = \"=turns\", unit = \"messages\" }] }\nsummarise = { place = \"head\", role = \"user\", input = \"context\" }\n",
    ];
    let mut random = Random(17);
    for (place, (select, action)) in RULES.iter().enumerate() {
        for hook in ["pre_call", "tool_result"] {
            let after = AFTERWARDS[(place + hook.len()) % AFTERWARDS.len()];
            let guard = if *action == CUT { "" } else { "min_saving = { tokens = \"=least\", basis = \"net\", cmp = \"gt\" }" };
            let text = format!(
                "[params]\nlimit = {{ value = 4_000, unit = \"tokens\", help = \"\" }}\ntail = {{ value = 2_000, unit = \"tokens\", help = \"\" }}\n\
                 turns = {{ value = 2, unit = \"\", help = \"\" }}\nleast = {{ value = 500, unit = \"tokens\", help = \"\" }}\n\
                 [reactive]\nretries = 2\n[estimator]\nunit = \"chars\"\nnumerator = 1\ndenominator = 4\nround_at = \"message\"\n\
                 [[rule]]\nid = \"view\"\nat = \"{hook}\"\nwhen.level = {{ of = \"est_request\", gt = \"=limit\" }}\n\
                 select = {{ {select} }}\n{action}\n{guard}\n{after}"
            );
            let base = Policy::parse("view", &text).unwrap();
            let facts = Facts { window: Some(30_000), max_input: 0, max_output: 4_000, family: None, ..Facts::default() };
            let mut settings = vec![base.plan(&facts).unwrap()];
            for _ in 0..30 {
                let mut policy = base.clone();
                for (name, values) in
                    [("limit", [2_000, 8_000, 20_000]), ("tail", [0, 1_000, 9_000]), ("turns", [0, 1, 5]), ("least", [0, 2_000, 6_000])]
                {
                    policy.set(name, &values[random.below(3) as usize].to_string()).unwrap();
                }
                settings.push(policy.plan(&facts).unwrap());
            }
            let conditions = Conditions { window: 30_000, prompt_limit: 30_000, ..Conditions::default() };
            for _ in 0..4 {
                compare_with_anew(1, select, &session(&mut random), &settings, &conditions);
                for alone in settings.iter().take(4) {
                    compare(select, &session(&mut random), std::slice::from_ref(alone), &conditions);
                }
            }
        }
    }
}

/// A draft works plans out in another way than the policy: the plans are the same, for every preset, setting and model.
#[test]
fn drafts_give_the_plans_of_their_policy() {
    let mut random = Random(13);
    for preset in presets() {
        let base = Policy::load(preset.name).unwrap();
        let mut settings = vec![base.clone()];
        for name in base.params.keys() {
            for value in ["0", "1", "0.4", "12_345", "=window / 3", "max_output + 7"] {
                let mut policy = base.clone();
                // A switch is on or off, and there is no fraction of a token.
                match policy.set(name, value) {
                    Ok(()) => settings.push(policy),
                    Err(_) => assert!(policy.params[name].is_switch() || value == "0.4", "{}: {name} = {value}", preset.name),
                }
            }
        }
        let mut drafts = Drafts::new(&base);
        for policy in &settings {
            let mut dialled = drafts.dial(policy);
            for family in [None, Some(Family::ClaudeNew), Some(Family::Gpt)] {
                let window = (!random.one_in(4)).then(|| 8_000 + random.below(400_000));
                let facts =
                    Facts { window, max_input: random.below(2) * 90_000, max_output: random.below(3) * 16_000, family, ..Facts::default() };
                let (drafted, own) = (drafts.plan(&mut dialled, &facts), policy.plan(&facts));
                match (drafted, own) {
                    (Ok(drafted), Ok(own)) => assert_eq!(*drafted, own, "{} under {facts:?}", preset.name),
                    (Err(drafted), Err(own)) => assert_eq!(drafted.to_string(), own.to_string(), "{}", preset.name),
                    (drafted, own) => panic!("{}: {drafted:?} beside {own:?}", preset.name),
                }
            }
        }
    }
}

/// Sessions that no limit is reached in cost one run, however many settings there are; so do settings that differ in guards that
/// decide nothing.
#[test]
fn settings_that_agree_share_their_run() {
    let trace = session(&mut Random(3));
    for (name, param) in [("baseagent", "prune_protect"), ("opencode", "preserve_recent_tokens"), ("opencode", "tail_turns")] {
        let facts = Facts { window: Some(2_000_000), max_input: 0, max_output: 8_000, family: None, ..Facts::default() };
        let conditions = Conditions { window: 2_000_000, prompt_limit: 2_000_000, ..Conditions::default() };
        let turned = (1..=100_u64).map(|value| {
            let mut policy = Policy::load(name).unwrap();
            if name == "baseagent" {
                policy.set("model_context_limit", "2000000").unwrap();
            }
            policy.set(param, &value.to_string()).unwrap();
            policy.plan(&facts).unwrap()
        });
        let plans: Vec<Plan> = turned.collect();
        assert_eq!(compare(name, &trace, &plans, &conditions).0, 1, "{name}");
    }
}

/// The naive engine: everything that is in the context, added up anew at every call.
#[test]
fn running_sums_are_those_of_a_naive_engine() {
    let mut random = Random(5);
    for preset in presets() {
        let facts = Facts { window: Some(30_000), max_input: 0, max_output: 8_000, family: None, ..Facts::default() };
        let conditions = Conditions { window: 30_000, prompt_limit: 30_000, ..Conditions::default() };
        let plan = Policy::load(preset.name).unwrap().plan(&facts).unwrap();
        let mut look = |context: &Context| {
            let items = context.live().flat_map(|(_, entry)| entry.first..entry.first + entry.count);
            let items: Vec<_> = items.filter_map(|item| context.item(item)).filter(|item| item.state != State::Removed).collect();
            assert_eq!(context.size().actual.0, items.iter().map(|item| item.actual).sum::<u64>());
            assert_eq!(context.size().estimated.0, context.live().map(|(_, entry)| entry.estimated).sum::<u64>());
            assert_eq!(context.anchored(), items.iter().map(|item| item.anchored).sum::<u64>());
            assert_eq!(context.regions().iter().sum::<u64>(), context.size().actual.0);
            let results: Vec<_> = items.iter().filter(|item| item.region == Region::ToolResult && item.state != State::Masked).collect();
            let view = context.view();
            let texts = results.iter().map(|item| item.alone).sum::<u64>();
            assert_eq!((view.unmasked_results(), view.unmasked_texts()), (results.len() as u64, texts));
            let parts = results.iter().map(|item| context.estimator().message_part(item.guess)).sum::<u64>();
            assert!((parts..=parts + 2 * results.len() as u64).contains(&view.most_unmasked_parts()), "{}", preset.name);
        };
        watch(&session(&mut random), &plan, &conditions, &mut look);
    }
}
