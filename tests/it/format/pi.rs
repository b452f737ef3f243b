use crate::support::{claim, ctxsim, in_short, project, prompts, read_all, read_text};
use ctxsim::format::Claim;
use ctxsim::transcript::{CompactionKind, Loss, Message, Part, Role, Transcript};
use serde_json::{Value, json};
use std::path::PathBuf;

fn fixture(name: &str) -> PathBuf {
    project().join("tests/data/pi").join(name)
}

fn only(name: &str) -> (Transcript, Vec<Loss>) {
    let (mut transcripts, losses) = read_all(&fixture(name));
    assert_eq!(transcripts.len(), 1);
    (transcripts.remove(0), losses)
}

fn content(message: &Message) -> &str {
    match message.parts.first() {
        Some(Part::Text(text) | Part::ToolResult { text, .. } | Part::Thinking { text, .. }) => text.content.as_deref().unwrap(),
        other => panic!("no text: {other:?}"),
    }
}

#[test]
fn a_header_is_claimed_and_another_agents_is_not() {
    assert_eq!(claim(&fixture("version1.jsonl")), Some(("pi", Claim::Yes)));
    assert_eq!(claim(&fixture("tree.jsonl")), Some(("pi", Claim::Yes)));
    assert!(claim(&fixture("other_agent.jsonl")).is_none_or(|(reader, _)| reader != "pi"));
}

#[test]
fn version_one_is_a_list() {
    let (session, losses) = only("version1.jsonl");
    assert_eq!(losses, []);
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("one", None));
    let roles: Vec<Role> = session.messages.iter().map(|message| message.role).collect();
    use Role::{Assistant, Tool, User};
    assert_eq!(roles, [User, Assistant, Tool, Assistant, Assistant, User, Assistant, User, Assistant]);
    assert!(session.messages.iter().all(|message| message.rewind.is_none() && message.copy_of.is_none()));

    let usage = session.messages[1].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.prompt, usage.cache_read, usage.cache_write, usage.output), (130, 100, 20, 5));
    assert_eq!((usage.cost_nano_usd, usage.output_is_final), (Some(125_000_000), true));
    assert_eq!(session.messages[1].call.as_ref().unwrap().id, "resp-1");
    assert!(matches!(&session.messages[1].parts[0], Part::Thinking { sealed_bytes: 4, .. }));
    let Part::ToolCall { id, name, arguments } = &session.messages[1].parts[1] else { panic!() };
    assert_eq!((id.as_str(), name.as_str(), arguments.content.as_deref()), ("t1", "read", Some(r#"{"path":"a b.rs"}"#)));

    assert_eq!(content(&session.messages[2]), "one\ntwo");
    assert!(matches!(session.messages[2].parts[1], Part::Image(image) if (image.width, image.height) == (3, 5)));
}

#[test]
fn a_request_that_was_broken_off_counts_only_with_usage() {
    let (session, _) = only("version1.jsonl");
    let broken_off = session.messages[3].call.as_ref().unwrap();
    assert_eq!(broken_off.usage.map(|usage| (usage.prompt, usage.output_is_final)), Some((131, false)));
    assert_eq!(session.messages[4].call, None);
    // After the failure, and after the change of model.
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| Some(message.call.as_ref()?.unchained)).collect();
    assert_eq!(unchained, [false, false, true, true]);
}

#[test]
fn a_persons_command_is_user_text_that_opens_no_turn() {
    let (session, _) = only("version1.jsonl");
    let command = &session.messages[5];
    assert!(command.synthetic);
    assert_eq!(content(command), "Ran `ls`\n```\na\nb\n```\n\nCommand exited with code 2");
    assert!(!format!("{:?}", session.messages).contains("secret"));
}

#[test]
fn version_one_counts_kept_entries_from_the_header() {
    let (session, _) = only("version1.jsonl");
    let [compaction] = session.compactions.as_slice() else { panic!() };
    // Entry 5 is the aborted reply: header, thinking level, three messages before it.
    assert_eq!((compaction.before, compaction.kept_from), (7, Some(3)));
    assert_eq!((compaction.kind, compaction.tokens_before), (CompactionKind::Compact, Some(207)));
    assert_eq!(compaction.summary.as_ref().and_then(|summary| summary.content.as_deref()), Some("what was done"));
}

#[test]
fn a_branch_rewinds_and_a_return_shows_messages_again() {
    let (session, losses) = only("tree.jsonl");
    assert_eq!(losses, []);
    assert_eq!(session.parent, None, "a fork is no sub-agent");
    let seen: Vec<(&str, Option<usize>, Option<usize>)> =
        session.messages.iter().map(|message| (content(message), message.rewind, message.copy_of)).collect();
    assert_eq!(
        seen,
        [
            ("first", None, None),
            ("a1", None, None),
            ("second", None, None),
            ("a2", None, None),
            // Back to a1: second and a2 leave.
            ("left a branch", Some(2), None),
            ("note", None, None),
            ("a3", None, None),
            ("a4", None, None),
            // Back to a2: what came since leaves, and the two are back.
            ("second", Some(4), Some(2)),
            ("a2", None, Some(3)),
            ("third", None, None),
            ("a5", None, None),
            // A new root: everything leaves.
            ("anew", Some(0), None),
            ("a6", None, None),
        ]
    );
    assert!(session.messages[4].synthetic && session.messages[5].synthetic);
    assert_eq!(session.messages[9].call, None);
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| Some(message.call.as_ref()?.unchained)).collect();
    assert_eq!(unchained, [false, false, true, false, true, true]);
}

