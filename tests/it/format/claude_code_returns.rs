use crate::support::read_text;
use ctxsim::transcript::{Message, Part, Transcript};
use serde_json::{Value, json};

/// A record of this type and id that hangs on another.
fn record(kind: &str, id: &str, parent: Option<&str>, more: Value) -> Value {
    let mut record = json!({"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s1", "version": "2.1.81"});
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn asks(id: &str, parent: Option<&str>, text: &str) -> Value {
    record("user", id, parent, json!({"message": {"role": "user", "content": text}}))
}

/// A reply to so large a prompt, which calls a tool that is named like it.
fn calls(id: &str, parent: &str, prompt: u64) -> Value {
    let content = json!([{"type": "tool_use", "id": format!("call of {id}"), "name": "Read", "input": {}}]);
    reply(id, parent, prompt, content)
}

fn says(id: &str, parent: &str, prompt: u64) -> Value {
    reply(id, parent, prompt, json!([{"type": "text", "text": id}]))
}

fn reply(id: &str, parent: &str, prompt: u64, content: Value) -> Value {
    let message = json!({"id": format!("msg {id}"), "model": "claude-sonnet-4-6", "role": "assistant", "content": content,
        "usage": {"input_tokens": prompt, "output_tokens": 60}});
    record("assistant", id, Some(parent), json!({"message": message}))
}

fn result(id: &str, parent: &str) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": format!("call of {parent}"), "content": id}]);
    record("user", id, Some(parent), json!({"message": {"role": "user", "content": content}}))
}

fn progress(id: &str, parent: &str, kind: &str) -> Value {
    record("progress", id, Some(parent), json!({"data": {"type": kind, "hookName": "PostToolUse:Read"}}))
}

fn read(records: &[Value]) -> Transcript {
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    let (mut transcripts, lost) = read_text("s1.jsonl", &text);
    // What progress records of sub-agents mirror is left out, and counted.
    assert!(lost.iter().all(|(reason, _)| reason.starts_with("sub-agent traffic mirrored")), "{lost:?}");
    assert_eq!(transcripts.len(), 1);
    transcripts.remove(0)
}

/// The messages that go back, and those that are shown again: their place, what they say, where to, of which message.
fn returns(transcript: &Transcript) -> Vec<(usize, String, Option<usize>, Option<usize>)> {
    let said = |message: &Message| match &message.parts[0] {
        Part::Text(text) => text.content.as_deref().unwrap().to_owned(),
        other => format!("{other:?}"),
    };
    let back = transcript.messages.iter().enumerate().filter(|(_, message)| message.rewind.or(message.copy_of).is_some());
    back.map(|(place, message)| (place, said(message), message.rewind, message.copy_of)).collect()
}

/// Three calls; hooks of the first are written behind them all, and the next message of the person hangs on these.
fn over_progress(kind: &str) -> Vec<Value> {
    vec![
        asks("u1", None, "begin"),
        calls("r1", "u1", 10_000),
        result("x1", "r1"),
        calls("r2", "x1", 12_000),
        result("x2", "r2"),
        says("r3", "x2", 40_000),
        progress("p1", "r1", kind),
        progress("p2", "p1", kind),
        record("system", "h1", Some("p2"), json!({"subtype": "stop_hook_summary"})),
        asks("u2", Some("h1"), "go on"),
        says("r4", "u2", 41_000),
    ]
}

#[test]
fn a_message_that_hangs_on_progress_goes_back_where_the_file_is_loaded() {
    for kind in ["hook_progress", "agent_progress"] {
        let mut records = over_progress(kind);
        assert_eq!(returns(&read(&records)), []);
        // What the next prompts hold is in the context, whatever the records hang on.
        records.extend([asks("u3", Some("r4"), "and on"), says("r5", "u3", 42_000)]);
        assert_eq!(returns(&read(&records)), []);
        // Loaded, the conversation is u1 r1 x1 u2 r4 r5: the result hangs on the reply beside the chain.
        records.extend([
            asks("u4", Some("r5"), "resumed"),
            says("r6", "u4", 15_000),
            asks("u5", Some("r6"), "more"),
            says("r7", "u5", 16_000),
        ]);
        let transcript = read(&records);
        let again = |place, said: &str, rewind, of| (place, said.to_owned(), rewind, Some(of));
        let expected = [
            again(11, "go on", Some(3), 6),
            again(12, "r4", None, 7),
            again(13, "and on", None, 8),
            again(14, "r5", None, 9),
            again(15, "resumed", None, 10),
        ];
        assert_eq!(returns(&transcript), expected);
        assert_eq!(transcript.messages.iter().filter(|message| message.call.is_some()).count(), 7);
    }
}

