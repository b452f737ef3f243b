//! An export of Copilot's chat in VS Code: `{sessionId, startTime, chatMessages, timeline}`.
//!
//! The messages are OpenAI's; the timeline repeats them for the screen. A reply of words and calls stands in several messages of the
//! model's: they are joined, since one request made them. There is no usage, and the model is not named.

use super::chat::{Chat, ChatMessage};
use super::json::fault;
use super::pieces::{Take, each_piece};
use super::{Claim, ReadError, Reader, Source};
use crate::transcript::{Call, Message, Role, Scale, Transcript};
use serde_json::value::RawValue;

/// Exports of chats in VS Code.
pub const READER: Reader = Reader { name: "vscode-chat", about: "VS Code Copilot Chat exports (chatMessages, timeline)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    if outline.has("sessionId") && outline.has("chatMessages") { Claim::Yes } else { Claim::No }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut transcript = Transcript { id: source.name(), agent: READER.name.to_owned(), ..Transcript::default() };
    let mut chat = Chat::default();
    each_piece(source, &[("sessionId", Take::Whole), ("chatMessages", Take::Elements)], |source, piece| {
        if piece.key == "sessionId" {
            let id = serde_json::from_str::<&RawValue>(piece.text).map(|raw| super::json::string(Some(raw))).unwrap_or_default();
            if !id.is_empty() {
                transcript.id = id;
            }
            return Ok(());
        }
        let mut lose = |reason: &str| source.lose(piece.number, reason);
        match serde_json::from_str::<ChatMessage>(piece.text) {
            Ok(written) => match chat.message(&written, scale, &mut lose) {
                Some(message) => list(message, &mut transcript.messages),
                None => lose("message of an unknown role"),
            },
            Err(error) => lose(fault(&error, false)),
        }
        Ok(())
    })?;
    if transcript.messages.is_empty() {
        source.lose(0, "session without messages");
    } else {
        hand_over(transcript);
    }
    Ok(())
}

fn list(message: Message, messages: &mut Vec<Message>) {
    match messages.last_mut() {
        Some(last) if message.role == Role::Assistant && last.role == Role::Assistant => last.parts.extend(message.parts),
        _ => {
            let call = (message.role == Role::Assistant).then(Call::default);
            messages.push(Message { call, ..message });
        }
    }
}
