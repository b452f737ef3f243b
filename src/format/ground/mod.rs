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

/// Declares objects of a log: each field once, with its type and, behind `=`, its key where that is not the field's name; `|` stands before further names of
/// the same key, and `as` before the seed that decodes the value where its type alone does not tell how. A field that an object does not have is as by default,
/// what is not declared is passed over, and of a key that stands twice the last value holds.
///
/// It does what serde's own macro does with half of the code that is compiled: there are three hundred such objects.
macro_rules! wire {
    ($(
        $(#[$about:meta])*
        $seen:vis struct $name:ident $(<$life:lifetime>)? {
            $($(#[$on:meta])* $shown:vis $field:ident: $type:ty $(= $key:literal $(| $other:literal)*)? $(as $seed:path)?),* $(,)?
        }
    )+) => {$(
        $(#[$about])*
        #[derive(Default)]
        $seen struct $name $(<$life>)? { $($(#[$on])* $shown $field: $type),* }

        impl<'de $(: $life, $life)?> $crate::format::ground::Fields<'de> for $name $(<$life>)? {
            fn field<A: serde::de::MapAccess<'de>>(&mut self, key: &str, object: &mut A) -> Result<bool, A::Error> {
                match key {
                    $($crate::format::ground::wire!(key $field $($key $(| $other)*)?) =>
                        $crate::format::ground::wire!(self.$field object ($($seed)?) $($($other)*)?),)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }

        impl<'de $(: $life, $life)?> serde::Deserialize<'de> for $name $(<$life>)? {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::format::ground::fields(deserializer)
            }
        }
    )+};
    (key $field:ident) => { stringify!($field) };
    (key $field:ident $key:literal $(| $other:literal)*) => { $key $(| $other)* };
    ($made:ident.$field:ident $object:ident ($seed:path) $($other:literal)*) => { $made.$field = $object.next_value_seed($seed)? };
    ($made:ident.$field:ident $object:ident ()) => { $made.$field = $object.next_value()? };
    // Where a field has several names, null under one of them leaves what stands under another.
    ($made:ident.$field:ident $object:ident () $($other:literal)+) => {
        if let Some(value) = $object.next_value::<Option<_>>()? {
            $made.$field = value;
        }
    };
}
pub(super) use wire;

mod branches;
mod count;
mod fields;
mod head;
pub mod image;
mod json;
mod lines;
pub mod msgpack;
mod odd;
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
pub use fields::{Fields, fields};
pub use json::{CUT_OFF, ODD, close, compact, decoded, fault, said, says, string, text_or_json, values, without};
pub use lines::{HALF_CHARACTER, Lines, NOT_UTF8, whole_characters};
pub use odd::odd;
pub use outline::Outline;
pub use pieces::{Piece, Take, each_piece};
pub use source::{BROKEN_OFF, Lose, ReadError, Source};
pub use time::{millis, moment};
pub use words::{InPieces, Words, at, is_drawn};
