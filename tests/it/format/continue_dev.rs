use crate::support::{assert_lost, claim, ctxsim, fixture, in_short, project, prompts, read_text};
use ctxsim::format::Claim;
use ctxsim::transcript::Part;
use serde_json::{Value, json};

#[test]
fn an_extension_keeps_what_stood_before_a_message_and_what_tools_gave() {
    let (transcripts, lost) = fixture("continue/session.json");
    assert_lost(&lost, &[("request without a reply", 1)]);
    let session = &transcripts[0];
    assert_eq!(session.id, "7c1e0000-0000-4000-8000-000000000001");
    let shown = in_short(session);
    // The instructions stand in the first prompt alone.
    assert_eq!(shown[0], "s: Be short.\n\nAlways.");
    assert!(shown[1].starts_with("u: x = 1\n | Rename it | "), "{}", shown[1]);
    assert!(shown[2].ends_with("I look. | read_file(call_1) | run_terminal_command(call_2)"), "{}", shown[2]);
    assert!(matches!(&session.messages[2].parts[0], Part::Thinking { sealed_bytes: 8, .. }));
    let texts: Vec<String> = session.messages.iter().flat_map(|message| &message.parts).filter_map(result).collect();
    assert_eq!(texts, ["x = 1\n\nmore", "no such command\n[Status: Command failed]", "The user cancelled this tool call."]);
    assert_eq!(shown[6..], ["t: edit(call_3)=", "u: Why?", "a: ~0 | Because.", "u: Go on", "a: On."], "{shown:?}");
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_ref()).collect();
    assert_eq!(calls.iter().map(|call| call.model.as_str()).collect::<Vec<_>>(), ["My model", "claude-x", "", ""]);
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.summary.as_ref().unwrap().content.as_deref()), (9, Some("It was renamed.")));
    assert!(calls[3].unchained);
}

fn result(part: &Part) -> Option<String> {
    match part {
        Part::ToolResult { text, .. } => Some(text.as_str().to_owned()),
        _ => None,
    }
}

#[test]
fn the_command_line_keeps_the_usage_of_each_reply() {
    let (transcripts, lost) = fixture("continue/cli.json");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    // Thoughts of 45 tokens are in the total alone; what does not fit into a prompt lies beside it.
    assert_eq!(prompts(session), [(2000, 60), (2040, 3), (2065, 2)]);
    let usage: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_ref()?.usage).collect();
    assert_eq!(usage.iter().map(|usage| (usage.cache_read, usage.cache_write)).collect::<Vec<_>>(), [(0, 0), (1990, 0), (1900, 160)]);
    assert_eq!(session.messages[1].call.as_ref().unwrap().model, "gemini-2.5-pro");
}

#[test]
fn a_sum_of_a_session_is_no_call_s_and_its_model_is_all_calls() {
    let (transcripts, lost) = fixture("continue/sums.json");
    assert_lost(&lost, &[("usage of the whole session alone", 1)]);
    assert_eq!(transcripts[0].messages[1].call.as_ref().unwrap().model, "GPT-5.2");
    let list = project().join("tests/data/continue/sessions.json");
    assert_eq!(claim(&list), Some(("continue", Claim::Companion)));
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("continue/broken.json");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("message of an unknown role", 1),
            ("message without content", 1),
            ("reasoning without a reply", 1),
            ("record of an unexpected shape (field `toolCalls`)", 1),
            ("unknown content part", 2),
        ],
    );
    assert_eq!(in_short(&transcripts[0]), ["u: text", "a: Ho"]);
}

/// Anthropic's prompt leaves out what was read from the cache and written to it, however much that is.
#[test]
fn what_anthropic_caches_lies_beside_the_prompt() {
    let usage = json!({
        "prompt_tokens": 1500, "completion_tokens": 20, "total_tokens": 1520,
        "prompt_tokens_details": { "cached_tokens": 900, "cache_read_tokens": 900, "cache_write_tokens": 300 },
    });
    let cli = std::fs::read_to_string(project().join("tests/data/continue/cli.json")).unwrap();
    let mut log: Value = serde_json::from_str(&cli).unwrap();
    let reply = log["history"].as_array_mut().unwrap().iter_mut().find(|entry| entry["message"].get("usage").is_some()).unwrap();
    reply["message"]["usage"] = usage;
    let (transcripts, _) = read_text("session.json", &log.to_string());
    let found = transcripts[0].messages.iter().find_map(|message| message.call.as_ref()?.usage).unwrap();
    assert_eq!((found.prompt, found.cache_read, found.cache_write, found.output), (2_700, 900, 300, 20));
}

/// A fork begins with a copy of the history, and replies of the command line have no ids.
#[test]
fn what_a_fork_copies_counts_once() {
    let usage = |prompt: u64| json!({"prompt_tokens": prompt, "completion_tokens": 5, "total_tokens": prompt + 5, "model": "gpt-5"});
    let ask = |text: &str| json!({"message": {"role": "user", "content": text}, "contextItems": []});
    let tool = |id: &str, prompt: u64| {
        let call = json!([{"id": id, "type": "function", "function": {"name": "Bash", "arguments": "{}"}}]);
        let state = json!([{"toolCallId": id, "status": "done", "output": [{"content": "a b"}]}]);
        json!({"message": {"role": "assistant", "content": "", "toolCalls": call, "usage": usage(prompt)}, "contextItems": [], "toolCallStates": state})
    };
    let reply =
        |text: &str, prompt: u64| json!({"message": {"role": "assistant", "content": text, "usage": usage(prompt)}, "contextItems": []});
    let folder = tempfile::tempdir().unwrap();
    let write = |session: &str, id: &str, last: Value| {
        let history = [ask("List"), tool(id, 1000), reply("Two", 1100), ask("And now"), last];
        let log = json!({"sessionId": session, "title": "t", "workspaceDirectory": "/w", "history": history});
        std::fs::write(folder.path().join(format!("{session}.json")), log.to_string()).unwrap();
    };
    let counted = || {
        let out = ctxsim(&["inspect", folder.path().to_str().unwrap(), "--json", "--quiet"]).stdout();
        let report: Value = serde_json::from_str(&out).unwrap();
        report["models"].as_array().unwrap().iter().map(|model| model["calls"].as_u64().unwrap()).sum::<u64>()
    };
    let drawn = "call_Zk3pQ9vX7bT1mN5rW2sY8uJ4";
    write("s1", drawn, reply("Three", 1200));
    write("s2", drawn, reply("Four", 1250));
    assert_eq!(counted(), 4);
    // A name that an agent gives by itself is no sign of a copy.
    write("s1", "tool_call_0_read_file", reply("Three", 1200));
    write("s2", "tool_call_0_read_file", reply("Four", 1250));
    assert_eq!(counted(), 6);
}
