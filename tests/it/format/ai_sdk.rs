//! Conversations of the AI SDK: messages to a model, and messages of the screen in its versions.

use crate::support::{assert_lost, in_short, prompts, read_text};
use serde_json::json;

#[test]
fn messages_to_a_model() {
    let text = json!([
        { "role": "user", "content": [{ "type": "text", "text": "Weather?" }, { "type": "image", "image": "data:image/png;base64,aaaa" }] },
        { "role": "assistant", "content": [
            { "type": "reasoning", "text": "Hm" },
            { "type": "text", "text": "Let me look." },
            { "type": "tool-call", "toolCallId": "call_1", "toolName": "weather", "input": { "city": "Berlin" } },
            { "type": "tool-call", "toolCallId": "call_2", "toolName": "time", "args": {} },
        ] },
        { "role": "tool", "content": [
            { "type": "tool-result", "toolCallId": "call_1", "toolName": "weather", "output": { "type": "json", "value": { "t": 3 } } },
            { "type": "tool-result", "toolCallId": "call_2", "toolName": "time", "output": { "type": "text", "value": "noon" } },
        ] },
        { "role": "assistant", "content": [{ "type": "text", "text": "3 degrees." }] },
    ]);
    let (sessions, lost) = read_text("messages.json", &text.to_string());
    assert_eq!(lost, []);
    let short = in_short(&sessions[0]);
    assert!(short[0].starts_with("u: Weather? | "), "{short:?}");
    assert_eq!(
        short[1..],
        ["a: ~0 | Let me look. | weather(call_1) | time(call_2)", "t: weather(call_1)= | time(call_2)=", "a: 3 degrees."]
    );
    let bytes = |part: &ctxsim::transcript::Part| part.text().unwrap().length.bytes;
    assert_eq!(sessions[0].messages[2].parts.iter().map(bytes).collect::<Vec<_>>(), [7, 4]);
}

#[test]
fn messages_of_the_screen_hold_all_steps_of_a_turn() {
    let text = json!([
        { "id": "m1", "role": "user", "parts": [{ "type": "text", "text": "Weather?" }] },
        { "id": "m2", "role": "assistant", "metadata": { "model": "gpt-5", "usage": { "inputTokens": 120, "outputTokens": 30 } }, "parts": [
            { "type": "step-start" },
            { "type": "reasoning", "text": "Hm" },
            { "type": "tool-weather", "toolCallId": "call_1", "state": "output-available", "input": { "city": "Berlin" }, "output": { "t": 3 } },
            { "type": "dynamic-tool", "toolName": "time", "toolCallId": "call_2", "state": "output-error", "input": {}, "errorText": "no" },
            { "type": "data-chart", "data": {} },
            { "type": "step-start" },
            { "type": "text", "text": "It is 3 degrees." },
        ] },
        { "id": "m3", "role": "user", "parts": [{ "type": "text", "text": "Thanks" }] },
        { "id": "m4", "role": "assistant", "metadata": { "usage": { "inputTokens": 150, "outputTokens": 2, "cachedInputTokens": 100 } },
          "parts": [{ "type": "step-start" }, { "type": "text", "text": "Bye" }] },
    ]);
    let (sessions, lost) = read_text("chat.json", &text.to_string());
    assert_lost(&lost, &[("part of a message that is shown alone", 1), ("usage beside a conversation of several calls", 1)]);
    assert_eq!(
        in_short(&sessions[0]),
        [
            "u: Weather?",
            "a: ~0 | weather(call_1) | time(call_2)",
            "t: weather(call_1)=",
            "t: time(call_2)=",
            "a: It is 3 degrees.",
            "u: Thanks",
            "a: Bye"
        ]
    );
    // What both steps took is counted, and of the last call it is known.
    assert_eq!(prompts(&sessions[0]), [(0, 0), (0, 0), (150, 2)]);
}

#[test]
fn messages_of_the_screen_in_version_4() {
    let call = |step: u64, id: &str| json!({ "state": "result", "step": step, "toolCallId": id, "toolName": "look", "args": {}, "result": "four" });
    let whole = ["u: Weather?", "a: look(call_1)", "t: look(call_1)=", "a: look(call_2)", "t: look(call_2)=", "a: 3 degrees."];
    let asked = json!({ "id": "m1", "role": "user", "content": "Weather?", "createdAt": "2025-03-18T20:15:43.324Z" });
    let invoked = |id: &str, step: u64| json!({ "type": "tool-invocation", "toolInvocation": call(step, id) });
    for rest in [
        json!({ "toolInvocations": [call(0, "call_1"), call(1, "call_2")] }),
        json!({ "parts": [invoked("call_1", 0), invoked("call_2", 1), { "type": "text", "text": "3 degrees." }] }),
    ] {
        let mut reply = json!({ "id": "m2", "role": "assistant", "content": "3 degrees.", "createdAt": "2025-03-18T20:15:48.324Z" });
        reply.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let (sessions, lost) = read_text("chat.json", &json!([asked, reply]).to_string());
        assert_eq!((in_short(&sessions[0]), lost), (whole.map(str::to_owned).to_vec(), vec![]));
        assert_eq!(sessions[0].messages[1].time, Some(1_742_328_948_324));
    }
    // A call whose result has not come stands behind what was said with it.
    let open = json!([asked, { "role": "assistant", "content": "Wait", "toolInvocations": [{ "state": "call", "toolCallId": "c", "toolName": "look", "args": {} }] }]);
    assert_eq!(in_short(&read_text("chat.json", &open.to_string()).0[0])[1..], ["a: Wait | look(c)"]);
}
