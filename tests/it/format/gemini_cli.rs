use crate::support::{fixture, in_short, prompts, read_text};
use crate::truth::corpus;
use ctxsim::catalog::Catalog;

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
