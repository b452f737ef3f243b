use crate::support::{fixture, in_short, prompts};
use ctxsim::transcript::Trust;

#[test]
fn copied_steps_make_no_calls_and_a_handoff_is_a_compaction() {
    let (transcripts, lost) = fixture("atif/trajectory.json");
    assert_eq!(lost, []);
    let session = &transcripts[0];
    let expected = ["s: tools 21", "u: Task", "a: Earlier", "a: ~0 | Look | bash(c1)", "t: bash(c1)= | 0x0", "a: End"];
    assert_eq!(in_short(session), expected);
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("s-1", Some("s-0")));
    assert_eq!(prompts(session), [(682, 60), (300, 5)]);
    let call = session.messages[3].call.as_ref().unwrap();
    assert_eq!((call.model.as_str(), call.usage.unwrap().cache_read, call.usage.unwrap().trust), ("gpt-4o", 100, Trust::Provider));
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.summary.as_ref().unwrap().length.bytes), (5, 20));
}

#[test]
fn what_a_mock_server_made_up_is_marked() {
    let (transcripts, lost) = fixture("atif/broken.json");
    let expected = [("cut off at the end of the file", 1), ("message of an unknown role", 1), ("absurd usage numbers", 2)];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    assert_eq!(transcripts[0].messages[1].call.as_ref().unwrap().usage.unwrap().trust, Trust::Mock);
    assert_eq!(prompts(&transcripts[0]), [(100, 5), (0, 0), (0, 0)]);
}
