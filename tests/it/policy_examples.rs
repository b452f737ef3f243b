//! A case worked by hand for presets of systems of autumn 2026: the context, what fires, what stays, what the summariser's request costs.

use crate::policies::{Session, calls_of, preset, run, text};
use ctxsim::sim::{EventKind, Outcome};
use ctxsim::trace::Trace;
use ctxsim::transcript::{Part, Role};

const WINDOW: u64 = 200_000;

fn replay(name: &str, trace: &Trace) -> Outcome {
    run(&preset(name, &[]), trace, WINDOW)
}

/// How many messages each compaction has taken out.
fn touched(outcome: &Outcome) -> Vec<u32> {
    outcome.events.iter().filter(|event| event.kind == EventKind::Compact).map(|event| event.touched).collect()
}

/// Prompt, cached prefix, output and calls of each summary.
fn costs(outcome: &Outcome) -> Vec<(u64, u64, u64, u64)> {
    outcome.summaries.iter().map(|summary| (summary.prompt, summary.prefix, summary.output, summary.calls)).collect()
}

/// A turn of 150,000 tokens and one of 10,000, each with a reply of 10, and what the log hides; then a short message.
fn two_turns(output: u64) -> Trace {
    let session = Session::default().user(600_000).reply(40, None).user(40_000).reply(40, Some((167_990, output)));
    session.user(4).reply(4, None).trace()
}

#[test]
fn opencode_keeps_15_000_tokens_of_turns_and_summarises_plain_text() {
    // The window less an output of 32,000. 7,980 tokens are hidden.
    assert_eq!(replay("opencode@1.18", &two_turns(9)).calls[2].actual, 167_990 + 9 + 1);
    let outcome = replay("opencode@1.18", &two_turns(10));
    // The older turn does not fit: its message goes, and its reply has room. The request has neither the system prompt nor the tools, and so
    // nothing of it is in the cache.
    assert_eq!((touched(&outcome), costs(&outcome)), (vec![1], vec![(150_000 + 500, 0, 1_500, 1)]));
    // The summary with 10 tokens around it, that reply, the newer turn, the words that ask to go on, the new message.
    assert_eq!(outcome.calls[2].actual, 7_980 + 1_510 + 10 + 10_010 + 15 + 1);
}

#[test]
fn a_summariser_with_a_request_of_its_own_reads_nothing_from_the_cache() {
    // All that was said, and an instruction: neither the 7,980 tokens that the log hides nor the cache.
    let outcome = replay("opencode@2025-12", &two_turns(11));
    assert_eq!((touched(&outcome), costs(&outcome)), (vec![5], vec![(150_010 + 10_011 + 1 + 200, 0, 1_500, 1)]));
    // The older turn.
    let outcome = replay("qwen-code@0.15", &two_turns(10));
    assert_eq!((touched(&outcome), costs(&outcome)), (vec![2], vec![(150_010 + 900, 0, 1_500, 1)]));
}

#[test]
fn kilo_summarises_a_long_head_in_pieces() {
    assert_eq!(replay("kilo@7.7", &two_turns(9)).calls[2].actual, 167_990 + 9 + 1);
    let outcome = replay("kilo@7.7", &two_turns(10));
    // Pieces of 0.6 x (200,000 - 2,048) tokens: two, each with the instruction, and one request over the two summaries.
    assert_eq!((touched(&outcome), costs(&outcome)), (vec![1], vec![(150_000 + 2 * 500 + 3_000 + 500, 0, 3 * 1_500, 3)]));
    assert_eq!(outcome.calls[2].actual, 7_980 + 1_510 + 10 + 10_010 + 15 + 1);
}

