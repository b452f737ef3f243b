//! MyCoder's list of messages, as a JSON list, under `messages`, or a message a line: calls of tools and their results are entries of
//! their own, of the roles `tool_use` and `tool_result`. There is no usage per call.

use crate::format::ground::json::{fault, text_or_json, values};
use crate::format::ground::pieces::{Take, each_piece};
use crate::format::ground::source::{ReadError, Source};
use crate::format::ground::words::Words;
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Message lists of MyCoder.
pub const READER: Reader = Reader { name: "mycoder", about: "MyCoder message lists (roles tool_use, tool_result)", claims, read };

fn claims(source: &Source) -> Claim {
    let outline = source.outline();
    let message = ["role", "[].role", "messages[].role"].iter().any(|key| outline.has(key));
    let own = ["\"role\":\"tool_use\"", "\"role\": \"tool_use\""];
    let own = own.iter().any(|mark| memchr::memmem::find(source.head(), mark.as_bytes()).is_some());
    if message && own { Claim::Yes } else { Claim::No }
}

#[derive(Deserialize, Default)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct Entry<'a> {
    role: Words<'a>,
    content: Option<&'a RawValue>,
    name: Words<'a>,
    id: Words<'a>,
    tool_use_id: Words<'a>,
    is_error: Option<bool>,
}

const MARKS: &[Mark] = &[Mark::Inside("<response clipped>"), Mark::End("...(truncated)")];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let transcript = Transcript { id: source.name(), agent: READER.name.to_owned(), ..Transcript::default() };
    let mut session = Session { scale, transcript, tools: HashMap::new() };
    if source.outline().has("role") {
        source.each_line(|source, line| {
            for value in values::<Entry>(&line.text) {
                session.entry(value, line.number, line.last_unterminated, source);
            }
        })?;
    } else {
        each_piece(source, &[("messages", Take::Elements)], |source, piece| {
            session.entry(serde_json::from_str::<Entry>(piece.text), piece.number, false, source);
            Ok(())
        })?;
    }
    if session.transcript.messages.is_empty() {
        source.lose(0, "session without messages");
    } else {
        hand_over(session.transcript);
    }
    Ok(())
}

struct Session<'s> {
    scale: &'s dyn Scale,
    transcript: Transcript,
    tools: HashMap<String, String>,
}

impl Session<'_> {
    fn entry(&mut self, entry: Result<Entry<'_>, serde_json::Error>, number: u64, at_end: bool, source: &mut Source) {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return source.lose(number, fault(&error, at_end)),
        };
        let text = text_or_json(entry.content);
        match &*entry.role {
            "system" => self.list(Role::System, Part::Text(self.scale.weigh(&text))),
            "user" => {
                let message = Message::new(Role::User, vec![Part::Text(self.scale.weigh(&text))]);
                // The program tells the model how much it has used, in the person's name.
                self.transcript.messages.push(Message { synthetic: text.starts_with("--- STATUS UPDATE ---"), ..message });
            }
            "assistant" => self.reply(Part::Text(self.scale.weigh(&text))),
            "tool_use" => {
                self.tools.insert(entry.id.to_string(), entry.name.to_string());
                let arguments = self.scale.weigh(&text);
                self.reply(Part::ToolCall { id: entry.id.to_string(), name: entry.name.to_string(), arguments });
            }
            "tool_result" => {
                let name = self.tools.get(&*entry.tool_use_id).cloned().unwrap_or_default();
                let text = self.scale.weigh_result(&text);
                let error = entry.is_error.unwrap_or_default();
                self.list(Role::Tool, Part::ToolResult { call_id: entry.tool_use_id.to_string(), name, text, error });
            }
            _ => source.lose(number, "unknown message role"),
        }
    }

    fn list(&mut self, role: Role, part: Part) {
        self.transcript.messages.push(Message::new(role, vec![part]));
    }

    /// Words and calls that follow each other are one reply.
    fn reply(&mut self, part: Part) {
        match self.transcript.messages.last_mut() {
            Some(last) if last.role == Role::Assistant => last.parts.push(part),
            _ => {
                let message = Message::new(Role::Assistant, vec![part]);
                self.transcript.messages.push(Message { call: Some(Call::default()), ..message });
            }
        }
    }
}
