use crate::support::{fixture, in_short, read_text};
use ctxsim::transcript::{Trust, Usage};
use serde_json::{Value, json};

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

/// Some versions leave the reply that ended the run out of the history.
#[test]
fn the_last_reply_may_stand_in_the_trajectory_alone() {
    let read = |steps: &[(&str, &str)], again: bool| {
        let mut history =
            vec![json!({"role": "system", "content": "S", "agent": "main"}), json!({"role": "user", "content": "Fix", "agent": "main"})];
        for (response, _) in &steps[..steps.len() - usize::from(!again)] {
            history.push(json!({"role": "assistant", "content": response, "agent": "main", "message_type": "action"}));
            history.push(json!({"role": "user", "content": "done", "agent": "main", "message_type": "observation"}));
        }
        let step =
            |(response, action): &(&str, &str)| json!({"response": response, "action": action, "thought": response, "observation": "o"});
        let trajectory: Vec<Value> = steps.iter().map(step).collect();
        let stats = json!({"model_stats": {"tokens_sent": 300, "tokens_received": 9, "api_calls": steps.len()}});
        let run = json!({"trajectory": trajectory, "history": history, "info": stats});
        let alone = read_text("run.traj", &run.to_string());
        let among = read_text(
            "run.traj",
            &json!({"attempts": [run.clone()], "trajectory": run["trajectory"], "history": run["history"]}).to_string(),
        );
        assert_eq!(in_short(&alone.0[0]), in_short(&among.0[0]));
        let session = &alone.0[0];
        (in_short(session).into_iter().filter(|message| message.starts_with("a:")).collect::<Vec<_>>(), usages(session).len())
    };
    let listed = ("List\n```\nls\n```", "ls\n");
    let first = format!("a: {}", listed.0);
    assert_eq!(read(&[listed, ("Ran well", "submit")], true), (vec![first.clone(), "a: Ran well".to_owned()], 2));
    assert_eq!(read(&[listed, ("Ran well", "submit")], false), (vec![first.clone(), "a: Ran well | submit()".to_owned()], 2));
    assert_eq!(
        read(&[listed, ("End\n```\nsubmit\n```", "submit\n")], false),
        (vec![first.clone(), "a: End\n```\nsubmit\n```".to_owned()], 2)
    );
    // What the agent itself writes at the end of a run is no reply.
    for end in [("Exit due to cost limit", ""), ("", "submit"), ("", "exit_cost"), ("Exit due to context window", "exit_context")] {
        assert_eq!(read(&[listed, end], false), (vec![first.clone()], 1), "{end:?}");
    }
    // The only call of a run is the one whose usage its sum is.
    let (transcripts, lost) = read_text(
        "run.traj",
        r#"{"history":[{"role":"user","content":"Fix","agent":"main"}],"trajectory":[{"response":"Done","action":"submit","observation":"","thought":""}],
            "info":{"model_stats":{"tokens_sent":300,"tokens_received":9,"api_calls":1}}}"#,
    );
    assert_eq!((usages(&transcripts[0])[0].unwrap().prompt, lost), (300, vec![]));
    // The agent asks again where it cannot use a reply, and keeps none of those.
    let again = r#"{"history":[{"role":"user","content":"Fix","agent":"main"}],"trajectory":[{"response":"Done","action":"submit","observation":"","thought":""}],
        "info":{"model_stats":{"tokens_sent":300,"tokens_received":9,"api_calls":3}}}"#;
    let reasons: Vec<String> = read_text("run.traj", again).1.into_iter().map(|(reason, _)| reason).collect();
    assert!(reasons.iter().any(|reason| reason == "calls of a run whose replies were thrown away"), "{reasons:?}");
}

/// The configuration of a run names what its requests leave out of the history: all observations but the newest, the task apart. Tags of the agent's own decide for single ones.
#[test]
fn old_observations_are_pruned_where_the_configuration_says_so() {
    let read = |processor: Value, tags: &[(usize, &str)]| {
        let mut history = vec![json!({"role": "system", "content": "S", "agent": "main", "message_type": "system_prompt"})];
        for step in 0..6 {
            let tags: Vec<&str> = tags.iter().filter(|(place, _)| *place == step).map(|(_, tag)| *tag).collect();
            history.push(json!({"role": "user", "content": "O", "agent": "main", "message_type": "observation", "tags": tags}));
            history.push(json!({"role": "assistant", "content": "R", "agent": "main", "message_type": "action"}));
        }
        let config = json!({"agent": {"history_processors": [{"type": "cache_control"}, processor]}}).to_string();
        let (transcripts, _) = read_text("run.traj", &json!({"trajectory": [], "history": history, "replay_config": config}).to_string());
        let taken =
            |event: &ctxsim::transcript::Compaction| (event.before, event.taken.iter().map(|(message, _)| *message).collect::<Vec<_>>());
        transcripts[0].compactions.iter().map(taken).collect::<Vec<_>>()
    };
    let newest = |n: u64, polling: u64| json!({"type": "last_n_observations", "n": n, "polling": polling});
    // The task is message 1, the observations behind it 3, 5, 7, 9 and 11, and the replies stand between.
    let one_by_one = vec![(8, vec![3]), (10, vec![5]), (12, vec![7])];
    assert_eq!(read(newest(2, 1), &[]), one_by_one);
    assert_eq!(read(json!({"type": "last_n_observations", "n": 2}), &[]), one_by_one);
    assert_eq!(read(newest(2, 2), &[]), [(8, vec![3]), (12, vec![5, 7])]);
    assert_eq!(read(newest(2, 1), &[(1, "keep_output"), (4, "remove_output")]), [(10, vec![5, 9]), (12, vec![7])]);
    assert_eq!(read(json!({"type": "cache_control"}), &[]), []);
}

/// A run that ends at the window says so in the model's name: a refusal, and no call.
#[test]
fn a_run_that_ends_at_the_window_was_refused() {
    let entry = |role: &str, content: &str, action: &str| json!({"role": role, "content": content, "action": action, "agent": "main", "message_type": "action"});
    for action in ["", "exit_context"] {
        let history = [
            entry("user", "Fix", ""),
            entry("assistant", "List", "ls"),
            entry("user", "a b", ""),
            entry("assistant", "Exit due to context window", action),
            entry("user", "Exited (autosubmitted)", ""),
        ];
        let step = |response: &str, action: &str| json!({"response": response, "action": action, "thought": response, "observation": "o"});
        let trajectory = [step("List", "ls"), step("Exit due to context window", action)];
        let stats = json!({"model_stats": {"tokens_sent": 300, "tokens_received": 9, "api_calls": 1}});
        let (transcripts, lost) = read_text("run.traj", &json!({"trajectory": trajectory, "history": history, "info": stats}).to_string());
        let session = &transcripts[0];
        assert_eq!(in_short(session), ["u: Fix", "a: List", "t: ()=", "t: ()="]);
        assert_eq!((session.refusals.as_slice(), session.refused), (&[3][..], true));
        // The sum of the run is that of its one call.
        assert_eq!(
            (usages(session)[0].unwrap().prompt, lost),
            (300, vec![("request that the provider refused as too large".to_owned(), 1)])
        );
    }
}