#[test]
fn pi_summarises_again_what_it_has_kept() {
    // 183,617 tokens are one more than the window less 16,384. Of the turns of 120,000, 28,000 and 15,000 the newest 20,000 begin in the second.
    let session =
        Session::default().user(480_000).reply(40, None).user(112_000).reply(40, None).user(60_000).reply(40, Some((183_607, 10)));
    let trace = session.user(4_000).reply(40, None).user(480_000).reply(40, None).trace();
    let (newer, older) = (replay("pi@0.73", &trace), replay("pi@0.58", &trace));
    assert_eq!((touched(&newer)[0], touched(&older)[0]), (2, 2));
    assert_eq!(newer.summaries[0], older.summaries[0]);
    // With a turn of 120,000 the limit is reached again. What was kept goes into the second summary, or into none before 0.63.1.
    assert_eq!((newer.summaries.len(), older.summaries.len()), (2, 2));
    assert_eq!(newer.summaries[1].prompt - older.summaries[1].prompt, 28_010 + 15_010);
    assert_eq!(newer.calls[3].actual, older.calls[3].actual);
}

/// Two messages of 40,000 tokens, each with a reply of 10, and 99,980 that the log hides; then a short message.
fn two_long_messages(output: u64) -> Trace {
    let session = Session::default().user(160_000).reply(40, None).user(160_000).reply(40, Some((179_990, output)));
    session.user(4).reply(4, None).trace()
}

#[test]
fn codex_keeps_64_000_tokens_of_what_was_said_where_the_provider_compacts() {
    assert!(replay("codex@remote-v2", &two_long_messages(9)).summaries.is_empty());
    let outcome = replay("codex@remote-v2", &two_long_messages(10));
    // The request is the history and a trigger of 5 tokens, read from the cache.
    assert_eq!((touched(&outcome), costs(&outcome)), (vec![2], vec![(180_005, 179_990, 1_500, 1)]));
    // The newer message and 24,000 tokens of the older one stay, with a mark in its midst, and an item of 1,500.
    let marker = outcome.calls[2].actual - (99_980 + 40_000 + 24_000 + 1_500 + 1);
    assert!((1..10).contains(&marker), "{marker}");
}

#[test]
fn codex_begins_a_fresh_window_under_a_token_budget() {
    let dropped = |output| calls_of(&replay("codex@token-budget", &two_long_messages(output)), EventKind::Drop);
    assert_eq!((dropped(9), dropped(10)), (vec![], vec![2]));
    let outcome = replay("codex@token-budget", &two_long_messages(10));
    assert!(outcome.summaries.is_empty());
    assert_eq!(outcome.calls[2].actual, 99_980 + 1);
}

#[test]
fn claude_code_compacts_in_a_pause_from_200_000_tokens_on() {
    let session = |output: u64, gap: i64| {
        let begun = Session::default().user(796_000).at(0).reply(40, Some((199_990, output))).at(60);
        begun.user(400).at(60 + gap).reply(40, None).at(70 + gap).trace()
    };
    let large = |output: u64, gap: i64| run(&preset("claude-code@idle", &[]), &session(output, gap), 1_000_000);
    // 55 minutes. What is put back beside files comes to 2,000 tokens, a summary to 3,000, what the log hides to 990, the new message to 100.
    let second = |output: u64, gap: i64| large(output, gap).calls[1].actual;
    assert_eq!((second(10, 3_299), second(10, 3_300)), (200_100, 990 + 3_000 + 2_000 + 100));
    assert_eq!(second(9, 3_300), 200_099);
    // The request reads the cache that is about to expire.
    assert_eq!(costs(&large(10, 3_300))[0], (200_000 + 900, 199_990, 3_000, 1));
}

#[test]
fn copilot_cli_goes_on_while_its_summary_is_made() {
    let begun = Session::default().user(600_000).step(40, Some((159_990, 10)), "t", text(0, 0));
    let steps = begun.step(40, None, "t", text(4_000, 1_000)).step(40, None, "t", text(4_000, 1_000));
    let outcome = replay("copilot-cli", &steps.reply(4, None).trace());
    // From 160,000 tokens on it is asked for, before the second call, and is there two calls later. The first instruction stays, and the step that came
    // meanwhile; a plan of 300 tokens comes.
    assert_eq!((outcome.summaries[0].call, calls_of(&outcome, EventKind::Compact), touched(&outcome)), (1, vec![3], vec![2]));
    let summary = &outcome.summaries[0];
    assert_eq!((summary.prompt, summary.prefix, summary.output), (outcome.calls[1].actual + 500, 159_990, 2_000));
}

