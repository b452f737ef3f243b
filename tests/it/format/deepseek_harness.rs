use crate::support::{fixture, in_short, prompts, read_text};

#[test]
fn events_of_both_generations_become_a_session() {
    let (transcripts, lost) = fixture("deepseek-harness/session.jsonl");
    let lost: Vec<(&str, u64)> = lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(lost, [("absurd usage numbers", 1), ("unknown record type", 1), ("cut off at the end of the file", 1)]);
    let session = &transcripts[0];
    assert_eq!(
        in_short(session),
        [
            "s: Be good. | tools 54",
            "u: One",
            "a: ~0 | bash(c1)",
            "t: bash(c1)!",
            "*: The mode changed.",
            "a: Done",
            "t: bash(c1)=",
            "a: Broken"
        ]
    );
    // A call whose numbers cannot be true stays without usage.
    assert_eq!(prompts(session), [(1133, 50), (1300, 5), (0, 0)]);
    let unchained: Vec<bool> = session.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.unchained).collect();
    assert_eq!(unchained, [false, true, true], "the system prompt changed, and a compaction came");
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from), (6, Some(4)));
    assert_eq!(compaction.call.as_ref().unwrap().usage.unwrap().prompt, 1200);
}

/// Sessions of newer and of older versions: a summary by its newer name, a header without `delegationDepth`, a fork, and a sub-agent.
#[test]
fn headers_and_summaries_have_changed() {
    let read = |header: &str, version: &str| {
        let log = [
            format!(r#"{{"type":"session","version":0,"id":"ds-2","createdAt":1783421406247,"cwd":"/p"{header}}}"#),
            r#"{"type":"user/message","seq":1,"time":1783421406400,"data":{"content":[{"type":"text","text":"One"}]}}"#.to_owned(),
            r#"{"type":"assistant/message","seq":2,"time":1783421406600,"data":{"content":[{"type":"text","text":"Done"}],"usage":{"inputTokens":90,"outputTokens":5}}}"#.to_owned(),
            format!(r#"{{"type":"{version}/start","seq":3,"time":1783421406700,"data":{{"compactionId":"k"}}}}"#),
            format!(r#"{{"type":"{version}/summary","seq":4,"time":1783421406800,"data":{{"compactionId":"k","summary":[{{"type":"text","text":"So far"}}],"shadowedRange":{{"start":1,"end":1}},"usage":{{"inputTokens":20,"outputTokens":4}}}}}}"#),
            r#"{"type":"user/message","seq":5,"time":1783421406900,"data":{"content":[{"type":"text","text":"So far"}],"source":{"kind":"plugin","compactionId":"k"}}}"#.to_owned(),
            format!(r#"{{"type":"{version}/end","seq":6,"time":1783421407000,"data":{{"compactionId":"k"}}}}"#),
        ];
        let (mut transcripts, lost) = read_text("log.session.jsonl", &log.join("\n"));
        assert_eq!((transcripts.len(), lost), (1, vec![]));
        transcripts.remove(0)
    };
    for version in ["compact", "compaction"] {
        let session = read("", version);
        assert_eq!((session.agent.as_str(), in_short(&session)), ("deepseek-harness", vec!["u: One".to_owned(), "a: Done".to_owned()]));
        let compaction = &session.compactions[0];
        assert_eq!((session.compactions.len(), compaction.before, compaction.kept_from), (1, 2, Some(1)));
        assert_eq!(compaction.call.as_ref().unwrap().usage.unwrap().prompt, 20);
    }
    let parent = |header: &str| read(header, "compaction").parent;
    assert_eq!(parent(r#","parentSession":"ds-1","origin":"subagent""#).as_deref(), Some("ds-1"));
    assert_eq!(parent(r#","parentSession":"ds-1","delegationDepth":1"#).as_deref(), Some("ds-1"));
    // A fork by a person is no sub-agent.
    assert_eq!(parent(r#","parentSession":"ds-1","delegationDepth":0"#), None);
}
