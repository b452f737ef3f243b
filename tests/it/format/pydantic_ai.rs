use crate::support::{assert_lost, fixture, in_short, prompts};

#[test]
fn requests_hold_what_is_new_and_responses_their_usage() {
    let (transcripts, lost) = fixture("pydantic-ai/run.json");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.host.as_deref()), ("conv-1", Some("openai")));
    let shown = in_short(session);
    assert_eq!(
        shown[..7],
        [
            "s: Answer in English.",
            "s: Be brief.",
            "u: Look",
            "a: ~4 | A moment. | find(c1) | ask(c2)",
            "t: find(c1)=",
            "t: ask(c2)!",
            "a: b",
        ]
    );
    assert!(shown[7].starts_with("u: And this? | 0x0 | "), "{}", shown[7]);
    // Nothing was prompted for the last reply: so a call without an answer is written.
    assert_eq!(prompts(session), [(500, 60), (600, 3), (0, 0)]);
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_ref()).collect();
    let usage = calls[0].usage.unwrap();
    assert_eq!((calls[0].id.as_str(), usage.cache_read, usage.reasoning), ("resp_1", 200, Some(12)));
    // Each request carries its own instructions: with others the prompt is not comparable.
    assert_eq!(calls.iter().map(|call| call.unchained).collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn older_versions_have_other_names_for_usage() {
    let (transcripts, lost) = fixture("pydantic-ai/older.json");
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!((in_short(&transcripts[0]), prompts(&transcripts[0])), (vec!["u: Hi".to_owned(), "a: Ho".to_owned()], vec![(40, 2)]));
    assert_eq!(transcripts[0].messages[1].call.as_ref().unwrap().usage.unwrap().cache_read, 16);
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("pydantic-ai/broken.jsonl");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("message of an unknown kind", 1),
            ("unknown content part", 4),
        ],
    );
    assert_eq!(prompts(&transcripts[0]), [(0, 0)]);
}
