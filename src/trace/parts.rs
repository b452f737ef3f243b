//! The parts of a session as they are held: a long session has more of them than of anything else, and nearly all are short texts.

use super::part::{PartKind, PartRow};
use super::small::{NameLength, Rare};
use crate::list::{Rows, listed};
use crate::transcript::{Counts, Length, Text, TextKind};
use crate::units::Index;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::ops::Range;

/// All parts of all messages, by their indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts(pub(super) Rows<Held>);

/// A part in as much room as it takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Held {
    Small(Small),
    Large(Box<PartRow>),
}

/// A part whose numbers are small and that has nothing but a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Small {
    kind: PartKind,
    text_kind: TextKind,
    /// [`ERROR`] and its neighbours.
    marks: u8,
    name: u8,
    id_bytes: u8,
    /// UTF-16 units, and bytes, beyond the code points.
    utf16_more: u8,
    bytes_more: u8,
    non_ascii: u8,
    tool: u16,
    newlines: u16,
    words: u16,
    /// Bytes of escapes in JSON; [`UNMEASURED`] where those in JSON were not counted.
    escapes: u16,
    chars: u32,
    tokens: u32,
    counts: [u32; 2],
    truth: u32,
    answers: Index,
}

const ERROR: u8 = 1;
const ANCHORED: u8 = 2;
const EXPIRES: u8 = 4;
const TRUNCATED: u8 = 8;
const COUNTED: u8 = 16;

/// Stands for bytes in JSON that are 0: a text that is weighed by its length alone has none.
const UNMEASURED: u16 = u16::MAX;

impl Held {
    fn of(row: PartRow) -> Held {
        let small = Small::of(&row);
        if small.row() == row { Held::Small(small) } else { Held::Large(Box::new(row)) }
    }

    fn row(&self) -> Cow<'_, PartRow> {
        match self {
            Held::Small(small) => Cow::Owned(small.row()),
            Held::Large(row) => Cow::Borrowed(row),
        }
    }
}

impl Small {
    /// The part, if it is small: what does not fit is another number here.
    fn of(row: &PartRow) -> Small {
        let text = &row.text;
        let Length { bytes, utf16, chars, newlines } = text.length;
        let Counts { o200k_base, cl100k_base } = text.counts.unwrap_or_default();
        let marks = [row.error, row.anchored, row.expires, text.truncated, text.counts.is_some()];
        Small {
            kind: row.kind,
            text_kind: text.kind,
            marks: marks.into_iter().rev().fold(0, |marks, holds| marks << 1 | u8::from(holds)),
            name: row.name.get().bytes as u8,
            id_bytes: row.id_bytes as u8,
            utf16_more: utf16.wrapping_sub(chars) as u8,
            bytes_more: bytes.wrapping_sub(chars) as u8,
            non_ascii: text.non_ascii as u8,
            tool: row.tool.get().map_or(u16::MAX, |tool| tool as u16),
            newlines: newlines as u16,
            words: text.words as u16,
            escapes: if text.json_bytes == 0 { UNMEASURED } else { text.json_bytes.wrapping_sub(bytes) as u16 },
            chars,
            tokens: text.tokens,
            counts: [o200k_base, cl100k_base],
            truth: row.truth as u32,
            answers: row.answers,
        }
    }

    fn row(&self) -> PartRow {
        let Small { kind, chars, tokens, answers, counts: [o200k_base, cl100k_base], .. } = *self;
        let more = |more: u8| chars.wrapping_add(more.into());
        let length = Length { bytes: more(self.bytes_more), utf16: more(self.utf16_more), chars, newlines: self.newlines.into() };
        let name = u32::from(self.name);
        let holds = |mark: u8| self.marks & mark != 0;
        let text = Text {
            length,
            tokens,
            counts: holds(COUNTED).then_some(Counts { o200k_base, cl100k_base }),
            kind: self.text_kind,
            json_bytes: if self.escapes == UNMEASURED { 0 } else { length.bytes.wrapping_add(self.escapes.into()) },
            words: self.words.into(),
            non_ascii: self.non_ascii.into(),
            truncated: holds(TRUNCATED),
            ..Text::default()
        };
        PartRow {
            kind,
            tool: Some(self.tool).filter(|tool| *tool != u16::MAX).map(u32::from).into(),
            name: NameLength::from(Length { bytes: name, utf16: name, chars: name, newlines: 0 }),
            id_bytes: self.id_bytes.into(),
            text,
            image: Rare::default(),
            error: holds(ERROR),
            sealed_bytes: 0,
            truth: self.truth.into(),
            anchored: holds(ANCHORED),
            expires: holds(EXPIRES),
            answers,
        }
    }
}

impl Parts {
    /// Without a part, and with room for so many.
    pub fn with_capacity(parts: usize) -> Parts {
        Parts(Vec::with_capacity(parts).into())
    }

    /// Gives back room that nothing stands in.
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes that they take in memory, without what hangs on them.
    pub fn bytes(&self) -> usize {
        let large = self.0.iter().filter(|held| matches!(held, Held::Large(_))).count();
        size_of_val(&**self.0) + large * size_of::<PartRow>()
    }

    /// Adds one at the end.
    pub fn push(&mut self, part: PartRow) {
        self.0.push(Held::of(part));
    }

