use super::crush::database;
use crate::support::{assert_lost, claim, fixture, in_short, project, prompts, read_all};
use crate::truth::corpus;
use ctxsim::catalog::Catalog;
use ctxsim::format::Claim;
use ctxsim::transcript::{Part, Role, Transcript};
use std::path::Path;

#[test]
fn a_snapshot_holds_instructions_tools_and_messages() {
    let (transcripts, lost) = fixture("hermes/session_20260801_100000_ab12cd34.json");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!((session.id.as_str(), session.agent.as_str()), ("20260801_100000_ab12cd34", "hermes"));
    assert_eq!(in_short(session)[1..], ["u: Look", "a: ~0 | terminal(c1)", "t: terminal(c1)=", "a: Done"]);
    assert!(matches!(&session.messages[0].parts[..], [Part::Text(_), Part::Tools(_)]));
    let result = session.messages.iter().find(|message| message.role == Role::Tool).unwrap();
    assert!(matches!(&result.parts[0], Part::ToolResult { text, .. } if text.truncated));
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_deref()).collect();
    assert!(calls.iter().all(|call| call.model == "glm-5" && call.usage.is_none()));
    assert_eq!((session.messages[0].time, session.messages[4].time), (Some(1_785_578_400_000), Some(1_785_578_409_000)));
}

/// The gateway writes each message down a second time.
#[test]
fn lines_beside_a_snapshot_are_the_same_session() {
    let folder = project().join("tests/data/hermes");
    assert_eq!(claim(&folder.join("20260801_100000_ab12cd34.jsonl")), Some(("hermes", Claim::Companion)));
    let (transcripts, lost) = fixture("hermes/20260801_100000_ab12cd34.jsonl");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!(
        (session.id.as_str(), &in_short(session)[1..]),
        ("20260801_100000_ab12cd34", &["u: Look".to_owned(), "a: Done".to_owned()][..])
    );
    assert_eq!(session.messages[1].time, Some(1_785_578_401_000));
}

#[test]
fn an_export_holds_a_session_a_line() {
    let (transcripts, lost) = fixture("hermes/export.jsonl");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("message of an unknown role", 1),
            ("record of an unexpected shape", 1),
        ],
    );
    // Two requests, and two replies.
    assert_eq!(prompts(&transcripts[1]), [(450, 5), (450, 4)]);
    let session = &transcripts[0];
    assert_eq!(
        (session.host.as_deref(), session.project.as_ref().unwrap().folder.as_deref()),
        (Some("github-copilot"), Some("/home/ada/x"))
    );
    // The sum of a session with one call is the call's; cached tokens lie beside the input, reasoning within the output.
    assert_eq!(
        (in_short(session)[1..].to_vec(), prompts(session)),
        (vec!["u: Look | 0x0".to_owned(), "a: Seen".to_owned()], vec![(730, 7)])
    );
    assert_eq!(session.messages[2].call.as_ref().unwrap().usage.unwrap().reasoning, Some(3));
    assert_eq!(
        (transcripts[1].parent.as_deref(), in_short(&transcripts[1])),
        (Some("s1"), ["*: Two", "a: A", "a: B"].map(str::to_owned).to_vec())
    );
    assert_eq!(in_short(&transcripts[2]), ["u: Three", "a: C"]);
}

#[test]
fn sessions_that_a_compaction_parts_are_one() {
    let (_folder, path) = database("hermes/state.sql", "state.db");
    assert_eq!(claim(&path), Some(("hermes", Claim::Yes)));
    let (transcripts, losses) = read_all(&path);
    let lost: Vec<_> = losses.into_iter().map(|loss| (loss.reason, loss.count)).collect();
    assert_lost(
        &lost,
        &[
            ("message of an unexpected shape", 1),
            ("message without a session", 1),
            ("row that is not text", 1),
            ("session without messages", 1),
            ("usage of the whole session alone", 1),
        ],
    );
    let told: Vec<_> = transcripts.iter().map(|session| (session.id.as_str(), session.parent.as_deref())).collect();
    assert_eq!(told, [("a", None), ("c", Some("a")), ("d", None)]);
    let session = &transcripts[0];
    assert_eq!(in_short(session)[1..], ["u: One", "a: ~0 | terminal(c1)", "t: terminal(c1)=", "a: First", "u: Two", "a: Second"]);
    let compaction = &session.compactions[0];
    assert_eq!((session.compactions.len(), compaction.before, compaction.kept_from), (1, 5, Some(3)));
    assert_eq!(compaction.summary.as_ref().unwrap().as_str(), "[CONTEXT COMPACTION — REFERENCE ONLY] They looked.");
    assert_eq!(
        session.messages.iter().filter_map(|message| Some(message.call.as_ref()?.unchained)).collect::<Vec<_>>(),
        [false, false, true]
    );
    assert_eq!(prompts(&transcripts[1]), [(40, 4)]);
}

