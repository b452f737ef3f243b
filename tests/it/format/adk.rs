use super::crush::database;
use crate::support::{assert_lost, fixture, in_short, prompts, read_all};
use ctxsim::transcript::{Part, Role};

#[test]
fn events_become_replies_results_and_a_summary() {
    let (transcripts, lost) = fixture("adk/session.json");
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[0];
    assert_eq!(session.id, "adk-1");
    assert_eq!(
        in_short(session),
        ["u: Look", "a: ~0 | find(adk-c1) | ask(adk-c2)", "t: find(adk-c1)=", "t: ask(adk-c2)!", "a: Done", "u: More", "a: No more",]
    );
    // Thoughts lie beside the candidates; a piece of a streamed reply is no call.
    assert_eq!(prompts(session), [(700, 50), (400, 5), (410, 7)]);
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_ref()).collect();
    assert_eq!((calls[0].usage.unwrap().cache_read, calls[0].model.as_str()), (200, "gemini-3.8-flash"));
    // Another agent has other instructions; what follows a summary is no continuation either.
    assert_eq!(calls.iter().map(|call| call.unchained).collect::<Vec<_>>(), [false, true, true]);
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from), (5, Some(4)));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("They looked."));
    assert_eq!(session.messages[0].time, Some(1_790_000_000_500));
}

#[test]
fn keys_may_be_written_with_underscores() {
    let (transcripts, lost) = fixture("adk/events.json");
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(in_short(&transcripts[0]), ["u: Hi", "a: now(f1)", "t: now(f1)=", "a: Noon"]);
    assert_eq!(prompts(&transcripts[0]), [(50, 4), (60, 2)]);
    let result = transcripts[0].messages.iter().find(|message| message.role == Role::Tool).unwrap();
    assert!(matches!(&result.parts[0], Part::ToolResult { text, .. } if text.content.as_deref() == Some("noon")));
}

/// Lists that a server's `/run` answers with have no message of the user.
#[test]
fn a_thought_may_have_no_text_and_an_agent_of_code_no_usage() {
    let (transcripts, lost) = fixture("adk/thought.json");
    assert!(lost.is_empty(), "{lost:?}");
    assert_eq!(in_short(&transcripts[0]), ["a: [1, 2]", "a: Both are small."]);
    assert_eq!(prompts(&transcripts[0]), [(0, 0), (120, 35)]);
}

#[test]
fn what_is_damaged_is_named() {
    let (transcripts, lost) = fixture("adk/broken.jsonl");
    assert_lost(
        &lost,
        &[
            ("absurd usage numbers", 1),
            ("cut off at the end of the file", 1),
            ("pieces of a reply whose whole is missing", 1),
            ("step back to an earlier run (not taken)", 1),
            ("unknown content part", 1),
        ],
    );
    assert_eq!(prompts(&transcripts[0]), [(0, 0)]);
}

#[test]
fn a_database_holds_the_events_of_its_sessions() {
    let (_folder, path) = database("adk/sessions.sql", "session.db");
    let (transcripts, losses) = read_all(&path);
    let told: Vec<_> = transcripts.iter().map(|session| (session.id.as_str(), in_short(session))).collect();
    // Two users have a session of one id.
    let expected = [("desk/u/s1", vec!["u: One", "a: First"]), ("desk/v/s1", vec!["u: Two"]), ("s2", vec!["u: Three"])];
    assert_eq!(told, expected.map(|(id, said)| (id, said.into_iter().map(str::to_owned).collect())));
    assert_eq!(prompts(&transcripts[0]), [(700, 20)]);
    assert_eq!(transcripts[0].messages[1].time, Some(1_790_000_001_500));
    let lost: Vec<_> = losses.into_iter().map(|loss| (loss.reason, loss.count)).collect();
    let expected = [("message without a session", 1), ("not JSON", 1), ("row that is not text", 1), ("session without messages", 1)];
    assert_lost(&lost, &expected);
}

/// Versions before 1.22 have a column for each field of an event; what an event does is sealed there.
#[test]
fn events_of_older_databases_are_put_together_from_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let statements = r#"
        CREATE TABLE app_states (app_name VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name));
        CREATE TABLE user_states (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, state TEXT NOT NULL, PRIMARY KEY (app_name, user_id));
        CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL, state TEXT NOT NULL,
            create_time DATETIME NOT NULL, update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id, id));
        CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, session_id VARCHAR(128) NOT NULL,
            invocation_id VARCHAR(256) NOT NULL, author VARCHAR(256) NOT NULL, actions BLOB NOT NULL, timestamp DATETIME NOT NULL, content TEXT,
            usage_metadata TEXT, partial BOOLEAN, PRIMARY KEY (id, app_name, user_id, session_id));
        INSERT INTO sessions VALUES ('desk', 'u', 's1', '{}', '2026-09-21 13:33:20.000000', '2026-09-21 13:33:22.000000');
        INSERT INTO events VALUES
            ('e1', 'desk', 'u', 's1', 'e-1', 'user', x'80', '2026-09-21 13:33:20.500000', '{"role":"user","parts":[{"text":"One"}]}', 'null', NULL),
            ('e2', 'desk', 'u', 's1', 'e-1', 'root', x'80', '2026-09-21 13:33:21.500000', '{"role":"model","parts":[{"text":"First"}]}',
             '{"prompt_token_count":700,"candidates_token_count":20,"total_token_count":720}', NULL),
            ('e3', 'desk', 'u', 's1', 'e-1', 'root', x'80', '2026-09-21 13:33:22.500000', NULL, NULL, NULL);"#;
    rusqlite::Connection::open(&path).unwrap().execute_batch(statements).unwrap();
    let (transcripts, losses) = read_all(&path);
    assert_eq!((in_short(&transcripts[0]), losses), (vec!["u: One".to_owned(), "a: First".to_owned()], vec![]));
    assert_eq!(prompts(&transcripts[0]), [(700, 20)]);
    assert_eq!(transcripts[0].messages[1].time, Some(1_789_997_601_500));
}
