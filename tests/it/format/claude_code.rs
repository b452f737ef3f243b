use crate::support::{ctxsim, files, in_short, project, prompts, read_all, read_text, shared};
use ctxsim::format::{Source, sniff};
use ctxsim::transcript::{Compaction, CompactionKind, Image, Loss, Message, Part, Role, Text, Transcript, Trust};
use serde_json::{Value, json};
use std::path::Path;

fn fixture(name: &str) -> (Vec<Transcript>, Vec<Loss>) {
    read_all(&project().join("tests/data/claude-code").join(name))
}

fn words(text: &Text) -> &str {
    text.content.as_deref().unwrap()
}

/// The first words of a message, whatever part they stand in.
fn says(message: &Message) -> &str {
    match &message.parts[0] {
        Part::Text(text) | Part::Other(text) | Part::Thinking { text, .. } | Part::ToolResult { text, .. } => words(text),
        Part::ToolCall { id, .. } => id,
        other => panic!("{other:?}"),
    }
}

/// Prompt, output, and whether the output is final.
type Figures = (u64, u64, bool);

fn calls(transcript: &Transcript) -> Vec<(&str, bool, Option<Figures>)> {
    let calls = transcript.messages.iter().filter_map(|message| message.call.as_ref());
    let figures = |usage: ctxsim::transcript::Usage| (usage.prompt, usage.output, usage.output_is_final);
    calls.map(|call| (call.id.as_str(), call.unchained, call.usage.map(figures))).collect()
}

fn lost(losses: &[Loss]) -> Vec<(&str, u64, u64)> {
    losses.iter().map(|loss| (loss.reason.as_str(), loss.count, loss.first_line)).collect()
}

#[test]
fn a_reply_is_put_together_from_its_lines() {
    let (transcripts, losses) = fixture("lines.jsonl");
    let [transcript] = transcripts.as_slice() else { panic!("{}", transcripts.len()) };
    assert_eq!((transcript.id.as_str(), transcript.version.as_str(), &transcript.parent), ("s1", "2.1.0", &None));
    let said: Vec<(Role, bool, &str)> =
        transcript.messages.iter().map(|message| (message.role, message.synthetic, says(message))).collect();
    let expected = [
        (Role::User, false, "list the files"),
        (Role::Assistant, false, "hm"),
        (Role::Tool, false, "one\ntwo"),
        (Role::Tool, false, "no file"),
        (Role::User, true, "be brief"),
        (Role::Assistant, false, "API Error"),
        (Role::Assistant, false, "done, I think that this is all there was to list in the folder"),
        (Role::User, true, "<local-command-stdout>bye</local-command-stdout>"),
        (Role::User, true, "Context for you"),
        (Role::User, false, "half \u{fffd} of a character"),
        (Role::Assistant, false, "ok"),
        (Role::Assistant, false, "x"),
    ];
    assert_eq!(said, expected);
    let reply = &transcript.messages[1];
    assert_eq!(reply.parts.len(), 3);
    assert!(matches!(&reply.parts[0], Part::Thinking { sealed_bytes: 8, .. }));
    assert!(
        matches!(&reply.parts[2], Part::ToolCall { name, arguments, .. } if name == "Read" && words(arguments) == r#"{"command":"ls"}"#)
    );
    assert!(matches!(&transcript.messages[2].parts[0], Part::ToolResult { name, error: false, .. } if name == "Bash"));
    let refused = &transcript.messages[3].parts;
    assert!(matches!(&refused[0], Part::ToolResult { name, error: true, .. } if name == "Read"));
    assert!(matches!(refused[1], Part::Image(Image { width: 800, height: 600, .. })));
    // The failed reply leaves the context when the next one comes from the same parent.
    assert_eq!(transcript.messages.iter().map(|message| message.rewind).position(|rewind| rewind.is_some()), Some(6));
    assert_eq!(transcript.messages[6].rewind, Some(5));
    // The output of m1 grew while it streamed; that of m2 is a placeholder; m3 changed the model; m4 counts less than nothing.
    let expected = [
        ("m1/req_m1", false, Some((100, 60, true))),
        ("m2/req_m2", true, Some((250, 9, false))),
        ("m3/req_m3", true, Some((300, 7, true))),
        ("m4/req_m4", false, None),
    ];
    assert_eq!(calls(transcript), expected);
    let usage = reply.call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.cache_read, usage.cache_write, usage.cache_write_1h), (20, 10, 6));
    let expected = [
        ("sub-agent traffic mirrored in progress records (left out)", 1, 9),
        ("half of a surrogate pair (replaced)", 1, 18),
        ("unknown record type", 1, 16),
        ("record of an unexpected shape", 1, 17),
        ("absurd usage numbers", 1, 20),
        ("cut off at the end of the file", 1, 21),
    ];
    let (mut found, mut expected) = (lost(&losses), expected.to_vec());
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn a_rewind_is_told_from_parallel_calls() {
    let (transcripts, losses) = fixture("branches.jsonl");
    let messages = &transcripts[0].messages;
    assert_eq!((transcripts.len(), losses.len()), (1, 0));
    let moves: Vec<(&str, Option<usize>, Option<usize>)> = messages
        .iter()
        .enumerate()
        .filter(|(_, m)| m.rewind.or(m.copy_of).is_some())
        .map(|(_, m)| (says(m), m.rewind, m.copy_of))
        .collect();
    let expected = [
        ("second, said otherwise", Some(5), None),
        ("second", Some(9), Some(5)),
        ("t3", None, Some(6)),
        ("result three", None, Some(7)),
        ("four", None, Some(8)),
        ("all from the start", Some(0), None),
    ];
    assert_eq!(moves, expected);
    // Each call is counted once, copies have none.
    assert_eq!(calls(&transcripts[0]).len(), 7);
    assert!(messages.iter().all(|message| message.copy_of.is_none() || message.call.is_none()));
}

