use crate::support::{fixture, in_short, prompts, read_source};
use ctxsim::format::Source;
use std::io::Cursor;
use std::path::Path;

#[test]
fn real_tool_calls_and_observations_in_the_users_name() {
    let (transcripts, lost) = fixture("mini-swe-agent/v1.1.traj.json");
    assert_eq!(lost, []);
    let session = &transcripts[0];
    assert_eq!(in_short(session), ["s: S", "u: Task", "a: bash(call_1)", "t: bash(call_1)!", "a: THOUGHT: none", "t: ()="]);
    assert_eq!(prompts(session), [(100, 20), (150, 5)]);
    let usage = |index: usize| session.messages[index].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage(2).cache_read, usage(2).reasoning, usage(2).cost_nano_usd), (64, Some(12), Some(2_000_000)));
    assert_eq!(usage(4).cost_nano_usd, Some(1_000_000));
    assert_eq!(session.messages[2].time, Some(1_760_000_001_500));
}

#[test]
fn replies_of_openais_responses_and_replies_that_were_thrown_away() {
    let text = r#"{"info":{"mini_version":"2.2.4","config":{"model":{"model_name":"openai/gpt-5.2"}},"model_stats":{"instance_cost":0.1,"api_calls":4}},"messages":[
        {"role":"system","content":"S"},{"role":"user","content":"Task"},
        {"id":"resp_1","object":"response","model":"gpt-5.2-2025-12-11","created_at":1760000000,"output":[
            {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"abcd"},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Look"}]},
            {"type":"function_call","call_id":"c1","name":"bash","arguments":"{\"command\":\"ls\"}"}],
            "usage":{"input_tokens":300,"output_tokens":50,"total_tokens":350,"input_tokens_details":{"cached_tokens":128},"output_tokens_details":{"reasoning_tokens":20}},
            "extra":{"cost":0.01,"timestamp":1760000001.5}},
        {"type":"function_call_output","call_id":"c1","output":"<returncode>2</returncode>","extra":{"returncode":2}},
        {"type":"message","role":"user","content":[{"type":"input_text","text":"No tool calls found"}],"extra":{"interrupt_type":"FormatError","cost":0.02,
            "response":{"id":"resp_2","model":"gpt-5.2-2025-12-11","usage":{"input_tokens":380,"output_tokens":10,"total_tokens":390}}}},
        {"type":"message","role":"user","content":[{"type":"input_text","text":"No tool calls found"}],"extra":{"interrupt_type":"FormatError"}},
        {"id":"resp_3","object":"response","output":[{"type":"function_call","call_id":"c2","name":"bash","arguments":"{}"}],
            "usage":{"input_tokens":400,"output_tokens":30,"total_tokens":430},"extra":{"cost":0.03}},
        {"role":"exit","content":""}],"trajectory_format":"mini-swe-agent-1.1","instance_id":"x"}"#;
    let (transcripts, lost) = read_source(Source::from_reader(Path::new("x.traj.json"), Box::new(Cursor::new(text))).unwrap());
    let session = &transcripts[0];
    assert_eq!(in_short(session), ["s: S", "u: Task", "a: ~4 | Look | bash(c1)", "t: bash(c1)!", "t: ()=", "t: ()=", "a: bash(c2)"]);
    assert_eq!(prompts(session), [(300, 50), (400, 30)]);
    let call = session.messages[2].call.as_ref().unwrap();
    assert_eq!((call.model.as_str(), session.messages[2].time), ("gpt-5.2-2025-12-11", Some(1_760_000_001_500)));
    let usage = call.usage.unwrap();
    assert_eq!((usage.cache_read, usage.reasoning, usage.cost_nano_usd), (128, Some(20), Some(10_000_000)));
    assert_eq!(session.messages[6].call.as_ref().unwrap().model, "openai/gpt-5.2");
    // What was thrown away was paid for, where it is known what it was.
    let aside: Vec<_> =
        session.side_calls.iter().map(|call| call.usage.unwrap()).map(|usage| (usage.prompt, usage.cost_nano_usd)).collect();
    assert_eq!(aside, [(380, Some(20_000_000))]);
    assert_eq!(lost.into_iter().map(|loss| loss.reason).collect::<Vec<_>>(), ["call whose reply was thrown away"]);
}
