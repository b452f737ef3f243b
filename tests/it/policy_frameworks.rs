//! Presets of frameworks whose rules turn on what stays beside the cut: an old end, a whole turn, a last message.

use crate::policies::{Session, preset, run, text};
use ctxsim::catalog::Family;
use ctxsim::experiment::protections;
use ctxsim::policy::{Facts, Policy, Take};
use ctxsim::sim::{Event, EventKind, Outcome};
use ctxsim::transcript::{Length, Lines, Part, Role, Shape, Text};

const WINDOW: u64 = 200_000;

fn replay(name: &str, settings: &[(&str, &str)], session: Session) -> Outcome {
    run(&preset(name, settings), &session.trace(), WINDOW)
}

/// So many steps with results of 1,000 tokens after a task of 500.
fn steps(count: usize) -> Session {
    (0..count).fold(Session::default().user(2_000), |session, _| session.step(80, None, "t", text(4_000, 1_000)))
}

fn events(outcome: &Outcome) -> Vec<&Event> {
    outcome.events.iter().filter(|event| event.kind != EventKind::Truncate && event.touched > 0).collect()
}

fn touched(outcome: &Outcome) -> Vec<(u32, u32)> {
    events(outcome).iter().map(|event| (event.call, event.touched)).collect()
}

fn sizes(outcome: &Outcome) -> Vec<u64> {
    outcome.calls.iter().map(|call| call.actual).collect()
}

#[test]
fn openhands_replaces_its_summary_behind_the_first_events() {
    let outcome = replay("openhands", &[("max_size", "20")], steps(30).reply(4, None));
    // The system prompt and 20 messages are 21 events. The task stays, the summary comes behind it, and of the newest seven events the
    // first is a result, which goes with its call. The next summary takes the place of this one.
    assert_eq!(touched(&outcome), [(10, 14), (16, 13), (22, 13), (28, 13)]);
    assert!(events(&outcome).iter().all(|event| event.after == 500 + 1_500 + 3 * (20 + 9 + 1_000)), "{:?}", sizes(&outcome));
}

#[test]
fn zed_leaves_a_prompt_alone_that_has_not_been_sent() {
    let session = || Session::default().user(400_000).reply(40, Some((151_190, 10)));
    // 51,190 are hidden. Of the old prompt 20,000 tokens stay; the new one of 30,000 counts for nothing there.
    let outcome = replay("zed", &[], session().user(120_000).reply(4, None));
    let parts = |new: u64| 51_190 + 20_000 + 1_514 + new;
    assert_eq!((touched(&outcome), sizes(&outcome)[1]), (vec![(1, 1)], parts(30_000)));
}

#[test]
fn a_trimmed_list_begins_with_a_whole_turn_or_is_empty() {
    let settings = [("max_tokens", "2500")];
    // A turn of two steps is 400 + 2 x (20 + 9) + 1,900 tokens.
    let system = |chars: u32| Session::default().push(Role::System, vec![Part::Text(text(chars, chars / 4))], None);
    let turn =
        |session: Session| session.user(1_600).step(80, None, "t", text(4_000, 1_000)).step(80, None, "t", text(3_600, 900)).reply(4, None);
    let newest = |chars: u32| {
        let outcome = replay("langchain@trim", &settings, turn(turn(system(chars))));
        (sizes(&outcome)[2], *sizes(&outcome).last().unwrap())
    };
    assert_eq!(newest(40), (10 + 2_358, 10 + 2_358));
    // The system message takes of the same limit: nothing else is left where the turn does not fit beside it.
    assert_eq!(newest(800), (200, 200));
    // LlamaIndex sends the last message alone.
    let outcome = replay("llamaindex@buffer", &[("token_limit", "2500")], steps(4).reply(4, None));
    assert_eq!(sizes(&outcome), [500, 1_529, 1_000, 1_000, 1_000]);
}

