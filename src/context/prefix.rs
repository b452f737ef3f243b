//! How much of the context stands as it was sent the last time: what a prompt cache can still know.

use super::cow_vec::CowVec;
use super::entries::Entries;
use super::item::Entry;
use crate::transcript::Role;

/// The head of the context that has not changed since the last request.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefix {
    /// The number of the last request that this context was, from 1; 0 before the first.
    pub request: u32,
    /// So many entries at the head of the order stand as they were sent.
    pub entries: usize,
    /// Truth of these entries in tokens.
    pub actual: u64,
    /// By entry: since which request it has stood as it is. Marks by themselves: a head of which all leaves changes little room.
    since: CowVec<u32>,
}

/// A message as it was sent, by marks that tell whether it is the same again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Index in the trace, or the call at which the policy put it in.
    source: Result<u32, u32>,
    role: Role,
    /// Truth of the message in tokens.
    pub actual: u64,
    estimated: u64,
}

impl Sent {
    pub(super) fn of(entry: &Entry) -> Sent {
        let source = entry.message.get().ok_or(entry.arrived);
        Sent { source, role: entry.role, actual: entry.actual, estimated: entry.estimated }
    }
}

impl Prefix {
    /// All entries are sent in the request of this number.
    pub fn send(&mut self, request: u32, entries: usize, actual: u64) {
        (self.request, self.entries, self.actual) = (request, entries, actual);
    }

    /// An entry has come, as the last of all.
    pub fn come(&mut self) {
        self.since.push(self.request);
    }

    /// The entry that came last is taken back.
    pub fn take_back(&mut self) {
        self.since.pop();
    }

    /// An entry stands otherwise since the last request.
    pub fn change(&mut self, id: u32) {
        if let Some(since) = self.since.get_mut(id as usize) {
            *since = self.request;
        }
    }

    /// A message is about to change: the unchanged head ends before it. Each message leaves the head once between two requests, so
    /// that all edits of a request together cost no more than one look at what stands behind the first of them.
    pub fn touch(&mut self, id: u32, order: &[u32], entries: &Entries) {
        if entries.is_live(id) && self.since.get(id as usize).is_some_and(|since| *since < self.request) {
            while self.pop(order, entries).is_some_and(|popped| popped != id) {}
        }
    }

    /// Everything from this place on is about to move.
    pub fn touch_from(&mut self, place: usize, order: &[u32], entries: &Entries) {
        while self.entries > place && self.pop(order, entries).is_some() {}
    }

    fn pop(&mut self, order: &[u32], entries: &Entries) -> Option<u32> {
        let last = self.entries.checked_sub(1)?;
        let id = *order.get(last)?;
        self.entries = last;
        self.actual = self.actual.saturating_sub(entries.look(id, |entry| entry.actual).unwrap_or(0));
        self.change(id);
        Some(id)
    }
}
