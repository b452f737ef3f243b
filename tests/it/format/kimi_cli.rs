use crate::support::{fixture, in_short, prompts};

#[test]
fn only_sizes_next_to_a_reply_are_its_usage() {
    let (transcripts, lost) = fixture("kimi-cli/s1/context.jsonl");
    let lost: Vec<(&str, u64)> = lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(lost, [("absurd usage numbers", 1), ("unknown record type", 1), ("cut off at the end of the file", 1)]);
    let session = &transcripts[0];
    assert_eq!(session.id, "s1");
    assert_eq!(
        in_short(session),
        [
            "s: Be good.",
            "*: <system>CHECKPOINT 0</system>",
            "u: One",
            "a: ~4 | Looking | Shell(c1)",
            "t: Shell(c1)! | 2x3",
            "a: without a measurement",
            "t: Shell(c1)=",
            "a: Done",
        ]
    );
    assert_eq!(prompts(session), [(1000, 50), (0, 0), (0, 0)]);
    assert_eq!(fixture("kimi-cli/context_1.jsonl").0[0].id, "kimi-cli/context_1.jsonl");
}
