//! The records of a pi session file, as far as they are of use.

use crate::format::field::{Count, Words};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The first line, for telling the format.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Words<'a>>,
    #[serde(borrow)]
    id: Option<Words<'a>>,
    #[serde(borrow)]
    cwd: Option<Words<'a>>,
    #[serde(borrow)]
    timestamp: Option<Words<'a>>,
    delegation_depth: Option<IgnoredAny>,
}

impl Header<'_> {
    /// Another agent's header looks the same but for its `delegationDepth`.
    pub fn is_of_pi(&self) -> bool {
        let session = self.kind.as_deref() == Some("session");
        session && self.id.is_some() && self.cwd.is_some() && self.timestamp.is_some() && self.delegation_depth.is_none()
    }
}

/// One line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(borrow)]
    pub id: Option<Words<'a>>,
    /// Absent in version 1; null at a root.
    #[serde(borrow, default, deserialize_with = "parent")]
    pub parent_id: Option<Option<Cow<'a, str>>>,
    #[serde(borrow)]
    pub timestamp: Option<Words<'a>>,
    #[serde(borrow)]
    pub message: Option<Payload<'a>>,
    #[serde(borrow, default)]
    pub content: Content<'a>,
    #[serde(borrow)]
    pub summary: Option<Words<'a>>,
    #[serde(borrow)]
    pub first_kept_entry_id: Option<Words<'a>>,
    #[serde(default)]
    pub first_kept_entry_index: Count,
    #[serde(default)]
    pub tokens_before: Count,
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub parent_session: Option<Words<'a>>,
    #[serde(borrow)]
    pub branched_from: Option<Words<'a>>,
}

fn parent<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<Cow<'de, str>>>, D::Error> {
    let parent = Option::<Words<'de>>::deserialize(deserializer)?;
    Ok(Some(parent.map(|words| words.0)))
}

/// What a message entry holds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payload<'a> {
    #[serde(borrow)]
    pub role: Cow<'a, str>,
    #[serde(borrow, default)]
    pub content: Content<'a>,
    #[serde(borrow)]
    pub provider: Option<Words<'a>>,
    #[serde(borrow)]
    pub model: Option<Words<'a>>,
    pub usage: Option<Usage>,
    #[serde(borrow)]
    pub stop_reason: Option<Words<'a>>,
    #[serde(borrow)]
    pub response_id: Option<Words<'a>>,
    pub timestamp: Option<f64>,
    #[serde(borrow)]
    pub tool_call_id: Option<Words<'a>>,
    #[serde(borrow)]
    pub tool_name: Option<Words<'a>>,
    pub is_error: Option<bool>,
    #[serde(borrow)]
    pub summary: Option<Words<'a>>,
    #[serde(borrow)]
    command: Option<Words<'a>>,
    #[serde(borrow)]
    output: Option<Words<'a>>,
    exit_code: Option<i64>,
    cancelled: Option<bool>,
    pub exclude_from_context: Option<bool>,
}

impl Payload<'_> {
    /// A command that the person ran, as the model is told of it.
    pub fn command_as_text(&self) -> String {
        let command = self.command.as_deref().unwrap_or_default();
        let output = match self.output.as_deref() {
            None | Some("") => "(no output)".to_owned(),
            Some(output) => format!("```\n{output}\n```"),
        };
        let end = match self.exit_code {
            _ if self.cancelled == Some(true) => "\n\n(command cancelled)".to_owned(),
            Some(code) if code != 0 => format!("\n\nCommand exited with code {code}"),
            _ => String::new(),
        };
        format!("Ran `{command}`\n{output}{end}")
    }
}

/// A message's content: a string or blocks.
#[derive(Default)]
pub enum Content<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
    /// Neither of both.
    Unknown,
}

impl Content<'_> {
    /// All text blocks as one text, a newline between two of them.
    pub fn joined_text(&self) -> Cow<'_, str> {
        match self {
            Content::Nothing | Content::Unknown => Cow::Borrowed(""),
            Content::Text(text) => Cow::Borrowed(text),
            Content::Blocks(blocks) => {
                let mut texts = blocks.iter().filter(|block| block.kind == "text").map(|block| block.text.as_deref().unwrap_or_default());
                match (texts.next(), texts.next()) {
                    (None, _) => Cow::Borrowed(""),
                    (Some(only), None) => Cow::Borrowed(only),
                    (Some(first), Some(second)) => {
                        let all: Vec<&str> = [first, second].into_iter().chain(texts).collect();
                        Cow::Owned(all.join("\n"))
                    }
                }
            }
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content<'a>, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or content blocks")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Content<'de>, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Content<'de>, E> {
        Ok(Content::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Content<'de>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = items.next_element()? {
            blocks.push(block);
        }
        Ok(Content::Blocks(blocks))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Content<'de>, A::Error> {
        while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::Unknown)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Content<'de>, E> {
        Ok(Content::Unknown)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Content<'de>, E> {
        Ok(Content::Unknown)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Content<'de>, E> {
        Ok(Content::Unknown)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Content<'de>, E> {
        Ok(Content::Unknown)
    }
}

/// One block of content.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(borrow)]
    pub text: Option<Words<'a>>,
    #[serde(borrow)]
    pub thinking: Option<Words<'a>>,
    #[serde(borrow)]
    pub thinking_signature: Option<Words<'a>>,
    #[serde(borrow)]
    pub data: Option<Words<'a>>,
    #[serde(borrow)]
    pub id: Option<Words<'a>>,
    #[serde(borrow)]
    pub name: Option<Words<'a>>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
}

/// What the provider reported. `input` leaves out what went through the cache; `reasoning` is part of `output`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct Usage {
    pub input: Count,
    pub output: Count,
    pub cache_read: Count,
    pub cache_write: Count,
    pub reasoning: Count,
    pub cost: Option<Cost>,
}

/// What the agent reckoned that the call cost, in dollars.
#[derive(Deserialize)]
pub struct Cost {
    pub total: Option<f64>,
}
