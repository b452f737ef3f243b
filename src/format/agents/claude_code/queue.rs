//! What a person says while the agent works waits in a queue.
//!
//! A text that opens a turn of its own is dequeued, and a user record follows. A text that is removed during a turn goes to the model
//! with the next results of tools: newer versions then write an attachment, older ones nothing more. Notes on background tasks wait in
//! the same queue. Recorded prompts show that those which are removed without an attachment do not reach the model.

use std::collections::VecDeque;

/// The queue of one conversation.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<String>,
    /// What was removed since the last reply, and stands in no record so far.
    removed: Vec<String>,
}

impl Queue {
    /// Takes in a record of the queue. Many name no text: the one that waits longest is meant.
    pub fn operate(&mut self, operation: &str, text: String) {
        match operation {
            "enqueue" => self.waiting.push_back(text),
            "dequeue" => drop(self.take(&text)),
            "remove" => {
                let removed = self.take(&text).filter(|text| is_said_by_a_person(text));
                self.removed.extend(removed);
            }
            // The person takes the texts back to change them.
            "popAll" => self.waiting.clear(),
            _ => {}
        }
    }

    /// An attachment shows this text.
    pub fn shown(&mut self, text: &str) {
        self.removed.retain(|removed| !text.contains(removed.trim()));
    }

    /// What has reached the model before the reply that begins now.
    pub fn delivered(&mut self) -> Vec<String> {
        std::mem::take(&mut self.removed)
    }

    fn take(&mut self, text: &str) -> Option<String> {
        let named = self.waiting.iter().position(|waiting| !text.is_empty() && waiting == text);
        self.waiting.remove(named.unwrap_or(0))
    }
}

/// Not a note of the program's (marked up, or as JSON), and no command to it.
fn is_said_by_a_person(text: &str) -> bool {
    text.trim_start().starts_with(|first: char| !matches!(first, '<' | '{' | '/'))
}
