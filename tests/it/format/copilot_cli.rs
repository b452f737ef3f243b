use crate::support::{assert_lost, fixture, in_short, prompts, read_text};
use crate::truth::corpus;
use ctxsim::catalog::Catalog;
use ctxsim::experiment::{ReplaySettings, WindowFrom, replay};
use ctxsim::policy::Policy;
use ctxsim::trace::Trace;
use ctxsim::transcript::{Trust, Usage};
use std::path::Path;

#[test]
fn events_become_a_session_and_its_sub_agent() {
    let (transcripts, lost) = fixture("copilot-cli/events.jsonl");
    assert_eq!(lost, [("unknown record type".to_owned(), 1), ("usage of the whole session alone".to_owned(), 1)]);
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.version.as_str()), ("cp-1", "1.0.70"));
    assert_eq!(
        in_short(session),
        ["s: Be good.", "u: <now/> One", "a: ~4 | view(t1)", "t: view(t1)!", "*: Wrong", "a: Second", "u: Two", "a: Third"]
    );
    // Only what was recorded for a single request is a call's usage.
    assert_eq!(prompts(session), [(0, 0), (900, 7), (0, 0)]);
    assert_eq!(session.messages[6].rewind, Some(4));
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from, compaction.automatic), (7, Some(7), Some(true)));
    assert_eq!((compaction.tokens_before, compaction.tokens_after), (Some(150_000), Some(20_000)));
    assert_eq!(compaction.call.as_ref().unwrap().usage.unwrap().prompt, 129_612);
    let sub = &transcripts[1];
    assert_eq!((sub.id.as_str(), sub.parent.as_deref()), ("cp-1/t9", Some("cp-1")));
    assert_eq!(in_short(sub), ["a: Explored"]);
}

#[test]
fn the_total_of_a_single_request_is_its_usage() {
    let (transcripts, lost) = fixture("copilot-cli/single.jsonl");
    assert_eq!(lost, [("cut off at the end of the file".to_owned(), 1)]);
    let usage = transcripts[0].messages[1].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.prompt, usage.cache_read, usage.output, usage.reasoning), (9000, 4000, 20, Some(5)));
}

