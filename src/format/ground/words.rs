//! A string of a log.

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// A string of a log, borrowed from its line where it holds no escapes. Null is empty, and so is an absent field with a default;
/// a number in its place is what it reads. (A plain `Cow` in an `Option` would always be copied.)
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words<'a>(pub Cow<'a, str>);

impl Words<'_> {
    /// The string as an id. Publishing tools write `REDACTED` over ids: such an id names nothing and is empty.
    pub fn id(&self) -> &str {
        if &*self.0 == "REDACTED" { "" } else { &self.0 }
    }

    /// The id, where there is one.
    #[inline]
    pub fn some_id(&self) -> Option<&str> {
        Some(self.id()).filter(|id| !id.is_empty())
    }
}

/// Is the id of a tool call drawn, so that no other call has it by chance? Clients of many providers number their calls, some behind the tool's name, and
/// publishing tools write one mark over all ids.
pub fn is_drawn(id: &str, name: &str) -> bool {
    const FEWEST_BYTES: usize = 16;
    id.replace(name, "").len() >= FEWEST_BYTES && !id.contains("REDACTED")
}

impl Deref for Words<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    #[inline]
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Words<'a>, D::Error> {
        deserializer.deserialize_any(WordsVisitor { in_pieces: false })
    }
}

/// The words at this path of a value; empty where there are none.
pub fn at<'v>(value: &'v Value, path: &str) -> Words<'v> {
    value.pointer(path).and_then(|found| Words::deserialize(found).ok()).unwrap_or_default()
}

/// Decodes words that some exporters write as a list of pieces: strings, or objects that hold a text or the name of a tool. They are joined by newlines.
pub struct InPieces;

impl<'de> DeserializeSeed<'de> for InPieces {
    type Value = Words<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Words<'de>, D::Error> {
        deserializer.deserialize_any(WordsVisitor { in_pieces: true })
    }
}

struct WordsVisitor {
    in_pieces: bool,
}

impl<'de> Visitor<'de> for WordsVisitor {
    type Value = Words<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Words<'de>, E> {
        Ok(Words(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Words<'de>, E> {
        Ok(Words(Cow::Owned(text.to_owned())))
    }
    fn visit_unit<E>(self) -> Result<Words<'de>, E> {
        Ok(Words::default())
    }
    fn visit_u64<E>(self, number: u64) -> Result<Words<'de>, E> {
        Ok(Words(Cow::Owned(number.to_string())))
    }
    fn visit_i64<E>(self, number: i64) -> Result<Words<'de>, E> {
        Ok(Words(Cow::Owned(number.to_string())))
    }
    fn visit_f64<E>(self, number: f64) -> Result<Words<'de>, E> {
        Ok(Words(Cow::Owned(number.to_string())))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut pieces: A) -> Result<Words<'de>, A::Error> {
        if !self.in_pieces {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        let mut texts = Vec::new();
        while let Some(piece) = pieces.next_element::<Value>()? {
            let named = || ["text", "tool_name"].iter().find_map(|key| piece.get(*key)?.as_str());
            texts.extend(piece.as_str().or_else(named).map(str::to_owned));
        }
        Ok(Words(Cow::Owned(texts.join("\n"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_enough_to_borrow() {
        #[derive(serde::Deserialize)]
        #[serde(bound(deserialize = "'de: 'a"))]
        struct Record<'a> {
            said: Option<Words<'a>>,
        }
        let record: Record = serde_json::from_str(r#"{"said":"plain"}"#).unwrap();
        assert!(matches!(record.said, Some(Words(Cow::Borrowed("plain")))));
    }
}