#[test]
fn langchain_counts_roles_calls_ids_and_names_and_no_system_prompt() {
    let steps = |session: Session, usage| {
        let step = |session: Session, usage| session.step(80, usage, "t", text(400, 100));
        step(step(step(session.user(400), None), None), usage).reply(4, None)
    };
    let prompted = || steps(Session::default().push(Role::System, vec![Part::Text(text(400, 100))], None), None);
    // The task is 3 + 404 / 4, a reply 3 + (80 + 9 + 55 and a name and an id) / 4, a result 3 + (400 + 4 and both) / 4: 104 + 3 x (40 + 105).
    let cleared = |trigger| touched(&replay("langchain@clear-tool-uses", &[("trigger", trigger), ("keep", "1")], prompted()));
    assert_eq!((cleared("538"), cleared("539")), (vec![(3, 2)], vec![]));
    let summarised = |usage, trigger| {
        let settings = [("trigger_tokens", trigger), ("keep", "2")];
        touched(&replay("langchain@summarization", &settings, steps(Session::default(), usage)))
    };
    assert_eq!((summarised(None, "539"), summarised(None, "540")), (vec![(3, 5)], vec![]));
    // A report of 500 tokens for what was taken for 434 makes 539 into 621.
    let reported = Some((480, 20));
    assert_eq!((summarised(reported, "621"), summarised(reported, "622")), (vec![(3, 5)], vec![]));
}

/// What is read was worked out by `trim_messages` and `count_tokens_approximately` of langchain-core 1.8.4, with the arguments of `_trim_messages_for_summary`.
#[test]
fn langchain_summarises_the_newest_4_000_tokens_from_a_user_s_message_on() {
    // 504 tokens by its estimate for a task of 2,000 characters, 40 for a reply, 1,005 for a result; the newest step stays.
    let step = |session: Session, usage| session.step(80, usage, "t", text(4_000, 1_000));
    let task = || (0..6).fold(Session::default().user(2_000), |session, _| step(session, None));
    let summarised = |session: Session, trigger: &str| {
        let outcome = replay("langchain@summarization", &[("keep", "2"), ("trigger_tokens", trigger)], session.reply(4, None));
        (outcome.summaries.iter().map(|summary| summary.prompt).collect::<Vec<_>>(), *sizes(&outcome).last().unwrap())
    };
    // Of one task 4,000 tokens hold no message of the user: twelve tokens of heading and twelve of the sentence stand for six steps.
    assert_eq!(summarised(step(task(), None), "7819"), (vec![], 24 + 1_029));
    // Of a second task all is read.
    let second = step(step(step(task().user(2_000), None), None), None);
    assert_eq!(summarised(second, "10413"), (vec![680 + 500 + 2 * 1_029], 12 + 800 + 1_029));
    // What was reported for the replies makes 2,613 of the 2,090 tokens of two steps: beside them a task of 1,204 has room, and none of 1,604.
    let long = |chars: u32| (0..3).fold(task().user(chars), |session, _| step(session, None));
    assert_eq!(summarised(long(4_800), "11113"), (vec![680 + 1_200 + 2 * 1_029], 12 + 800 + 1_029));
    assert_eq!(summarised(long(6_400), "11513"), (vec![], 24 + 1_029));
}

#[test]
fn openhands_default_agent_condenses_above_80_events() {
    let condensed = |name| touched(&replay(name, &[], steps(60).reply(4, None)));
    assert!(condensed("openhands").is_empty());
    // The system prompt and 80 messages. Three of these stay at the head, and of the newest 35 the first is a result, which goes with its call.
    assert_eq!(condensed("openhands@default-agent")[0], (40, 44));
}

#[test]
fn openhands_puts_the_task_back_that_it_forgot() {
    let outcome = replay("openhands@amortized", &[("max_size", "20")], steps(12).reply(4, None));
    // Of 21 messages ten stay, and the task.
    assert_eq!((touched(&outcome), events(&outcome)[0].after), (vec![(10, 10)], 500 + 5 * (20 + 9 + 1_000)));
}

#[test]
fn llamaindex_counts_no_calls() {
    for name in ["llamaindex@buffer", "llamaindex@memory"] {
        let call = Part::ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: text(800_000, 200_000) };
        let result = Part::ToolResult { call_id: "c".to_owned(), name: "t".to_owned(), text: text(40, 10), error: false };
        let session = Session::default().user(40).push(Role::Assistant, vec![call], Some(None)).push(Role::Tool, vec![result], None);
        let thought = Part::Thinking { text: text(800_000, 200_000), sealed_bytes: 0 };
        let session = session.push(Role::Assistant, vec![thought, Part::Text(text(4, 1))], Some(None)).user(4);
        assert!(touched(&replay(name, &[], session.reply(4, None))).is_empty(), "{name}");
    }
}

