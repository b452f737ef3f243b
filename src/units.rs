//! Quantities with names: nothing in the program counts tokens in a float or money in anything but integers.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::iter::Sum;
use std::num::{NonZeroI64, NonZeroU32, NonZeroU64};
use std::ops::{Add, AddAssign, Sub};

/// Adds the named fields of one value to those of another, or takes them from it.
macro_rules! add_fields {
    ($sum:ident $sign:tt $other:ident: $($field:ident),+) => { $($sum.$field $sign $other.$field;)+ };
}
pub(crate) use add_fields;

/// Implements `+=` for a sum that is the sums of its named fields.
macro_rules! adds {
    ($sum:ident += $other:ty: $($field:ident),+) => {
        impl std::ops::AddAssign<$other> for $sum {
            fn add_assign(&mut self, other: $other) {
                $crate::units::add_fields!(self += other: $($field),+);
            }
        }
    };
}
pub(crate) use adds;

/// A number of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(pub u64);

impl Tokens {
    /// No tokens at all.
    pub const ZERO: Tokens = Tokens(0);

    /// The difference, or zero where `other` is the larger one.
    pub fn saturating_sub(self, other: Tokens) -> Tokens {
        Tokens(self.0.saturating_sub(other.0))
    }
}

impl Add for Tokens {
    type Output = Tokens;
    fn add(self, other: Tokens) -> Tokens {
        Tokens(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Tokens) {
        *self = *self + other;
    }
}

impl Sub for Tokens {
    type Output = Tokens;
    fn sub(self, other: Tokens) -> Tokens {
        self.saturating_sub(other)
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Tokens>>(iter: I) -> Tokens {
        iter.fold(Tokens::ZERO, Add::add)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The size of something: by the policy's estimate and as it really is.
/// A policy's editor hands out the first alone, so that no trigger can be fed the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Tokens by the policy's own estimator.
    pub estimated: Tokens,
    /// Tokens by the trace's truth (anchored on recorded usage where there is one).
    pub actual: Tokens,
}

impl Add for Size {
    type Output = Size;
    fn add(self, other: Size) -> Size {
        Size { estimated: self.estimated + other.estimated, actual: self.actual + other.actual }
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Size) {
        *self = *self + other;
    }
}

impl Sub for Size {
    type Output = Size;
    fn sub(self, other: Size) -> Size {
        Size { estimated: self.estimated - other.estimated, actual: self.actual - other.actual }
    }
}

impl Sum for Size {
    fn sum<I: Iterator<Item = Size>>(iter: I) -> Size {
        iter.fold(Size::default(), Add::add)
    }
}

/// The same number with room for a sign, for differences.
pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number with its thousands set apart: `1,234,567`.
pub fn grouped(number: u64) -> String {
    grouped_digits(&number.to_string())
}

/// Digits with their thousands set apart.
pub fn grouped_digits(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number and its noun: `1 file`, `2 files`.
pub fn counted(number: u64, noun: &str) -> String {
    counted_as(number, noun, &format!("{noun}s"))
}

/// A number and its noun, where more than an `s` tells one from many: `1 message that was taken back`, `2 messages that were taken back`.
pub fn counted_as(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// A number that may be absent, in the room of one that may not: one number counts as absent.
macro_rules! may_be_absent {
    ($(#[$doc:meta])* $name:ident: $number:ty as $turned:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name(Option<$turned>);

        impl $name {
            /// The number; `None` where it is absent.
            pub fn get(self) -> Option<$number> {
                self.0.map(|turned| !turned.get())
            }
        }

        impl From<Option<$number>> for $name {
            fn from(number: Option<$number>) -> $name {
                $name(number.and_then(|number| <$turned>::new(!number)))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.get().serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                Option::deserialize(deserializer).map($name::from)
            }
        }
    };
}

may_be_absent! {
    /// A number that may be absent, in the room of one that may not: a long session has some for each call. The largest number of all counts as absent.
    Known: u64 as NonZeroU64
}

may_be_absent! {
    /// A time in milliseconds since 1970 that may be absent, in the room of one that may not. The last millisecond before 1970 counts as absent.
    Time: i64 as NonZeroI64
}

may_be_absent! {
    /// An index that may be absent, in the room of one that may not: a long session has some for each part. The largest of all counts as absent.
    Index: u32 as NonZeroU32
}
