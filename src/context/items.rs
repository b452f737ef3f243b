//! Items as a context holds them: a long session has more of them than of anything else.

use super::compact::{Compact, Small, narrow, wide};
use super::item::{Item, State};
use super::presence::Ends;
use super::region::Region;
use crate::estimate::Guess;

/// The items of a context, by their ids.
pub(super) type Items = Compact<SmallItem>;

/// An item whose numbers are small, of which no ends are told, and all or nothing of which is anchored.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallItem {
    part: u32,
    units: u32,
    tokens: u32,
    alone: u32,
    end_units: u32,
    actual: u32,
    tool: u16,
    by: u8,
    parts: u8,
    /// [`ANCHORED`] and its neighbours.
    marks: u8,
    region: Region,
    state: State,
}

const ANCHORED: u8 = 1;
const ERROR: u8 = 2;
const EXPIRES: u8 = 4;
const SUPERSEDED: u8 = 8;

impl Small for SmallItem {
    type Whole = Item;

    fn of(item: &Item) -> Option<SmallItem> {
        let Item { part, tool, region, state, error, expires, ends, superseded, by, guess, alone, end_units, actual, anchored } = *item;
        let small = |number: u64| u32::try_from(number).ok();
        if ends != Ends::default() || (anchored != 0 && anchored != actual) {
            return None;
        }
        let marks = [(anchored != 0, ANCHORED), (error, ERROR), (expires, EXPIRES), (superseded, SUPERSEDED)];
        Some(SmallItem {
            part: narrow(part)?,
            units: small(guess.units)?,
            tokens: small(guess.tokens)?,
            alone: small(alone)?,
            end_units,
            actual: small(actual)?,
            tool: narrow(tool)?,
            by: narrow(by)?,
            parts: u8::try_from(guess.parts).ok()?,
            marks: marks.into_iter().map(|(holds, mark)| if holds { mark } else { 0 }).sum(),
            region,
            state,
        })
    }

    #[inline(always)]
    fn whole(&self) -> Item {
        let holds = |mark: u8| self.marks & mark != 0;
        let actual = u64::from(self.actual);
        Item {
            part: wide(self.part),
            tool: wide(self.tool),
            region: self.region,
            state: self.state,
            error: holds(ERROR),
            expires: holds(EXPIRES),
            ends: Ends::default(),
            superseded: holds(SUPERSEDED),
            by: wide(self.by),
            guess: Guess { units: u64::from(self.units), tokens: u64::from(self.tokens), parts: u64::from(self.parts) },
            alone: u64::from(self.alone),
            end_units: self.end_units,
            actual,
            anchored: if holds(ANCHORED) { actual } else { 0 },
        }
    }
}

impl Items {
    /// Something later shows an item again.
    pub(super) fn supersede(&mut self, id: u32) {
        let small = |small: &mut SmallItem| {
            small.marks |= SUPERSEDED;
            true
        };
        self.edit(id, small, |item| item.superseded = true);
    }
}

#[cfg(test)]
mod tests {
    use super::super::compact::Held;
    use super::*;

    fn item(actual: u64) -> Item {
        Item {
            part: Some(7),
            tool: None,
            region: Region::ToolResult,
            state: State::Masked,
            error: true,
            expires: false,
            ends: Ends::default(),
            superseded: true,
            by: Some(0),
            guess: Guess { units: 9, tokens: 8, parts: 1 },
            alone: 3,
            end_units: 4,
            actual,
            anchored: actual,
        }
    }

    #[test]
    fn items_come_back_as_they_were() {
        let small = item(5);
        let cut = Ends { head: 10, tail: 20, stretch: None };
        let large = [
            item(1 << 32),
            Item { ends: cut, ..small },
            Item { anchored: 2, ..small },
            Item { part: Some(u32::MAX), ..small },
            Item { tool: Some(65_535), ..small },
            Item { by: Some(255), ..small },
            Item { guess: Guess { parts: 256, ..small.guess }, ..small },
        ];
        let others = [
            Item { actual: 0, anchored: 0, ..small },
            Item { anchored: 0, error: false, expires: true, part: None, tool: Some(3), ..small },
        ];
        let held = Held::<SmallItem>::of;
        let mut items = Items::default();
        let all: Vec<Item> = std::iter::once(small).chain(others).chain(large).collect();
        all.iter().for_each(|item| items.push(item));
        items.put(0, &large[0]);
        items.put(3, &small);
        let expected: Vec<Item> =
            all.iter().enumerate().map(|(id, item)| [large[0], *item, *item, small].get(id).copied().unwrap_or(*item)).collect();
        assert_eq!((0..all.len() as u32).map(|id| items.get(id).unwrap()).collect::<Vec<_>>(), expected);
        assert_eq!(items.get(all.len() as u32), None);
        assert!(
            (0..3).all(|id| matches!(held(&all[id]), Held::Small(_))) && all[3..].iter().all(|item| matches!(held(item), Held::Large(_)))
        );
        assert_eq!(size_of::<Held<SmallItem>>(), 32);
    }
}