#[test]
fn copilot_cli_leaves_a_preview_of_a_long_output() {
    // 311 characters of notice, as 78 tokens, and a preview of 500 stay, as in a recording of 27,810 bytes; one of 15,168 stayed whole there. `view` cuts by itself.
    let after = |tool: &str, bytes: u32| {
        let trace = Session::default().user(400).step(40, Some((10_000, 10)), tool, text(bytes, bytes / 4)).reply(4, None).trace();
        replay("copilot-cli", &trace).calls[1].actual - 10_010
    };
    assert_eq!([after("bash", 15_168), after("bash", 20_480)], [15_168 / 4, 20_480 / 4]);
    assert_eq!([after("bash", 20_484), after("bash", 27_810)], [203, 203]);
    assert!(after("view", 27_810) > 5_000);
}

#[test]
fn a_client_of_anthropics_may_go_on_while_the_server_compacts() {
    let begun = Session::default().user(599_556).reply(40, Some((149_989, 10)));
    let turns = (0..4).fold(begun, |session, _| session.user(4).reply(4, None));
    let outcome = replay("anthropic@background", &turns.trace());
    // The next prompt is 150,000 tokens; the block is there three calls later, and what came meanwhile stays.
    assert_eq!((outcome.summaries[0].call, calls_of(&outcome, EventKind::Compact), touched(&outcome)), (1, vec![4], vec![3]));
    assert_eq!(costs(&outcome), [(150_000 + 300, 149_989, 3_000, 1)]);
    assert_eq!(outcome.calls[4].actual, 100 + 3_000 + 3 + 3);
}

#[test]
fn crush_summarises_all_messages_in_a_request_of_its_own() {
    let replayed = |written| replay("crush", &Session::default().user(400_000).reply(40, Some((159_990, 10))).wrote(written).trace());
    // What a call writes to the cache is no part of the usage that it reads.
    assert!(replayed(1).summaries.is_empty());
    // 59,990 tokens are hidden: the summariser has a system prompt of its own, no tools, and no cache.
    assert_eq!(costs(&replayed(0)), [(100_000 + 10 + 600, 0, 2_000, 1)]);
}

#[test]
fn opencode_of_1_2_summarises_results_whole() {
    let begun = Session::default().user(400).step(40, None, "t", text(40_000, 10_000)).reply(40, Some((167_990, 10)));
    let trace = begun.user(4).reply(4, None).trace();
    let read = |cap| run(&preset("opencode@1.2", &[("summary_tool_chars", cap)]), &trace, WINDOW).summaries[0].prompt;
    // 10,000 tokens of 40,000 units, or the first 2,000 of these.
    assert_eq!(read("0") - read("2000"), 10_000 - 500);
    assert_eq!(replay("opencode@1.2", &trace).summaries[0].prompt, read("0"));
}

#[test]
fn pi_of_0_12_loses_what_a_compaction_has_kept_that_took_nothing() {
    // 185,010 tokens of a single turn: it stays, and a summary of nothing comes. At the next compaction it is behind one.
    let session = Session::default().user(740_000).reply(40, Some((185_000, 10))).user(4).reply(40, Some((185_011, 10)));
    let outcome = replay("pi@0.12", &session.user(4).reply(40, Some((185_022, 10))).trace());
    assert_eq!((costs(&outcome), touched(&outcome)), (vec![(300, 0, 1_500, 1), (1_540 + 300, 0, 1_500, 1)], vec![0, 3]));
    let sizes: Vec<u64> = outcome.calls.iter().map(|call| call.actual).collect();
    assert_eq!(sizes, [185_000, 185_011 + 1_540, 1_540 + 1 + 10 + 1]);
}

#[test]
fn cline_summarises_no_summary_alone() {
    // The newest turn is above the threshold by itself: 500,040 / 3. The older one goes once.
    let session =
        Session::default().user(300_000).reply(0, None).user(500_000).step(4, None, "t", text(4, 1)).step(4, None, "t", text(4, 1));
    let outcome = replay("cline@agentic", &session.reply(4, None).trace());
    assert_eq!((touched(&outcome), outcome.summaries.len()), (vec![2], 1));
}

