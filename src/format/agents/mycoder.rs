//! MyCoder's list of messages, as a JSON list, under `messages`, or a message a line: calls of tools and their results are entries of
//! their own, of the roles `tool_use` and `tool_result`. There is no usage per call.

use crate::format::ground::{Lose, ReadError, Source, Words, text_or_json, wire};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::Recorder;
use crate::transcript::{Message, Part, Role, Scale, Transcript};
use serde_json::value::RawValue;

/// Message lists of MyCoder.
pub const READER: Reader = Reader { name: "mycoder", about: "MyCoder message lists (roles tool_use, tool_result)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let message = outline.shows("role|[].role|messages[].role");
    let own = ["\"role\":\"tool_use\"", "\"role\": \"tool_use\""];
    let own = own.iter().any(|mark| memchr::memmem::find(source.head(), mark.as_bytes()).is_some());
    Claim::when(message && own)
}

wire! {
    struct Entry<'a> {
        role: Words<'a>,
        content: Option<&'a RawValue>,
        name: Words<'a>,
        id: Words<'a>,
        tool_use_id: Words<'a>,
        is_error: Option<bool>,
    }
}

const MARKS: &[Mark] = &[Mark::Inside("<response clipped>"), Mark::End("...(truncated)")];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let mut session = Session(Recorder::new(READER.name, source.name(), scale));
    let lists: &[&str] = if source.outline().has("role") { &[] } else { &["messages"] };
    source.each_text(lists, |source, text, number, at_end| {
        source.values_of(text, number, at_end, |entry: Entry, lose| session.entry(&entry, lose));
    })?;
    session.0.end(source, hand_over);
    Ok(())
}

struct Session<'s>(Recorder<'s>);

impl Session<'_> {
    fn entry(&mut self, entry: &Entry<'_>, lose: Lose<'_>) {
        let text = text_or_json(entry.content);
        match &*entry.role {
            "system" => self.0.list(Role::System, vec![self.0.text(&text)]),
            "user" => {
                let message = Message::new(Role::User, vec![self.0.text(&text)]);
                // The program tells the model how much it has used, in the person's name.
                self.0.push(Message { synthetic: text.starts_with("--- STATUS UPDATE ---"), ..message });
            }
            "assistant" => self.reply(self.0.text(&text)),
            "tool_use" => {
                let call = self.0.tools.call(&entry.id, &entry.name, self.0.scale.weigh(&text));
                self.reply(call);
            }
            "tool_result" => {
                let result = self.0.result(&entry.tool_use_id, &text, entry.is_error.unwrap_or_default());
                self.0.list(Role::Tool, vec![result]);
            }
            _ => lose("message of an unknown role"),
        }
    }

    /// Words and calls that follow each other are one reply.
    fn reply(&mut self, part: Part) {
        match self.0.transcript.messages.last_mut() {
            Some(last) if last.role == Role::Assistant => last.parts.push(part),
            _ => self.0.reply(vec![part]),
        }
    }
}
