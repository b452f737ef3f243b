//! An open database, read without a trace.

use super::bytes::{contains, log_of, mentions_all};
use super::copy::{CopyFolder, copy};
use super::log;
use super::place::{beside, has_magic};
use crate::format::ground::count::Count;
use crate::format::ground::source::{BROKEN_OFF, ReadError, Source};
use crate::reading::{self, size};
use rusqlite::{Connection, OpenFlags, Row};
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

/// How often a database that is being written to is copied anew before its copy is taken as it is.
const TRIES: usize = 3;

/// The names of the tables of a database (without its log).
pub fn tables(path: &Path) -> rusqlite::Result<Vec<String>> {
    // SQLite would wait for the writer of a fifo.
    reading::regular(path).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let connection = open_at_rest(path)?;
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

/// The names of the tables of a database (without its log) that have all of these columns; none of one that cannot be read.
pub fn tables_with(path: &Path, columns: &[&str]) -> Vec<String> {
    let found = reading::regular(path).is_ok().then(|| open_at_rest(path).and_then(|connection| having(&connection, columns)));
    found.and_then(Result::ok).unwrap_or_default()
}

/// The tables that have all of these columns, by name.
fn having(connection: &Connection, columns: &[&str]) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name, (SELECT group_concat(column.name) FROM pragma_table_info(sqlite_schema.name) AS column) \
               FROM sqlite_schema WHERE type = 'table' ORDER BY 1";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?.unwrap_or_default())))?;
    let has = |held: &str| columns.iter().all(|column| held.split(',').any(|name| name == *column));
    Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().filter(|(_, held)| has(held)).map(|(name, _)| name).collect())
}

/// The reason why nothing of a database could be read.
pub fn damaged(error: rusqlite::Error) -> ReadError {
    ReadError::Damaged(format!("not a readable database: {error}"))
}

/// Why nothing of the database of this file can be read; `None` where it can, and for a stream or a packed file.
pub fn damage(path: &Path) -> Option<ReadError> {
    tables(path).err().filter(|_| is_plain(path)).map(damaged)
}

/// The sessions that can be read of a table. A row of another shape is lost alone; behind a damaged page nothing more is found.
pub fn readable<T>(rows: impl Iterator<Item = rusqlite::Result<T>>, source: &mut Source) -> Vec<T> {
    rows.filter_map(|row| row.inspect_err(|error| source.lose(0, loss_of(error))).ok()).collect()
}

/// Does a query find anything for this value in a database? It is copied for the question only where its log has the value.
pub fn finds(database: &mut Source, sql: &str, value: &str) -> bool {
    let finds = |connection: &Connection| connection.query_row(sql, [value], |_| Ok(())).is_ok();
    open_at_rest(&database.path).is_ok_and(|connection| finds(&connection))
        || mentions_all(log_of(&database.path), &[value], contains)
            && Database::open(database).is_ok_and(|database| finds(&database.connection))
}

/// The text of a column; `None` where there is no such column, or no text in it.
pub fn text(row: &Row<'_>, column: &str) -> Option<String> {
    row.get::<_, Option<String>>(column).ok().flatten()
}

/// The number of a column; absent where there is no such column, or none in it.
pub fn count(row: &Row<'_>, column: &str) -> Count {
    match row.get::<_, Option<i64>>(column) {
        Ok(Some(number)) => u64::try_from(number).map_or(Count::Absurd, Count::of),
        Ok(None) | Err(rusqlite::Error::InvalidColumnName(_)) => Count::Absent,
        Err(_) => Count::Absurd,
    }
}

/// The reason for the loss of a session.
pub fn loss_of(error: &rusqlite::Error) -> &'static str {
    match error {
        rusqlite::Error::InvalidColumnType(..) => "row that is not text",
        _ => "session whose rows cannot be read",
    }
}