#[test]
fn a_tree_keeps_from_the_entry_that_it_names() {
    let (session, _) = only("tree.jsonl");
    let [compaction] = session.compactions.as_slice() else { panic!() };
    assert_eq!((compaction.before, compaction.kept_from, compaction.tokens_before), (7, Some(5), Some(140)));
    assert_eq!(compaction.call.as_ref().and_then(|call| call.usage).map(|usage| usage.prompt), Some(140));
}

#[test]
fn damage_is_counted_and_costs_nothing_else() {
    let (session, losses) = only("broken.jsonl");
    assert_eq!(session.id, "broken.jsonl");
    let count = |reason: &str| losses.iter().find(|loss| loss.reason == reason).map_or(0, |loss| loss.count);
    assert_eq!(count("not JSON"), 2);
    assert_eq!(count("cut off at the end of the file"), 1);
    assert_eq!(count("parent entry is not in the file: read on in order of time"), 1);
    assert_eq!(count("entry that is in the file already"), 1);
    assert_eq!(count("absurd usage numbers"), 2);
    assert_eq!(count("unknown content part"), 1);
    assert_eq!(count("content of an unexpected shape"), 1);
    assert_eq!(count("unknown record type"), 1);
    assert_eq!(count("message of an unknown role"), 1);
    assert_eq!(losses.len(), 9);
    // The two glued entries, the child of a broken line, and all that follows.
    assert_eq!(session.messages.len(), 8);
    assert!(session.messages.iter().all(|message| message.rewind.is_none()));
    let calls: Vec<bool> = session.messages.iter().filter_map(|message| Some(message.call.as_ref()?.usage.is_some())).collect();
    assert_eq!(calls, [true, false, false, true]);
}

/// A session: a header, and an entry for each message or summary, behind the one before it.
fn session(id: &str, cwd: &str, messages: &[Value]) -> String {
    let time = "2026-03-01T10:00:00.000Z";
    let head = json!({"type": "session", "version": 3, "id": id, "timestamp": time, "cwd": cwd});
    let entries = messages.iter().enumerate().map(|(place, message)| {
        let parent = place.checked_sub(1).map(|before| before.to_string());
        let mut entry = json!({"type": "message", "id": place.to_string(), "parentId": parent, "timestamp": time, "message": message});
        if message["summary"].is_string() {
            (entry["type"], entry["summary"]) = (json!("compaction"), message["summary"].clone());
        }
        entry
    });
    std::iter::once(head).chain(entries).map(|line| format!("{line}\n")).collect()
}

fn reply(provider: &str, model: &str, input: u64) -> Value {
    json!({"role": "assistant", "content": [{"type": "text", "text": "Hello."}], "provider": provider, "model": model, "usage": {"input": input}})
}

