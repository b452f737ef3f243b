use crate::support::{in_short, prompts, read_all, read_text};
use ctxsim::transcript::{Role, Transcript};
use rusqlite::{Connection, params};
use serde_json::{Value, json};

const SCHEMA: &str = "
    CREATE TABLE project (id text PRIMARY KEY);
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, version text NOT NULL, directory text, time_created integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, data text NOT NULL);
    CREATE TABLE session_message (id text PRIMARY KEY, session_id text NOT NULL, type text NOT NULL, seq integer NOT NULL, data text NOT NULL);";

fn step(at: u64, said: &Value, input: u64, read: u64, written: u64) -> Value {
    json!({"type": "assistant", "agent": "build", "model": {"id": "gpt-6-sol", "providerID": "openai"}, "content": said, "finish": "stop",
        "cost": 0.05, "tokens": {"input": input, "output": 90, "reasoning": 20, "cache": {"read": read, "write": written}},
        "time": {"created": at, "completed": at + 100}})
}

/// A question with a file, a call of a tool with its result, a step that fails, a compaction that fails, one that is done, and what follows.
fn messages() -> Vec<Value> {
    let tool = json!({"type": "tool", "id": "c1", "name": "bash", "time": {"created": 5200, "completed": 5290},
        "state": {"status": "completed", "input": {"command": "ls"}, "content": [{"type": "text", "text": "a b"}]}});
    let broken = json!({"type": "tool", "id": "c2", "name": "bash", "time": {"created": 5400},
        "state": {"status": "error", "input": {}, "error": {"type": "unknown", "message": "no"}}});
    let mut failed = step(5400, &json!([broken]), 13_000, 0, 0);
    failed["error"] = json!({"type": "provider.error", "message": "down"});
    let compaction = |at: u64, status: &str| {
        json!({"type": "compaction", "status": status, "reason": "auto", "summary": "so far", "recent": "[User]: look", "time": {"created": at},
            "tokens": {"input": 15_000, "output": 300, "reasoning": 0, "cache": {"read": 0, "write": 0}}})
    };
    vec![
        json!({"type": "model-switched", "model": {"id": "gpt-6-sol", "providerID": "openai"}, "time": {"created": 5000}}),
        json!({"type": "user", "text": "look", "time": {"created": 5100},
            "files": [{"mime": "text/plain", "name": "x.txt", "data": "aGVsbG8=", "source": {"type": "inline"}}]}),
        step(
            5200,
            &json!([{"type": "reasoning", "text": "hm", "state": {"signature": "0123456789"}}, {"type": "text", "text": "see"}, tool]),
            8_000,
            4_000,
            100,
        ),
        failed,
        compaction(5500, "failed"),
        compaction(5600, "completed"),
        step(5700, &json!([{"type": "text", "text": "done"}]), 3_000, 0, 0),
        json!({"type": "shell", "command": "ls", "output": {"output": "a\n", "size": 2}, "time": {"created": 5800}}),
        json!({"type": "later-kind", "time": {"created": 5900}}),
    ]
}

fn stored(connection: &Connection, table: &str, id: &str) {
    connection.execute(&format!("INSERT INTO {table} VALUES (?1, NULL, '2.0.1', '/w', 5000)"), [id]).unwrap();
    for (seq, message) in (0..).zip(messages()) {
        let kind = message["type"].as_str().unwrap();
        let row = params![format!("msg_{id}_{seq}"), id, kind, seq, message.to_string()];
        connection.execute("INSERT INTO session_message VALUES (?1, ?2, ?3, ?4, ?5)", row).unwrap();
    }
}

fn assert_read(session: &Transcript) {
    assert_eq!((session.agent.as_str(), session.version.as_str(), session.host.as_deref()), ("opencode", "2.0.1", Some("openai")));
    assert_eq!(
        in_short(session),
        [
            "u: look | Attached file: x.txt\n\nhello",
            "a: ~10 | see | bash(c1)",
            "t: bash(c1)=",
            "a: bash(c2)",
            "t: bash(c2)!",
            "a: done",
            "*: Shell command: ls\n\na\n"
        ]
    );
    assert_eq!(prompts(session), [(12_100, 110), (13_000, 110), (3_000, 110)]);
    assert_eq!(session.messages.iter().filter(|message| message.role == Role::User && !message.synthetic).count(), 1);
    let usage = |place: usize| session.messages[place].call.as_ref().unwrap().usage.unwrap();
    assert_eq!((usage(1).cache_read, usage(1).cache_write, usage(1).cost_nano_usd), (4_000, 100, Some(50_000_000)));
    assert_eq!((usage(1).output_is_final, usage(3).output_is_final), (true, false));
    let compaction = &session.compactions[0];
    assert_eq!((session.compactions.len(), compaction.before, compaction.kept_from, compaction.automatic), (1, 5, Some(5), Some(true)));
    assert!(compaction.summary.as_ref().unwrap().content.as_deref().unwrap().contains("<recent-context>\n[User]: look"));
    let spent = |call: &ctxsim::transcript::Call| call.usage.unwrap().prompt;
    assert_eq!((spent(compaction.call.as_ref().unwrap()), session.side_calls.len()), (15_000, 1));
    assert!(session.messages[5].call.as_ref().unwrap().unchained);
}

