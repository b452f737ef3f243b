use crate::support::{fixture, in_short, prompts, read_text};
use ctxsim::transcript::{Transcript, Trust};

/// Tokens of a prompt and of its reply.
type PromptAndReply = (u64, u64);

type Prompts = Vec<PromptAndReply>;

fn marks(transcript: &Transcript) -> Vec<(Trust, bool)> {
    let calls = transcript.messages.iter().filter_map(|message| message.call.as_ref());
    calls.map(|call| (call.usage.map(|usage| usage.trust).unwrap_or_default(), call.unchained)).collect()
}

#[test]
fn the_innermost_generations_of_a_trace_are_its_calls() {
    let (transcripts, lost) = fixture("langfuse/trace.json");
    let expected = [
        ("absurd usage numbers", 1),
        ("span around other calls (its figures are theirs)", 1),
        ("prompt that the provider keeps in part", 1),
        ("recorded prompt far smaller than what was sent", 1),
    ];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    let [first, short, google] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    let expected = ["s: tools 46", "u: Hi", "a: look(c1)", "t: look(c1)=", "a: Done", "t: (c9)=", "a: So"];
    assert_eq!(in_short(first), expected);
    // The total tells that reasoning lies beside the output.
    assert_eq!(prompts(first), [(100, 6), (120, 44), (90, 2)]);
    assert_eq!(marks(first), [(Trust::Provider, false), (Trust::Provider, false), (Trust::Partial, true)]);
    assert_eq!(first.messages[4].call.as_ref().unwrap().usage.unwrap().cost_nano_usd, Some(1_000_000));
    assert_eq!(marks(short), [(Trust::Partial, true)]);
    let last: Vec<String> = in_short(google).into_iter().map(|line| line.chars().take(24).collect()).collect();
    assert_eq!(last, ["s: Greet | tools 46", "u: hi", "a: hello()", "t: hello()=", "a: Hello"]);
    assert_eq!(prompts(google), [(0, 0), (0, 0)]);
}

#[test]
fn a_trace_that_breaks_off() {
    let (transcripts, lost) = fixture("langfuse/cut.json");
    let expected = [("cut off at the end of the file", 1), ("span around other calls (its figures are theirs)", 1)];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    assert_eq!(transcripts.iter().flat_map(prompts).collect::<Vec<_>>(), [(0, 0), (120, 44)]);
}

#[test]
fn spans_of_three_conventions() {
    let (transcripts, lost) = fixture("otlp/spans.jsonl");
    assert_eq!(lost, [("unknown record type".to_owned(), 1), ("cut off at the end of the file".to_owned(), 1)]);
    let found: Vec<(Vec<String>, Prompts)> = transcripts.iter().map(|session| (in_short(session), prompts(session))).collect();
    let expected: [(&[&str], &[PromptAndReply]); 4] = [
        (&["s: Be good", "u: Hi", "a: look(c1)", "t: look(c1)=", "a: Done"], &[(30, 4), (50, 6)]),
        (&["s: S", "u: Q", "a: look(c7)"], &[(21, 3)]),
        (&["u: Ask", "a: Say"], &[(8, 1)]),
        (&["u: Event", "a: Heard"], &[(7, 1)]),
    ];
    let expected = expected.map(|(lines, prompts)| (lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>(), prompts.to_vec()));
    assert_eq!(found, expected);
    assert_eq!(transcripts[0].messages[2].call.as_ref().unwrap().usage.unwrap().cache_read, 16);
}

#[test]
fn a_span_that_is_written_twice_is_one_call() {
    let span = |end: &str| {
        let named = r#""gen_ai.operation.name":"chat""#;
        format!(r#"{{"context":{{"trace_id":"t","span_id":"1"}},"start_time":"2026-01-01T00:00:00Z","attributes":{{{named}{end}}}}}"#)
    };
    let (begun, ended) = (span(""), span(r#","gen_ai.usage.input_tokens":7,"gen_ai.usage.output_tokens":2"#));
    for lines in [[&begun, &ended], [&ended, &begun], [&ended, &ended]] {
        let (sessions, _) = read_text("spans.jsonl", &format!("{}\n{}\n", lines[0], lines[1]));
        assert_eq!(sessions.iter().flat_map(prompts).collect::<Vec<_>>(), [(7, 2)]);
    }
}
