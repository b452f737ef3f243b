//! OpenAI Agents SDK: the sessions of its SQLite stores (`SQLiteSession`, `SQLAlchemySession`), an item of the Responses interface a row. They hold neither
//! instructions, tools nor models, and no usage of a call.

use crate::format::ground::Source;
use crate::format::reader::{Claim, Reader};

#[cfg(not(feature = "sqlite"))]
use crate::format::ground::sqlite::read;
#[cfg(feature = "sqlite")]
use rows::read;

/// Sessions of the OpenAI Agents SDK.
pub const READER: Reader =
    Reader { name: "openai-agents", about: "OpenAI Agents SDK sessions (SQLite: agent_sessions, agent_messages)", claims, read };

const TABLES: [&str; 2] = ["agent_sessions", "agent_messages"];

fn claims(source: &Source) -> Claim {
    Claim::of_database(source, &TABLES).unwrap_or(Claim::No)
}

#[cfg(feature = "sqlite")]
mod rows {
    use crate::format::exchange::{openai_responses, weigh};
    use crate::format::ground::sqlite::{Database, damaged, readable};
    use crate::format::ground::{ReadError, Source, is_drawn, millis};
    use crate::format::recorder::{Recorder, end};
    use crate::format::wire::held;
    use crate::transcript::{Message, Part, Role, Scale, Transcript};
    use rusqlite::Connection;

    /// Reads all sessions of the database, one after the other.
    pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
        let database = Database::open(source)?;
        let connection = &database.connection;
        // A session is what has messages: its own row says nothing else of it.
        let sql = "SELECT session_id FROM agent_messages GROUP BY session_id ORDER BY min(id)";
        let mut statement = connection.prepare(sql).map_err(damaged)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(damaged)?;
        for (number, id) in (1..).zip(readable(rows, source)) {
            let mut made = Recorder::new(super::READER.name, id.clone(), scale);
            match items(connection, &id, &mut made, &mut |reason| source.lose(number, reason)) {
                Ok(()) => end(made.finish(), number, source, hand_over),
                Err(_) => source.lose(number, "session whose rows cannot be read"),
            }
        }
        database.count_changes(source);
        Ok(())
    }

    fn items(connection: &Connection, id: &str, made: &mut Recorder<'_>, lose: &mut dyn FnMut(&str)) -> rusqlite::Result<()> {
        let sql = "SELECT message_data, created_at FROM agent_messages WHERE session_id = ?1 ORDER BY id";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([id])?;
        let mut open = None;
        while let Some(row) = rows.next()? {
            let text = |column| row.get_ref(column).ok().and_then(|value| value.as_str().ok());
            match text(0) {
                Some(item) => one(item, text(1).and_then(millis), &mut open, made, lose),
                None => lose("row that is not text"),
            }
        }
        Ok(())
    }

    /// Adds an item. `open` is the place of the reply that goes on: what the model made in a row is one reply.
    fn one(item: &str, time: Option<i64>, open: &mut Option<usize>, made: &mut Recorder<'_>, lose: &mut dyn FnMut(&str)) {
        let Ok(known) = serde_json::from_str::<held::Id>(item) else { return lose("record of an unexpected shape") };
        // The SDK writes one and the same id where a provider gives none.
        let id = known.id.some_id().filter(|id| is_drawn(id, "") && !id.starts_with("__")).unwrap_or_default();
        let (entries, _) = openai_responses::items(&format!("[{item}]"), lose);
        let messages: Vec<Message> = entries.into_iter().flat_map(|entry| entry.messages).collect();
        // What a tool of the provider gave comes with its call.
        let is_served = messages.len() > 1;
        for mut message in messages {
            weigh(&mut message, made.scale);
            made.tools.note_all(&message.parts);
            for part in &mut message.parts {
                if let Part::ToolResult { call_id, name, .. } = part
                    && let Some(called) = made.tools.name(call_id)
                {
                    called.clone_into(name);
                }
            }
            let is_reply = message.role == Role::Assistant;
            match open.filter(|_| is_reply).and_then(|at| made.transcript.messages.get_mut(at)) {
                Some(reply) => reply.parts.extend(message.parts),
                None => {
                    *open = if is_reply { Some(made.next()) } else { open.filter(|_| is_served) };
                    let call = is_reply.then(|| Box::new(made.call(id, "", None)));
                    made.push(Message { id: id.to_owned(), time, call, ..message });
                }
            }
        }
    }
}