/// An open database and, where it was copied, the folder of the copy: it is removed with it.
pub struct Database {
    /// The connection that queries run on.
    pub connection: Connection,
    copy: Option<CopyFolder>,
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
    /// Opens the database of this source, or a copy of it where it cannot be read in its place.
    pub fn open(source: &mut Source) -> Result<Database, ReadError> {
        let path = source.path.canonicalize().unwrap_or_else(|_| source.path.clone());
        let before = stamp(&path);
        if !is_plain(&path) {
            // A stream or a compressed file has no logs beside it.
            let folder = CopyFolder::new()?;
            let most = source.bounds().unpacked;
            let copied = folder.take(source.stream().take(most.saturating_add(1)), "copy")?;
            if copied > most {
                return Err(ReadError::Damaged(format!("database of more than {} (--max-unpacked)", size(most))));
            }
            let connection = Connection::open(folder.path().join("copy")).map_err(damaged)?;
            return Ok(Database { connection, copy: Some(folder), stamp: before });
        }
        let [_, log, journal] = before;
        if [log, journal].into_iter().flatten().all(|(length, _)| length == 0) {
            let connection = open_at_rest(&path).map_err(damaged)?;
            if lacks_an_end(&path).unwrap_or(false) {
                source.lose(0, BROKEN_OFF);
            }
            return Ok(Database { connection, copy: None, stamp: before });
        }
        let folder = CopyFolder::new()?;
        for last in (0..TRIES).map(|tried| tried + 1 == TRIES) {
            let before = stamp(&path);
            for ending in ENDINGS {
                copy(&path, ending, &folder)?;
            }
            if stamp(&path) == before {
                break;
            }
            if last {
                source.lose(0, "database was written to while it was copied");
            }
        }
        let damaged_log = log::is_damaged(&folder.path().join("copy-wal")).unwrap_or(false);
        if damaged_log {
            source.lose(0, "damaged write-ahead log: what it holds behind the damage");
        }
        let connection = Connection::open(folder.path().join("copy")).map_err(damaged)?;
        Ok(Database { connection, copy: Some(folder), stamp: before })
    }

    /// The tables that have all of these columns, by name.
    pub fn tables_with(&self, columns: &[&str]) -> rusqlite::Result<Vec<String>> {
        having(&self.connection, columns)
    }

    /// Counts the messages of a table that belong to no session of another one.
    pub fn count_orphans(&self, messages: &str, sessions: &str, source: &mut Source) {
        let orphans = format!("SELECT count(*) FROM {messages} WHERE session_id NOT IN (SELECT id FROM {sessions})");
        match self.connection.query_row(&orphans, [], |row| row.get::<_, u32>(0)) {
            Ok(count) => (0..count).for_each(|_| source.lose(0, "message without a session")),
            Err(_) => source.lose(0, "messages whose session cannot be told"),
        }
    }

    /// Counts that the file was changed since it was opened. A copy is not concerned.
    pub fn count_changes(&self, source: &mut Source) {
        if self.copy.is_none() && stamp(&source.path) != self.stamp {
            source.lose(0, "database was written to while it was read");
        }
    }
}

/// Is the file shorter than its header says? SQLite itself reads a last page that is there in part, and takes what is not there for zeros.
/// The header is that of <https://www.sqlite.org/fileformat2.html>: the size of a page at 16, the number of pages at 28, which holds
/// where the counters at 24 and 92 are the same.
fn lacks_an_end(path: &Path) -> io::Result<bool> {
    let mut file = reading::regular(path)?;
    let mut head = [0; 100];
    file.read_exact(&mut head)?;
    let number = |at: usize| head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_be_bytes);
    let page = match u64::from(number(16) >> 16) {
        1 => 65_536,
        size => size,
    };
    Ok(number(24) == number(92) && file.metadata()?.len() < page * u64::from(number(28)))
}

fn is_plain(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = reading::regular(path).and_then(|file| file.take(16).read_to_end(&mut head));
    read.is_ok() && has_magic(&head)
}

/// Opens a database that no program is writing to. `immutable` promises that, and SQLite then touches nothing beside the file.
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
