use crate::support::{assert_lost, claim, fixture, in_short, project, prompts, read_all, read_text};
use crate::truth::corpus;
use ctxsim::catalog::Catalog;
use ctxsim::format::Claim;
use ctxsim::transcript::Part;
use serde_json::{Value, json};
use std::fs;

#[test]
fn replies_have_their_usage_with_them() {
    let (transcripts, lost) = fixture("cline-cli/s1.messages.json");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.parent.as_deref(), session.host.as_deref()), ("cline-1", Some("cline-0"), Some("cline")));
    assert_eq!(
        in_short(session),
        [
            "u: <user_input mode=\"act\">Look</user_input>",
            "a: ~0 | A moment | read_files(c1) | run(c2)",
            "t: read_files(c1)!",
            "t: run(c2)=",
            "a: Done",
            "u: More",
            "a: Half",
        ]
    );
    let Part::ToolResult { text, .. } = &session.messages[2].parts[0] else { panic!("no result") };
    assert_eq!(text.content.as_deref(), Some(r#"[{"query":"a","result":"none","success":false}]"#));
    // What was broken off is no call.
    assert_eq!(prompts(session), [(500, 40), (700, 20)]);
    let usage = session.messages[1].call.as_ref().unwrap().usage.unwrap();
    assert_eq!(usage.cost_nano_usd, Some(500_000));
    let usage = session.messages[4].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.cache_read, usage.cost_nano_usd), (512, None));
    let about = project().join("tests/data/cline-cli/s1.json");
    assert_eq!(claim(&about), Some(("cline-cli", Claim::Companion)));
}

/// The session keeps results whole, requests hold 8,000 units of each of their texts since 2026-06-19: what recorded prompts grew by is what counts.
#[test]
fn long_results_count_as_requests_have_them() {
    let long = "é".repeat(9_000);
    let parts = |time: &str, content: Value| {
        let at = time.parse::<jiff::Timestamp>().unwrap().as_millisecond();
        let result = json!({"role": "user", "ts": at, "content": [{"type": "tool_result", "tool_use_id": "t", "content": content}]});
        let log = json!({"sessionId": "s", "agent": "lead", "updated_at": time, "messages": [result]});
        let (transcripts, _) = read_text("s.messages.json", &log.to_string());
        let Part::ToolResult { text, .. } = transcripts[0].messages[0].parts[0].clone() else { panic!("no result") };
        (text.length.utf16, text.truncated, text.content.unwrap().to_string())
    };
    // 28 units of the mark and 4 digits: 2 x 3,984 units stay.
    let (units, _, text) = parts("2026-06-19T00:00:00Z", json!(long));
    assert_eq!((units, text.contains("\n\n...[truncated 1032 chars]...\n\n")), (8_000, true));
    assert_eq!(parts("2026-06-18T23:59:59Z", json!(long)).0, 9_000);
    // Each text of a list for itself; the agent's own limit is not held against the whole once more.
    let list = json!([{"query": "a", "result": long, "success": true}, {"query": "b", "result": "short", "success": true}]);
    let (units, cut, text) = parts("2026-08-01T00:00:00Z", list);
    assert!(cut && units < 8_200 && text.contains("short") && text.contains("truncated 1032"), "{units}");
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("cline-cli/broken.messages.json");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("message of an unknown role", 1),
            ("message without content", 1),
            ("record of an unexpected shape", 1),
        ],
    );
    // More was read from the cache than in all: it lies beside.
    assert_eq!(prompts(&transcripts[0]), [(100, 3)]);
}

