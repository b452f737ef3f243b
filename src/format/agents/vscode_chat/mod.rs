//! Copilot's chat in VS Code: what `Chat: Export Chat` and the editor's own storage (`workspaceStorage/*/chatSessions`) hold, a list of
//! requests, and the shape that another exporter writes, a list of messages.
//!
//! A request is a person's, with all rounds of calls that answered it ([`requests`]); newer versions store it as a log of changes
//! ([`changes`]). The messages are OpenAI's ([`messages`]).

mod changes;
mod messages;
mod record;
mod requests;

use crate::format::ground::source::{ReadError, Source};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::end_said;
use crate::transcript::{Scale, Transcript};

/// Chats in VS Code.
pub const READER: Reader =
    Reader { name: "vscode-chat", about: "VS Code Copilot Chat (chatSessions/*.json*, exported chats)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let listed = outline.has("sessionId") && outline.has("chatMessages");
    if listed || requests::claims(outline) || changes::claims(outline) { Claim::Yes } else { Claim::No }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let transcript = Transcript { id: source.name(), agent: READER.name.to_owned(), ..Transcript::default() };
    let transcript = if source.outline().has("chatMessages") {
        messages::read(source, scale, transcript)?
    } else if changes::claims(source.outline()) {
        let chat = changes::read(source)?;
        requests::of(&chat, source, scale, transcript)
    } else {
        requests::read(source, scale, transcript)?
    };
    end_said(transcript, 0, source, hand_over);
    Ok(())
}
