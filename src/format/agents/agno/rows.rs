//! The databases. The user names the table, so that it is known by its columns.

use super::session::{Stored, sessions};
use crate::format::ground::sqlite::{Database, damaged, has_magic, loss_of, main_of, tables_with};
use crate::format::ground::{ReadError, Source, fault};
use crate::format::reader::Claim;
use crate::transcript::{Scale, Transcript};
use rusqlite::Connection;
use serde_json::value::RawValue;

/// Columns of a table of sessions since version 2, which held the runs until version 3; of one of version 1; and of the runs since version 3.
const SESSIONS: [&str; 4] = ["session_id", "session_type", "session_data", "agent_data"];
const HOLDING: [&str; 5] = ["session_id", "session_type", "session_data", "agent_data", "runs"];
const REMEMBERING: [&str; 3] = ["session_id", "memory", "session_data"];
const RUNS: [&str; 4] = ["run_id", "session_id", "run_index", "run_data"];

/// The claim on a database with sessions, or on the log or index of one; `None` for other files.
pub fn claim(source: &Source) -> Option<Claim> {
    let all: [&[&str]; 3] = [&HOLDING, &REMEMBERING, &RUNS];
    let holds = |source: &Source| all.iter().any(|columns| !tables_with(&source.path, columns).is_empty());
    if has_magic(source.head()) {
        return Some(Claim::when(holds(source)));
    }
    main_of(source).is_some_and(|main| holds(&main)).then_some(Claim::Companion)
}

/// Reads all sessions of the database, table by table.
pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let database = Database::open(source)?;
    let tables = |columns: &[&str]| database.tables_with(columns).map_err(damaged);
    let (holding, runs) = (tables(&HOLDING)?, tables(&RUNS)?);
    let held = |table: &String| if holding.contains(table) { "runs" } else { "NULL" };
    let sessions = tables(&SESSIONS)?.into_iter().map(|table| (held(&table), table));
    let older = tables(&REMEMBERING)?.into_iter().map(|table| ("memory", table));
    let mut number = 0;
    for (held, table) in sessions.chain(older) {
        let read = belonging(&database.connection, &table, &runs, source)
            .and_then(|runs| table_of(&database.connection, &table, held, &runs, &mut number, scale, source, hand_over));
        if read.is_err() {
            source.lose(number, "table whose rows cannot be read");
        }
    }
    database.count_changes(source);
    Ok(())
}

/// The tables of runs that name this table of sessions as theirs, and those that name none. Runs of no session are counted.
fn belonging(connection: &Connection, table: &str, runs: &[String], source: &mut Source) -> rusqlite::Result<Vec<String>> {
    let named = "SELECT count(*) = 0 OR sum(\"table\" = ?2) > 0 FROM pragma_foreign_key_list(?1)";
    let mut found = Vec::new();
    for name in runs {
        if connection.query_row(named, [name.as_str(), table], |row| row.get(0))? {
            let (name, table) = (quoted(name), quoted(table));
            let orphans = format!("SELECT count(*) FROM {name} WHERE session_id NOT IN (SELECT session_id FROM {table})");
            let orphans: u32 = connection.query_row(&orphans, [], |row| row.get(0))?;
            (0..orphans).for_each(|_| source.lose(0, "run without a session"));
            found.push(name);
        }
    }
    Ok(found)
}

/// The name of a table as SQL has it.
fn quoted(table: &str) -> String {
    format!("\"{}\"", table.replace('"', "\"\""))
}

#[expect(clippy::too_many_arguments, reason = "what is read, and where it goes")]
fn table_of(
    connection: &Connection,
    table: &str,
    held: &str,
    runs: &[String],
    number: &mut u64,
    scale: &dyn Scale,
    source: &mut Source,
    hand_over: &mut dyn FnMut(Transcript),
) -> rusqlite::Result<()> {
    let sql = format!("SELECT session_id, {held} FROM {} ORDER BY created_at, session_id", quoted(table));
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
                let both = if held == "memory" { (None, Some(raw)) } else { (Some(raw), None) };
                let apart = runs_of(connection, runs, id, *number, source)?;
                sessions(&Stored::of(id, both), apart, *number, scale, source, hand_over);
            }
            Err(error) => source.lose(*number, fault(&error, true)),
        }
    }
}

/// The runs of a session by their ids, in the order that Agno reads them in.
fn runs_of(
    connection: &Connection,
    tables: &[String],
    id: &str,
    number: u64,
    source: &mut Source,
) -> rusqlite::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for table in tables {
        let sql = format!("SELECT run_id, run_data FROM {table} WHERE session_id = ?1 ORDER BY run_index, created_at, run_id");
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([id])?;
        while let Some(row) = rows.next()? {
            match (row.get(0), row.get(1)) {
                (Ok(run), Ok(json)) => found.push((run, json)),
                _ => source.lose(number, "row that is not text"),
            }
        }
    }
    Ok(found)
}