#[test]
fn a_call_has_the_model_that_is_named_around_it() {
    let log = |events: &[&str]| {
        let line = |event: &&str| format!(r#"{{{event},"id":"e","timestamp":"2026-04-07T21:07:18.764Z","parentId":null}}"#);
        let (mut transcripts, _) = read_text("events.jsonl", &events.iter().map(line).collect::<Vec<_>>().join("\n"));
        let session = transcripts.remove(0);
        let calls = session.messages.into_iter().filter_map(|message| message.call);
        calls.map(|call| (call.model, call.unchained)).collect::<Vec<_>>()
    };
    let call = |model: &str, unchained: bool| (model.to_owned(), unchained);
    let reply = r#""type":"assistant.message","data":{"content":"Well","toolRequests":[]}"#;
    let result = r#""type":"tool.execution_complete","data":{"toolCallId":"t","model":"small","success":true,"result":{"content":"ok"}}"#;
    let change = r#""type":"session.model_change","data":{"previousModel":"small","newModel":"large"}"#;
    let shutdown = |data: &str| format!(r#""type":"session.shutdown","data":{{{data}}}"#);
    // By the results of its calls, and by changes.
    let at_exit = shutdown(r#""currentModel":"large","modelMetrics":{}"#);
    let expected = [call("small", false), call("small", false), call("large", true)];
    assert_eq!(log(&[reply, reply, result, change, reply, &at_exit]), expected);
    assert_eq!(log(&[reply, change, reply]), [call("small", false), call("large", true)]);
    // By the exit: the model in use, or the only one that was.
    assert_eq!(log(&[reply, &at_exit]), [call("large", false)]);
    let metrics = r#""modelMetrics":{"tiny":{"requests":{"count":2},"usage":{"inputTokens":9,"outputTokens":3}}}"#;
    assert_eq!(log(&[reply, reply, &shutdown(metrics)]), [call("tiny", false), call("tiny", false)]);
    assert_eq!(log(&[reply]), [call("", false)]);
}

/// A reply with long reasoning is written in pieces: events of one request, the last of them with its output.
#[test]
fn events_of_one_request_are_one_call() {
    let piece = |request: &str, data: &str| {
        format!(
            r#"{{"type":"assistant.message","id":"e","timestamp":"2026-07-19T23:14:51.328Z","parentId":null,"data":{{"apiCallId":"{request}",{data}}}}}"#
        )
    };
    let sealed = r#""content":"","reasoningOpaque":"abcd""#;
    let end = r#""content":"Well","toolRequests":[{"toolCallId":"t","name":"view","arguments":{}}],"outputTokens":"#;
    let lines = [piece("r1", sealed), piece("r1", sealed), piece("r1", &format!("{end}1851")), piece("r2", &format!("{end}7"))];
    let (transcripts, _) = read_text("events.jsonl", &lines.join("\n"));
    assert_eq!(in_short(&transcripts[0]), ["a: ~4 | ~4 | Well | view(t)", "a: Well | view(t)"]);
    let calls = transcripts[0].messages.iter().filter_map(|message| message.call.as_ref());
    assert_eq!(calls.map(|call| (call.id.as_str(), call.output)).collect::<Vec<_>>(), [("r1", Some(1851)), ("r2", Some(7))]);
}

#[test]
fn what_the_agent_counts_beside_the_conversation_is_the_overhead() {
    let folder = tempfile::tempdir().unwrap();
    let line = |event: &str| format!(r#"{{{event},"id":"e","timestamp":"2026-04-07T21:07:18.764Z","parentId":null}}"#);
    let log = |name: &str, start: &str| {
        let reply = r#""type":"assistant.message","data":{"model":"gpt-5","content":"Well","toolRequests":[],"outputTokens":70}"#;
        let user = r#""type":"user.message","data":{"content":"On"}"#;
        let usage = r#"{"requests":{"count":3},"usage":{"inputTokens":36300,"outputTokens":140}}"#;
        let split = r#""currentTokens":18217,"systemTokens":7107,"conversationTokens":79,"toolDefinitionsTokens":11027"#;
        let exit = format!(r#""type":"session.shutdown","data":{{"modelMetrics":{{"gpt-5":{usage}}},{split}}}"#);
        let path = folder.path().join(name);
        std::fs::write(&path, [start, user, reply, user, reply, &exit].map(line).join("\n")).unwrap();
        path
    };
    let session = |id: &str| format!(r#""type":"session.start","data":{{"sessionId":"{id}","producer":"copilot-agent"}}"#);
    let unseen = log("unseen.jsonl", &session("a-session-of-its-own"));
    let seen = log("seen.jsonl", &format!(r#""type":"system.message","data":{{"content":"{}"}}"#, "Be good. ".repeat(100)));
    let catalog = Catalog::builtin().unwrap();
    let of = |path: &Path| corpus(&catalog, &[path]).traces.iter().next().unwrap().clone();
    let (unseen, seen): (Trace, Trace) = (of(&unseen), of(&seen));
    assert_eq!(unseen.calls.iter().map(|call| (call.hidden, call.output)).collect::<Vec<_>>(), [(18_134, 70); 2]);
    // The log shows the system prompt: it is counted once.
    let system: u64 = seen.parts_of(&seen.messages[0]).map(|part| part.truth).sum();
    assert!(system > 150 && seen.calls.iter().all(|call| call.hidden == 18_134 - system && call.usage.get().is_none()));
    let sent = unseen.sent.unwrap();
    assert_eq!((sent.estimated_calls, sent.estimated_tokens), (2, sent.prompt_tokens));
    assert!((36_268..36_300).contains(&sent.prompt_tokens), "{}", sent.prompt_tokens);
}

#[test]
fn a_cleared_context_and_pictures_for_the_model_are_read() {
    let line = |number: usize, kind: &str, data: &str| {
        format!(r#"{{"type":"{kind}","id":"e{number}","parentId":null,"timestamp":"2026-11-20T10:00:0{number}.000Z","data":{data}}}"#)
            + "\n"
    };
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";
    let result = format!(
        r#"{{"toolCallId":"t1","success":true,"result":{{"content":"Seen","binaryResultsForLlm":[{{"type":"image","data":"{png}","mimeType":"image/png"}}]}}}}"#
    );
    let log = [
        line(1, "session.start", r#"{"sessionId":"s","copilotVersion":"1.0.102"}"#),
        line(2, "user.message", r#"{"content":"Look"}"#),
        line(
            3,
            "assistant.message",
            r#"{"messageId":"m1","model":"m","content":"","toolRequests":[{"toolCallId":"t1","name":"view","arguments":{}}]}"#,
        ),
        line(4, "tool.execution_complete", &result),
        line(5, "tool_search.activated", r#"{"strategy":"bm25"}"#),
        line(6, "session.context_cleared", r#"{"messagesCleared":3}"#),
        line(7, "user.message", r#"{"content":"Anew"}"#),
        line(8, "assistant.message", r#"{"messageId":"m2","model":"m","content":"Done"}"#),
    ];
    let (sessions, lost) = read_text("events.jsonl", &log.concat());
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(in_short(&sessions[0]), ["u: Look", "a: view(t1)", "t: view(t1)= | 2x3", "u: Anew", "a: Done"]);
    let [cleared] = sessions[0].compactions.as_slice() else { panic!("{:?}", sessions[0].compactions) };
    assert_eq!((cleared.before, cleared.kept_from, cleared.automatic, &cleared.summary), (3, Some(3), Some(false), &None));
}

/// The limit is that of prompts. Where the log names none, those of the host hold.
#[test]
fn the_limit_that_a_compaction_names_is_the_one_that_its_preset_goes_by() {
    let log = |limit: &str, tier: &str| {
        let line = |(number, (kind, data)): (usize, (&str, String))| {
            format!(r#"{{"type":"{kind}","id":"e{number}","parentId":null,"timestamp":"2026-08-13T10:00:{number:02}.000Z","data":{data}}}"#)
        };
        let counts = r#""systemTokens":20,"conversationTokens":80,"toolDefinitionsTokens":10,"currentTokens":110"#;
        let reply = || ("assistant.message", r#"{"model":"gpt-5.6-sol","content":"Well","toolRequests":[]}"#.to_owned());
        let events = [
            ("session.start", format!(r#"{{"sessionId":"s","producer":"copilot-agent","copilotVersion":"1.0.79","contextTier":{tier}}}"#)),
            ("user.message", r#"{"content":"On"}"#.to_owned()),
            reply(),
            ("session.compaction_start", format!(r#"{{{counts}{limit},"trigger":"threshold"}}"#)),
            ("session.compaction_complete", r#"{"success":true,"preCompactionTokens":110,"summaryContent":"Short"}"#.to_owned()),
            reply(),
        ];
        events.into_iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    };
    let read = |text: &str| read_text("events.jsonl", text).0.remove(0);
    let named = read(&log(r#","tokenLimit":230000"#, "null"));
    assert_eq!((named.window, named.host.as_deref()), (Some(230_000), Some("github-copilot")));
    assert_eq!(read(&log("", r#""default""#)).window, None);
    assert_eq!(read(&log("", r#""long_context""#)).host, None);
    // The preset starts at 80 % of the longest prompt, which is less than the window of the host.
    let catalog = Catalog::builtin().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let threshold = |limit: &str, tier: &str| {
        std::fs::write(&path, log(limit, tier)).unwrap();
        let own = Policy::load("copilot-cli").unwrap();
        let replay = replay(&corpus(&catalog, &[&path]), &[own], &ReplaySettings::new(&catalog)).unwrap().remove(0);
        (replay.outcomes[0].window, replay.windows[0], replay.thresholds.clone())
    };
    assert_eq!(threshold(r#","tokenLimit":230000"#, "null"), (230_000, WindowFrom::Log, vec![Some(184_000)]));
    assert_eq!(threshold("", r#""default""#), (400_000, WindowFrom::Host, vec![Some(217_600)]));
    assert_eq!(threshold("", r#""long_context""#), (1_050_000, WindowFrom::Catalogue, vec![Some(737_600)]));
}

/// Each exit counts its own requests, by model. Two of `small` are as many as there are replies, one of `large` is not.
#[test]
fn what_an_exit_counts_is_shared_out_among_its_calls() {
    let line = |event: &str| format!(r#"{{{event},"id":"e","timestamp":"2026-04-07T21:07:18.764Z","parentId":null}}"#);
    let reply = |model: &str, text: &str| {
        let data = format!(r#""model":"{model}","content":"{text}","toolRequests":[],"outputTokens":70"#);
        format!(r#""type":"assistant.message","data":{{{data}}}"#)
    };
    let exit = |metrics: &str| format!(r#""type":"session.shutdown","data":{{"modelMetrics":{{{metrics}}}}}"#);
    let metrics = |model: &str, count: u32, usage: &str| format!(r#""{model}":{{"requests":{{"count":{count}}},"usage":{{{usage}}}}}"#);
    let user = r#""type":"user.message","data":{"content":"Go on"}"#.to_owned();
    let first = exit(&metrics("small", 2, r#""inputTokens":20000,"outputTokens":150,"cacheReadTokens":9000"#));
    let second = format!(
        "{},{}",
        metrics("small", 1, r#""inputTokens":700,"outputTokens":70,"cacheReadTokens":600"#),
        metrics("large", 1, r#""inputTokens":90000,"outputTokens":70"#)
    );
    let long = "x".repeat(400);
    let events =
        [user.clone(), reply("small", &long), user.clone(), reply("small", "Done"), first, user, reply("small", "More"), exit(&second)];
    let (transcripts, lost) = read_text("events.jsonl", &events.map(|event| line(&event)).join("\n"));
    assert_lost(&lost, &[("usage of the whole session alone", 1)]);
    let usages: Vec<Usage> = transcripts[0].messages.iter().filter_map(|message| message.call.as_ref()?.usage).collect();
    // The second prompt shows 102 tokens (a reply of 400 bytes, 5 bytes twice), the first one 1; the other 19,897 are halved. The larger remainder of the output goes first.
    let told: Vec<_> = usages.iter().map(|usage| (usage.prompt, usage.cache_read, usage.output, usage.trust)).collect();
    let expected = [(9_950, 0, 75, Trust::Shared), (10_050, 9_000, 75, Trust::Shared), (700, 600, 70, Trust::Provider)];
    assert_eq!(told, expected);
}
