//! A small seeded generator (splitmix64): the same numbers on every machine.

/// A stream of numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const HEX: &[u8] = b"0123456789abcdef";

impl Random {
    /// A stream of its own for each label, so that a change in one session leaves the others as they are.
    pub fn new(seed: u64, label: &str) -> Random {
        let folded = label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        Random { state: seed ^ folded }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; 0 for a limit of 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next().checked_rem(limit).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A place in a list of this length.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// True this many times in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of a list that is not empty.
    pub fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.index(list.len())]
    }

    /// So many hexadecimal digits.
    pub fn hex(&mut self, length: usize) -> String {
        self.letters(HEX, length)
    }

    /// So many letters and digits, as identifiers have them.
    pub fn base62(&mut self, length: usize) -> String {
        self.letters(BASE62, length)
    }

    /// So many characters of base64, as signatures have them.
    pub fn base64(&mut self, length: usize) -> String {
        self.letters(BASE64, length)
    }

    /// A random UUID.
    pub fn uuid(&mut self) -> String {
        let (a, b, c, d, e) = (self.hex(8), self.hex(4), self.hex(3), self.hex(3), self.hex(12));
        format!("{a}-{b}-4{c}-a{d}-{e}")
    }

    fn letters(&mut self, alphabet: &[u8], length: usize) -> String {
        (0..length).map(|_| char::from(alphabet[self.index(alphabet.len())])).collect()
    }
}
