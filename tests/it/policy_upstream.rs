//! Presets beside the code of their systems, where an audit has found them apart: figures worked by hand from that code.

use crate::policies::{Session, calls_of, preset, run, text};
use ctxsim::sim::{EventKind, Outcome};
use ctxsim::trace::Trace;
use ctxsim::transcript::{Part, Role, Text};

fn replay(name: &str, settings: &[(&str, &str)], trace: &Trace) -> Outcome {
    run(&preset(name, settings), trace, 200_000)
}

fn touched(outcome: &Outcome, kind: EventKind) -> Vec<(u32, u32)> {
    outcome.events.iter().filter(|event| event.kind == kind).map(|event| (event.call, event.touched)).collect()
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
