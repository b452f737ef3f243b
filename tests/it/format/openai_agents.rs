use crate::format::crush::database;
use crate::support::{assert_lost, claim, in_short, read_all};
use ctxsim::format::Claim;

#[test]
fn rows_are_items_and_what_the_model_made_in_a_row_is_one_reply() {
    let (_folder, path) = database("openai-agents/sessions.sql", "conversations.db");
    assert_eq!(claim(&path), Some(("openai-agents", Claim::Yes)));
    let (transcripts, lost) = read_all(&path);
    let lost: Vec<(String, u64)> = lost.into_iter().map(|loss| (loss.reason, loss.count)).collect();
    assert_lost(&lost, &[("record of an unexpected shape", 2), ("session without messages", 1), ("unknown record type", 1)]);
    let [first, second] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!((first.id.as_str(), second.id.as_str()), ("user_1", "user_2"));
    let shown = in_short(first);
    assert_eq!(shown[0], "u: Weather?");
    assert!(shown[1].ends_with("weather(call_a) | weather(call_b)"), "{}", shown[1]);
    assert_eq!(shown[2..], ["t: weather(call_a)=", "t: weather(call_b)=", "a: Sun and rain."]);
    assert_eq!(first.messages.iter().filter(|message| message.call.is_some()).count(), 2);
    assert_eq!(first.messages[1].id, "rs_00000000000000000000000000000001");
    assert_eq!(first.messages[0].time, Some(1_772_555_527_000));
    // One id is written wherever a provider gives none.
    assert_eq!((in_short(second)[1].as_str(), second.messages[1].id.as_str()), ("a: Hello!", ""));
}
