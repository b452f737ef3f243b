//! Single fields of recorded JSON, read without trust and without copying.

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// No count of tokens is larger; what is, is damage.
const LARGEST_COUNT: u64 = 1 << 40;

/// A string that stays where it stands in the record wherever it holds no escapes. (An `Option<Cow<str>>` would always be copied.)
#[derive(Debug, Default, Deserialize)]
pub struct Words<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl std::ops::Deref for Words<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

/// The string of an optional field; empty where the field is absent.
pub fn text<'a>(field: &'a Option<Words<'_>>) -> &'a str {
    field.as_deref().unwrap_or_default()
}

/// The id in an optional field. Publishing tools put `REDACTED` in the place of ids: such an id names nothing and is absent.
pub fn id<'a>(field: &'a Option<Words<'_>>) -> Option<&'a str> {
    field.as_deref().filter(|id| !id.is_empty() && *id != "REDACTED")
}

/// A number of tokens as a log has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// The field is absent or null.
    #[default]
    Absent,
    /// A number that can be one.
    Given(u64),
    /// Negative, broken, not a whole number or beyond all measure.
    Absurd,
}

impl Count {
    /// The number, absent ones being 0; `None` where it is absurd.
    pub fn or_zero(self) -> Option<u64> {
        match self {
            Count::Absent => Some(0),
            Count::Given(count) => Some(count),
            Count::Absurd => None,
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of tokens")
    }

    fn visit_u64<E>(self, value: u64) -> Result<Count, E> {
        Ok(if value <= LARGEST_COUNT { Count::Given(value) } else { Count::Absurd })
    }

    fn visit_i64<E>(self, value: i64) -> Result<Count, E> {
        Ok(u64::try_from(value).map_or(Count::Absurd, Count::Given))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Count, E> {
        let whole = value.fract() == 0.0 && (0.0..=LARGEST_COUNT as f64).contains(&value);
        Ok(if whole { Count::Given(value as u64) } else { Count::Absurd })
    }

    fn visit_unit<E>(self) -> Result<Count, E> {
        Ok(Count::Absent)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Count, E> {
        Ok(Count::Absurd)
    }

    fn visit_str<E>(self, _: &str) -> Result<Count, E> {
        Ok(Count::Absurd)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Count, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Count::Absurd)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Count, A::Error> {
        while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Count::Absurd)
    }
}

/// A recorded price in thousand-millionths of a dollar. Agents write 0 where they know no price (subscriptions, unlisted models):
/// that says nothing, and is absent.
pub fn nano_usd(dollars: Option<f64>) -> Option<i64> {
    let nano = (dollars? * 1e9).round();
    (nano >= 1.0 && nano < i64::MAX as f64).then_some(nano as i64)
}

/// JSON without the blanks between its tokens, as it is sent to a model. Valid JSON is taken for granted.
pub fn compact(json: &str) -> Cow<'_, str> {
    let mut compacted = String::new();
    let (mut inside_string, mut escaped, mut kept_to, mut dropping) = (false, false, 0, false);
    for (at, byte) in json.bytes().enumerate() {
        let blank = !inside_string && byte.is_ascii_whitespace();
        if blank && !dropping {
            compacted.push_str(json.get(kept_to..at).unwrap_or_default());
        } else if dropping && !blank {
            kept_to = at;
        }
        dropping = blank;
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = inside_string,
            b'"' => inside_string = !inside_string,
            _ => {}
        }
    }
    if kept_to == 0 && compacted.is_empty() && !dropping {
        return Cow::Borrowed(json);
    }
    if !dropping {
        compacted.push_str(json.get(kept_to..).unwrap_or_default());
    }
    Cow::Owned(compacted)
}
