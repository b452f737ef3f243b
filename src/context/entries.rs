//! Messages as a context holds them.

use super::compact::{Compact, Small, narrow, wide};
use super::item::{Calling, Entry};
use crate::estimate::Guess;
use crate::transcript::Role;
use crate::units::Index;
use std::ops::Range;

/// The messages of a context, by their ids.
pub(super) type Entries = Compact<SmallEntry>;

/// A message whose numbers are small.
#[derive(Clone, Copy, Debug)]
pub(super) struct SmallEntry {
    message: Index,
    first: u32,
    arrived: u32,
    units: u32,
    tokens: u32,
    estimated: u32,
    end_units: u32,
    actual: u32,
    usage: u32,
    count: u16,
    by: u8,
    parts: u8,
    /// [`LIVE`] and its neighbours.
    marks: u8,
    role: Role,
    calling: Calling,
}

/// Where a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It stands in the context.
    Live,
    /// It has left, and a summary stands for it.
    Summarised,
    /// It has left.
    Gone,
}

const LIVE: u8 = 1;
const OPENS_TURN: u8 = 2;
const SUMMARY: u8 = 4;
const UNSEEN: u8 = 8;
const SUMMARISED: u8 = 16;

impl Small for SmallEntry {
    type Whole = Entry;

    fn of(entry: &Entry) -> Option<SmallEntry> {
        let Entry { message, role, opens_turn, is_summary, unseen, calling, first, count, guess, estimated, .. } = *entry;
        let Entry { end_units, actual, arrived, usage, live, summarised, by, .. } = *entry;
        let small = |number: u64| u32::try_from(number).ok();
        let marks = [(live, LIVE), (opens_turn, OPENS_TURN), (is_summary, SUMMARY), (unseen, UNSEEN), (summarised, SUMMARISED)];
        Some(SmallEntry {
            message,
            first,
            arrived,
            units: small(guess.units)?,
            tokens: small(guess.tokens)?,
            estimated: small(estimated)?,
            end_units: small(end_units)?,
            actual: small(actual)?,
            usage: narrow(usage.get().map(u32::try_from).transpose().ok()?)?,
            count: u16::try_from(count).ok()?,
            by: narrow(by.get())?,
            parts: u8::try_from(guess.parts).ok()?,
            marks: marks.into_iter().map(|(holds, mark)| if holds { mark } else { 0 }).sum(),
            role,
            calling,
        })
    }

    #[inline(always)]
    fn whole(&self) -> Entry {
        let holds = |mark: u8| self.marks & mark != 0;
        Entry {
            message: self.message,
            role: self.role,
            opens_turn: holds(OPENS_TURN),
            is_summary: holds(SUMMARY),
            unseen: holds(UNSEEN),
            calling: self.calling,
            first: self.first,
            count: self.count.into(),
            guess: Guess { units: self.units.into(), tokens: self.tokens.into(), parts: self.parts.into() },
            estimated: self.estimated.into(),
            end_units: self.end_units.into(),
            actual: self.actual.into(),
            arrived: self.arrived,
            usage: wide(self.usage).map(u64::from).into(),
            live: holds(LIVE),
            summarised: holds(SUMMARISED),
            by: wide(self.by).into(),
        }
    }
}

impl Entries {
    /// Where a message is; `None` where there never was one.
    pub(super) fn standing(&self, id: u32) -> Option<Standing> {
        self.look(id, |entry| match (entry.live, entry.summarised) {
            (true, _) => Standing::Live,
            (false, true) => Standing::Summarised,
            (false, false) => Standing::Gone,
        })
    }

    /// Is a message in the context?
    #[inline]
    pub(super) fn is_live(&self, id: u32) -> bool {
        self.look(id, |entry| entry.live) == Some(true)
    }

    /// The ids of a message's items.
    #[inline]
    pub(super) fn items(&self, id: u32) -> Range<u32> {
        self.look(id, |entry| entry.first..entry.first + entry.count).unwrap_or_default()
    }

