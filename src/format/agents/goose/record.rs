//! What a session's head, its messages and their contents hold, as far as it is read.

use crate::format::ground::{Count, Words, wire};
use crate::format::wire::blocks::Blocks;
use crate::format::wire::held;
use serde::Deserialize;
use serde_json::value::RawValue;

wire! {
    /// A line of an older session: its head, or a message. An export is a head with all messages in it.
    pub struct Line<'a> {
        pub id: Words<'a>,
        // A head.
        pub working_dir: Words<'a>,
        pub input_tokens: Count,
        pub output_tokens: Count,
        pub accumulated_input_tokens: Count,
        pub accumulated_output_tokens: Count,
        pub model_config: Option<ModelConfig<'a>>,
        pub conversation: Option<Vec<&'a RawValue>>,
        // A message.
        pub role: Words<'a>,
        pub created: Option<i64>,
        pub content: Blocks<'a, Piece<'a>>,
        pub metadata: Option<Visibility>,
    }

    pub struct ModelConfig<'a> { pub model_name: Words<'a>, pub context_limit: Count }
}

impl Line<'_> {
    /// What a head says of usage.
    pub fn totals(&self) -> Totals {
        [self.input_tokens, self.output_tokens, self.accumulated_input_tokens, self.accumulated_output_tokens]
    }
}

/// Input and output of the last call, and their sums over all.
pub type Totals = [Count; 4];

/// Who sees a message. What was compacted is there for the person alone, and the summary for the model alone.
#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
pub struct Visibility {
    pub user_visible: bool,
    pub agent_visible: bool,
}

impl Default for Visibility {
    fn default() -> Visibility {
        Visibility { user_visible: true, agent_visible: true }
    }
}

wire! {
    pub struct Piece<'a> {
        pub kind: Words<'a> = "type",
        pub text: Words<'a>,
        pub data: Words<'a>,
        pub thinking: Words<'a>,
        pub signature: Words<'a>,
        pub id: Words<'a>,
        pub tool_call: Option<Outcome<'a>> = "toolCall",
        pub tool_result: Option<Outcome<'a>> = "toolResult",
    }

    /// A value that was reached, or the error instead of it.
    pub struct Outcome<'a> { pub value: Option<&'a RawValue>, pub error: Words<'a> }

    /// What a tool answered: older versions wrote the list of contents alone.
    pub struct Answer<'a> { pub content: Blocks<'a, AnswerPiece<'a>>, pub is_error: Option<bool> = "isError" }

    pub struct AnswerPiece<'a> {
        pub kind: Words<'a> = "type",
        pub text: Words<'a>,
        pub data: Words<'a>,
        pub resource: Option<held::Said<'a>>,
        pub annotations: Option<Annotations<'a>>,
    }

    /// Whom a content is meant for; an empty list means all.
    pub struct Annotations<'a> { pub audience: Option<Vec<Words<'a>>> }
}
