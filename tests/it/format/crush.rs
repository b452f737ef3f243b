use crate::support::{ctxsim, in_short, project, prompts, read_all};
use std::path::PathBuf;
use tempfile::TempDir;

/// A database made by the statements of a fixture.
pub fn database(fixture: &str, name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let statements = std::fs::read_to_string(project().join("tests/data").join(fixture)).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch(&statements).unwrap();
    (folder, path)
}

#[test]
fn sessions_have_the_usage_of_their_last_call() {
    let (_folder, path) = database("crush/crush.sql", "crush.db");
    let (transcripts, lost) = read_all(&path);
    let mut lost: Vec<(&str, u64)> = lost.iter().map(|loss| (loss.reason.as_str(), loss.count)).collect();
    lost.sort();
    assert_eq!(
        lost,
        [
            ("message of an unexpected shape", 1),
            ("message without a session", 1),
            ("session without messages", 1),
            ("unknown content part", 1),
            ("usage of the session's last call alone, what was read from the cache among the reply", 1),
        ]
    );
    let session = &transcripts[0];
    assert_eq!((session.agent.as_str(), session.parent.as_deref(), session.host.as_deref()), ("crush", None, Some("gemini")));
    assert_eq!(in_short(session), ["u: One", "a: ~4 | Looking | bash(c1)", "t: bash(c1)!", "a: Half", "a: Done", "u: Two"]);
    let calls: Vec<_> = session.messages.iter().filter_map(|message| message.call.as_ref()).collect();
    assert!(calls.iter().all(|call| call.usage.is_none()));
    assert_eq!(calls.iter().map(|call| call.unchained).collect::<Vec<_>>(), [false, true]);
    let compaction = &session.compactions[0];
    assert_eq!((compaction.before, compaction.kept_from), (5, Some(5)));
    assert_eq!(compaction.summary.as_ref().unwrap().content.as_deref(), Some("All so far"));
    assert_eq!(session.messages[0].time, Some(1_754_498_139_000));
    assert_eq!((transcripts[1].id.as_str(), transcripts[1].parent.as_deref()), ("toolu_1", Some("s1")));
}

/// Later versions leave what was written to the cache out of the prompt. What a person ran and what a tool drew is sent too.
#[test]
fn a_prompt_without_what_was_cached_is_not_used() {
    let (_folder, path) = database("crush/crush.sql", "crush.db");
    let said = format!(
        "[{{\"type\":\"text\",\"data\":{{\"text\":\"{}\"}}}},{}]",
        "look ".repeat(400),
        r#"{"type":"shell_command","data":{"command":"ls","output":"a","exit_code":2}}"#
    );
    let connection = rusqlite::Connection::open(&path).unwrap();
    for (session, prompt) in [("written", 3), ("whole", 600)] {
        let row = "INSERT INTO sessions (id, title, prompt_tokens, completion_tokens, created_at) VALUES (?1, '', ?2, 2, 1754498160)";
        connection.execute(row, rusqlite::params![session, prompt]).unwrap();
        let picture = r#"[{"type":"tool_result","data":{"tool_call_id":"t","name":"view","content":"Loaded","data":"iVBORw0KGgo=","mime_type":"image/png"}}]"#;
        let reply = r#"[{"type":"text","data":{"text":"seen"}},{"type":"finish","data":{"reason":"end_turn"}}]"#;
        for (number, role, parts) in [(0, "user", said.as_str()), (1, "tool", picture), (2, "assistant", reply)] {
            let row = "INSERT INTO messages (id, session_id, role, parts, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
            connection.execute(row, rusqlite::params![format!("{session}{number}"), session, role, parts, 1_754_498_160 + number]).unwrap();
        }
    }
    drop(connection);
    let (transcripts, lost) = read_all(&path);
    let reason = "usage of the session's last call alone, without what was written to the cache";
    assert!(lost.iter().any(|loss| loss.reason == reason && loss.count == 1), "{lost:?}");
    let found = |id: &str| transcripts.iter().find(|session| session.id == id).unwrap();
    assert_eq!((prompts(found("written")), prompts(found("whole"))), (vec![(0, 0)], vec![(600, 2)]));
    let short = in_short(found("whole"));
    assert!(short[0].ends_with("$ ls\na\n(exit code 2)") && short[1].contains(" | "), "{short:?}");
}