#[test]
fn a_database_and_an_export_hold_the_same_session() {
    let folder = tempfile::tempdir().unwrap();
    for (name, table) in [("opencode.db", "session"), ("later.db", "session_v2")] {
        let path = folder.path().join(name);
        let connection = Connection::open(&path).unwrap();
        let first = |line: &&str| table == "session" || line.contains("project") || line.contains("session_message");
        let schema: String = SCHEMA.lines().filter(first).collect();
        connection.execute_batch(&schema).unwrap();
        if table == "session_v2" {
            connection
                .execute_batch("CREATE TABLE session_v2 (id text, parent_id text, version text, directory text, time_created integer)")
                .unwrap();
        }
        stored(&connection, table, "ses_new");
        drop(connection);
        let (sessions, lost) = read_all(&path);
        assert_eq!(
            (sessions.len(), lost.iter().map(|loss| loss.reason.as_str()).collect::<Vec<_>>()),
            (1, vec!["message of an unknown kind"])
        );
        assert_read(&sessions[0]);
    }
    let info = json!({"id": "ses_new", "projectID": "p", "version": "2.0.1", "location": {"directory": "/w"}, "time": {"created": 5000}});
    let messages: Vec<Value> = messages();
    let (sessions, lost) = read_text("export.json", &json!({"info": info, "messages": messages}).to_string());
    assert_eq!(lost, [("message of an unknown kind".to_owned(), 1)]);
    assert_read(&sessions[0]);
    assert!(sessions[0].project.is_some());
}

/// A file may stand in its address, and what cannot be decoded is counted.
#[test]
fn files_by_their_addresses_are_read() {
    let asked = |file: Value| {
        let message = json!({"id": "msg_1", "type": "user", "text": "look", "time": {"created": 1}, "files": [file]});
        let info = json!({"id": "ses_1", "projectID": "p", "time": {"created": 1}});
        let (sessions, lost) = read_text("export.json", &json!({"info": info, "messages": [message]}).to_string());
        (in_short(&sessions[0]), lost)
    };
    let file = |uri: &str| json!({"mime": "text/plain", "name": "x.txt", "uri": uri});
    assert_eq!(asked(file("data:text/plain;base64,aGVsbG8=")), (vec!["u: look | Attached file: x.txt\n\nhello".to_owned()], vec![]));
    assert_eq!(asked(file("file:///x.txt")).1, [("attachment whose content is not there".to_owned(), 1)]);
}

/// OpenCode 2 copies older sessions into its own table, and some versions wrote both.
#[test]
fn a_session_in_both_tables_is_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    let older = |session: &str, replies: u32| {
        for number in 0..replies {
            let reply = json!({"role": "assistant", "modelID": "m", "finish": "stop", "time": {"created": 1, "completed": 2},
                "tokens": {"input": 7_000, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
            let id = format!("msg_{session}_old_{number}");
            connection.execute("INSERT INTO message VALUES (?1, ?2, ?3, ?4)", params![id, session, number, reply.to_string()]).unwrap();
            let said = params![format!("prt_{id}"), id, r#"{"type":"text","text":"old"}"#];
            connection.execute("INSERT INTO part VALUES (?1, ?2, ?3)", said).unwrap();
        }
    };
    for (id, replies) in [("ses_copied", 3), ("ses_continued", 2), ("ses_second", 0)] {
        stored(&connection, "session", id);
        older(id, replies);
    }
    connection.execute("INSERT INTO session VALUES ('ses_first', NULL, '1.2.0', '/w', 5000)", []).unwrap();
    older("ses_first", 1);
    older("ses_gone", 1);
    let row = "INSERT INTO session_message VALUES ('m', 'ses_gone', 'user', 0, '{}')";
    connection.execute(row, []).unwrap();
    drop(connection);
    let (sessions, lost) = read_all(&path);
    let orphans: u64 = lost.iter().filter(|loss| loss.reason == "message without a session").map(|loss| loss.count).sum();
    assert_eq!(orphans, 2);
    let found: Vec<(&str, u64)> = sessions.iter().map(|session| (session.id.as_str(), prompts(session)[0].0)).collect();
    assert_eq!(found, [("ses_continued", 12_100), ("ses_copied", 7_000), ("ses_first", 7_000), ("ses_second", 12_100)]);
}