    /// The part of an index; `None` where there is none.
    pub fn get(&self, place: usize) -> Option<Cow<'_, PartRow>> {
        self.0.get(place).map(Held::row)
    }

    /// All parts, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Cow<'_, PartRow>> + ExactSizeIterator + Clone {
        self.within(0..self.len())
    }

    /// The parts of these indices, in order; none where some of them lie behind the last one.
    #[inline]
    pub fn within(&self, places: Range<usize>) -> impl DoubleEndedIterator<Item = Cow<'_, PartRow>> + ExactSizeIterator + Clone {
        self.0.get(places).unwrap_or(&[]).iter().map(Held::row)
    }

    /// Changes the part of an index, where there is one.
    pub fn change(&mut self, place: usize, change: impl FnOnce(&mut PartRow)) {
        if let Some(held) = self.0.get_mut(place) {
            let mut row = held.row().into_owned();
            change(&mut row);
            *held = Held::of(row);
        }
    }

    /// Changes all parts.
    pub fn change_each(&mut self, mut change: impl FnMut(&mut PartRow)) {
        (0..self.len()).for_each(|place| self.change(place, &mut change));
    }

    /// Says what the part of an index costs, and whether that is anchored.
    pub fn give(&mut self, place: usize, truth: u64, anchored: bool) {
        match (self.0.get_mut(place), u32::try_from(truth)) {
            (Some(Held::Small(small)), Ok(truth)) => {
                (small.truth, small.marks) = (truth, small.marks & !ANCHORED | if anchored { ANCHORED } else { 0 });
            }
            _ => self.change(place, |row| (row.truth, row.anchored) = (truth, anchored)),
        }
    }
}

impl Extend<PartRow> for Parts {
    fn extend<I: IntoIterator<Item = PartRow>>(&mut self, parts: I) {
        self.0.extend(parts.into_iter().map(Held::of));
    }
}

impl FromIterator<PartRow> for Parts {
    fn from_iter<I: IntoIterator<Item = PartRow>>(parts: I) -> Parts {
        Parts(parts.into_iter().map(Held::of).collect())
    }
}

impl Serialize for Held {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.row().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Held {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Held, D::Error> {
        PartRow::deserialize(deserializer).map(Held::of)
    }
}

impl Serialize for Parts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        listed::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Parts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Parts, D::Error> {
        listed::deserialize(deserializer).map(Parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::{packed, unpacked};
    use crate::transcript::{Image, Shape};

    #[test]
    fn parts_come_back_as_they_were() {
        let plain = PartRow::stand_in(PartKind::Text, 7);
        let with = |change: fn(&mut PartRow)| {
            let mut row = plain.clone();
            change(&mut row);
            row
        };
        let counts = Some(Counts { o200k_base: 3, cl100k_base: 0 });
        let small = [
            plain.clone(),
            PartRow { tool: Some(65_534).into(), answers: Some(70_000).into(), id_bytes: 255, error: true, ..plain.clone() },
            PartRow { truth: u64::from(u32::MAX), anchored: true, expires: true, ..plain.clone() },
            with(|row| (row.text.length, row.text.json_bytes) = (Length { bytes: 283, utf16: 29, chars: 28, newlines: 65_535 }, 283)),
            with(|row| (row.text.truncated, row.text.words, row.text.json_bytes, row.text.non_ascii) = (true, 65_535, 65_562, 255)),
            PartRow { text: Text { counts, kind: TextKind::Json, ..plain.text.clone() }, ..plain.clone() },
            with(|row| row.text.json_bytes = 0),
        ];
        let large = [
            PartRow { tool: Some(65_535).into(), ..plain.clone() },
            PartRow { id_bytes: 256, ..plain.clone() },
            PartRow { sealed_bytes: 1, ..plain.clone() },
            PartRow { truth: 1 << 32, ..plain.clone() },
            PartRow { image: Image { width: 1, ..Image::default() }.into(), ..plain.clone() },
            PartRow { name: Length { bytes: 2, utf16: 1, chars: 1, newlines: 0 }.into(), ..plain.clone() },
            with(|row| row.text.length.bytes = 27),
            with(|row| row.text.length.newlines = 65_536),
            with(|row| row.text.json_bytes = 27),
            with(|row| row.text.json_bytes = 28 + 65_535),
            with(|row| row.text.words = 65_536),
            with(|row| row.text.non_ascii = 256),
            with(|row| row.text.shape = Some(Box::<Shape>::default())),
        ];
        let all: Vec<PartRow> = small.iter().chain(&large).cloned().collect();
        let mut parts: Parts = all.iter().cloned().collect();
        assert!(parts.iter().map(Cow::into_owned).eq(all.iter().cloned()));
        assert_eq!(parts.0.iter().filter(|held| matches!(held, Held::Small(_))).count(), small.len());
        assert_eq!((packed(&parts), unpacked::<Parts>(&packed(&all))), (packed(&all), parts.clone()));
        for truth in [9, 1 << 32, 9] {
            parts.give(0, truth, true);
            assert_eq!(parts.get(0).as_deref(), Some(&PartRow { truth, anchored: true, ..plain.clone() }));
        }
        assert!(matches!(parts.0[0], Held::Small(_)));
        assert_eq!(size_of::<Held>(), 40);
    }
}