#[test]
fn a_preset_for_claude_counts_as_claude_does() {
    let estimator = |name: &str, family| {
        let facts = Facts { window: Some(WINDOW), family, ..Facts::default() };
        let estimator = &Policy::load(name).unwrap().plan(&facts).unwrap().estimator;
        (estimator.numerator, estimator.denominator)
    };
    for name in ["langchain", "deepagents"] {
        assert_eq!([None, Some(Family::Gpt)].map(|family| estimator(name, family)), [(1, 4); 2]);
        assert_eq!([Family::ClaudeOld, Family::ClaudeNew].map(|family| estimator(name, Some(family))), [(10, 33); 2]);
    }
}

#[test]
fn deepagents_keeps_the_last_message_however_large() {
    // A tenth of the window is 20,000.
    let session = (0..4).fold(Session::default(), |session, _| session.user(150_000));
    let session = session.step(0, None, "grep", text(100_000, 25_000)).reply(4, None);
    assert_eq!(touched(&replay("deepagents", &[], session)), [(1, 4)]);
    // Of a result of 2,000 lines of 50 characters five stay at either end.
    let given = format!("{}\n", "x".repeat(49)).repeat(2_000);
    let shape = Some(Box::new(Shape { lines: Lines::of(&given), ..Shape::default() }));
    let lines = Text { length: Length { newlines: 2_000, ..text(100_000, 0).length }, shape, ..text(100_000, 25_000) };
    let outcome = replay("deepagents", &[], Session::default().user(4).step(0, None, "t", lines).reply(4, None));
    // Five lines of the start and four of the end, 449 characters, are 113 tokens; beside them `_TOO_LARGE_TOOL_MSG` of `middleware/_message_eviction.py` (0.7.32) with an id and a path of a usual length,
    // 649 characters, and the line in the middle with its newlines, 32.
    assert_eq!(sizes(&outcome), [1, 1 + 9 + 113 + (649_u64 + 32).div_ceil(4)]);
}

/// A refusal is caught where the middleware has not summarised before the request, and not where it has.
/// Since 0.7.14 the longest reply that the client asks for is kept free, and nothing is sent that does not fit.
#[test]
fn deepagents_keeps_the_longest_reply_free() {
    // Messages of 37,502 tokens each by its estimate. 95 % of 200,000 less 64,000 are 126,000; 85 % are 170,000.
    let outcome = |name: &str, settings: &[(&str, &str)], count| {
        let session = (0..count).fold(Session::default(), |session: Session, _| session.user(150_000));
        replay(name, settings, session.reply(4, None))
    };
    let summaries = |name, settings: &[(&str, &str)]| [3, 4, 5].map(|count| outcome(name, settings, count).totals.summariser_calls);
    assert_eq!(summaries("deepagents", &[("configured_output", "64000")]), [0, 1, 1]);
    assert_eq!(summaries("deepagents", &[]), [0, 0, 1]);
    assert_eq!(summaries("deepagents@0.7.8", &[]), [0, 0, 1]);
    // What a summary leaves is one message more than the 35,000 that are left beside the reply.
    let refused = outcome("deepagents", &[("configured_output", "155000")], 2);
    assert_eq!((refused.totals.summariser_calls, refused.ended_at(), refused.totals.refused), (1, Some(0), 0));
    let claude = Facts { window: Some(WINDOW), max_output: 64_000, family: Some(Family::ClaudeNew), ..Facts::default() };
    let plan = Policy::load("deepagents").unwrap().plan(&claude).unwrap();
    assert!(plan.rule.iter().any(|rule| rule.when.as_ref().is_some_and(|when| when.levels().contains(&126_000.0))));
}

#[test]
fn deepagents_catches_no_refusal_behind_a_summary() {
    // It acts at 85,000 by its estimate, of 40,000 for each message and 20,000 for the result of 110,000, which a refusal cuts to a half.
    let totals = |name: &str, messages: u32| {
        let said = || vec![Part::Text(text(160_000, 20_000))];
        let session = (0..messages).fold(Session::default(), |session, _| session.push(Role::User, said(), None));
        let session = session.step(4, None, "t", text(80_000, 110_000)).reply(4, None);
        let totals = run(&preset(name, &[]), &session.trace(), 100_000).totals;
        (totals.overflows, totals.summariser_calls, totals.failed_sessions)
    };
    assert_eq!([1, 2].map(|messages| totals("deepagents@0.7.8", messages)), [(1, 1, 0), (1, 1, 1)]);
    // Since 0.7.14 one smaller request follows in any case.
    assert_eq!([1, 2].map(|messages| totals("deepagents", messages)), [(1, 1, 0); 2]);
}

