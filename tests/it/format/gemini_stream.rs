use crate::support::{assert_lost, fixture, in_short, prompts, read_text};
use ctxsim::transcript::Trust;

#[test]
fn a_run_of_one_call_has_the_usage_of_the_run() {
    let (transcripts, lost) = fixture("gemini-stream/one.jsonl");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.agent.as_str()), ("gs-1", "gemini-cli"));
    assert_eq!(in_short(session), ["u: Say hello", "a: Hello"]);
    // The thoughts are in the total alone: 960 less 900 and 20.
    assert_eq!(prompts(session), [(900, 60)]);
    let call = session.messages[1].call.as_ref().unwrap();
    let usage = call.usage.unwrap();
    // Of two models one was asked.
    assert_eq!((call.model.as_str(), usage.cache_read, usage.reasoning), ("gemini-3.8-flash", 300, Some(40)));
}

#[test]
fn a_reply_ends_at_the_first_result() {
    let (transcripts, lost) = fixture("gemini-stream/tools.jsonl");
    assert!(lost.is_empty(), "{lost:?}");
    let shown =
        ["u: Look", "a: A moment. | read_file(c1) | run_shell_command(c2)", "t: read_file(c1)!", "t: run_shell_command(c2)=", "a: Done"];
    assert_eq!(in_short(&transcripts[0]), shown);
    assert!(transcripts[0].messages.iter().filter_map(|message| message.call.as_ref()).all(|call| call.model == "gemini-3.8-flash"));
}

#[test]
fn runs_in_one_file_are_sessions_and_several_calls_share_a_sum() {
    let (transcripts, lost) = fixture("gemini-stream/two-runs.jsonl");
    assert!(lost.is_empty(), "{lost:?}");
    let ids: Vec<&str> = transcripts.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids, ["gs-3", "gs-4"]);
    assert_eq!((prompts(&transcripts[0]), prompts(&transcripts[1])), (vec![(100, 1)], vec![(245, 5), (245, 5)]));
    assert_eq!(transcripts[1].messages[1].call.as_ref().unwrap().usage.unwrap().trust, Trust::Shared);
}

#[test]
fn a_model_beside_the_runs_own_is_on_the_side() {
    let (transcripts, mut lost) = fixture("gemini-stream/beside.jsonl");
    // A listing is not printed, and where no model is the run's own, nothing tells which of two replied.
    lost.sort();
    assert_eq!(lost, [("result that is not printed".to_owned(), 1), ("usage of the whole session alone".to_owned(), 1)]);
    // The thoughts of either are in its total.
    assert_eq!(prompts(&transcripts[0]), [(700, 52)]);
    let [side] = transcripts[0].side_calls.as_slice() else { panic!("{:?}", transcripts[0].side_calls) };
    assert_eq!((side.model.as_str(), side.usage.map(|usage| (usage.prompt, usage.output))), ("gemini-3.8-flash-lite", Some((300, 58))));
    assert_eq!(in_short(&transcripts[1]), ["u: Look", "a: list_directory(c1)", "t: list_directory(c1)=", "a: Two files"]);
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("gemini-stream/broken.jsonl");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("message of an unknown role", 1),
            ("not JSON", 1),
            ("unknown record type", 1),
        ],
    );
    assert_eq!(prompts(&transcripts[0]), [(0, 0)]);
}

#[test]
fn what_a_program_asks_before_the_first_run_is_no_session() {
    let asked = r#"{"type":"message","role":"user","content":"Do it"}"#;
    let run = |id: &str| {
        let init = format!(r#"{{"type":"init","session_id":"{id}","model":"gemini-3.8-flash"}}"#);
        [init, asked.to_owned(), r#"{"type":"message","role":"assistant","content":"Done","delta":true}"#.to_owned()].join("\n")
    };
    let (transcripts, lost) = read_text("run.jsonl", &format!("{asked}\n{}\n{}", run("gs-1"), run("gs-2")));
    assert_eq!(lost, [("message before the first run".to_owned(), 1)]);
    let said: Vec<_> = transcripts.iter().map(|session| (session.id.as_str(), session.messages.len())).collect();
    assert_eq!(said, [("gs-1", 2), ("gs-2", 2)]);
    // A run whose beginning is missing has a reply.
    let cut = run("gs-0").split_once('\n').unwrap().1.to_owned();
    let (transcripts, lost) = read_text("run.jsonl", &format!("{cut}\n{}", run("gs-1")));
    assert_eq!((transcripts.len(), lost), (2, vec![]));
}
