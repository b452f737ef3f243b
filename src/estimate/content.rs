//! Kinds of content: what a tokenizer treats differently, and what a reader can tell apart.

use crate::trace::{PartKind, PartRow};
use crate::transcript::TextKind;
use serde::{Deserialize, Serialize};

/// A kind of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// Words of people and models.
    Prose,
    /// Source code, wherever it stands.
    Code,
    /// JSON wherever it stands; arguments of tool calls, definitions of tools.
    Json,
    /// What tools returned, unless it is code, JSON or CJK.
    ToolOutput,
    /// Chinese, Japanese, Korean, wherever it stands.
    Cjk,
    /// Visible reasoning.
    Thinking,
    /// Pictures.
    Image,
}

impl ContentKind {
    /// All of them.
    pub const ALL: [ContentKind; 7] = [
        ContentKind::Prose,
        ContentKind::Code,
        ContentKind::Json,
        ContentKind::ToolOutput,
        ContentKind::Cjk,
        ContentKind::Thinking,
        ContentKind::Image,
    ];

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

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ContentKind::Prose => "prose",
            ContentKind::Code => "code",
            ContentKind::Json => "JSON, arguments",
            ContentKind::ToolOutput => "tool output",
            ContentKind::Cjk => "CJK",
            ContentKind::Thinking => "thinking",
            ContentKind::Image => "images",
        }
    }

    /// Its place in [`ContentKind::ALL`].
    pub fn place(self) -> usize {
        self as usize
    }
}
