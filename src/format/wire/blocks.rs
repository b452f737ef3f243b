//! Content that logs write in more than one shape: as a string, as a list of blocks, as one block, or not at all.

use crate::format::ground::visit;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// One block of a content list.
#[derive(Clone, Debug)]
pub enum Block<'a, T> {
    /// A bare string, which is text.
    Text(Cow<'a, str>),
    /// An object with the fields of its dialect.
    Object(T),
    /// Neither: nothing that content is made of.
    Other,
}

/// Content as a list, whichever shape the log gave it; empty for null.
#[derive(Clone, Debug)]
pub struct Blocks<'a, T>(pub Vec<Block<'a, T>>);

impl<T> Blocks<'_, T> {
    /// The blocks that are objects.
    pub fn objects(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(|block| match block {
            Block::Object(object) => Some(object),
            Block::Text(_) | Block::Other => None,
        })
    }

    /// What the blocks say, joined by newlines: bare strings, and what `words` finds in an object.
    pub fn joined<'b, S: AsRef<str>>(&'b self, words: impl Fn(&'b T) -> Option<S>) -> String {
        let mut texts = String::new();
        let mut add = |words: &str| {
            texts.push_str(words);
            texts.push('\n');
        };
        for block in &self.0 {
            match block {
                Block::Text(text) => add(text),
                Block::Object(object) => words(object).into_iter().for_each(|words| add(words.as_ref())),
                Block::Other => {}
            }
        }
        texts.pop();
        texts
    }
}

impl<T> Default for Blocks<'_, T> {
    fn default() -> Self {
        Blocks(Vec::new())
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Blocks<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Blocks<'a, T>, D::Error> {
        deserializer.deserialize_any(BlocksVisitor(PhantomData))
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Block<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Block<'a, T>, D::Error> {
        deserializer.deserialize_any(BlockVisitor(PhantomData))
    }
}

struct BlocksVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for BlocksVisitor<T> {
    type Value = Blocks<'de, T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, an object or a list of them")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = elements.next_element()? {
            blocks.push(block);
        }
        Ok(Blocks(blocks))
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Blocks::default())
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Blocks(vec![Block::Text(Cow::Borrowed(text))]))
    }
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Blocks(vec![Block::Text(Cow::Owned(text.to_owned()))]))
    }
    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        Ok(Blocks(vec![BlockVisitor(PhantomData).visit_map(entries)?]))
    }
    visit!(Blocks(vec![Block::Other]); visit_bool bool, visit_u64 u64, visit_i64 i64, visit_f64 f64);
}

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
    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        Ok(Block::Object(T::deserialize(MapAccessDeserializer::new(entries))?))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Block::Other)
    }
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Block::Other)
    }
    visit!(Block::Other; visit_bool bool, visit_u64 u64, visit_i64 i64, visit_f64 f64);
}
