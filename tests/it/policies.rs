//! Policies and the replay: the session worked by hand, the main facts of each preset, properties.

use ctxsim::catalog::Catalog;
use ctxsim::context::{Arrival, Context, Ends, Item, Region, Replacement, State};
use ctxsim::estimate::{Estimator, Guess, Vocabulary};
use ctxsim::measure::{self, Measure};
use ctxsim::policy::{Facts, Policy, presets};
use ctxsim::sim::{Cause, Conditions, EventKind, Outcome, simulate};
use ctxsim::trace::Trace;
use ctxsim::transcript::{Call, Length, Message, Part, Role, Text, Transcript, Usage};
use proptest::prelude::*;

/// A session as a test writes it down. Texts are ASCII, of so many characters and, unless told otherwise, a quarter as many tokens.
#[derive(Default)]
pub(crate) struct Session {
    messages: Vec<Message>,
}

pub(crate) fn text(chars: u32, tokens: u32) -> Text {
    let length = Length { bytes: chars, utf16: chars, chars, newlines: 0 };
    Text { length, tokens, json_bytes: chars, ..Text::default() }
}

impl Session {
    pub(crate) fn user(self, chars: u32) -> Session {
        self.push(Role::User, vec![Part::Text(text(chars, chars / 4))], None)
    }

    /// A reply without a tool call.
    pub(crate) fn reply(self, chars: u32, usage: Option<(u64, u64)>) -> Session {
        self.push(Role::Assistant, vec![Part::Text(text(chars, chars / 4))], Some(usage))
    }

    /// A reply that calls a tool, and the tool's result.
    pub(crate) fn step(self, chars: u32, usage: Option<(u64, u64)>, tool: &str, result: Text) -> Session {
        let call = Part::ToolCall { id: "c".to_owned(), name: tool.to_owned(), arguments: Text::default() };
        let result = Part::ToolResult { call_id: "c".to_owned(), name: tool.to_owned(), text: result, error: false };
        let said = Part::Text(text(chars, chars / 4));
        self.push(Role::Assistant, vec![said, call], Some(usage)).push(Role::Tool, vec![result], None)
    }

    /// The last message is put in by the program, in the user's name.
    pub(crate) fn noted(mut self) -> Session {
        self.messages.last_mut().unwrap().synthetic = true;
        self
    }

    /// The last message came so many seconds after the beginning.
    pub(crate) fn at(mut self, seconds: i64) -> Session {
        self.messages.last_mut().unwrap().time = Some(seconds * 1_000);
        self
    }

    /// The last call has written so many tokens of its prompt to the cache.
    pub(crate) fn wrote(mut self, tokens: u64) -> Session {
        let call = self.messages.iter_mut().rev().find_map(|message| message.call.as_mut()).unwrap();
        call.usage.as_mut().unwrap().cache_write = tokens;
        self
    }

    pub(crate) fn push(mut self, role: Role, parts: Vec<Part>, call: Option<Option<(u64, u64)>>) -> Session {
        let mut message = Message::new(role, parts);
        message.call = call.map(|usage| {
            let usage = usage.map(|(prompt, output)| Usage { prompt, output, output_is_final: true, ..Usage::default() });
            Box::new(Call { usage, ..Call::default() })
        });
        self.messages.push(message);
        self
    }

    /// Measured for a model without any wrapping, so that the tokens of a text are its weight.
    pub(crate) fn trace(self) -> Trace {
        let plain = |line: &str| match line.split_once(" = ") {
            Some(("tokens_per_1000_o200k", _)) => "tokens_per_1000_o200k = 1000".to_owned(),
            Some(("per_message", _)) => "per_message = 0".to_owned(),
            _ => line.to_owned(),
        };
        let families: Vec<String> = include_str!("../../catalog/families.toml").lines().map(plain).collect();
        let catalog = Catalog::parse("models = []", &families.join("\n")).unwrap();
        let transcript = Transcript { id: "s".to_owned(), messages: self.messages.into(), ..Transcript::default() };
        measure::trace(transcript, "test", Measure { catalog: &catalog, model: None, vocabulary: Vocabulary::O200kBase })
    }
}

