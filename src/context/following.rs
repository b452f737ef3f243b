//! Two contexts of one conversation: one that came of the other by edits, and keeps up with what arrives there.

use super::contents::Context;
use super::item::Arrival;

impl Context {
    /// How often it was edited. Messages that came at its end, and what they say about others, are no edits.
    pub fn edits(&self) -> u64 {
        self.edits
    }

    /// Adds the messages that have come at the end of another context since this one was a copy of it, and hands back where they stand
    /// among the entries. Neither has lost a message since, or got one elsewhere.
    pub fn keep_up(&mut self, other: &Context) -> std::ops::Range<u32> {
        let from = self.entries.len();
        for entry in (from..other.entries.len()).filter_map(|id| other.entries.get(id)) {
            let items = (entry.first..entry.first + entry.count).filter_map(|item| other.item(item).copied());
            let arrival = Arrival {
                message: entry.message,
                role: entry.role,
                opens_turn: entry.opens_turn,
                is_summary: entry.is_summary,
                unseen: entry.unseen,
                call: entry.arrived,
            };
            let id = self.push(arrival, items, None);
            if let Some(usage) = entry.usage {
                self.note_usage(id, usage);
            }
        }
        from as u32..self.entries.len() as u32
    }
}
