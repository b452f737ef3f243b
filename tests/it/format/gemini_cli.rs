use crate::support::{fixture, in_short, prompts};

#[test]
fn a_journal_is_replayed() {
    let (transcripts, lost) = fixture("gemini-cli/journal.jsonl");
    assert_eq!(lost, []);
    let session = &transcripts[0];
    assert_eq!(
        in_short(session),
        [
            "u: One",
            "a: ~0 | Looking | read_file(t1)",
            "t: read_file(t1)=",
            "a: shell(t2)",
            "t: shell(t2)!",
            "u: Two",
            "a: Second",
            "u: Three",
            "a: Third",
            "u: Four",
            "a: Fourth",
        ]
    );
    assert_eq!(prompts(session), [(1000, 15), (1200, 20), (1104, 37), (500, 3)]);
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    // After a cancelled request, and after a change of model.
    assert_eq!(unchained, [false, true, false, true]);
    assert_eq!(session.messages[7].rewind, Some(5));
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from), (9, Some(7)));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("<state_snapshot>all</state_snapshot>"));
}
