use super::crush::database;
use crate::support::{assert_lost, claim, fixture, in_short, project, prompts, read_all, read_text};
use ctxsim::format::Claim;
use ctxsim::transcript::CompactionKind;

#[test]
fn messages_are_unwrapped_and_calls_counted_once() {
    let (transcripts, lost) = fixture("langchain/dict.json");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    // The provider's own block repeats the first call.
    let shown = ["s: Be good.", "u: Look", "a: A moment. | find(c1) | ask(c2)", "t: find(c1)=", "t: ask(c2)!", "a: ~0 | b"];
    assert_eq!(in_short(session), shown);
    // LangChain's words go before the provider's, which count cached tokens beside the others.
    assert_eq!(prompts(session), [(500, 30), (560, 9)]);
    let call = session.messages[2].call.as_ref().unwrap();
    assert_eq!((call.usage.unwrap().cache_read, call.model.as_str()), (400, "claude-sonnet-5-5"));
}

#[test]
fn dumped_messages_and_states_of_graphs_are_read() {
    let (transcripts, lost) = fixture("langchain/dumped.json");
    assert!(lost.is_empty(), "{lost:?}");
    // What middleware puts in is said in the person's name.
    assert_eq!(in_short(&transcripts[0]), ["*: What was said so far: a.", "u: Add", "a: add(t1)", "t: add(t1)="]);
    assert_eq!(prompts(&transcripts[0]), [(80, 7)]);
    let (transcripts, lost) = fixture("langchain/state.json");
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!((in_short(&transcripts[0]), prompts(&transcripts[0])), (vec!["u: Hi".to_owned(), "a: Ho".to_owned()], vec![(30, 12)]));
    assert_eq!(transcripts[0].messages[1].call.as_ref().unwrap().usage.unwrap().reasoning, Some(10));
}

