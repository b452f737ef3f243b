//! What kinds of items and messages there are in a context.

use super::selector::Kind;
use crate::context::{Calling, Region, Seen, SeenItem, View};
use crate::transcript::Role;

impl Kind {
    /// Is an item of this kind?
    pub(super) fn matches_item(self, item: &SeenItem, message: &Seen) -> bool {
        match self {
            Kind::System => item.region == Region::System,
            Kind::Tools => item.region == Region::Tools,
            Kind::User => item.region == Region::User,
            Kind::Prompt => item.region == Region::User && message.opens_turn,
            Kind::Assistant => item.region == Region::Assistant,
            Kind::Thinking => item.region == Region::Thinking,
            Kind::ToolCall => item.region == Region::ToolCall,
            Kind::ToolResult => item.region == Region::ToolResult,
            Kind::Image => item.region == Region::Image,
            Kind::Summary => message.is_summary,
        }
    }

    /// Is a message of this kind?
    pub(super) fn matches_message(self, message: &Seen) -> bool {
        match self {
            Kind::Summary => message.is_summary,
            Kind::User => message.role == Role::User && !message.is_summary,
            Kind::Prompt => message.opens_turn && !message.is_summary,
            Kind::Assistant | Kind::Thinking => message.role == Role::Assistant && !message.is_summary,
            Kind::ToolCall => message.role == Role::Assistant && !message.is_summary && message.calling != Calling::Nothing,
            Kind::ToolResult | Kind::Image => message.role == Role::Tool,
            Kind::System | Kind::Tools => message.role == Role::System && !message.is_summary,
        }
    }

    /// Are messages of this kind neither replies nor results?
    pub(super) fn is_of_marks(self) -> bool {
        matches!(self, Kind::Summary | Kind::User | Kind::Prompt | Kind::System | Kind::Tools)
    }

    /// Is it one that a selection of messages asks for? A call is a message that calls a tool, and thinking one that reasons, not
    /// any of the model's.
    pub(super) fn takes_message(self, message: &Seen, view: View<'_>) -> bool {
        let holds = |region| view.items(*message).any(|item| item.region == region);
        let part = match self {
            Kind::ToolCall => holds(Region::ToolCall),
            Kind::Thinking => holds(Region::Thinking),
            _ => true,
        };
        self.matches_message(message) && part
    }
}
