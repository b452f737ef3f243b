//! Steps of a shape, packed: a long text has hundreds, and a corpus has many long texts.

use super::length::{Length, Step};
use serde::{Deserialize, Serialize};

/// Cumulative sizes at ascending places within a text, its two ends not among them. Each takes four to seven bytes: what it is
/// more than the step before, as numbers of seven bits a byte.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Steps(Box<[u8]>);

impl Steps {
    /// The steps in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Step> + '_ {
        let mut packed = self.0.iter();
        let mut step = Step::default();
        std::iter::from_fn(move || {
            let mut next = || unpack(&mut packed);
            let bytes = next()?;
            let tokens = next()?;
            let lines = next()?;
            let (narrow, pairs) = if lines & 1 == 1 { (next()?, next()?) } else { (0, 0) };
            let chars = bytes.saturating_sub(narrow);
            let utf16 = chars.saturating_add(pairs);
            let length = Length { bytes: size(bytes), utf16: size(utf16), chars: size(chars), newlines: size(lines >> 1) };
            step = step.plus(Step { length, tokens: size(tokens) });
            Some(step)
        })
    }

    /// How many bytes the packed steps take.
    pub fn packed_bytes(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<Step> for Steps {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Steps {
        let mut packed = Vec::new();
        let mut before = Step::default();
        for step in steps {
            let Step { length, tokens } = step.less(before);
            let [bytes, utf16, chars, newlines] = [length.bytes, length.utf16, length.chars, length.newlines].map(u64::from);
            // Most stretches are ASCII: their three lengths are one.
            let wide = u64::from(chars != bytes);
            pack(bytes, &mut packed);
            pack(tokens.into(), &mut packed);
            pack(newlines << 1 | wide, &mut packed);
            if wide == 1 {
                pack(bytes.saturating_sub(chars), &mut packed);
                pack(utf16.saturating_sub(chars), &mut packed);
            }
            before = step;
        }
        Steps(packed.into())
    }
}

#[inline]
pub(super) fn pack(mut number: u64, packed: &mut Vec<u8>) {
    while number > 0x7f {
        packed.push(number as u8 | 0x80);
        number >>= 7;
    }
    packed.push(number as u8);
}

/// The next number; `None` at the end. What a damaged file holds too much of is cut off.
#[inline]
pub(super) fn unpack<'a>(packed: &mut impl Iterator<Item = &'a u8>) -> Option<u64> {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let byte = *packed.next()?;
        number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn size(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Step {
    /// The sizes of both, added field by field.
    #[inline]
    pub fn plus(self, other: Step) -> Step {
        self.combine(other, u32::saturating_add)
    }

    /// What is left of the sizes without the other's, field by field; 0 where the other's are larger.
    #[inline]
    pub fn less(self, other: Step) -> Step {
        self.combine(other, u32::saturating_sub)
    }

    fn combine(self, other: Step, with: impl Fn(u32, u32) -> u32) -> Step {
        Step {
            length: Length {
                bytes: with(self.length.bytes, other.length.bytes),
                utf16: with(self.length.utf16, other.length.utf16),
                chars: with(self.length.chars, other.length.chars),
                newlines: with(self.length.newlines, other.length.newlines),
            },
            tokens: with(self.tokens, other.tokens),
        }
    }
}
