//! Conversations that stand one a record: each is one of its own, or each is a request that repeats the one before and goes on.

use super::conversation::Conversation;
use std::collections::VecDeque;

/// So many records are held until it is known what they are. Several conversations may be logged at once.
const MOST_HELD: usize = 64;

/// A record that may be a conversation, or a request with its reply.
pub struct Record {
    /// The record itself.
    pub text: String,
    /// A hash of each of its messages.
    pub said: Vec<u64>,
    /// Ends it with a message of the model's?
    pub replied: bool,
    /// What it is where it is a conversation.
    pub conversation: Conversation,
}

/// Records of which it is not known yet whether they are requests.
#[derive(Default)]
pub struct Records {
    held: VecDeque<Record>,
    /// One went on with another: all that follow are requests.
    pub are_requests: bool,
}

impl Records {
    /// Is what says this a request that goes on with one of the records?
    pub fn go_on(&self, said: &[u64], replies: &[bool]) -> bool {
        self.held.iter().any(|record| {
            let next = replies.get(record.said.len());
            said.starts_with(&record.said) && next.is_some_and(|reply| *reply != record.replied)
        })
    }

    /// Holds one more, and gives back the one that goes on with no other.
    pub fn hold(&mut self, record: Record) -> Option<Record> {
        self.held.push_back(record);
        if self.held.len() > MOST_HELD { self.held.pop_front() } else { None }
    }

    /// What is held.
    pub fn take(&mut self) -> VecDeque<Record> {
        std::mem::take(&mut self.held)
    }
}
