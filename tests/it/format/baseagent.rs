use crate::support::{fixture, in_short, prompts};

#[test]
fn events_become_replies_and_results() {
    let (transcripts, lost) = fixture("baseagent/events.jsonl");
    let lost: Vec<(&str, u64)> = lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(lost, [("unknown record type", 1), ("cut off at the end of the file", 1)]);
    assert_eq!(transcripts[0].id, "sess_1700000000000");
    assert_eq!(in_short(&transcripts[0]), ["a: Looking | shell_command(item_2)", "t: shell_command(item_2)!", "a: Done"]);
    // 900 tokens: the second prompt shows 24 bytes, the rest is alike. Of 9 tokens of output, the first reply has 24 of 28 bytes.
    assert_eq!(prompts(&transcripts[0]), [(447, 8), (453, 1)]);
}