/// A long text that a person pastes is a file of text, and the prompt holds it; what a file of another kind takes is unknown.
#[test]
fn an_attached_text_is_text() {
    let (_folder, path) = database("crush/crush.sql", "crush.db");
    let parts = r#"[{"type":"text","data":{"text":""}},{"type":"binary","data":{"Path":"paste_1.txt","MIMEType":"text/plain; charset=utf-8","Data":"UmVhZA=="}},
        {"type":"binary","data":{"Path":"","MIMEType":"text/markdown","Data":"TWU="}},{"type":"binary","data":{"Path":"a.pdf","MIMEType":"application/pdf","Data":"TWU="}}]"#;
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE messages SET parts = ?1 WHERE id = 'm9'", [parts]).unwrap();
    drop(connection);
    let (transcripts, lost) = read_all(&path);
    let files = "<file path='paste_1.txt'>\n\nRead\n</file>\n<file>\n\nMe\n</file>\n";
    let note = "The files below have been attached by the user, consider them in your response";
    assert_eq!(in_short(&transcripts[1]), [format!("u: \n<system_info>{note}</system_info>\n{files}")]);
    let lost = lost.iter().find(|loss| loss.reason.starts_with("attached file")).map(|loss| loss.count);
    assert_eq!(lost, Some(1));
}

/// A session holds the cost of those that it started.
#[test]
fn the_cost_that_sessions_name_is_counted_once() {
    let (_folder, path) = database("crush/crush.sql", "crush.db");
    let costs = "ALTER TABLE sessions ADD COLUMN cost REAL NOT NULL DEFAULT 0.0;
        INSERT INTO sessions VALUES ('s9', NULL, 'other', 0, 0, 1754498150, NULL, 0.25);
        INSERT INTO messages VALUES ('n1', 's9', 'user', '[{\"type\":\"text\",\"data\":{\"text\":\"One\"}}]', '', 1, NULL);
        UPDATE sessions SET cost = 1.5 WHERE id = 's1';
        UPDATE sessions SET cost = 0.5 WHERE id = 'toolu_1';";
    rusqlite::Connection::open(&path).unwrap().execute_batch(costs).unwrap();
    let lost = read_all(&path).1;
    let lost: Vec<_> = lost.iter().filter(|loss| loss.reason.starts_with("cost")).map(|loss| (loss.reason.as_str(), loss.count)).collect();
    assert_eq!(lost, [("cost of the whole session alone ($1.75 in one file)", 2)]);
    let screen = ctxsim(&["cost", path.to_str().unwrap()]).run().stdout();
    assert!(screen.contains("2 of them sums of whole sessions ($1.75 recorded)"), "{screen}");
}

/// Before summaries came, a session kept the sum of all its calls.
#[test]
fn early_databases_keep_the_sum_of_a_session() {
    let (_folder, path) = database("crush/crush.sql", "crush.db");
    let row = |id: &str, role: &str, text: &str| {
        format!(
            "INSERT INTO messages VALUES ('{id}{role}{text}', '{id}', '{role}', '[{{\"type\":\"text\",\"data\":{{\"text\":\"{text}\"}}}},{{\"type\":\"finish\",\"data\":{{\"reason\":\"end_turn\"}}}}]', 'm', {}, 'p');",
            text.len()
        )
    };
    let early = "ALTER TABLE sessions DROP COLUMN summary_message_id;
        INSERT INTO sessions VALUES ('one', NULL, 'one', 900, 2, 1754498150), ('two', NULL, 'two', 2000, 2, 1754498150);";
    let rows: String = [("one", "user", "a"), ("one", "assistant", "bbb"), ("two", "user", "a"), ("two", "assistant", "bbb")]
        .into_iter()
        .chain([("two", "user", "cccc"), ("two", "assistant", "ddddd")])
        .map(|(id, role, text)| row(id, role, text))
        .collect();
    rusqlite::Connection::open(&path).unwrap().execute_batch(&format!("{early}{rows}")).unwrap();
    let (transcripts, lost) = read_all(&path);
    let found = |id: &str| prompts(transcripts.iter().find(|session| session.id == id).unwrap());
    assert_eq!((found("one"), found("two")), (vec![(900, 2)], vec![(0, 0), (0, 0)]));
    assert!(lost.iter().any(|loss| loss.reason == "usage of the whole session alone"), "{lost:?}");
}

/// The agent itself puts the note before the prompt with which it goes on.
#[test]
fn a_summary_within_a_turn_was_automatic() {
    let (_folder, path) = database("crush/crush.sql", "crush.db");
    let automatic = || read_all(&path).0[0].compactions[0].automatic;
    assert_eq!(automatic(), None);
    let note = "UPDATE messages SET parts = replace(parts, 'Two', 'The previous session was interrupted because it got too long: Two')";
    rusqlite::Connection::open(&path).unwrap().execute_batch(note).unwrap();
    assert_eq!(automatic(), Some(true));
}