#[test]
fn picoclaw_counts_the_request_that_merges_two_summaries() {
    let session = (0..12).fold(Session::default(), |session, _| session.user(4).reply(4, None));
    // Of 22 messages of a token the newest four stay. Two halves with an instruction of 60 each, and one over two summaries of 800.
    assert_eq!(costs(&replay("picoclaw", &session.trace()))[0], (18 + 3 * 60 + 2 * 800, 0, 3 * 800, 3));
}

/// Two turns of 40,000 characters, a step with a result of as many, and usage reported for it; then another step.
fn working(prompt: u64, output: u64) -> Trace {
    let session = Session::default().user(40_000).reply(40, None).user(40_000).reply(400, None);
    let session = session.step(400, Some((prompt, output)), "t", text(40_000, 10_000));
    session.reply(40, None).trace()
}

#[test]
fn kimi_cli_keeps_the_last_two_messages_and_their_results() {
    // 50,000 short of the window. The result that came since is 10,000 tokens, which only 1.28 and newer count.
    for (name, prompt, fires) in [
        ("kimi-cli@1.28", 139_990, true),
        ("kimi-cli@1.28", 139_989, false),
        ("kimi-cli@1.17", 149_989, false),
        ("kimi-cli@1.17", 149_990, true),
        ("kimi-cli@0.39", 149_989, false),
        ("kimi-cli@0.39", 149_990, true),
    ] {
        let outcome = replay(name, &working(prompt, 10));
        // Both turns go but for the last reply before the step, which is the second message from behind. Its texts are read, and an instruction.
        let expected = if fires { (vec![3], vec![(20_010 + 440, 0, 1_500, 1)]) } else { (vec![], vec![]) };
        assert_eq!((touched(&outcome), costs(&outcome)), expected, "{name} {prompt}");
    }
    // From 333,334 tokens on the share of the window lies lower.
    let large = |name, prompt| run(&preset(name, &[]), &working(prompt, 10), 1_000_000).summaries.len();
    assert_eq!((large("kimi-cli@1.17", 849_990), large("kimi-cli@0.39", 849_990)), (1, 0));
}

#[test]
fn mistral_vibe_keeps_what_the_user_said() {
    // 80 % of the window, 200,000 tokens before, by usage alone; what stays are both messages of the user.
    let said = |name, prompt, window| {
        let outcome = run(&preset(name, &[]), &working(prompt, 10), window);
        (touched(&outcome), outcome.summaries.len())
    };
    assert_eq!((said("mistral-vibe@2.26", 159_989, WINDOW), said("mistral-vibe@2.26", 159_990, WINDOW)), ((vec![], 0), (vec![4], 1)));
    assert_eq!((said("mistral-vibe@2.11", 199_989, 400_000), said("mistral-vibe@2.11", 199_990, 400_000)), ((vec![], 0), (vec![4], 1)));
    assert_eq!((said("mistral-vibe@1.1", 199_989, 400_000), said("mistral-vibe@1.1", 199_990, 400_000)), ((vec![], 0), (vec![6], 1)));
    // 60,000 below the window, the result that came since included. The step stays, and the messages of the user.
    assert_eq!((said("mistral-vibe@3", 20_000, WINDOW), said("mistral-vibe@3", 139_000, WINDOW)), ((vec![], 0), (vec![2], 1)));
}

