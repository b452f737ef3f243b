//! The tokens of a vocabulary, packed so that to encode a piece takes few far reaches into memory.
//!
//! Names, hashes and base64 break into short pieces that no text repeats, so no memo helps; with the crate's tables, made for
//! tokens of all lengths, they took half of the time. Longer tokens have a table of their own, so that the crate's, which take long to be
//! made, are needed for the rarest pieces alone.

use std::array;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use xxhash_rust::xxh3::xxh3_64;

/// The longest piece that [`Ranks::count`] encodes, and the longest token that is packed into a number.
pub const LONGEST: usize = 7;

/// A piece of more bytes than this is encoded with a queue: most names are shorter.
const MEDIUM: usize = 32;

/// The longest piece that [`Ranks::count_longer`] encodes.
pub const LONGEST_PIECE: usize = 1024;

/// Most texts of seven bytes are no token. This many bits, one set for each token, tell so without a look into the table.
const FILTER_BITS: usize = 1 << 20;

const ABSENT: u32 = u32::MAX;

/// Ranks of tokens of two bytes and more. A token of lower rank is joined first.
pub struct Ranks {
    /// By the two bytes of the token.
    pairs: Vec<u32>,
    filter: Vec<u64>,
    /// Tokens of three to seven bytes, as [`key`] packs them, at the place that their hash says or after it; 0 where there is none.
    tokens: Vec<u64>,
    /// The ranks of those tokens, place by place.
    ranks: Vec<u32>,
    /// All tokens in the order of their ranks, each behind its length in two bytes; a rank without a token has length 0.
    listing: Cow<'static, [u8]>,
    /// Tokens that are longer, in the same way.
    longer: Vec<Longer>,
}

/// A token of more than seven bytes; one whose length is 0 is none.
#[derive(Clone, Copy, Default)]
struct Longer {
    /// Where its bytes stand in the listing.
    at: u32,
    rank: u32,
    /// The upper half of its hash.
    hash: u32,
    length: u32,
}

/// A token of a piece that is being encoded.
#[derive(Clone, Copy)]
struct Joint {
    end: usize,
    /// Where the token before it begins.
    before: usize,
    /// The rank of it and the next one as one token.
    join: u32,
}

impl Ranks {
    /// The tokens of a loaded vocabulary; `None` if its ranks do not run from 0 on, with a few gaps at most.
    pub fn of(engine: &tiktoken::CoreBpe) -> Option<Ranks> {
        let size = engine.vocab_size();
        let (mut found, mut listing) = (0, Vec::new());
        for rank in 0..u32::try_from(size).ok()?.checked_add(16)? {
            let token = engine.decode(&[rank]);
            found += usize::from(!token.is_empty());
            listing.extend(u16::try_from(token.len()).ok()?.to_le_bytes());
            listing.extend(token);
        }
        Ranks::of_listing(Cow::Owned(listing)).filter(|_| found >= size)
    }

    /// The tokens that are listed in the order of their ranks, each behind its length in two bytes; `None` if the list breaks off.
    pub fn of_listing(listing: Cow<'static, [u8]>) -> Option<Ranks> {
        let (mut short, mut long) = (0_usize, 0_usize);
        each_token(&listing, |_, _, token| {
            short += usize::from((3..=LONGEST).contains(&token.len()));
            long += usize::from(token.len() > LONGEST);
            Some(())
        })?;
        let places = short.checked_mul(2)?.checked_next_power_of_two()?;
        let mut ranks = Ranks {
            pairs: vec![ABSENT; 1 << 16],
            filter: vec![0; FILTER_BITS / 64],
            tokens: vec![0; places],
            ranks: vec![ABSENT; places],
            listing: Cow::Borrowed(&[]),
            longer: vec![Longer::default(); long.checked_mul(2)?.checked_next_power_of_two()?],
        };
        each_token(&listing, |rank, at, token| match token.len() {
            0 | 1 => Some(()),
            2..=LONGEST => ranks.add(token, rank),
            _ => ranks.add_longer(token, rank, at),
        })?;
        Some(Ranks { listing, ..ranks })
    }

