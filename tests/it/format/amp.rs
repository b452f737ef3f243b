use crate::support::{assert_lost, fixture, in_short, prompts};

#[test]
fn replies_have_their_usage_and_results_say_how_the_run_went() {
    let (transcripts, lost) = fixture("amp/thread.json");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!(session.id, "T-0199aaaa-0000-7000-8000-000000000001");
    let shown = in_short(session);
    assert_eq!(shown[0], "u: Run the tests.");
    assert!(shown[1].contains("I run them.") && shown[1].contains("Bash(toolu_1)") && shown[1].ends_with("Read(toolu_2)"), "{}", shown[1]);
    assert!(shown[2].starts_with("t: Bash(toolu_1)="), "{}", shown[2]);
    assert!(shown[3].starts_with("t: Read(toolu_2)!"), "{}", shown[3]);
    assert!(shown[7].starts_with("t: oracle(toolu_3)!"), "{}", shown[7]);
    // 10 + 5,000 + 990; 8 + 5,990 + 202: what the cache gave lies beside the input.
    assert_eq!(prompts(session), [(6000, 90), (6200, 7), (7000, 20), (0, 0)]);
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_ref()).collect();
    let usage = calls[0].usage.unwrap();
    assert_eq!((usage.cache_read, usage.cache_write, calls[3].usage), (5000, 990, None));
    // Another model answers the third time.
    assert_eq!(calls.iter().map(|call| call.unchained).collect::<Vec<_>>(), [false, false, true, false]);
    assert_eq!((session.messages[0].time, session.messages[1].time), (Some(1_768_178_271_390), Some(1_768_178_275_000)));
}

#[test]
fn the_ledger_knows_what_older_replies_do_not_say() {
    let (transcripts, lost) = fixture("amp/ledger.json");
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(prompts(&transcripts[0]), [(50, 3), (100, 4)]);
    assert_eq!(transcripts[0].messages[1].call.as_ref().unwrap().model, "m");
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("amp/broken.json");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("content block of an unexpected shape", 1),
            ("cut off at the end of the file", 1),
            ("message of an unknown role", 1),
            ("message without content", 1),
            ("record of an unexpected shape", 1),
            ("unknown content part", 1),
        ],
    );
    // A message of another role may have changed the prompt.
    assert!(transcripts[0].messages[1].call.as_ref().unwrap().unchained);
}