#[test]
fn compactions_are_facts_and_no_messages() {
    let (transcripts, _) = fixture("compactions.jsonl");
    let [transcript] = transcripts.as_slice() else { panic!("{}", transcripts.len()) };
    let said: Vec<&str> = transcript.messages.iter().map(says).collect();
    assert_eq!(said, ["go on", "one", "more", "two", "three"]);
    let facts = |c: &Compaction| {
        (c.before, c.kind, c.automatic, c.tokens_before, c.tokens_after, c.kept_from, c.summary.as_ref().map(|text| words(text).to_owned()))
    };
    let expected = [
        (0, CompactionKind::Compact, Some(false), Some(900), Some(80), None, Some("Summary of what lies in another file".to_owned())),
        (4, CompactionKind::Prune, Some(true), None, None, None, None),
        (4, CompactionKind::Compact, Some(true), Some(205), None, Some(2), Some("Summary of it all".to_owned())),
        (5, CompactionKind::Compact, None, None, None, None, Some("A summary without a boundary".to_owned())),
    ];
    assert_eq!(transcript.compactions.iter().map(facts).collect::<Vec<_>>(), expected);
    // By the boundary's id a copy in another file is known.
    assert_eq!(transcript.compactions.iter().map(|event| event.id.as_str()).collect::<Vec<_>>(), ["b1", "p1", "b2", "s3"]);
    assert!(transcript.messages.iter().all(|message| message.rewind.is_none()));
}

/// Message 0 is the prompt, 1 the reply with two calls, 2 and 3 their results, 4 the attachment, 5 a call, 6 its result.
#[test]
fn a_pruning_names_the_results_and_attachments_that_it_took() {
    let (transcripts, losses) = fixture("microcompact.jsonl");
    assert!(losses.is_empty());
    let pruning = &transcripts[0].compactions[0];
    assert_eq!((pruning.kind, pruning.before, pruning.taken.as_slice()), (CompactionKind::Prune, 7, &[(2, 0), (4, 0), (6, 0)][..]));
}

