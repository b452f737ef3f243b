//! Files whose references would make them larger in the square: what is made of them stays in proportion, and the rest is counted.

use crate::support::read_text;
use ctxsim::transcript::Part;
use serde_json::{Value, json};

const TURNS: usize = 150;

/// Two long branches behind one root, and prompts that go on from either in turn: the link of each is the record before it.
fn turns(record: impl Fn(&str, Option<&str>) -> Value) -> String {
    let mut lines = vec![record("r", None)];
    for branch in ["a", "b"] {
        let mut before = "r".to_owned();
        for step in 0..TURNS {
            let id = format!("{branch}{step}");
            lines.push(record(&id, Some(&before)));
            before = id;
        }
    }
    let last = TURNS - 1;
    lines.extend((0..TURNS).map(|turn| record(&format!("z{turn}"), Some(&format!("{}{last}", ["a", "b"][turn % 2])))));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn branches_that_take_turns_are_not_copied_without_end() {
    let time = "2026-01-01T00:00:00Z";
    let pi = |id: &str, before: Option<&str>| json!({"type": "message", "id": id, "parentId": before, "timestamp": time, "message": {"role": "user", "content": "hi"}});
    let header = json!({"type": "session", "version": 3, "id": "s", "timestamp": time, "cwd": "/x"});
    let claude_code = |id: &str, before: Option<&str>| {
        let odd = id.ends_with(['1', '3', '5', '7', '9']) && !id.starts_with('z');
        let reply =
            json!({"role": "assistant", "id": format!("m{id}"), "model": "claude-opus-4-1", "content": [{"type": "text", "text": "x"}]});
        let message = if odd { reply } else { json!({"role": "user", "content": "hi"}) };
        let kind = if odd { "assistant" } else { "user" };
        json!({"type": kind, "uuid": id, "parentUuid": before, "sessionId": "s", "timestamp": time, "message": message})
    };
    for (name, text) in [("pi.jsonl", format!("{header}\n{}", turns(pi))), ("claude.jsonl", turns(claude_code))] {
        let (transcripts, lost) = read_text(name, &text);
        let (own, all) = (3 * TURNS + 1, transcripts[0].messages.len());
        assert!(all > own + 1_000 && all <= own * 17 + 1_000, "{name}: {all}");
        let left_out = lost.iter().find(|(reason, _)| reason == "message of a branch that is taken up too often");
        assert!(left_out.is_some_and(|(_, count)| *count > 50), "{name}: {lost:?}");
    }
}

fn inspect(attachments: Value, pool: Value, input: Value) -> String {
    let output = json!({"model": "m", "choices": [{"message": {"role": "assistant", "content": "ok"}}]});
    let mut event = json!({"event": "model", "model": "m", "output": output});
    event.as_object_mut().unwrap().extend(input.as_object().unwrap().clone());
    let sample = json!({"id": 1, "epoch": 1, "uuid": "u", "messages": [], "attachments": attachments, "events": [event], "events_data": {"messages": pool}});
    json!({"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample]}).to_string()
}

#[test]
fn what_a_sample_refers_to_is_not_repeated_without_end() {
    let text = "x ".repeat(5_000);
    let input = json!({"input": [{"role": "user", "content": "attachment://a ".repeat(100)}]});
    let (transcripts, lost) = read_text("attached.json", &inspect(json!({"a": text}), json!([]), input));
    assert_eq!(lost, [("attachment that a text names too often".to_owned(), 84)]);
    let Part::Text(text) = &transcripts[0].messages[0].parts[0] else { panic!("no text") };
    assert!((160_000..170_000).contains(&text.length.bytes), "{}", text.length.bytes);

    let pool: Vec<Value> = (0..100).map(|at| json!({"role": "user", "content": format!("q{at}")})).collect();
    let ranges: Vec<[usize; 2]> = vec![[0, 100]; 50];
    let (transcripts, lost) = read_text("pooled.json", &inspect(json!({}), json!(pool), json!({"input_refs": ranges})));
    // The pool sixteen times, and the reply.
    assert_eq!(transcripts[0].messages.len(), 1_601);
    assert_eq!(lost, [("messages that a request names too often".to_owned(), 34)]);
}

#[test]
fn indices_of_attributes_make_no_lists_of_nothing() {
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let mut attributes =
        vec![text("gen_ai.operation.name", "chat"), text("gen_ai.prompt.0.content", "hello"), text("gen_ai.prompt.0.role", "user")];
    attributes.extend((0..50).map(|at| text(&format!("llm.tools.{at}.9999.9999.9999.9999.9999.9999"), "1")));
    let span = json!({"traceId": "a", "spanId": "b", "startTimeUnixNano": "1700000000000000000", "attributes": attributes});
    let (transcripts, _) = read_text("spans.json", &json!({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).to_string());
    assert_eq!(transcripts[0].messages.len(), 3);
    let prompt = &transcripts[0].messages[1];
    assert!(matches!(prompt.parts.as_slice(), [Part::Text(text)] if text.content.as_deref() == Some("hello")));
    // A list that goes to each index holds half a million of nothing.
    assert!(format!("{transcripts:?}").len() < 20_000);
}