/// A node of a graph may write a message in the model's name: no model was asked.
#[test]
fn what_a_node_writes_is_no_call() {
    let message = |id: &str, more: &str| format!(r#"{{"type":"ai","content":"Stop","id":"{id}","additional_kwargs":{{}}{more}}}"#) + "\n";
    let calls = |id: &str, more: &str| {
        let person = r#"{"type":"human","content":"Hi","additional_kwargs":{},"response_metadata":{}}"#.to_owned() + "\n";
        let (sessions, lost) = read_text("state.jsonl", &(person + &message(id, more)));
        assert_eq!((in_short(&sessions[0]), lost), (vec!["u: Hi".to_owned(), "a: Stop".to_owned()], vec![]));
        prompts(&sessions[0]).len()
    };
    let (drawn, empty) = ("0b1f64a6-5a0e-4f0b-9a55-1f2f0c9a7f11", r#","response_metadata":{}"#);
    assert_eq!(calls(drawn, empty), 0);
    assert_eq!(calls(drawn, r#","response_metadata":{"model_name":"gpt-5"}"#), 1);
    assert_eq!(calls(&format!("run-{drawn}"), empty), 1);
    assert_eq!(calls(drawn, ""), 1);
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("langchain/broken.jsonl");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("message of an unknown role", 1),
            ("record of an unexpected shape", 1),
            ("unknown content part", 1),
        ],
    );
    assert_eq!(prompts(&transcripts[0]), [(0, 0)]);
}

/// Each checkpoint holds the whole history: what is new in it came, and what is not in it any more left.
#[test]
fn checkpoints_say_what_came_and_what_left() {
    let (_folder, path) = database("langchain/checkpoints.sql", "checkpoints.db");
    assert_eq!(claim(&path), Some(("langchain", Claim::Yes)));
    let (transcripts, losses) = read_all(&path);
    let lost: Vec<_> = losses.into_iter().map(|loss| (loss.reason, loss.count)).collect();
    assert_lost(
        &lost,
        &[
            ("checkpoint that cannot be decoded", 2),
            ("checkpoints without their history (kept as differences, or under another name)", 1),
            ("message of an unknown role", 1),
            ("session without messages", 1),
        ],
    );
    let [thread, within, odd] = transcripts.as_slice() else { panic!("{} sessions", transcripts.len()) };
    assert_eq!([&thread.id, &within.id, &odd.id], ["t1", "t1/sub:1", "t3"]);
    assert_eq!((within.parent.as_deref(), in_short(odd)), (Some("t1"), vec!["u: Look at x".to_owned()]));
    let shown = in_short(thread);
    assert_eq!(shown[..4], ["u: Look at x", "a: look(call_1)", "t: look(call_1)=", "a: It is there."]);
    assert_eq!(shown[4..], ["u: And y?", "a: Not there.", "u: And z?", "a: Maybe.", "u: Once more", "a: Yes."]);
    assert_eq!(prompts(thread), [(40, 6), (80, 9), (70, 5), (50, 4), (52, 3)]);
    let [pruned, compacted] = thread.compactions.as_slice() else { panic!("{:?}", thread.compactions) };
    assert_eq!((pruned.kind, pruned.before, &pruned.taken[..]), (CompactionKind::Prune, 4, &[(2, 0)][..]));
    assert_eq!((compacted.kind, compacted.before, compacted.kept_from), (CompactionKind::Compact, 6, Some(4)));
    assert_eq!(compacted.summary.as_ref().unwrap().as_str(), "Here is a summary: x is there.");
    // The last question was asked anew, from an earlier checkpoint.
    let rewinds: Vec<_> = thread.messages.iter().enumerate().filter_map(|(at, message)| Some((at, message.rewind?))).collect();
    assert_eq!(rewinds, [(8, 6)]);
    assert_eq!(thread.messages[3].time, Some(1_785_578_405_000));
}

/// A history under another name, in JSON, with its summary beside it.
#[test]
fn a_history_is_found_under_any_name() {
    let (_folder, path) = database("langchain/checkpoints.sql", "checkpoints.db");
    let within = &read_all(&path).0[1];
    assert_eq!(in_short(within), ["u: One", "a: A", "u: Two", "a: B", "u: Three", "a: C"]);
    let [cut] = within.compactions.as_slice() else { panic!("{:?}", within.compactions) };
    assert_eq!((cut.before, cut.kept_from, cut.summary.as_ref().unwrap().as_str()), (4, Some(2), "One was A."));
}

/// A list that is only added to holds what is said again; a reply of no model, beside those that models report, is a node's.
#[test]
fn what_is_said_again_stands_again() {
    let (_folder, path) = database("langchain/repeated.sql", "checkpoints.db");
    let (sessions, losses) = read_all(&path);
    let [session, other] = sessions.as_slice() else { panic!("{} sessions", sessions.len()) };
    assert_eq!(in_short(other), ["u: Hello"]);
    let said = ["u: continue", "a: Step 1.", "u: continue", "a: Step 2.", "u: continue", "a: Step 3.", "a: Risk desk: cleared."];
    assert_eq!((in_short(session), prompts(session), losses.len()), (said.map(str::to_owned).to_vec(), vec![(20, 4), (40, 4), (60, 4)], 0));
    assert!(session.compactions.is_empty() && session.messages.iter().all(|message| message.rewind.is_none() && message.copy_of.is_none()));
}

/// Nodes may give plain dictionaries, which a state without `add_messages` keeps.
#[test]
fn plain_dictionaries_are_messages() {
    let (_folder, path) = database("langchain/plain.sql", "checkpoints.db");
    let (sessions, losses) = read_all(&path);
    let [session, other] = sessions.as_slice() else { panic!("{} sessions", sessions.len()) };
    assert_eq!(in_short(other), ["u: Hello", "a: Hi"]);
    let said = ["s: Speak plainly.", "u: Which ports are open?", "a: scan(c1)", "t: scan(c1)=", "a: Two."];
    assert_eq!((in_short(session), prompts(session), losses), (said.map(str::to_owned).to_vec(), vec![(20, 4), (40, 2)], vec![]));
}

/// The tables of 2024 name checkpoints by their time.
#[test]
fn checkpoints_of_2024_are_read() {
    let (folder, path) = database("langchain/repeated.sql", "checkpoints.db");
    let now = read_all(&path).0;
    let text = std::fs::read_to_string(project().join("tests/data/langchain/repeated.sql")).unwrap();
    let mut old = text.replace("checkpoint_ns TEXT NOT NULL DEFAULT '', ", "").replace(", type TEXT", "").replace("checkpoint_ns, ", "");
    old = old.replace("parent_checkpoint_id", "parent_ts").replace("checkpoint_id", "thread_ts");
    old = old.replace("','','", "','").replace(",'json',", ",");
    let path = folder.path().join("old.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch(&old).unwrap();
    assert_eq!(claim(&path), Some(("langchain", Claim::Yes)));
    let (then, losses) = read_all(&path);
    assert_eq!((in_short(&then[0]), prompts(&then[0]), losses.len()), (in_short(&now[0]), prompts(&now[0]), 0));
}
