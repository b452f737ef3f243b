//! What tells that a part was sent before, wherever it is sent again.

use crate::transcript::{Message, Part, Role};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use xxhash_rust::xxh3::Xxh3;

/// What identifies a part of a message.
pub struct Print {
    /// Whose message the part stands in.
    pub role: Role,
    /// The id of the call that it is, where it has one.
    id: Option<u64>,
    /// Hash of what the part says.
    pub words: u64,
    /// Is the id, or the text of a part without one, so long that no other message has it by chance?
    rare: bool,
}

/// Bytes of an id that is drawn and not counted: clients of many providers number their calls.
const RARE_ID: usize = 16;

/// Bytes of a text that no two replies say by chance.
const RARE_TEXT: usize = 100;

impl Print {
    /// Is it the same part? Some providers give no ids to calls of tools and their clients do; other clients write new ones.
    pub fn is(&self, other: &Print) -> bool {
        self.role == other.role && (self.words == other.words || self.id.is_some() && self.id == other.id)
    }
}

/// The replies that a log holds with the calls that made them.
#[derive(Default)]
pub struct Replies(HashSet<u64>);

impl Replies {
    /// Notes the reply of a call; `before` is what identifies the message before it.
    pub fn note(&mut self, reply: &Message, before: u64) {
        let known =
            |print: &Print| [print.id, Some(print.words), print.id.map(|id| joined(id, print.words)), Some(joined(print.words, before))];
        self.0.extend(prints(reply).iter().flat_map(known).flatten());
    }

    /// Is a message of these parts, behind that one, one of them? An id of a call tells, with what the call says where the id may be counted; else all
    /// that the message says does, with the message before it where that may be said twice.
    pub fn hold(&self, message: &[Print], before: u64) -> bool {
        let by_id = |print: &Print| print.id.map(|id| if print.rare { id } else { joined(id, print.words) });
        let by_words = |print: &Print| if print.rare && print.id.is_none() { print.words } else { joined(print.words, before) };
        message.iter().filter_map(by_id).any(|id| self.0.contains(&id))
            || !message.is_empty() && message.iter().all(|print| self.0.contains(&by_words(print)))
    }
}

/// Do the parts begin with these?
pub fn begins(parts: &[Print], with: &[Print]) -> bool {
    parts.len() >= with.len() && parts.iter().zip(with).all(|(one, other)| one.is(other))
}

/// What identifies the parts of a message.
pub fn prints(message: &Message) -> Vec<Print> {
    message.parts.iter().filter_map(|part| print(message.role, part)).collect()
}

/// One number for what stands before a conversation.
pub fn digest(setting: &[Part]) -> u64 {
    let mut hash = Xxh3::new();
    setting.iter().filter_map(|part| print(Role::System, part)).for_each(|print| hash.update(&print.words.to_le_bytes()));
    hash.digest()
}

/// What identifies a part. Reasoning may be left out when a reply is sent again, so it has none; nor has what is empty.
pub fn print(role: Role, part: &Part) -> Option<Print> {
    let rare = match part {
        Part::Text(text) | Part::Other(text) => text.as_str().len() >= RARE_TEXT,
        Part::ToolCall { id, .. } => id.len() >= RARE_ID,
        _ => false,
    };
    let (id, words) = match part {
        Part::Thinking { .. } => return None,
        Part::Text(text) | Part::Other(text) | Part::Tools(text) => {
            (None, hash(["text", Some(text.as_str().trim()).filter(|words| !words.is_empty())?]))
        }
        Part::ToolCall { id, name, arguments } => {
            (Some(id).filter(|id| !id.is_empty()).map(|id| hash(["id", id])), hash([name, &sorted(arguments.as_str())]))
        }
        Part::ToolResult { text, .. } => (None, hash(["result", text.as_str().trim()])),
        Part::Image(image) => (None, hash(["image", &format!("{}x{} {}", image.width, image.height, image.bytes)])),
    };
    Some(Print { role, id, words, rare })
}

/// Arguments with their names in order: clients write them anew.
fn sorted(arguments: &str) -> Cow<'_, str> {
    serde_json::from_str::<Value>(arguments).map_or(Cow::Borrowed(arguments), |arguments| Cow::Owned(arguments.to_string()))
}

fn joined(one: u64, other: u64) -> u64 {
    let mut hash = Xxh3::new();
    [one, other].iter().for_each(|part| hash.update(&part.to_le_bytes()));
    hash.digest()
}

fn hash(fields: [&str; 2]) -> u64 {
    let mut hash = Xxh3::new();
    for field in fields {
        hash.update(field.as_bytes());
        hash.update(&[0]);
    }
    hash.digest()
}
