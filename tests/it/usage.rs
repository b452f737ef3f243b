//! One rule for usage: the same record gives the same usage, whoever writes it.

use crate::support::read_source;
use ctxsim::format::Source;
use ctxsim::transcript::Usage;
use std::io::Cursor;
use std::path::Path;

/// Prompt, cache reads, cache writes and output of all calls of a log.
fn usages(name: &str, log: &str) -> Vec<[u64; 4]> {
    let source = Source::from_reader(Path::new(name), Box::new(Cursor::new(log.to_owned()))).unwrap();
    let (transcripts, losses) = read_source(source);
    assert!(losses.iter().all(|loss| loss.reason != "absurd usage numbers"), "{name}: {losses:?}");
    let calls = transcripts.iter().flat_map(|transcript| &transcript.messages).filter_map(|message| message.call.as_ref());
    let of = |usage: Usage| [usage.prompt, usage.cache_read, usage.cache_write, usage.output];
    calls.filter_map(|call| call.usage).map(of).collect()
}

/// The record in the words of four writers that count cached tokens and reasoning in.
fn in_all_words(prompt: u64, read: u64, written: u64, output: u64, reasoning: u64) -> [[u64; 4]; 4] {
    let native = format!(
        r#"{{"ctxsim":"native/1","session":"s","agent":"a"}}
{{"role":"user","text":"Go"}}
{{"role":"assistant","text":"Done","usage":{{"prompt":{prompt},"cache_read":{read},"cache_write":{written},"output":{output},"reasoning":{reasoning}}}}}"#
    );
    let copilot = format!(
        r#"{{"type":"session.start","data":{{"sessionId":"s","producer":"copilot-agent","copilotVersion":"1"}},"id":"e1","timestamp":"2026-07-01T10:00:00Z","parentId":null}}
{{"type":"user.message","data":{{"content":"Go"}},"id":"e2","timestamp":"2026-07-01T10:00:02Z","parentId":"e1"}}
{{"type":"assistant.message","data":{{"apiCallId":"c","messageId":"m","content":"Done","model":"gpt-5"}},"id":"e3","timestamp":"2026-07-01T10:00:03Z","parentId":"e2"}}
{{"type":"assistant.usage","data":{{"apiCallId":"c","model":"gpt-5","inputTokens":{prompt},"outputTokens":{output},"cacheReadTokens":{read},"cacheWriteTokens":{written},"reasoningTokens":{reasoning}}},"id":"e4","timestamp":"2026-07-01T10:00:04Z","parentId":"e3"}}"#
    );
    let chat = format!(
        r#"{{"messages":[{{"role":"user","content":"Go"}},{{"role":"assistant","content":"Done"}}],"usage":{{"prompt_tokens":{prompt},"completion_tokens":{output},"prompt_tokens_details":{{"cached_tokens":{read},"cache_write_tokens":{written}}},"completion_tokens_details":{{"reasoning_tokens":{reasoning}}}}}}}"#
    );
    let openhands = format!(
        r#"{{"instance_id":"i","instruction":"Go","metadata":{{"agent_class":"CodeActAgent","llm_config":{{"model":"gpt-5"}}}},"test_result":{{}},"metrics":{{"token_usages":[{{"model":"gpt-5","response_id":"r","prompt_tokens":{prompt},"completion_tokens":{output},"cache_read_tokens":{read},"cache_write_tokens":{written},"reasoning_tokens":{reasoning}}}]}},"history":[{{"id":1,"source":"user","action":"message","args":{{"content":"Go"}}}},{{"id":2,"source":"agent","action":"message","args":{{"content":"Done"}}}}]}}"#
    );
    [("native.jsonl", native), ("events.jsonl", copilot), ("chat.jsonl", chat), ("output.jsonl", openhands)].map(|(name, log)| {
        let usages = usages(name, &log);
        assert_eq!(usages.len(), 1, "{name}");
        usages[0]
    })
}

#[test]
fn one_record_is_one_usage_for_all_readers() {
    let alike = |found: [[u64; 4]; 4], expected: [u64; 4]| assert_eq!(found, [expected; 4]);
    alike(in_all_words(100, 60, 20, 9, 5), [100, 60, 20, 9]);
    alike(in_all_words(100, 60, 60, 9, 0), [100, 60, 40, 9]);
    alike(in_all_words(100, 160, 0, 9, 0), [260, 160, 0, 9]);
    alike(in_all_words(100, 0, 0, 5, 500), [100, 0, 0, 505]);
}

#[test]
fn a_reply_that_is_fetched_belongs_to_the_request_that_asked_for_it() {
    let interaction = |method: &str, address: &str, request: &str, response: &str| {
        format!(
            r#"{{"request":{{"method":"{method}","uri":"https://api.openai.com/v1{address}","body":{request}}},"response":{{"status":{{"code":200}},"body":{{"string":{}}}}}}}"#,
            serde_json::to_string(response).unwrap()
        )
    };
    let asked = serde_json::to_string(r#"{"model":"gpt-5","background":true,"input":"Go"}"#).unwrap();
    let pending = r#"{"id":"resp_1","object":"response","status":"queued","model":"gpt-5","output":[],"usage":null}"#;
    let working = r#"{"id":"resp_1","object":"response","status":"in_progress","model":"gpt-5","output":[],"usage":null}"#;
    let done = r#"{"id":"resp_1","object":"response","status":"completed","model":"gpt-5","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}],"usage":{"input_tokens":40,"output_tokens":11,"total_tokens":51}}"#;
    let log = [
        interaction("POST", "/responses", &asked, pending),
        interaction("GET", "/responses/resp_1", "null", working),
        interaction("GET", "/responses/resp_1?include=usage", "\"\"", done),
        // A reply to a request that stands elsewhere.
        interaction("GET", "/responses/resp_2", "null", &done.replace("resp_1", "resp_2")),
    ];
    let cassette = format!(r#"{{"interactions":[{}],"version":1}}"#, log.join(","));
    let source = Source::from_reader(Path::new("talk.json"), Box::new(Cursor::new(cassette))).unwrap();
    let (transcripts, losses) = read_source(source);
    assert_eq!(crate::support::prompts(&transcripts[0]), [(40, 11)]);
    assert_eq!(crate::support::in_short(&transcripts[0]), ["u: Go", "a: Done"]);
    let lost: Vec<(&str, u64)> = losses.iter().map(|loss| (loss.reason.as_str(), loss.count)).collect();
    assert_eq!(lost, [("request to no model", 1)]);
}
