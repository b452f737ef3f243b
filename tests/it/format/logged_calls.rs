//! Logs that programs write themselves, a call a record, in the shapes that are usual.

use crate::support::{in_short, prompts, read_text};
use serde_json::{Value, json};

/// What is said in three calls of one conversation, of which each request repeats the one before.
fn turns() -> Vec<(Vec<Value>, Value, u64)> {
    let call = json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "call_1", "type": "function", "function": { "name": "look", "arguments": "{}" } }] });
    let said = |role: &str, words: &str| json!({ "role": role, "content": words });
    let replies = [call, said("assistant", "It is there"), said("assistant", "Gone")];
    let asked = [
        vec![said("system", "Be good"), said("user", "Where?")],
        vec![json!({ "role": "tool", "tool_call_id": "call_1", "content": "Here" })],
        vec![said("user", "And now?")],
    ];
    let mut messages = Vec::new();
    let turn = |(index, (asked, reply)): (usize, (Vec<Value>, Value))| {
        messages.extend(asked);
        let request = messages.clone();
        messages.push(reply.clone());
        (request, reply, index as u64)
    };
    asked.into_iter().zip(replies).enumerate().map(turn).collect()
}

/// The log of these calls with each record as this makes it.
fn log(record: impl Fn(Vec<Value>, Value, Value) -> Value) -> String {
    let usage = |number: u64| json!({ "prompt_tokens": 100 * (number + 1), "completion_tokens": 5 });
    let line = |(asked, reply, number): (Vec<Value>, Value, u64)| {
        let mut line = record(asked, reply, usage(number));
        line["timestamp"] = json!(format!("2026-10-01T08:0{number}:00Z"));
        line["model"] = json!("gpt-4o");
        line.to_string() + "\n"
    };
    turns().into_iter().map(line).collect()
}

const WHOLE: [&str; 7] = ["s: Be good", "u: Where?", "a: look(call_1)", "t: look(call_1)=", "a: It is there", "u: And now?", "a: Gone"];

fn check(name: &str, text: &str, counted: &[(u64, u64)]) {
    let (sessions, lost) = read_text("calls.jsonl", text);
    assert_eq!(lost, [], "{name}");
    assert_eq!(sessions.iter().map(in_short).collect::<Vec<_>>(), [WHOLE], "{name}");
    assert_eq!(prompts(&sessions[0]), counted, "{name}");
    let calls = || sessions[0].messages.iter().filter(|message| message.call.is_some());
    assert!(calls().all(|message| message.call.as_ref().unwrap().model == "gpt-4o"), "{name}");
    let times: Vec<Option<i64>> = calls().map(|message| message.time).collect();
    assert_eq!(times, [0, 60_000, 120_000].map(|since| Some(1_790_841_600_000 + since)), "{name}");
}

#[test]
fn a_request_and_its_reply_in_one_record_are_a_call() {
    let counted = [(100, 5), (200, 5), (300, 5)];
    for name in ["completion", "response", "output", "reply", "answer"] {
        check(name, &log(|asked, reply, usage| json!({ "messages": asked, name: reply, "usage": usage })), &counted);
    }
    for name in ["input", "prompt", "prompt_messages"] {
        check(name, &log(|asked, reply, usage| json!({ name: asked, "completion": reply, "usage": usage })), &counted);
    }
    let choices = |reply: &Value| json!([{ "index": 0, "message": reply }]);
    check("choices", &log(|asked, reply, usage| json!({ "messages": asked, "choices": choices(&reply), "usage": usage })), &counted);
    let response = |reply: &Value, usage: &Value| json!({ "choices": choices(reply), "usage": usage });
    check("response", &log(|asked, reply, usage| json!({ "messages": asked, "completion": response(&reply, &usage) })), &counted);
    check("output", &log(|asked, reply, usage| json!({ "messages": asked, "output": response(&reply, &usage) })), &counted);
    let request = |asked: Vec<Value>| json!({ "messages": asked, "model": "gpt-4o" });
    check("request", &log(|asked, reply, usage| json!({ "request": request(asked), "response": reply, "usage": usage })), &counted);
    check(
        "body",
        &log(|asked, reply, usage| json!({ "request_body": request(asked), "response_body": response(&reply, &usage) })),
        &counted,
    );
    check("input", &log(|asked, reply, usage| json!({ "input": request(asked), "output": response(&reply, &usage) })), &counted);
    // Counts may stand in the record itself, and there may be none.
    check(
        "flat",
        &log(
            |asked, reply, usage| json!({ "messages": asked, "reply": reply, "prompt_tokens": usage["prompt_tokens"], "completion_tokens": usage["completion_tokens"] }),
        ),
        &counted,
    );
    check("none", &log(|asked, reply, _| json!({ "messages": asked, "response": reply })), &[(0, 0), (0, 0), (0, 0)]);
    // The reply may stand last among the messages: records that go on from each other are requests.
    let last = |mut asked: Vec<Value>, reply: Value| {
        asked.push(reply);
        asked
    };
    check("last", &log(|asked, reply, usage| json!({ "messages": last(asked, reply), "usage": usage })), &counted);
    check("last", &log(|asked, reply, _| json!({ "messages": last(asked, reply) })), &[(0, 0), (0, 0), (0, 0)]);
}

#[test]
fn a_text_beside_its_messages_is_the_reply() {
    let text =
        log(|asked, reply, usage| json!({ "messages": asked, "response": reply["content"].as_str().unwrap_or_default(), "usage": usage }));
    let (sessions, lost) = read_text("calls.jsonl", &text);
    assert_eq!((sessions.len(), lost), (1, vec![]));
    assert_eq!(prompts(&sessions[0]), [(100, 5), (200, 5), (300, 5)]);
}

