//! The databases. The user names the table, so that it is known by its columns.

use super::session::{Stored, sessions};
use crate::format::ground::sqlite::{Database, damaged, has_magic, loss_of, main_of, tables_with};
use crate::format::ground::{ReadError, Source, fault};
use crate::format::reader::Claim;
use crate::transcript::{Scale, Transcript};
use rusqlite::Connection;
use serde_json::value::RawValue;

/// Columns of a table of sessions, and the one that holds the runs: of version 2, and of version 1.
const COLUMNS: [(&[&str], &str); 2] = [
    (&["session_id", "session_type", "runs", "session_data", "agent_data"], "runs"),
    (&["session_id", "memory", "session_data"], "memory"),
];

/// The claim on a database with sessions, or on the log or index of one; `None` for other files.
pub fn claim(source: &Source) -> Option<Claim> {
    let holds = |source: &Source| COLUMNS.iter().any(|(columns, _)| !tables_with(&source.path, columns).is_empty());
    if has_magic(source.head()) {
        return Some(Claim::when(holds(source)));
    }
    main_of(source).is_some_and(|main| holds(&main)).then_some(Claim::Companion)
}

/// Reads all sessions of the database, table by table.
pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let database = Database::open(source)?;
    let mut number = 0;
    for (columns, held) in COLUMNS {
        for table in database.tables_with(columns).map_err(damaged)? {
            if table_of(&database.connection, &table, held, &mut number, scale, source, hand_over).is_err() {
                source.lose(number, "table whose rows cannot be read");
            }
        }
    }
    database.count_changes(source);
    Ok(())
}

fn table_of(
    connection: &Connection,
    table: &str,
    held: &str,
    number: &mut u64,
    scale: &dyn Scale,
    source: &mut Source,
    hand_over: &mut dyn FnMut(Transcript),
) -> rusqlite::Result<()> {
    let table = table.replace('"', "\"\"");
    let sql = format!("SELECT session_id, {held} FROM \"{table}\" ORDER BY created_at, session_id");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    loop {
        *number += 1;
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(()),
            Err(error) => {
                source.lose(*number, loss_of(&error));
                return Ok(());
            }
        };
        let text = |column| row.get_ref(column).ok().and_then(|value| value.as_str_or_null().ok().flatten());
        let Some(id) = text(0) else {
            source.lose(*number, "row that is not text");
            continue;
        };
        let json = text(1).unwrap_or("null");
        match serde_json::from_str::<&RawValue>(json) {
            Ok(raw) => {
                let both = if held == "runs" { (Some(raw), None) } else { (None, Some(raw)) };
                sessions(&Stored::of(id, both), *number, scale, source, hand_over);
            }
            Err(error) => source.lose(*number, fault(&error, true)),
        }
    }
}
