//! The rows of an OpenCode database.

use super::super::record::{MessageInfo, SessionInfo};
use super::super::session::Session;
use super::{TABLES, beside, has_magic};
use crate::format::words::Words;
use crate::format::{ReadError, Source};
use crate::transcript::{Scale, Transcript};
use rusqlite::{Connection, OpenFlags, Row};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;
use tempfile::TempDir;

/// How often a database that is being written to is copied anew before its copy is taken as it is.
const TRIES: usize = 3;

/// A database that comes out of a stream is copied to a folder of our own; a small file must not fill the disk.
const LARGEST_STREAM: u64 = 4 << 30;

/// Does the database (without its log) hold OpenCode's tables?
pub fn has_tables(path: &Path) -> bool {
    let count = open_at_rest(path).and_then(|connection| {
        let [session, message, part] = TABLES;
        let sql = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN (?1, ?2, ?3)";
        connection.query_row(sql, [session, message, part], |row| row.get::<_, u32>(0))
    });
    count.is_ok_and(|count| usize::try_from(count) == Ok(TABLES.len()))
}

/// Reads all sessions of the database, one after the other.
pub fn read(source: &mut Source, scale: &dyn Scale, give: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let database = Database::open(source)?;
    let damaged = |error: rusqlite::Error| ReadError::Damaged(format!("not a readable database: {error}"));
    let sessions = sessions(&database.connection).map_err(damaged)?;
    let orphans = "SELECT count(*) FROM message WHERE session_id NOT IN (SELECT id FROM session)";
    let orphans: u32 = database.connection.query_row(orphans, [], |row| row.get(0)).map_err(damaged)?;
    (0..orphans).for_each(|_| source.lose(0, "message without a session"));
    for (number, info) in (1..).zip(&sessions) {
        let mut lose = |reason: &str| source.lose(number, reason);
        match session(&database.connection, info, scale, &mut lose) {
            Ok(Some(transcript)) => give(transcript),
            Ok(None) => lose("session without messages"),
            Err(_) => lose("session whose rows cannot be read"),
        }
    }
    if database.changed(&source.path) {
        source.lose(0, "database was written to while it was read");
    }
    Ok(())
}

fn sessions(connection: &Connection) -> rusqlite::Result<Vec<SessionInfo<'static>>> {
    let mut statement = connection.prepare("SELECT id, parent_id, version FROM session ORDER BY time_created, id")?;
    let words = |row: &Row<'_>, column| -> rusqlite::Result<Words<'static>> {
        Ok(Words(row.get::<_, Option<String>>(column)?.unwrap_or_default().into()))
    };
    let rows = statement.query_map([], |row| Ok(SessionInfo { id: words(row, 0)?, parent: words(row, 1)?, version: words(row, 2)? }))?;
    rows.collect()
}

fn session(
    connection: &Connection,
    info: &SessionInfo<'_>,
    scale: &dyn Scale,
    lose: &mut dyn FnMut(&str),
) -> rusqlite::Result<Option<Transcript>> {
    let id = &*info.id;
    let mut session = Session::new(id.to_owned(), scale);
    session.describe(info);
    let mut messages = connection.prepare_cached("SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
    let mut parts = connection.prepare_cached("SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id")?;
    let mut message_rows = messages.query([id])?;
    while let Some(row) = message_rows.next()? {
        let Some((id, data)) = texts(row) else {
            lose("row that is not text");
            continue;
        };
        let Ok(message) = serde_json::from_str::<MessageInfo<'_>>(data) else {
            lose("message of an unexpected shape");
            continue;
        };
        session.begin(&message, id, lose);
        let mut part_rows = parts.query([id])?;
        while let Some(row) = part_rows.next()? {
            match texts(row) {
                Some((id, data)) => session.part(data, Some(id), lose),
                None => lose("row that is not text"),
            }
        }
        session.end(lose);
    }
    Ok(session.finish(lose))
}

fn texts<'r>(row: &'r Row<'_>) -> Option<(&'r str, &'r str)> {
    Some((row.get_ref(0).ok()?.as_str().ok()?, row.get_ref(1).ok()?.as_str().ok()?))
}

/// An open database and, where it was copied, the folder of the copy: it is removed with it.
struct Database {
    connection: Connection,
    copy: Option<TempDir>,
    stamp: Stamp,
}

/// Length and time of change of a database and its logs.
type Stamp = [Option<(u64, Option<SystemTime>)>; 3];

const ENDINGS: [&str; 3] = ["", "-wal", "-journal"];

fn stamp(path: &Path) -> Stamp {
    ENDINGS.map(|ending| {
        let data = fs::metadata(beside(path, ending)).ok()?;
        Some((data.len(), data.modified().ok()))
    })
}

impl Database {
    fn open(source: &mut Source) -> Result<Database, ReadError> {
        let damaged = |error: rusqlite::Error| ReadError::Damaged(format!("not a readable database: {error}"));
        let path = source.path.clone();
        let before = stamp(&path);
        if !is_plain(&path) {
            // A stream or a compressed file has no logs beside it.
            let folder = TempDir::new()?;
            let copied = io::copy(&mut source.stream().take(LARGEST_STREAM + 1), &mut File::create(folder.path().join("copy"))?)?;
            if copied > LARGEST_STREAM {
                return Err(ReadError::Damaged("compressed database larger than 4 GiB".to_owned()));
            }
            let connection = Connection::open(folder.path().join("copy")).map_err(damaged)?;
            return Ok(Database { connection, copy: Some(folder), stamp: before });
        }
        let [_, log, journal] = before;
        if [log, journal].into_iter().flatten().all(|(length, _)| length == 0) {
            let connection = open_at_rest(&path).map_err(damaged)?;
            return Ok(Database { connection, copy: None, stamp: before });
        }
        let folder = TempDir::new()?;
        for last in (0..TRIES).map(|tried| tried + 1 == TRIES) {
            let before = stamp(&path);
            for ending in ENDINGS {
                copy(&beside(&path, ending), &folder.path().join(format!("copy{ending}")))?;
            }
            if stamp(&path) == before {
                break;
            }
            if last {
                source.lose(0, "database was written to while it was copied");
            }
        }
        let connection = Connection::open(folder.path().join("copy")).map_err(damaged)?;
        Ok(Database { connection, copy: Some(folder), stamp: before })
    }

    /// Was the file changed since it was opened? A copy does not mind.
    fn changed(&self, path: &Path) -> bool {
        self.copy.is_none() && stamp(path) != self.stamp
    }
}

/// Copies content only: the copy of a file that is read-only must be writable.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match File::open(from) {
        Ok(mut file) => io::copy(&mut file, &mut File::create(to)?).map(|_| ()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

fn is_plain(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut head));
    read.is_ok() && has_magic(&head)
}

/// Opens a database that nobody is writing to. `immutable` promises that, and SQLite then touches nothing beside the file.
fn open_at_rest(path: &Path) -> rusqlite::Result<Connection> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut address = String::from("file:");
    if !path.as_os_str().as_encoded_bytes().starts_with(b"/") {
        address.push('/');
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => address.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b':' => address.push(char::from(*byte)),
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address.push_str("?immutable=1");
    Connection::open_with_flags(address, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}
