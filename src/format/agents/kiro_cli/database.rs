//! The rows of `conversations_v2`. No other table is read: they hold what opens accounts.

use super::conversation;
use crate::format::ground::source::{ReadError, Source};
use crate::format::ground::sqlite::{Database, damaged, readable};
use crate::transcript::{Scale, Transcript};

/// Reads all conversations of the database.
pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let database = Database::open(source)?;
    let mut statement = database.connection.prepare("SELECT value FROM conversations_v2 ORDER BY rowid").map_err(damaged)?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(damaged)?;
    for value in readable(rows, source) {
        match conversation::read(&value, scale, &mut |reason| source.lose(0, reason)) {
            Ok(transcript) if transcript.messages.is_empty() => source.lose(0, "session without messages"),
            Ok(transcript) => hand_over(transcript),
            Err(reason) => source.lose(0, reason),
        }
    }
    if database.changed(&source.path) {
        source.lose(0, "database was written to while it was read");
    }
    Ok(())
}
