//! What a summariser reads that reads the newest messages alone (LangChain: `trim_messages` of langchain-core 1.8.4 with the strategy `last`).

use super::selector::Kind;
use crate::context::Seen;
use crate::transcript::Role;
use serde::Deserialize;

/// The newest of the messages that go are all that the summariser reads.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Newest {
    /// Estimated tokens that they come to at most; 0: all that goes is read. Of a message on the line the last lines stay.
    pub tokens: u64,
    /// They begin with a message of one of these kinds: what stands in front of the first of them is left out. Empty: of any.
    #[serde(default)]
    pub from: Vec<Kind>,
    /// The estimate counts as much as the reported usage of the oldest reply among them shows, and at most so many times.
    #[serde(default = "as_estimated")]
    pub most_scale: f64,
    /// The summary where nothing of it all is left: no model is asked.
    #[serde(default)]
    pub otherwise: String,
}

fn as_estimated() -> f64 {
    1.0
}

/// What is read of messages, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// The place of the first message that is read as a whole; their number where none is.
    pub from: usize,
    /// What is read of the message before it, in tokens.
    pub more: u64,
}

impl Newest {
    /// What is read of these messages. `end_of` says what the last lines of a message come to that fit into so many estimated tokens; 0 where none does.
    pub fn of(&self, messages: &[Seen], end_of: impl FnOnce(&Seen, u64) -> u64) -> Reads {
        let begins = |message: &Seen| self.from.is_empty() || self.from.iter().any(|kind| kind.matches_message(message));
        let (mut from, mut used, mut sum) = (messages.len(), 0, 0);
        let mut reported = None;
        let mut on_line = None;
        for (place, message) in messages.iter().enumerate().rev() {
            sum += message.estimated;
            if let Some(usage) = message.usage.get().filter(|_| message.role == Role::Assistant) {
                reported = Some((usage, sum));
            }
            let counted = self.scaled(sum, reported.filter(|_| place + 1 < messages.len()));
            if counted > self.tokens {
                on_line = Some(message);
                break;
            }
            (from, used) = (place, counted);
        }
        // A part of what does not begin them goes again.
        let more = on_line.filter(|message| begins(message)).map_or(0, |message| end_of(message, self.tokens - used));
        if more > 0 {
            return Reads { from, more };
        }
        let first = messages.iter().enumerate().skip(from).find(|(_, message)| begins(message));
        Reads { from: first.map_or(messages.len(), |(place, _)| place), more: 0 }
    }

    /// What an estimate counts for, by a report and by the estimate of what that is of.
    fn scaled(&self, sum: u64, reported: Option<(u64, u64)>) -> u64 {
        let Some((usage, of)) = reported.filter(|(_, of)| *of > 0) else { return sum };
        (sum as f64 * (usage as f64 / of as f64).clamp(1.0, self.most_scale.max(1.0))).ceil() as u64
    }
}
