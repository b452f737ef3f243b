//! Google's Agent Development Kit: a session as its services and its web page give it (one JSON document with `events`), the list of events
//! that its interface answers with, an event a line, or the databases that it keeps sessions in. Its keys are written in either case.
//!
//! Contents and usage are those of Google's interface. Instructions and definitions of tools are not in it.

#[cfg(feature = "sqlite")]
mod rows;
mod session;

#[cfg(not(feature = "sqlite"))]
use crate::format::ground::sqlite as rows;
use crate::format::ground::sqlite::has_magic;
use crate::format::ground::{Outline, ReadError, Source, Take, each_piece};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript};
use session::{AGENT, Event, Session};

/// Sessions of the Agent Development Kit.
pub const READER: Reader =
    Reader { name: AGENT, about: "sessions and events of Google's Agent Development Kit (JSON, JSONL, session.db)", claims, read };

/// The tables of `SqliteSessionService` and `DatabaseSessionService`.
const TABLES: [&str; 4] = ["app_states", "user_states", "sessions", "events"];

fn claims(source: &Source) -> Claim {
    if let Some(claim) = Claim::of_database(source, &TABLES) {
        return claim;
    }
    let outline = source.outline();
    let session = outline.shows("appName|app_name events");
    Claim::when(session || ["", "[].", "events[]."].iter().any(|at| is_event(outline, at)))
}

/// Does an event stand at this place?
fn is_event(outline: &Outline, at: &str) -> bool {
    outline.shows_at(at, "author invocationId|invocation_id")
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    if has_magic(source.head()) {
        return rows::read(source, scale, hand_over);
    }
    let mut session = Session::new(source.name(), scale);
    if source.outline().has("events") || is_event(source.outline(), "[].") {
        each_piece(source, &[("id", Take::Whole), ("events", Take::Elements)], |source, piece| match piece.key {
            "id" => session.rename(serde_json::from_str(piece.text).unwrap_or_else(|_| source.name())),
            _ => piece.take(source, |event: Event, lose| session.event(&event, lose)),
        });
    } else {
        source.each_line(|source, line| source.values(line, |event: Event, lose| session.event(&event, lose)))?;
    }
    session.end(0, source, hand_over);
    Ok(())
}
