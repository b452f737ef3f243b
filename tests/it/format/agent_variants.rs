use crate::policies::{calls_of, preset, run};
use crate::support::{in_short, prompts, read_source};
use ctxsim::catalog::Catalog;
use ctxsim::estimate::Vocabulary;
use ctxsim::format::{Source, sniff};
use ctxsim::measure::{self, Measure};
use ctxsim::policy::{Facts, Policy};
use ctxsim::sim::EventKind;
use ctxsim::transcript::{Part, Transcript};
use std::io::Cursor;
use std::path::Path;

/// The only session of some lines, by the reader that must claim it, and the reasons for losses.
fn read(reader: &str, lines: &[&str]) -> (Transcript, Vec<String>) {
    let open = || Source::from_reader(Path::new("log.jsonl"), Box::new(Cursor::new(lines.join("\n")))).unwrap();
    assert_eq!(sniff(&open()).map(|(reader, _)| reader.name), Some(reader));
    let (mut transcripts, losses) = read_source(open());
    assert_eq!(transcripts.len(), 1);
    (transcripts.remove(0), losses.into_iter().map(|loss| loss.reason).collect())
}

#[test]
fn codex_tells_what_other_agents_said() {
    let usage = |total: u64, last: u64| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total}}},"last_token_usage":{{"input_tokens":{last},"output_tokens":1}}}}}}}}"#
        )
    };
    let (session, lost) = read(
        "codex",
        &[
            r#"{"type":"session_meta","payload":{"id":"s","cli_version":"0.145.0","source":"cli"}}"#,
            r#"{"type":"world_state","payload":{"full":true,"state":{"host_skills":{"body":"shown by a message"}}}}"#,
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<user_action>\nreview\n</user_action>"}]}}"#,
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go"}]}}"#,
            r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Wait"}]}}"#,
            &usage(100, 100),
            // A reply that is broken off for the message has no usage, and is no call.
            r#"{"type":"response_item","payload":{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]}}"#,
            &usage(100, 100),
            r#"{"type":"inter_agent_communication_metadata","payload":{"trigger_turn":false}}"#,
            r#"{"type":"response_item","payload":{"type":"agent_message","id":"m","author":"agent/a","recipient":"agent","content":[{"type":"input_text","text":"Message Type: FINAL_ANSWER"}]}}"#,
            r#"{"type":"response_item","payload":{"type":"agent_message","author":"agent/b","recipient":"agent","content":[{"type":"input_text","text":"Message Type: MESSAGE"},{"type":"encrypted_content","encrypted_content":"xyz"}]}}"#,
            r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}}"#,
            &usage(260, 160),
        ],
    );
    assert_eq!(
        in_short(&session),
        [
            "*: <user_action>\nreview\n</user_action>",
            "u: Go",
            "a: Wait",
            "a: ~0",
            "*: Message Type: FINAL_ANSWER",
            "*: Message Type: MESSAGE",
            "a: Done"
        ]
    );
    assert_eq!(prompts(&session), [(100, 1), (160, 1)]);
    assert_eq!(lost, ["encrypted content whose size in tokens is unknown"]);
}

#[test]
fn the_report_of_a_review_is_no_call_of_codex() {
    let item = |role: &str, kind: &str, text: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}}}"#
        )
    };
    let (session, lost) = read(
        "codex",
        &[
            r#"{"type":"session_meta","payload":{"id":"s"}}"#,
            r#"{"type":"event_msg","payload":{"type":"entered_review_mode"}}"#,
            &item("user", "input_text", "<user_action>review</user_action>"),
            r#"{"type":"event_msg","payload":{"type":"exited_review_mode"}}"#,
            &item("assistant", "output_text", "Two findings"),
            &item("user", "input_text", "Mend them"),
            &item("assistant", "output_text", "Done"),
            r#"{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":80},"last_token_usage":{"input_tokens":80,"output_tokens":2}}}}"#,
        ],
    );
    assert_eq!(in_short(&session), ["*: <user_action>review</user_action>", "a: Two findings", "u: Mend them", "a: Done"]);
    assert_eq!((prompts(&session), lost), (vec![(80, 2)], vec![]));
}

