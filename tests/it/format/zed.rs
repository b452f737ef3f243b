use super::crush::database;
use crate::support::{assert_lost, claim, fixture, in_short, prompts, read_all, read_text};
use ctxsim::format::Claim;
use ctxsim::transcript::{Part, Role};

#[test]
fn a_turn_has_the_usage_of_its_last_request() {
    let (transcripts, lost) = fixture("zed/thread.json");
    assert_eq!(lost, [("usage of the whole session alone".to_owned(), 1)]);
    let session = &transcripts[0];
    let named = (session.agent.as_str(), session.parent.as_deref(), session.host.as_deref());
    assert_eq!(named, ("zed", Some("parent-1"), Some("github-copilot")));
    assert_eq!(
        in_short(session),
        [
            "u: Look at this | other fn a() {} | 0x0",
            "a: ~4 | ~3 | Looking | grep(c2) | terminal(c1)",
            "t: grep(c2)= | 0x0",
            "t: terminal(c1)!",
            "a: Half",
            "*: Continue where you left off",
            "a: Done",
            "u: More",
            "a: now(c3)",
            "t: now(c3)=",
            "a: No more",
        ]
    );
    // What was broken off is no call. Cached tokens lie beside the input.
    assert_eq!(prompts(session), [(0, 0), (730, 7), (0, 0), (410, 9)]);
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_deref()).collect();
    assert_eq!((calls[1].usage.unwrap().cache_read, calls[1].usage.unwrap().cache_write), (700, 20));
    assert_eq!(calls.iter().map(|call| call.unchained).collect::<Vec<_>>(), [false, true, true, true]);
    assert!(calls.iter().all(|call| call.model == "claude-sonnet-4-6"));
    let results: Vec<_> = session.messages.iter().filter(|message| message.role == Role::Tool).map(|message| &message.parts[0]).collect();
    assert!(matches!(results[0], Part::ToolResult { text, .. } if text.as_str() == "one\ntwo"));
    assert!(matches!(results[1], Part::ToolResult { text, .. } if text.truncated));
    // The first one was asked for: the command left an empty message. A provider's own has no words.
    let compactions: Vec<_> = session.compactions.iter().map(|event| (event.before, event.automatic, event.summary.is_some())).collect();
    assert_eq!(compactions, [(7, Some(false), true), (10, Some(true), false)]);
    assert_eq!(session.messages.iter().map(|message| message.time).next_back(), Some(Some(1_786_442_405_000)));
}

/// They say for each message what the last request took.
#[test]
fn threads_of_older_versions_have_usage_for_each_reply() {
    let (transcripts, lost) = fixture("zed/older.json");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    let said = [
        "u: fn a() {} | Look",
        "a: ~4 | ~3 | Looking | grep(c1)",
        "t: grep(c1)=",
        "a: Nothing",
        "*: Continue where you left off",
        "a: Done",
    ];
    assert_eq!(in_short(session), said);
    // A reply without a report repeats the one before.
    assert_eq!(prompts(session), [(100, 7), (0, 0), (130, 5)]);
}

#[test]
fn turns_that_share_an_id_have_its_usage_once() {
    let turn =
        |said: &str| format!(r#"{{"User":{{"id":"u","content":[{{"Text":"{said}"}}]}}}},{{"Agent":{{"content":[{{"Text":"Done"}}]}}}}"#);
    let messages = ["One", "Two", "Three"].map(turn).join(",");
    let spent = r#"{"input_tokens":1000,"output_tokens":10}"#;
    let text = format!(
        r#"{{"title":"x","messages":[{messages}],"updated_at":"2026-08-11T10:00:05Z","cumulative_token_usage":{spent},"request_token_usage":{{"u":{spent}}},"version":"0.3.0"}}"#
    );
    let (transcripts, lost) = read_text("thread.json", &text);
    assert_eq!((prompts(&transcripts[0]), lost.len()), (vec![(0, 0), (0, 0), (1000, 10)], 0));
}

#[test]
fn a_database_holds_a_document_for_each_thread() {
    let (_folder, path) = database("zed/threads.sql", "threads.db");
    assert_eq!(claim(&path), Some(("zed", Claim::Yes)));
    let (transcripts, losses) = read_all(&path);
    let told: Vec<_> = transcripts.iter().map(|session| (session.id.as_str(), session.parent.as_deref(), in_short(session))).collect();
    let expected =
        [("t1", None, vec!["u: One", "a: First"]), ("t2", Some("t1"), vec!["u: Two", "a: Second"]), ("t4", None, vec!["u: Two"])];
    assert_eq!(told, expected.map(|(id, parent, said)| (id, parent, said.into_iter().map(str::to_owned).collect())));
    assert_eq!((prompts(&transcripts[0]), prompts(&transcripts[1])), (vec![(50, 4)], vec![(50, 3)]));
    let times: Vec<_> = transcripts[0].messages.iter().map(|message| message.time).collect();
    assert_eq!(times, [Some(1_786_442_400_000), Some(1_786_442_405_000)]);
    assert_eq!(transcripts[0].project.as_ref().unwrap().folder.as_deref(), Some("/home/ada/x"));
    let lost: Vec<_> = losses.into_iter().map(|loss| (loss.reason, loss.count)).collect();
    let unread = "session whose rows cannot be read";
    assert_lost(&lost, &[("cut off at the end of the file", 1), ("row that is not text", 1), (unread, 1), ("session without messages", 1)]);
}

/// Other programs have tables of this name, and messages of these names within records of their own.
#[test]
fn what_others_wrote_is_not_claimed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE threads (id TEXT, data TEXT)").unwrap();
    assert_eq!(claim(&path), None);
    let path = folder.path().join("record.json");
    std::fs::write(&path, r#"{"schema":"x","messages":[{"User":{"id":"u","content":[{"Text":"One"}]}}]}"#).unwrap();
    assert_eq!(claim(&path), None);
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("zed/broken.json");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("record of an unexpected shape (field `tool_results`)", 1),
            ("unknown content part", 2),
            ("unknown record type", 2),
        ],
    );
    assert_eq!(in_short(&transcripts[0]), ["u: Look", "a: Done", "t: (c9)="]);
}
