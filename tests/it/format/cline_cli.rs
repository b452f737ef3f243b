use crate::support::{assert_lost, claim, fixture, in_short, prompts, read_text};
use ctxsim::format::Claim;
use ctxsim::transcript::Part;
use std::path::Path;

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
    let about = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cline-cli/s1.json");
    assert_eq!(claim(&about), Some(("cline-cli", Claim::Companion)));
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
