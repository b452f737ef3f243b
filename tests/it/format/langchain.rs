use crate::support::{assert_lost, fixture, in_short, prompts};

#[test]
fn messages_are_unwrapped_and_calls_counted_once() {
    let (transcripts, lost) = fixture("langchain/dict.json");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    // The provider's own block repeats the first call.
    let shown = ["s: Be good.", "u: Look", "a: A moment. | find(c1) | ask(c2)", "t: find(c1)=", "t: ask(c2)!", "a: ~0 | b"];
    assert_eq!(in_short(session), shown);
    // LangChain's words go before the provider's, which count cached tokens beside the others.
    assert_eq!(prompts(session), [(500, 30), (560, 9)]);
    let call = session.messages[2].call.as_ref().unwrap();
    assert_eq!((call.usage.unwrap().cache_read, call.model.as_str()), (400, "claude-sonnet-5-5"));
}

#[test]
fn dumped_messages_and_states_of_graphs_are_read() {
    let (transcripts, lost) = fixture("langchain/dumped.json");
    assert!(lost.is_empty(), "{lost:?}");
    // What middleware puts in is said in the person's name.
    assert_eq!(in_short(&transcripts[0]), ["*: What was said so far: a.", "u: Add", "a: add(t1)", "t: add(t1)="]);
    assert_eq!(prompts(&transcripts[0]), [(80, 7)]);
    let (transcripts, lost) = fixture("langchain/state.json");
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!((in_short(&transcripts[0]), prompts(&transcripts[0])), (vec!["u: Hi".to_owned(), "a: Ho".to_owned()], vec![(30, 12)]));
    assert_eq!(transcripts[0].messages[1].call.as_ref().unwrap().usage.unwrap().reasoning, Some(10));
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("langchain/broken.jsonl");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("message of an unknown role", 1),
            ("record of an unexpected shape", 1),
            ("unknown content part", 1),
        ],
    );
    assert_eq!(prompts(&transcripts[0]), [(0, 0)]);
}
