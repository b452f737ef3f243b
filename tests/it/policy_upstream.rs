//! Presets beside the code of their systems, where an audit has found them apart: figures worked by hand from that code.

use crate::conformance::excerpt::apply;
use crate::policies::{Session, calls_of, preset, run, text};
use ctxsim::policy::{Facts, Policy};
use ctxsim::sim::{EventKind, Outcome};
use ctxsim::trace::Trace;
use ctxsim::transcript::{Part, Role, Text};

fn replay(name: &str, settings: &[(&str, &str)], trace: &Trace) -> Outcome {
    run(&preset(name, settings), trace, 200_000)
}

fn touched(outcome: &Outcome, kind: EventKind) -> Vec<(u32, u32)> {
    outcome.events.iter().filter(|event| event.kind == kind).map(|event| (event.call, event.touched)).collect()
}

/// A user and a model that speak in turns, in tokens, behind 1,000 hidden ones. Each reply tells its usage.
fn talk(tokens: &[u32]) -> Session {
    let mut prompt = 1_000;
    tokens.iter().enumerate().fold(Session::default(), |session, (place, tokens)| {
        let (size, before) = (u64::from(*tokens), prompt);
        prompt += size;
        if place % 2 == 0 { session.user(tokens * 4) } else { session.reply(tokens * 4, Some((before, size))) }
    })
}

/// Letta Code in a window of 12,000: above 9,600 it compacts, and what stays is to be less than 8,400.
fn letta_code(session: Session) -> Vec<(u32, u32)> {
    touched(&run(&Policy::load("letta-code").unwrap(), &session.trace(), 12_000), EventKind::Compact)
}

#[test]
fn letta_rounds_what_goes_and_looks_for_a_reply() {
    // Of seven messages 2.8 go: three, and the fourth is a reply. What stays is 6,000.
    assert_eq!(letta_code(talk(&[1_000, 1_000, 1_000, 1_000, 1_000, 1_000, 3_000, 1_000])), [(3, 3)]);
    // Of seven 2.8, 3.5, 4.2, 4.9 and so on: behind the fourth 9,700 would stay, behind the sixth 9,500. So everything goes.
    assert_eq!(letta_code(talk(&[100, 100, 100, 100, 100, 7_500, 2_000, 100])), [(3, 7)]);
    // Of 31 messages 12.4: from the twelfth on 11,800 stay. Then 15.5, and the sixteenth is a reply; the fourteenth is not asked.
    let long: Vec<u32> = (0..32)
        .map(|place| {
            if place == 11 {
                4_000
            } else if place == 30 {
                6_000
            } else {
                100
            }
        })
        .collect();
    assert_eq!(letta_code(talk(&long)), [(15, 15)]);
    // Of fewer than four none stays.
    assert_eq!(letta_code(talk(&[4_000, 1_000, 4_000, 100])), [(1, 3)]);
    // A reply that calls a tool stays where nothing else can: from the second message on it would be 8,550 and more.
    let calls = talk(&[100, 100, 8_350]).step(400, Some((9_550, 100)), "t", text(4, 1)).reply(4, None);
    assert_eq!(letta_code(calls), [(1, 3)]);
}

#[test]
fn letta_s_server_counts_the_system_message() {
    // Of eight messages, the system's among them, 3.2 go: the third is a user's, and the one before it the first reply.
    let step = talk(&[500, 500, 500, 500, 500]).step(2_000, Some((10_700, 101)), "t", text(2_000, 500)).reply(4, None).trace();
    // With the summary and the last reply they are nine: 3.6 go, and the message before the fifth is the second reply.
    assert_eq!(touched(&run(&Policy::load("letta").unwrap(), &step, 12_000), EventKind::Compact), [(3, 1), (3, 3)]);
}

#[test]
fn a_share_that_shrinks_is_one_of_messages() {
    let rule =
        |tail: &str| Policy::parse("p.toml", &format!("[[rule]]\nid = \"r\"\nat = \"pre_call\"\nselect = {{ {tail} }}\ndrop = {{}}\n"));
    assert!(rule("tail = [{ n = 0.5, unit = \"message_share\", shrink = { by = 0.1 } }]").is_ok());
    for wrong in [
        "tail = [{ n = 5, unit = \"messages\", shrink = { by = 0.1 } }]",
        "tail = [{ n = 0.5, unit = \"message_share\", shrink = { by = 0 } }]",
        "head = [{ n = 0.5, unit = \"message_share\", shrink = { by = 0.1 } }]",
    ] {
        let said = rule(wrong).unwrap_err().to_string();
        assert!(said.contains("`shrink` makes a `message_share`"), "{said}");
    }
}