const FACTS: Facts = Facts { window: Some(200_000), max_input: 0, max_output: 32_000, family: None, item_bytes: 0, sealed_thousandths: 0 };

pub(crate) fn run(policy: &Policy, trace: &Trace, window: u64) -> Outcome {
    let plan = policy.plan(&Facts { window: Some(window), ..FACTS }).unwrap();
    simulate(trace, &plan, &Conditions { window, prompt_limit: window, ..Conditions::default() })
}

pub(crate) fn preset(name: &str, settings: &[(&str, &str)]) -> Policy {
    let mut policy = Policy::load(name).unwrap();
    settings.iter().for_each(|(name, value)| policy.set(name, value).unwrap());
    policy
}

/// Calls at which an event of this kind took place.
pub(crate) fn calls_of(outcome: &Outcome, kind: EventKind) -> Vec<u32> {
    outcome.events.iter().filter(|event| event.kind == kind).map(|event| event.call).collect()
}

/// The session of the page on what a replay means.
fn by_hand() -> Trace {
    let said = |chars, tokens| Part::Text(text(chars, tokens));
    let call = || Part::ToolCall { id: String::new(), name: String::new(), arguments: Text::default() };
    let result = |chars, tokens| Part::ToolResult { call_id: String::new(), name: "t".to_owned(), text: text(chars, tokens), error: false };
    Session::default()
        .push(Role::User, vec![said(60, 20)], None)
        .push(Role::Assistant, vec![said(120, 40), call()], Some(Some((300, 40))))
        .push(Role::Tool, vec![result(900, 300)], None)
        .push(Role::Assistant, vec![said(88, 30), call()], Some(Some((640, 30))))
        .push(Role::Tool, vec![result(840, 280)], None)
        .push(Role::Assistant, vec![said(76, 25)], Some(Some((950, 25))))
        .push(Role::User, vec![said(76, 25)], None)
        .push(Role::Assistant, vec![said(40, 10)], Some(Some((1_000, 10))))
        .trace()
}

fn masking(measure: &str) -> Policy {
    let marker = format!("{:-<32}", "[cleared]");
    let document = format!(
        "[window]\nreserve = 200\n[estimator]\nunit = \"chars\"\n[[rule]]\nid = \"mask\"\nat = \"pre_call\"\n\
         when.level = {{ of = \"{measure}\", gt = \"=0.7 * (window - 200)\" }}\n\
         select = {{ kind = [\"tool_result\"], tail = [{{ n = 1, unit = \"items\" }}] }}\nmask = {{ text = \"{marker}\" }}\n"
    );
    Policy::parse("by-hand", &document).unwrap()
}

#[test]
fn truth_of_the_session_worked_by_hand() {
    let trace = by_hand();
    let message = |index: usize| trace.parts_of(&trace.messages[index]).map(|part| part.truth).sum::<u64>();
    assert!(trace.calls.iter().all(|call| call.hidden == 280 && call.missing == 0));
    let truths: Vec<u64> = (0..7).map(message).collect();
    assert_eq!(truths, [20, 40, 300, 30, 280, 25, 25]);
    let anchored = |index: usize| trace.parts_of(&trace.messages[index]).all(|part| part.anchored);
    assert!(!anchored(0) && (1..7).all(anchored));
}