    /// The provider has told what a reply's call came to.
    pub(super) fn note_usage(&mut self, id: u32, tokens: u64) {
        let small = |small: &mut SmallEntry| {
            let usage = u32::try_from(tokens).ok().and_then(|tokens| narrow(Some(tokens)));
            usage.map(|usage| small.usage = usage).is_some()
        };
        self.edit(id, small, |entry| entry.usage = Some(tokens).into());
    }

    /// A message leaves with all its items, by this rule, and a summary takes its place or none does.
    pub(super) fn leave(&mut self, id: u32, rule: Option<u32>, summarised: bool) {
        let small = |small: &mut SmallEntry| {
            let Some(by) = narrow(rule) else { return false };
            let summary = if summarised { SUMMARISED } else { 0 };
            let nothing = SmallEntry { units: 0, tokens: 0, parts: 0, estimated: 0, end_units: 0, actual: 0, ..*small };
            *small = SmallEntry { by, marks: small.marks & !LIVE | summary, ..nothing };
            true
        };
        let whole = |entry: &mut Entry| {
            let nothing = Entry { guess: Guess::default(), estimated: 0, end_units: 0, actual: 0, ..*entry };
            *entry = Entry { live: false, by: rule.into(), summarised: entry.summarised || summarised, ..nothing };
        };
        self.edit(id, small, whole);
    }
}

#[cfg(test)]
mod tests {
    use super::super::compact::Held;
    use super::*;

    #[test]
    fn messages_come_back_as_they_were() {
        let small = Entry {
            message: Some(7).into(),
            role: Role::Tool,
            opens_turn: true,
            is_summary: false,
            unseen: true,
            calling: Calling::Reasoned,
            first: 1 << 30,
            count: 65_535,
            guess: Guess { units: 9, tokens: 8, parts: 255 },
            estimated: u64::from(u32::MAX),
            end_units: 5,
            actual: 4,
            arrived: 3,
            usage: Some(u64::from(u32::MAX) - 1).into(),
            live: false,
            summarised: true,
            by: Some(254).into(),
        };
        let others = [
            Entry { message: None.into(), usage: None.into(), by: None.into(), live: true, ..small },
            Entry { opens_turn: false, is_summary: true, unseen: false, summarised: false, ..small },
        ];
        let large = [
            Entry { count: 65_536, ..small },
            Entry { guess: Guess { units: 1 << 32, ..small.guess }, ..small },
            Entry { guess: Guess { parts: 256, ..small.guess }, ..small },
            Entry { estimated: 1 << 32, ..small },
            Entry { usage: Some(u64::from(u32::MAX)).into(), ..small },
            Entry { by: Some(255).into(), ..small },
        ];
        let held = Held::<SmallEntry>::of;
        let mut entries = Entries::default();
        let all: Vec<Entry> = std::iter::once(small).chain(others).chain(large).collect();
        all.iter().for_each(|entry| entries.push(entry));
        assert_eq!((0..all.len() as u32).map(|id| entries.get(id).unwrap()).collect::<Vec<_>>(), all);
        assert!(all.iter().enumerate().all(|(place, entry)| matches!(held(entry), Held::Small(_)) == (place < 3)));
        for (id, entry) in (0..).zip(&all) {
            let mut edited = entries.clone();
            edited.note_usage(id, 1 << 33);
            edited.note_usage(id, 77);
            edited.leave(id, Some(3), true);
            edited.leave(id, Some(255), false);
            let (guess, usage, by) = (Guess::default(), Some(77).into(), Some(255).into());
            let left = Entry { guess, usage, by, estimated: 0, end_units: 0, actual: 0, live: false, summarised: true, ..*entry };
            assert_eq!((edited.get(id), edited.items(id), edited.is_live(id)), (Some(left), entry.first..entry.first + entry.count, false));
            assert_eq!(edited.standing(id), Some(Standing::Summarised));
            assert_eq!(entries.get(id), Some(*entry), "a copy is edited by itself");
        }
        entries.edit(0, |_| false, |entry| entry.estimated = 1 << 40);
        assert_eq!((entries.get(0), entries.len()), (Some(Entry { estimated: 1 << 40, ..small }), all.len()));
        assert_eq!(entries.pop(), all.last().copied());
        assert_eq!(size_of::<Held<SmallEntry>>(), 48);
    }
}
