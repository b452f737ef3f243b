//! Two contexts of one conversation: one that came of the other by edits, and keeps up with what arrives there.

use super::contents::Context;
use super::item::{Arrival, Entry, State};
use crate::estimate::Guess;
use crate::transcript::Role;

impl Context {
    /// How often it was edited. Messages that came at its end, and what they say about others, are no edits.
    pub fn edits(&self) -> u64 {
        self.edits
    }

    /// Adds the messages that have come at the end of another context since this one was a copy of it, with what they show again. Neither
    /// has lost a message since, or got one elsewhere.
    pub fn keep_up(&mut self, other: &Context) {
        let from = self.entries.len() as u32;
        for entry in (from..other.entries.len() as u32).filter_map(|id| other.entries.get(id)) {
            let items = (entry.first..entry.first + entry.count).filter_map(|item| other.item(item));
            let arrival = Arrival {
                message: entry.message.get(),
                role: entry.role,
                opens_turn: entry.opens_turn,
                is_summary: entry.is_summary,
                unseen: entry.unseen,
                call: entry.arrived,
            };
            let id = self.push(arrival, items, None);
            if let Some(usage) = entry.usage.get() {
                self.note_usage(id, usage);
            }
        }
        for place in self.shown_again.len()..other.shown_again.len() {
            let Some(item) = other.shown_again.get(place).copied() else { return };
            self.supersede_item(item);
            if self.shown_again.len() == place {
                // It has come as such.
                self.shown_again.push(item);
            }
        }
    }

    /// A message that has left this one alone stands in it again, at this place in prompt order, as it stands in the other one.
    pub fn bring_back(&mut self, id: u32, place: usize, other: &Context) {
        let Some(entry) = other.entry(id).filter(|_| self.entry(id).is_some_and(|gone| !gone.live)) else { return };
        self.prefix.touch_from(place, &self.order, &self.entries);
        self.order.insert(place.min(self.order.len()), id);
        self.prefix.change(id);
        // Its items bring their sizes with them.
        let mut back = Entry { guess: Guess::default(), estimated: 0, end_units: 0, actual: 0, ..entry };
        for index in entry.first..entry.first + entry.count {
            let Some(item) = other.item(index) else { continue };
            self.items.put(index, &item);
            if item.state != State::Removed {
                self.account(&item, &mut back);
            }
        }
        self.edits += 1;
        self.changed.extend(entry.first..entry.first + entry.count);
        self.turns += u64::from(entry.opens_turn);
        self.messages += u64::from(entry.role != Role::System || entry.is_summary);
        self.re_estimate(&mut back);
        self.entries.put(id, &back);
    }
}
