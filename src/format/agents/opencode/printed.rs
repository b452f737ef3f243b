//! What `opencode run --format json` prints: the parts of its replies, a line each, with neither prompts nor the names of models.

use super::record::{MessageInfo, SessionInfo, Times};
use super::session::Session;
use crate::format::ground::{ReadError, Source, Words, wire};
use crate::format::recorder::end;
use crate::transcript::{Scale, Transcript};
use serde_json::value::RawValue;
use std::borrow::Cow;

wire! {
    /// A line: a part, as it is stored, or an error.
    struct Event<'a> {
        kind: Words<'a> = "type",
        session: Words<'a> = "sessionID",
        timestamp: Option<f64>,
        part: Option<&'a RawValue>,
    }

    /// The message that a part is of.
    struct Owner<'a> { message: Words<'a> = "messageID" }
}

/// Reads the sessions of what was printed, each run behind the other.
pub fn read(source: &mut Source, scale: &dyn Scale, give: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let name = source.name();
    let mut session = Session::new(name.clone(), scale);
    let (mut of, mut message) = (String::new(), String::new());
    source.each_line(|source, line| {
        source.values(line, |event: Event, lose| {
            let Some(part) = event.part else {
                if &*event.kind != "error" {
                    lose("unknown record type");
                }
                return;
            };
            if event.session.id() != of {
                session.end(lose);
                let over = std::mem::replace(&mut session, Session::new(name.clone(), scale));
                over.finish(lose).into_iter().for_each(&mut *give);
                session.made.transcript.printed = true;
                session.describe(&SessionInfo { id: Words(Cow::Borrowed(event.session.id())), ..SessionInfo::default() });
                (of, message) = (event.session.id().to_owned(), String::new());
            }
            let owner = serde_json::from_str::<Owner>(part.get()).unwrap_or_default();
            if owner.message.id() != message || message.is_empty() {
                session.end(lose);
                let time = Times { created: event.timestamp, completed: event.timestamp, ..Times::default() };
                session.begin(
                    &MessageInfo { role: Words(Cow::Borrowed("assistant")), time, ..MessageInfo::default() },
                    owner.message.id(),
                    lose,
                );
                owner.message.id().clone_into(&mut message);
            }
            session.part(part.get(), None, lose);
        });
    })?;
    let lose = &mut |reason: &str| source.lose(0, reason);
    session.end(lose);
    end(session.finish(lose), 0, source, give);
    Ok(())
}
