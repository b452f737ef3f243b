use crate::support::{fixture, in_short, project, prompts, read_text};
use std::fs;

#[test]
fn a_reply_is_what_stands_between_the_ends_of_a_request() {
    let (transcripts, lost) = fixture("claude-managed-agents/events.jsonl");
    assert_eq!(lost, [("unknown record type".to_owned(), 1), ("reply to a request that did not end".to_owned(), 1)]);
    let [main, other] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!((main.id.as_str(), main.agent.as_str(), &main.parent), ("sthr_01MADEmain00000000", "claude-managed-agents", &None));
    let expected = [
        "u: List the files and say what day it is",
        "a: ~0 | I look. | bash(sevt_01MADE0000000000000007) | today(sevt_01MADE0000000000000008)",
        "t: bash(sevt_01MADE0000000000000007)=",
        "t: today(sevt_01MADE0000000000000008)=",
        "a: count(sevt_01MADE0000000000000017)",
        // It was said while the reply was written.
        "u: And how many?",
        "t: count(sevt_01MADE0000000000000017)!",
        "a: Two.",
        "a: Cut",
    ];
    assert_eq!(in_short(main), expected);
    assert_eq!(prompts(main), [(7_002, 90), (7_152, 40), (6_402, 8)]);
    let chained: Vec<bool> = main.messages.iter().filter_map(|message| Some(message.call.as_ref()?.unchained)).collect();
    assert_eq!(chained, [false, true, true]);
    let [made] = main.compactions.as_slice() else { panic!("{:?}", main.compactions) };
    assert_eq!((made.before, made.automatic), (7, Some(true)));
    let usage = main.messages[1].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage.cache_write, usage.cache_read), (7_000, 0));

    assert_eq!(
        (other.parent.as_deref(), in_short(other), prompts(other)),
        (Some("sthr_01MADEmain00000000"), vec!["*: Check it".to_owned(), "a: Checked".to_owned()], vec![(5, 20)])
    );
}

#[test]
fn events_may_stand_in_a_list_or_beside_what_others_say_of_them() {
    let lines = fs::read_to_string(project().join("tests/data/claude-managed-agents/events.jsonl")).unwrap();
    let (expected, _) = fixture("claude-managed-agents/events.jsonl");
    let all: Vec<&str> = lines.lines().collect();
    let wrapped: Vec<String> =
        all.iter().map(|event| format!(r#"{{"role":"agent","kind":"message","time":"2026","raw":{event}}}"#)).collect();
    for log in [format!(r#"{{"data":[{}],"next_page":null}}"#, all.join(",")), format!("[{}]", all.join(",\n")), wrapped.join("\n")] {
        let (transcripts, _) = read_text("events.json", &log);
        assert_eq!(transcripts, expected, "{log}");
    }
}

#[test]
fn events_may_stand_with_the_newest_first() {
    let lines = fs::read_to_string(project().join("tests/data/claude-managed-agents/events.jsonl")).unwrap();
    let (expected, lost) = fixture("claude-managed-agents/events.jsonl");
    let mut all: Vec<&str> = lines.lines().collect();
    all.reverse();
    for log in [all.join("\n"), format!(r#"{{"data":[{}],"next_page":null}}"#, all.join(","))] {
        let (mut transcripts, mut found) = read_text("events.jsonl", &log);
        transcripts.iter_mut().zip(&expected).for_each(|(session, expected)| session.id.clone_from(&expected.id));
        found.sort_unstable();
        let mut lost = lost.clone();
        lost.sort_unstable();
        assert_eq!((transcripts, found), (expected.clone(), lost), "{log}");
    }
}
