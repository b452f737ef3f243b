use crate::support::{fixture, in_short, prompts};

#[test]
fn events_of_both_generations_become_a_session() {
    let (transcripts, lost) = fixture("deepseek-harness/session.jsonl");
    let lost: Vec<(&str, u64)> = lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(lost, [("absurd usage numbers", 1), ("unknown record type", 1), ("cut off at the end of the file", 1)]);
    let session = &transcripts[0];
    assert_eq!(
        in_short(session),
        [
            "s: Be good. | tools 54",
            "u: One",
            "a: ~0 | bash(c1)",
            "t: bash(c1)!",
            "*: The mode changed.",
            "a: Done",
            "t: bash(c1)=",
            "a: Broken"
        ]
    );
    // A call whose numbers cannot be true stays without usage.
    assert_eq!(prompts(session), [(1133, 50), (1300, 5), (0, 0)]);
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    assert_eq!(unchained, [false, true, true], "the system prompt changed, and a compaction came");
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from), (6, Some(4)));
    assert_eq!(compaction.call.as_ref().unwrap().usage.unwrap().prompt, 1200);
}