#[test]
fn a_compaction_within_a_session_copies_what_stays() {
    let (_folder, path) = database("hermes/state.sql", "state.db");
    let session = read_all(&path).0.into_iter().find(|session| session.id == "d").unwrap();
    assert_eq!(in_short(&session), ["u: One", "a: First", "u: Two", "a: Second", "u: Three", "a: Third", "u: Four", "a: Fourth"]);
    let compaction = &session.compactions[0];
    assert_eq!((session.compactions.len(), compaction.before, compaction.kept_from), (1, 4, Some(2)));
    // What was taken back leaves the context before the next prompt.
    let rewinds: Vec<_> = session.messages.iter().enumerate().filter_map(|(at, message)| Some((at, message.rewind?))).collect();
    assert_eq!(rewinds, [(6, 4)]);
}

/// A database of sessions (id, parent, start, end) that end in compactions, and of messages (session, role, text, time, summary).
fn compacted(sessions: &[(&str, &str, f64, f64)], messages: &[(&str, &str, &str, f64, bool)]) -> Vec<Transcript> {
    let (_folder, path) = database("hermes/state.sql", "state.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("DELETE FROM sessions; DELETE FROM messages").unwrap();
    for (id, parent, start, end) in sessions {
        let row = "INSERT INTO sessions (id, source, model, parent_session_id, started_at, ended_at, end_reason) VALUES (?, 'cli', 'm', ?, ?, ?, 'compression')";
        connection.execute(row, rusqlite::params![id, parent, start, end]).unwrap();
    }
    for (session, role, text, time, summary) in messages {
        let row = "INSERT INTO messages (session_id, role, content, timestamp, _compressed_summary) VALUES (?, ?, ?, ?, ?)";
        connection.execute(row, rusqlite::params![session, role, text, time, summary]).unwrap();
    }
    let (transcripts, losses) = read_all(&path);
    assert!(losses.is_empty(), "{losses:?}");
    transcripts
}

/// What a person says a second time behind a compaction is no copy: copies within a session have the times of what they are of, and others ascend.
#[test]
fn words_that_are_said_again_behind_a_compaction_stay() {
    let said = |session, first: f64| {
        [("user", "Do it"), ("assistant", "Did 1"), ("user", "continue"), ("assistant", "Did 2")]
            .into_iter()
            .zip(0..)
            .map(move |((role, text), at)| (session, role, text, first + f64::from(at), false))
    };
    let read = |sessions: &[(&str, &str, f64, f64)], rows: &[(&'static str, &'static str, &'static str, f64, bool)]| {
        let rows: Vec<_> = said("a", 1.0).chain(rows.iter().copied()).collect();
        let session = compacted(sessions, &rows).remove(0);
        let found: Vec<_> = session.compactions.iter().map(|compaction| (compaction.before, compaction.kept_from)).collect();
        (in_short(&session)[4..].to_vec(), found)
    };
    let one = [("a", "", 0.0, 10.0)];
    let again = ["u: continue", "a: Did 3"].map(str::to_owned).to_vec();
    let rows =
        [("a", "user", "They worked.", 5.0, true), ("a", "user", "continue", 100.0, false), ("a", "assistant", "Did 3", 101.0, false)];
    assert_eq!(read(&one, &rows), (again.clone(), vec![(4, None)]));
    let two = [("a", "", 0.0, 10.0), ("b", "a", 11.0, 200.0)];
    let rows = [
        ("b", "user", "They worked.", 11.0, true),
        ("b", "assistant", "Did 2", 11.5, false),
        ("b", "user", "continue", 100.0, false),
        ("b", "assistant", "Did 3", 101.0, false),
    ];
    assert_eq!(read(&two, &rows), (again.clone(), vec![(4, Some(3))]));
    // The copies themselves may hold the same words twice, and words that the messages before them hold too.
    let tail = [("user", "continue"), ("assistant", "Did 3"), ("user", "continue"), ("assistant", "Did 4")];
    let own = tail.iter().zip(5..).map(|((role, text), at)| ("a", *role, *text, f64::from(at), false));
    let copies = tail.iter().zip(12..).map(|((role, text), at)| ("b", *role, *text, f64::from(at), false));
    let head = [("b", "user", "Do it", 11.0, false), ("b", "user", "They worked.", 11.5, true)];
    let rows: Vec<_> = own.chain(head).chain(copies).chain([("b", "user", "Thanks", 100.0, false)]).collect();
    let expected = [again, ["u: continue", "a: Did 4", "u: Thanks"].map(str::to_owned).to_vec()].concat();
    assert_eq!(read(&two, &rows), (expected, vec![(8, Some(4))]));
}

#[test]
fn sessions_that_name_each_other_as_parent_are_read() {
    let sessions = [("a", "b", 10.0, 5.0), ("b", "a", 10.0, 5.0)];
    let found = compacted(&sessions, &[("a", "user", "One", 1.0, false), ("b", "user", "Two", 2.0, false)]);
    assert_eq!(found.iter().map(in_short).collect::<Vec<_>>(), [["u: One", "u: Two"]]);
}

/// Sessions that the database holds are not read a second time.
#[test]
fn snapshots_below_a_database_belong_to_it() {
    let (folder, _) = database("hermes/state.sql", "state.db");
    let sessions = folder.path().join("sessions");
    std::fs::create_dir(&sessions).unwrap();
    let claimed = |id: &str| {
        let path = sessions.join(format!("session_{id}.json"));
        let text = format!(r#"{{"session_id":"{id}","model":"m","platform":"cli","session_start":"x","last_updated":"x","messages":[]}}"#);
        std::fs::write(&path, text).unwrap();
        claim(&path)
    };
    assert_eq!((claimed("a"), claimed("other")), (Some(("hermes", Claim::Companion)), Some(("hermes", Claim::Yes))));
}

/// The tables and sessions of a database that the agent has open lie in its log, and all files beside it belong to it all the same: each call counts once.
#[test]
fn what_lies_in_the_log_of_the_database_is_hermes_and_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let (open, sessions) = (folder.path().join("open.db"), folder.path().join("sessions"));
    let connection = rusqlite::Connection::open(&open).unwrap();
    let statements = std::fs::read_to_string(project().join("tests/data/hermes/state.sql")).unwrap();
    connection.execute_batch("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0").unwrap();
    connection.execute_batch(&statements).unwrap();
    let path = folder.path().join("state.db");
    for end in ["", "-wal"] {
        std::fs::copy(format!("{}{end}", open.display()), format!("{}{end}", path.display())).unwrap();
    }
    drop(connection);
    std::fs::remove_file(&open).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 4096);
    let alone = calls_below(folder.path());
    assert_eq!((claim(&path), read_all(&path).0.len()), (Some(("hermes", Claim::Yes)), 3));

    std::fs::create_dir(&sessions).unwrap();
    let messages = [r#"{"role":"user","content":"One"}"#, r#"{"role":"assistant","content":"First"}"#];
    let snapshot = |id: &str| {
        let text = format!(
            r#"{{"session_id":"{id}","model":"m","platform":"cli","session_start":"2026-08-01T10:00:00","last_updated":"2026-08-01T10:00:09","messages":[{}]}}"#,
            messages.join(",")
        );
        std::fs::write(sessions.join(format!("session_{id}.json")), text).unwrap();
        // The gateway's lines, without a head.
        std::fs::write(sessions.join(format!("{id}.jsonl")), messages.join("\n") + "\n").unwrap();
    };
    snapshot("a");
    assert_eq!(calls_below(folder.path()), alone);
    snapshot("other");
    assert_eq!(calls_below(folder.path()), alone + 1);
}

fn calls_below(folder: &Path) -> u64 {
    corpus(&Catalog::builtin().unwrap(), &[folder]).facts.calls
}
