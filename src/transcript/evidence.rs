//! What of a text can be recognised in a later one, without its words.

use super::kept::KeptText;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The recognisable pieces of a text, as hashes. It lives from the moment a text is read until its session's references are made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Each distinct piece once, by ascending hash.
    pub units: Box<[Unit]>,
    /// Pieces that were left out because the text, or its session, has too many of them.
    pub left_out: u32,
    /// Hash of the whole text, by which repetitions are known; 0 for an empty text.
    pub identity: u64,
    /// For arguments: hash of the file or address that they name under one of the usual keys; 0 where they name none.
    pub subject: u64,
    /// For arguments: how many values they hold, names of keys not counted.
    pub values: u32,
    /// For arguments: hash of the command by which a shell is told to look at something and change nothing, or of all of them where an editor is told to
    /// show a file; 0 for all others.
    pub looks: u64,
    /// For arguments: that file or address itself, kept only where the user asked for it.
    pub path: Option<KeptText>,
}

/// One recognisable piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unit {
    /// Hash of the piece; the lowest bit tells lines (0) from identifiers (1).
    pub hash: u64,
    /// Where it stands in its text.
    pub at: Standing,
}

/// Where a piece stands in its text, in bytes from the text's start. It may stand there more than once: what is left at the start of a text shows it
/// from the end of its first time on, what is left at the end from the start of its last time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Standing {
    /// Where its first time ends.
    pub first_end: u32,
    /// Where its last time starts.
    pub last_start: u32,
}

impl Standing {
    /// Of a piece that stands here once.
    pub fn once(stands: Range<usize>) -> Standing {
        let byte = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
        Standing { first_end: byte(stands.end), last_start: byte(stands.start) }
    }

    /// Of a piece that does not stand in the text.
    pub const NOWHERE: Standing = Standing { first_end: u32::MAX, last_start: 0 };

    /// Does the piece not stand in the text at all?
    pub fn is_nowhere(&self) -> bool {
        *self == Standing::NOWHERE
    }

    /// Of a piece that stands in both places.
    pub fn and(self, other: Standing) -> Standing {
        Standing { first_end: self.first_end.min(other.first_end), last_start: self.last_start.max(other.last_start) }
    }
}

impl Unit {
    /// A line, or a part of a very long one.
    pub fn line(hash: u64, stands: Range<usize>) -> Unit {
        Unit { hash: hash & !1, at: Standing::once(stands) }
    }

    /// A path or a name.
    pub fn identifier(hash: u64, stands: Range<usize>) -> Unit {
        Unit { hash: hash | 1, at: Standing::once(stands) }
    }

    /// Whether the piece is a line, and no identifier.
    pub fn is_line(&self) -> bool {
        self.hash & 1 == 0
    }
}
