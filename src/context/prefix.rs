//! How much of the context stands as it was sent the last time: what a prompt cache can still know.

use super::Context;
use crate::transcript::Role;

/// The head of the context that has not changed since the last request.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefix {
    /// The number of the last request that this context was, from 1; 0 before the first.
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
    /// The context goes out as the request of this number: from now on all of it is known.
    pub fn sent(&mut self, request: u32) {
        self.prefix = Prefix { request, entries: self.order.len(), actual: self.size.actual.0 };
    }

    /// The messages at the head that stand as they were sent in the request of this number, up to the first message that was changed,
    /// removed or put in: how many, and their actual tokens. `None` where another context was that request.
    pub fn unchanged_since(&self, request: u32) -> Option<(usize, u64)> {
        (self.prefix.request == request).then_some((self.prefix.entries, self.prefix.actual))
    }

    /// Items in the context: what a provider counts as blocks.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Messages as they would be sent now, in order, from a place on.
    pub fn messages_as_sent(&self, from: usize) -> impl Iterator<Item = Sent> + '_ {
        let entries = self.order.get(from..).unwrap_or(&[]).iter().filter_map(|id| self.entry(*id));
        entries.map(|entry| Sent {
            source: entry.message.ok_or(entry.arrived),
            role: entry.role,
            actual: entry.actual,
            estimated: entry.estimated,
        })
    }

    /// A message is about to change: the unchanged head ends before it. Each message leaves the head once between two requests, so
    /// that all edits of a request together cost no more than one look at what stands behind the first of them.
    pub(super) fn touch(&mut self, id: u32) {
        let known = |entry: &super::item::Entry| entry.live && entry.touched < self.prefix.request;
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
