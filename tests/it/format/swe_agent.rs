use crate::support::{fixture, in_short};
use ctxsim::transcript::{Trust, Usage};

const WHOLE_RUN: &str = "usage of the whole run alone, estimated by the agent";

fn usages(session: &ctxsim::transcript::Transcript) -> Vec<Option<Usage>> {
    session.messages.iter().filter_map(|message| message.call.as_ref()).map(|call| call.usage).collect()
}

#[test]
fn tools_thoughts_and_a_demonstration() {
    let (transcripts, lost) = fixture("swe-agent/tools.traj");
    assert_eq!(lost, [(WHOLE_RUN.to_owned(), 1)]);
    let session = &transcripts[0];
    let expected = ["s: S", "*: Here is an example", "u: Fix it", "a: ~4 | I look | bash(toolu_1)", "t: bash(toolu_1)=", "a: Done"];
    assert_eq!(in_short(session), expected);
    assert_eq!((session.version.as_str(), usages(session)), ("1.0.1", vec![None, None]));
    assert_eq!(session.messages[3].call.as_ref().unwrap().model, "claude-3-7-sonnet");
}

#[test]
fn what_a_command_printed_is_no_users_word_and_an_estimate_is_no_providers() {
    let (transcripts, lost) = fixture("swe-agent/text.traj");
    assert_eq!(lost, []);
    assert_eq!(in_short(&transcripts[0]), ["s: S", "*: Demo", "u: Issue", "a: First\n```\nls\n```", "t: ()="]);
    let usage = usages(&transcripts[0])[0].unwrap();
    assert_eq!((usage.prompt, usage.output, usage.trust), (300, 9, Trust::Estimated));
}

#[test]
fn attempts_and_agents_are_sessions_of_their_own() {
    let (transcripts, lost) = fixture("swe-agent/attempts.traj");
    assert_eq!(lost, [(WHOLE_RUN.to_owned(), 1)]);
    let ids: Vec<&str> = transcripts.iter().map(|session| session.id.as_str()).collect();
    assert_eq!(ids, ["attempts.traj#1", "attempts.traj#2/primary", "attempts.traj#2/reviewer"]);
    assert_eq!(in_short(&transcripts[2]), ["s: R", "u: Judge", "a: Good"]);
}

#[test]
fn a_summary_is_a_fact_and_damage_is_counted() {
    let (transcripts, lost) = fixture("swe-agent/broken.traj");
    let expected = [("message of an unknown role", 1), ("cut off at the end of the file", 1), ("absurd usage numbers", 1)];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    let session = &transcripts[0];
    assert_eq!(session.messages.len(), 6);
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.summary.as_ref().unwrap().length.bytes), (5, 18));
}
