//! The running sums of a context, as items come and go.

use super::contents::Context;
use super::item::{Entry, Item, State};
use super::region::Region;
use crate::transcript::Role;
use crate::units::Tokens;

impl Context {
    #[expect(clippy::indexing_slicing, reason = "every region has its sum, and every tool that is counted")]
    pub(super) fn account(&mut self, slot: &Item, entry: &mut Entry) {
        entry.guess = entry.guess.plus(slot.guess);
        entry.end_units += u64::from(slot.end_units);
        entry.actual += slot.actual;
        self.fingerprint = self.fingerprint.wrapping_add(slot.fingerprint());
        self.size.actual += Tokens(slot.actual);
        self.anchored += slot.anchored;
        self.regions[slot.region as usize] += slot.actual;
        if let (Region::ToolResult, Some(tool)) = (slot.region, slot.tool) {
            if self.tools.len() <= tool as usize {
                self.tools.resize(tool as usize + 1, 0);
            }
            self.tools[tool as usize] += slot.actual;
            self.tools_changed.push(tool);
        }
        self.original += if slot.part.is_some() { slot.actual } else { 0 };
        self.dead += if slot.superseded { slot.actual } else { 0 };
        self.superseded += u64::from(slot.superseded && slot.state != State::Masked);
        self.counts[slot.region as usize] += 1;
        if slot.region == Region::ToolResult && slot.state != State::Masked {
            self.unmasked.add(slot);
        }
        self.tool_pictures += u64::from(slot.region == Region::Image && entry.role == Role::Tool);
    }

    #[expect(clippy::indexing_slicing, reason = "every region has its sum, and every tool that is counted")]
    pub(super) fn unaccount(&mut self, slot: &Item, entry: &mut Entry) {
        entry.guess = entry.guess.less(slot.guess);
        entry.end_units -= u64::from(slot.end_units);
        entry.actual -= slot.actual;
        self.fingerprint = self.fingerprint.wrapping_sub(slot.fingerprint());
        self.size.actual = self.size.actual - Tokens(slot.actual);
        self.anchored -= slot.anchored;
        self.regions[slot.region as usize] -= slot.actual;
        if let (Region::ToolResult, Some(tool)) = (slot.region, slot.tool) {
            self.tools[tool as usize] -= slot.actual;
            self.tools_changed.push(tool);
        }
        self.original -= if slot.part.is_some() { slot.actual } else { 0 };
        self.dead -= if slot.superseded { slot.actual } else { 0 };
        self.superseded -= u64::from(slot.superseded && slot.state != State::Masked);
        self.counts[slot.region as usize] -= 1;
        if slot.region == Region::ToolResult && slot.state != State::Masked {
            self.unmasked.take_out(slot);
        }
        self.tool_pictures -= u64::from(slot.region == Region::Image && entry.role == Role::Tool);
    }
}
