use crate::support::{fixture, in_short, prompts, read_text};
use ctxsim::transcript::CompactionKind;

#[test]
fn a_chat_is_read_with_its_branches_and_its_compression() {
    let (transcripts, lost) = fixture("qwen-code/session.jsonl");
    let lost: Vec<(&str, u64)> = lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(
        lost,
        [
            ("record that is in the file already", 1),
            ("absurd usage numbers", 1),
            ("unknown record type", 1),
            ("cut off at the end of the file", 1),
        ]
    );
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.version.as_str(), session.window), ("qs", "0.9.0", Some(1_000_000)));
    assert_eq!(
        in_short(session),
        [
            "u: One",
            "a: ~0 | Looking | read_file(c1)",
            "t: read_file(c1)=",
            "a: Done",
            "u: Wrong",
            "a: shell(c2)",
            "t: shell(c2)!",
            "*: A task ended",
            "a: Noted",
            "u: Three | 2x3",
            "a: Third",
        ]
    );
    // Thoughts within the completion, and beside it: the total tells.
    assert_eq!(prompts(session), [(1000, 50), (1200, 50), (1300, 5), (0, 0), (500, 3)]);
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    // After a change of model, a step back, and a compression.
    assert_eq!(unchained, [false, true, false, true, true]);
    assert_eq!(session.messages[7].rewind, Some(4));
    let compaction = &session.compactions[0];
    assert_eq!((compaction.kind, compaction.before, compaction.kept_from), (CompactionKind::Compact, 9, Some(7)));
    assert_eq!((compaction.tokens_before, compaction.tokens_after), (Some(1400), Some(400)));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("<state_snapshot>all</state_snapshot>"));
    // The statistics repeat the reply's request; the one for a title stands on the side.
    assert_eq!(session.side_calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["title-1"]);
}

#[test]
fn a_sub_agent_is_a_session_of_its_own() {
    let (transcripts, _) = fixture("qwen-code/session.jsonl");
    assert_eq!((transcripts[1].id.as_str(), transcripts[1].parent.as_deref()), ("qs/explore-1", Some("qs")));
    assert_eq!(in_short(&transcripts[1]), ["u: Explore", "a: Found"]);
}

#[test]
fn a_reply_in_two_records_of_one_id_is_one_call() {
    let record = |id: &str, before: &str, kind: &str, more: &str| {
        format!(
            r#"{{"uuid":"{id}","parentUuid":{before},"sessionId":"s","timestamp":"2026-08-17T13:00:05.000Z","type":"{kind}","cwd":"/p","version":"0.21.13",{more}}}"#
        )
    };
    let thought = record("2", r#""1""#, "assistant", r#""message":{"role":"model","parts":[{"text":"Hm","thought":true}]}"#);
    let used = r#""model":"m","usageMetadata":{"promptTokenCount":12,"candidatesTokenCount":4},"message":{"role":"model","parts":[{"text":"Done"}]}"#;
    let done = record("2", r#""1""#, "assistant", used);
    let asked = record("1", "null", "user", r#""message":{"role":"user","parts":[{"text":"Go"}]}"#);
    let (transcripts, lost) = read_text("chat.jsonl", &[&asked, &thought, &thought, &done, &done].map(String::as_str).join("\n"));
    assert_eq!((prompts(&transcripts[0]), in_short(&transcripts[0]).len()), (vec![(12, 4)], 2));
    assert_eq!(transcripts[0].messages[1].parts.len(), 2);
    assert_eq!(lost, [("record that is in the file already".to_owned(), 2)]);
}