#[test]
fn replays_of_the_session_worked_by_hand() {
    let trace = by_hand();
    let prompts = |outcome: &Outcome| outcome.calls.iter().map(|call| call.actual).collect::<Vec<u64>>();
    let over_budget = |outcome: &Outcome| outcome.calls.iter().map(|call| call.over_budget).collect::<Vec<bool>>();
    let beliefs = |outcome: &Outcome| outcome.calls.iter().map(|call| call.belief.get()).collect::<Vec<Option<u64>>>();

    let none = run(&preset("none", &[("reserve", "200")]), &trace, 1_000);
    assert_eq!(prompts(&none), [300, 640, 950, 1_000]);
    assert_eq!(over_budget(&none), [false, false, true, true]);
    assert_eq!((none.totals.prompt_tokens, none.totals.reply_cut, none.totals.over_budget), (2_890, 1, 2));
    assert!(none.calls[3].reply_cut && none.events.is_empty());

    let p = run(&masking("usage_total"), &trace, 1_000);
    assert_eq!(prompts(&p), [300, 640, 658, 708]);
    assert_eq!(beliefs(&p), [None, Some(340), Some(670), Some(683)]);
    assert_eq!((p.totals.prompt_tokens, p.totals.saved_vs_none(), p.totals.over_budget), (2_306, 584, 0));
    assert_eq!((calls_of(&p, EventKind::Prune), calls_of(&p, EventKind::NoGain)), (vec![2], vec![3]));

    let q = run(&masking("est_request"), &trace, 1_000);
    assert_eq!(prompts(&q), [300, 640, 950, 1_000]);
    assert_eq!(beliefs(&q), [Some(15), Some(270), Some(502), Some(540)]);
    assert_eq!((q.totals.prompt_tokens, q.totals.saved_vs_none(), q.totals.reply_cut), (2_890, 0, 1));
    assert!(q.events.is_empty());
}

#[test]
fn a_result_that_no_estimate_saw_coming_is_a_blind_spot() {
    // As by hand, but t1 has 700 tokens: at call 2 P estimates 340, and it is 1,040.
    let trace = Session::default().user(80).step(160, Some((300, 40)), "t", text(2_100, 700)).reply(40, Some((1_040, 10))).trace();
    let p = run(&masking("usage_total"), &trace, 1_000);
    assert_eq!((p.totals.overflows, p.totals.missed), (1, 1));
    assert_eq!(p.totals.causes.get(&Cause::BlindSpot), Some(&1));
    // Q sees the result, takes it for 475, so that all is 535, and is wrong: drift.
    let trace = Session::default().user(80).step(160, Some((300, 40)), "t", text(1_900, 700)).reply(40, Some((1_040, 10))).trace();
    let q = run(&masking("est_request"), &trace, 1_000);
    assert_eq!(q.totals.causes.get(&Cause::Drift), Some(&1));
}

#[test]
fn baseagent_fires_above_142_800() {
    // floor(571,184 / 4) + 4 for the message.
    for (chars, fires) in [(571_184, false), (571_188, true)] {
        let trace = Session::default().user(chars).reply(4, None).trace();
        let outcome = run(&preset("baseagent", &[]), &trace, 200_000);
        assert_eq!(!calls_of(&outcome, EventKind::Compact).is_empty(), fires, "{chars}");
    }
}

#[test]
fn baseagent_forgets_what_it_pruned() {
    let settings = [("max_output_tokens", "100k"), ("auto_compact_threshold", "0.36")];
    let session = |first: u32| {
        Session::default()
            .user(4)
            .step(0, None, "t", text(first, first / 4))
            .step(0, None, "t", text(160_000, 40_000))
            .reply(4, None)
            .user(4)
            .reply(4, None)
            .user(4_000)
            .step(4, None, "t", text(4, 1))
            .reply(4, None)
            .trace()
    };
    let code = run(&preset("baseagent", &settings), &session(80_004), 200_000);
    assert_eq!((calls_of(&code, EventKind::Prune), calls_of(&code, EventKind::Compact)), (vec![4, 5], vec![]));
    let documented = run(&preset("baseagent@documented", &settings), &session(80_004), 200_000);
    assert_eq!(calls_of(&documented, EventKind::Prune), [4]);
    // 20,000 tokens are not more than 20,000: nothing is pruned, and everything is summarised.
    let too_little = run(&preset("baseagent", &settings), &session(80_000), 200_000);
    assert_eq!((calls_of(&too_little, EventKind::Prune), calls_of(&too_little, EventKind::Compact)), (vec![], vec![4]));
}

