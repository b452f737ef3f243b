use crate::support::{assert_lost, fixture, in_short, prompts};

#[test]
fn usage_comes_before_the_requests_for_tools_and_after_the_text() {
    let (transcripts, lost) = fixture("muse/session.jsonl");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.version.as_str(), session.host.as_deref()), ("muse-1", "0.1.0", Some("meta")));
    assert_eq!(
        in_short(session),
        [
            "u: Look",
            "s: Be good.",
            "a: ~4 | read_file(c1) | bash(c2)",
            "t: read_file(c1)!",
            "t: bash(c2)=",
            "a: bash(c3)",
            "t: bash(c3)=",
            "a: Done",
        ]
    );
    assert_eq!(prompts(session), [(100, 20), (150, 10), (170, 5)]);
    let usage = session.messages[2].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.cache_read, usage.reasoning), (60, Some(8)));
    assert_eq!(session.messages[0].time, Some(1_785_961_358_003));
}

#[test]
fn a_sub_agent_has_a_parent_and_a_request_without_a_reply_is_made_on_the_side() {
    let (transcripts, lost) = fixture("muse/muse-1/subagent/muse-3/session.jsonl");
    assert_eq!((transcripts[0].parent.as_deref(), lost), (Some("muse-1"), vec![]));
    assert_eq!((prompts(&transcripts[0]), transcripts[0].side_calls.len()), (vec![(30, 4)], 1));
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("muse/broken.jsonl");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("not JSON", 1),
            ("record of an unexpected shape", 1),
            ("record without a payload", 1),
            ("unknown record type", 2),
        ],
    );
    assert_eq!(in_short(&transcripts[0]), ["u: Hi", "a: Ho"]);
    assert_eq!(prompts(&transcripts[0]), [(0, 0)]);
}
