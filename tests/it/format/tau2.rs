use crate::support::{claim, fixture, in_short, project, prompts};
use ctxsim::format::Claim;

#[test]
fn the_session_is_the_agents_and_the_simulated_user_stands_on_the_side() {
    let (transcripts, lost) = fixture("tau2/results.json");
    assert_eq!(lost, []);
    assert_eq!(transcripts.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["sim-1", "sim-2"]);
    let session = &transcripts[0];
    let expected = [
        "s: # Policy",
        "a: Hi! How can I help you today?",
        "u: Cancel it.",
        "a: find(call_a) | look(call_b)",
        "t: find(call_a)=",
        "t: look(call_b)!",
        "a: Try again.",
        "u: Done. ###STOP###",
    ];
    assert_eq!(in_short(session), expected);
    assert_eq!(prompts(session), [(5000, 20), (5100, 7)]);
    let greeting = &session.messages[1];
    assert_eq!((greeting.call.as_ref(), greeting.time), (None, Some(1_767_225_600_500)));
    let call = session.messages[3].call.as_ref().unwrap();
    let usage = call.usage.unwrap();
    assert_eq!((call.id.as_str(), call.model.as_str()), ("chatcmpl-agent", "gpt-5-mini-2025"));
    assert_eq!((usage.cache_read, usage.reasoning, usage.cost_nano_usd), (4000, Some(8), Some(2_000_000)));
    let later = session.messages[6].call.as_ref().unwrap();
    assert_eq!((later.id.as_str(), later.model.as_str(), later.usage.unwrap().cost_nano_usd), ("sim-1:4", "gpt-5-mini", None));
    let user: Vec<(&str, u64)> = session.side_calls.iter().map(|call| (call.model.as_str(), call.usage.unwrap().prompt)).collect();
    assert_eq!(user, [("gpt-4.1", 800), ("gpt-4.1", 900), ("gpt-4.1", 950)]);
}

#[test]
fn a_task_of_the_viewer_and_a_folder_of_simulations() {
    let (transcripts, lost) = fixture("tau2/task.json");
    assert_eq!((transcripts.len(), transcripts[0].id.as_str(), lost), (1, "sim-3", vec![]));
    let (transcripts, lost) = fixture("tau2/run/results.json");
    assert_eq!(lost, []);
    assert_eq!(transcripts.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["sim-4", "sim-5"]);
    assert_eq!(in_short(&transcripts[0])[0], "s: # Policy");
    let folder = project().join("tests/data/tau2/run");
    assert_eq!(claim(&folder.join("simulations/sim-4.json")), Some(("tau2", Claim::Companion)));
}

#[test]
fn damage_costs_what_is_damaged() {
    let (transcripts, lost) = fixture("tau2/broken.json");
    let expected = [
        ("half of a surrogate pair (replaced)", 1),
        ("message of an unknown role", 1),
        ("absurd usage numbers", 2),
        ("session without messages", 1),
        ("record of an unexpected shape", 1),
        ("cut off at the end of the file", 1),
    ];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    assert_eq!(transcripts.len(), 1);
    assert_eq!(prompts(&transcripts[0]), [(0, 0), (0, 0)]);
}
