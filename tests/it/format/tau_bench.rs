use crate::support::{fixture, in_short};

#[test]
fn each_run_is_a_session() {
    let (transcripts, lost) = fixture("tau-bench/runs.json");
    assert_eq!(lost, []);
    assert_eq!(transcripts.iter().map(|session| session.id.as_str()).collect::<Vec<_>>(), ["runs.json#0.1", "runs.json#1.1"]);
    assert_eq!(in_short(&transcripts[1]), ["s: P", "u: Hi", "a: find(c1)", "t: find(c1)=", "a: Done", "u: ###STOP###"]);
    assert_eq!(fixture("tau-bench/one.json").0[0].messages.len(), 6);
}

#[test]
fn damage_costs_what_is_damaged() {
    let (transcripts, lost) = fixture("tau-bench/broken.json");
    let expected = [
        ("session without messages", 1),
        ("half of a surrogate pair (replaced)", 1),
        ("message of an unknown role", 1),
        ("record of an unexpected shape", 1),
        ("cut off at the end of the file", 1),
    ];
    assert_eq!(lost, expected.map(|(reason, count)| (reason.to_owned(), count)));
    assert_eq!(transcripts.len(), 1);
}
