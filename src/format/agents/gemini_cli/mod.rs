//! Gemini CLI: `tmp/<project>/chats/session-*.json`, since 2026 `.jsonl`.
//!
//! The newer files are a journal: records with the same id replace each other, `$rewindTo` takes messages back, and `$set.messages`
//! puts a new list in the place of the old one: after a compression or a masking of results, or to take an aborted turn back. Where the
//! agent sets its whole history, each turn of it is written again under a new id before that list.

mod journal;
mod list;
mod record;
mod turn;

use crate::format::ground::{ReadError, Source, Take, each_piece};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::format::wire::google::{Content, piece};
use crate::transcript::{Call, Message, Role, Scale, Transcript};
use journal::{AGENT, Depth, Session};
use record::Record;

/// Gemini CLI chat recordings.
pub const READER: Reader = Reader { name: AGENT, about: "Gemini CLI chats (~/.gemini/tmp/*/chats/session-*.json, .jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let head = outline.shows("sessionId projectHash|startTime !messages[].role|chatMessages|type");
    // A conversation that the user saved is the model's context and nothing else.
    let saved = ["[].", "history[]."].iter().any(|at| outline.shows_at(at, "parts role !parts[].type"));
    Claim::when(head || saved)
}

/// A conversation that `/chat save` wrote (`checkpoint-*.json`): it holds no usage, and no model is named.
fn saved(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) {
    let mut made = Recorder::new(AGENT, source.name(), scale);
    each_piece(source, &[("history", Take::Elements)], |source, taken| {
        taken.take(source, |content: Content, lose| {
            let role = match &*content.role {
                "user" | "function" => Role::User,
                "model" => Role::Assistant,
                _ => return lose("message of an unknown role"),
            };
            let (mut parts, mut results) = (Vec::new(), Vec::new());
            content.parts.0.iter().for_each(|block| piece(block, scale, &mut parts, &mut results, lose));
            results.into_iter().for_each(|result| made.list(Role::Tool, vec![result]));
            if !parts.is_empty() {
                let call = (role == Role::Assistant).then(Call::default);
                made.push(Message { call: call.map(Box::new), ..Message::new(role, parts) });
            }
        });
    });
    made.end(source, hand_over);
}

const MARKS: &[Mark] = &[
    Mark::Line("IMPORTANT: The file content has been truncated."),
    Mark::Start("Output too large. Showing "),
    Mark::Line("... [CONTENT TRUNCATED] ..."),
    Mark::Start("<tool_output_masked>"),
];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    if !source.outline().has("sessionId") && ["[].parts", "history[].parts"].iter().any(|key| source.outline().has(key)) {
        saved(source, scale, hand_over);
        return Ok(());
    }
    let mut session = Session::new(scale, source);
    // The old files are printed over lines.
    source.each_text(&[], |source, text, number, at_end| {
        source.values_of(text, number, at_end, |record: Record, lose| session.take(&record, Depth::Journal, lose));
    })?;
    // A file of which nothing could be read has no session, and neither has a chat in which nothing was said.
    session.finish().into_iter().for_each(hand_over);
    Ok(())
}