    fn add(&mut self, token: &[u8], rank: u32) -> Option<()> {
        let block = block_of(token);
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

    fn add_longer(&mut self, token: &[u8], rank: u32, at: usize) -> Option<()> {
        let hash = xxh3_64(token);
        let mut place = self.longer_place(hash as usize);
        while self.longer.get(place)?.length != 0 {
            place = self.longer_place(place + 1);
        }
        let (at, length) = (u32::try_from(at).ok()?, u32::try_from(token.len()).ok()?);
        *self.longer.get_mut(place)? = Longer { at, rank, hash: (hash >> 32) as u32, length };
        Some(())
    }

    fn place(&self, hash: usize) -> usize {
        hash & (self.tokens.len() - 1)
    }

    fn longer_place(&self, hash: usize) -> usize {
        hash & (self.longer.len() - 1)
    }

    /// The rank of the token with these bytes, two or more; [`ABSENT`] if it is none.
    #[inline]
    fn rank_of(&self, token: &[u8]) -> u32 {
        if token.len() <= LONGEST { self.rank(block_of(token), token.len()) } else { self.rank_of_longer(token) }
    }

    fn rank_of_longer(&self, token: &[u8]) -> u32 {
        let hash = xxh3_64(token);
        let mut place = self.longer_place(hash as usize);
        while let Some(known) = self.longer.get(place).filter(|known| known.length != 0) {
            let at = known.at as usize;
            let same = known.hash == (hash >> 32) as u32 && known.length as usize == token.len();
            if same && self.listing.get(at..at + token.len()) == Some(token) {
                return known.rank;
            }
            place = self.longer_place(place + 1);
        }
        ABSENT
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

    /// The number of tokens of a piece of eight bytes or more, up to [`LONGEST_PIECE`].
    pub fn count_longer(&self, piece: &[u8]) -> u64 {
        if self.rank_of(piece) != ABSENT {
            return 1;
        }
        if piece.len() <= MEDIUM {
            return joined::<{ MEDIUM + 1 }>(piece.len(), |from, to| piece.get(from..to).map_or(ABSENT, |both| self.rank_of(both)));
        }
        // A token is known by its first byte. Which two are joined next is asked of a queue: long pieces hold many.
        let mut tokens: Vec<Joint> = (0..piece.len()).map(|at| Joint { end: at + 1, before: at.wrapping_sub(1), join: ABSENT }).collect();
        let mut queue = BinaryHeap::with_capacity(piece.len());
        (0..piece.len()).for_each(|at| self.join(piece, &mut tokens, at, &mut queue));
        let mut count = piece.len() as u64;
        while let Some(Reverse((rank, at))) = queue.pop() {
            // What was queued before one of the two changed is not true any more.
            let Some(Joint { end: second, before, .. }) = tokens.get(at).copied().filter(|token| token.join == rank) else { continue };
            let Some(end) = tokens.get_mut(second).map(|gone| {
                gone.join = ABSENT;
                gone.end
            }) else {
                continue;
            };
            count -= 1;
            if let Some(token) = tokens.get_mut(at) {
                token.end = end;
            }
            if let Some(next) = tokens.get_mut(end) {
                next.before = at;
            }
            self.join(piece, &mut tokens, at, &mut queue);
            self.join(piece, &mut tokens, before, &mut queue);
        }
        count
    }

    /// Finds the rank of a token and the next one as one token, and queues it where it has one.
    fn join(&self, piece: &[u8], tokens: &mut [Joint], at: usize, queue: &mut BinaryHeap<Reverse<(u32, usize)>>) {
        let end = tokens.get(at).and_then(|token| tokens.get(token.end)).map(|next| next.end);
        let join = end.and_then(|end| piece.get(at..end)).map_or(ABSENT, |both| self.rank_of(both));
        if let Some(token) = tokens.get_mut(at) {
            token.join = join;
        }
        if join != ABSENT {
            queue.push(Reverse((join, at)));
        }
    }

    /// The number of tokens of a piece of one to seven bytes, which stand in `block`, the first one lowest.
    pub fn count(&self, block: u64, length: usize) -> u64 {
        if length < 2 || self.rank(block, length) != ABSENT {
            return 1;
        }
        joined::<{ LONGEST + 1 }>(length.min(LONGEST), |from, to| self.rank(part(block, from, to), to - from))
    }
}

/// The number of tokens that bytes are joined to, which are fewer than `PLACES`. `rank` tells the rank of the token between two bounds.
#[inline]
fn joined<const PLACES: usize>(bytes: usize, rank: impl Fn(usize, usize) -> u32) -> u64 {
    // The tokens so far lie between neighbouring bounds; joins[i] is the rank of token i and the next one as one token.
    let mut bounds: [usize; PLACES] = array::from_fn(|place| place);
    let mut joins = [ABSENT; PLACES];
    let mut tokens = bytes;
    let join = |bounds: &[usize; PLACES], tokens: usize, first: usize| match (bounds.get(first), bounds.get(first + 2)) {
        (Some(&from), Some(&to)) if first + 2 <= tokens => rank(from, to),
        _ => ABSENT,
    };
    for (first, rank) in joins.iter_mut().enumerate().take(bytes) {
        *rank = join(&bounds, tokens, first);
    }
    while let Some((first, &rank)) = joins.iter().take(tokens).enumerate().min_by_key(|(_, rank)| **rank) {
        if rank == ABSENT {
            break;
        }
        bounds.copy_within(first + 2..=tokens, first + 1);
        joins.copy_within(first + 2..=tokens, first + 1);
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

/// The bytes `from..to` of a block, lowest first.
#[inline]
fn part(block: u64, from: usize, to: usize) -> u64 {
    (block >> (8 * from)) & (u64::MAX >> (64 - 8 * (to - from)))
}

/// The bytes of a token of at most eight bytes, the first one lowest.
#[inline]
fn block_of(token: &[u8]) -> u64 {
    token.iter().rev().fold(0, |block, byte| block << 8 | u64::from(*byte))
}

/// Hands out each token with its rank and where it stands in the listing.
fn each_token(listing: &[u8], mut take: impl FnMut(u32, usize, &[u8]) -> Option<()>) -> Option<()> {
    let (mut at, mut rank) = (0, 0);
    while let Some(length) = listing.get(at..).and_then(|rest| rest.first_chunk::<2>()) {
        let first = at + 2;
        at = first + usize::from(u16::from_le_bytes(*length));
        take(rank, first, listing.get(first..at)?)?;
        rank += 1;
    }
    (at == listing.len()).then_some(())
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
