//! Another exporter's shape: `{sessionId, startTime, chatMessages, timeline}`.
//!
//! The messages are OpenAI's; the timeline repeats them for the screen. A reply of words and calls stands in several messages of the
//! model's: they are joined, since one request made them. There is no usage, and the model is not named.

use crate::format::ground::{Source, Take, each_piece, string};
use crate::format::recorder::Recorder;
use crate::format::wire::chat::{Chat, ChatMessage};
use crate::transcript::{Call, Message, Messages, Role};

/// Adds the messages of the file to the transcript.
pub(super) fn read<'s>(source: &mut Source, mut made: Recorder<'s>) -> Recorder<'s> {
    let mut chat = Chat::default();
    each_piece(source, &[("sessionId", Take::Whole), ("chatMessages", Take::Elements)], |source, piece| match piece.key {
        "sessionId" => made.identify(&string(serde_json::from_str(piece.text).ok())),
        _ => piece.take(source, |written: ChatMessage, lose| match chat.message(&written, made.scale, lose) {
            Some(message) => list(message, &mut made.transcript.messages),
            None => lose("message of an unknown role"),
        }),
    });
    made
}

fn list(message: Message, messages: &mut Messages) {
    match messages.last_mut() {
        Some(last) if message.role == Role::Assistant && last.role == Role::Assistant => last.parts.extend(message.parts),
        _ => {
            let call = (message.role == Role::Assistant).then(Call::default);
            messages.push(Message { call: call.map(Box::new), ..message });
        }
    }
}