#[test]
fn opencode_compacts_at_or_above_its_limit() {
    for (output, newest, older) in [(7_999, vec![], vec![]), (8_000, vec![1], vec![]), (8_001, vec![1], vec![1])] {
        let trace = Session::default()
            .user(400)
            .step(40, Some((160_000, output)), "read", text(40, 10))
            .reply(40, Some((160_000 + output + 10, 10)))
            .trace();
        // Both compact at the end of the turn or the next step only where the last usage says so.
        let at_step = |name: &str| {
            let outcome = run(&preset(name, &[]), &trace, 200_000);
            outcome
                .events
                .iter()
                .filter(|event| event.kind == EventKind::Compact && event.rule == "compact")
                .map(|event| event.call)
                .collect::<Vec<u32>>()
        };
        assert_eq!((at_step("opencode@1.15"), at_step("opencode@2025-12")), (newest, older), "{output}");
    }
}

#[test]
fn pi_is_blind_to_results_unless_it_checks_between_steps() {
    // 183,616 is the limit; the result of 85,000 tokens leads from 100,050 to 185,050.
    let session = || {
        Session::default()
            .user(396_000)
            .step(40, Some((100_000, 50)), "custom", text(340_000, 85_000))
            .reply(40, Some((185_050, 10)))
            .trace()
    };
    let compactions = |name: &str| calls_of(&run(&preset(name, &[]), &session(), 200_000), EventKind::Compact);
    assert_eq!(compactions("pi@1.5"), [1]);
    assert_eq!(compactions("pi"), [1]);
    let late = run(&preset("pi@0.58", &[]), &session(), 200_000);
    assert_eq!(late.calls[1].actual, 185_050);
    assert_eq!(compactions("pi@0.12"), [1]);
    let limited = run(&preset("pi@recommended", &[]), &session(), 200_000);
    assert!(limited.calls[1].actual < 110_000, "{}", limited.calls[1].actual);
}

#[test]
fn pi_recovers_from_a_refusal_once() {
    let trace = Session::default()
        .user(40_000)
        .reply(40_000, Some((90_000, 10_000)))
        .user(40_000)
        .step(40, Some((110_000, 50)), "custom", text(100_000, 95_000))
        .reply(40, Some((205_050, 10)))
        .trace();
    // The result is taken for 25,000 tokens, so that the check before the call lets it pass.
    let outcome = run(&preset("pi@1.5", &[]), &trace, 200_000);
    assert_eq!((outcome.totals.overflows, outcome.totals.refused, outcome.totals.failed_sessions), (1, 1, 0));
    assert_eq!(calls_of(&outcome, EventKind::Retry), [2]);
    let old = run(&preset("pi@0.12", &[]), &trace, 200_000);
    assert_eq!((old.totals.overflows, old.totals.failed_sessions), (1, 1));
    // Where automatic compaction is off, the error is shown.
    let trace = Session::default().user(40_000).reply(40_000, Some((90_000, 10_000))).user(400_000).reply(40, Some((205_050, 10))).trace();
    let pi = ["pi@1.5", "pi@0.73", "pi@0.58", "pi@recommended"].map(|name| (name, "enabled"));
    for (name, switch) in pi.into_iter().chain([("opencode@1.18", "auto"), ("kilo@7.7", "auto")]) {
        let failed = |on| run(&preset(name, &[(switch, on)]), &trace, 200_000).totals.failed_sessions;
        assert_eq!((failed("1"), failed("0")), (0, 1), "{name}");
    }
}

