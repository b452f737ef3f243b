use crate::support::{assert_lost, claim, fixture, in_short, project, prompts, read_text};
use ctxsim::format::Claim;
use ctxsim::transcript::CompactionKind;

#[test]
fn steps_become_replies_with_the_usage_of_their_end() {
    let (transcripts, lost) = fixture("kimi-code/session_1/agents/main/wire.jsonl");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.parent.as_deref()), ("session_1", None));
    assert_eq!(
        in_short(session),
        [
            "s: Be good. | tools 40",
            "u: One",
            "*: <system-reminder>Auto</system-reminder>",
            "a: ~4 | Write(c1) | Grep(c2)",
            "t: Write(c1)=",
            "t: Grep(c2)!",
            "a: Done",
            "u: Two",
            "a: Three",
            "u: Four",
            "u: Four anew",
            "a: Five",
        ]
    );
    assert_eq!(prompts(session), [(1000, 50), (1100, 30), (300, 20), (310, 10)]);
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_ref()).collect();
    assert_eq!((calls[0].id.as_str(), calls[0].model.as_str()), ("chat-1", "gpt-x"));
    let usage = calls[1].usage.unwrap();
    assert_eq!((usage.cache_read, usage.cache_write), (1024, 16));
    assert_eq!(calls.iter().map(|call| call.unchained).collect::<Vec<_>>(), [false, false, true, false]);
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.automatic, compaction.kept_from), (8, Some(true), None));
    assert_eq!((compaction.tokens_before, compaction.tokens_after), (Some(1180), Some(240)));
    assert_eq!(compaction.call.as_ref().unwrap().usage.unwrap().prompt, 1100);
    assert_eq!(session.messages[10].rewind, Some(9));
    assert!(session.side_calls.is_empty());
}

#[test]
fn an_agent_below_another_names_it() {
    let (transcripts, lost) = fixture("kimi-code/session_1/agents/scout/wire.jsonl");
    assert_eq!((transcripts[0].id.as_str(), transcripts[0].parent.as_deref(), lost), ("session_1/scout", Some("session_1"), vec![]));
    assert_eq!(in_short(&transcripts[0]), ["u: Find", "a: Grep(c9)", "t: Grep(c9)=", "a: Found"]);
    assert_eq!(prompts(&transcripts[0]), [(800, 25), (840, 5)]);
    let state = project().join("tests/data/kimi-code/session_1/state.json");
    assert_eq!(claim(&state), Some(("kimi-code", Claim::Companion)));
}

/// Before the typed messages were kept, the end of the conversation was.
#[test]
fn older_compactions_kept_the_end() {
    let (transcripts, lost) = fixture("kimi-code/older.jsonl");
    assert_eq!(lost, [("absurd usage numbers".to_owned(), 1)]);
    let session = &transcripts[0];
    assert_eq!(in_short(session), ["u: One", "a: Two", "u: Three", "a: Four"]);
    let kinds: Vec<_> = session.compactions.iter().map(|c| (c.kind, c.before, c.automatic, c.kept_from, c.tokens_before)).collect();
    assert_eq!(kinds, [(CompactionKind::Compact, 3, Some(false), Some(2), Some(110)), (CompactionKind::Prune, 3, Some(true), None, None)]);
    // A summary that was broken off was asked for all the same.
    assert_eq!(session.side_calls.len(), 1);
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("kimi-code/broken.jsonl");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("message of an unknown role", 1),
            ("not JSON", 1),
            ("record without a message", 2),
            ("unknown content part", 1),
            ("unknown record type", 2),
        ],
    );
    let session = &transcripts[0];
    assert_eq!(in_short(session), ["u: One", "a: Cut off", "a: Here", "u: Anew | 2x3"]);
    // A call whose numbers cannot be true stays without usage.
    assert_eq!((prompts(session), session.messages[3].rewind), (vec![(0, 0)], Some(0)));
}

