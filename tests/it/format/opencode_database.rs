use crate::support::{PlainScale, claim, files, program, read_all, shared};
use ctxsim::format::{Claim, Source, by_name};
use ctxsim::transcript::Transcript;
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Two sessions; the second and all tables may wait in the log.
const SCHEMA: &str = "
    CREATE TABLE `project` (`id` text PRIMARY KEY);
    CREATE TABLE `session` (`id` text PRIMARY KEY, `parent_id` text, `version` text NOT NULL, `time_created` integer NOT NULL);
    CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL, `data` text NOT NULL);
    CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `data` text NOT NULL);";

fn add_session(connection: &Connection, id: &str, prompt: u32) {
    let user = r#"{"role":"user","time":{"created":1}}"#;
    let reply = format!(
        r#"{{"role":"assistant","time":{{"created":2,"completed":3}},"modelID":"m","providerID":"p","agent":"build","cost":0,
            "tokens":{{"input":{prompt},"output":5,"reasoning":0,"cache":{{"read":0,"write":0}}}}}}"#
    );
    connection.execute("INSERT INTO session VALUES (?1, NULL, '1.2.3', 1)", [id]).unwrap();
    for (number, data) in [(1, user), (2, reply.as_str())] {
        let message = format!("msg_{id}_{number}");
        connection.execute("INSERT INTO message VALUES (?1, ?2, ?3, ?4)", (&message, id, number, data)).unwrap();
        let part = r#"{"type":"text","text":"words"}"#;
        connection.execute("INSERT INTO part VALUES (?1, ?2, ?3)", (format!("prt_{message}"), &message, part)).unwrap();
    }
}

/// A database whose log was never merged, as a crashed agent leaves it behind.
fn unmerged(folder: &Path, schema_in_log: bool) -> PathBuf {
    let alive = folder.join("alive.db");
    let connection = Connection::open(&alive).unwrap();
    if schema_in_log {
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;").unwrap();
        connection.execute_batch(SCHEMA).unwrap();
    } else {
        connection.execute_batch(SCHEMA).unwrap();
        add_session(&connection, "ses_old", 100);
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;").unwrap();
    }
    add_session(&connection, "ses_new", 200);
    let agent = folder.join("agent");
    fs::create_dir(&agent).unwrap();
    for ending in ["", "-wal"] {
        fs::copy(folder.join(format!("alive.db{ending}")), agent.join(format!("opencode.db{ending}"))).unwrap();
    }
    agent.join("opencode.db")
}

/// Everything that could be changed in a folder.
fn state(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let state = |path: PathBuf| {
        let changed = fs::metadata(&path).unwrap().modified().unwrap();
        (path.clone(), fs::read(&path).unwrap(), changed)
    };
    files(folder).into_iter().map(state).collect()
}

fn ids(transcripts: &[Transcript]) -> Vec<&str> {
    transcripts.iter().map(|transcript| transcript.id.as_str()).collect()
}

fn set_read_only(path: &Path, read_only: bool) {
    let mut permissions = fs::metadata(path).unwrap().permissions();
    permissions.set_readonly(read_only);
    fs::set_permissions(path, permissions).unwrap();
}

#[test]
fn an_unmerged_log_is_read_and_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let database = unmerged(folder.path(), false);
    let agent = database.parent().unwrap();
    let before = state(agent);
    let changed = fs::metadata(agent).unwrap().modified().unwrap();
    files(agent).iter().for_each(|file| set_read_only(file, true));
    set_read_only(agent, true);

    assert_eq!(claim(&database), Some(("opencode", Claim::Yes)));
    assert_eq!(claim(&agent.join("opencode.db-wal")), Some(("opencode", Claim::Companion)));
    let (transcripts, losses) = read_all(&database);
    assert_eq!(ids(&transcripts), ["ses_new", "ses_old"]);
    assert_eq!(transcripts[0].messages[1].call.as_ref().unwrap().usage.unwrap().prompt, 200);
    assert_eq!(transcripts[0].messages[1].id, "msg_ses_new_2");
    assert_eq!(losses, []);

    assert_eq!(state(agent), before);
    assert_eq!(fs::metadata(agent).unwrap().modified().unwrap(), changed);
    set_read_only(agent, false);
}

