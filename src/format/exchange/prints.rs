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
    words: u64,
}

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
    /// Notes the reply of a call.
    pub fn note(&mut self, reply: &Message) {
        self.0.extend(prints(reply).iter().flat_map(|print| print.id.into_iter().chain([print.words])));
    }

    /// Is a message of these parts one of them? Its calls of tools tell, by their ids. Without any, all that it says does.
    pub fn hold(&self, message: &[Print]) -> bool {
        let mut ids = message.iter().filter_map(|print| print.id).peekable();
        if ids.peek().is_some() {
            return ids.any(|id| self.0.contains(&id));
        }
        !message.is_empty() && message.iter().all(|print| self.0.contains(&print.words))
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
    Some(Print { role, id, words })
}

/// Arguments with their names in order: clients write them anew.
fn sorted(arguments: &str) -> Cow<'_, str> {
    serde_json::from_str::<Value>(arguments).map_or(Cow::Borrowed(arguments), |arguments| Cow::Owned(arguments.to_string()))
}

fn hash(fields: [&str; 2]) -> u64 {
    let mut hash = Xxh3::new();
    for field in fields {
        hash.update(field.as_bytes());
        hash.update(&[0]);
    }
    hash.digest()
}
