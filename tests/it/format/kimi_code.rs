use crate::support::{assert_lost, claim, fixture, in_short, prompts, read_text};
use ctxsim::format::Claim;
use ctxsim::transcript::CompactionKind;
use std::path::Path;

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
    let state = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kimi-code/session_1/state.json");
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
