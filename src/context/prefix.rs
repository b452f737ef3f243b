//! How much of the context stands as it was sent the last time: what a prompt cache can still know.

use super::Context;
use crate::transcript::Role;

/// The head of the context that has not changed since the last request.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefix {
    /// Number of requests sent.
    pub request: u32,
    /// So many entries at the head of the order stand as they were sent.
    entries: usize,
    /// What they really cost.
    actual: u64,
}

/// A message as it was sent, by marks that tell whether it is the same again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Index in the trace, or the call at which the policy put it in.
    source: Result<u32, u32>,
    role: Role,
    /// Actual tokens.
    pub actual: u64,
    estimated: u64,
}

impl Context {
    /// The context goes out as a request: from now on all of it is known.
    pub fn sent(&mut self) {
        self.prefix = Prefix { request: self.prefix.request + 1, entries: self.order.len(), actual: self.size.actual.0 };
    }

    /// Actual tokens of the messages at the head that stand as they were sent the last time, up to the first message that was
    /// changed, removed or put in.
    pub fn unchanged(&self) -> u64 {
        self.prefix.actual
    }

    /// Items in the context: what a provider counts as blocks.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// All messages as they would be sent now, in order.
    pub fn messages_as_sent(&self) -> Vec<Sent> {
        let sent = |entry: &super::Entry| Sent {
            source: entry.message.ok_or(entry.arrived),
            role: entry.role,
            actual: entry.actual,
            estimated: entry.estimated,
        };
        self.live().map(|(_, entry)| sent(entry)).collect()
    }

    /// A message is about to change: the unchanged head ends before it. Each message leaves the head once between two requests, so
    /// that all edits of a request together cost no more than one look at what stands behind the first of them.
    pub(super) fn touch(&mut self, id: u32) {
        let known = |entry: &super::Entry| entry.live && entry.touched < self.prefix.request;
        if self.entries.get(id as usize).is_some_and(known) {
            while self.pop_unchanged().is_some_and(|popped| popped != id) {}
        }
    }

    /// Everything from this place on is about to move.
    pub(super) fn touch_from(&mut self, place: usize) {
        while self.prefix.entries > place && self.pop_unchanged().is_some() {}
    }

    fn pop_unchanged(&mut self) -> Option<u32> {
        let last = self.prefix.entries.checked_sub(1)?;
        let id = *self.order.get(last)?;
        let actual = self.entries.get(id as usize).map_or(0, |entry| entry.actual);
        self.prefix.entries = last;
        self.prefix.actual = self.prefix.actual.saturating_sub(actual);
        if let Some(entry) = self.entries.get_mut(id as usize) {
            entry.touched = self.prefix.request;
        }
        Some(id)
    }
}
