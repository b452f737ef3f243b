use crate::sums::compare;
use crate::support::{claim, fixture, in_short, project, prompts, read_text};
use ctxsim::format::Claim;

const SHARE: &str = "size as a share of the window alone (not used)";

#[test]
fn a_conversation_is_pairs_of_what_was_sent_and_what_came() {
    let (transcripts, lost) = fixture("kiro-cli/conversation.json");
    assert_eq!(lost, [(SHARE.to_owned(), 4)]);
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.window), ("kiro-1", Some(200_000)));
    assert_eq!(
        in_short(session),
        [
            "u: Look",
            "a: fs_read(c1)",
            "t: fs_read(c1)!",
            "a: Again | execute_bash(c2)",
            "t: execute_bash(c2)=",
            "a: Done",
            "t: (c3)!",
            "u: Now: noon | Stop",
            "a: Stopped",
        ]
    );
    assert_eq!(prompts(session), [(0, 0), (1100, 200), (0, 0), (0, 0)]);
    let usage = session.messages[3].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.cache_read, usage.cache_write), (900, 100));
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.summary.as_ref().unwrap().content.as_deref()), (0, Some("What was before")));
    assert_eq!(session.messages[0].time, Some(1_783_571_416_195));
}

#[test]
fn a_stream_is_read_with_the_state_beside() {
    let (transcripts, lost) = fixture("kiro-cli/flat.jsonl");
    assert_eq!(lost, [("usage of a whole turn alone".to_owned(), 1), (SHARE.to_owned(), 1)]);
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.window), ("kiro-3", Some(200_000)));
    assert_eq!(in_short(session), ["u: Look", "a: Looking | ls(c1)", "t: ls(c1)=", "a: Done", "u: Thanks", "a: Bye"]);
    assert_eq!(prompts(session), [(0, 0), (0, 0), (600, 3)]);
    assert_eq!(session.messages[5].call.as_ref().unwrap().model, "auto");
    let state = project().join("tests/data/kiro-cli/flat.json");
    assert_eq!(claim(&state), Some(("kiro-cli", Claim::Companion)));
}

#[cfg(feature = "sqlite")]
#[test]
fn a_database_holds_conversations_as_values() {
    let (_folder, path) = crate::format::crush::database("kiro-cli/data.sql", "data.sqlite3");
    let (transcripts, lost) = crate::support::read_all(&path);
    assert_eq!(claim(&path), Some(("kiro-cli", Claim::Yes)));
    let lost: Vec<(&str, u64)> = lost.iter().map(|loss| (loss.reason.as_str(), loss.count)).collect();
    assert_eq!(lost, [(SHARE, 4), ("session without messages", 1), ("not JSON", 1)]);
    assert_eq!((prompts(&transcripts[0])[1], in_short(&transcripts[1]).len()), ((1100, 200), 2));
    compare("kiro-cli", &[path]);
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, mut lost) = fixture("kiro-cli/broken.json");
    lost.sort();
    let named = [("absurd usage numbers", 1), ("record of an unexpected shape", 1), (SHARE, 2)];
    assert_eq!(lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect::<Vec<_>>(), named);
    assert_eq!(in_short(&transcripts[0]), ["u: Look", "a: fs_read(c1)", "u: Next", "a: Yes"]);
    let (transcripts, mut lost) = fixture("kiro-cli/lines.jsonl");
    lost.sort();
    let named = [("cut off at the end of the file", 1), ("not JSON", 1), ("unknown content part", 1), ("unknown record type", 1)];
    assert_eq!(lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect::<Vec<_>>(), named);
    assert_eq!(in_short(&transcripts[0]), ["u: Look", "a: ok"]);
}

#[test]
fn a_conversation_without_an_id_has_the_name_of_its_file() {
    let talk = r#""history":[{"user":{"content":{"Prompt":{"prompt":"Look"}}},"assistant":{"Response":{"content":"Done"}}}]"#;
    for id in [r#""""#, r#""REDACTED""#] {
        let (transcripts, _) = read_text("talk.json", &format!(r#"{{"conversation_id":{id},{talk}}}"#));
        assert_eq!(transcripts[0].id, "talk.json");
    }
}

#[test]
fn a_session_that_was_saved_by_hand() {
    let entry = |kind: &str, id: &str, words: &str| {
        format!(r#"{{"version":"v1","kind":"{kind}","data":{{"message_id":"{id}","content":[{{"kind":"text","data":"{words}"}}]}}}}"#)
    };
    let state = r#"{"rts_model_state":{"model_info":{"model_id":"m","context_window_tokens":1000}}}"#;
    let entries = [entry("Prompt", "1", "a"), "7".to_owned(), entry("AssistantMessage", "2", "b")].join(",");
    let text = format!(
        r#"{{"format":"kiro-session-export-v1","metadata":{{"session_id":"s","session_state":{state}}},"log_entries":[{entries}]}}"#
    );
    let (sessions, lost) = read_text("save.json", &text);
    let session = &sessions[0];
    assert_eq!((session.id.as_str(), session.window, in_short(session)), ("s", Some(1000), vec!["u: a".to_owned(), "a: b".to_owned()]));
    assert_eq!(lost, [("record of an unexpected shape".to_owned(), 1)]);
}
