//! What has become of the parts of the log in the context, and by whom.

use super::contents::{Context, NONE};
use super::item::{Item, State};
use super::presence::Presence;

impl Context {
    /// What has become of a part of the log.
    pub fn presence(&self, part: u32) -> Presence {
        let Some(item) = self.place(part) else { return Presence::Gone };
        let owner = self.owners.get(item as usize).and_then(|id| self.entry(*id));
        match (owner, self.items.get(item)) {
            (Some(entry), _) if !entry.live && entry.summarised => Presence::Summarised,
            (Some(entry), Some(slot)) if entry.live => match slot.state {
                State::Whole => Presence::Whole,
                State::Truncated => Presence::Cut(slot.ends),
                State::Masked => Presence::Masked(slot.ends),
                State::Removed => Presence::Gone,
            },
            _ => Presence::Gone,
        }
    }

    /// Actual tokens of what is left of a part of the log, its placeholder included.
    pub fn left_of(&self, part: u32) -> u64 {
        let there = self.place(part).filter(|item| self.owner(*item).is_some()).and_then(|item| self.items.get(item));
        there.map_or(0, |item| item.actual)
    }

    /// Edits are this rule's from now on; no rule's with `None`.
    pub fn edit_for(&mut self, rule: Option<u32>) {
        self.acting = rule;
    }

    /// The rule that took a part of the log away, or cut it, by its place in the plan; `None` where no rule did.
    pub fn taken_by(&self, part: u32) -> Option<u32> {
        let item = self.place(part)?;
        let owner = *self.owners.get(item as usize)?;
        self.entry(owner).filter(|entry| !entry.live).map_or_else(|| self.items.get(item)?.by, |entry| entry.by.get())
    }

    /// Removes whole messages whose content a summary takes over.
    pub fn condense(&mut self, gone: &[u32]) {
        for id in gone {
            self.entries.change(*id, |entry| entry.summarised |= entry.live);
        }
        self.remove(gone);
    }

    /// Something later shows this part of the log again: what is left of it is dead weight.
    pub fn supersede(&mut self, part: u32) {
        let Some(item) = self.place(part) else { return };
        let there = self.owner(item).is_some();
        if let Some(slot) = self.items.get(item).filter(|slot| !slot.superseded && slot.state != State::Removed) {
            self.items.put(item, &Item { superseded: true, ..slot });
            self.dead += if there { slot.actual } else { 0 };
            self.superseded += u64::from(there && slot.state != State::Masked);
        }
    }

    /// Actual tokens of what is still there although something later shows it again.
    pub fn dead_weight(&self) -> u64 {
        self.dead
    }

    /// What stands in the context for a part of the log, with its id; `None` where nothing does.
    pub fn standing(&self, part: u32) -> Option<(u32, Item)> {
        let id = self.place(part).filter(|item| self.owner(*item).is_some())?;
        self.items.get(id).filter(|item| item.state != State::Removed).map(|item| (id, item))
    }

    /// Another item stands for a part of the log, and has from the beginning. What something later shows again still is. Hands back its id;
    /// `None` where nothing stands for the part.
    pub fn exchange(&mut self, part: u32, by: Item) -> Option<u32> {
        let (item, superseded) = self.standing(part).map(|(id, item)| (id, item.superseded))?;
        let owner = self.owner(item)?;
        let (mut entry, before, by) = (self.entries.get(owner)?, self.items.get(item)?, Item { superseded, ..by });
        self.unaccount(&before, &mut entry);
        self.items.put(item, &by);
        self.account(&by, &mut entry);
        self.re_estimate(&mut entry);
        self.entries.put(owner, &entry);
        Some(item)
    }

    fn place(&self, part: u32) -> Option<u32> {
        self.places.get(part as usize).copied().filter(|item| *item != NONE)
    }
}
