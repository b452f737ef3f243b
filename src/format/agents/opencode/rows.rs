//! The rows of an OpenCode database.

use super::record::{MessageInfo, SessionInfo};
use super::session::Session;
use crate::format::ground::sqlite::{Database, damaged, readable};
use crate::format::ground::{ReadError, Source, Words};
use crate::format::recorder::NO_MESSAGES;
use crate::transcript::{Scale, Transcript};
use rusqlite::{Connection, Row};

/// Reads all sessions of the database, one after the other.
pub fn read(source: &mut Source, scale: &dyn Scale, give: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let database = Database::open(source)?;
    let sessions = sessions(&database.connection, source).map_err(damaged)?;
    for (number, info) in (1..).zip(&sessions) {
        let mut lose = |reason: &str| source.lose(number, reason);
        match session(&database.connection, info, scale, &mut lose) {
            Ok(Some(transcript)) => give(transcript),
            Ok(None) => lose(NO_MESSAGES),
            Err(_) => lose("session whose rows cannot be read"),
        }
    }
    database.count_orphans("message", "session", source);
    database.count_changes(source);
    Ok(())
}

fn sessions(connection: &Connection, source: &mut Source) -> rusqlite::Result<Vec<SessionInfo<'static>>> {
    let of =
        |directory: &str| connection.prepare(&format!("SELECT id, parent_id, version, {directory} FROM session ORDER BY time_created, id"));
    // The first databases do not say where a session took place.
    let mut statement = of("directory").or_else(|_| of("''"))?;
    let words = |row: &Row<'_>, column| -> rusqlite::Result<Words<'static>> {
        Ok(Words(row.get::<_, Option<String>>(column)?.unwrap_or_default().into()))
    };
    let rows = statement.query_map([], |row| {
        Ok(SessionInfo { id: words(row, 0)?, parent: words(row, 1)?, version: words(row, 2)?, directory: words(row, 3)? })
    })?;
    Ok(readable(rows, source))
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
