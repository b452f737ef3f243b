//! Which form of OpenCode's sessions a file is, by the first keys of its JSON or the tables of its database.

use super::database;
use crate::format::Source;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// The forms.
pub enum Form {
    /// Not OpenCode's.
    Unknown,
    /// One file of `opencode export`.
    Export,
    /// The session file of a storage tree.
    Tree,
    /// A SQLite database.
    Database,
    /// A message, a part, a write-ahead log: read with its main file.
    Companion,
}

/// The form of this file.
pub fn form(source: &Source) -> Form {
    if database::has_magic(source.head()) {
        return if database::is_of_opencode(source) { Form::Database } else { Form::Unknown };
    }
    if database::is_side_file(&source.path) || is_side_record(&source.path) {
        return Form::Companion;
    }
    if source.head().trim_ascii_start().first() != Some(&b'{') {
        return Form::Unknown;
    }
    let mut keys = Keys::default();
    let head = String::from_utf8_lossy(source.head());
    // The head may end within the object: what was seen before the error is what counts.
    let _ = KeysSeed { keys: &mut keys, depth: 0 }.deserialize(&mut serde_json::Deserializer::from_str(&head));
    match (&keys, &keys.info) {
        (_, Some(info)) if info.is_session() => Form::Export,
        (Keys { message: true, .. }, _) if keys.id.starts_with("prt_") => Form::Companion,
        (Keys { role: true, .. }, _) if keys.id.starts_with("msg_") => Form::Companion,
        _ if keys.is_session() && keys.id.starts_with("ses_") => Form::Tree,
        _ => Form::Unknown,
    }
}

/// Records that a storage tree keeps beside the conversation: to-do lists, diffs, shares.
fn is_side_record(path: &Path) -> bool {
    let folders: Vec<Cow<'_, str>> = path.iter().rev().skip(1).take(2).map(|name| name.to_string_lossy()).collect();
    match folders.as_slice() {
        [kind, storage, ..] => {
            storage == "storage" && matches!(kind.as_ref(), "session_diff" | "session_share" | "todo" | "project" | "share" | "permission")
        }
        _ => false,
    }
}

/// The keys of an object that tell a session, a message and a part from each other.
#[derive(Default)]
struct Keys {
    id: String,
    message: bool,
    role: bool,
    place: bool,
    time: bool,
    info: Option<Box<Keys>>,
}

impl Keys {
    /// Ids may be redacted, so a session is known by where it took place.
    fn is_session(&self) -> bool {
        let known_id = self.id.starts_with("ses_") || self.id == "REDACTED";
        known_id && self.place && !self.role && !self.message
    }
}

struct KeysSeed<'k> {
    keys: &'k mut Keys,
    depth: u8,
}

impl<'de> DeserializeSeed<'de> for KeysSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for KeysSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
            match key.as_ref() {
                "id" => self.keys.id = entries.next_value()?,
                "info" if self.depth == 0 => {
                    let info = self.keys.info.insert(Box::default());
                    entries.next_value_seed(KeysSeed { keys: info, depth: 1 })?;
                }
                // The rest of an export is long, and everything is known.
                "messages" => return Err(A::Error::custom("enough")),
                other => {
                    match other {
                        "messageID" => self.keys.message = true,
                        "role" => self.keys.role = true,
                        "projectID" | "directory" => self.keys.place = true,
                        "time" => self.keys.time = true,
                        _ => {}
                    }
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        }
        // Sessions of versions before 0.6 lay in a folder of their project and did not name it.
        self.keys.place |= self.keys.time;
        Ok(())
    }
}