#[test]
fn anthropic_keeps_thinking_by_replies() {
    let thought = |session: Session| {
        let part = || Part::Thinking { text: text(400, 100), sealed_bytes: 0 };
        session.push(Role::Assistant, vec![part(), part(), Part::Text(text(4, 1))], Some(None)).user(4)
    };
    let session = || thought(thought(Session::default().user(400)).reply(4, None).user(4)).reply(4, None);
    let cleared = |turns| touched(&replay("anthropic", &[("clear_thinking", "1"), ("thinking_turns", turns)], session()));
    // A reply without any counts for none.
    assert_eq!((cleared("1"), cleared("2")), (vec![(3, 2)], vec![]));
}

#[test]
fn aider_summarises_all_where_no_more_than_four_messages_would_go() {
    let exchanges = |count: usize| {
        let older = (0..count).fold(Session::default(), |session, _| session.user(400).reply(24_000 / count as u32, None));
        older.user(400).reply(10_000, None).user(4).reply(4, None)
    };
    let used = [("max_chat_history_tokens", "8192"), ("discards_summaries", "0")];
    let summarised = |count| touched(&replay("aider", &used, exchanges(count)))[0];
    assert_eq!((summarised(2), summarised(3)), ((2, 6), (3, 6)));
    // An earlier summary and the `Ok.` behind it are two of the messages: with two exchanges behind them, these six are enough.
    let later = || [36_000, 10_000, 10_000, 12_000].iter().fold(Session::default(), |session, chars| session.user(400).reply(*chars, None));
    assert_eq!(touched(&replay("aider", &used, later())), [(0, 2), (3, 6)]);
    // As it runs, it pays for a summary after each exchange above the limit, and uses none.
    let outcome = replay("aider", &used[..1], later());
    assert_eq!((outcome.totals.events_of(EventKind::Discard), outcome.totals.summariser_calls), (4, 4));
    assert!(!protections(200_000).iter().any(|protected| protected.preset == "aider"));
}

#[test]
fn cline_compacts_once_for_a_request() {
    let session = Session::default().user(400).reply(40, None).user(4);
    let session = (0..12).fold(session, |session, _| session.step(40, None, "t", text(48_000, 12_000))).reply(4, None);
    // The older turn goes, and the newest one at the next request.
    assert_eq!(
        touched(&replay("cline@3.0", &[("maxInputTokens", "180000"), ("result_units", "48000")], session))
            .iter()
            .map(|(call, _)| *call)
            .collect::<Vec<_>>(),
        [12, 13]
    );
}

#[test]
fn openhands_keeps_half_of_the_view_after_a_refusal() {
    // 150,000 are hidden. With ten results the provider refuses. The system prompt and 21 messages are a view of 22: half of it is the
    // first two events, the summary, and eight more.
    let first = Session::default().user(400).step(40, Some((150_000, 19)), "t", text(20_000, 5_000));
    let session = (1..10).fold(first, |session, _| session.step(40, None, "t", text(20_000, 5_000))).reply(4, None);
    assert_eq!(touched(&replay("openhands", &[], session)), [(10, 12)]);
}

/// `agent.py` asks for a condensation after each refusal, and `_get_forgotten_events` halves the view each time.
#[test]
fn openhands_halves_its_view_again_after_a_second_refusal() {
    // The system prompt, the task and 11 steps are a view of 24, with four results of 12,500 tokens beside 150,000. Of the newest 12 - 3 messages the
    // first is a result: the task, 14 messages gone, the summary, four steps. That is a view of 11, of which 5 - 3 stay beside the first two.
    let first = Session::default().user(400).step(40, Some((150_000, 19)), "t", text(4_000, 1_000));
    let session = (1..7).fold(first, |session, _| session.step(40, None, "t", text(4_000, 1_000)));
    let session = (7..11).fold(session, |session, _| session.step(40, None, "t", text(50_000, 12_500))).reply(4, None);
    let outcome = replay("openhands", &[], session);
    assert_eq!(touched(&outcome), [(11, 14), (11, 7)]);
    // The task and what the log does not show, a summary of 1,500, and the newest step.
    assert_eq!(*sizes(&outcome).last().unwrap(), 150_000 + 1_500 + 10 + 9 + 12_500);
}

