//! Databases are opened by their path, so `bad_input` does not reach them: the same changes, made to files and to the statements that make them.

use crate::bad_input::{Change, change, fixtures};
use crate::support::{PlainScale, ctxsim, project};
use ctxsim::format::{READERS, Source};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The readers of databases.
const OWNERS: [&str; 11] =
    ["adk", "agno", "crewai", "crush", "goose", "hermes", "kiro-cli", "langchain", "openai-agents", "opencode", "zed"];

/// Makes a database of statements, up to the first that is none.
fn make(path: &Path, statements: &str) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA page_size = 512; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;").unwrap();
    let _ = connection.execute_batch(statements);
}

/// Reads the file with each reader of databases, whether it claims the file or not, and gives how many sessions they found.
fn read_by_owners(path: &Path) -> usize {
    let mut sessions = 0;
    for reader in READERS.iter().filter(|reader| OWNERS.contains(&reader.name)) {
        let Ok(mut source) = Source::open(path) else { continue };
        let _ = (reader.claims)(&source);
        let _ = (reader.read)(&mut source, &PlainScale { keep_content: false }, &mut |_| sessions += 1);
    }
    sessions
}

/// Mutated databases: no panic, no hang.
pub fn mutated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let mut files = fixtures("");
    files.retain(|path| path.extension().is_some_and(|ending| ending == "sql"));
    let folders: BTreeSet<String> =
        files.iter().map(|path| path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned()).collect();
    assert_eq!(folders.iter().map(String::as_str).collect::<Vec<_>>(), OWNERS);
    let statements: Vec<String> = files.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let mut whole = Vec::new();
    for statements in &statements {
        make(&path, statements);
        assert!(read_by_owners(&path) >= 2);
        whole.push(fs::read(&path).unwrap());
        fs::remove_file(&path).unwrap();
    }
    let changes = proptest::collection::vec(any::<Change>(), 1..6);
    let config = ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() };
    let which = (any::<prop::sample::Index>(), any::<bool>(), changes);
    let ran = TestRunner::new(config).run(&which, |(fixture, as_file, changes)| {
        let _ = fs::remove_file(&path);
        let mut bytes = if as_file { fixture.get(&whole).clone() } else { fixture.get(&statements).clone().into_bytes() };
        let length = bytes.len();
        for one in changes {
            change(&mut bytes, one);
        }
        if as_file {
            // Pages that are shifted are all broken: most changes keep the length.
            if bytes.len() % 3 > 0 {
                bytes.resize(length, 0);
            }
            fs::write(&path, &bytes).unwrap();
        } else {
            make(&path, &String::from_utf8_lossy(&bytes));
        }
        let start = Instant::now();
        read_by_owners(&path);
        let took = start.elapsed();
        if took < Duration::from_secs(10) { Ok(()) } else { Err(TestCaseError::fail(format!("took {took:?}"))) }
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
}

/// Every byte of a small database, one at a time.
#[test]
fn a_changed_byte_makes_no_reader_of_databases_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    for statements in fixtures("").into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "sql")) {
        make(&path, &fs::read_to_string(statements).unwrap());
        let whole = fs::read(&path).unwrap();
        for place in (0..whole.len()).step_by(1 + whole.len() / 130) {
            let mut bytes = whole.clone();
            bytes[place] = b"\"{[\\,\xff0-\0"[place % 9];
            fs::write(&path, &bytes).unwrap();
            read_by_owners(&path);
            fs::write(&path, &whole[..place]).unwrap();
            read_by_owners(&path);
        }
        fs::remove_file(&path).unwrap();
    }
}

/// What the program says of a database, with `--strict`.
fn complaint(path: &Path) -> String {
    let inspect = ctxsim(&["inspect", "--quiet", "--strict"]).args([path]).run();
    assert_ne!(inspect.status.code(), Some(0));
    inspect.stderr().replace(&*path.to_string_lossy(), "FILE")
}

/// The number of a table's first page.
fn root_page(path: &Path, table: &str) -> usize {
    let connection = Connection::open(path).unwrap();
    connection.query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?1", [table], |row| row.get::<_, i64>(0)).unwrap() as usize
}

/// The same damage is told in the same words, whoever's the database is.
#[test]
fn damage_is_told_alike_by_all_readers_of_databases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let databases = [
        ("crush/crush.sql", "sessions", "messages"),
        ("goose/sessions.sql", "sessions", "messages"),
        ("opencode/database.sql", "session", "message"),
    ];
    for (fixture, sessions, messages) in databases {
        make(&path, &fs::read_to_string(project().join("tests/data").join(fixture)).unwrap());
        let whole = fs::read(&path).unwrap();
        // Whether it still says whose it was or not.
        for kept in [whole.len() - 512, whole.len() / 2, 1024] {
            fs::write(&path, &whole[..kept]).unwrap();
            let malformed = "not a readable database: database disk image is malformed\n";
            assert!(complaint(&path).ends_with(malformed), "{fixture} {}", complaint(&path));
        }
        // Where a part of the last page is there, the rest is read, and the cut is told.
        fs::write(&path, &whole[..whole.len() - 100]).unwrap();
        assert!(complaint(&path).contains("file broken off"), "{fixture} {}", complaint(&path));
        assert!(read_by_owners(&path) > 0, "{fixture}");
        fs::write(&path, &whole).unwrap();
        let page = root_page(&path, messages);
        let mut bytes = whole.clone();
        bytes[(page - 1) * 512..page * 512].fill(0xff);
        fs::write(&path, &bytes).unwrap();
        assert!(complaint(&path).contains("holds no usable session (session whose rows cannot be read)"), "{fixture} {}", complaint(&path));
        fs::write(&path, &whole).unwrap();
        let page = root_page(&path, sessions);
        let mut bytes = whole.clone();
        bytes[(page - 1) * 512..page * 512].fill(0xff);
        fs::write(&path, &bytes).unwrap();
        assert!(complaint(&path).contains("holds no usable session (session whose rows cannot be read)"), "{fixture} {}", complaint(&path));
        // One row that is no text costs its own session alone.
        fs::write(&path, &whole).unwrap();
        let connection = Connection::open(&path).unwrap();
        let first = format!("UPDATE {sessions} SET id = x'00ff' WHERE rowid = (SELECT min(rowid) FROM {sessions})");
        connection.execute(&first, []).unwrap();
        drop(connection);
        assert!(complaint(&path).contains("row that is not text"), "{fixture} {}", complaint(&path));
        assert!(read_by_owners(&path) > 0, "{fixture}");
        fs::remove_file(&path).unwrap();
    }
    make(&path, "CREATE TABLE a (b)");
    assert!(complaint(&path).ends_with("is a SQLite database that no reader knows\n"), "{}", complaint(&path));
}
