//! One part of a message.

use super::small::{NameLength, Rare};
use crate::transcript::{Image, Length, Text};
use crate::units::Index;
use serde::{Deserialize, Serialize};

/// What a part of a message is, without its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// What was said, by whoever speaks.
    Text,
    /// Reasoning of the model, shown or sealed.
    Thinking,
    /// A request to run a tool.
    ToolCall,
    /// What a tool returned.
    ToolResult,
    /// A picture, by its size.
    Image,
    /// Definitions of the tools, as JSON.
    Tools,
    /// Attachments and the like.
    Other,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartRow {
    /// What the part is.
    pub kind: PartKind,
    /// Index into [`Trace::tools`](super::Trace::tools) for calls and results; absent for other parts and unknown tools.
    pub tool: Index,
    /// Length of the tool's name (calls alone).
    pub name: NameLength,
    /// Bytes of the call's id (calls and results).
    pub id_bytes: u32,
    /// The text's sizes; tokens are those of a public vocabulary, not yet the truth.
    pub text: Text,
    /// The picture, for images.
    pub image: Rare<Image>,
    /// Did the tool fail?
    pub error: bool,
    /// Bytes of encrypted reasoning.
    pub sealed_bytes: u32,
    /// What it really costs in a prompt of this session.
    pub truth: u64,
    /// Is `truth` anchored on recorded usage? Otherwise it is a calibrated tokenizer count.
    pub anchored: bool,
    /// Reasoning that the provider drops at the next real user message.
    pub expires: bool,
    /// For a result: the part with the call that it answers, where the log tells.
    pub answers: Index,
}

impl PartRow {
    /// A part of which only the size is known, in tokens: as many characters as `chars/4` takes for so many tokens.
    pub fn stand_in(kind: PartKind, tokens: u64) -> PartRow {
        let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
        let chars = tokens.saturating_mul(4);
        let length = Length { bytes: chars, utf16: chars, chars, newlines: 0 };
        PartRow {
            kind,
            tool: Index::default(),
            name: NameLength::default(),
            id_bytes: 0,
            text: Text { length, tokens, json_bytes: chars, ..Text::default() },
            image: Rare::default(),
            error: false,
            sealed_bytes: 0,
            truth: u64::from(tokens),
            anchored: false,
            expires: false,
            answers: Index::default(),
        }
    }
}
