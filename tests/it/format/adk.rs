use crate::support::{assert_lost, fixture, in_short, prompts};
use ctxsim::transcript::{Part, Role};

#[test]
fn events_become_replies_results_and_a_summary() {
    let (transcripts, lost) = fixture("adk/session.json");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!(session.id, "adk-1");
    assert_eq!(
        in_short(session),
        ["u: Look", "a: ~0 | find(adk-c1) | ask(adk-c2)", "t: find(adk-c1)=", "t: ask(adk-c2)!", "a: Done", "u: More", "a: No more",]
    );
    // Thoughts lie beside the candidates; a piece of a streamed reply is no call.
    assert_eq!(prompts(session), [(700, 50), (400, 5), (410, 7)]);
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_ref()).collect();
    assert_eq!((calls[0].usage.unwrap().cache_read, calls[0].model.as_str()), (200, "gemini-3.8-flash"));
    // Another agent has other instructions; what follows a summary is no continuation either.
    assert_eq!(calls.iter().map(|call| call.unchained).collect::<Vec<_>>(), [false, true, true]);
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from), (5, Some(4)));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("They looked."));
    assert_eq!(session.messages[0].time, Some(1_790_000_000_500));
}

#[test]
fn keys_may_be_written_with_underscores() {
    let (transcripts, lost) = fixture("adk/events.json");
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(in_short(&transcripts[0]), ["u: Hi", "a: now(f1)", "t: now(f1)=", "a: Noon"]);
    assert_eq!(prompts(&transcripts[0]), [(50, 4), (60, 2)]);
    let result = transcripts[0].messages.iter().find(|message| message.role == Role::Tool).unwrap();
    assert!(matches!(&result.parts[0], Part::ToolResult { text, .. } if text.content.as_deref() == Some("noon")));
}

/// Lists that a server's `/run` answers with have no message of the user.
#[test]
fn a_thought_may_have_no_text_and_an_agent_of_code_no_usage() {
    let (transcripts, lost) = fixture("adk/thought.json");
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(in_short(&transcripts[0]), ["a: [1, 2]", "a: Both are small."]);
    assert_eq!(prompts(&transcripts[0]), [(0, 0), (120, 35)]);
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("adk/broken.jsonl");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("pieces of a reply whose whole is missing", 1),
            ("step back to an earlier run (not taken)", 1),
            ("unknown content part", 1),
        ],
    );
    assert_eq!(prompts(&transcripts[0]), [(0, 0)]);
}
