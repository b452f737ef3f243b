use crate::support::{assert_lost, fixture, in_short, read_text};

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

#[test]
fn a_run_that_failed_at_the_start_of_a_list_hides_no_other() {
    let failed = r#"{"task_id": 90, "reward": 0.0, "info": {"error": "Token limit", "traceback": ""}, "traj": [], "trial": 0}"#;
    let run = r#"{"task_id": 91, "reward": 1.0, "info": {"task": {"user_id": "x"}}, "traj": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}], "trial": 0}"#;
    let (transcripts, lost) = read_text("runs.json", &format!("[{failed}, {run}, {failed}]"));
    assert_eq!(transcripts.iter().map(in_short).collect::<Vec<_>>(), [["u: Hi", "a: Ho"]]);
    assert_lost(&lost, &[("session without messages", 2)]);
}
