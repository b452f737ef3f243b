use crate::support::{claim, ctxsim, fixture, in_short, project, prompts};
use ctxsim::format::Claim;

#[test]
fn calls_of_a_folder_are_joined_to_their_session() {
    let (transcripts, lost) = fixture("litellm/claude-sonnet-4-1757015025.972.json");
    assert_eq!((transcripts.len(), lost), (1, vec![]));
    let session = &transcripts[0];
    let expected = [
        "s: tools 84",
        "s: You help",
        "u: Run it",
        "a: I look | bash(toolu_1)",
        "t: bash(toolu_1)=",
        "a: One file.",
        "u: And now?",
        "a: Unlogged.",
        "u: Go on.",
        "a: End",
    ];
    assert_eq!(in_short(session), expected);
    assert_eq!(prompts(session), [(4812, 146), (5002, 95), (0, 0), (5300, 3)]);
    assert_eq!(session.window, Some(200_000));
    let message = &session.messages[3];
    let call = message.call.as_ref().unwrap();
    assert_eq!((call.id.as_str(), call.usage.unwrap().cost_nano_usd), ("chatcmpl-1 4812+146", Some(10_000_000)));
    assert_eq!(message.time, Some(1_757_015_025_970));
}

#[test]
fn a_later_call_is_read_with_the_first_one_unless_it_is_named_alone() {
    let later = "litellm/claude-sonnet-4-1757015029.090.json";
    let path = project().join("tests/data").join(later);
    assert_eq!(claim(&path), Some(("litellm", Claim::Companion)));
    let (transcripts, _) = fixture(later);
    assert_eq!(prompts(&transcripts[0]), [(0, 0), (5002, 95)]);
}

/// The commands read a file by itself where it is the only one that they are given.
#[test]
fn a_file_that_is_named_alone_is_that_file_alone() {
    let calls = |paths: &[&str]| ctxsim(&["inspect", "--json"]).args(paths).json()["corpus"]["calls_with_usage"].as_u64().unwrap();
    assert_eq!(calls(&["tests/data/litellm/claude-sonnet-4-1757015025.972.json"]), 1);
    assert_eq!(calls(&["tests/data/litellm/claude-sonnet-4-1757015029.090.json"]), 1);
    assert_eq!(calls(&["tests/data/litellm/claude-sonnet-4-*.json"]), 3);
}

#[test]
fn the_conversation_before_its_tool_calls_became_text() {
    let (transcripts, _) = fixture("litellm/deepseek-chat-1757015054.055.json");
    assert_eq!(in_short(&transcripts[0]), ["s: tools 84", "s: You help", "u: Run it", "a: bash(toolu_1)"]);
}

#[test]
fn lines_of_the_proxy_interleave_their_sessions() {
    let (mut transcripts, lost) = fixture("litellm/payloads.jsonl");
    let expected = [
        ("second choice of a reply", 1),
        ("absurd usage numbers", 1),
        ("request without a reply", 1),
        ("not JSON", 1),
        ("cut off at the end of the file", 1),
    ];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    transcripts.sort_by(|one, other| one.id.cmp(&other.id));
    assert_eq!(prompts(&transcripts[0]), [(50, 5), (0, 0)]);
    assert_eq!(prompts(&transcripts[1]), [(9, 1)]);
    assert_eq!(transcripts[1].messages[1].call.as_ref().unwrap().model, "gpt-4o");
}