#[test]
fn mycoder_reports_every_five_calls_and_from_half_a_window_on() {
    let short = (0..12).fold(Session::default().user(40), |session, _| session.step(4, None, "t", text(4, 1))).trace();
    let outcome = run(&preset("mycoder", &[]), &short, 200_000);
    assert_eq!(calls_of(&outcome, EventKind::Inject), [4, 9]);
    assert_eq!(outcome.totals.injected_tokens, 220);
    for (prompt, reports) in [(98_998, 0), (98_999, 1)] {
        let trace = Session::default().user(40).reply(4, Some((prompt, 1))).trace();
        let outcome = run(&preset("mycoder@1.7", &[]), &trace, 200_000);
        assert_eq!(calls_of(&outcome, EventKind::Inject).len(), reports, "{prompt}");
        assert!(calls_of(&outcome, EventKind::Compact).is_empty());
    }
}

#[test]
fn mycoder_as_documented_keeps_ten_messages() {
    let mut session = Session::default().user(4_000);
    for step in 0..12 {
        session = session.step(40, Some((1_000 + 9_020 * step, 20)), "t", text(36_000, 9_000));
    }
    let outcome = run(&preset("mycoder@documented", &[("tool_output_limit", "100k")]), &session.reply(4, None).trace(), 200_000);
    // Usage passes 99,000 with the reply of call 11, and the check is made before the next one.
    let compactions: Vec<_> = outcome.events.iter().filter(|event| event.kind == EventKind::Compact).collect();
    assert_eq!(compactions.first().map(|event| event.call), Some(12));
    // 1 + 2 x 12 messages and two status updates, less the last ten.
    assert_eq!(compactions.first().map(|event| event.touched), Some(17 + 1));
}

#[test]
fn codex_looks_at_pending_results_since_2026() {
    // The limit is 180,000: 100,050 and 80,000 of a result (cut to 48,000 bytes unless the limit is raised).
    let trace = Session::default()
        .user(4_000)
        .step(40, Some((100_000, 50)), "custom", text(320_000, 80_000))
        .reply(40, Some((180_050, 10)))
        .trace();
    let settings = [("tool_output_token_limit", "1m")];
    let compactions = |name: &str| calls_of(&run(&preset(name, &settings), &trace, 200_000), EventKind::Compact);
    assert_eq!(compactions("codex@2026-06"), [1]);
    // The older one sees them with the next reply, and compacts although nothing more was to follow.
    let older = run(&preset("codex@2025-12", &settings), &trace, 200_000);
    assert_eq!(older.calls[1].actual, 180_050);
    assert_eq!(calls_of(&older, EventKind::Compact), [1]);
    assert_eq!(
        older.events.iter().find(|event| event.kind == EventKind::Compact).map(|event| event.rule.as_str()),
        Some("compact-turn-end")
    );
}

#[test]
fn codex_keeps_twenty_thousand_tokens_of_user_messages() {
    let trace = Session::default()
        .user(60_000)
        .reply(40, Some((15_000, 10)))
        .user(40_000)
        .reply(40, Some((25_010, 10)))
        .user(4)
        .reply(40, Some((25_021, 10)))
        .user(4)
        .reply(40, Some((25_032, 10)))
        .trace();
    let outcome = run(&preset("codex", &[("model_auto_compact_token_limit", "25_025")]), &trace, 200_000);
    let compaction = outcome.events.iter().find(|event| event.kind == EventKind::Compact).unwrap();
    assert_eq!(compaction.call, 3);
    // The three replies go. 10,000 + 1 tokens of user text stay whole, and of the 15,000 of the first message what is left of 20,000,
    // with `…5001 tokens truncated…` in its midst.
    assert_eq!(compaction.touched, 3);
    assert_eq!(outcome.calls[3].actual, 9_999 + 6 + 10_000 + 1 + 1_500 + 105 + 1);
}