#[test]
fn hermes_keeps_three_messages_in_front_and_the_newest() {
    // Half of a window of 1,000,000, three quarters of one of 200,000 (which is half before 0.19).
    let last = |name, prompt, window| {
        let begun = (0..12).fold(Session::default(), |session, _| session.user(4_000).reply(4_000, None));
        let session = begun.step(40, Some((prompt, 10)), "t", text(40, 10));
        touched(&run(&preset(name, &[]), &session.reply(40, None).trace(), window))
    };
    assert_eq!((last("hermes@0.19", 149_999, WINDOW), last("hermes@0.19", 499_999, 1_000_000)), (vec![], vec![]));
    assert_eq!((last("hermes@0.17", 99_999, WINDOW), last("hermes@0.13", 99_999, WINDOW)), (vec![], vec![]));
    // Of 26 messages in front of the last call three stay in front, and behind them what fits 30 % of 54,400: 60 and 29 tokens of the step, and 16 of 1,010.
    assert_eq!(last("hermes@0.19", 54_400, 64_000), vec![5]);
    // Of one turn, whose user message is among the first three, the newest eight messages stay at least, and the step before these. Of 13 messages
    // nothing goes, which was the first try: of 15 the oldest five go.
    let turn = |steps| {
        let session = (0..steps).fold(Session::default().user(400), |session, _| session.step(40, None, "t", text(40_000, 10_000)));
        touched(&run(&preset("hermes@0.19", &[]), &session.reply(40, None).trace(), 64_000))
    };
    assert_eq!((turn(6), turn(7)), (vec![], vec![5]));
}

/// So many steps after a task of 100 tokens, each with 10 tokens of text, a call of 9 and a result of 1,000.
fn plain_steps(count: usize) -> Session {
    (0..count).fold(Session::default().user(400), |session, _| session.step(40, None, "t", text(4_000, 1_000)))
}

/// The same with two calls and their results in each.
fn parallel_steps(count: usize) -> Session {
    let result = || Part::ToolResult { call_id: "c".to_owned(), name: "t".to_owned(), text: text(4_000, 1_000), error: false };
    let step = |session: Session, _| session.step(40, None, "t", text(4_000, 1_000)).push(Role::Tool, vec![result()], None);
    (0..count).fold(Session::default().user(400), step)
}

#[test]
fn vscode_copilot_summarises_in_the_background() {
    // microsoft/vscode 03d18a46, agentIntent.ts. From 80,000 of 100,000 tokens on: 3 more for each message. All that the request held goes, two calls
    // later; an instruction stands behind it in the summariser's.
    let run = |window, steps| run(&preset("vscode-copilot", &[]), &plain_steps(steps).reply(4, None).trace(), window);
    assert!(run(100_000, 78).summaries.is_empty());
    let outcome = run(100_000, 85);
    assert_eq!((outcome.summaries[0].call, calls_of(&outcome, EventKind::Compact), touched(&outcome)), (79, vec![81], vec![159]));
    assert_eq!(outcome.summaries[0].prompt, outcome.calls[79].actual + 1_200);
    // Above 9,000 of 10,000 tokens the call waits for a summary that is being made: the newest step stays, which came since it was asked for.
    let outcome = run(10_000, 9);
    assert_eq!((outcome.summaries[0].call, calls_of(&outcome, EventKind::Compact), touched(&outcome)), (8, vec![9], vec![17]));
    assert_eq!(outcome.calls[9].actual, 2_000 + 1_019);
}

#[test]
fn vscode_copilot_keeps_the_prompt_of_a_new_turn() {
    // 53 % of the limit instead of nine tenths, as the budget is met there, too. The reply and the prompt lift the request above it.
    let begun = plain_steps(5).reply(40, None).user(800);
    let session = begun.step(40, None, "t", text(40, 10)).step(40, None, "t", text(40, 10)).reply(4, None);
    let outcome = run(&preset("vscode-copilot", &[("emergency_threshold", "0.53")]), &session.trace(), 10_000);
    assert_eq!((outcome.summaries[0].call, calls_of(&outcome, EventKind::Compact), touched(&outcome)), (6, vec![8], vec![12]));
    assert_eq!(outcome.calls[8].actual, 2_000 + 200 + 2 * 29);
}

fn replay_at(name: &str, session: Session, window: u64) -> Outcome {
    run(&preset(name, &[]), &session.trace(), window)
}

