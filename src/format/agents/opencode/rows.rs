//! The rows of an OpenCode database.

use super::record::{MessageInfo, SessionInfo};
use super::second::Second;
use super::session::Session;
use crate::format::ground::sqlite::{Database, damaged, readable};
use crate::format::ground::{ReadError, Source, Words};
use crate::format::recorder::NO_MESSAGES;
use crate::list::Gather;
use crate::transcript::{Scale, Transcript};
use rusqlite::{Connection, Row};
use std::collections::BTreeSet;

/// Reads all sessions of the database, one after the other.
pub fn read(source: &mut Source, scale: &dyn Scale, give: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let database = Database::open(source)?;
    let connection = &database.connection;
    let names = names(connection).map_err(damaged)?;
    let has = |table: &str| names.iter().any(|name| name == table);
    let tables = Tables { first: has("message") && has("part"), second: has("session_message") };
    let mut listed = Vec::new();
    for table in ["session_v2", "session"].into_iter().filter(|table| has(table)) {
        let known: BTreeSet<String> = listed.iter().map(|info: &SessionInfo<'_>| info.id.to_string()).gather();
        listed.extend(sessions(connection, table, source).map_err(damaged)?.into_iter().filter(|info| !known.contains(&*info.id)));
    }
    for (number, info) in (1..).zip(&listed) {
        let mut lose = |reason: &str| source.lose(number, reason);
        match session(connection, &tables, info, scale, &mut lose) {
            Ok(Some(transcript)) => give(transcript),
            Ok(None) => lose(NO_MESSAGES),
            Err(_) => lose("session whose rows cannot be read"),
        }
    }
    let both = "(SELECT id FROM session UNION SELECT id FROM session_v2)";
    let all = if has("session") && has("session_v2") {
        both
    } else {
        ["session_v2", "session"].into_iter().find(|table| has(table)).unwrap_or(both)
    };
    for (messages, _) in [("message", tables.first), ("session_message", tables.second)].into_iter().filter(|(_, there)| *there) {
        database.count_orphans(messages, all, source);
    }
    database.count_changes(source);
    Ok(())
}

fn names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Which tables of messages the database has: those of the first versions, and those of OpenCode 2.
struct Tables {
    first: bool,
    second: bool,
}

fn sessions(connection: &Connection, table: &str, source: &mut Source) -> rusqlite::Result<Vec<SessionInfo<'static>>> {
    let of =
        |directory: &str| connection.prepare(&format!("SELECT id, parent_id, version, {directory} FROM {table} ORDER BY time_created, id"));
    // The first databases do not say where a session took place.
    let mut statement = of("directory").or_else(|_| of("''"))?;
    let words = |row: &Row<'_>, column| -> rusqlite::Result<Words<'static>> {
        Ok(Words(row.get::<_, Option<String>>(column)?.unwrap_or_default().into()))
    };
    let rows = statement.query_map([], |row| {
        let (id, parent, version, directory) = (words(row, 0)?, words(row, 1)?, words(row, 2)?, words(row, 3)?);
        Ok(SessionInfo { id, parent, version, directory, ..SessionInfo::default() })
    })?;
    Ok(readable(rows, source))
}

fn session(
    connection: &Connection,
    tables: &Tables,
    info: &SessionInfo<'_>,
    scale: &dyn Scale,
    lose: &mut dyn FnMut(&str),
) -> rusqlite::Result<Option<Transcript>> {
    let mut session = Session::new(info.id.to_string(), scale);
    session.describe(info);
    if is_second(connection, tables, &info.id)? {
        second(connection, &info.id, &mut session, lose)?;
    } else if tables.first {
        first(connection, &info.id, &mut session, lose)?;
    }
    Ok(session.finish(lose))
}

/// Does the session stand in the table of OpenCode 2? That program copies older sessions there, without their compactions, and some versions
/// before it wrote both: the table with more replies is the session's, and the first one where they have as many.
fn is_second(connection: &Connection, tables: &Tables, id: &str) -> rusqlite::Result<bool> {
    let count = |table: &str, which: &str| -> rusqlite::Result<i64> {
        connection
            .prepare_cached(&format!("SELECT count(*) FROM {table} WHERE session_id = ?1 AND {which}"))?
            .query_row([id], |row| row.get(0))
    };
    if !tables.second || count("session_message", "1")? == 0 {
        return Ok(false);
    }
    if !tables.first || count("message", "1")? == 0 {
        return Ok(true);
    }
    Ok(count("session_message", "type = 'assistant'")? > count("message", r#"data LIKE '%"role":"assistant"%'"#)?)
}

fn first(connection: &Connection, id: &str, session: &mut Session<'_>, lose: &mut dyn FnMut(&str)) -> rusqlite::Result<()> {
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
    Ok(())
}

fn second(connection: &Connection, id: &str, session: &mut Session<'_>, lose: &mut dyn FnMut(&str)) -> rusqlite::Result<()> {
    let of = |order: &str| {
        connection.prepare_cached(&format!("SELECT id, data, type FROM session_message WHERE session_id = ?1 ORDER BY {order}"))
    };
    // The first tables of this name do not number their rows.
    let mut messages = of("seq, id").or_else(|_| of("time_created, id"))?;
    let mut rows = messages.query([id])?;
    while let Some(row) = rows.next()? {
        let (Some((id, data)), Ok(kind)) = (texts(row), row.get::<_, String>(2)) else {
            lose("row that is not text");
            continue;
        };
        match serde_json::from_str::<Second<'_>>(data) {
            Ok(message) => session.second(&message, id, &kind, lose),
            Err(_) => lose("message of an unexpected shape"),
        }
    }
    Ok(())
}

fn texts<'r>(row: &'r Row<'_>) -> Option<(&'r str, &'r str)> {
    Some((row.get_ref(0).ok()?.as_str().ok()?, row.get_ref(1).ok()?.as_str().ok()?))
}