#[test]
fn llamaindex_flushes_all_but_a_turn_that_is_too_long() {
    // A turn of 21 steps passes 21,000 tokens. The older turns go, though none of its messages is a place for a cut.
    let session = Session::default().user(400).reply(40, None).user(400).reply(40, None).user(400);
    let session = (0..21).fold(session, |session, _| session.step(40, None, "t", text(4_000, 1_000)));
    assert_eq!(touched(&replay("llamaindex@memory", &[], session.reply(4, None)))[..], [(23, 4)]);
}

#[test]
fn llamaindex_flushes_3_000_tokens_whatever_its_limit() {
    let flushed = |limit: u64| {
        let mut policy = Policy::load("llamaindex@memory").unwrap();
        policy.set("token_limit", &limit.to_string()).unwrap();
        let plan = policy.plan(&Facts { window: Some(WINDOW), ..Facts::default() }).unwrap();
        (0.7 * limit as f64 - plan.rule[0].select.tail[0].n).round()
    };
    assert_eq!([100_000, 30_000, 3_000, 2_000].map(flushed), [3_000.0, 3_000.0, 3_000.0, 1_400.0]);
}

#[test]
fn autogen_counts_roles_ids_and_the_reply() {
    let result = Part::ToolResult { call_id: "call_1".to_owned(), name: "t".to_owned(), text: text(40, 10), error: false };
    let call = Part::ToolCall { id: "call_1".to_owned(), name: "t".to_owned(), arguments: text(40, 10) };
    let session = Session::default().user(40).push(Role::Assistant, vec![call], Some(None)).push(Role::Tool, vec![result], None);
    let outcome = replay("autogen@token-limited", &[], session.reply(4, None));
    let estimated = outcome.calls.iter().map(|call| call.estimated).collect::<Vec<_>>();
    // 3 for the reply, and 3 for each message; 3 for role and source of what the user says; ids by their bytes.
    let asked = 3 + (3 + 3 + 10);
    assert_eq!(estimated, [asked, asked + (3 + 1 + 8 + 1 + 6 + 10) + (3 + 1 + 6 + 10)]);
}

/// A reply that calls a tool so many times, and the results, each a message of its own.
fn parallel(session: Session, results: usize, result: Text) -> Session {
    let result = || Part::ToolResult { call_id: "c".to_owned(), name: "t".to_owned(), text: result.clone(), error: false };
    let call = || Part::ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: Text::default() };
    let session = session.push(Role::Assistant, (0..results).map(|_| call()).collect(), Some(None));
    (0..results).fold(session, |session, _| session.push(Role::Tool, vec![result()], None))
}

#[test]
fn results_of_one_reply_count_as_one_message() {
    // Gemini CLI masks nothing of what is about to be sent, and all of it at the next request.
    let session = parallel(Session::default().user(4), 4, text(320_000, 80_000)).step(0, None, "t", text(4, 1)).reply(4, None);
    assert_eq!(touched(&run(&preset("gemini-cli", &[]), &session.trace(), 1_048_576)), [(2, 4)]);
    // AutoGen: a message, a reply, a message, a reply with two results. The newest four of these five stay, or the first and the newest three.
    let session = || parallel(Session::default().user(4).reply(4, None).user(4), 2, text(4, 1)).reply(4, None);
    assert_eq!(touched(&replay("autogen@buffered", &[("buffer_size", "4")], session())), [(2, 1)]);
    assert_eq!(touched(&replay("autogen@head-and-tail", &[("head_size", "1"), ("tail_size", "3")], session())), [(2, 1)]);
}

#[test]
fn cline_keeps_what_the_system_prompt_leaves_of_its_target() {
    // A system prompt of 36,000 characters counts 12,022 tokens. Of 18,000 it leaves three steps of some 2,000 their room, where without it nine
    // would stay.
    for name in ["cline@agentic", "cline@3.0"] {
        let system = Session::default().push(Role::System, vec![Part::Text(text(36_000, 9_000))], None).user(400);
        let session = (0..14).fold(system, |session, _| session.step(0, None, "t", text(5_940, 1_500))).reply(4, None);
        assert_eq!(touched(&run(&preset(name, &[("maxInputTokens", "36000")]), &session.trace(), 40_000)), [(10, 1 + 20 - 6)], "{name}");
    }
}

