//! Sizes of the first or last part of a text whose words are gone.
//!
//! Steps of a [`Shape`](crate::transcript::Shape) stand at seams (see [`seam`](super::seam)), where lengths and tokens are exact;
//! between two of them everything is taken to be spread evenly. A text without a shape is one step. Near the ends of a text the
//! places of all newlines are known, so that a cut at a line lies where the line ends.

use crate::transcript::{Length, Step, Text};
use serde::{Deserialize, Serialize};

/// A unit in which a text can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// Bytes of the text in UTF-8.
    Bytes,
    /// Code units of the text in UTF-16.
    Utf16,
    /// Unicode code points of the text.
    Chars,
    /// Lines: what newlines separate. A text that ends in a newline has an empty last line.
    Lines,
    /// Tokens of the vocabulary that the text was measured in.
    Tokens,
}

impl Extent {
    /// How much of it there is up to a step; for lines, the newlines up to there.
    pub(super) fn at(self, step: &Step) -> u32 {
        match self {
            Extent::Bytes => step.length.bytes,
            Extent::Utf16 => step.length.utf16,
            Extent::Chars => step.length.chars,
            Extent::Lines => step.length.newlines,
            Extent::Tokens => step.tokens,
        }
    }
}

impl Text {
    /// The sizes of the whole text.
    pub fn whole(&self) -> Step {
        Step { length: self.length, tokens: self.tokens }
    }

    /// How many bytes, characters, lines or tokens the text has. A text without a newline is one line.
    pub fn extent(&self, unit: Extent) -> u32 {
        match unit {
            Extent::Lines => self.length.newlines.saturating_add(1),
            other => other.at(&self.whole()),
        }
    }

    /// The sizes of the first `count` bytes, characters, lines or tokens; of the whole text where it has no more.
    /// The newline behind the last line does not belong to it.
    pub fn prefix(&self, unit: Extent, count: u32) -> Step {
        if count == 0 {
            return Step::default();
        }
        if count >= self.extent(unit) {
            return self.whole();
        }
        let until = self.until(unit, count);
        if unit == Extent::Lines { until.less(NEWLINE) } else { until }
    }

    /// The sizes of the last `count` bytes, characters, lines or tokens; of the whole text where it has no more.
    pub fn suffix(&self, unit: Extent, count: u32) -> Step {
        let extent = self.extent(unit);
        if count == 0 || count >= extent {
            return self.prefix(unit, count);
        }
        self.whole().less(self.until(unit, extent - count))
    }

    /// The sizes up to the place where `count` units are complete; a line is with its newline. `count` is from 1 to less than all.
    fn until(&self, unit: Extent, count: u32) -> Step {
        let Length { bytes, newlines, .. } = self.length;
        let lines = self.shape.as_ref().map(|shape| &shape.lines);
        match (unit, lines.and_then(|lines| lines.behind(count, bytes, newlines))) {
            (Extent::Lines, Some(byte)) => {
                let until = self.between_steps(Extent::Bytes, byte);
                Step { length: Length { newlines: count, ..until.length }, ..until }
            }
            (Extent::Lines, None) => self.between_steps(unit, count),
            _ => {
                let until = self.between_steps(unit, count);
                let newlines = lines.and_then(|lines| lines.before(until.length.bytes, bytes, newlines));
                Step { length: Length { newlines: newlines.unwrap_or(until.length.newlines), ..until.length }, ..until }
            }
        }
    }

    fn between_steps(&self, unit: Extent, count: u32) -> Step {
        if count >= unit.at(&self.whole()) && unit != Extent::Lines {
            return self.whole();
        }
        let mut before = Step::default();
        let mut after = None;
        if let Some(shape) = &self.shape {
            for step in shape.steps.iter() {
                if unit.at(&step) >= count {
                    after = Some(step);
                    break;
                }
                before = step;
            }
        }
        // What stands behind the last newline of the text is a line too.
        let open_line = u32::from(unit == Extent::Lines && after.is_none());
        let after = after.unwrap_or(self.whole());
        let part = u64::from(count - unit.at(&before));
        let of = u64::from(unit.at(&after) - unit.at(&before) + open_line);
        let mut until = before.plus(after.less(before).share(part, of));
        if unit == Extent::Lines {
            until.length.newlines = count;
        }
        until
    }
}

const NEWLINE: Step = Step { length: Length { bytes: 1, utf16: 1, chars: 1, newlines: 1 }, tokens: 0 };

impl Step {
    /// `part / of` of it, rounded down, tokens to the nearest; all of it where `of` is 0.
    pub(super) fn share(self, part: u64, of: u64) -> Step {
        let share = |size: u32, extra: u64| {
            (u64::from(size) * part + extra).checked_div(of).and_then(|share| u32::try_from(share).ok()).unwrap_or(size)
        };
        let Length { bytes, utf16, chars, newlines } = self.length;
        Step {
            length: Length { bytes: share(bytes, 0), utf16: share(utf16, 0), chars: share(chars, 0), newlines: share(newlines, 0) },
            tokens: share(self.tokens, of / 2),
        }
    }
}
