use crate::support::{assert_lost, claim, fixture, in_short, project, prompts};
use ctxsim::format::Claim;

#[test]
fn the_last_call_has_the_usage_that_lies_beside() {
    let (transcripts, lost) = fixture("factory-droid/droid-1.jsonl");
    assert_eq!(lost, [("usage of the session's last call alone".to_owned(), 1)]);
    let [session] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!((session.id.as_str(), session.agent.as_str()), ("droid-1", "factory-droid"));
    assert_eq!(
        in_short(session),
        [
            "*: <system-reminder>Tools</system-reminder> | <system-reminder>Date</system-reminder>",
            "u: Look",
            "a: ~4 | Read(c1) | LS(c2)",
            "t: Read(c1)!",
            "t: LS(c2)=",
            "u: Go on",
            "a: Done",
        ]
    );
    assert_eq!(prompts(session), [(0, 0), (700, 9)]);
    let last = session.messages[6].call.as_ref().unwrap();
    assert_eq!((last.model.as_str(), last.unchained, last.usage.unwrap().cache_read), ("other-1", true, 600));
    assert_eq!(session.messages[0].time, Some(1_785_261_600_000));
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.automatic, compaction.kept_from), (5, None, Some(3)));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("USER: Look"));
}

#[test]
fn totals_are_those_of_the_only_call() {
    let (transcripts, lost) = fixture("factory-droid/droid-2.jsonl");
    assert_lost(
        &lost,
        &[
            ("cut off at the end of the file", 1),
            ("message entry without a message", 1),
            ("message of an unknown role", 1),
            ("message without content", 1),
            ("not JSON", 1),
            ("unknown record type", 1),
        ],
    );
    assert_eq!(in_short(&transcripts[0]), ["u: One", "a: Two"]);
    assert_eq!(prompts(&transcripts[0]), [(100, 5)]);
    assert_eq!(transcripts[0].messages[1].call.as_ref().unwrap().usage.unwrap().reasoning, Some(2));
}

#[test]
fn settings_belong_to_their_session() {
    let data = project().join("tests/data/factory-droid");
    assert_eq!(claim(&data.join("droid-1.settings.json")), Some(("factory-droid", Claim::Companion)));
}