/// OpenClaw is told from pi; what it says itself is no call; memories are written down before a compaction of its own.
#[test]
fn openclaw_is_an_agent_of_its_own() {
    let user = |text: &str| json!({"role": "user", "content": text});
    let flush = user("Pre-compaction memory flush. Store durable memories now.");
    let said = [user("Hi"), reply("zai", "glm-5", 90), reply("openclaw", "delivery-mirror", 0), flush, json!({"summary": "All."})];
    let read = |cwd: &str, said: &[Value]| read_text("log.jsonl", &session("one", cwd, said)).0.remove(0);
    let claw = read("C:\\Users\\x\\.openclaw\\workspace", &said);
    let calls: Vec<&str> = claw.messages.iter().filter_map(|message| Some(message.call.as_ref()?.model.as_str())).collect();
    assert_eq!((claw.agent.as_str(), calls.as_slice(), claw.messages.len()), ("openclaw", &["glm-5"][..], 4));
    assert_eq!(claw.compactions[0].automatic, Some(true));
    assert_eq!(read("/x", &said).agent, "openclaw");
    // It had other names before.
    let earlier = read("/x", &[user("Hi"), reply("zai", "glm-5", 90), reply("clawdbot", "delivery-mirror", 0)]);
    assert_eq!((earlier.agent.as_str(), earlier.messages.iter().filter(|message| message.call.is_some()).count()), ("openclaw", 1));
    assert_eq!(read("/x", &said[..2]).agent, "pi");
}