#[test]
fn opencode_2_without_automatic_compaction_does_nothing_at_a_refusal() {
    // 25 + 150,000 + 55,000 tokens do not fit.
    let trace = Session::default().user(100).reply(600_000, None).user(220_000).reply(4, None).trace();
    let outcome = replay("opencode@2", &[("auto", "0")], &trace);
    assert_eq!((touched(&outcome, EventKind::Compact), outcome.totals.failed_sessions), (vec![], 1));
    assert_eq!(touched(&replay("opencode@2", &[], &trace), EventKind::Compact), [(1, 2)]);
}

#[test]
fn opencode_2_keeps_errors_whole() {
    let session = |first: u32, error: bool| {
        let call = Part::ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: Text::default() };
        let result = Part::ToolResult { call_id: "c".to_owned(), name: "t".to_owned(), text: text(40_000, 10_000), error };
        let begun = Session::default().user(400).reply(first, None).user(400).push(Role::Assistant, vec![call], Some(None));
        let step = begun.push(Role::Tool, vec![result], None).reply(24_000, Some((167_000, 1_000)));
        replay("opencode@2", &[], &step.user(400).reply(4, None).trace())
    };
    // A result counts 2,000 characters: everything is within 15,000 tokens, and the newest message alone stays. An error counts 10,000: what stays
    // goes back from the reply behind it to the message of its turn.
    assert_eq!([false, true].map(|error| touched(&session(400, error), EventKind::Compact)), [[(3, 6)], [(3, 2)]]);
    // Where both stay, the error stays whole, and the result as 500 tokens and a mark of 3.
    let [result, error] = [false, true].map(|error| session(60_000, error));
    assert_eq!((touched(&result, EventKind::Compact), touched(&error, EventKind::Compact)), (vec![(3, 2)], vec![(3, 2)]));
    assert_eq!(error.calls[3].actual - result.calls[3].actual, 10_000 - 503);
}

#[test]
fn qwen_code_s_summariser_reads_pending_results_and_no_pending_message() {
    // 174,300 would be sent, of which 24,000 have just been said.
    let said = Session::default().user(400).reply(1_200, Some((150_000, 300))).user(96_000).reply(4, Some((174_300, 2)));
    let outcome = replay("qwen-code", &[], &said.trace());
    assert_eq!(outcome.summaries.iter().map(|summary| (summary.prompt, summary.output)).collect::<Vec<_>>(), [(150_300 + 900, 1_500)]);
    // 186,440 would be sent, of which 2,400 are hidden and the summariser has a prompt of its own. Four results have come, of 6,000 each.
    let calls = || Part::ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: Text::default() };
    let result = || Part::ToolResult { call_id: "c".to_owned(), name: "t".to_owned(), text: text(24_000, 6_000), error: false };
    let called = Session::default().user(640_000).push(Role::Assistant, (0..4).map(|_| calls()).collect(), Some(Some((162_400, 40))));
    let answered = (0..4).fold(called, |session, _| session.push(Role::Tool, vec![result()], None)).reply(4, Some((186_440, 2)));
    let outcome = replay("qwen-code", &[], &answered.trace());
    assert_eq!(calls_of(&outcome, EventKind::Compact), [1]);
    assert_eq!(outcome.summaries.iter().map(|summary| summary.prompt).collect::<Vec<_>>(), [160_000 + 40 + 24_000 + 900]);
}

#[test]
fn qwen_code_clears_old_results_beside_whatever_has_come() {
    let read = |session: Session| session.step(4, None, "read_file", text(24_000, 6_000));
    let reads = |count| (0..count).fold(Session::default().user(4), |session, _| read(session));
    let prunes = |keep, most, session: Session| {
        let settings = [("toolResultsNumToKeep", keep), ("toolResultsTotalCharsThreshold", most)];
        touched(&replay("qwen-code", &settings, &session.reply(4, None).trace()), EventKind::Prune)
    };
    // Six results of 24,000 characters are more than 130,000. The sixth has just come: the five before it stay. With another tool's behind
    // it the first one goes.
    assert_eq!(prunes("5", "130_000", reads(6)), []);
    assert_eq!(prunes("5", "130_000", reads(6).step(4, None, "todo_write", text(8, 2))), [(7, 1)]);
    // Five of them, of which two come together: one of the three before them stays.
    let calls = || Part::ToolCall { id: "c".to_owned(), name: "read_file".to_owned(), arguments: Text::default() };
    let result = || Part::ToolResult { call_id: "c".to_owned(), name: "read_file".to_owned(), text: text(24_000, 6_000), error: false };
    let both = reads(3).push(Role::Assistant, vec![calls(), calls()], Some(None));
    let both = both.push(Role::Tool, vec![result()], None).push(Role::Tool, vec![result()], None);
    assert_eq!(prunes("1", "100_000", both), [(4, 2)]);
}

