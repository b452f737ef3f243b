//! Kiro CLI (once Amazon Q Developer CLI): conversations as one JSON value each in the table `conversations_v2` of a database, or saved by
//! hand; and sessions of the interactive program, `~/.kiro/sessions/cli/<id>.jsonl` with `<id>.json` beside.
//!
//! The program counts credits: fields for tokens are there, but empty or zero in all files seen. How much of the window is used stands
//! there as a share of it, which is no measurement of a prompt, and left out.

mod conversation;
#[cfg(feature = "sqlite")]
mod database;
mod stream;

use crate::format::ground::outline::Outline;
use crate::format::ground::source::{ReadError, Source};
use crate::format::ground::sqlite;
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Role, Scale, Transcript};
use stream::is_beside_stream;

/// Conversations of Kiro CLI.
pub const READER: Reader =
    Reader { name: "kiro-cli", about: "Kiro CLI conversations (~/.kiro/sessions/cli/*.jsonl, data.sqlite3, saved *.json)", claims, read };

const TABLES: [&str; 1] = ["conversations_v2"];

fn claims(source: &Source) -> Claim {
    if sqlite::has_magic(source.head()) {
        return if sqlite::holds(source, &TABLES) { Claim::Yes } else { Claim::No };
    }
    if sqlite::is_side_file(source, &TABLES) {
        return Claim::Companion;
    }
    let outline = source.outline();
    if outline.has("session_state") && outline.has("session_id") {
        return if is_beside_stream(source) { Claim::Companion } else { Claim::No };
    }
    let saved = outline.has("conversation_id") && (outline.has("history[].user") || outline.has("valid_history_range"));
    let line = |line: &Outline| line.text("version") == "v1" && line.has("kind") && line.has("data.message_id");
    if saved || source.head_text().lines().take(5).any(|text| line(&Outline::of(text))) { Claim::Yes } else { Claim::No }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let hand_over = &mut |transcript| hand_over(Transcript { agent: READER.name.to_owned(), ..transcript });
    if sqlite::has_magic(source.head()) {
        #[cfg(feature = "sqlite")]
        return database::read(source, scale, hand_over);
        #[cfg(not(feature = "sqlite"))]
        return sqlite::read(source, scale, hand_over);
    }
    let transcript = if source.outline().has("conversation_id") {
        let text = source.document()?;
        conversation::read(&text, scale, &mut |reason| source.lose(0, reason)).map_err(|reason| ReadError::Damaged(reason.to_owned()))?
    } else {
        stream::read(source, scale)?
    };
    if transcript.messages.iter().all(|message| message.role == Role::System) {
        source.lose(0, "session without messages");
    } else {
        hand_over(transcript);
    }
    Ok(())
}
