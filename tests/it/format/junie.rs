use crate::support::{assert_lost, claim, fixture, in_short, project, prompts};
use ctxsim::format::Claim;

#[test]
fn requests_of_the_conversation_are_those_that_the_size_of_the_context_repeats() {
    let (transcripts, lost) = fixture("junie/session-1/events.jsonl");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.window), ("session-1", Some(1_000_000)));
    assert_eq!(
        in_short(session),
        ["u: Look", "a: ~0 | Terminal(b1)", "t: Terminal(b1)!", "a: FileChanges(b2)", "t: FileChanges(b2)=", "a: Done"]
    );
    assert_eq!(prompts(session), [(1003, 50), (1063, 20), (1093, 10)]);
    let usage = session.messages[3].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.cache_read, usage.cache_write, usage.cost_nano_usd), (1000, 60, Some(1_000_000)));
    assert_eq!(session.side_calls.iter().map(|call| call.usage.unwrap().prompt).collect::<Vec<_>>(), [300, 300, 80]);
    let index = project().join("tests/data/junie/index.jsonl");
    assert_eq!(claim(&index), Some(("junie", Claim::Companion)));
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("junie/broken.jsonl");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("event of a sub-agent", 1),
            ("not JSON", 1),
            ("size of the context that is no request's", 1),
            ("unknown kind of block", 1),
            ("unknown record type", 2),
        ],
    );
    assert_eq!(in_short(&transcripts[0]), ["u: Look", "a: Smell(b7)", "t: Smell(b7)="]);
    let (transcripts, lost) = fixture("junie/unreported.jsonl");
    assert_eq!(lost, [("requests of which no report of the context's size tells whose they are".to_owned(), 1)]);
    assert_eq!((in_short(&transcripts[0]), transcripts[0].side_calls.len()), (vec!["u: Look".to_owned(), "a: Done".to_owned()], 1));
}
