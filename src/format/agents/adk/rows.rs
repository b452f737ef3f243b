//! The databases of the kit, whose rows hold events as they are written elsewhere.

use super::session::{Event, Session};
use crate::format::ground::sqlite::{Database, damaged, readable};
use crate::format::ground::{Lose, ReadError, Source, fault};
use crate::transcript::{Scale, Transcript};
use rusqlite::Connection;
use std::collections::HashMap;

/// What names a session: an application, a user, an id. A user of one application may have a session with the id of another's.
type Key = [String; 3];

/// Reads all sessions of the database, one after the other.
pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let database = Database::open(source)?;
    let connection = &database.connection;
    let sql = "SELECT app_name, user_id, id FROM sessions ORDER BY create_time, app_name, user_id, id";
    let mut statement = connection.prepare(sql).map_err(damaged)?;
    let rows = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).map_err(damaged)?;
    let keys: Vec<Key> = readable(rows, source);
    let sql = events(connection).map_err(damaged)?;
    let mut named: HashMap<&str, u64> = HashMap::new();
    keys.iter().for_each(|[_, _, id]| *named.entry(id).or_default() += 1);
    for (number, key) in (1..).zip(&keys) {
        let [_, _, id] = key;
        let alone = named.get(id.as_str()) == Some(&1);
        let mut session = Session::new(if alone { id.clone() } else { key.join("/") }, scale);
        match said(connection, &sql, key, &mut session, &mut |reason| source.lose(number, reason)) {
            Ok(()) => session.end(number, source, hand_over),
            Err(_) => source.lose(number, "session whose rows cannot be read"),
        }
    }
    database.count_orphans("events", "sessions", source);
    database.count_changes(source);
    Ok(())
}

/// What gives the events of a session, in the order in which they came. Older versions have a column for each of their fields.
fn events(connection: &Connection) -> rusqlite::Result<String> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info('events')")?;
    let columns = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    let event = if has("event_data") {
        "event_data".to_owned()
    } else {
        let values = ["content", "usage_metadata"].into_iter().filter(|name| has(name));
        let values = values.map(|name| format!(", '{name}', CASE WHEN json_valid({name}) THEN json({name}) END"));
        let model = if has("model_version") { ", 'model_version', model_version" } else { "" };
        let time = "'timestamp', (julianday(timestamp) - 2440587.5) * 86400.0";
        format!("json_object('id', id, 'author', author, {time}{model}{})", values.collect::<String>())
    };
    Ok(format!("SELECT {event} FROM events WHERE app_name = ?1 AND user_id = ?2 AND session_id = ?3 ORDER BY timestamp, rowid"))
}

fn said(connection: &Connection, sql: &str, key: &Key, session: &mut Session<'_>, lose: Lose<'_>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(key.each_ref())?;
    while let Some(row) = rows.next()? {
        match row.get_ref(0)?.as_str() {
            Ok(text) => match serde_json::from_str::<Event>(text) {
                Ok(event) => session.event(&event, lose),
                Err(error) => lose(fault(&error, false)),
            },
            Err(_) => lose("row that is not text"),
        }
    }
    Ok(())
}
