//! The rows of `conversations_v2`. No other table is read: they hold what opens accounts.

use super::conversation;
use crate::format::ground::sqlite::{Database, damaged, readable};
use crate::format::ground::{ReadError, Source};
use crate::format::recorder::Recorder;
use crate::transcript::{Scale, Transcript};

/// Reads all conversations of the database.
pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let database = Database::open(source)?;
    let mut statement = database.connection.prepare("SELECT value FROM conversations_v2 ORDER BY rowid").map_err(damaged)?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(damaged)?;
    for value in readable(rows, source) {
        let mut made = Recorder::new(super::READER.name, String::new(), scale);
        match conversation::read(&value, &mut made, &mut |reason| source.lose(0, reason)) {
            Ok(()) => made.end(source, hand_over),
            Err(reason) => source.lose(0, reason),
        }
    }
    database.count_changes(source);
    Ok(())
}
