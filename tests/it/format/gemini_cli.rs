use crate::support::{fixture, in_short, prompts, read_text};
use crate::truth::corpus;
use ctxsim::catalog::Catalog;
use ctxsim::transcript::{CompactionKind, Part, Transcript};
use serde_json::{Value, json};

#[test]
fn a_journal_is_replayed() {
    let (transcripts, lost) = fixture("gemini-cli/journal.jsonl");
    assert_eq!(lost, []);
    let session = &transcripts[0];
    assert_eq!(
        in_short(session),
        [
            "u: One",
            "a: ~0 | Looking | read_file(t1)",
            "t: read_file(t1)=",
            "a: shell(t2)",
            "t: shell(t2)!",
            "u: Two",
            "a: Second",
            "u: Three",
            "a: Third",
            "u: Four",
            "a: Fourth",
        ]
    );
    assert_eq!(prompts(session), [(1000, 15), (1200, 20), (1104, 37), (500, 3)]);
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    // After a cancelled request, and after a change of model.
    assert_eq!(unchained, [false, true, false, true]);
    assert_eq!(session.messages[7].rewind, Some(5));
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from), (9, Some(7)));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("<state_snapshot>all</state_snapshot>"));
}

/// `/rewind` takes messages back and writes the list that is left, here without what the program had put in front.
#[test]
fn a_list_without_a_new_message_is_a_way_back() {
    let said = |id: &str, text: &str| {
        format!(r#"{{"id":"{id}","timestamp":"2026-06-12T10:55:45Z","type":"user","content":[{{"text":"{text}"}}]}}"#)
    };
    let reply = |id: &str, text: &str, input: u64| {
        let tokens = format!(r#"{{"input":{input},"output":1,"cached":0,"thoughts":0,"tool":0,"total":{}}}"#, input + 1);
        format!(
            r#"{{"id":"{id}","timestamp":"2026-06-12T10:55:46Z","type":"gemini","content":"{text}","tokens":{tokens},"model":"gemini-3-pro"}}"#
        )
    };
    let log = [
        r#"{"sessionId":"g","projectHash":"0","startTime":"2026-06-12T10:55:16Z","kind":"main"}"#.to_owned(),
        format!(r#"{{"$set":{{"messages":[{}]}}}}"#, said("u0", "Context")),
        said("u1", "One"),
        reply("a1", "First", 900),
        said("u2", "Two"),
        reply("a2", "Second", 950),
        r#"{"$rewindTo":"u2"}"#.to_owned(),
        format!(r#"{{"$set":{{"messages":[{},{}]}}}}"#, said("u1", "One"), reply("a1", "First", 900)),
        said("u3", "Three"),
        reply("a3", "Third", 500),
    ];
    let (transcripts, lost) = read_text("session-1.jsonl", &log.join("\n"));
    let session = &transcripts[0];
    let texts = ["u: Context", "u: One", "a: First", "u: Two", "a: Second", "u: One", "a: First", "u: Three", "a: Third"];
    assert_eq!((in_short(session), lost), (texts.map(str::to_owned).to_vec(), vec![]));
    assert_eq!((prompts(session), session.compactions.len()), (vec![(900, 1), (950, 1), (500, 1)], 0));
    assert_eq!((session.messages[5].rewind, session.messages[5].copy_of, session.messages[6].copy_of), (Some(0), Some(1), Some(2)));
}

#[test]
fn a_count_of_no_cached_tokens_is_a_count() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("session-1.json");
    let reply = r#"{"id":"a","type":"gemini","content":"Ho","tokens":{"input":900,"output":1,"cached":0,"thoughts":0,"tool":0,"total":901},"model":"gemini-3-pro"}"#;
    let asked = r#"{"id":"u","type":"user","content":"Hi"}"#;
    std::fs::write(
        &log,
        format!(r#"{{"sessionId":"g","projectHash":"0","startTime":"2026-06-12T10:55:16Z","messages":[{asked},{reply}]}}"#),
    )
    .unwrap();
    assert!(corpus(&Catalog::builtin().unwrap(), &[&log]).traces.each().all(|trace| trace.tells_of_cache()));
}

/// A request that was answered is a call, whether its usage was reported or not.
#[test]
fn a_reply_with_a_tool_that_ran_is_a_call_without_usage() {
    let none = r#"{"input":0,"output":0,"cached":0,"thoughts":0,"tool":0,"total":0}"#;
    let reply = |id: &str, content: &str, status: &str| {
        let calls = format!(r#"[{{"id":"t{id}","name":"shell","args":{{}},"status":"{status}"}}]"#);
        let calls = if status.is_empty() { "[]".to_owned() } else { calls };
        format!(r#"{{"id":"{id}","type":"gemini","content":"{content}","tokens":{none},"toolCalls":{calls},"model":"gemini-3-pro"}}"#)
    };
    let asked = r#"{"id":"u","type":"user","content":"Hi"}"#;
    let called = |reply: String| {
        let head = r#""sessionId":"g","projectHash":"0","startTime":"2026-06-12T10:55:16Z""#;
        let (transcripts, lost) = read_text("session-1.json", &format!(r#"{{{head},"messages":[{asked},{reply}]}}"#));
        assert_eq!(lost, []);
        prompts(&transcripts[0]) == [(0, 0)]
    };
    assert!(called(reply("a", "", "success")));
    assert!(called(reply("a", "", "error")));
    assert!(called(reply("a", "Ho", "")));
    assert!(called(reply("a", "Ho", "cancelled")));
    assert!(!called(reply("a", "", "cancelled")));
    assert!(!called(reply("a", "", "")));
    // A notice on the screen parts a reply in two entries.
    let used = r#"{"input":90,"output":7,"cached":0,"thoughts":0,"tool":0,"total":97}"#;
    let first = reply("a", "I remove it", "").replace(none, used);
    let notice = r#"{"id":"n","type":"info","content":"Update available"}"#;
    assert!(!called(format!("{first},{notice},{}", reply("b", "", "success"))));
    let head = r#"{"sessionId":"g","projectHash":"0","startTime":"2026-06-12T10:55:16Z","messages""#;
    let (transcripts, _) = read_text("session-1.json", &format!("{head}:[{asked},{first},{notice},{}]}}", reply("b", "", "success")));
    assert_eq!(prompts(&transcripts[0]), [(90, 7)]);
}

/// A journal of the 2026 kind, which the agent writes as it goes on.
#[derive(Default)]
struct Journal(Vec<Value>);

impl Journal {
    fn begun() -> Journal {
        let head = json!({"sessionId": "g", "projectHash": "0", "startTime": "2026-08-20T10:00:00Z", "kind": "main"});
        Journal(vec![head, json!({"$set": {"messages": [said("c", "<session_context>here</session_context>")]}})])
    }

    fn add(&mut self, records: impl IntoIterator<Item = Value>) -> &mut Journal {
        self.0.extend(records);
        self
    }

    fn set(&mut self, messages: &[Value]) -> &mut Journal {
        self.add([json!({"$set": {"messages": messages}})])
    }

    fn read(&self) -> Transcript {
        let log: Vec<String> = self.0.iter().map(Value::to_string).collect();
        let (mut transcripts, lost) = read_text("session-1.jsonl", &log.join("\n"));
        assert_eq!((transcripts.len(), lost), (1, vec![]));
        transcripts.remove(0)
    }
}

fn turn(id: &str, kind: &str, content: Value) -> Value {
    json!({"id": id, "timestamp": "2026-08-20T10:00:00Z", "type": kind, "content": content})
}

fn said(id: &str, text: &str) -> Value {
    turn(id, "user", json!([{"text": text}]))
}

/// What a tool returned, as the agent sends it.
fn answer(call: &str, output: &str) -> Value {
    json!([{"functionResponse": {"id": call, "name": "run", "response": {"output": output}}}])
}

/// A reply; with a result, its tool ran.
fn reply(id: &str, text: &str, input: u64, ran: Option<(&str, &str)>) -> Value {
    let mut reply = turn(id, "gemini", json!(text));
    reply["model"] = json!("gemini-3-flash");
    reply["thoughts"] = json!([]);
    reply["tokens"] = json!({"input": input, "output": 1, "cached": 0, "thoughts": 0, "tool": 0, "total": input + 1});
    if let Some((call, output)) = ran {
        reply["toolCalls"] = json!([{"id": call, "name": "run", "args": {}, "status": "success", "result": answer(call, output)}]);
    }
    reply
}

/// A turn of the model's as the agent's history has it, written again under a new id.
fn again(id: &str, text: &str, call: Option<&str>) -> Value {
    let call = call.map(|call| json!({"functionCall": {"id": call, "name": "run", "args": {}}, "thoughtSignature": "x"}));
    let words = (!text.is_empty()).then(|| json!({"text": text}));
    let mut turn = turn(id, "gemini", words.into_iter().chain(call).collect());
    (turn["thoughts"], turn["tokens"]) = (json!([]), Value::Null);
    turn
}

/// Two calls of tools, and what they returned: beside the call, and as a turn of the user's.
fn two_tools() -> Journal {
    let mut journal = Journal::begun();
    journal.add([
        said("u1", "One"),
        reply("a1", "", 1000, None),
        reply("a1", "", 1000, Some(("t1", "first"))),
        turn("f1", "user", answer("t1", "first")),
        reply("a2", "Now", 2000, Some(("t2", "second"))),
        turn("f2", "user", answer("t2", "second")),
        reply("a3", "Done", 3000, None),
    ]);
    journal
}

const TWO_TOOLS: [&str; 7] =
    ["u: <session_context>here</session_context>", "u: One", "a: run(t1)", "t: run(t1)=", "a: Now | run(t2)", "t: run(t2)=", "a: Done"];

#[test]
fn what_a_tool_returned_is_there_once() {
    assert_eq!(in_short(&two_tools().read()), TWO_TOOLS);
    // What was said beside it stays, and so do results of which nothing else is left.
    let mut journal = two_tools();
    let beside = answer("t2", "second").as_array().unwrap().iter().cloned().chain([json!({"text": "Faster"})]).collect();
    journal.add([turn("f3", "user", beside), turn("f4", "user", answer("t9", "lost"))]);
    assert_eq!(in_short(&journal.read())[7..], ["u: Faster", "t: run(t9)="]);
}

/// The masking of results sets the whole history: each turn is written again under a new id, and a list of them follows.
#[test]
fn a_masking_is_a_pruning_and_no_call() {
    let masked = answer("t1", "<tool_output_masked>\nfir\n</tool_output_masked>");
    let turns = [
        said("m0", "<session_context>here</session_context>"),
        said("m1", "One"),
        again("m2", "", Some("t1")),
        turn("m3", "user", masked.clone()),
        again("m4", "Now", Some("t2")),
        turn("m5", "user", answer("t2", "second")),
        again("m6", " Done\n", None),
    ];
    let mut journal = two_tools();
    journal.add(turns.clone()).set(&turns).add([said("u2", "Two"), reply("a4", "Fine", 1500, None)]);
    // An aborted turn is taken back by a list: the masked result is none that changed.
    let list: Vec<Value> = turns.iter().cloned().chain([said("u2", "Two"), again("a4", "Fine", None)]).collect();
    journal.add([said("u3", "No")]).set(&list).add([said("u4", "Four"), reply("a5", "Well", 1600, None)]);
    let session = journal.read();
    let texts: Vec<&str> = TWO_TOOLS.into_iter().chain(["u: Two", "a: Fine", "u: No", "u: Four", "a: Well"]).collect();
    assert_eq!(in_short(&session), texts);
    assert_eq!(prompts(&session), [(1000, 1), (2000, 1), (3000, 1), (1500, 1), (1600, 1)]);
    let [pruned] = session.compactions.as_slice() else { panic!("{:?}", session.compactions) };
    assert_eq!((pruned.kind, pruned.before, pruned.taken.as_slice()), (CompactionKind::Prune, 7, &[(3, 0)][..]));
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    assert_eq!(unchained, [false, false, false, true, false]);
    assert_eq!(session.messages[10].rewind, Some(9));
}

/// A picture that a tool read follows its result, behind a reply that the agent puts in the model's mouth.
#[test]
fn a_picture_that_a_tool_read_is_no_call() {
    let thought = json!([{"text": "Binary content received.", "thought": true, "thoughtSignature": "skip_thought_signature_validator"}]);
    let mut put_in = turn("b1", "gemini", thought);
    (put_in["thoughts"], put_in["tokens"]) = (json!([]), Value::Null);
    let picture = json!([{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]);
    let result =
        json!([{"functionResponse": {"id": "t1", "name": "run", "response": {"output": "Read", "__binary_injection__": picture}}}]);
    let mut asked = reply("a1", "", 1000, Some(("t1", "")));
    asked["toolCalls"][0]["result"] = result.clone();
    let mut journal = Journal::begun();
    journal.add([said("u1", "Look"), asked, turn("f1", "user", result), put_in, turn("b2", "info", picture)]);
    journal.add([turn("i1", "info", json!("Update available")), reply("a2", "I see", 1500, None)]);
    let session = journal.read();
    assert_eq!(prompts(&session), [(1000, 1), (1500, 1)]);
    assert_eq!(session.messages[3].parts[0].text().unwrap().content.as_deref(), Some("Read"));
    assert!(session.messages[4].synthetic && matches!(session.messages[4].parts.as_slice(), [Part::Image(_)]));
    assert_eq!(session.messages.len(), 6);
}

/// A compression gives every turn a new id, and begins its list with the surroundings.
#[test]
fn a_compression_under_new_ids_is_one() {
    let mut list = vec![
        said("n0", "<session_context>there</session_context>"),
        said("n1", "<state_snapshot>all</state_snapshot>"),
        again("n2", "Got it. Thanks for the additional context!", None),
        said("n3", "Two"),
        again("n4", "Fine", Some("t3")),
        turn("n5", "user", answer("t3", "third")),
        again("n6", "So", None),
    ];
    let mut journal = two_tools();
    journal.add([said("u2", "Two"), reply("a4", "Fine", 4000, Some(("t3", "third"))), turn("f3", "user", answer("t3", "third"))]);
    journal.add([reply("a5", "So", 4500, None)]).set(&list);
    journal.add([said("u3", "Three"), reply("a6", "Yes", 900, None), said("u4", "No")]);
    list.extend([said("u3", "Three"), reply("a6", "Yes", 900, None)]);
    journal.set(&list).add([said("u5", "Five"), reply("a7", "Well", 950, None)]);
    let session = journal.read();
    let texts = ["u: Two", "a: Fine | run(t3)", "t: run(t3)=", "a: So", "u: Three", "a: Yes", "u: No", "u: Five", "a: Well"];
    assert_eq!(in_short(&session), TWO_TOOLS.into_iter().chain(texts).collect::<Vec<_>>());
    let [made] = session.compactions.as_slice() else { panic!("{:?}", session.compactions) };
    assert_eq!((made.kind, made.before, made.kept_from), (CompactionKind::Compact, 11, Some(7)));
    assert_eq!(made.summary.as_ref().unwrap().content.as_deref(), Some("<state_snapshot>all</state_snapshot>"));
    assert_eq!(session.messages[14].rewind, Some(13));
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    assert_eq!(unchained, [false, false, false, false, false, true, false]);
}

/// The agent notes a compression of its own as a line on the screen. A list of the new history, where the journal has one, is the same compression.
#[test]
fn a_compression_that_a_line_notes_is_one() {
    let note = |id: &str, text: &str| turn(id, "info", json!(text));
    let older = "IMPORTANT: This conversation exceeded the compress threshold. A compressed context will be sent for future messages \
                 (compressed from: 3000 to 400 tokens).";
    let noted = |journal: &Journal| -> Vec<(usize, Option<bool>, Option<u64>, bool)> {
        let events = journal.read().compactions;
        assert!(events.iter().all(|event| event.kind == CompactionKind::Compact && event.tokens_after.is_none()));
        events.iter().map(|event| (event.before, event.automatic, event.tokens_before, event.behind_gap)).collect()
    };
    // A share of the window, rounded, is no size. Behind a size above the last recorded prompt the log lacks a call.
    let mut journal = two_tools();
    journal.add([note("n1", "Context compressed from 68% to 3%."), said("u2", "Two"), reply("a4", "Fine", 1500, None)]);
    journal.add([note("n2", older), reply("a5", "So", 900, None), note("n3", "Context compressed from memory to disk.")]);
    let events = [(7, Some(true), None, false), (9, Some(true), Some(3000), true)];
    assert_eq!(noted(&journal), events);
    let calls = journal.read();
    let unchained: Vec<bool> = calls.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    assert_eq!(unchained, [false, false, false, true, true]);
    // A list that names the lines again has no further ones; it shows what it has not said yet in its place.
    let list = |older: &str| {
        let first = [said("c", "<session_context>here</session_context>"), said("u1", "One")];
        let lines = [reply("a6", "Well", 3000, None), note("n4", older), said("u3", "Three"), reply("a7", "Yes", 700, None)];
        first.into_iter().chain(lines).collect::<Vec<Value>>()
    };
    let mut journal = Journal::begun();
    journal.set(&list(older)).add([said("u4", "Four")]).set(&list(older)).add([said("u5", "Five"), reply("a8", "So", 800, None)]);
    assert_eq!(noted(&journal), [(3, Some(true), Some(3000), false)]);
    // The agent sets the new history before it notes the compression.
    let mut journal = two_tools();
    journal.set(&[said("n0", "<session_context>there</session_context>"), said("n1", "<state_snapshot>all</state_snapshot>")]);
    journal.add([note("n5", older), said("u2", "Two"), reply("a4", "Fine", 900, None)]);
    assert_eq!(noted(&journal), [(7, Some(true), Some(3000), false)]);
}