#[test]
fn cline_counts_what_stands_around_its_messages() {
    let call = Part::ToolCall { id: "toolu_01".to_owned(), name: "bash".to_owned(), arguments: text(32, 8) };
    let result = Part::ToolResult { call_id: "toolu_01".to_owned(), name: "bash".to_owned(), text: text(600, 150), error: false };
    let said = Part::Text(text(90, 20));
    let session = Session::default().user(300).push(Role::Assistant, vec![said, call], Some(None)).push(Role::Tool, vec![result], None);
    let trace = session.reply(4, None).trace();
    // Messages as `agentMessageToMessageWithMetadata` gives them, with model and usage of a recorded reply.
    let frame = |id: &str, role: &str, content: &str, more: &str| {
        format!(r#"{{"id":"{id}","role":"{role}","content":[{content}],"ts":1780701724628{more}}}"#)
    };
    let words = |count: usize| format!(r#"{{"type":"text","text":"{}"}}"#, "x".repeat(count));
    let used = r#","modelInfo":{"id":"deepseek/deepseek-v4-flash","provider":"cline"},"metrics":{"inputTokens":5875,"outputTokens":112,"cacheReadTokens":0,"cacheWriteTokens":0,"cost":0.00085386}"#;
    let called = r#"{"type":"tool_use","id":"toolu_01","name":"bash","input":{"command":"12345678901234567"}}"#;
    let returned = format!(r#"{{"type":"tool_result","tool_use_id":"toolu_01","name":"bash","content":"{}"}}"#, "x".repeat(600));
    let messages = [
        frame("msg_mq1jtwb8_1", "user", &words(300), ""),
        frame("msg_xEGl9BVs", "assistant", &format!("{},{called}", words(90)), used),
        frame("msg_0cAszvHI", "user", &returned, ""),
    ];
    let tokens = |count: usize| messages[..count].join(",").len().div_ceil(3) as u64;
    for name in ["cline@agentic", "cline@basic", "cline@3.0"] {
        let estimated: Vec<u64> = replay(name, &[], &trace).calls.iter().map(|call| call.estimated).collect();
        assert!(estimated[0].abs_diff(tokens(1)) <= 1 && estimated[1].abs_diff(tokens(3)) <= 1, "{name}: {estimated:?}, {}", tokens(3));
    }
}

/// A reply that reasons and calls a tool, and what the tool returns.
fn reasoned(session: Session, result: Text) -> Session {
    let call = Part::ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: Text::default() };
    let result = Part::ToolResult { call_id: "c".to_owned(), name: "t".to_owned(), text: result, error: false };
    let thought = Part::Thinking { text: text(40, 10), sealed_bytes: 0 };
    session.push(Role::Assistant, vec![thought, call], Some(None)).push(Role::Tool, vec![result], None)
}

#[test]
fn openhands_cuts_within_no_loop_that_began_with_thinking() {
    let steps = |session: Session, count: usize| (0..count).fold(session, |session, _| session.step(4, None, "t", text(400, 100)));
    let condensed = |session: Session| {
        let outcome = replay("openhands@default-agent", &[], &session.reply(4, None).trace());
        touched(&outcome, EventKind::Compact)
    };
    let begun = || Session::default().user(4);
    // One loop up to the end: no place behind the first four events is left for a cut, and nothing goes.
    assert_eq!(condensed(steps(reasoned(begun(), text(400, 100)), 59)), []);
    // Without reasoning what lies between the third message and the newest 34 goes, a result with its call.
    assert_eq!(condensed(steps(begun(), 40)), [(40, 44)]);
    // Each of these loops is a call with its result.
    assert_eq!(condensed((0..40).fold(begun(), |session, _| reasoned(session, text(400, 100)))), [(40, 44)]);
    // A loop of 40 messages, an answer and a question: what goes begins behind the loop. Six and eight are less than a tenth.
    let asked = |first: Session| steps(first, 19).reply(4, None).user(4);
    assert_eq!(condensed(steps(asked(reasoned(begun(), text(400, 100))), 21)), [(42, 10)]);
    assert_eq!(condensed(steps(asked(steps(begun(), 1)), 21)), [(40, 44)]);
    // By tokens: the loop goes as a whole, or nothing does, and the condenser starts anew with a summary of everything.
    let by_tokens = |first: &str, session: Session| {
        let outcome = replay("openhands@default-agent", &[("max_tokens", "3000"), ("keep_first", first)], &session.reply(4, None).trace());
        let acts = outcome.events.iter().filter(|event| event.touched > 0);
        acts.map(|event| (event.rule.as_str().to_owned(), event.call, event.touched)).collect::<Vec<_>>()
    };
    // A step is estimated at 108 tokens: with 28 of them it is more than 3,000, and 15 would be enough.
    let loops = steps(reasoned(begun().reply(4, None).user(4), text(400, 100)), 19).reply(4, None).user(4);
    assert_eq!(by_tokens("2", steps(loops, 8)), [("tokens".to_owned(), 30, 42)]);
    let one = || steps(reasoned(begun(), text(400, 100)), 27);
    assert_eq!(by_tokens("2", one()), [("tokens".to_owned(), 28, 56)]);
    assert_eq!(by_tokens("4", one()), [("hard-reset".to_owned(), 28, 57)]);
}

#[test]
fn autogen_counts_neither_the_system_prompt_nor_tools() {
    // 4,000 tokens of a system prompt and 16 messages of 300 tokens, each with 4 to 6 more.
    let system = Session::default().push(Role::System, vec![Part::Text(text(16_000, 4_000))], None);
    let trace = (0..8).fold(system, |session, _| session.user(1_200).reply(1_200, None)).trace();
    let dropped = |limit: &str| touched(&replay("autogen@token-limited", &[("token_limit", limit)], &trace), EventKind::Drop);
    assert_eq!(dropped("5000"), []);
    // The last request has 15 messages: 8 x 306 + 7 x 304 + 3.
    assert_eq!((dropped("4579"), dropped("4578")), (vec![], vec![(7, 1)]));
}

#[test]
fn autogen_s_head_loses_results_at_its_end() {
    let called = Session::default().user(4).step(4, None, "t", text(4_000, 1_000));
    let trace = (0..6).fold(called, |session, _| session.reply(4, None).user(4)).reply(4, None).trace();
    // Two messages at the head, of which one calls; ten at the end.
    assert_eq!(touched(&replay("autogen@head-and-tail", &[], &trace), EventKind::Drop), [(6, 1), (7, 3)]);
}

#[test]
fn vercel_takes_the_results_of_one_reply_for_one_message() {
    let call = || Part::ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments: Text::default() };
    let result = || Part::ToolResult { call_id: "c".to_owned(), name: "t".to_owned(), text: text(4_000, 1_000), error: false };
    let called = Session::default().user(80).push(Role::Assistant, (0..4).map(|_| call()).collect(), Some(None));
    let results = (0..4).fold(called, |session, _| session.push(Role::Tool, vec![result()], None));
    let outcome = replay("vercel-ai", &[], &results.reply(4, None).user(4).reply(4, None).trace());
    // The reply, 9 tokens for each call, and its results are the newest two messages; then the answer and the question are.
    assert_eq!(outcome.calls.iter().map(|call| call.actual).collect::<Vec<_>>(), [20, 20 + 4 * 9 + 4_000, 20 + 1 + 1]);
}

#[test]
fn mini_swe_agent_says_all_that_its_template_says() {
    let plan = Policy::load("mini-swe-agent").unwrap().plan(&Facts::default()).unwrap();
    let limits = plan.rule[0].truncate.as_ref().unwrap();
    // default.yaml as Jinja renders it, behind the exit code.
    let rendered = |head: &str, elided: usize, tail: &str| {
        format!(
            "<warning>\nThe output of your last command was too long.\nPlease try a different command that produces less output.\n\
             If you're looking at a file you can try use head, tail or sed to view a smaller number of lines selectively.\n\
             If you're using grep or find and it produced too much output, you can use a more selective search pattern.\n\
             If you really need to see something from the full command's output, you can redirect output to a file and then search in that \
             file.\n</warning><output_head>\n{head}\n</output_head>\n<elided_chars>\n{elided} characters elided\n</elided_chars>\n\
             <output_tail>\n{tail}\n</output_tail>"
        )
    };
    assert_eq!(apply(limits, &"x".repeat(9_999)), None);
    for count in [10_000, 10_001, 123_456] {
        let output = ["a".repeat(count / 2), "b".repeat(count - count / 2)].concat();
        let (found, expected) = (apply(limits, &output).unwrap(), rendered(&output[..5_000], count - 10_000, &output[count - 5_000..]));
        assert_eq!(found.len(), expected.len());
        // Only the last tag stands elsewhere.
        let tag = "\n</output_tail>";
        assert_eq!(found.replacen(tag, "", 1), expected.replacen(tag, "", 1));
    }
}