#[test]
fn vscode_copilot_of_0_42_keeps_the_newest_step_or_a_turn_that_has_no_other() {
    // SummarizedConversationHistoryPropsBuilder at 31acd00a: the round that put it over the limit of 8,500 stays.
    let replayed = |session: Session| replay_at("vscode-copilot@0.42", session, 10_000);
    assert!(touched(&replayed(plain_steps(8).reply(4, None))).is_empty());
    let outcome = replayed(plain_steps(9).reply(4, None));
    assert_eq!((calls_of(&outcome, EventKind::Compact), touched(&outcome), outcome.calls[9].actual), (vec![9], vec![17], 3_019));
    assert_eq!(costs(&outcome), [(100 + 8 * 1_019 + 1_200, 0, 2_000, 1)]);
    // Of a turn of one step all stays, as a summary ends with the turn before.
    let outcome = replayed(plain_steps(8).reply(40, None).user(400).step(40, None, "t", text(4_000, 1_000)).reply(4, None));
    assert_eq!((calls_of(&outcome, EventKind::Compact), touched(&outcome), outcome.calls[10].actual), (vec![10], vec![18], 3_119));
}

#[test]
fn vscode_copilot_puts_long_outputs_of_commands_into_a_file() {
    let after = |tool: &str, bytes: u32| {
        let trace = Session::default().user(400).step(40, Some((10_000, 10)), tool, text(bytes, bytes / 4)).reply(4, None).trace();
        replay("vscode-copilot", &trace).calls[1].actual - 10_010
    };
    assert_eq!([after("run_in_terminal", 8_192), after("read_file", 27_810)], [2_048, 27_810 / 4]);
    assert!((60..110).contains(&after("run_in_terminal", 8_196)), "{}", after("run_in_terminal", 8_196));
}

/// Call, and how many messages went, of each event of this kind that took some.
fn taken(outcome: &Outcome, kind: EventKind) -> Vec<(u32, u32)> {
    let events = outcome.events.iter().filter(|event| event.kind == kind && event.touched > 0);
    events.map(|event| (event.call, event.touched)).collect()
}

#[test]
fn strands_keeps_its_window_from_a_prompt_or_a_call_on() {
    // strands-agents 1.62.0 on the same lists: of 62 messages the newest 40 begin with a result, and hold no prompt: from the call behind it on. With the
    // next turn there is a prompt, and all before it goes.
    let session = || plain_steps(30).reply(40, None).user(400).reply(40, None);
    assert_eq!(taken(&replay_at("strands@sliding-window", session(), WINDOW), EventKind::Drop), [(30, 23), (31, 39)]);
    // Before each call, too, as `per_turn=True` has it.
    let turns = |policy| taken(&run(&policy, &plain_steps(5).reply(40, None).trace(), WINDOW), EventKind::Drop);
    let each = preset("strands@sliding-window", &[("window_size", "6"), ("per_turn", "1")]);
    assert_eq!(turns(each), [(3, 1), (4, 2), (5, 2), (5, 2)]);
}

#[test]
fn strands_cuts_the_oldest_result_before_it_drops_messages() {
    // 200 characters at each end and 50 between them are 113 tokens.
    let outcome = replay_at("strands@sliding-window", plain_steps(10).reply(4, None), 10_000);
    assert_eq!((calls_of(&outcome, EventKind::Drop), outcome.totals.failed_sessions), (vec![], 0));
    assert_eq!(outcome.calls[10].actual, 100 + 10 * 19 + 9 * 1_000 + 113);
    let without = preset("strands@sliding-window", &[("should_truncate_results", "0")]);
    assert!(calls_of(&run(&without, &plain_steps(10).reply(4, None).trace(), 10_000), EventKind::Prune).is_empty());
}

#[test]
fn strands_cuts_and_drops_by_turns_as_long_as_it_is_refused() {
    // strands-agents 1.62.0 on the same lists. The oldest result is cut; once it is, the oldest two messages go, up to a call: first the prompt and a step,
    // then a step at a time. The result that is the oldest by then is whole.
    let outcome = replay_at("strands@sliding-window", plain_steps(10).reply(4, None), 5_000);
    let each = |first: u32, took: u32| (first..=10).map(|call| (call, took)).collect::<Vec<_>>();
    assert_eq!(taken(&outcome, EventKind::Prune), each(5, 1));
    assert_eq!(taken(&outcome, EventKind::Drop), [vec![(6, 3)], each(7, 2)].concat());
    assert_eq!(outcome.totals.failed_sessions, 0);
    // All results of a reply are cut together, and are one message.
    let both = |policy| run(&policy, &parallel_steps(6).reply(4, None).trace(), 9_000);
    let outcome = both(preset("strands@sliding-window", &[]));
    assert_eq!((taken(&outcome, EventKind::Prune)[0], taken(&outcome, EventKind::Drop)[0]), ((5, 2), (6, 4)));
    // Half of the eleven messages are five: the prompt and two steps.
    let outcome = both(preset("strands@summarizing", &[("summary_ratio", "0.5"), ("preserve_recent_messages", "4")]));
    assert_eq!(taken(&outcome, EventKind::Compact), [(5, 7)]);
}

