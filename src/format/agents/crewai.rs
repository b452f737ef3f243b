//! crewAI: what the tasks of the last run gave (`latest_kickoff_task_outputs`), in the program's SQLite store. Since the end of 2025 a row holds the whole
//! conversation of its task, in the names of Chat Completions; tools, models and usage are not in it.

use crate::format::ground::Source;
use crate::format::reader::{Claim, Reader};

#[cfg(not(feature = "sqlite"))]
use crate::format::ground::sqlite::read;
#[cfg(feature = "sqlite")]
use rows::read;

/// Tasks of crewAI.
pub const READER: Reader =
    Reader { name: "crewai", about: "Tasks of crewAI's last run (SQLite: latest_kickoff_task_outputs.db)", claims, read };

const TABLES: [&str; 1] = ["latest_kickoff_task_outputs"];

fn claims(source: &Source) -> Claim {
    Claim::of_database(source, &TABLES).unwrap_or(Claim::No)
}

#[cfg(feature = "sqlite")]
mod rows {
    use crate::format::ground::sqlite::{Database, damaged, readable};
    use crate::format::ground::{Lose, ReadError, Source, millis, wire};
    use crate::format::recorder::{Recorder, end};
    use crate::format::wire::chat::{Chat, ChatMessage, text_of};
    use crate::transcript::{Call, Role, Scale, Transcript};

    wire! {
        struct Output<'a> { messages: Option<Vec<ChatMessage<'a>>> }
    }

    /// Reads all tasks of the database, each a session.
    pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
        let database = Database::open(source)?;
        let sql = "SELECT task_id, output, timestamp FROM latest_kickoff_task_outputs ORDER BY task_index, rowid";
        let mut statement = database.connection.prepare(sql).map_err(damaged)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?));
        let rows = statement.query_map([], row).map_err(damaged)?;
        for (number, (id, output, time)) in (1..).zip(readable(rows, source)) {
            let mut made = Recorder::new(super::READER.name, id, scale);
            match serde_json::from_str::<Output>(&output) {
                Ok(output) => {
                    let mut lose = |reason: &str| source.lose(number, reason);
                    output.messages.iter().flatten().for_each(|message| self::message(message, &mut made, &mut lose));
                    // A row is written when its task has ended.
                    if let Some(last) = made.transcript.messages.last_mut() {
                        last.time = time.as_deref().and_then(millis);
                    }
                    end(made.finish(), number, source, hand_over);
                }
                Err(_) => source.lose(number, "record of an unexpected shape"),
            }
        }
        database.count_changes(source);
        Ok(())
    }

    fn message(written: &ChatMessage<'_>, made: &mut Recorder<'_>, lose: Lose<'_>) {
        // Each message is told by itself: the names of tools stand in their results.
        let Some(mut message) = Chat::default().message(written, made.scale, lose) else { return lose("message of an unknown role") };
        message.call = (message.role == Role::Assistant).then(|| Box::new(Call::default()));
        // What the program says in the person's name after each result.
        message.synthetic = message.role == Role::User && text_of(&written.content).starts_with("Analyze the tool result.");
        made.push(message);
    }
}
