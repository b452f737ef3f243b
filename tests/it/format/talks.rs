use crate::support::{fixture, in_short};

fn lost(found: &[(String, u64)]) -> Vec<(&str, u64)> {
    found.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
}

#[test]
fn conversations_for_training() {
    let (transcripts, losses) = fixture("sharegpt/list.json");
    assert_eq!(lost(&losses), [("message of an unknown role", 1), ("unknown record type", 1), ("cut off at the end of the file", 1)]);
    let [first, second] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!(in_short(first), ["s: S | tools 17", "u: Hi", "a: look()", "t: look()=", "a: Done"]);
    assert_eq!((in_short(second), second.id.as_str()), (vec!["u: 你好".to_owned(), "a: 好".to_owned()], "list.json#2"));
    let (transcripts, losses) = fixture("sharegpt/lines.jsonl");
    assert_eq!(lost(&losses), [("cut off at the end of the file", 1)]);
    assert_eq!((transcripts.len(), transcripts[0].id.as_str()), (1, "talk-1"));
}

#[test]
fn talks_of_groups() {
    let (transcripts, losses) = fixture("autogen/hand.json");
    assert!(losses.is_empty());
    assert_eq!(in_short(&transcripts[0]), ["u: Find it", "a: Plan", "a: Go", "t: ComputerTerminal()="]);
    assert!(transcripts[0].messages.iter().filter_map(|message| message.call.as_ref()).all(|call| call.unchained && call.usage.is_none()));
    let (transcripts, _) = fixture("autogen/made.json");
    assert_eq!(in_short(&transcripts[0]), ["s: You check", "s: You know", "a: Task", "t: Computer_terminal()=", "*: I agree"]);
    let (transcripts, losses) = fixture("autogen/cut.json");
    assert_eq!(lost(&losses), [("cut off at the end of the file", 1)]);
    assert_eq!(in_short(&transcripts[0]), ["u: Find it", "a: Plan"]);
}

#[test]
fn talks_printed_as_one_text() {
    let (transcripts, losses) = fixture("messages-display/displayed.jsonl");
    assert_eq!(lost(&losses), [("call of a tool that was not printed", 1), ("unknown record type", 1), ("not JSON", 1)]);
    assert_eq!(in_short(&transcripts[0]), ["u: Hi\nline two", "a: ", "t: ()=", "a: Done: all"]);
}

#[test]
fn what_a_summariser_read() {
    let (transcripts, losses) = fixture("summariser/summaries.jsonl");
    assert_eq!(lost(&losses), [("cut off at the end of the file", 1)]);
    let [talk] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    // The second reading repeats the end of the first; equal messages are told apart by their places.
    assert_eq!(in_short(talk), ["s: S", "u: Task", "a: look", "t: ()=", "a: look", "t: ()=", "a: more"]);
    let facts: Vec<(usize, Option<&str>)> =
        talk.compactions.iter().map(|fact| (fact.before, fact.summary.as_ref().and_then(|summary| summary.content.as_deref()))).collect();
    assert_eq!(facts, [(6, Some("So far")), (7, Some("So far"))]);
    assert_eq!(talk.id, "task-1");
}
