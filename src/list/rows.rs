//! The rows of one element of a list: while the element is unpacked for what it holds beside them, they stay bytes.

use super::pack::{packed, unpacked};
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

/// Rows, as they are or, until they are looked at, as bytes.
#[derive(Clone)]
pub struct Rows<T> {
    /// Empty where they are bytes.
    plain: Vec<T>,
    packed: Option<Packed<T>>,
}

#[derive(Clone)]
struct Packed<T> {
    bytes: Box<[u8]>,
    /// The rows, once they have been looked at.
    shown: OnceLock<Vec<T>>,
}

impl<T> From<Vec<T>> for Rows<T> {
    fn from(plain: Vec<T>) -> Rows<T> {
        Rows { plain, packed: None }
    }
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows::from(Vec::new())
    }
}

impl<T: DeserializeOwned> Deref for Rows<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        self.packed.as_ref().map_or(&self.plain, |packed| packed.shown.get_or_init(|| unpacked(&packed.bytes)))
    }
}

impl<T: DeserializeOwned> DerefMut for Rows<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        if let Some(Packed { bytes, shown }) = self.packed.take() {
            self.plain = shown.into_inner().unwrap_or_else(|| unpacked(&bytes));
        }
        &mut self.plain
    }
}

impl<T: DeserializeOwned + PartialEq> PartialEq for Rows<T> {
    fn eq(&self, other: &Rows<T>) -> bool {
        **self == **other
    }
}

impl<T: DeserializeOwned + Eq> Eq for Rows<T> {}

impl<T: DeserializeOwned + fmt::Debug> fmt::Debug for Rows<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

impl<T: Serialize> Serialize for Rows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.packed {
            Some(packed) => serializer.serialize_bytes(&packed.bytes),
            None => serializer.serialize_bytes(&packed(&self.plain)),
        }
    }
}

impl<'de, T> Deserialize<'de> for Rows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rows<T>, D::Error> {
        let bytes = deserializer.deserialize_byte_buf(AsBytes)?;
        Ok(Rows { plain: Vec::new(), packed: Some(Packed { bytes, shown: OnceLock::new() }) })
    }
}

struct AsBytes;

impl Visitor<'_> for AsBytes {
    type Value = Box<[u8]>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("packed rows")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Box<[u8]>, E> {
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were() {
        let mut rows = Rows::from(vec![1_u64, 1 << 40]);
        let mut again: Rows<u64> = unpacked(&packed(&rows));
        assert_eq!(packed(&again), packed(&rows));
        assert_eq!((&again, again.last()), (&rows, Some(&(1 << 40))));
        [&mut rows, &mut again].into_iter().for_each(|rows| rows.push(7));
        assert_eq!((again.len(), unpacked::<Rows<u64>>(&packed(&again))), (3, rows));
    }
}
