use crate::support::{fixture, in_short, prompts};

#[cfg(feature = "sqlite")]
#[test]
fn a_database_tells_what_was_compacted() {
    let (_folder, path) = crate::format::crush::database("goose/sessions.sql", "sessions.db");
    let (transcripts, lost) = crate::support::read_all(&path);
    let lost: Vec<(&str, u64)> = lost.iter().map(|loss| (loss.reason.as_str(), loss.count)).collect();
    assert_eq!(lost, [("usage of the whole session and of its last call alone", 1)]);
    // The one call of a session is its sum.
    assert_eq!(prompts(&transcripts[0]), [(300, 20)]);
    assert_eq!((transcripts[0].window, transcripts[0].messages[1].call.as_ref().unwrap().model.as_str()), (Some(400_000), "gpt-5"));
    let session = &transcripts[1];
    assert_eq!(
        in_short(session),
        [
            "u: One",
            "a: ~4 | developer__shell(c1)",
            "t: developer__shell(c1)=",
            "a: Done",
            "a: Your context was compacted.",
            "u: Two",
            "a: (c2)",
            "t: (c2)!",
        ]
    );
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from), (4, Some(4)));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("All so far"));
    assert!(session.messages[4].call.is_none(), "put in by the program");
    assert!(session.messages[6].call.as_ref().unwrap().unchained);
    assert_eq!(session.messages[0].time, Some(1_759_312_800_000));
}

#[test]
fn older_sessions_are_lines() {
    let (transcripts, lost) = fixture("goose/older.jsonl");
    let lost: Vec<(&str, u64)> = lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(
        lost,
        [("unknown content part", 1), ("cut off at the end of the file", 1), ("usage of the whole session and of its last call alone", 1)]
    );
    assert_eq!(transcripts[0].id, "older");
    assert_eq!(in_short(&transcripts[0]), ["u: One", "a: shell(c1)", "t: shell(c1)= | 2x3", "a: Done"]);
}