/// Kilo Code keeps the same tables in a database of its own name.
#[test]
fn a_database_of_kilo_is_not_one_of_opencode() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("kilo.db");
    let connection = Connection::open(&database).unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    add_session(&connection, "ses_1", 100);
    drop(connection);
    assert_eq!(claim(&database), Some(("opencode", Claim::Yes)));
    assert_eq!(read_all(&database).0[0].agent, "kilo");
}

#[test]
fn tables_that_are_only_in_the_log_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let database = unmerged(folder.path(), true);
    assert_eq!(claim(&database), Some(("opencode", Claim::Yes)));
    assert_eq!(ids(&read_all(&database).0), ["ses_new"]);
}

#[test]
fn a_database_at_rest_is_left_at_rest() {
    let folder = tempfile::tempdir().unwrap();
    let agent = folder.path().join("with space, 50%? #1");
    fs::create_dir(&agent).unwrap();
    let database = agent.join("opencode.db");
    let connection = Connection::open(&database).unwrap();
    connection.execute_batch("PRAGMA journal_mode = WAL;").unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    add_session(&connection, "ses_one", 100);
    connection.execute("INSERT INTO session VALUES ('ses_empty', 'ses_one', '1', 2)", []).unwrap();
    connection.execute("INSERT INTO message VALUES ('msg_lost', 'ses_gone', 1, '{}')", []).unwrap();
    connection.execute("INSERT INTO message VALUES ('msg_bad', 'ses_one', 9, '{\"role\"')", []).unwrap();
    connection.close().unwrap();
    let before = state(&agent);
    assert_eq!(before.len(), 1);
    let (transcripts, losses) = read_all(&database);
    assert_eq!(ids(&transcripts), ["ses_one"]);
    let reasons: Vec<&str> = losses.iter().map(|loss| loss.reason.as_str()).collect();
    assert_eq!(reasons, ["message of an unexpected shape", "session without messages", "message without a session"]);
    assert_eq!(state(&agent), before);
}

#[test]
fn a_broken_database_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let database = unmerged(folder.path(), false);
    let mut bytes = fs::read(&database).unwrap();
    bytes.truncate(5000);
    bytes[200..].iter_mut().for_each(|byte| *byte ^= 0x5a);
    fs::write(&database, bytes).unwrap();
    fs::remove_file(database.with_extension("db-wal")).unwrap();
    let mut source = Source::open(&database).unwrap();
    let read = by_name("opencode").unwrap().read;
    assert!(read(&mut source, &PlainScale { keep_content: false }, &mut |_| {}).is_err());
}

#[test]
fn a_real_log_adds_to_its_database_and_stays_unmerged() {
    let Some(shared) = shared() else { return };
    let folder = tempfile::tempdir().unwrap();
    for file in files(&shared.join("transcripts/opencode-wal")) {
        fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let before = state(folder.path());
    let database = folder.path().join("opencode.db");
    let (with_log, losses) = read_all(&database);
    assert_eq!(state(folder.path()), before);
    // The log holds the beginning of a third session: a user message that has no parts yet.
    assert_eq!((with_log.len(), losses.len()), (2, 1));
    assert_eq!(losses[0].reason, "session without messages");
    fs::remove_file(folder.path().join("opencode.db-wal")).unwrap();
    let (without_log, losses) = read_all(&database);
    assert_eq!((without_log.len(), losses.len()), (2, 0));
}

/// Where the temporary folder takes no copy of a database, the sentence names that folder.
#[cfg(unix)]
#[test]
fn a_full_temporary_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (database, place) = (unmerged(folder.path(), false), folder.path().join("temporary"));
    fs::create_dir(&place).unwrap();
    // A bound on the size of files stands for a full disk: both end a write.
    let command = "trap '' XFSZ; ulimit -f 1; exec \"$0\" inspect \"$1\" --strict";
    let ran = std::process::Command::new("sh").args(["-c", command]).args([program(), &database]).env("TMPDIR", &place).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned() + &String::from_utf8_lossy(&ran.stdout);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        !ran.status.success() && said.contains(&format!("the temporary folder {} has no room for its copy", place.display())),
        "{said}"
    );
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
}
