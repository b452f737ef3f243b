//! The records of OpenCode: session, message, part. All forms of storage hold the same objects.

use crate::format::ground::{Count, Dollars, Words, at, wire};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

wire! {
    /// What is known of a session.
    pub struct SessionInfo<'a> {
        pub id: Words<'a>,
        pub parent: Words<'a> = "parentID",
        pub version: Words<'a>,
        pub directory: Words<'a>,
        pub location: Location<'a>,
    }

    /// Where a session of OpenCode 2 took place.
    pub struct Location<'a> { pub directory: Words<'a> }

    /// What is known of a message. The whole files in a user message's `summary.diffs` are passed over unread: they are no context.
    pub struct MessageInfo<'a> {
        pub id: Words<'a>,
        pub role: Words<'a>,
        pub time: Times,
        pub model: Words<'a> = "modelID",
        pub provider: Words<'a> = "providerID",
        pub agent: Words<'a>,
        /// What the agent was called before it was called `agent`.
        pub mode: Words<'a>,
        /// True on the message that a summariser wrote. User messages have an object here, which says something else.
        pub summary: bool as TrueAlone,
        /// The user message that an assistant message answers.
        pub parent: Words<'a> = "parentID",
        /// Why the reply ended, where it did and the version says so.
        pub finish: Words<'a>,
        pub tokens: Option<Tokens>,
        pub cost: Dollars,
        pub error: Option<Failure<'a>>,
        /// Instructions that came with a user message.
        pub system: Words<'a>,
    }

    /// Why a message is not whole.
    pub struct Failure<'a> { pub name: Words<'a> }

    /// Times in milliseconds since 1970.
    #[derive(Clone, Copy)]
    pub struct Times {
        pub created: Option<f64>,
        pub completed: Option<f64>,
        pub end: Option<f64>,
        /// When a tool's output was replaced by a placeholder.
        pub compacted: Option<f64>,
    }
}

/// A time as a whole number; `None` where it is none.
pub fn millis(time: Option<f64>) -> Option<i64> {
    time.filter(|time| time.is_finite()).map(|time| time as i64)
}

wire! {
    /// What the provider reported; `input` leaves out what went through the cache.
    #[derive(Clone, Copy)]
    pub struct Tokens {
        pub total: Count,
        pub input: Count,
        pub output: Count,
        pub reasoning: Count,
        pub cache: Cache,
    }

    /// Tokens that went through the provider's cache.
    #[derive(Clone, Copy)]
    pub struct Cache { pub read: Count, pub write: Count }

    /// One part of a message.
    pub struct PartRecord<'a> {
        pub id: Words<'a>,
        pub kind: Words<'a> = "type",
        pub text: Words<'a>,
        pub synthetic: bool as TrueAlone,
        pub ignored: bool as TrueAlone,
        pub metadata: Option<&'a RawValue>,
        pub call: Words<'a> = "callID",
        pub tool: Words<'a>,
        pub state: Option<ToolState<'a>>,
        pub mime: Words<'a>,
        pub url: Words<'a>,
        pub filename: Words<'a>,
        pub tokens: Option<Tokens>,
        pub cost: Dollars,
        pub auto: Option<bool>,
        /// The first message that a compaction keeps.
        pub kept_from: Words<'a> = "tail_start_id",
    }

    /// How far a tool call has come, and what it returned.
    pub struct ToolState<'a> {
        pub status: Words<'a>,
        pub input: Option<&'a RawValue>,
        pub output: Words<'a>,
        pub error: Words<'a>,
        pub metadata: Option<&'a RawValue>,
        pub attachments: Option<Vec<Attachment<'a>>>,
        pub time: Times,
    }

    /// A file that a tool returned.
    pub struct Attachment<'a> { pub mime: Words<'a>, pub url: Words<'a>, pub filename: Words<'a> }

    /// Has OpenCode cut the output?
    struct Cut { truncated: bool as TrueAlone }

    /// What a tool had printed when it was interrupted.
    pub struct Interrupted<'a> { interrupted: bool, output: Words<'a> }
}

impl ToolState<'_> {
    /// Does the metadata say that OpenCode has cut the output?
    pub fn truncated(&self) -> bool {
        let cut = self.metadata.and_then(|json| serde_json::from_str::<Cut>(json.get()).ok());
        cut.is_some_and(|cut| cut.truncated)
    }

    /// The result as the model reads it, and whether it is a failure. `None` while the tool has not ended.
    pub fn result(&self) -> Option<(Cow<'_, str>, bool)> {
        match &*self.status {
            "completed" => Some((Cow::Borrowed(&self.output), false)),
            "error" => {
                let interrupted = self.metadata.and_then(|json| serde_json::from_str::<Interrupted<'_>>(json.get()).ok());
                match interrupted.filter(|state| state.interrupted) {
                    Some(state) => Some((state.output.0, false)),
                    None => Some((Cow::Borrowed(&self.error), true)),
                }
            }
            _ => None,
        }
    }
}

/// What each provider calls reasoning that it alone can read, in a part's metadata.
const SEALED: [&str; 5] = ["/signature", "/redactedData", "/reasoningEncryptedContent", "/reasoningOpaque", "/thoughtSignature"];

/// Bytes of the sealed reasoning in a part's metadata, by host or of one host.
pub fn sealed_bytes(metadata: Option<&RawValue>) -> u32 {
    let whole = metadata.and_then(|json| serde_json::from_str::<Value>(json.get()).ok()).unwrap_or_default();
    let providers = whole.as_object().into_iter().flat_map(|providers| providers.values());
    let bytes: usize = providers.chain([&whole]).flat_map(|provider| SEALED.map(|name| at(provider, name).len())).sum();
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

/// True where the field is `true`. An object in its place is passed over without being built: it may be the larger part of a file.
struct TrueAlone;

impl<'de> DeserializeSeed<'de> for TrueAlone {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TrueAlone {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a flag or an object")
    }
    fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
        Ok(value)
    }
    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<bool, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(false)
    }
}
