//! Remembers the token counts of short pieces, so that the words that make up most of a text are looked up in a small table
//! that stays in the processor's cache, and not in the vocabulary that does not; and those of lines, for agents read the same
//! files, with a few lines changed, and see the same lines in what commands print.

use super::ranks::{self, Ranks};
use super::vocabulary::Vocabulary;
use std::ops::RangeInclusive;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// A power of two; two slots of sixteen bytes each.
const PLACES: usize = 1 << 15;

/// The count of a piece stands in the four highest bits of its slot, its length in the next four, its bytes in the others.
const COUNT_SHIFT: u32 = 124;
const COUNT: u128 = 0xf << COUNT_SHIFT;
const LENGTH_SHIFT: u32 = 120;
const LONGEST: usize = 15;

/// Longer pieces (names, indentation, rules) are known by a hash and the length field zero; those above this length are not remembered.
const LONGEST_HASHED: usize = 255;

/// A power of two; two slots of eight bytes each.
const LINES: usize = 1 << 14;

/// A shorter line is counted as fast as it is looked up, and longer ones seldom come again.
const LINE_BYTES: RangeInclusive<usize> = 8..=512;

/// The count of a line stands in the lowest byte of its slot, below what is left of its hash.
const LINE_COUNT: u64 = 0xff;

/// Counts of the pieces of one vocabulary. Of two pieces that share a place the one seen again stands first; a new one takes the
/// second slot, so that the many pieces that are met only once do not drive out the others.
pub struct Memo {
    vocabulary: Vocabulary,
    places: Vec<[u128; 2]>,
    lines: Vec<[u64; 2]>,
}

impl Memo {
    /// An empty memo of a vocabulary.
    pub fn new(vocabulary: Vocabulary) -> Memo {
        Memo { vocabulary, places: vec![[0; 2]; PLACES], lines: vec![[0; 2]; LINES] }
    }

    /// The vocabulary whose counts it remembers.
    pub fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    /// The count of the piece that is known by this, as remembered or as `count` gives it.
    #[inline]
    pub fn count(&mut self, key: u128, count: impl FnOnce() -> u64) -> u64 {
        let Some([first, second]) = self.places.get_mut(place(key)) else { return count() };
        if *first & !COUNT == key {
            return (*first >> COUNT_SHIFT) as u64;
        }
        if *second & !COUNT == key {
            std::mem::swap(first, second);
            return (*first >> COUNT_SHIFT) as u64;
        }
        let tokens = count();
        if tokens <= 0xf {
            *second = key | u128::from(tokens) << COUNT_SHIFT;
        }
        tokens
    }

    /// What a line is known by; `None` where its count is not worth remembering.
    pub fn line(line: &[u8]) -> Option<u64> {
        LINE_BYTES.contains(&line.len()).then(|| xxh3_64(line))
    }

    /// The count of the line that is known by this, if it is remembered.
    pub fn count_of_line(&mut self, line: u64) -> Option<u64> {
        let [first, second] = self.lines.get_mut(line as usize % LINES)?;
        let is_it = |slot: u64| slot != 0 && (slot ^ line) & !LINE_COUNT == 0;
        if !is_it(*first) {
            if !is_it(*second) {
                return None;
            }
            std::mem::swap(first, second);
        }
        Some(*first & LINE_COUNT)
    }

    /// Remembers the count of a line, if it is no larger than there is room for.
    #[inline]
    pub fn keep_line(&mut self, line: u64, tokens: u64) {
        if let Some([_, second]) = self.lines.get_mut(line as usize % LINES).filter(|_| tokens <= LINE_COUNT) {
            *second = line & !LINE_COUNT | tokens;
        }
    }
}

/// By the length of a short piece: the bits that its bytes take.
#[expect(clippy::indexing_slicing, reason = "a constant: the compiler looks")]
const CONTENT: [u128; LONGEST + 1] = {
    let mut content = [0; LONGEST + 1];
    let mut length = 1;
    while length <= LONGEST {
        content[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    content
};

/// What the piece `bytes[at..end]` is known by, which is never zero; its lower half begins with the bytes of a piece. `None` for a piece that is not short.
#[inline]
pub fn key(bytes: &[u8], at: usize, end: usize) -> Option<u128> {
    let length = end - at;
    let content = CONTENT.get(length)?;
    let block = match bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        Some(block) => u128::from_le_bytes(*block) & content,
        None => {
            let mut block = [0; 16];
            block.get_mut(..length)?.copy_from_slice(bytes.get(at..end)?);
            u128::from_le_bytes(block)
        }
    };
    Some(block | (length as u128) << LENGTH_SHIFT)
}

/// The number of tokens of a short piece, which is all in what it is known by.
#[inline(never)]
pub fn encoded(key: u128, ranks: &Ranks) -> u64 {
    let length = (key >> LENGTH_SHIFT) as usize;
    if length <= ranks::LONGEST {
        return ranks.count(key as u64, length);
    }
    ranks.count_longer(key.to_le_bytes().get(..length).unwrap_or_default())
}

/// What a longer piece is known by; `None` for one that is too long.
pub fn long_key(piece: &[u8]) -> Option<u128> {
    (piece.len() <= LONGEST_HASHED).then(|| xxh3_128(piece) >> (u128::BITS - LENGTH_SHIFT))
}

#[inline]
fn place(key: u128) -> usize {
    let folded = key as u64 ^ ((key >> 64) as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (usize::BITS - PLACES.trailing_zeros())
}
