//! The short tokens of a vocabulary, packed so that to encode a piece of at most seven bytes takes few far reaches into memory.
//!
//! Names, hashes and base64 break into short pieces that no text repeats, so no memo helps; with the crate's tables, made for
//! tokens of all lengths, they took half of the time.

/// The longest piece that is encoded here, and the longest token that is kept.
pub const LONGEST: usize = 7;

/// Most texts of seven bytes are no token. This many bits, one set for each token, tell so without a look into the table.
const FILTER_BITS: usize = 1 << 20;

const ABSENT: u32 = u32::MAX;

/// Ranks of tokens of two to seven bytes. A token of lower rank is joined first.
pub struct Ranks {
    /// By the two bytes of the token.
    pairs: Vec<u32>,
    filter: Vec<u64>,
    /// Longer tokens, as [`key`] packs them, at the place that their hash says or after it; 0 where there is none.
    tokens: Vec<u64>,
    /// The ranks of those tokens, place by place.
    ranks: Vec<u32>,
}

impl Ranks {
    /// The short tokens of a loaded vocabulary; `None` if its ranks do not run from 0 on, with a few gaps at most.
    pub fn of(engine: &tiktoken::CoreBpe) -> Option<Ranks> {
        let size = engine.vocab_size();
        let places = size.checked_mul(2)?.checked_next_power_of_two()?;
        let mut ranks =
            Ranks { pairs: vec![ABSENT; 1 << 16], filter: vec![0; FILTER_BITS / 64], tokens: vec![0; places], ranks: vec![ABSENT; places] };
        let mut found = 0;
        for rank in 0..u32::try_from(size).ok()?.checked_add(16)? {
            let token = engine.decode(&[rank]);
            found += usize::from(!token.is_empty());
            if (2..=LONGEST).contains(&token.len()) {
                ranks.add(&token, rank)?;
            }
        }
        (found >= size).then_some(ranks)
    }

    fn add(&mut self, token: &[u8], rank: u32) -> Option<()> {
        let mut block = [0; 8];
        block.get_mut(..token.len())?.copy_from_slice(token);
        let block = u64::from_le_bytes(block);
        if token.len() == 2 {
            *self.pairs.get_mut(block as usize)? = rank;
            return Some(());
        }
        let key = key(block, token.len());
        let hash = hash(key);
        *self.filter.get_mut(filter_word(hash))? |= filter_bit(hash);
        let mut place = self.place(hash);
        while *self.tokens.get(place)? != 0 {
            place = self.place(place + 1);
        }
        *self.tokens.get_mut(place)? = key;
        *self.ranks.get_mut(place)? = rank;
        Some(())
    }

    fn place(&self, hash: usize) -> usize {
        hash & (self.tokens.len() - 1)
    }

    /// The rank of the token with these bytes; [`ABSENT`] if it is none.
    #[inline]
    fn rank(&self, block: u64, length: usize) -> u32 {
        if length == 2 {
            return self.pairs.get(block as usize).copied().unwrap_or(ABSENT);
        }
        let key = key(block, length);
        let hash = hash(key);
        if self.filter.get(filter_word(hash)).is_none_or(|word| word & filter_bit(hash) == 0) {
            return ABSENT;
        }
        let mut place = self.place(hash);
        while let Some(&token) = self.tokens.get(place).filter(|&&token| token != 0) {
            if token == key {
                return self.ranks.get(place).copied().unwrap_or(ABSENT);
            }
            place = self.place(place + 1);
        }
        ABSENT
    }

    /// The number of tokens of a piece of one to seven bytes, which stand in `block`, the first one lowest.
    pub fn count(&self, block: u64, length: usize) -> u64 {
        if length < 2 || self.rank(block, length) != ABSENT {
            return 1;
        }
        // The tokens so far lie between neighbouring bounds; joins[i] is the rank of token i and the next one as one token.
        let mut bounds: [usize; LONGEST + 1] = [0, 1, 2, 3, 4, 5, 6, 7];
        let mut joins = [ABSENT; LONGEST + 1];
        let mut tokens = length.min(LONGEST);
        let join = |bounds: &[usize; LONGEST + 1], tokens: usize, first: usize| match (bounds.get(first), bounds.get(first + 2)) {
            (Some(&from), Some(&to)) if first + 2 <= tokens => self.rank(part(block, from, to), to - from),
            _ => ABSENT,
        };
        for (first, rank) in joins.iter_mut().enumerate() {
            *rank = join(&bounds, tokens, first);
        }
        while let Some((first, &rank)) = joins.iter().enumerate().min_by_key(|(_, rank)| **rank) {
            if rank == ABSENT {
                break;
            }
            bounds.copy_within(first + 2.., first + 1);
            joins.copy_within((first + 2).min(LONGEST + 1).., first + 1);
            tokens -= 1;
            if let Some(rank) = joins.get_mut(first) {
                *rank = join(&bounds, tokens, first);
            }
            if let Some(rank) = first.checked_sub(1).and_then(|before| joins.get_mut(before)) {
                *rank = join(&bounds, tokens, first - 1);
            }
        }
        tokens as u64
    }
}

/// The bytes `from..to` of a block, lowest first.
#[inline]
fn part(block: u64, from: usize, to: usize) -> u64 {
    (block >> (8 * from)) & (u64::MAX >> (64 - 8 * (to - from)))
}

/// Bytes and length of a token in one number, which is never 0.
#[inline]
fn key(block: u64, length: usize) -> u64 {
    block | (length as u64) << 56
}

#[inline]
fn hash(key: u64) -> usize {
    let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 32).wrapping_mul(0xff51_afd7_ed55_8ccd) >> 20) as usize
}

fn filter_word(hash: usize) -> usize {
    hash / 64 % (FILTER_BITS / 64)
}

fn filter_bit(hash: usize) -> u64 {
    1 << (hash % 64)
}