/// Letta Code keeps what it does on its own machine as pi does, with more beside, and writes a message anew that changes.
#[test]
fn a_local_conversation_of_letta_code_has_its_name_and_window() {
    let folder = tempfile::tempdir().unwrap();
    let line = |kind: &str, id: &str, parent: Option<&str>, rest: Value| {
        let mut line = json!({"type": kind, "id": id, "parentId": parent, "timestamp": "2026-10-12T02:00:00Z"});
        line.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        line.to_string()
    };
    let local = |id: &str, mut message: Value| {
        let beside = json!({"id": id, "metadata": {"agent_id": "agent-1", "conversation_id": "default"}});
        message.as_object_mut().unwrap().extend(beside.as_object().unwrap().clone());
        json!({"message": message})
    };
    let user = |text: &str| json!({"role": "user", "content": text});
    let stats =
        json!({"trigger": "context_window_limit", "context_tokens_before": 90, "context_tokens_after": 20, "context_window": 200_000});
    let summary = json!({"summary": "They spoke.", "firstKeptEntryId": "b", "tokensBefore": 90, "details": {"stats": stats}});
    let lines = [
        json!({"type": "session", "version": 3, "id": "default", "timestamp": "2026-10-12T02:00:00Z", "cwd": "/p"}).to_string(),
        line("message", "a", None, local("m1", user("Hi"))),
        line("message", "b", Some("a"), local("m2", json!({"role": "assistant", "content": [], "provider": "p", "model": "m"}))),
        line("message", "c", Some("b"), local("m2", reply("p", "m", 90))),
        line("compaction", "d", Some("c"), summary),
        line("message", "e", Some("d"), local("m3", user("More"))),
        // An id that comes back with another turn stands for a message of its own.
        line("message", "f", Some("e"), local("m1", user("Again"))),
        line("message", "g", Some("f"), local("m2", reply("p", "m", 95))),
    ];
    let path = folder.path().join("messages.jsonl");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let beside = folder.path().join("manifest.json");
    std::fs::write(&beside, r#"{"schema_version":2,"message_format":"pi-session-entry-jsonl","provider_stack":"pi-ai"}"#).unwrap();
    assert_eq!((claim(&path), claim(&beside)), (Some(("pi", Claim::Yes)), Some(("pi", Claim::Companion))));
    let (sessions, lost) = read_all(&path);
    let session = &sessions[0];
    assert_eq!((session.agent.as_str(), session.window, lost.len()), ("letta-code", Some(200_000), 0));
    let said = ["u: Hi", "a: Hello.", "u: More", "u: Again", "a: Hello."].map(str::to_owned).to_vec();
    assert_eq!((in_short(session), prompts(session)), (said, vec![(90, 0), (95, 0)]));
    let compaction = &session.compactions[0];
    assert_eq!((compaction.automatic, compaction.tokens_before, compaction.tokens_after), (Some(true), Some(90), Some(20)));
    assert_eq!((compaction.before, compaction.kept_from), (2, Some(1)));
}

/// The host is that of the main model: a subscription has a window of its own.
#[test]
fn the_host_is_the_provider_of_the_main_model() {
    let said = [("anthropic", "opus"), ("openai-codex", "gpt-5.4"), ("openai", "gpt-5.4"), ("openai-codex", "gpt-5.4")];
    let (sessions, _) = read_text("log.jsonl", &session("one", "/x", &said.map(|(provider, model)| reply(provider, model, 90))));
    assert_eq!(sessions[0].host.as_deref(), Some("openai-codex"));
}

#[test]
fn each_header_with_an_id_of_its_own_begins_a_session() {
    let said = [reply("zai", "glm-5", 90), reply("zai", "glm-5", 95)];
    let [one, two] = ["one", "two"].map(|id| session(id, "/x", &said));
    let (sessions, losses) = read_text("-", &[one.as_str(), &one, &two].concat());
    let found: Vec<(&str, usize)> = sessions.iter().map(|session| (session.id.as_str(), session.messages.len())).collect();
    assert_eq!(found, [("one", 2), ("two", 2)], "{losses:?}");
}

#[test]
fn the_list_of_openclaws_sessions_belongs_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("sessions.json");
    let entry = json!({"sessionId": "o1", "updatedAt": 1_771_380_043_949_u64, "skillsSnapshot": {"prompt": "p"}, "contextTokens": 200_000});
    std::fs::write(&index, json!({"agent:main:main": entry}).to_string()).unwrap();
    assert_eq!(claim(&index), Some(("pi", Claim::Companion)));
    let entry = |id: &str, parent: Option<&str>, message: Value| {
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-02-18T02:00:00Z", "message": message}).to_string()
    };
    let session = [
        json!({"type": "session", "version": 3, "id": "o1", "timestamp": "2026-02-18T02:00:00Z", "cwd": "/p"}).to_string(),
        entry("a", None, json!({"role": "user", "content": "Hi"})),
        entry("b", Some("a"), json!({"role": "assistant", "content": [{"type": "text", "text": "Ho"}], "provider": "p", "model": "m"})),
    ];
    std::fs::write(folder.path().join("o1.jsonl"), session.join("\n")).unwrap();
    ctxsim(&["inspect", "--quiet", "--strict"]).args([folder.path()]).code(0);
    std::fs::write(&index, r#"{"agent:main:main":{"sessionId":"o1"}}"#).unwrap();
    assert_eq!(claim(&index), None);
}

/// OpenClaw compacts by the window that it knows of a provider's model, which stands beside the folder of its sessions.
#[test]
fn openclaws_windows_are_those_of_its_models() {
    let folder = tempfile::tempdir().unwrap();
    let [sessions, agent] = ["sessions", "agent"].map(|name| folder.path().join("agents/main").join(name));
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::create_dir_all(&agent).unwrap();
    let models = json!({"providers": {
        "other": {"apiKey": "k", "models": [{"id": "m", "contextWindow": 9_000}]},
        "p": {"baseUrl": "u", "models": [{"id": "m", "contextWindow": 64_000, "maxTokens": 8_192}, {"id": "capped", "contextWindow": 64_000, "contextTokens": 32_000}, {"id": "bare"}]},
        "none": {"baseUrl": "u"},
    }});
    std::fs::write(agent.join("models.json"), models.to_string()).unwrap();
    assert_eq!(claim(&agent.join("models.json")), Some(("pi", Claim::Companion)));
    let window = |cwd: &str, provider: &str, model: &str| {
        let path = sessions.join("one.jsonl");
        std::fs::write(&path, session("one", cwd, &[json!({"role": "user", "content": "Hi"}), reply(provider, model, 90)])).unwrap();
        read_all(&path).0[0].window
    };
    let cwd = "/home/x/.openclaw/workspace";
    let found = [("p", "m"), ("other", "m"), ("p", "capped"), ("p", "bare"), ("none", "m"), ("unknown", "m")]
        .map(|(provider, model)| window(cwd, provider, model));
    assert_eq!(found, [Some(64_000), Some(9_000), Some(32_000), None, None, None]);
    assert_eq!(window("/home/x", "p", "m"), None);
    std::fs::write(agent.join("models.json"), "{").unwrap();
    assert_eq!(window(cwd, "p", "m"), None);
}

/// A stream of Anthropic's begins with a placeholder; one of OpenAI's kind has its usage at the end, so that a reply which breaks off behind it was counted.
#[test]
fn a_reply_that_fails_behind_its_usage_was_counted() {
    let is_final = |api: &str| {
        let mut failed = reply("p", "m", 90);
        failed["usage"]["output"] = json!(40);
        (failed["api"], failed["stopReason"], failed["errorMessage"]) = (json!(api), json!("error"), json!("Unterminated string in JSON"));
        let read = read_text("log.jsonl", &session("one", "/x", &[json!({"role": "user", "content": "Hi"}), failed])).0.remove(0);
        read.messages[1].call.as_ref().unwrap().usage.unwrap().output_is_final
    };
    let apis = ["openai-completions", "openai-responses", "azure-openai-responses", "anthropic-messages", ""];
    assert_eq!(apis.map(is_final), [true, true, true, false, false]);
}

/// `--mode json`: what a session file holds, among events that show how it came about.
#[test]
fn what_is_printed_is_read_as_what_is_kept() {
    let header = json!({"type": "session", "version": 3, "id": "p1", "timestamp": "2026-01-13T00:33:34.702Z", "cwd": "/repo"});
    let user = json!({"role": "user", "content": [{"type": "text", "text": "Go"}], "timestamp": 1_768_264_415_000_u64});
    let reply = |text: &str, input: u64, reason: &str| {
        json!({"role": "assistant", "content": [{"type": "text", "text": text}], "provider": "openai", "model": "gpt-5.1-codex", "stopReason": reason,
            "usage": {"input": input, "output": input / 10, "cacheRead": 0, "cacheWrite": 0}, "timestamp": 1_768_264_416_000_u64 + input})
    };
    let said = |message: &Value| {
        let events = ["message_start", "message_update", "message_end"];
        events.map(|kind| json!({"type": kind, "message": message}).to_string()).join("\n")
    };
    let lines = |kept: bool| {
        let event = |kind: &str| json!({"type": kind}).to_string();
        let (first, last) = (reply("First", 1240, "toolUse"), reply("Last", 680, "stop"));
        let result = json!({"role": "toolResult", "toolCallId": "t", "toolName": "read", "content": [{"type": "text", "text": "a"}], "isError": false});
        let compacted = json!({"type": "auto_compaction_end", "aborted": false, "result": {"summary": "All so far", "firstKeptEntryId": "e1", "tokensBefore": 1364}});
        let mut lines =
            vec![event("agent_start"), event("turn_start"), said(&user), said(&first), event("tool_execution_end"), said(&result)];
        lines.extend([json!({"type": "turn_end", "message": first}).to_string(), event("auto_compaction_start"), compacted.to_string()]);
        lines.extend([said(&last), json!({"type": "agent_end", "messages": [user, first, result, last]}).to_string()]);
        if kept {
            lines.insert(0, header.to_string());
        }
        lines.join("\n")
    };
    for kept in [false, true] {
        let (transcripts, lost) = read_text("run.jsonl", &lines(kept));
        assert_eq!(lost, []);
        let session = &transcripts[0];
        assert_eq!(session.id, if kept { "p1" } else { "run.jsonl" });
        assert_eq!(in_short(session), ["u: Go", "a: First", "t: read(t)=", "a: Last"]);
        assert_eq!(prompts(session), [(1240, 124), (680, 68)]);
        assert_eq!(session.messages[0].time, Some(1_768_264_415_000));
        let compaction = &session.compactions[0];
        assert_eq!(
            (compaction.before, compaction.kept_from, compaction.automatic, compaction.tokens_before),
            (3, None, Some(true), Some(1364))
        );
    }
}

/// Command Code writes entries as pi does, Anthropic's messages within, and usage and model beside them.
#[test]
fn sessions_of_command_code() {
    let mut parent = Value::Null;
    let entry = |(number, (role, content, usage)): (usize, (&str, Value, Option<u64>))| {
        let id = format!("{number:08x}");
        let mut entry = json!({"type": "message", "id": id, "parentId": parent.take(), "timestamp": format!("2026-07-28T18:30:0{number}.000Z"),
            "message": {"role": role, "content": content, "meta": {"source": role, "messageId": id}}});
        if let Some(prompt) = usage {
            entry["usage"] = json!({"inputTokens": prompt, "outputTokens": 5, "cacheReadTokens": 90, "cacheWriteTokens": 0, "costUsd": 0});
            entry["model"] = json!("glm-5");
        }
        parent = json!(id);
        entry.to_string()
    };
    let said = |words: &str| json!([{"type": "text", "text": words}]);
    let call = json!([{"type": "text", "text": "So"}, {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "c1", "content": said("four")}]);
    let entries =
        [("user", said("Go"), None), ("assistant", call, Some(100)), ("user", result, None), ("assistant", said("Done"), Some(120))];
    let header = json!({"type": "session", "version": 3, "id": "s1", "timestamp": "2026-07-28T18:29:49.718Z", "cwd": "/repo"}).to_string();
    let lines: Vec<String> = std::iter::once(header).chain(entries.into_iter().enumerate().map(entry)).collect();
    let (transcripts, lost) = read_text("session.jsonl", &lines.join("\n"));
    assert_eq!(lost, []);
    let session = &transcripts[0];
    assert_eq!((session.agent.as_str(), session.id.as_str()), ("command-code", "s1"));
    assert_eq!(in_short(session), ["u: Go", "a: So | read_file(c1)", "t: read_file(c1)=", "a: Done"]);
    // What was read from the cache is a part of the input.
    assert_eq!(prompts(session), [(100, 5), (120, 5)]);
    let call = session.messages[1].call.as_ref().unwrap();
    assert_eq!((call.model.as_str(), call.usage.unwrap().cache_read), ("glm-5", 90));
}

/// Since 0.86 a session holds the instructions and tools, edits of earlier entries, and requests that no reply came of.
#[test]
fn instructions_edits_and_requests_apart_are_read() {
    let entry = |id: &str, parent: Value, more: Value| {
        let mut entry = json!({"id": id, "parentId": parent, "timestamp": "2026-11-21T10:00:10.000Z"});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry.to_string() + "\n"
    };
    let message = |more: Value| json!({"type": "message", "message": more});
    let usage =
        |read: u64, write: u64, hour: u64| json!({"input": 10, "output": 4, "cacheRead": read, "cacheWrite": write, "cacheWrite1h": hour});
    let replied = |content: Value, usage: Value| {
        message(json!({"role": "assistant", "provider": "anthropic", "model": "m", "content": content, "usage": usage}))
    };
    let call = json!([{"type": "toolCall", "id": "t1", "name": "read", "arguments": {}}]);
    let tools = json!([{"name": "read", "description": "Read it", "parameters": {}}]);
    let log = [
        json!({"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-21T10:00:00.000Z", "cwd": "/w"}).to_string() + "\n",
        entry(
            "1",
            Value::Null,
            message(json!({"role": "system", "content": "", "sections": {"preamble": "Be good.", "date": "Today"}, "toolsAdded": tools})),
        ),
        entry("2", json!("1"), message(json!({"role": "user", "content": "Look"}))),
        entry("3", json!("2"), replied(call, usage(0, 500, 300))),
        entry(
            "4",
            json!("3"),
            message(
                json!({"role": "toolResult", "toolCallId": "t1", "toolName": "read", "content": [{"type": "text", "text": "Much"}], "usage": usage(0, 0, 0)}),
            ),
        ),
        entry(
            "5",
            json!("4"),
            json!({"type": "context_edit", "targetId": "4", "replacement": {"content": [{"type": "text", "text": "[cleared]"}]}}),
        ),
        entry("6", json!("5"), json!({"type": "context_edit", "targetId": "2", "replacement": null})),
        entry(
            "7",
            json!("6"),
            json!({"type": "usage", "kind": "cache_warm", "provider": "anthropic", "model": "w", "usage": usage(500, 0, 0)}),
        ),
        entry("8", json!("7"), message(json!({"role": "system", "content": "", "sections": {"date": "Tomorrow"}}))),
        entry("9", json!("8"), replied(json!([{"type": "text", "text": "Done"}]), usage(500, 40, 0))),
    ];
    let (sessions, lost) = read_text("s.jsonl", &log.concat());
    assert_eq!((sessions.len(), lost), (1, vec![]));
    let session = &sessions[0];
    let roles: Vec<Role> = session.messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::Tool, Role::System, Role::Assistant]);
    let first = &session.messages[0].parts;
    assert!(matches!(first.as_slice(), [Part::Text(_), Part::Text(_), Part::Tools(_)]), "{first:?}");
    assert_eq!(prompts(session), [(510, 4), (550, 4)]);
    let usage = session.messages[2].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.cache_write, usage.cache_write_1h), (500, 300));
    let beside: Vec<(&str, u64)> = session.side_calls.iter().map(|call| (call.model.as_str(), call.usage.unwrap().prompt)).collect();
    assert_eq!(beside, [("", 10), ("w", 510)]);
    let [edit] = session.compactions.as_slice() else { panic!("{:?}", session.compactions) };
    assert_eq!((edit.kind, edit.before, &edit.taken), (CompactionKind::Prune, 4, &vec![(1, 0), (3, 0)]));
}