#[test]
fn picoclaw_checks_once_a_turn_and_drops_whole_turns() {
    // Three turns of about 12,000 tokens by its estimate; the budget is 40,000 - 8,000.
    let settings =
        [("max_tokens", "8k"), ("context_window", "40k"), ("summarize_message_threshold", "1000"), ("summarize_token_percent", "1000")];
    let turn = |session: Session| session.user(400).reply(29_600, None);
    let trace = turn(turn(turn(Session::default()))).user(400).reply(4, None).trace();
    let outcome = run(&preset("picoclaw", &settings), &trace, 200_000);
    let drops: Vec<_> = outcome.events.iter().filter(|event| event.kind == EventKind::Drop).collect();
    assert_eq!(drops.len(), 1);
    assert_eq!((drops[0].call, drops[0].rule.as_str(), drops[0].touched), (3, "compress", 2));
    // Within a turn nothing is checked: the same texts as one turn pass.
    let single =
        (0..4).fold(Session::default().user(400), |session, _| session.step(4, None, "custom", text(29_600, 7_400))).reply(4, None);
    let outcome = run(&preset("picoclaw", &settings), &single.trace(), 200_000);
    assert!(outcome.events.is_empty(), "{:?}", outcome.events);
}

#[test]
fn picoclaw_trims_this_turn_and_stores_what_it_trimmed() {
    // After dropping the first of two turns, the second is still too large for the request, but not for the store.
    let settings =
        [("max_tokens", "8k"), ("context_window", "40k"), ("summarize_message_threshold", "1000"), ("summarize_token_percent", "1000")];
    let trace = Session::default()
        .user(400)
        .reply(4_000, None)
        .user(400)
        .reply(76_000, None)
        .user(8_000)
        .reply(4, None)
        .user(4)
        .reply(4, None)
        .trace();
    let outcome = run(&preset("picoclaw", &settings), &trace, 200_000);
    let rules: Vec<(u32, &str)> = outcome.events.iter().map(|event| (event.call, event.rule.as_str())).collect();
    assert_eq!(rules, [(2, "compress"), (2, "trim"), (3, "compress")]);
    assert!(outcome.calls[2].actual < 2_100, "{}", outcome.calls[2].actual);
}

#[test]
fn progressive_escalates_and_gives_up_where_nothing_helps() {
    let hopeless = Session::default().user(800_000).reply(4, None).trace();
    let outcome = run(&preset("progressive@reactive", &[]), &hopeless, 100_000);
    assert_eq!((outcome.totals.failed_sessions, outcome.totals.recovered), (1, 0));
    // Micro-compaction is not enough, the summary is.
    let many = (0..20).fold(Session::default().user(400), |session, _| session.user(20_000).reply(4, None)).trace();
    let outcome = run(&preset("progressive@reactive", &[]), &many, 60_000);
    let levels: Vec<&str> = outcome
        .events
        .iter()
        .filter(|event| !matches!(event.kind, EventKind::Overflow | EventKind::Retry))
        .map(|event| event.rule.as_str())
        .collect();
    assert_eq!(levels.first_chunk(), Some(&["micro-reactive", "summarise-reactive"]));
    assert_eq!((outcome.totals.failed_sessions, outcome.totals.recovered > 0), (0, true));
    assert!(outcome.totals.injected_tokens >= 1_500 + 1_200);
    // The same, before it happens.
    let outcome = run(&preset("progressive", &[]), &many, 100_000);
    assert_eq!(outcome.totals.overflows, 0);
    assert!(outcome.totals.events_of(EventKind::Compact) > 0);
}