#[test]
fn strands_drops_the_oldest_messages_from_a_share_of_the_window_on() {
    // No more messages than the window: the oldest two go, up to a call.
    let policy = preset("strands@sliding-window", &[("compression_threshold", "0.5")]);
    let outcome = run(&policy, &plain_steps(8).reply(4, None).trace(), 10_000);
    assert_eq!(taken(&outcome, EventKind::Drop), [(5, 3), (6, 2), (7, 2), (8, 2)]);
}

#[test]
fn strands_summarises_the_oldest_messages_after_a_refusal() {
    // strands-agents 1.62.0 on the same list: of 21 messages 30 % are 6, and the result behind the call at their end goes with it.
    let outcome = replay_at("strands@summarizing", plain_steps(10).reply(4, None), 10_000);
    assert_eq!(taken(&outcome, EventKind::Compact), [(10, 7)]);
    assert_eq!(costs(&outcome), [(100 + 3 * 1_019 + 195, 0, 800, 1)]);
    // Ten stay, however many tokens they have: nothing is left to do.
    assert_eq!(replay_at("strands@summarizing", plain_steps(4).reply(4, None), 3_000).totals.failed_sessions, 1);
}

#[test]
fn google_adk_keeps_its_newest_events_above_a_threshold() {
    // google-adk 2.13.0, `_events_to_compact_for_token_threshold` on the same events: of 17 the newest 10 begin with a call, the newest 11 with its result.
    let steps = |prompt| plain_steps(7).step(40, Some((prompt, 10)), "t", text(4_000, 1_000)).reply(4, None).trace();
    let of = |prompt, kept| run(&preset("google-adk", &[("event_retention_size", kept)]), &steps(prompt), WINDOW);
    assert_eq!(of(159_999, "10").calls[8].actual, 159_999 + 10 + 1_000);
    assert_eq!(taken(&of(160_000, "10"), EventKind::Compact), [(8, 7)]);
    assert_eq!(taken(&of(160_000, "11"), EventKind::Compact), [(8, 5)]);
    // Results are cut at 2,000 characters for the summariser, and a mark stands behind them.
    let (prompt, ..) = costs(&of(160_000, "10"))[0];
    assert!((100 + 3 * (19 + 500) + 140..100 + 3 * (19 + 520) + 140).contains(&prompt), "{prompt}");
}

#[test]
fn google_adk_sums_up_every_third_turn() {
    // google-adk 2.13.0, `_run_compaction_for_sliding_window`: all three turns go, and the earlier summary stays in front.
    let session = (0..7).fold(Session::default(), |session, _| session.user(400).reply(40, None));
    let outcome = replay_at("google-adk@sliding-window", session, WINDOW);
    assert_eq!(taken(&outcome, EventKind::Compact), [(2, 6), (5, 6)]);
    assert_eq!([outcome.calls[3].actual, outcome.calls[6].actual], [800 + 100, 2 * 800 + 100]);
}

#[test]
fn google_adk_shows_the_newest_turns_of_a_long_conversation() {
    // ContextFilterPlugin: it acts from one turn more than it keeps on.
    let session = || (0..8).fold(Session::default(), |session, _| session.user(400).reply(40, None));
    assert_eq!(taken(&replay_at("google-adk@context-filter", session(), WINDOW), EventKind::Drop), [(5, 2), (6, 4), (7, 6)]);
    let later = preset("google-adk@context-filter", &[("remove_amount", "3")]);
    assert_eq!(taken(&run(&later, &session().trace(), WINDOW), EventKind::Drop), [(7, 6)]);
}