#[test]
fn requests_without_replies_are_one_conversation() {
    let (sessions, lost) = read_text("calls.jsonl", &log(|asked, _, _| json!({ "messages": asked })));
    assert_eq!(sessions.iter().map(in_short).collect::<Vec<_>>(), [&WHOLE[..6]]);
    assert_eq!(sessions[0].messages.iter().filter(|message| message.call.is_some()).count(), 2);
    assert_eq!(lost, [("request without a reply".to_owned(), 2)]);
}

/// The Responses interface has names of its own.
#[test]
fn items_beside_items_are_a_call() {
    let usage = json!({ "input_tokens": 100, "output_tokens": 5, "total_tokens": 105 });
    let said = json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done" }] });
    let called = json!({ "type": "function_call", "name": "look", "arguments": "{}", "call_id": "call_1" });
    for (output, short) in [(said, "a: Done"), (called, "a: look(call_1)")] {
        let text = json!({ "timestamp": 1_790_841_600, "model": "gpt-5", "input": [{ "role": "user", "content": "Go" }], "output": [output], "usage": usage });
        let (sessions, lost) = read_text("calls.jsonl", &text.to_string());
        assert_eq!((in_short(&sessions[0]), lost), (vec!["u: Go".to_owned(), short.to_owned()], vec![]));
        assert_eq!((prompts(&sessions[0]), sessions[0].messages[1].time), (vec![(100, 5)], Some(1_790_841_600_000)));
    }
}

#[test]
fn conversations_for_training_stay_what_they_are() {
    let said = |role: &str, words: &str| json!({ "role": role, "content": words });
    let talk = |words: &str| json!({ "messages": [said("system", "S"), said("user", words), said("assistant", "A"), said("user", "On"), said("assistant", "B")] });
    let text = ["one", "two", "three"].map(|words| talk(words).to_string()).join("\n");
    let (sessions, lost) = read_text("train.jsonl", &text);
    assert_eq!((sessions.iter().map(|session| session.messages.len()).collect::<Vec<_>>(), lost), (vec![5, 5, 5], vec![]));
    // What is right stands beside the question, and was replied by no model.
    let text = json!({ "messages": [said("user", "1 + 1?")], "answer": "2" }).to_string();
    let (sessions, _) = read_text("train.jsonl", &text);
    assert_eq!(in_short(&sessions[0]), ["u: 1 + 1?"]);
    // Many of them are handed over as they come.
    let many: Vec<String> = (0..200).map(|number| talk(&number.to_string()).to_string()).collect();
    assert_eq!(read_text("train.jsonl", &many.join("\n")).0.len(), 200);
}

#[test]
fn messages_of_the_model_in_a_row_are_one_reply() {
    let talk = |first: &str, second: &str| {
        let text = format!(
            r#"{{"messages":[{{"role":"user","content":"a"}},{{"role":"assistant","reasoning_content":"t","content":""{first}}},{{"role":"assistant","content":"b"{second}}},{{"role":"assistant","tool_calls":[{{"id":"c","name":"run","arguments":{{}}}}]}},{{"role":"tool","tool_call_id":"c","content":"r"}},{{"role":"assistant","content":"d"}}]}}"#
        );
        let (sessions, lost) = read_text("chat.json", &text);
        assert_eq!(lost, []);
        (in_short(&sessions[0]), prompts(&sessions[0]))
    };
    let usage = |prompt: u64| format!(r#","usage":{{"prompt_tokens":{prompt},"completion_tokens":1}}"#);
    let merged = ["u: a", "a: ~0 | b | run(c)", "t: run(c)=", "a: d"];
    assert_eq!(talk("", "").0, merged);
    assert_eq!(talk("", &usage(7)), (merged.map(str::to_owned).to_vec(), vec![(7, 1), (0, 0)]));
    // Each has its own usage, id or model where it was made by a call of its own; one id is one reply.
    let apart = ["u: a", "a: ~0", "a: b | run(c)", "t: run(c)=", "a: d"];
    assert_eq!(talk(&usage(5), &usage(7)), (apart.map(str::to_owned).to_vec(), vec![(5, 1), (7, 1), (0, 0)]));
    assert_eq!(talk(r#","id":"chatcmpl-1""#, r#","id":"chatcmpl-2""#).0, apart);
    assert_eq!(talk(r#","model":"gpt-4o""#, r#","model":"o3""#).0, apart);
    let same = format!(r#","id":"chatcmpl-1"{}"#, usage(7));
    assert_eq!(talk(&same, &same), (merged.map(str::to_owned).to_vec(), vec![(7, 1), (0, 0)]));
}

#[test]
fn items_of_the_responses_interface_in_a_list() {
    let name = |own: &str, script: &str, javascript: bool| (if javascript { script } else { own }).to_owned();
    for javascript in [false, true] {
        let id = name("call_id", "callId", javascript);
        let result = name("function_call_output", "function_call_result", javascript);
        let output = if javascript { json!({ "type": "text", "text": "created" }) } else { json!("created") };
        let text = json!([
            { "role": "user", "content": "Create" },
            { "type": "reasoning", "id": "rs_1", "summary": [] },
            { "type": "function_call", "name": "make", "arguments": "{}", (id.as_str()): "call_1" },
            { "type": result, (id.as_str()): "call_1", "output": output },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done" }] },
        ]);
        let (sessions, lost) = read_text("history.json", &text.to_string());
        assert_eq!(lost, []);
        assert_eq!(in_short(&sessions[0]), ["u: Create", "a: ~0 | make(call_1)", "t: make(call_1)=", "a: Done"]);
        let ctxsim::transcript::Part::ToolResult { text, .. } = &sessions[0].messages[2].parts[0] else { panic!() };
        assert_eq!(text.length.bytes, 7);
    }
}
