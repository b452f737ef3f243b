//! What kind of character stands at a place, as the patterns of tokenizers tell them apart. The table is made while the program is built (`build.rs`).

/// Kinds of characters that the patterns tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What is none of the others: controls, joiners, private and unassigned places.
    Other,
    /// Upper and title case.
    Upper,
    /// Lower-case letters of all scripts.
    Lower,
    /// Letters without case, and those that modify others.
    Uncased,
    /// Accents and the like, which join a letter.
    Mark,
    /// Numbers of all scripts.
    Number,
    /// Whitespace of all scripts.
    Space,
    /// Punctuation, signs and pictures.
    Symbol,
}

const KINDS: [Kind; 8] = [Kind::Other, Kind::Upper, Kind::Lower, Kind::Uncased, Kind::Mark, Kind::Number, Kind::Space, Kind::Symbol];

static TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/letters.kinds"));

/// Pages of the table: one for each 256 characters.
const PAGES: usize = 0x1100;

/// The kind of a character.
#[inline]
pub fn kind(letter: char) -> Kind {
    let code = letter as usize;
    let page = TABLE.get(code >> 8).copied().unwrap_or_default();
    let kind = TABLE.get(PAGES + (usize::from(page) << 8) + (code & 0xff)).copied().unwrap_or_default();
    KINDS.get(usize::from(kind)).copied().unwrap_or(Kind::Other)
}

/// The end of the contraction that begins at `at`, if one does.
#[inline]
pub(super) fn contraction_end(bytes: &[u8], at: usize) -> Option<usize> {
    let letter = |offset: usize| bytes.get(at + offset).map_or(0, u8::to_ascii_lowercase);
    if letter(0) != b'\'' {
        return None;
    }
    match (letter(1), letter(2)) {
        (b's' | b'd' | b'm' | b't', _) => Some(at + 2),
        (b'l', b'l') | (b'v' | b'r', b'e') => Some(at + 3),
        _ => None,
    }
}
