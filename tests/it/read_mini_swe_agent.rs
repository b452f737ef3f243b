use crate::support::{fixture, in_short, prompts};

#[test]
fn real_tool_calls_and_observations_in_the_users_name() {
    let (transcripts, lost) = fixture("mini-swe-agent/v1.1.traj.json");
    assert_eq!(lost, []);
    let session = &transcripts[0];
    assert_eq!(in_short(session), ["s: S", "u: Task", "a: bash(call_1)", "t: bash(call_1)!", "a: THOUGHT: none", "t: ()="]);
    assert_eq!(prompts(session), [(100, 20), (150, 5)]);
    let usage = |index: usize| session.messages[index].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage(2).cache_read, usage(2).reasoning, usage(2).cost_nano_usd), (64, Some(12), Some(2_000_000)));
    assert_eq!(usage(4).cost_nano_usd, Some(1_000_000));
    assert_eq!(session.messages[2].time, Some(1_760_000_001_500));
}
