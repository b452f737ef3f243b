//! Content that logs write in more than one shape: as a string, as a list of blocks, as one block, or not at all.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A string that is borrowed from its line where it has no escapes. Null is the empty string.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words<'a>(pub Cow<'a, str>);

impl Deref for Words<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Words<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Words<'a>, D::Error> {
        struct WordsVisitor;
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
        }
        deserializer.deserialize_any(WordsVisitor)
    }
}

/// One block of a content list.
#[derive(Clone, Debug)]
pub enum Block<'a, T> {
    /// A bare string.
    Text(Cow<'a, str>),
    /// An object.
    Object(T),
}

/// Content as a list, whichever shape the log gave it; empty for null.
#[derive(Clone, Debug)]
pub struct Blocks<'a, T>(pub Vec<Block<'a, T>>);

impl<T> Default for Blocks<'_, T> {
    fn default() -> Self {
        Blocks(Vec::new())
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Blocks<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Blocks<'a, T>, D::Error> {
        struct BlocksVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for BlocksVisitor<T> {
            type Value = Blocks<'de, T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, an object or a list of them")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Blocks(vec![Block::Text(Cow::Borrowed(text))]))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Blocks(vec![Block::Text(Cow::Owned(text.to_owned()))]))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Blocks::default())
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
                Ok(Blocks(vec![Block::Object(T::deserialize(MapAccessDeserializer::new(entries))?)]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
                let mut blocks = Vec::new();
                while let Some(block) = elements.next_element::<Block<'de, T>>()? {
                    blocks.push(block);
                }
                Ok(Blocks(blocks))
            }
        }
        deserializer.deserialize_any(BlocksVisitor(PhantomData))
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Block<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Block<'a, T>, D::Error> {
        struct BlockVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for BlockVisitor<T> {
            type Value = Block<'de, T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an object")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Block::Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Block::Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Block::Text(Cow::Borrowed("")))
            }
            fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
                Ok(Block::Object(T::deserialize(MapAccessDeserializer::new(entries))?))
            }
        }
        deserializer.deserialize_any(BlockVisitor(PhantomData))
    }
}
