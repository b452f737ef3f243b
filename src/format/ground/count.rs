//! Numbers of a usage record as logs write them. A wrong one costs the usage, never the line around it.

use super::source::Lose;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// The reason for the loss of a file that stands in a prompt and has no size that is known.
pub const ATTACHED: &str = "attached file whose size in tokens is unknown";

/// The reason to hand to `Source::lose` where a usage record holds an [`Absurd`] number.
pub const ABSURD: &str = "absurd usage numbers";

/// More tokens than this in one call are no measurement.
pub const MOST: u64 = 1 << 40;

/// More dollars than this for one call are no measurement.
const MOST_DOLLARS: f64 = 1e6;

/// A number of a usage record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Number")]
pub enum Count {
    /// The record does not have it, or it is null.
    #[default]
    Absent,
    /// A whole number of a size that can be true.
    Sound(u64),
    /// Negative, broken, huge or no number at all.
    Absurd,
}

/// A usage record that holds a number that cannot be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Absurd;

/// What a record tells, where it is no [`Absurd`] one; that is counted.
pub fn sound<T>(told: Result<Option<T>, Absurd>, lose: Lose) -> Option<T> {
    told.inspect_err(|_| lose(ABSURD)).ok().flatten()
}

impl Count {
    /// The number; `None` where it is absent.
    pub fn known(self) -> Result<Option<u64>, Absurd> {
        match self {
            Count::Absent => Ok(None),
            Count::Sound(number) => Ok(Some(number)),
            Count::Absurd => Err(Absurd),
        }
    }

    /// The number; 0 where it is absent.
    pub fn or_zero(self) -> Result<u64, Absurd> {
        Ok(self.known()?.unwrap_or(0))
    }

    /// This number, or the other one where this one is absent.
    pub fn or(self, other: Count) -> Count {
        if self == Count::Absent { other } else { self }
    }

    /// So many, where they can be a measurement.
    pub fn of(number: u64) -> Count {
        if number <= MOST { Count::Sound(number) } else { Count::Absurd }
    }
}

/// What a log says that a call cost, in thousand-millionths of a dollar; `None` where it says nothing usable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Number")]
pub struct Dollars(pub Option<i64>);

impl Dollars {
    /// So many dollars, where they can be a measurement.
    pub fn of(dollars: f64) -> Dollars {
        let sound = (0.0..=MOST_DOLLARS).contains(&dollars);
        Dollars(sound.then(|| (dollars * 1e9).round() as i64))
    }

    /// The same without zero, for agents that write 0 where they know no price (subscriptions, unlisted models): it says nothing.
    pub fn above_zero(self) -> Option<i64> {
        self.0.filter(|nano| *nano > 0)
    }
}

/// The numbers of a usage record, under the names that its writer gives them.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Figures(BTreeMap<String, Number>);

impl Figures {
    /// The count of this name.
    pub fn count(&self, name: &str) -> Count {
        self.0.get(name).copied().unwrap_or_default().into()
    }

    /// The dollars of this name.
    pub fn dollars(&self, name: &str) -> Dollars {
        self.0.get(name).copied().unwrap_or_default().into()
    }
}

/// A JSON value as far as numbers go.
#[derive(Clone, Copy, Debug, Default)]
enum Number {
    #[default]
    None,
    Whole(u64),
    Float(f64),
    Other,
}

impl From<Number> for Count {
    fn from(number: Number) -> Count {
        match number {
            Number::None => Count::Absent,
            Number::Whole(number) => Count::of(number),
            // Some writers hold every number as a float.
            Number::Float(number) if number.fract() == 0.0 && number >= 0.0 && number <= MOST as f64 => Count::of(number as u64),
            Number::Float(_) | Number::Other => Count::Absurd,
        }
    }
}

impl From<Number> for Dollars {
    fn from(number: Number) -> Dollars {
        let dollars = match number {
            Number::Whole(number) => number as f64,
            Number::Float(number) => number,
            Number::None | Number::Other => return Dollars(None),
        };
        Dollars::of(dollars)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }
    fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
        Ok(Number::Whole(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
        Ok(u64::try_from(value).map_or(Number::Other, Number::Whole))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
        Ok(Number::Float(value))
    }
    fn visit_unit<E>(self) -> Result<Number, E> {
        Ok(Number::None)
    }
    visit!(Number::Other; visit_bool bool, visit_str &str);
    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Number, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Number::Other)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Number, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Number::Other)
    }
}
