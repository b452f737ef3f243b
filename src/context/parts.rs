//! What has become of the parts of the log in the context, and by whom.

use super::contents::{Context, NONE};
use super::entries::Standing;
use super::item::{Item, State};
use super::presence::Presence;

impl Context {
    /// What has become of a part of the log.
    pub fn presence(&self, part: u32) -> Presence {
        let Some(item) = self.place(part) else { return Presence::Gone };
        let owner = self.owners.get(item as usize).copied();
        match (owner.and_then(|owner| self.entries.standing(owner)), self.items.look(item, |slot| (slot.state, slot.ends))) {
            (Some(Standing::Summarised), _) => Presence::Summarised,
            (Some(Standing::Live), Some((State::Whole, _))) => Presence::Whole,
            (Some(Standing::Live), Some((State::Truncated, ends))) => Presence::Cut(ends),
            (Some(Standing::Live), Some((State::Masked, ends))) => Presence::Masked(ends),
            _ => Presence::Gone,
        }
    }

    /// Actual tokens of what is left of a part of the log, its placeholder included.
    pub fn left_of(&self, part: u32) -> u64 {
        let there = self.place(part).filter(|item| self.owner(*item).is_some());
        there.and_then(|item| self.items.look(item, |slot| slot.actual)).unwrap_or(0)
    }

    /// Edits are this rule's from now on; no rule's with `None`.
    pub fn edit_for(&mut self, rule: Option<u32>) {
        self.acting = rule;
    }

    /// The rule that took a part of the log away, or cut it, by its place in the plan; `None` where no rule did.
    pub fn taken_by(&self, part: u32) -> Option<u32> {
        let item = self.place(part)?;
        let owner = *self.owners.get(item as usize)?;
        let gone = self.entries.look(owner, |entry| (!entry.live).then_some(entry.by.get())).flatten();
        gone.unwrap_or_else(|| self.items.look(item, |slot| slot.by).flatten())
    }

    /// Removes whole messages whose content a summary takes over, and others that go with them. Hands back what [`Context::remove`] does.
    pub fn condense(&mut self, gone: &[u32], lost: &[u32]) -> Option<usize> {
        self.leave(gone, true);
        self.leave(lost, false);
        self.sweep(0)
    }

    /// Something later shows this part of the log again: what is left of it is dead weight.
    pub fn supersede(&mut self, part: u32) {
        if let Some(item) = self.place(part) {
            self.supersede_item(item);
        }
    }

    pub(super) fn supersede_item(&mut self, item: u32) {
        let there = self.owner(item).is_some();
        let known = self.items.look(item, |slot| (!slot.superseded && slot.state != State::Removed).then_some((slot.actual, slot.state)));
        if let Some((actual, state)) = known.flatten() {
            self.items.supersede(item);
            self.shown_again.push(item);
            self.dead += if there { actual } else { 0 };
            self.superseded += u64::from(there && state != State::Masked);
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