/// A session of these records: a reply of this number of prompt tokens, or what a command printed, or an automatic compaction.
fn switched(records: &[&str]) -> Transcript {
    let record = |(number, told): (usize, &&str)| {
        let head = format!(r#""uuid":"u{number}","parentUuid":"p{number}","sessionId":"s""#);
        match told.parse::<u64>() {
            Ok(prompt) => format!(
                r#"{{"type":"assistant",{head},"message":{{"id":"m{number}","role":"assistant","model":"claude-opus-4-6","content":[{{"type":"text","text":"x"}}],"usage":{{"input_tokens":{prompt},"output_tokens":9}}}}}}"#
            ),
            Err(_) if told.starts_with('{') => format!(r#"{{"type":"system",{head},{}"#, &told[1..]),
            Err(_) => format!(
                r#"{{"type":"user",{head},"message":{{"role":"user","content":"<local-command-stdout>{told}</local-command-stdout>"}}}}"#
            ),
        }
    };
    let log: Vec<String> = records.iter().enumerate().map(record).collect();
    read_text("s.jsonl", &log.join("\n")).0.remove(0)
}

#[test]
fn the_bigger_window_is_in_force_where_most_calls_had_it() {
    let window = |records: &[&str]| switched(records).window;
    let bigger = r"Set model to \u001b[1mOpus 4.6 (1M context) (default)\u001b[22m";
    let usual = r"Set model to \u001b[1mDefault (Opus 4.6)\u001b[22m";
    assert_eq!(window(&["10", bigger, "20", "30"]), Some(1_000_000));
    assert_eq!(window(&["Set model to opus[1m] (claude-opus-4-6)", "10"]), Some(1_000_000));
    assert_eq!(window(&["10", "20", bigger, "30"]), None);
    assert_eq!(window(&[bigger, "10", usual, "20", "30"]), None);
    assert_eq!(window(&[usual, "10"]), None);
    let compacted = r#"{"subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":167000}}"#;
    assert_eq!(window(&[bigger, "10", compacted, "20"]), None);
    assert_eq!(window(&["10", compacted, bigger, "20", "30"]), None);
    let unsized_one = r#"{"subtype":"compact_boundary","compactMetadata":{"trigger":"auto"}}"#;
    assert_eq!(window(&[bigger, "10", unsized_one, "20"]), None);
}

#[test]
fn sub_agents_have_sessions_of_their_own() {
    let (transcripts, losses) = fixture("sessions.jsonl");
    let found: Vec<(&str, Option<&str>, usize)> =
        transcripts.iter().map(|t| (t.id.as_str(), t.parent.as_deref(), t.messages.len())).collect();
    // The main session was resumed under a second id.
    assert_eq!(found, [("s2", None, 4), ("s1/v1", Some("s1"), 2), ("s1/beef", Some("s1"), 2)]);
    assert_eq!(lost(&losses), [("repeated record (same uuid)", 1, 8)]);
}

#[test]
fn real_sessions_are_in_order() {
    let Some(shared) = shared() else { return };
    for path in files(&shared.join("transcripts/claude-code")) {
        for transcript in &read_all(&path).0 {
            check_order(transcript, &path);
        }
    }
}

/// What must hold in every transcript: results follow their calls, and each index points backwards.
fn check_order(transcript: &Transcript, path: &Path) {
    let mut asked = std::collections::HashSet::new();
    for (index, message) in transcript.messages.iter().enumerate() {
        assert!(message.rewind.is_none_or(|first| first < index) && message.copy_of.is_none_or(|original| original < index));
        for part in &message.parts {
            match part {
                Part::ToolCall { id, .. } => drop(asked.insert(id.as_str())),
                Part::ToolResult { call_id, .. } => assert!(asked.contains(call_id.as_str()), "{}: {call_id}", path.display()),
                _ => {}
            }
        }
    }
    assert!(transcript.compactions.iter().all(|compaction| compaction.before <= transcript.messages.len()));
}

#[test]
fn records_without_links_are_known_by_their_replies() {
    let prompt = r#"{"type":"user","sessionId":"s","timestamp":"2026-01-15T10:00:00Z","message":{"role":"user","content":"Hi"}}"#;
    let reply = |message: &str| format!(r#"{prompt}{}{{"type":"assistant","sessionId":"s","message":{{{message}"content":[]}}}}"#, "\n");
    let whole = reply(r#""id":"m1","model":"m","stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":2},"#);
    let (transcripts, losses) = read_text("talk.jsonl", &whole);
    let [session] = transcripts.as_slice() else { panic!("{}", transcripts.len()) };
    assert_eq!((session.agent.as_str(), session.id.as_str(), losses.len()), ("claude-code", "s", 0));
    assert_eq!(calls(session), [("m1", false, Some((9, 2, true)))]);
    let source = |text: String| Source::from_reader(Path::new("talk.jsonl"), Box::new(std::io::Cursor::new(text))).unwrap();
    assert!(sniff(&source(reply(r#""id":"m1","#))).is_none(), "no usage");
}

/// What the provider charges otherwise for is not taken for the model's list price.
#[test]
fn a_tier_stands_behind_the_name_of_the_model() {
    for (tier, model) in [
        (r#""service_tier":"standard","speed":"standard","inference_geo":"not_available""#, "claude-opus-4-6"),
        (r#""service_tier":null"#, "claude-opus-4-6"),
        (r#""service_tier":"standard","speed":"fast""#, "claude-opus-4-6:fast"),
        (r#""service_tier":"batch","inference_geo":"us""#, "claude-opus-4-6:batch:us"),
    ] {
        let usage = format!(r#"{{"input_tokens":9,"output_tokens":2,{tier}}}"#);
        let message = format!(r#"{{"id":"m1","model":"claude-opus-4-6","stop_reason":"end_turn","usage":{usage},"content":[]}}"#);
        let reply = format!(r#"{{"type":"assistant","sessionId":"s","timestamp":"2026-03-15T10:00:00Z","message":{message}}}"#);
        let (transcripts, _) = read_text("talk.jsonl", &reply);
        assert_eq!(transcripts[0].messages[0].call.as_ref().unwrap().model, model);
    }
    let catalog = ctxsim::catalog::Catalog::builtin().unwrap();
    assert!(catalog.find("claude-opus-4-6:fast").is_some() && catalog.billed_as("claude-opus-4-6:fast").is_some());
}

/// Gateways that translate another provider's protocol open a reply with an estimate of its prompt and close it with the count.
#[test]
fn the_last_line_of_a_reply_has_the_count_of_its_prompt() {
    let line = |stop: &str, usage: &str| {
        let message = format!(r#"{{"id":"m1","model":"MiniMax-M2.7","stop_reason":{stop},"usage":{usage},"content":[]}}"#);
        format!(r#"{{"type":"assistant","sessionId":"s","timestamp":"2026-03-15T10:00:00Z","message":{message}}}"#)
    };
    let opened = line("null", r#"{"input_tokens":99469,"cache_read_input_tokens":0,"output_tokens":0}"#);
    let closed = line(r#""tool_use""#, r#"{"input_tokens":60,"cache_read_input_tokens":94093,"output_tokens":289}"#);
    let grown = line("null", r#"{"input_tokens":99470,"cache_read_input_tokens":0,"output_tokens":3}"#);
    let cases = [
        (&opened, &closed, (94_153, 94_093, 289), None),
        (&closed, &opened, (94_153, 94_093, 289), None),
        (&opened, &grown, (99_470, 0, 3), Some("lines of one reply that disagree on its prompt (largest kept)")),
    ];
    for (first, second, expected, loss) in cases {
        let (transcripts, found) = read_text("talk.jsonl", &format!("{first}\n{second}"));
        let usage = transcripts[0].messages[0].call.as_ref().unwrap().usage.unwrap();
        assert_eq!((usage.prompt, usage.cache_read, usage.output), expected, "{first} {second}");
        assert_eq!(found.first().map(|(reason, _)| reason.as_str()), loss);
    }
}

/// Gateways that do not know the usage while a reply streams write one of zero tokens: a loss where no line of the reply has another one, and one loss then.
#[test]
fn a_usage_of_zero_is_lost_once_a_reply() {
    let line = |id: &str, output: u64, prompt: u64| {
        let usage = format!(r#"{{"input_tokens":{prompt},"output_tokens":{output}}}"#);
        format!(r#"{{"type":"assistant","sessionId":"s","message":{{"id":"{id}","model":"glm-4.7","usage":{usage},"content":[]}}}}"#)
    };
    let lines = [line("m1", 0, 0), line("m1", 230, 21_903), line("m2", 0, 0), line("m2", 0, 0), line("m3", 40, 22_500)];
    let (transcripts, found) = read_text("talk.jsonl", &lines.join("\n"));
    let prompts: Vec<_> =
        transcripts[0].messages.iter().map(|message| message.call.as_ref().unwrap().usage.map(|usage| usage.prompt)).collect();
    assert_eq!(prompts, [Some(21_903), None, Some(22_500)]);
    assert_eq!(found, [("usage of zero tokens (not used)".to_owned(), 1)]);
}

/// Bedrock and Vertex AI mark the ids of their messages.
#[test]
fn a_host_marks_its_messages() {
    for (id, host) in [("msg_bdrk_01", Some("amazon-bedrock")), ("msg_vrtx_01", Some("vertexai")), ("msg_01", None)] {
        let message = format!(
            r#"{{"id":"{id}","model":"claude-opus-5","stop_reason":"end_turn","usage":{{"input_tokens":9,"output_tokens":2}},"content":[]}}"#
        );
        let reply = format!(r#"{{"type":"assistant","sessionId":"s","timestamp":"2026-08-15T10:00:00Z","message":{message}}}"#);
        assert_eq!(read_text("talk.jsonl", &reply).0[0].host.as_deref(), host);
    }
}

/// What programs that start the agent record of its lines, and a session's lines in one document.
#[test]
fn records_may_stand_in_a_document() {
    let recv = |line: &str| format!(r#"{{"direction":"recv","message":{line}}}"#);
    let reply = |kind: &str| {
        format!(
            r#"{{"type":"assistant","session_id":"s-1","parent_tool_use_id":null,"message":{{"id":"m1","role":"assistant","model":"claude-sonnet-4-5","content":[{kind}],"usage":{{"input_tokens":5,"output_tokens":60}}}}}}"#
        )
    };
    let passed = [
        r#"{"direction":"send","message":{"type":"control_request","request_id":"r"}}"#.to_owned(),
        recv(r#"{"type":"control_response","response":{}}"#),
        r#"{"direction":"send","message":{"type":"user","message":{"role":"user","content":"List"},"parent_tool_use_id":null,"session_id":"default"}}"#.to_owned(),
        recv(r#"{"type":"system","subtype":"init","session_id":"s-1","claude_code_version":"2.1.0","tools":[]}"#),
        recv(&reply(r#"{"type":"thinking","thinking":"Hm"}"#)),
        recv(&reply(r#"{"type":"text","text":"Here"}"#)),
        recv(r#"{"type":"result","subtype":"success","session_id":"s-1"}"#),
    ];
    let log = format!(r#"{{"metadata":{{"cli_version":"1.0.100"}},"messages":[{}]}}"#, passed.join(","));
    let (transcripts, lost) = read_text("talk.json", &log);
    assert_eq!(lost, []);
    let [session] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!((session.id.as_str(), session.version.as_str(), prompts(session)), ("s-1", "2.1.0", vec![(5, 60)]));
    assert_eq!(in_short(session), ["u: List", "a: ~0 | Here"]);

    let log = r#"{
  "loglines": [
    {"type":"user","timestamp":"2025-12-24T10:00:00.000Z","message":{"role":"user","content":"Add"}},
    {"type":"assistant","timestamp":"2025-12-24T10:00:05.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Done"}]}}
  ]
}"#;
    let (transcripts, lost) = read_text("talk.json", log);
    // Nothing tells that a provider answered.
    assert_eq!(lost, [("reply without an id, usage and a reason to stop (no call)".to_owned(), 1)]);
    assert_eq!((in_short(&transcripts[0]), transcripts[0].messages[1].call.is_none()), (vec!["u: Add".into(), "a: Done".into()], true));
}

/// Results that are too large together stand in the log whole, and behind them what the model reads in their place.
#[test]
fn what_stands_for_a_result_is_what_counts() {
    let record = |number: u64, role: &str, content: &str, more: &str| {
        format!(
            r#"{{"type":"{role}","uuid":"u{number}","parentUuid":{},"sessionId":"s","isSidechain":false,"version":"2.1.332","timestamp":"2026-11-25T10:00:0{number}.000Z","message":{{"role":"{role}","content":{content}{more}}}}}"#,
            if number == 1 { "null".to_owned() } else { format!("\"u{}\"", number - 1) }
        ) + "\n"
    };
    let usage = |id: &str| format!(r#","id":"{id}","model":"claude-sonnet-5-5","usage":{{"input_tokens":900,"output_tokens":5}}"#);
    let call = r#"[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]"#;
    let result = format!(r#"[{{"type":"tool_result","tool_use_id":"t1","content":"{}"}}]"#, "much ".repeat(4_000));
    let replaced = r#"{"type":"content-replacement","sessionId":"s","replacements":[{"kind":"tool-result","toolUseId":"t1","replacement":"<persisted-output>\nLittle"},{"kind":"tool-result","toolUseId":"t9","replacement":"None"}]}"#;
    let log = [
        record(1, "user", r#""Go""#, ""),
        record(2, "assistant", call, &usage("m1")),
        record(3, "user", &result, ""),
        replaced.to_owned() + "\n",
        record(4, "assistant", r#"[{"type":"text","text":"Ho"}]"#, &usage("m2")),
        "{\"type\":\"content-replacement\",\"sessionId\":\"s\"}\n".to_owned(),
    ];
    let (sessions, lost) = read_text("s.jsonl", &log.concat());
    let Part::ToolResult { text, .. } = &sessions[0].messages[2].parts[0] else { panic!("{:?}", sessions[0].messages[2]) };
    assert_eq!(text.content.as_deref(), Some("<persisted-output>\nLittle"));
    assert_eq!(lost, [("record of an unexpected shape".to_owned(), 1)]);
}

/// Later versions write the messages that a compaction keeps behind its boundary, where no line had them yet.
#[test]
fn what_a_compaction_keeps_may_stand_behind_its_boundary() {
    let line = |kind: &str, id: &str, parent: &str, more: Value| {
        let parent = if parent.is_empty() { Value::Null } else { json!(parent) };
        let mut line = json!({"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s", "version": "2.1.220", "timestamp": "2026-08-08T11:46:37.217Z"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let user = |text: &str| json!({"message": {"role": "user", "content": text}});
    let reply = |id: &str, prompt: u64| {
        let usage = json!({"input_tokens": prompt, "output_tokens": 9});
        let content = json!([{"type": "text", "text": format!("reply {id}")}]);
        json!({"message": {"id": id, "role": "assistant", "model": "claude-opus-5", "content": content, "usage": usage}})
    };
    let kept = json!({"anchorUuid": "s1", "uuids": ["a2", "u3"]});
    let metadata = json!({"trigger": "auto", "preTokens": 2_100, "preservedMessages": kept});
    let boundary = json!({"subtype": "compact_boundary", "content": "", "compactMetadata": metadata});
    let summary = json!({"isCompactSummary": true, "message": {"role": "user", "content": "Short"}});
    let log = [
        line("user", "u1", "", user("One")),
        line("assistant", "a1", "u1", reply("m1", 1_000)),
        line("user", "u2", "a1", user("Two")),
        line("system", "b", "", boundary),
        line("user", "s1", "b", summary),
        line("assistant", "a2", "s1", reply("m2", 2_000)),
        line("user", "u3", "a2", user("Three")),
        line("user", "u4", "u3", user("Four")),
        line("assistant", "a3", "u4", reply("m3", 600)),
    ];
    let (sessions, lost) = read_text("s.jsonl", &log.concat());
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(in_short(&sessions[0]), ["u: One", "a: reply m1", "u: Two", "a: reply m2", "u: Three", "u: Four", "a: reply m3"]);
    let [event] = sessions[0].compactions.as_slice() else { panic!("{:?}", sessions[0].compactions) };
    assert_eq!((event.before, event.kept_from, event.tokens_before), (5, Some(3), Some(2_100)));
    assert_eq!(event.summary.as_ref().unwrap().content.as_deref(), Some("Short"));
    assert!(sessions[0].messages.iter().all(|message| message.rewind.is_none()));
    // The boundary names the record before it, which may not be in the log.
    let is_behind_gap = |named: &str| {
        let log = log
            .concat()
            .replace("\"subtype\":\"compact_boundary\"", &format!("\"subtype\":\"compact_boundary\",\"logicalParentUuid\":\"{named}\""));
        read_text("s.jsonl", &log).0[0].compactions[0].behind_gap
    };
    assert_eq!(["u2", "gone"].map(is_behind_gap), [false, true]);
}

/// What the pages of a file cost no log says: the prompts that hold it are no measure of the texts beside it.
#[test]
fn a_prompt_with_a_document_holds_what_the_log_does_not() {
    let line = |kind: &str, id: &str, parent: &str, more: Value| {
        let mut line = json!({"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s", "version": "2.1.220", "timestamp": "2026-08-08T11:46:37.217Z"});
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{line}\n")
    };
    let user = |content: Value| json!({"message": {"role": "user", "content": content}});
    let reply = |id: &str, prompt: u64| {
        let usage = json!({"input_tokens": prompt, "output_tokens": 9});
        let content = json!([{"type": "text", "text": format!("reply {id}")}]);
        json!({"message": {"id": id, "role": "assistant", "model": "claude-opus-5", "stop_reason": "end_turn", "content": content, "usage": usage}})
    };
    let file = json!([{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "QQ=="}}]);
    let boundary = json!({"subtype": "compact_boundary", "content": "", "compactMetadata": {"trigger": "auto", "preTokens": 31_000}});
    let log = [
        line("user", "u1", "", user(json!("One"))),
        line("assistant", "a1", "u1", reply("m1", 1_000)),
        line("user", "u2", "a1", user(json!("Two"))),
        line("user", "u3", "u2", user(file)),
        line("assistant", "a2", "u3", reply("m2", 30_000)),
        line("user", "u4", "a2", user(json!("Three"))),
        line("assistant", "a3", "u4", reply("m3", 30_100)),
        line("system", "b", "", boundary),
        line("user", "s1", "b", json!({"isCompactSummary": true, "message": {"role": "user", "content": "Short"}})),
        line("user", "u5", "s1", user(json!("Four"))),
        line("assistant", "a4", "u5", reply("m4", 2_000)),
    ];
    let (sessions, lost) = read_text("s.jsonl", &log.concat());
    assert_eq!(lost, [("attached file whose size in tokens is unknown".to_owned(), 1)]);
    let said = ["u: One", "a: reply m1", "u: Two", "a: reply m2", "u: Three", "a: reply m3", "u: Four", "a: reply m4"];
    assert_eq!(in_short(&sessions[0]), said);
    let calls = sessions[0].messages.iter().filter_map(|message| message.call.as_ref());
    let trusts: Vec<Trust> = calls.map(|call| call.usage.unwrap().trust).collect();
    assert_eq!(trusts, [Trust::Provider, Trust::Beyond, Trust::Beyond, Trust::Provider]);
    assert_eq!(calls_unchained(&sessions[0])[..3], [false, true, true]);
}

fn calls_unchained(transcript: &Transcript) -> Vec<bool> {
    calls(transcript).into_iter().map(|(_, unchained, _)| unchained).collect()
}

/// A person who leaves again asks for nothing.
#[test]
fn commands_of_the_agent_alone_are_no_session() {
    let record = |session: &str, kind: &str, message: Value| {
        json!({"parentUuid": null, "isSidechain": false, "sessionId": session, "version": "2.1.0", "type": kind, "uuid": format!("{session}-{kind}"), "message": message}).to_string()
    };
    let asked = record("s1", "user", json!({"role": "user", "content": "<command-name>/exit</command-name>"}));
    let (sessions, lost) = read_text("s1.jsonl", &asked);
    assert_eq!((sessions.len(), lost), (0, vec![("session that asks a model for nothing".to_owned(), 1)]));
    // A refusal for its size was a request.
    let refusal =
        json!({"id": "x", "role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "Prompt is too long"}]});
    let refused = record("s1", "assistant", refusal).replace("\"type\":\"assistant\"", "\"type\":\"assistant\",\"isApiErrorMessage\":true");
    let (sessions, _) = read_text("s1.jsonl", &format!("{asked}\n{refused}"));
    assert_eq!((sessions.len(), sessions[0].refused, sessions[0].refusals.as_slice()), (1, true, &[1][..]));
}

/// The Agent SDK forks a session into a file whose lines have new ids, and the last of them a new time; each names the line that it copies.
#[test]
fn lines_that_the_sdk_has_forked_count_once() {
    let line = |session: &str, number: usize, of: Option<&str>| {
        let id = |session: &str, number: usize| format!("{session}-{number}-5e1f-4a63-9d0c-7b2e8c4f6a01");
        let parent = number.checked_sub(1).map(|before| id(session, before));
        let mut line = json!({"uuid": id(session, number), "parentUuid": parent, "sessionId": session, "version": "2.1.81",
            "timestamp": format!("2026-03-18T00:0{}:00.000Z", if of.is_some() && number == 3 { 9 } else { number })});
        let message = json!({"id": format!("msg_01AbCdEfGhJkLmNpQrStUv{number}"), "model": "claude-sonnet-4-6", "role": "assistant",
            "content": [{"type": "text", "text": "Done"}], "usage": {"input_tokens": 10_000 + number, "output_tokens": 60}});
        let more = match number % 2 {
            0 => json!({"type": "user", "message": {"role": "user", "content": "go on"}}),
            _ => json!({"type": "assistant", "requestId": format!("req_011CYEZVeZ6YYmzpCUKmUap{number}"), "message": message}),
        };
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        if let Some(of) = of {
            line["forkedFrom"] = json!({"sessionId": of, "messageUuid": id(of, number)});
        }
        format!("{line}\n")
    };
    let folder = tempfile::tempdir().unwrap();
    let own: String = (0..4).map(|number| line("s0", number, None)).collect();
    let fork: String = (0..6).map(|number| line("s1", number, Some("s0").filter(|_| number < 4))).collect();
    for (name, text) in [("s0", own), ("s1", fork)] {
        std::fs::write(folder.path().join(format!("{name}.jsonl")), text).unwrap();
    }
    let corpus = &ctxsim(&["inspect", &folder.path().to_string_lossy(), "--json"]).json()["corpus"];
    assert_eq!((&corpus["calls"], &corpus["messages"]), (&json!(3), &json!(6)), "{corpus}");
}

/// Where 2.1.45 forks a session, copied lines have new ids, and each line of a reply an id of the message that is its own.
#[test]
fn lines_of_a_forked_session_are_known_by_their_requests() {
    let line = |fork: Option<&str>, reply: usize, line: usize, block: Value| {
        let own = format!("{}{reply}-{line}-5e1f-4a63-9d0c-7b2e8c4f6a01", fork.unwrap_or("0"));
        let message = if fork.is_some() { own.clone() } else { format!("msg_01AbCdEfGhJkLmNpQrStUv{reply}") };
        let usage = json!({"input_tokens": 3, "cache_read_input_tokens": 10_000 * (reply + 1), "output_tokens": 60});
        json!({"type": "assistant", "uuid": own, "parentUuid": null, "sessionId": format!("s{}", fork.unwrap_or("0")), "version": "2.1.45",
            "timestamp": format!("2026-02-18T00:0{reply}:0{line}.000Z"), "requestId": format!("req_011CYEZVeZ6YYmzpCUKmUap{reply}"),
            "message": {"id": message, "model": "claude-sonnet-4-6", "role": "assistant", "content": [block], "usage": usage}})
    };
    let session = |fork: Option<&str>, replies: usize| {
        let asks = json!({"type": "user", "uuid": format!("{}-asks-5e1f-4a63-9d0c", fork.unwrap_or("0")), "parentUuid": null, "version": "2.1.45",
            "sessionId": format!("s{}", fork.unwrap_or("0")), "timestamp": "2026-02-18T00:00:00.000Z", "message": {"role": "user", "content": "go on"}});
        let called = json!({"type": "tool_use", "id": "t", "name": "Read", "input": {}});
        let lines = (0..replies).flat_map(|reply| {
            [line(fork, reply, 1, json!({"type": "text", "text": format!("part of {reply}")})), line(fork, reply, 2, called.clone())]
        });
        std::iter::once(asks).chain(lines).map(|line| format!("{line}\n")).collect::<String>()
    };
    let (transcripts, lost) = read_text("s1.jsonl", &session(Some("1"), 3));
    assert_eq!(lost, []);
    assert_eq!(prompts(&transcripts[0]), [(10_003, 60), (20_003, 60), (30_003, 60)]);
    assert_eq!(transcripts[0].messages.len(), 4);
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("s0", session(None, 2)), ("s1", session(Some("1"), 3)), ("s2", session(Some("2"), 3))] {
        std::fs::write(folder.path().join(format!("{name}.jsonl")), text).unwrap();
    }
    let corpus = &ctxsim(&["inspect", &folder.path().to_string_lossy(), "--json"]).json()["corpus"];
    assert_eq!((&corpus["calls_with_usage"], &corpus["recorded_prompt_tokens"]), (&json!(3), &json!(60_009)), "{corpus}");
}

/// Versions before boundaries write the command beside the summary that it asked for. A prompt or a reply in between is of another matter.
#[test]
fn a_summary_beside_the_command_was_asked_for() {
    let line = |kind: &str, message: Value| {
        let summary = message["summary"] == json!(true);
        let line = json!({"type": kind, "sessionId": "s", "version": "1.0.29", "timestamp": "2025-06-22T22:45:41Z", "isCompactSummary": summary, "message": message});
        format!("{line}\n")
    };
    let user = |text: &str| line("user", json!({"role": "user", "content": text}));
    let summary = || line("user", json!({"role": "user", "content": "Short", "summary": true}));
    let reply = |id: &str| {
        let usage = json!({"input_tokens": 1_000, "output_tokens": 9});
        let content = json!([{"type": "text", "text": "Done"}]);
        line("assistant", json!({"id": id, "role": "assistant", "model": "claude-sonnet-4", "content": content, "usage": usage}))
    };
    let caveat = || user("Caveat: The messages below were generated by the user while running local commands. DO NOT respond");
    let command = || user("<command-name>/compact</command-name>\n<command-message>compact</command-message>");
    let printed = || user("<local-command-stdout>Compacted.</local-command-stdout>");
    let automatic = |beside: &[String]| {
        let log = [user("One"), reply("m1"), beside.concat(), user("Two"), reply("m2")].concat();
        let (sessions, _) = read_text("s.jsonl", &log);
        sessions[0].compactions.iter().map(|event| event.automatic).collect::<Vec<_>>()
    };
    assert_eq!(automatic(&[summary(), caveat(), command(), printed()]), [Some(false)]);
    assert_eq!(automatic(&[caveat(), command(), summary(), printed()]), [Some(false)]);
    assert_eq!(automatic(&[summary()]), [None]);
    let other = user("<command-name>/cost</command-name>");
    assert_eq!(automatic(&[summary(), other]), [None]);
    assert_eq!(automatic(&[summary(), reply("m3"), command()]), [None]);
    assert_eq!(automatic(&[command(), user("Go on"), summary()]), [None]);
    assert_eq!(automatic(&[summary(), user("What does <command-name>/compact</command-name> mean?")]), [None]);
}