#[test]
fn a_smaller_prompt_in_the_middle_of_a_turn_is_no_resume() {
    let mut records = over_progress("hook_progress");
    records.extend([asks("u3", Some("r4"), "and on"), calls("r5", "u3", 42_000), result("x5", "r5"), says("r6", "x5", 15_000)]);
    assert_eq!(returns(&read(&records)), []);
    // Behind a compaction nothing of it is there to be lost.
    let boundary = record(
        "system",
        "b1",
        None,
        json!({"subtype": "compact_boundary", "logicalParentUuid": "r4", "compactMetadata": {"trigger": "auto"}}),
    );
    let summary = record("user", "s1", Some("b1"), json!({"isCompactSummary": true, "message": {"role": "user", "content": "so far"}}));
    let mut records = over_progress("hook_progress");
    records.extend([boundary, summary, asks("u3", Some("s1"), "and on"), says("r5", "u3", 9_000)]);
    assert_eq!(returns(&read(&records)), []);
}

#[test]
fn the_next_prompt_says_whether_a_branch_was_left() {
    let forked = |prompt: u64, text: &str| {
        let mut records = over_progress("hook_progress");
        records.truncate(6);
        records.extend([
            asks("u2", Some("x1"), text),
            says("r4", "u2", prompt),
            asks("u3", Some("r4"), "more"),
            says("r5", "u3", prompt + 100),
        ]);
        returns(&read(&records))
    };
    let left = |text: &str| [(6, text.to_owned(), Some(3), None)];
    assert_eq!(forked(12_500, "otherwise"), left("otherwise"));
    // 28,060 tokens were said since the branch: a prompt that has not shrunk holds them.
    assert_eq!(forked(40_000, "otherwise"), []);
    assert_eq!(forked(39_999, "otherwise"), left("otherwise"));
    // Unless the new message is as large as what it replaces.
    let pasted = "word ".repeat(20_000);
    assert_eq!(forked(40_000, &pasted), left(&pasted));
}

#[test]
fn a_message_that_hangs_on_the_start_of_a_cleared_conversation_begins_anew() {
    let mut records = over_progress("hook_progress");
    records.truncate(6);
    let cleared = record("progress", "p1", None, json!({"data": {"type": "hook_progress", "hookName": "SessionStart:clear"}}));
    records.extend([cleared, progress("p2", "p1", "hook_progress"), asks("u2", Some("p2"), "anew"), says("r4", "u2", 9_000)]);
    assert_eq!(returns(&read(&records)), [(6, "anew".to_owned(), Some(0), None)]);
}

/// Two programs that have resumed one session write into its file by turns: each goes on where it was, with all that it had said.
#[test]
fn a_message_that_goes_on_from_the_end_of_a_branch_brings_the_branch_back() {
    let records = [
        asks("u1", None, "begin"),
        says("r1", "u1", 10_000),
        asks("u2", Some("r1"), "one"),
        says("r2", "u2", 12_000),
        asks("u3", Some("r1"), "other"),
        says("r3", "u3", 10_500),
        asks("u4", Some("r2"), "one goes on"),
        says("r4", "u4", 12_500),
        asks("u5", Some("r3"), "other goes on"),
        says("r5", "u5", 11_000),
    ];
    let again = |place, said: &str, rewind, of| (place, said.to_owned(), rewind, of);
    let expected = [
        again(4, "other", Some(2), None),
        again(6, "one", Some(4), Some(2)),
        again(7, "r2", None, Some(3)),
        again(10, "other", Some(6), Some(4)),
        again(11, "r3", None, Some(5)),
    ];
    assert_eq!(returns(&read(&records)), expected);
}
