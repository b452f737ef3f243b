//! What a program is told: the view that every policy has, as what has changed since it was asked last. No actual size is in it.

use serde::Serialize;
use std::collections::BTreeMap;

/// How a session begins.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Opening<'a> {
    /// The model's total window.
    pub window: u64,
    /// The largest prompt that the provider accepts.
    pub prompt_limit: u64,
    /// What the policy keeps free for the reply.
    pub reserve: u64,
    /// Name of the model; `None` where the log names none.
    pub model: Option<&'a str>,
    /// The policy's parameters and the facts of the model, worked out.
    pub params: &'a BTreeMap<String, f64>,
}

/// What a program is asked at a check point.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Question {
    /// The rule that asks.
    pub rule: String,
    /// Where in the loop: the name of a hook.
    pub at: &'static str,
    /// The number of calls made before.
    pub call: u64,
    /// The turn, from 1; 0 before the first user message.
    pub turn: u32,
    /// After a refusal: which one it is of this call, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Messages that have left, by their ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<u32>,
    /// Messages that have come, in prompt order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub put: Vec<Put>,
    /// Messages that are not what they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
    /// As an item arrives: its message, with places for ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrives: Option<MessageSeen>,
    /// Sizes as the policy knows them; absent as an item arrives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<SizesSeen>,
}

/// A message that has come, and its place among all messages.
#[derive(Clone, Debug, Serialize)]
pub struct Put {
    /// The place, from 0, once those in front of it have come.
    pub place: usize,
    /// The message that has come.
    #[serde(flatten)]
    pub message: MessageSeen,
}

/// A message as a program sees it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MessageSeen {
    /// Id of the message, for edits.
    pub id: u32,
    /// `system`, `user`, `assistant` or `tool`.
    pub role: &'static str,
    /// Turn in which the message came.
    pub turn: u32,
    /// The number of calls made before it came.
    pub call: u32,
    /// Tokens by the policy's estimate.
    pub tokens: u64,
    /// For a reply: prompt and output together, as the provider reported them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<u64>,
    /// The message opens a turn.
    #[serde(skip_serializing_if = "is_false")]
    pub opens_turn: bool,
    /// The message is a summary.
    #[serde(skip_serializing_if = "is_false")]
    pub summary: bool,
    /// The message stands for conversation from before the log begins.
    #[serde(skip_serializing_if = "is_false")]
    pub unseen: bool,
    /// The policy has put it in.
    #[serde(skip_serializing_if = "is_false")]
    pub own: bool,
    /// Parts of the message, in their order.
    pub items: Vec<ItemSeen>,
}

/// A part of a message as a program sees it.
#[derive(Clone, Debug, Serialize)]
pub struct ItemSeen {
    /// Id of the part, for edits.
    pub id: u32,
    /// Kind of the part, in the words of a selection.
    pub kind: &'static str,
    /// The tool, of calls and results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What its text is estimated at by itself.
    pub tokens: u64,
    /// `whole`, `truncated` or `masked`.
    pub state: &'static str,
    /// A failed tool's result.
    #[serde(skip_serializing_if = "is_false")]
    pub error: bool,
    /// Something later shows the part again.
    #[serde(skip_serializing_if = "is_false")]
    pub superseded: bool,
    /// The recording agent has cut it.
    #[serde(skip_serializing_if = "is_false")]
    pub cut_by_agent: bool,
    /// How long its text is; absent where that is not known.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Lengths>,
    /// Text of the part, where texts are handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The part of the log that it is.
    #[serde(skip)]
    pub part: Option<u32>,
    /// Bytes of it that are left at its two ends, where it was cut.
    #[serde(skip)]
    pub ends: Option<(u32, u32)>,
}

/// Lengths of a text in four units.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Lengths {
    /// Bytes of the text in UTF-8.
    pub bytes: u32,
    /// Code units of the text in UTF-16.
    pub utf16: u32,
    /// Unicode code points of the text.
    pub chars: u32,
    /// Newlines in the text.
    pub newlines: u32,
}

/// What has changed in a message.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    /// Id of the message.
    pub id: u32,
    /// Tokens by the policy's estimate, after the change.
    pub tokens: u64,
    /// Prompt and output, as in [`MessageSeen::usage`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<u64>,
    /// Items of the message that are not what they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ItemSeen>,
    /// Ids of the message's items that have left.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<u32>,
}

/// What the provider reported for the last call.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UsageSeen {
    /// Prompt tokens, as the policy reads them.
    pub prompt: u64,
    /// Output tokens, as the policy reads them.
    pub output: u64,
}

/// Sizes that a policy can know, by the names that they have in its language.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SizesSeen {
    /// What the provider reported last; `None` where the policy knows of nothing.
    pub usage: Option<UsageSeen>,
    /// That, with estimates of what came since; where it is unknown, the estimate of the request.
    pub usage_plus_pending: u64,
    /// Estimate of the messages that came after the last reply.
    pub pending: u64,
    /// The estimate of the whole request.
    pub est_request: u64,
    /// The estimate of all messages but the system's.
    pub est_history: u64,
    /// The estimate of the system's messages alone.
    pub est_system: u64,
    /// What the policy took the last request for that was refused; 0 where none was.
    pub refused: u64,
    /// `usage_plus_pending` right after the rule last did something; 0 where it has not.
    pub left: u64,
    /// Seconds since the last reply; `None` where the log has no times.
    pub idle_seconds: Option<f64>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}