#[test]
fn replies_of_a_provider_that_reports_nothing_are_calls() {
    let reply =
        |text: &str| format!(r#"{{"role":"assistant","ts":2,"content":[{{"type":"text","text":"{text}"}}],"modelInfo":{{"id":"local"}}}}"#);
    let asked = r#"{"role":"user","ts":1,"content":[{"type":"text","text":"Go on"}]}"#;
    let log = format!(
        r#"{{"sessionId":"s","agent":"lead","updated_at":"2026-06-05T23:22:06Z","messages":[{asked},{},{asked},{}]}}"#,
        reply("First"),
        reply("Second")
    );
    let (transcripts, lost) = read_text("s.messages.json", &log);
    assert_eq!((prompts(&transcripts[0]), lost), (vec![(0, 0), (0, 0)], vec![]));
    assert!(transcripts[0].messages.iter().filter_map(|message| message.call.as_ref()).all(|call| call.model == "local"));
}

/// The file beside has what the newest compaction put in the place of the first messages. The session keeps them all.
#[test]
fn a_compaction_stands_in_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let said = |id: &str, role: &str, content: Value| json!({"id": id, "role": role, "ts": 1_790_000_000_000_u64, "content": content});
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let reply = |id: &str, input: u64, tool: &str| {
        let call = json!({"type": "tool_use", "id": tool, "name": "run", "input": {}});
        let mut reply = said(id, "assistant", json!([{"type": "text", "text": id}]));
        reply["content"].as_array_mut().unwrap().extend((!tool.is_empty()).then_some(call));
        reply["modelInfo"] = json!({"id": "m", "provider": "anthropic"});
        reply["metrics"] = json!({"inputTokens": input, "outputTokens": 50, "cacheReadTokens": 0, "cacheWriteTokens": 0});
        reply
    };
    // Two results in one entry are two messages.
    let result = |tool: &str| json!({"type": "tool_result", "tool_use_id": tool, "content": "out"});
    let messages = json!([
        said("m0", "user", text("Hello")),
        reply("m1", 10_000, "t1"),
        said("m2", "user", json!([result("t1"), result("t0")])),
        reply("m3", 32_000, "t2"),
        said("m4", "user", json!([result("t2")])),
        reply("m5", 13_000, ""),
        said("m6", "user", text("More")),
        reply("m7", 13_500, ""),
    ]);
    let session = json!({"version": 1, "updated_at": "2026-10-01T00:00:00Z", "agent": "lead", "sessionId": "s", "messages": messages});
    let log = folder.path().join("s.messages.json");
    fs::write(&log, session.to_string()).unwrap();
    let beside = folder.path().join("s.compaction.json");
    let read = |first: Value, count: u64, key: &str| {
        let kept = [first, said("m4", "user", json!([result("t2")]))];
        let state = json!({"version": 1, "updated_at": "2026-10-01T00:00:00Z", "conversation_id": "s", "source_message_count": count,
            "source_prefix_hash": "sha256:aa", "source_last_message_key": key, "messages": kept, "system_prompt": "You are"});
        fs::write(&beside, state.to_string()).unwrap();
        let (transcripts, losses) = read_all(&log);
        (transcripts.into_iter().next().unwrap(), losses.len())
    };
    let summary = |kind: &str, reason: &str| {
        let mut first = said("s1", "user", text("Context summary: all"));
        first["metadata"] = json!({"kind": kind, "reason": reason});
        first
    };
    let (made, lost) = read(summary("compaction_summary", ""), 5, "id:m4");
    let [compaction] = made.compactions.as_slice() else { panic!("{:?}", made.compactions) };
    assert_eq!((compaction.before, compaction.kept_from, compaction.automatic, lost), (6, Some(5), None, 0));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("Context summary: all"));
    assert_eq!(compaction.time, Some(1_790_812_800_000));
    let unchained: Vec<bool> = made.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    assert_eq!(unchained, [false, false, true, false]);
    // Without a model, the agent leaves messages out from all over the session, and writes no summary.
    let (made, _) = read(summary("compaction", "auto_compaction"), 5, "");
    let compaction = &made.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from, compaction.automatic), (6, None, Some(true)));
    assert!(compaction.summary.is_none());
    // Of a session that went back since, the agent does not use it either.
    let (made, lost) = read(summary("compaction_summary", ""), 9, "");
    assert_eq!((made.compactions.len(), lost), (0, 1));
    assert_eq!(claim(&beside), Some(("cline-cli", Claim::Companion)));
    assert_eq!(corpus(&Catalog::builtin().unwrap(), &[folder.path()]).traces.each().count(), 1);
}

#[test]
fn what_is_shown_to_the_person_alone_is_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let said = |id: &str, role: &str| json!({"id": id, "role": role, "ts": 2, "content": [{"type": "text", "text": id}]});
    let mut error = said("error_1", "assistant");
    error["metadata"] = json!({"displayOnly": true, "displayRole": "error"});
    error["modelInfo"] = json!({"id": "m", "provider": "p"});
    let messages = [said("m1", "user"), said("m2", "assistant"), error, said("m3", "user"), said("m4", "assistant")];
    let log = folder.path().join("s.messages.json");
    fs::write(&log, json!({"version": 1, "sessionId": "s", "agent": "lead", "updated_at": "", "messages": messages}).to_string()).unwrap();
    let mut summary = said("s1", "user");
    summary["metadata"] = json!({"kind": "compaction_summary"});
    let compacted = json!({"version": 1, "updated_at": "2026-10-01T00:00:00Z", "source_message_count": 3, "messages": [summary]});
    fs::write(folder.path().join("s.compaction.json"), compacted.to_string()).unwrap();
    let (transcripts, lost) = read_all(&log);
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(in_short(&transcripts[0]), ["u: m1", "a: m2", "u: m3", "a: m4"]);
    assert_eq!(prompts(&transcripts[0]), [(0, 0), (0, 0)]);
    // Compactions count without it.
    assert_eq!(transcripts[0].compactions[0].before, 3);
}