/// The model said nothing, and was asked all the same: the usage of the last call is its own.
#[test]
fn an_empty_reply_that_ended_is_a_call() {
    let with = |reason: &str, completion: u64| {
        let (folder, path) = database("crush/crush.sql", "crush.db");
        let last = format!(
            "INSERT INTO sessions VALUES ('s9', NULL, 'last', 900, {completion}, 1754498150, NULL);
             INSERT INTO messages VALUES
                 ('n1', 's9', 'user', '[{{\"type\":\"text\",\"data\":{{\"text\":\"One\"}}}}]', '', 1, NULL),
                 ('n2', 's9', 'assistant', '[{{\"type\":\"text\",\"data\":{{\"text\":\"Well\"}}}},{{\"type\":\"finish\",\"data\":{{\"reason\":\"end_turn\"}}}}]', 'm', 2, 'p'),
                 ('n3', 's9', 'user', '[{{\"type\":\"text\",\"data\":{{\"text\":\"Two\"}}}}]', '', 3, NULL),
                 ('n4', 's9', 'assistant', '[{{\"type\":\"finish\",\"data\":{{\"reason\":\"{reason}\"}}}}]', 'm', 4, 'p');"
        );
        rusqlite::Connection::open(&path).unwrap().execute_batch(&last).unwrap();
        let (transcripts, lost) = read_all(&path);
        drop(folder);
        let session = transcripts.iter().find(|session| session.id == "s9").unwrap();
        (prompts(session), lost.iter().filter(|loss| loss.reason.starts_with("usage")).map(|loss| loss.count).sum::<u64>())
    };
    let (.., before) = with("error", 0);
    assert_eq!(with("error", 0), (vec![(900, 0)], before));
    assert_eq!(with("end_turn", 0), (vec![(0, 0), (900, 0)], before));
    // Whether the cache is among them cannot be told from a reply that says nothing.
    assert_eq!(with("end_turn", 99), (vec![(0, 0), (0, 0)], before + 1));
    assert_eq!(with("end_turn", 9), (vec![(0, 0), (900, 9)], before));
}

