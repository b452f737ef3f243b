use crate::support::{claim, fixture, in_short, project, prompts};
use ctxsim::format::{Claim, Source, sniff};
use ctxsim::transcript::Part;
use std::path::Path;

#[test]
fn what_was_shown_goes_together_with_what_the_model_read() {
    let (transcripts, lost) = fixture("grok-cli/sessions/%2Fx/grok-1/updates.jsonl");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!(session.id, "grok-1");
    assert_eq!(
        in_short(session),
        [
            "s: You are Grok.",
            "u: <user_query>\nLook\n</user_query>",
            "*: <system-reminder>Skills</system-reminder>",
            "a: ~0 | A moment | read_file(c1) | run(c2)",
            "t: read_file(c1)=",
            "t: run(c2)!",
            "a: Done",
            "u: More",
            "a: Bye",
        ]
    );
    let texts: Vec<_> = session.messages.iter().flat_map(|message| &message.parts).collect();
    let results = texts.iter().filter_map(|part| if let Part::ToolResult { text, .. } = part { text.content.as_deref() } else { None });
    assert_eq!(results.collect::<Vec<_>>(), ["none at all", "denied"]);
    assert_eq!(prompts(session), [(1200, 90), (1400, 30), (1500, 10)]);
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_ref()).collect();
    assert_eq!(
        calls.iter().map(|call| (&*call.model, call.unchained)).collect::<Vec<_>>(),
        [("grok-x", false), ("grok-x", false), ("grok-y", true)]
    );
    let usage = calls[1].usage.unwrap();
    assert_eq!((usage.cache_read, usage.reasoning), (1200, Some(0)));
    assert_eq!(session.messages[1].time, Some(1_783_555_342_100));
}

#[test]
fn requests_without_as_many_replies_are_made_on_the_side() {
    let (transcripts, lost) = fixture("grok-cli/sessions/%2Fy/grok-2/updates.jsonl");
    assert_eq!(lost, [("requests that cannot be told from which reply they are".to_owned(), 1)]);
    assert_eq!((prompts(&transcripts[0]), transcripts[0].side_calls.len()), (vec![(0, 0)], 2));
}

#[test]
fn a_history_is_read_alone_where_it_lies_alone() {
    let data = project().join("tests/data/grok-cli");
    assert_eq!(claim(&data.join("sessions/%2Fx/grok-1/chat_history.jsonl")), Some(("grok-cli", Claim::Companion)));
    assert_eq!(claim(&data.join("logs/unified.jsonl")), Some(("grok-cli", Claim::Companion)));
    let (transcripts, lost) = fixture("grok-cli/sessions/%2Fz/grok-3/chat_history.jsonl");
    let session = &transcripts[0];
    assert_eq!(session.id, "grok-3");
    assert_eq!(in_short(session)[3..], ["a: ~0 | A moment | read_file(c1)", "t: read_file(c1)=", "a: Done"]);
    assert_eq!(session.messages[5].call.as_ref().unwrap().model, "grok-y");
    let lost: Vec<&str> = lost.iter().map(|(reason, _)| reason.as_str()).collect();
    assert_eq!(lost, ["absurd usage numbers", "requests that cannot be told from which reply they are"]);
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, mut lost) = fixture("grok-cli/broken.jsonl");
    lost.sort();
    let named = [("cut off at the end of the file", 1), ("not JSON", 1), ("unknown content part", 1), ("unknown record type", 1)];
    assert_eq!(lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect::<Vec<_>>(), named);
    assert_eq!(in_short(&transcripts[0]), ["u: Hi", "a: Ho"]);
}

/// Any agent of the Agent Client Protocol prints such updates.
#[test]
fn updates_of_another_agent_are_not_those_of_grok() {
    let line = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}}}}"#;
    let source = Source::from_reader(Path::new("stdout.jsonl"), Box::new(std::io::Cursor::new(line))).unwrap();
    assert!(sniff(&source).is_none());
}
