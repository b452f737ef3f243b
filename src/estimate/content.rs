//! Kinds of content: what a tokenizer treats differently, and what a reader can tell apart.

use crate::names::named;
use crate::trace::{PartKind, PartRow};
use crate::transcript::TextKind;
use serde::{Deserialize, Serialize};

named! {
    /// A kind of content.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ContentKind: name {
        /// Words of people and models.
        Prose = "prose",
        /// Source code, wherever it stands.
        Code = "code",
        /// JSON wherever it stands; arguments of tool calls, definitions of tools.
        Json = "JSON, arguments",
        /// What tools returned, unless it is code, JSON or CJK.
        ToolOutput = "tool output",
        /// Chinese, Japanese, Korean, wherever it stands.
        Cjk = "CJK",
        /// Reasoning that the log shows in words.
        Thinking = "thinking",
        /// Pictures, whoever sent them.
        Image = "images",
    }
}

impl ContentKind {
    /// The kind of a part whose text is of this kind.
    pub fn of(part: &PartRow, text: TextKind) -> ContentKind {
        match (part.kind, text) {
            (PartKind::Image, _) => ContentKind::Image,
            (PartKind::Thinking, _) => ContentKind::Thinking,
            (_, TextKind::Cjk) => ContentKind::Cjk,
            (PartKind::ToolCall | PartKind::Tools, _) | (_, TextKind::Json) => ContentKind::Json,
            (_, TextKind::Code) => ContentKind::Code,
            (PartKind::ToolResult, TextKind::Prose) => ContentKind::ToolOutput,
            (PartKind::Text | PartKind::Other, TextKind::Prose) => ContentKind::Prose,
        }
    }

    /// Index in [`ContentKind::ALL`].
    pub fn place(self) -> usize {
        self as usize
    }
}