/// `/compact` is a turn that does nothing else; what an agent compacts stands before or within its work.
#[test]
fn codex_tells_who_asked_for_a_compaction() {
    let item = |role: &str, kind: &str, text: &str| {
        format!(
            r#"{{"type":"response_item","payload":{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}}}"#
        )
    };
    let (user, reply) = (item("user", "input_text", "Go"), item("assistant", "output_text", "Done"));
    let event = |kind: &str| format!(r#"{{"type":"event_msg","payload":{{"type":"{kind}"}}}}"#);
    let (begins, ends) = (event("task_started"), event("task_complete"));
    let compacted = r#"{"type":"compacted","payload":{"message":"What was done"}}"#;
    let meta = r#"{"type":"session_meta","payload":{"id":"s","cli_version":"0.140.0","source":"cli"}}"#;
    let asked = |lines: &[&str]| {
        let lines: Vec<&str> = std::iter::once(meta).chain(lines.iter().copied()).collect();
        let (session, lost) = read("codex", &lines);
        assert!(lost.is_empty(), "{lost:?}");
        session.compactions.iter().map(|compaction| compaction.automatic).collect::<Vec<_>>()
    };
    let turn = [begins.as_str(), &user, &reply, &ends];
    let manual = [begins.as_str(), compacted, &ends];
    let before = [begins.as_str(), compacted, &user, &reply, &ends];
    let within = [begins.as_str(), &user, &reply, compacted, &reply, &ends];
    assert_eq!(asked(&[&turn[..], &manual, &turn, &before, &within].concat()), [Some(false), Some(true), Some(true)]);
    // Files of old versions do not record turns, and one that was broken off says nothing.
    assert_eq!(asked(&[&user, &reply, compacted, &user, &reply]), [None]);
    assert_eq!(asked(&[&turn[..], &[&begins, compacted]].concat()), [None]);
}

/// Codex adds an estimate of the encrypted reasoning of earlier turns, which most servers leave out of prompts. Where it was removed
/// of the log, what the provider reported stands for it. Codex adds it, too, where the server keeps it in the prompt.
#[test]
fn reasoning_that_a_log_lacks_still_makes_codex_compact() {
    let item = |payload: &str| format!(r#"{{"type":"response_item","payload":{payload}}}"#);
    let user = |text: &str| item(&format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#));
    let reply = item(r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done"}]}"#);
    let usage = |total: u64, prompt: u64, output: u64, reasoning: u64| {
        format!(
            r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total},"total_tokens":{total}}},"last_token_usage":{{"input_tokens":{prompt},"output_tokens":{output},"reasoning_output_tokens":{reasoning},"total_tokens":{}}}}}}}}}"#,
            prompt + output
        )
    };
    let compactions_of = |model: &str, [second, third]: [u64; 2], reasoning: &str, reported: u64, settings: &[(&str, &str)]| {
        let lines = [
            r#"{"type":"session_meta","payload":{"id":"s","cli_version":"0.140.0","source":"cli"}}"#.to_owned(),
            format!(r#"{{"type":"turn_context","payload":{{"model":"{model}"}}}}"#),
            user("Go"),
            item(&format!(r#"{{"type":"reasoning","summary":[]{reasoning}}}"#)),
            reply.clone(),
            usage(1, 8_000, 900, reported),
            user("On"),
            item(r#"{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}"#),
            usage(2, second, 50, 0),
            item(r#"{"type":"function_call_output","call_id":"c","output":"ok"}"#),
            reply.clone(),
            usage(3, third, 10, 0),
        ];
        let (session, lost) = read("codex", &lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(lost.is_empty(), "{lost:?}");
        let catalog = Catalog::builtin().unwrap();
        let trace = measure::trace(session, "codex", Measure { catalog: &catalog, model: None, vocabulary: Vocabulary::O200kBase });
        calls_of(&run(&preset("codex", settings), &trace, 10_000), EventKind::Compact)
    };
    let compactions =
        |reasoning: &str, reported: u64, settings: &[(&str, &str)]| compactions_of("gpt-5", [8_120, 8_190], reasoning, reported, settings);
    let sealed = format!(r#","encrypted_content":"{}""#, "g".repeat(867 + 646 * 8));
    let included = [("server_reasoning_included", "1")];
    for reasoning in ["", r#","encrypted_content":"REDACTED""#, sealed.as_str()] {
        assert_eq!(compactions(reasoning, 800, &[]), [2], "{reasoning}");
        assert_eq!(compactions(reasoning, 800, &included), [] as [u32; 0], "{reasoning}");
    }
    // A model whose reasoning stays in the prompt.
    let kept = |settings| compactions_of("claude-opus-4-5", [8_910, 8_965], &sealed, 800, settings);
    assert_eq!((kept(&[]), kept(&included)), (vec![2], vec![]));
    // What is encrypted in few bytes is estimated at nothing, as Codex does it.
    assert_eq!(compactions(&format!(r#","encrypted_content":"{}""#, "g".repeat(800)), 800, &[]), [] as [u32; 0]);
    // Too little to matter.
    assert_eq!(compactions("", 600, &[]), [] as [u32; 0]);
}

/// Codex logs a result as its tool returned it, and cuts it as its history takes it in: the model reads 48,000 bytes and a mark.
#[test]
fn a_result_of_codex_has_the_size_that_its_history_takes_in() {
    let item = |payload: &str| format!(r#"{{"type":"response_item","payload":{payload}}}"#);
    let bytes_of = |version: &str, output: &str| {
        let lines = [
            format!(r#"{{"type":"session_meta","payload":{{"id":"s","cli_version":"{version}","source":"cli"}}}}"#),
            item(r#"{"type":"function_call","name":"wait","arguments":"{\"max_tokens\":30000}","call_id":"c"}"#),
            item(&format!(r#"{{"type":"function_call_output","call_id":"c","output":{output}}}"#)),
        ];
        let (session, lost) = read("codex", &lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(lost.is_empty(), "{lost:?}");
        match &session.messages.last().unwrap().parts[0] {
            Part::ToolResult { text, .. } => text.length.bytes as usize,
            part => panic!("{part:?}"),
        }
    };
    let text = |letters: usize| format!(r#""{}""#, "word ".repeat(letters / 5));
    let list = |letters: &[usize]| {
        let texts: Vec<String> = letters.iter().map(|letters| format!(r#"{{"type":"input_text","text":{}}}"#, text(*letters))).collect();
        format!("[{}]", texts.join(","))
    };
    let mark = |gone: usize| format!("…{} tokens truncated…", gone / 4).len();
    assert_eq!(bytes_of("0.144.2", &text(48_000)), 48_000);
    assert_eq!(bytes_of("0.144.2", &text(60_000)), 48_000 + mark(12_000));
    // Of several texts the first have what they need; what is left over is named.
    let omitted = "\n[omitted 1 text items ...]".len();
    assert_eq!(bytes_of("0.144.2", &list(&[8_000, 60_000, 400])), 8_000 + 1 + 40_000 + mark(20_000) + omitted);
    assert_eq!(bytes_of("0.57.0", &text(60_000)), 60_000);
}

/// How long the encrypted form of reasoning is differs by model: where a log lacks it, the catalogue says what Codex makes of it.
#[test]
fn what_codex_estimates_of_reasoning_that_a_log_lacks_is_its_models() {
    let catalog = Catalog::builtin().unwrap();
    let estimate = |model: &str, policy: &str| {
        let sealed_thousandths = catalog.find(model).unwrap().sealed_thousandths.unwrap_or(0);
        let facts = Facts { window: Some(272_000), sealed_thousandths, ..Facts::default() };
        Policy::load(policy).unwrap().plan(&facts).unwrap().estimator.sealed_by_report(10_000)
    };
    assert_eq!(["gpt-5.5", "gpt-5.6-sol"].map(|model| estimate(model, "codex")), [12_110, 14_700]);
    // A policy that does not count it.
    assert_eq!(estimate("gpt-5.6-sol", "pi"), 0);
}

#[test]
fn codex_names_who_started_a_sub_agent() {
    let message = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}}"#;
    let parent = |source: &str| {
        let meta = format!(r#"{{"type":"session_meta","payload":{{"id":"s",{source}}}}}"#);
        read("codex", &[&meta, message]).0.parent
    };
    assert_eq!(parent(r#""source":{"subagent":"review"},"parent_thread_id":"p""#).as_deref(), Some("p"));
    assert_eq!(parent(r#""source":{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}}"#).as_deref(), Some("p"));
    // A person's fork is no sub-agent.
    assert_eq!(parent(r#""source":"cli","forked_from_id":"f""#), None);
}

#[test]
fn claude_code_empties_the_conversation_in_its_file() {
    let (session, lost) = read(
        "claude-code",
        &[
            r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Plan it"}}"#,
            r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Here"}],"usage":{"input_tokens":900,"output_tokens":5}}}"#,
            r#"{"type":"bridge-session","sessionId":"s","bridgeSessionId":"c","lastSequenceNum":0}"#,
            r#"{"type":"progress","uuid":"p1","parentUuid":null,"sessionId":"s","data":{"type":"hook_progress","hookEvent":"SessionStart","hookName":"SessionStart:clear"}}"#,
            r#"{"type":"progress","uuid":"p2","parentUuid":"p1","sessionId":"s","data":{"type":"hook_progress","hookName":"SessionStart:clear"}}"#,
            r#"{"type":"user","uuid":"u2","parentUuid":"p2","sessionId":"s","message":{"role":"user","content":"Implement the plan"}}"#,
            r#"{"type":"assistant","uuid":"a2","parentUuid":"u2","sessionId":"s","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"Done"}],"usage":{"input_tokens":500,"output_tokens":5}}}"#,
        ],
    );
    assert_eq!(in_short(&session), ["u: Plan it", "a: Here", "u: Implement the plan", "a: Done"]);
    assert_eq!(session.messages[2].rewind, Some(0));
    assert_eq!(lost, Vec::<String>::new());
}

#[test]
fn what_a_person_says_during_a_turn_of_claude_code() {
    let reply = |uuid: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{uuid}","parentUuid":"{parent}","sessionId":"s","message":{{"id":"{uuid}","role":"assistant","content":[{{"type":"text","text":"{text}"}}],"usage":{{"input_tokens":9,"output_tokens":5}}}}}}"#
        )
    };
    let queue = |operation: &str, text: &str| match text {
        "" => format!(r#"{{"type":"queue-operation","operation":"{operation}","sessionId":"s"}}"#),
        text => format!(r#"{{"type":"queue-operation","operation":"{operation}","sessionId":"s","content":"{text}"}}"#),
    };
    let (session, lost) = read(
        "claude-code",
        &[
            // Before its first record a text only waits for its turn.
            &queue("enqueue", "Go"),
            &queue("dequeue", ""),
            r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Go"}}"#,
            &reply("a1", "u1", "One"),
            &queue("enqueue", "<task-notification>ended</task-notification>"),
            &queue("enqueue", "And test it"),
            &queue("enqueue", "Never mind"),
            &queue("remove", ""),
            &queue("remove", "And test it"),
            &queue("popAll", ""),
            &queue("remove", ""),
            &reply("a2", "a1", "Two"),
            // Newer versions write down what the model is given.
            &queue("enqueue", "Be quick"),
            &queue("remove", ""),
            r#"{"type":"attachment","uuid":"t1","parentUuid":"a2","sessionId":"s","attachment":{"type":"queued_command","prompt":"Be quick"}}"#,
            &reply("a3", "t1", "Three"),
        ],
    );
    assert_eq!(in_short(&session), ["u: Go", "a: One", "*: other And test it", "a: Two", "*: other Be quick", "a: Three"]);
    assert_eq!(lost, Vec::<String>::new());
}

#[test]
fn what_claude_code_prints() {
    let lines = [
        r#"{"type":"system","subtype":"hook_started","hook_name":"SessionStart:startup","uuid":"h","session_id":"s"}"#,
        r#"{"type":"system","subtype":"init","session_id":"s","tools":["Bash"],"model":"m","claude_code_version":"2.0.30","uuid":"i"}"#,
        r#"{"type":"assistant","message":{"id":"m1","model":"m","role":"assistant","content":[{"type":"text","text":"Look"}],"usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"s","uuid":"1"}"#,
        r#"{"type":"assistant","message":{"id":"m1","model":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Task","input":{}}],"usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":70}},"parent_tool_use_id":null,"session_id":"s","uuid":"2"}"#,
        r#"{"type":"user","message":{"role":"user","content":"Search"},"parent_tool_use_id":"t1","session_id":"s","uuid":"3"}"#,
        r#"{"type":"assistant","message":{"id":"m2","model":"m","role":"assistant","content":[{"type":"text","text":"Found"}],"usage":{"input_tokens":40,"output_tokens":3}},"parent_tool_use_id":"t1","session_id":"s","uuid":"4"}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Found"}]},"parent_tool_use_id":null,"session_id":"s","uuid":"5","tool_use_result":{}}"#,
        r#"{"type":"system","subtype":"compact_boundary","session_id":"s","uuid":"6","compact_metadata":{"trigger":"auto","pre_tokens":180}}"#,
        r#"{"type":"user","message":{"role":"user","content":"Continued: all is found"},"parent_tool_use_id":null,"session_id":"s","uuid":"7","isSynthetic":true}"#,
        r#"{"type":"assistant","message":{"id":"m3","model":"m","role":"assistant","content":[{"type":"text","text":"Done"}],"usage":{"input_tokens":60,"output_tokens":5}},"parent_tool_use_id":null,"session_id":"s","uuid":"8"}"#,
        r#"{"type":"result","subtype":"success","num_turns":2,"session_id":"s","usage":{"input_tokens":70}}"#,
    ];
    // Some keep the same records as one list.
    for text in [lines.join("\n"), format!("[\n  {}\n]", lines[1..].join(",\n  "))] {
        let open = || Source::from_reader(Path::new("log.json"), Box::new(Cursor::new(text.clone()))).unwrap();
        assert_eq!(sniff(&open()).map(|(reader, _)| reader.name), Some("claude-code"));
        let (transcripts, losses) = read_source(open());
        let [session, side] = transcripts.as_slice() else { panic!("{}", transcripts.len()) };
        assert_eq!((session.id.as_str(), session.version.as_str(), &session.parent), ("s", "2.0.30", &None));
        assert_eq!(in_short(session), ["a: Look | Task(t1)", "t: Task(t1)=", "a: Done"]);
        assert_eq!(prompts(session), [(100, 70), (60, 5)]);
        let [compaction] = session.compactions.as_slice() else { panic!("{:?}", session.compactions) };
        assert_eq!((compaction.before, compaction.automatic, compaction.tokens_before), (2, Some(true), Some(180)));
        assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("Continued: all is found"));
        assert_eq!((side.id.as_str(), side.parent.as_deref()), ("s/t1", Some("s")));
        assert_eq!((in_short(side), prompts(side)), (vec!["u: Search".to_owned(), "a: Found".to_owned()], vec![(40, 3)]));
        assert_eq!(losses, []);
    }
}

#[test]
fn copilot_cli_tells_the_model_of_background_commands() {
    let (session, lost) = read(
        "copilot-cli",
        &[
            r#"{"type":"session.start","data":{"sessionId":"s"},"id":"1","timestamp":"2026-01-01T00:00:00Z","parentId":null}"#,
            r#"{"type":"user.message","data":{"content":"Build"},"id":"2","timestamp":"2026-01-01T00:00:01Z","parentId":"1"}"#,
            r#"{"type":"assistant.message","data":{"content":"Started"},"id":"3","timestamp":"2026-01-01T00:00:02Z","parentId":"2"}"#,
            r#"{"type":"system.notification","data":{"content":"It has ended","kind":{"type":"shell_completed"}},"id":"4","timestamp":"2026-01-01T00:00:03Z","parentId":"3"}"#,
            r#"{"type":"assistant.message","data":{"content":"Built"},"id":"5","timestamp":"2026-01-01T00:00:04Z","parentId":"4"}"#,
        ],
    );
    assert_eq!(in_short(&session), ["u: Build", "a: Started", "*: It has ended", "a: Built"]);
    assert_eq!(lost, Vec::<String>::new());
}

#[test]
fn pi_without_its_header() {
    let (session, lost) = read(
        "pi",
        &[
            r#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:00Z","message":{"role":"user","content":[{"type":"text","text":"On"}]}}"#,
            r#"{"type":"message","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:01Z","message":{"role":"assistant","content":[{"type":"text","text":"Yes"}],"usage":{"input":10,"output":2,"cacheRead":5,"cacheWrite":0}}}"#,
        ],
    );
    assert_eq!(in_short(&session), ["u: On", "a: Yes"]);
    assert_eq!(prompts(&session), [(15, 2)]);
    assert_eq!(lost, ["parent entry is not in the file: read on in order of time"]);
}

#[test]
fn requests_of_the_chat_in_vs_code() {
    let round = |id: &str, said: &str, calls: &str| {
        format!(r#"{{"id":"{id}","response":"{said}","toolCalls":[{calls}],"toolInputRetry":0,"timestamp":1772003515382}}"#)
    };
    let call = |id: &str| format!(r#"{{"id":"{id}","name":"run","arguments":"{{\"command\":\"ls\"}}"}}"#);
    let rounds = [
        round("r1", "Look", &[call("c1"), call("c2")].join(",")),
        r#"{"id":"r2","response":"","toolCalls":[],"thinking":{"text":["Hm","so"],"encrypted":"abc"},"summary":"All is known"}"#.to_owned(),
        round("r3", "Done", ""),
    ];
    let text = format!(
        r#"{{"responderUsername":"GitHub Copilot","requests":[
            {{"requestId":"q1","message":{{"text":"Go"}},"modelId":"copilot/gpt-5-mini","timestamp":1,"response":[],"result":{{
                "usage":{{"promptTokens":500,"completionTokens":7}},
                "metadata":{{"sessionId":"s","promptTokens":499,"outputTokens":6,"renderedGlobalContext":[{{"type":1,"text":"Linux"}},{{"type":3}}],
                    "renderedUserMessage":[{{"type":1,"text":"<userRequest>Go</userRequest>"}}],"toolCallRounds":[{}],
                    "toolCallResults":{{"c1":{{"content":[{{"value":"a b"}}]}},"c2":{{"content":[{{"value":{{"node":{{"type":1,"children":[
                        {{"type":2,"text":"one"}},{{"type":2,"text":"two","lineBreakBefore":true}}]}}}}}}]}}}}}}}}}},
            {{"requestId":"q2","message":{{"text":"Older"}},"timestamp":2,"response":[{{"value":"As "}},{{"kind":"thinking","value":"hidden"}},{{"value":"shown"}}],
                "result":{{"errorDetails":{{"message":"Canceled"}},"metadata":{{"promptTokens":520,"outputTokens":9}}}}}},
            {{"requestId":"q3","message":{{"text":"Nothing came"}},"response":[]}}]}}"#,
        rounds.join(",")
    );
    let (session, lost) = read("vscode-chat", &[&text]);
    assert_eq!(lost, Vec::<String>::new());
    assert_eq!(session.id, "s");
    assert_eq!(
        in_short(&session),
        [
            "*: Linux",
            "u: <userRequest>Go</userRequest>",
            "a: Look | run(c1) | run(c2)",
            "t: run(c1)=",
            "t: run(c2)=",
            "a: ~3",
            "a: Done",
            "u: Older",
            "a: As shown",
            "u: Nothing came",
        ]
    );
    // What a request used is what its last round used, by VS Code's word or else by Copilot's.
    assert_eq!(prompts(&session), [(0, 0), (0, 0), (500, 7), (520, 9)]);
    assert_eq!(session.compactions[0].before, 6);
    let Part::ToolResult { text, .. } = &session.messages[4].parts[0] else { panic!() };
    assert_eq!(text.content.as_deref(), Some("one\ntwo"));
}

#[test]
fn a_chat_in_vs_code_as_a_log_of_changes() {
    let request = |text: &str| format!(r#"{{"requestId":"{text}","message":{{"text":"{text}"}},"response":[{{"value":"Re "}}]}}"#);
    let (session, lost) = read(
        "vscode-chat",
        &[
            r#"{"kind":0,"v":{"version":3,"sessionId":"s","requests":[],"inputState":{"x":1}}}"#,
            &format!(r#"{{"kind":2,"k":["requests"],"v":[{},{}]}}"#, request("One"), request("Two")),
            r#"{"kind":1,"k":["requests",0,"response",0,"value"],"v":"First"}"#,
            r#"{"kind":2,"k":["requests",0,"response"],"v":[{"value":" and more"}]}"#,
            r#"{"kind":1,"k":["requests",0,"result"],"v":{"usage":{"promptTokens":90,"completionTokens":4}}}"#,
            // The second request is replaced.
            &format!(r#"{{"kind":2,"k":["requests"],"v":[{}],"i":1}}"#, request("Three")),
            r#"{"kind":3,"k":["inputState"]}"#,
            r#"{"kind":1,"k":["requests",7,"response"],"v":[]}"#,
        ],
    );
    assert_eq!(in_short(&session), ["u: One", "a: First and more", "u: Three", "a: Re "]);
    assert_eq!((session.id.as_str(), prompts(&session)), ("s", vec![(90, 4), (0, 0)]));
    assert_eq!(lost, ["change to what is not there"]);
}

/// Forks write the logs of their origin: what is theirs in them tells, so that no preset of the origin stands as their own.
#[test]
fn forks_bear_their_own_names() {
    let codex = |version: &str| {
        let meta = format!(r#"{{"type":"session_meta","payload":{{"id":"s","cli_version":"{version}","source":"cli"}}}}"#);
        let said = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Go"}]}}"#;
        read("codex", &[&meta, said]).0.agent
    };
    assert_eq!(
        ["0.0.28", "0.0.0", "0.0.2505291458", "0.145.0", "0.0.0-dev"].map(codex),
        ["open-interpreter", "codex", "codex", "codex", "codex"]
    );
    let record = r#"{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"sessionId":"s","version":"1.0.40","timestamp":"2026-07-09T04:54:27.199Z","message":{"role":"user","content":"Go"}}"#;
    let settings =
        r#"{"type":"runtime-config","sessionId":"s","model":"","reasoningEffort":null,"contextWindow":null,"timestamp":1783572867004}"#;
    assert_eq!(read("claude-code", &[record]).0.agent, "claude-code");
    assert_eq!([&[settings, record], &[record, settings]].map(|lines| read("claude-code", lines).0.agent), ["qoder", "qoder"]);
    let reply = r#"{"type":"assistant","uuid":"u2","parentUuid":null,"isSidechain":false,"sessionId":"ID","version":"1.0.0","timestamp":"2026-01-21T05:56:34.812Z","message":{"id":"response-1-tool-call_1","role":"assistant","model":"glm-4.7","content":[{"type":"text","text":"Ho"}]}}"#;
    let of = |id: &str| read("claude-code", &[reply.replace("ID", id).as_str()]).0.agent;
    assert_eq!(["session-5de701fc", "5de701fc"].map(of), ["iflow", "claude-code"]);
    let pi = |change: &str| {
        let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-07-13T14:47:18.506Z","cwd":"/w"}"#;
        let said = r#"{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-07-13T14:48:14.045Z","message":{"role":"user","content":"Go"}}"#;
        let entry = format!(r#"{{"type":"model_change","id":"00000001","parentId":null,"timestamp":"2026-07-13T14:47:18.687Z",{change}}}"#);
        read("pi", &[header, &entry, said]).0.agent
    };
    assert_eq!([r#""model":"zai/glm-5.2""#, r#""provider":"zai","modelId":"glm-5.2""#].map(pi), ["oh-my-pi", "pi"]);
}
