//! The rows of a database. Columns came and went: those that may be absent are looked for first.

use super::session::{MessageRow, Session, SessionRow};
use crate::format::ground::sqlite::{Database, damaged, readable};
use crate::format::ground::{Count, Dollars, ReadError, Source, millis};
use crate::format::marks::{Mark, Marked};
use crate::format::recorder::NO_MESSAGES;
use crate::format::sums::PaidInAll;
use crate::format::usage::Reported;
use crate::transcript::{Scale, Transcript};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

const MARKS: &[Mark] = &[
    Mark::Line("... [# lines truncated] ..."),
    Mark::Line("[Content truncated to # bytes]"),
    Mark::Line("[Note: Content truncated by width to fit response limits]"),
    Mark::Line("(File has more lines. Use 'offset' parameter to read beyond line #)"),
    Mark::Line("(Results are truncated. Consider using a more specific path or pattern.)"),
];

/// Reads all sessions of the database, one after the other.
pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let database = Database::open(source)?;
    let connection = &database.connection;
    // The archived program did not note the provider.
    let notes_provider = has_column(connection, "messages", "provider").map_err(damaged)?;
    let agent = if notes_provider { "crush" } else { "opencode-go" };
    let provider = if notes_provider { "provider" } else { "NULL" };
    let marked = if has_column(connection, "messages", "is_summary_message").map_err(damaged)? { "is_summary_message" } else { "0" };
    let finished = if has_column(connection, "messages", "finished_at").map_err(damaged)? { "finished_at" } else { "0" };
    let mut paid = PaidInAll::default();
    for (number, row) in (1..).zip(sessions(connection, source).map_err(damaged)?) {
        let mut lose = |reason: &str| source.lose(number, reason);
        let mut session = Session::new(&row, agent, scale);
        match messages(connection, &row.id, [marked, provider, finished], &mut session, &mut lose) {
            Ok(()) => match session.finish(&row.last, row.is_sum, &mut lose) {
                Some(transcript) => {
                    hand_over(transcript);
                    // A session holds what those cost that it started.
                    if let (Some(cost), None) = (row.cost, &row.parent) {
                        paid.add(number, cost);
                    }
                }
                None => lose(NO_MESSAGES),
            },
            Err(_) => lose("session whose rows cannot be read"),
        }
    }
    paid.count(source);
    database.count_orphans("messages", "sessions", source);
    database.count_changes(source);
    Ok(())
}

fn has_column(connection: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
    connection.query_row(sql, [table, column], |row| row.get::<_, u32>(0)).map(|count| count > 0)
}

fn sessions(connection: &Connection, source: &mut Source) -> rusqlite::Result<Vec<SessionRow>> {
    // The release that brought summaries was the first to keep the last call's usage in place of the sum.
    let is_sum = !has_column(connection, "sessions", "summary_message_id")?;
    let summary = if is_sum { "NULL" } else { "summary_message_id" };
    let cost = if has_column(connection, "sessions", "cost")? { "cost" } else { "NULL" };
    let sql = format!(
        "SELECT id, parent_session_id, {summary}, prompt_tokens, completion_tokens, {cost} FROM sessions ORDER BY created_at, rowid"
    );
    let mut statement = connection.prepare(&sql)?;
    let some = |row: &Row<'_>, column| -> rusqlite::Result<Option<String>> {
        Ok(row.get::<_, Option<String>>(column)?.filter(|text| !text.is_empty()))
    };
    let rows = statement.query_map([], |row| {
        Ok(SessionRow {
            id: row.get(0)?,
            parent: some(row, 1)?,
            summary_message: some(row, 2)?,
            last: Reported { input: count(row, 3)?, output: count(row, 4)?, ..Reported::default() },
            is_sum,
            cost: row.get_ref(5)?.as_f64_or_null().ok().flatten().and_then(|dollars| Dollars::of(dollars).above_zero()),
        })
    })?;
    Ok(readable(rows, source))
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<Count> {
    Ok(row.get::<_, Option<i64>>(column)?.map_or(Count::Absent, |number| u64::try_from(number).map_or(Count::Absurd, Count::of)))
}

fn messages(
    connection: &Connection,
    session_id: &str,
    [marked, provider, finished]: [&str; 3],
    session: &mut Session<'_>,
    lose: &mut dyn FnMut(&str),
) -> rusqlite::Result<()> {
    let sql = format!(
        "SELECT id, role, parts, model, created_at, {marked}, {provider}, {finished} IS NULL FROM messages WHERE session_id = ?1 ORDER BY created_at, rowid"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([session_id])?;
    while let Some(row) = rows.next()? {
        let text = |column| row.get_ref(column).ok().and_then(|value| value.as_str().ok());
        match (text(0), text(1), text(2)) {
            (Some(id), Some(role), Some(parts)) => {
                let (model, time) = (text(3).unwrap_or_default(), time(row.get_ref(4)?));
                let is_summary = row.get::<_, Option<i64>>(5)?.unwrap_or(0) != 0;
                let is_whole = row.get(7)?;
                session.message(&MessageRow { id, role, parts, model, host: text(6), time, is_summary, is_whole }, lose);
            }
            _ => lose("row that is not text"),
        }
    }
    Ok(())
}

/// Times were texts once, then seconds, then milliseconds.
fn time(value: ValueRef<'_>) -> Option<i64> {
    const FIRST_MILLISECOND: i64 = 100_000_000_000;
    match value {
        ValueRef::Integer(number) if number >= FIRST_MILLISECOND => Some(number),
        ValueRef::Integer(number) => number.checked_mul(1000),
        ValueRef::Text(text) => millis(std::str::from_utf8(text).ok()?),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}