/// A request allows a reply as long as what the last call left of the window, or as the model's longest.
#[test]
fn the_longest_reply_tells_the_window() {
    let request = |longest: u64| format!(r#"{{"type":"llm.request","kind":"loop","model":"m","maxTokens":{longest}}}"#);
    let step = |prompt: u64| {
        let event = |event: &str| format!(r#"{{"type":"context.append_loop_event","event":{event}}}"#);
        let said = event(r#"{"type":"content.part","part":{"type":"text","text":"So"}}"#);
        let usage = format!(r#"{{"type":"step.end","usage":{{"inputOther":{prompt},"output":10}}}}"#);
        [event(r#"{"type":"step.begin"}"#), said, event(&usage)].join("\n")
    };
    let compacted = r#"{"type":"context.apply_compaction","summary":"S","tokensBefore":300,"keptUserMessageCount":0}"#.to_owned();
    for (lines, window, before) in [
        ([request(1000), step(290), request(700), step(490), compacted.clone(), request(990)], Some(1000), Some(500)),
        ([request(700), step(290), request(700), step(390), request(600), compacted.clone()], Some(1000), Some(400)),
        ([request(700), step(290), request(700), step(90), compacted.clone(), request(700)], None, Some(300)),
    ] {
        let (transcripts, _) = read_text("wire.jsonl", &lines.join("\n"));
        let session = &transcripts[0];
        assert_eq!((session.window, session.compactions[0].tokens_before), (window, before));
    }
}

#[test]
fn a_step_of_a_provider_that_reports_nothing_is_a_call() {
    let event = |event: &str| format!(r#"{{"type":"context.append_loop_event","event":{event},"time":1783573417000}}"#);
    let zeros = r#""usage":{"inputOther":0,"output":0,"inputCacheRead":0,"inputCacheCreation":0}"#;
    let text = |text: &str| event(&format!(r#"{{"type":"content.part","part":{{"type":"text","text":"{text}"}}}}"#));
    let begin = event(r#"{"type":"step.begin"}"#);
    let log = [
        r#"{"type":"turn.prompt","input":[{"type":"text","text":"Go"}],"time":1783573416000}"#.to_owned(),
        r#"{"type":"llm.request","model":"local","time":1783573416000}"#.to_owned(),
        begin.clone(),
        text("First"),
        format!(r#"{{"type":"usage.record","model":"local",{zeros},"time":1783573417000}}"#),
        event(&format!(r#"{{"type":"step.end",{zeros}}}"#)),
        begin.clone(),
        text("Half"),
        begin,
        text("Third"),
        event(r#"{"type":"step.end"}"#),
    ];
    let (transcripts, lost) = read_text("wire.jsonl", &log.join("\n"));
    assert_eq!(lost, []);
    assert_eq!(in_short(&transcripts[0]), ["u: Go", "a: First", "a: Half", "a: Third"]);
    let calls: Vec<_> = transcripts[0].messages.iter().map(|message| message.call.as_ref().map(|call| call.unchained)).collect();
    assert_eq!(calls, [None, Some(false), None, Some(true)]);
    assert!(transcripts[0].side_calls.is_empty());
}

#[test]
fn a_step_that_is_broken_off_within_its_reply_is_no_call() {
    let text = |text: &str| event(&format!(r#"{{"type":"content.part","part":{{"type":"text","text":"{text}"}}}}"#));
    let begin = event(r#"{"type":"step.begin"}"#);
    let broken = |reason: &str| event(&format!(r#"{{"type":"step.end","finishReason":"{reason}"}}"#));
    let log = [
        r#"{"type":"turn.prompt","input":[{"type":"text","text":"Go"}],"time":1783573416000}"#.to_owned(),
        r#"{"type":"file_history.checkpoint","turnId":0,"phase":"start","entries":{}}"#.to_owned(),
        begin.clone(),
        text("Half"),
        broken("interrupted"),
        begin.clone(),
        broken("error"),
        // Its reply had come: the usage tells so.
        begin.clone(),
        text("Whole"),
        usage(100, 5, "turn"),
        broken("interrupted"),
        // So do calls of tools, where the provider reports nothing.
        begin.clone(),
        event(r#"{"type":"tool.call","toolCallId":"c1","name":"Bash","args":{}}"#),
        broken("interrupted"),
        begin,
        text("Last"),
        end(200, 6),
    ];
    let (transcripts, lost) = read_text("wire.jsonl", &log.join("\n"));
    assert_eq!(lost, []);
    assert_eq!(in_short(&transcripts[0]), ["u: Go", "a: Half", "a: Whole", "a: Bash(c1)", "a: Last"]);
    let calls: Vec<_> = transcripts[0].messages.iter().map(|message| message.call.as_ref().map(|call| call.unchained)).collect();
    assert_eq!(calls, [None, None, Some(true), Some(false), Some(false)]);
    assert_eq!(prompts(&transcripts[0]), [(100, 5), (0, 0), (200, 6)]);
}

/// Lines of a wire.
fn event(event: &str) -> String {
    format!(r#"{{"type":"context.append_loop_event","event":{event},"time":1783573417000}}"#)
}

fn usage(prompt: u64, output: u64, scope: &str) -> String {
    format!(r#"{{"type":"usage.record","model":"m","usage":{{"inputOther":{prompt},"output":{output}}},"usageScope":"{scope}"}}"#)
}

fn end(prompt: u64, output: u64) -> String {
    event(&format!(r#"{{"type":"step.end","usage":{{"inputOther":{prompt},"output":{output}}},"messageId":"c{prompt}"}}"#))
}

/// The usage of a step stands at its end, and before its content, in the midst of it or behind it as well.
#[test]
fn the_usage_of_a_step_counts_once_wherever_it_comes_again() {
    let (begin, request) = (event(r#"{"type":"step.begin"}"#), r#"{"type":"llm.request","model":"m"}"#.to_owned());
    let said = event(r#"{"type":"content.part","part":{"type":"text","text":"So"}}"#);
    let tool = event(r#"{"type":"tool.call","toolCallId":"c","name":"Bash","args":{}}"#);
    let record = usage(100, 20, "turn");
    let closing = end(100, 20);
    for step in [
        [&begin, &request, &record, &said, &tool, &closing],
        [&begin, &request, &said, &record, &tool, &closing],
        [&request, &begin, &said, &tool, &closing, &record],
    ] {
        let (transcripts, lost) = read_text("wire.jsonl", &step.map(String::as_str).join("\n"));
        let session = &transcripts[0];
        assert_eq!((in_short(session), lost), (vec!["a: So | Bash(c)".to_owned()], vec![]));
        assert_eq!((prompts(session), session.side_calls.len()), (vec![(100, 20)], 0), "{step:?}");
        assert_eq!(session.messages[0].call.as_ref().unwrap().id, "c100");
    }
}

/// A step may be interrupted behind its reply, and a prompt put in before its end.
#[test]
fn a_step_without_its_end_has_the_usage_that_it_reported() {
    let begin = event(r#"{"type":"step.begin"}"#);
    let said = |text: &str| event(&format!(r#"{{"type":"content.part","part":{{"type":"text","text":"{text}"}}}}"#));
    let prompt = r#"{"type":"context.append_message","message":{"role":"user","content":"Go on","origin":{"kind":"user"}}}"#.to_owned();
    let log = [
        begin.clone(),
        usage(100, 20, "turn"),
        said("Cut"),
        event(r#"{"type":"step.end","finishReason":"interrupted"}"#),
        begin.clone(),
        usage(130, 20, "turn"),
        said("Off"),
        begin.clone(),
        usage(160, 20, "turn"),
        said("Whole"),
        prompt,
        end(160, 20),
        begin,
        usage(190, 20, "turn"),
    ];
    let (transcripts, lost) = read_text("wire.jsonl", &log.join("\n"));
    assert_eq!((in_short(&transcripts[0]), lost), (["a: Cut", "a: Off", "a: Whole", "u: Go on"].map(str::to_owned).to_vec(), vec![]));
    assert_eq!(prompts(&transcripts[0]), [(100, 20), (130, 20), (160, 20)]);
    // Of the last one nothing but its usage came.
    assert_eq!(transcripts[0].side_calls.iter().map(|call| call.usage.unwrap().prompt).collect::<Vec<_>>(), [190]);
}

#[test]
fn a_compaction_straight_after_a_step_keeps_its_call() {
    let begin = event(r#"{"type":"step.begin"}"#);
    let said = event(r#"{"type":"content.part","part":{"type":"text","text":"So"}}"#);
    let compaction = [
        r#"{"type":"full_compaction.begin","source":"auto"}"#.to_owned(),
        usage(150, 30, "session"),
        r#"{"type":"context.apply_compaction","summary":"S","tokensBefore":120,"keptUserMessageCount":0}"#.to_owned(),
    ];
    // What another request used between steps is neither's.
    let steps = [[begin.clone(), usage(100, 20, "turn"), said.clone(), end(100, 20)], [begin, said, end(100, 20), usage(100, 20, "turn")]];
    for step in steps {
        let log = [&step[..], &[usage(7, 3, "session")], &compaction].concat();
        let (transcripts, lost) = read_text("wire.jsonl", &log.join("\n"));
        let session = &transcripts[0];
        assert_eq!((prompts(session), lost), (vec![(100, 20)], vec![]));
        let call = session.compactions[0].call.as_ref().unwrap().usage.unwrap();
        assert_eq!((call.prompt, call.output), (150, 30));
        assert_eq!(session.side_calls.iter().map(|call| call.usage.unwrap().prompt).collect::<Vec<_>>(), [7]);
    }
}

/// Slash commands are typed, and steps back count them. What a skill calls for by itself is not.
#[test]
fn steps_back_count_what_a_person_typed() {
    let put = |text: &str, origin: &str| {
        format!(r#"{{"type":"context.append_message","message":{{"role":"user","content":"{text}","origin":{{{origin}}}}}}}"#)
    };
    let undo = r#"{"type":"context.undo","count":1}"#.to_owned();
    let back = |origin: &str| {
        let log = [put("One", r#""kind":"user""#), put("Two", origin), undo.clone(), put("Three", r#""kind":"user""#)];
        let (transcripts, _) = read_text("wire.jsonl", &log.join("\n"));
        (transcripts[0].messages[2].rewind, transcripts[0].messages[1].synthetic)
    };
    assert_eq!(back(r#""kind":"skill_activation","trigger":"user-slash""#), (Some(1), false));
    assert_eq!(back(r#""kind":"plugin_command","trigger":"user-slash""#), (Some(1), false));
    assert_eq!(back(r#""kind":"skill_activation","trigger":"model-tool""#), (Some(0), true));
}

#[test]
fn the_reminder_of_the_swarm_mode_leaves_with_it_where_nothing_came_since() {
    let put = |text: &str, origin: &str| {
        format!(r#"{{"type":"context.append_message","message":{{"role":"user","content":"{text}","origin":{{{origin}}}}}}}"#)
    };
    let reminder = put("Swarm", r#""kind":"injection","variant":"swarm_mode""#);
    let (typed, exit) = (put("One", r#""kind":"user""#), r#"{"type":"swarm_mode.exit"}"#.to_owned());
    let rewinds = |log: &[&String]| {
        let log: Vec<&str> = log.iter().map(|line| line.as_str()).collect();
        let (transcripts, _) = read_text("wire.jsonl", &log.join("\n"));
        transcripts[0].messages.iter().map(|message| message.rewind).collect::<Vec<_>>()
    };
    assert_eq!(rewinds(&[&typed, &reminder, &exit, &typed]), [None, None, Some(1)]);
    assert_eq!(rewinds(&[&reminder, &typed, &exit, &typed]), [None, None, None]);
}