/// Until August 2025 a session names its last summary alone. Replies are begun empty and bear the time of their end; a summary is written at once.
#[test]
fn a_reply_that_was_written_at_once_behind_a_finished_one_is_a_summary() {
    let (_folder, path) = database("crush/crush.sql", "crush.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("ALTER TABLE messages ADD COLUMN finished_at INTEGER").unwrap();
    let row =
        "INSERT INTO sessions (id, title, completion_tokens, created_at, summary_message_id) VALUES ('early', '', 3, 1754498160, 'early6')";
    connection.execute(row, []).unwrap();
    let said = [
        ("user", "One", "stop", None),
        ("assistant", "First", "end_turn", Some(1)),
        ("assistant", "Short one", "end_turn", None),
        ("user", "Two", "stop", None),
        // Written at once, and no end of a turn stands before it.
        ("assistant", "Second", "end_turn", None),
        ("assistant", "More", "end_turn", Some(2)),
        ("assistant", "Short two", "end_turn", None),
    ];
    for (number, (role, text, reason, finished)) in (0..).zip(said) {
        let parts = format!(r#"[{{"type":"text","data":{{"text":"{text}"}}}},{{"type":"finish","data":{{"reason":"{reason}"}}}}]"#);
        let row = "INSERT INTO messages (id, session_id, role, parts, created_at, finished_at) VALUES (?1, 'early', ?2, ?3, ?4, ?5)";
        let time = 1_754_498_160_i64 + number;
        connection.execute(row, rusqlite::params![format!("early{number}"), role, parts, time, finished]).unwrap();
    }
    drop(connection);
    let (transcripts, _) = read_all(&path);
    let session = transcripts.iter().find(|session| session.id == "early").unwrap();
    assert_eq!(in_short(session), ["u: One", "a: First", "u: Two", "a: Second", "a: More"]);
    let events = session.compactions.iter().map(|event| (event.before, event.summary.as_ref().unwrap().content.as_deref()));
    assert_eq!(events.collect::<Vec<_>>(), [(2, Some("Short one")), (5, Some("Short two"))]);
    // What the session says of its last call is said of the summary.
    assert_eq!(prompts(session), [(0, 0); 3]);
}

/// The program keeps the results of one reply in one row. Logs of the same run in OpenAI's shape have a message for each: what counts messages is to find as many in both.
#[test]
fn results_of_one_reply_are_messages_of_their_own() {
    let (_folder, path) = database("crush/crush.sql", "crush.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    let row = "INSERT INTO sessions (id, title, prompt_tokens, completion_tokens, created_at) VALUES ('two', '', 600, 2, 1754498160)";
    connection.execute(row, []).unwrap();
    let calls = r#"[{"type":"tool_call","data":{"id":"x","name":"ls","input":"{}"}},{"type":"tool_call","data":{"id":"y","name":"view","input":"{}"}},{"type":"finish","data":{"reason":"tool_use"}}]"#;
    let results = r#"[{"type":"tool_result","data":{"tool_call_id":"x","content":"a"}},{"type":"tool_result","data":{"tool_call_id":"y","content":"Loaded","data":"iVBORw0KGgo=","mime_type":"image/png"}}]"#;
    let said = |text: &str| format!(r#"[{{"type":"text","data":{{"text":"{text}"}}}},{{"type":"finish","data":{{"reason":"end_turn"}}}}]"#);
    let rows = [("user", said("go")), ("assistant", calls.to_owned()), ("tool", results.to_owned()), ("assistant", said("done"))];
    for (number, (role, parts)) in rows.iter().enumerate() {
        let row = "INSERT INTO messages (id, session_id, role, parts, created_at) VALUES (?1, 'two', ?2, ?3, ?4)";
        connection.execute(row, rusqlite::params![format!("two{number}"), role, parts, 1_754_498_160 + number as i64]).unwrap();
    }
    drop(connection);
    let (transcripts, _) = read_all(&path);
    let session = transcripts.iter().find(|session| session.id == "two").unwrap();
    let ids: Vec<(String, usize)> = session.messages.iter().map(|message| (message.id.clone(), message.parts.len())).collect();
    let expected = [("two0", 1), ("two1", 2), ("two2", 1), ("two2#2", 2), ("two3", 1)];
    assert_eq!(ids, expected.map(|(id, parts)| (id.to_owned(), parts)));
}

/// A cache is read for 64 tokens at the least, and for 1,024 at the large providers: a short reply of a few tokens more than it has bytes holds no such read.
#[test]
fn what_is_too_few_for_a_read_of_the_cache_is_the_reply() {
    let read = |model: &str, output: u64| {
        let (folder, path) = database("crush/crush.sql", "crush.db");
        let last = format!(
            "INSERT INTO sessions VALUES ('s9', NULL, 'last', 9448, {output}, 1754498150, NULL);
             INSERT INTO messages VALUES
                 ('n1', 's9', 'user', '[{{\"type\":\"text\",\"data\":{{\"text\":\"One\"}}}}]', '', 1, NULL),
                 ('n2', 's9', 'assistant', '[{{\"type\":\"text\",\"data\":{{\"text\":\"Hi\"}}}},{{\"type\":\"finish\",\"data\":{{\"reason\":\"end_turn\"}}}}]', '{model}', 2, 'p');"
        );
        rusqlite::Connection::open(&path).unwrap().execute_batch(&last).unwrap();
        let found = prompts(read_all(&path).0.iter().find(|session| session.id == "s9").unwrap());
        drop(folder);
        found
    };
    let [counted, lost] = [9_448, 0];
    let prompt = |(model, output)| read(model, output)[0].0;
    let cases = [("gpt-4.1", 3), ("gpt-4.1", 1_023), ("gpt-4.1", 1_024), ("kimi-k2", 63), ("kimi-k2", 64)];
    assert_eq!(cases.map(prompt), [counted, counted, lost, counted, lost]);
}

/// Replies that say more than so few tokens can are not what a sum is of: the figure is the last call's, whatever columns the database has.
#[test]
fn replies_of_more_words_than_their_sum_show_that_it_is_none() {
    let read = |said: usize| {
        let (folder, path) = database("crush/crush.sql", "crush.db");
        let row = |number: usize, role: &str, text: &str| {
            format!(
                "INSERT INTO messages VALUES ('n{number}', 's9', '{role}', '[{{\"type\":\"text\",\"data\":{{\"text\":\"{text}\"}}}},{{\"type\":\"finish\",\"data\":{{\"reason\":\"end_turn\"}}}}]', 'gpt-4.1', {number}, 'p');"
            )
        };
        let rows =
            [row(1, "user", "a"), row(2, "assistant", &"word ".repeat(said)), row(3, "user", "b"), row(4, "assistant", "the last reply")];
        let early =
            "ALTER TABLE sessions DROP COLUMN summary_message_id; INSERT INTO sessions VALUES ('s9', NULL, 'one', 36252, 10, 1754498150);";
        rusqlite::Connection::open(&path).unwrap().execute_batch(&format!("{early}{}", rows.concat())).unwrap();
        let found = prompts(read_all(&path).0.iter().find(|session| session.id == "s9").unwrap());
        drop(folder);
        found
    };
    assert_eq!(read(10), [(0, 0), (0, 0)]);
    assert_eq!(read(1_000), [(0, 0), (36_252, 10)]);
}