/// Messages of a random session: what kind, how long, and whether usage is recorded.
fn random_trace() -> impl Strategy<Value = Trace> {
    let message = (0_u8..4, prop_oneof![0_u32..400, 0_u32..40_000, 0_u32..1_000_000], 0_u32..1_000);
    (proptest::collection::vec(message, 0..40), any::<bool>()).prop_map(|(messages, with_usage)| {
        let mut session = Session::default();
        let mut prompt = 500;
        for (kind, chars, tokens) in messages {
            let tokens = chars / 5 + tokens;
            let usage = with_usage.then_some((prompt, u64::from(tokens)));
            let result = Part::ToolResult { call_id: "c".to_owned(), name: "read".to_owned(), text: text(chars, tokens), error: false };
            session = match kind {
                0 => session.push(Role::User, vec![Part::Text(text(chars, tokens))], None),
                1 => session.push(Role::Assistant, vec![Part::Text(text(chars, tokens))], Some(usage)),
                2 => session.step(chars % 1_000, usage, "bash", text(chars, tokens)),
                _ => session.push(Role::Tool, vec![result], None),
            };
            prompt += u64::from(tokens) + 10;
        }
        session.trace()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_policy_changes_nothing(trace in random_trace(), window in 1_000_u64..2_000_000) {
        let outcome = run(&preset("none", &[]), &trace, window);
        for (row, call) in outcome.calls.iter().zip(&trace.calls) {
            prop_assert_eq!(row.actual, call.hidden + call.visible - call.missing);
            if let Some(usage) = call.usage.get() {
                prop_assert_eq!(row.actual, usage.prompt);
            }
        }
        prop_assert_eq!(outcome.totals.saved_vs_none(), 0);
        prop_assert!(outcome.events.iter().all(|event| matches!(event.kind, EventKind::Overflow | EventKind::Unrecoverable)));
    }

    #[test]
    fn every_preset_survives_every_trace(trace in random_trace(), window in prop_oneof![1_000_u64..20_000, 1_000_u64..2_000_000]) {
        for known in presets() {
            let outcome = run(&preset(known.name, &[]), &trace, window);
            // A session that the policy fails ends with the row of the failed call.
            prop_assert_eq!(outcome.calls.len(), outcome.ended_at().map_or(trace.calls.len(), |call| call + 1));
            let gives_up = outcome.events.iter().any(|event| event.kind == EventKind::GiveUp);
            for row in outcome.calls.iter() {
                prop_assert!(row.anchored <= row.actual);
                // What is put back after a reset may weigh more than what went.
                prop_assert!(row.actual == row.attempted || row.refused > 0);
                prop_assert!(row.unrecovered == (row.actual > window) || gives_up);
            }
            prop_assert!(outcome.events.windows(2).all(|pair| pair[0].call <= pair[1].call));
        }
    }

    #[test]
    fn sizes_of_entries_add_up(edits in proptest::collection::vec((0_u8..5, 0_u32..60, 0_u64..5_000), 1..120)) {
        let mut context = Context::new(Estimator { per_message: 4, ..Estimator::default() });
        for (edit, target, size) in edits {
            let guess = Guess { units: size % 7, tokens: size, parts: 1 };
            match edit {
                0 | 1 => {
                    let role = if edit == 0 { Role::User } else { Role::System };
                    let item = Item {
                        part: Some(0), tool: None, region: Region::User, state: State::Whole, error: false, expires: size % 2 == 0,
                        ends: Ends::default(), superseded: false, by: None,
                        guess, alone: size, end_units: size as u32, actual: size, anchored: size / 2,
                    };
                    let arrival = Arrival { message: Some(target), role, opens_turn: edit == 0, is_summary: false, unseen: false, call: 0 };
                    context.push(arrival, vec![item; (target % 3) as usize], (target % 4 == 0).then_some(0));
                }
                2 => context.replace(target, Replacement { state: State::Masked, ends: Ends::default(), guess, alone: size, end_units: size as u32, actual: size }),
                3 => context.remove_item(target),
                _ if size % 5 == 0 => context.withdraw(target),
                _ => drop(context.remove(&[target])),
            }
            let items = || context.live().flat_map(|(_, entry)| entry.first..entry.first + entry.count).filter_map(|id| context.item(id));
            prop_assert_eq!(items().map(|item| item.actual).sum::<u64>(), context.size().actual.0);
            prop_assert_eq!(items().map(|item| item.anchored).sum::<u64>(), context.anchored());
            prop_assert_eq!(context.live().map(|(_, entry)| entry.estimated).sum::<u64>(), context.size().estimated.0);
            prop_assert_eq!(context.regions().iter().sum::<u64>(), context.size().actual.0);
            let user = |entry: &ctxsim::context::Entry| entry.role != Role::System;
            prop_assert_eq!(context.live().map(|(_, entry)| entry).filter(user).count() as u64, context.view().message_count());
        }
    }
}
