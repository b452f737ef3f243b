use crate::sums::compare;
use crate::support::{fixture, in_short, prompts, shared};
use ctxsim::transcript::{Transcript, Trust};

fn marks(transcript: &Transcript) -> Vec<(Trust, bool)> {
    let calls = transcript.messages.iter().filter_map(|message| message.call.as_ref());
    calls.map(|call| (call.usage.map(|usage| usage.trust).unwrap_or_default(), call.unchained)).collect()
}

fn by_start<'t>(transcripts: &'t [Transcript], start: &str) -> &'t Transcript {
    let begins = |transcript: &&Transcript| in_short(transcript).iter().any(|line| line == start);
    transcripts.iter().find(begins).unwrap_or_else(|| panic!("no session with {start}"))
}

#[test]
fn exchanges_of_several_interfaces_in_one_log() {
    let (transcripts, lost) = fixture("api-exchange/exchanges.jsonl");
    let expected = [
        ("exchange with an unknown interface", 1),
        ("absurd usage numbers", 1),
        ("request without a reply", 1),
        ("not JSON", 1),
        ("cut off at the end of the file", 1),
    ];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));

    let talk = by_start(&transcripts, "u: hello");
    let expected = ["s: Be good | tools 66", "u: hello", "a: ~4 | look(call_1)", "t: look(call_1)=", "a: done", "u: and?", "a: more"];
    assert_eq!(in_short(talk), expected);
    assert_eq!(prompts(talk), [(60, 20), (90, 5), (110, 6)]);
    // What the provider keeps is known from the log, and yet the prompt is not in the request.
    assert_eq!(marks(talk), [(Trust::Provider, false), (Trust::Provider, false), (Trust::Partial, true)]);
    let usage = talk.messages[2].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.reasoning, usage.cache_read), (Some(12), 0));
    let [compaction] = talk.compactions.as_slice() else { panic!("{:?}", talk.compactions) };
    assert_eq!((compaction.before, compaction.automatic, compaction.tokens_before), (7, Some(false), Some(130)));
    assert_eq!(compaction.call.as_ref().unwrap().usage.unwrap().output, 30);

    let searched = by_start(&transcripts, "u: search");
    assert_eq!((prompts(searched), marks(searched)), (vec![(9000, 7)], vec![(Trust::Partial, true)]));
    assert_eq!(prompts(by_start(&transcripts, "u: later")), [(0, 0)]);

    let google = by_start(&transcripts, "u: weather?");
    let expected = ["s: Be brief | tools 44", "u: weather?", "a: ~3 | look()", "t: look()=", "a: Sunny."];
    assert_eq!(in_short(google), expected);
    assert_eq!(prompts(google), [(40, 14), (60, 3)]);
    assert_eq!(marks(google), [(Trust::Provider, false), (Trust::Partial, true)]);

    // The events of a stream are put together.
    let streamed = by_start(&transcripts, "a: Hello");
    assert_eq!((in_short(streamed), prompts(streamed)), (vec!["u: hi".to_owned(), "a: Hello".to_owned()], vec![(12, 2)]));
}

#[test]
fn a_cassette_with_every_kind_of_body() {
    let (transcripts, lost) = fixture("vcr/talk.yaml");
    let expected = [("request to no model", 1), ("request without a message in response (failed call)", 1)];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    let [talk] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    let expected = ["u: Hi", "a: Hello: you", "u: Bye", "a: Bye | look(t1)", "t: look(t1)=", "a: Done"];
    assert_eq!(in_short(talk), expected);
    assert_eq!(prompts(talk), [(20, 5), (40, 17), (70, 4)]);
}

#[test]
fn a_cassette_that_breaks_off_or_swells() {
    let (transcripts, lost) = fixture("vcr/cut.yaml");
    assert_eq!(transcripts.iter().flat_map(prompts).collect::<Vec<_>>(), [(20, 5)]);
    assert_eq!(lost.first().map(|(reason, _)| reason.as_str()), Some("cut off at the end of the file"));
    let (transcripts, lost) = fixture("vcr/bomb.yaml");
    assert!(transcripts.is_empty());
    assert_eq!(lost.first().map(|(reason, _)| reason.as_str()), Some("YAML that names make far larger than it is"));
}

#[test]
fn real_cassettes_are_read_as_an_independent_parser_reads_them() {
    let Some(shared) = shared() else { return };
    compare("vcr", &crate::support::files(&shared.join("transcripts/vcr_yaml")));
}
