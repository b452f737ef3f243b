//! Items as a context holds them: a long session has more of them than of anything else, and nearly all hold small numbers.

use super::cow_vec::CowVec;
use super::item::{Item, State};
use super::presence::Ends;
use super::region::Region;
use crate::estimate::Guess;

/// The items of a context, by their ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Items(CowVec<Held>);

/// Stands for an index that is absent.
pub(super) const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
enum Held {
    Small(Small),
    Large(Box<Item>),
}

/// An item whose numbers are small, of which no ends are told, and all or nothing of which is anchored.
#[derive(Clone, Copy, Debug)]
struct Small {
    part: u32,
    tool: u32,
    by: u32,
    units: u32,
    tokens: u32,
    alone: u32,
    end_units: u32,
    actual: u32,
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

impl Items {
    /// Number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds one at the end.
    pub fn push(&mut self, item: &Item) {
        self.0.push(Held::of(item));
    }

    /// Takes away the last one.
    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// The item of an id; `None` where there never was one.
    pub fn get(&self, id: u32) -> Option<Item> {
        self.0.get(id as usize).map(Held::item)
    }

    /// Puts another one in its place.
    pub fn put(&mut self, id: u32, item: &Item) {
        if let Some(slot) = self.0.get_mut(id as usize) {
            *slot = Held::of(item);
        }
    }
}

impl Held {
    fn of(item: &Item) -> Held {
        Small::of(item).map_or_else(|| Held::Large(Box::new(*item)), Held::Small)
    }

    fn item(&self) -> Item {
        match self {
            Held::Small(small) => small.item(),
            Held::Large(item) => **item,
        }
    }
}

impl Small {
    fn of(item: &Item) -> Option<Small> {
        let Item { part, tool, region, state, error, expires, ends, superseded, by, guess, alone, end_units, actual, anchored } = *item;
        let small = |number: u64| u32::try_from(number).ok();
        let index = |index: Option<u32>| if index == Some(NONE) { None } else { Some(index.unwrap_or(NONE)) };
        if ends != Ends::default() || (anchored != 0 && anchored != actual) {
            return None;
        }
        let marks = [(anchored != 0, ANCHORED), (error, ERROR), (expires, EXPIRES), (superseded, SUPERSEDED)];
        Some(Small {
            part: index(part)?,
            tool: index(tool)?,
            by: index(by)?,
            units: small(guess.units)?,
            tokens: small(guess.tokens)?,
            alone: small(alone)?,
            end_units,
            actual: small(actual)?,
            parts: u8::try_from(guess.parts).ok()?,
            marks: marks.into_iter().map(|(holds, mark)| if holds { mark } else { 0 }).sum(),
            region,
            state,
        })
    }

    fn item(&self) -> Item {
        let index = |index: u32| (index != NONE).then_some(index);
        let holds = |mark: u8| self.marks & mark != 0;
        let actual = u64::from(self.actual);
        Item {
            part: index(self.part),
            tool: index(self.tool),
            region: self.region,
            state: self.state,
            error: holds(ERROR),
            expires: holds(EXPIRES),
            ends: Ends::default(),
            superseded: holds(SUPERSEDED),
            by: index(self.by),
            guess: Guess { units: u64::from(self.units), tokens: u64::from(self.tokens), parts: u64::from(self.parts) },
            alone: u64::from(self.alone),
            end_units: self.end_units,
            actual,
            anchored: if holds(ANCHORED) { actual } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
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
            Item { part: Some(NONE), ..small },
            Item { guess: Guess { parts: 256, ..small.guess }, ..small },
        ];
        let others = [
            Item { actual: 0, anchored: 0, ..small },
            Item { anchored: 0, error: false, expires: true, part: None, tool: Some(3), ..small },
        ];
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
            (0..3).all(|id| matches!(Held::of(&all[id]), Held::Small(_)))
                && all[3..].iter().all(|item| matches!(Held::of(item), Held::Large(_)))
        );
        assert!(size_of::<Held>() <= 40);
    }
}
