//! WHAT EVERY READER STANDS ON: files, lines, pieces of documents, JSON, YAML, SQLite, words, numbers, times and pictures. Knows no format.

/// Visits of JSON values that all come to one thing.
macro_rules! visit {
    ($made:expr; $($visit:ident $value:ty),*) => {
        $(fn $visit<E>(self, _: $value) -> Result<Self::Value, E> {
            Ok($made)
        })*
    };
}
pub(super) use visit;

mod branches;
mod count;
mod fields;
mod head;
pub mod image;
mod json;
mod lines;
mod outline;
mod pieces;
mod source;
pub mod sqlite;
mod time;
mod words;
pub mod yaml;
mod zstd;

pub use branches::{Branches, Repeats, TAKEN_UP};
pub use count::{ABSURD, ATTACHED, Absurd, Count, Dollars, Figures, MOST, sound};
pub(super) use fields::wire;
pub use fields::{Fields, fields};
pub use json::{CUT_OFF, ODD, close, compact, decoded, fault, said, says, string, text_or_json, values, without};
pub use lines::{HALF_CHARACTER, Lines, NOT_UTF8, whole_characters};
pub use outline::Outline;
pub use pieces::{Piece, Take, each_piece};
pub use source::{BROKEN_OFF, Lose, ReadError, Source};
pub use time::{millis, moment};
pub use words::{InPieces, Words, at, is_drawn};
