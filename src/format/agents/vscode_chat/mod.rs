//! Copilot's chat in VS Code: what `Chat: Export Chat` and the editor's own storage (`workspaceStorage/*/chatSessions`) hold, a list of
//! requests, and the shape that another exporter writes, a list of messages.
//!
//! A request is a person's, with all rounds of calls that answered it ([`requests`]); newer versions store it as a log of changes
//! ([`changes`]). The messages are OpenAI's ([`messages`]).

mod changes;
mod messages;
mod record;
mod requests;

use crate::format::ground::{ReadError, Source};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::transcript::{Scale, Transcript};

/// Chats in VS Code.
pub const READER: Reader =
    Reader { name: "vscode-chat", about: "VS Code Copilot Chat (chatSessions/*.json*, exported chats)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    Claim::when(outline.shows("sessionId chatMessages") || requests::claims(outline) || changes::claims(outline))
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let made = Recorder::new(READER.name, source.name(), scale);
    let made = if source.outline().has("chatMessages") {
        messages::read(source, made)
    } else if changes::claims(source.outline()) {
        let chat = changes::read(source)?;
        requests::of(&chat, source, made)
    } else {
        requests::read(source, made)
    };
    made.end(source, hand_over);
    Ok(())
}
