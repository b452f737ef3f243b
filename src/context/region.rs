//! The parts of the window that reports tell apart.

use crate::names::named;
use crate::trace::PartKind;
use crate::transcript::Role;
use serde::{Deserialize, Serialize};

named! {
    /// What the window is filled with, for reports. The order is that of the regions in every report.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Region: name {
        /// Text of system messages.
        System = "system",
        /// Tool definitions that the log shows.
        Tools = "tools",
        /// Summaries and texts that the policy put in.
        Summary = "summary",
        /// Text of user messages.
        User = "user",
        /// Text that the model wrote.
        Assistant = "assistant",
        /// Reasoning of the model.
        Thinking = "thinking",
        /// Calls of tools, with their arguments.
        ToolCall = "tool_call",
        /// Tool results, placeholders included.
        ToolResult = "tool_result",
        /// Pictures of all messages.
        Image = "image",
    }
}

impl Region {
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