#[test]
fn cline_without_a_model_leaves_no_step_of_an_older_turn() {
    // Results of 2,000 tokens: of ten older steps eight would be enough, and all go. The answer stays.
    let older = (0..10).fold(Session::default().user(400), |session, _| session.step(0, None, "t", text(5_940, 1_500)));
    let newer = (0..8).fold(older.reply(400, None).user(400), |session, _| session.step(0, None, "t", text(5_940, 1_500)));
    let outcome = run(&preset("cline@basic", &[("maxInputTokens", "36000")]), &newer.reply(4, None).trace(), 40_000);
    assert_eq!(
        events(&outcome).iter().map(|event| (event.rule.as_str(), event.call, event.touched)).collect::<Vec<_>>(),
        [("basic", 16, 20)]
    );
    // Steps of the newest turn alone go down to the target, the oldest first.
    let steps = (0..17).fold(Session::default().user(400), |session, _| session.step(0, None, "t", text(5_940, 1_500)));
    let outcome = run(&preset("cline@basic", &[("maxInputTokens", "36000")]), &steps.reply(4, None).trace(), 40_000);
    assert_eq!(
        events(&outcome).iter().map(|event| (event.rule.as_str(), event.call, event.touched)).collect::<Vec<_>>(),
        [("basic-oldest", 16, 16)]
    );
}

#[test]
fn cline_aims_at_half_of_its_limit_only_where_the_longest_reply_is_known() {
    let target = |max_output| {
        let facts = Facts { window: Some(WINDOW), max_output, ..Facts::default() };
        preset("cline@basic", &[("maxInputTokens", "180000")]).plan(&facts).unwrap().rule.last().unwrap().select.take.clone()
    };
    // Less a digest of 400 tokens: half of 180,000, or seven tenths of the threshold.
    assert_eq!((target(32_000), target(0)), (Take::UntilRequest(89_600.0), Take::UntilRequest(113_000.0)));
}

#[test]
fn deepagents_shortens_arguments_for_one_request() {
    // Arguments of 5,000 tokens by its estimate, and of 6,000 in truth.
    let step = |session: Session| {
        let call = Part::ToolCall { id: "c".to_owned(), name: "write_file".to_owned(), arguments: text(20_000, 6_000) };
        let result = Part::ToolResult { call_id: "c".to_owned(), name: "write_file".to_owned(), text: text(40, 10), error: false };
        session.push(Role::Assistant, vec![call], Some(None)).push(Role::Tool, vec![result], None)
    };
    let session = (0..33).fold(Session::default().user(4), |session, _| step(session)).reply(4, None);
    let outcome = replay("deepagents", &[], session);
    let sizes = sizes(&outcome);
    // With 29 steps the estimate, a fifth larger for the last usage, is above 170,000. The usage of the shortened request makes it no larger,
    // so that the next one is whole again. What is left finds room in 20,000 tokens: nothing is summarised.
    let shorter: Vec<usize> = (1..sizes.len()).filter(|call| sizes[*call] < sizes[*call - 1]).collect();
    assert_eq!((shorter, touched(&outcome)), (vec![29, 31, 33], vec![]), "{sizes:?}");
}

#[test]
fn deepagents_cuts_long_messages_of_the_user_and_what_is_read() {
    let session = Session::default().user(200_000).user(200_004).step(0, None, "read_file", text(79_996, 19_999));
    let outcome = replay("deepagents", &[], session.step(0, None, "read_file", text(80_000, 40_000)).reply(4, None));
    let cuts = outcome
        .events
        .iter()
        .filter(|event| event.kind == EventKind::Truncate)
        .map(|event| (event.call, event.rule.as_str()))
        .collect::<Vec<_>>();
    assert_eq!(cuts, [(0, "evict-large-message"), (2, "read-limit")]);
    // Of the message 10,000 characters are left, of what was read 79,669, and a note.
    let sizes = sizes(&outcome);
    assert!((52_500..52_600).contains(&sizes[0]) && (39_834 + 9..40_000).contains(&(sizes[2] - sizes[1])), "{sizes:?}");
}
