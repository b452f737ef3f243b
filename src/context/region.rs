//! The parts of the window that reports tell apart.

use crate::trace::PartKind;
use crate::transcript::Role;
use serde::{Deserialize, Serialize};

/// What the window is filled with, for reports. The order is that of the regions in every report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Region {
    /// System messages.
    System,
    /// Tool definitions that the log shows.
    Tools,
    /// Summaries and texts that the policy put in.
    Summary,
    /// User text.
    User,
    /// The model's text.
    Assistant,
    /// Reasoning.
    Thinking,
    /// Tool calls.
    ToolCall,
    /// Tool results, placeholders included.
    ToolResult,
    /// Pictures.
    Image,
}

impl Region {
    /// All regions, in order.
    pub const ALL: [Region; 9] = [
        Region::System,
        Region::Tools,
        Region::Summary,
        Region::User,
        Region::Assistant,
        Region::Thinking,
        Region::ToolCall,
        Region::ToolResult,
        Region::Image,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Region::System => "system",
            Region::Tools => "tools",
            Region::Summary => "summary",
            Region::User => "user",
            Region::Assistant => "assistant",
            Region::Thinking => "thinking",
            Region::ToolCall => "tool_call",
            Region::ToolResult => "tool_result",
            Region::Image => "image",
        }
    }

    /// The region of a part.
    pub fn of(role: Role, kind: PartKind) -> Region {
        match (kind, role) {
            (PartKind::Tools, _) => Region::Tools,
            (PartKind::Thinking, _) => Region::Thinking,
            (PartKind::ToolCall, _) => Region::ToolCall,
            (PartKind::ToolResult, _) => Region::ToolResult,
            (PartKind::Image, _) => Region::Image,
            (_, Role::System) => Region::System,
            (_, Role::User) => Region::User,
            (_, Role::Assistant) => Region::Assistant,
            (_, Role::Tool) => Region::ToolResult,
        }
    }
}
