use crate::support::{fixture, in_short, prompts};

#[cfg(feature = "sqlite")]
#[test]
fn a_database_tells_what_was_compacted() {
    let (_folder, path) = crate::format::crush::database("goose/sessions.sql", "sessions.db");
    let (transcripts, lost) = crate::support::read_all(&path);
    let lost: Vec<(&str, u64)> = lost.iter().map(|loss| (loss.reason.as_str(), loss.count)).collect();
    assert_eq!(lost, [("usage of the whole session and of its last call alone", 1)]);
    // The one call of a session is its sum.
    assert_eq!(prompts(&transcripts[0]), [(300, 20)]);
    assert_eq!((transcripts[0].window, transcripts[0].messages[1].call.as_ref().unwrap().model.as_str()), (Some(400_000), "gpt-5"));
    let session = &transcripts[1];
    assert_eq!(
        in_short(session),
        [
            "u: One",
            "a: ~4 | developer__shell(c1)",
            "t: developer__shell(c1)=",
            "a: Done",
            "a: Your context was compacted.",
            "u: Two",
            "a: (c2)",
            "t: (c2)!",
        ]
    );
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from), (4, Some(4)));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("All so far"));
    assert!(session.messages[4].call.is_none(), "put in by the program");
    assert!(session.messages[6].call.as_ref().unwrap().unchained);
    assert_eq!(session.messages[0].time, Some(1_759_312_800_000));
}

/// Newer databases list each request, those that make summaries among them, and say which session started which.
#[cfg(feature = "sqlite")]
#[test]
fn requests_that_are_listed_are_the_calls() {
    let (_folder, path) = crate::format::crush::database("goose/sessions.sql", "sessions.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    let listed = "ALTER TABLE sessions ADD COLUMN parent_session_id TEXT;
        UPDATE sessions SET parent_session_id = '20251001_1' WHERE id = '20251001_2';
        CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, created_timestamp INTEGER NOT NULL, model TEXT,
          input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER, cost REAL,
          cost_source TEXT, is_compaction INTEGER DEFAULT 0);
        INSERT INTO usage_ledger (session_id, created_timestamp, model, input_tokens, output_tokens, total_tokens, cache_read_tokens, cache_write_tokens,
          cost, is_compaction) VALUES
          ('20251001_2', 1759312801, 'claude-sonnet-4', 9000, 80, 9080, 0, 8990, 0.03, 0),
          ('20251001_2', 1759312803, 'claude-sonnet-4', 9300, 81, 9381, 8990, 300, 0.01, 0),
          ('20251001_2', 1759312804, 'claude-haiku-4-5', 9500, 700, 10200, 0, 0, NULL, 1),
          ('20251001_2', 1759312806, 'claude-sonnet-4', 4000, 82, 4082, 0, 3990, 0.02, 0);";
    connection.execute_batch(listed).unwrap();
    drop(connection);
    let (transcripts, lost) = crate::support::read_all(&path);
    assert!(lost.is_empty(), "{lost:?}");
    let session = &transcripts[1];
    assert_eq!((session.parent.as_deref(), prompts(session)), (Some("20251001_1"), vec![(9_000, 80), (9_300, 81), (4_000, 82)]));
    let call = session.messages[1].call.as_ref().unwrap();
    let usage = call.usage.unwrap();
    assert_eq!(
        (call.model.as_str(), usage.cache_read, usage.cache_write, usage.cost_nano_usd),
        ("claude-sonnet-4", 0, 8_990, Some(30_000_000))
    );
    let summary = session.compactions[0].call.as_ref().unwrap();
    assert_eq!((summary.model.as_str(), summary.usage.unwrap().prompt, session.side_calls.len()), ("claude-haiku-4-5", 9_500, 0));
}

/// A reply may be stored in two messages. What the list carries over from before, and what fits no reply, is no request of one.
#[cfg(feature = "sqlite")]
#[test]
fn listed_requests_that_fit_no_reply_are_said() {
    let read = |changes: &str| {
        let (_folder, path) = crate::format::crush::database("goose/sessions.sql", "sessions.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        let table =
            "CREATE TABLE usage_ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, model TEXT, input_tokens INTEGER,
            output_tokens INTEGER, cost_source TEXT);
            INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES
              ('20251001_1', 'assistant', '[{\"type\":\"text\",\"text\":\"and more\"}]', 1759312801);
            INSERT INTO usage_ledger (session_id, input_tokens, output_tokens, cost_source) VALUES
              ('20251001_1', 90000, 900, 'carried_forward'), ('20251001_1', 9000, 80, NULL);";
        connection.execute_batch(&format!("{table}{changes}")).unwrap();
        drop(connection);
        let (transcripts, lost) = crate::support::read_all(&path);
        let lost: Vec<String> = lost.into_iter().map(|loss| loss.reason).collect();
        (prompts(&transcripts[0]), lost)
    };
    let (one, lost) = read("");
    assert_eq!(
        (one, lost.contains(&"requests that are listed, and whose replies cannot be told".to_owned())),
        (vec![(9_000, 80)], false),
        "{lost:?}"
    );
    let further =
        "INSERT INTO usage_ledger (session_id, input_tokens, output_tokens) VALUES ('20251001_1', 9100, 81), ('20251001_1', 9200, 82);";
    let (three, lost) = read(further);
    assert_eq!(three, [(0, 0), (0, 0)]);
    assert!(lost.contains(&"requests that are listed, and whose replies cannot be told".to_owned()), "{lost:?}");
    let (huge, lost) = read("UPDATE usage_ledger SET input_tokens = 4611686018427387904;");
    assert!(huge == [(0, 0)] && lost.contains(&"absurd usage numbers".to_owned()), "{huge:?} {lost:?}");
}

#[test]
fn older_sessions_are_lines() {
    let (transcripts, lost) = fixture("goose/older.jsonl");
    let lost: Vec<(&str, u64)> = lost.iter().map(|(reason, count)| (reason.as_str(), *count)).collect();
    assert_eq!(lost, [("unknown content part", 1), ("cut off at the end of the file", 1)]);
    assert_eq!(transcripts[0].id, "older");
    // The sum less the last call is the other's.
    assert_eq!(prompts(&transcripts[0]), [(500, 90), (1000, 10)]);
    assert_eq!(in_short(&transcripts[0]), ["u: One", "a: shell(c1)", "t: shell(c1)= | 2x3", "a: Done"]);
}
