use crate::support::{ctxsim, fixture, in_short, project, prompts, read_all};
use ctxsim::transcript::{Call, Transcript};
use serde_json::json;
use std::fs;

#[test]
fn only_sizes_next_to_a_reply_are_its_usage() {
    let (transcripts, lost) = fixture("kimi-cli/s1/context.jsonl");
    let lost: Vec<(&str, u64)> = lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(lost, [("absurd usage numbers", 1), ("unknown record type", 1), ("cut off at the end of the file", 1)]);
    let session = &transcripts[0];
    assert_eq!(session.id, "s1");
    assert_eq!(
        in_short(session),
        [
            "s: Be good.",
            "*: <system>CHECKPOINT 0</system>",
            "u: One",
            "a: ~4 | Looking | Shell(c1)",
            "t: Shell(c1)! | 2x3",
            "a: without a measurement",
            "t: Shell(c1)=",
            "a: Done",
        ]
    );
    assert_eq!(prompts(session), [(1000, 50), (0, 0), (0, 0)]);
    assert_eq!(fixture("kimi-cli/context_1.jsonl").0[0].id, "kimi-cli/context_1.jsonl");
}

/// Cache reads and writes of the recorded calls of the conversation, and when each was answered.
fn cached(session: &Transcript) -> Vec<(u64, u64, Option<i64>)> {
    let replies = session.messages.iter().filter_map(|message| Some((message.call.as_ref()?.usage?, message.time)));
    replies.map(|(usage, time)| (usage.cache_read, usage.cache_write, time)).collect()
}

/// The short end of a call's id.
fn name(call: &Call) -> &str {
    call.id.trim_start_matches("chatcmpl-0000000")
}

fn aside(calls: &[Call]) -> Vec<(&str, u64, u64)> {
    calls.iter().map(|call| (name(call), call.usage.unwrap().prompt, call.usage.unwrap().cache_read)).collect()
}

#[test]
fn the_wire_beside_has_cache_time_and_window_and_what_was_interrupted() {
    let (transcripts, lost) = fixture("kimi-cli/s2/context.jsonl");
    assert_eq!(lost, [("absurd usage numbers".to_owned(), 1)]);
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.parent.as_deref(), session.window), ("s2", None, Some(200_000)));
    assert_eq!(prompts(session), [(1000, 50), (1200, 10), (1300, 4)]);
    let at = |seconds: i64| Some(1_772_000_000_250 + 1000 * seconds);
    assert_eq!(cached(session), [(0, 0, at(1)), (960, 40, at(3)), (1280, 0, at(5))]);
    // The first prompt of 1,300 tokens was interrupted behind its answer; the last request stands in no context.
    assert_eq!(aside(&session.side_calls), [("m3", 1300, 1200), ("m5", 1320, 1280)]);
    assert_eq!(aside(&session.mirrored), [("s1", 400, 256), ("s2", 456, 256)]);
    let calls = session.messages.iter().filter_map(|message| message.call.as_deref());
    assert_eq!(calls.map(name).collect::<Vec<_>>(), ["m1", "m2", "m4"]);
}

#[test]
fn contexts_of_sub_agents_have_their_sessions_for_parents() {
    let (transcripts, lost) = fixture("kimi-cli/s2/context_sub_1.jsonl");
    assert_eq!(lost, [("absurd usage numbers".to_owned(), 1)]);
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("s2/context_sub_1.jsonl", Some("s2")));
    assert_eq!((cached(session), session.window), (vec![(256, 0, Some(1_772_000_002_250))], Some(50_000)));
    assert!(session.side_calls.is_empty() && session.mirrored.is_empty());
    // Since 2026-03 each has a folder with a wire of its own.
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("s3/subagents/a1");
    fs::create_dir_all(&agent).unwrap();
    let data = project().join("tests/data/kimi-cli/s2");
    fs::copy(data.join("context_sub_1.jsonl"), agent.join("context.jsonl")).unwrap();
    let step = r#"{"timestamp":7,"message":{"type":"StatusUpdate","payload":{"token_usage":{"input_other":300,"output":20,"input_cache_read":100}}}}"#;
    fs::write(agent.join("wire.jsonl"), step).unwrap();
    let session = &read_all(&agent.join("context.jsonl")).0[0];
    assert_eq!((session.id.as_str(), session.parent.as_deref(), cached(session)), ("a1", Some("s3"), vec![(100, 0, Some(7000))]));
    // The older context of a session is not asked for all that the wire holds: others are in the newer one.
    fs::copy(data.join("wire.jsonl"), agent.join("wire.jsonl")).unwrap();
    fs::copy(data.join("context.jsonl"), agent.join("context_1.jsonl")).unwrap();
    let older = &read_all(&agent.join("context_1.jsonl")).0[0];
    assert_eq!(aside(&older.side_calls), [("m3", 1300, 1200)]);
    assert!(read_all(&agent.join("context.jsonl")).0[0].side_calls.is_empty());
}

/// What no context of a sub-agent holds is known from the wire of the session that started it.
#[test]
fn each_request_of_a_sub_agent_counts_once() {
    let corpus = &ctxsim(&["inspect", "--json", "tests/data/kimi-cli/s2"]).json()["corpus"];
    let prompts = 1000 + 1200 + 1300 + 1300 + 1320 + 400;
    assert_eq!((&corpus["calls_with_usage"], &corpus["recorded_prompt_tokens"]), (&json!(6), &json!(prompts)));
    assert_eq!(corpus["mirrored"], json!({ "calls": 1, "prompt_tokens": 456, "output_tokens": 7 }));
}
