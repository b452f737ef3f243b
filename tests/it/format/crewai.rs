use crate::format::crush::database;
use crate::support::{assert_lost, claim, in_short, read_all};
use ctxsim::format::Claim;

#[test]
fn a_row_is_the_conversation_of_a_task() {
    let (_folder, path) = database("crewai/tasks.sql", "latest_kickoff_task_outputs.db");
    assert_eq!(claim(&path), Some(("crewai", Claim::Yes)));
    let (transcripts, lost) = read_all(&path);
    let lost: Vec<(String, u64)> = lost.into_iter().map(|loss| (loss.reason, loss.count)).collect();
    assert_lost(&lost, &[("message of an unknown role", 1), ("record of an unexpected shape", 1), ("session without messages", 1)]);
    let [first, second] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!(first.id, "c0000000-0000-4000-8000-000000000001");
    let shown = in_short(first);
    assert_eq!(shown[..4], ["s: You read.", "u: Look", "a: list(call_1)", "t: list(call_1)="]);
    // The program says it, and it opens no turn.
    assert!(first.messages[4].synthetic && shown[5] == "a: a b", "{shown:?}");
    assert_eq!(first.messages.iter().filter(|message| message.call.is_some()).count(), 2);
    assert_eq!((first.messages[5].time, first.messages[0].time), (Some(1_777_348_808_000), None));
    assert_eq!(in_short(second), ["s: You write.", "u: Sum up", "a: Two."]);
}
