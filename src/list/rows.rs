//! The rows of one element of a list: while the element is unpacked for what it holds beside them, they stay bytes.

use super::pack::packed;
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::mem::take;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Longer lists are bytes while they come: few sessions have so many calls.
const MANY_ROWS: usize = 1 << 17;

/// The bytes of no rows: their number.
const NO_ROWS: [u8; 1] = [0];

/// Rows, as they are or, until they are looked at, as bytes.
pub struct Rows<T> {
    /// Empty where they are bytes.
    plain: Vec<T>,
    packed: Option<Box<Packed<T>>>,
}

struct Packed<T> {
    /// Empty once the rows have been looked at. Walks share them.
    bytes: Mutex<Arc<Vec<u8>>>,
    /// The rows, once they have been looked at.
    shown: OnceLock<Vec<T>>,
}

impl<T> From<Vec<T>> for Rows<T> {
    fn from(plain: Vec<T>) -> Rows<T> {
        Rows { plain, packed: None }
    }
}

impl<T> From<Box<[u8]>> for Rows<T> {
    fn from(bytes: Box<[u8]>) -> Rows<T> {
        Rows::from(Arc::new(bytes.into_vec()))
    }
}

impl<T> From<Arc<Vec<u8>>> for Rows<T> {
    fn from(bytes: Arc<Vec<u8>>) -> Rows<T> {
        Rows { plain: Vec::new(), packed: Some(Box::new(Packed { bytes: Mutex::new(bytes), shown: OnceLock::new() })) }
    }
}

impl<T> FromIterator<T> for Rows<T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Rows<T> {
        Rows::from(Vec::from_iter(rows))
    }
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows::from(Vec::new())
    }
}

impl<T> Rows<T> {
    /// What is made of the bytes, where they have not been looked at.
    fn of_bytes<R>(&self, of: impl FnOnce(&Arc<Vec<u8>>) -> R) -> Option<R> {
        let bytes = self.packed.as_ref()?.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        (!bytes.is_empty()).then(|| of(&bytes))
    }
}

/// Rows that come one by one: those of a long list are bytes from the beginning.
#[derive(Clone, Debug)]
pub struct Coming<T> {
    plain: Vec<T>,
    /// How many there are as bytes, and these; `None` where they stay as they are.
    packed: Option<(usize, Vec<u8>)>,
}

impl<T> Default for Coming<T> {
    fn default() -> Coming<T> {
        Coming { plain: Vec::new(), packed: None }
    }
}

impl<T: Serialize> Coming<T> {
    /// So many of them will come. Room that nothing is written into costs nothing.
    pub fn expecting(rows: usize) -> Coming<T> {
        match rows > MANY_ROWS {
            true => Coming { packed: Some((0, Vec::with_capacity(rows * size_of::<T>()))), ..Coming::default() },
            false => Coming { plain: Vec::with_capacity(rows), packed: None },
        }
    }

    /// Adds one at the end.
    pub fn push(&mut self, row: T) {
        match &mut self.packed {
            // Nothing can go wrong on the way into memory.
            Some((count, bytes)) => *count += usize::from(postcard::to_io(&row, bytes).is_ok()),
            None => self.plain.push(row),
        }
    }

    /// Those that have come; `None` where they are bytes.
    pub fn plain(&self) -> Option<&[T]> {
        self.packed.is_none().then_some(&self.plain)
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.packed.as_ref().is_none_or(|(count, _)| *count == 0)
    }

    /// All of them.
    pub fn rows(self) -> Rows<T> {
        match self.packed {
            // In place: a second list of so many bytes would stand beside the context of the session.
            Some((count, mut bytes)) => {
                bytes.splice(0..0, packed(&count));
                Rows::from(Arc::new(bytes))
            }
            None => Rows::from(self.plain),
        }
    }
}

impl<T: DeserializeOwned> Rows<T> {
    /// How many there are: bytes begin with it.
    pub fn len(&self) -> usize {
        let shown = self.packed.as_ref().is_none_or(|packed| packed.shown.get().is_some());
        let told = || self.of_bytes(|bytes| postcard::take_from_bytes(bytes).map_or(0, |(length, _)| length));
        if shown { None } else { told() }.unwrap_or_else(|| (**self).len())
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Copy + DeserializeOwned> Rows<T> {
    /// The rows one by one. Those that are bytes stay so: this is for one walk over many.
    pub fn each(&self) -> Each<'_, T> {
        self.of_bytes(|bytes| Each::Packed(InBytes::of(Arc::clone(bytes)))).unwrap_or_else(|| Each::Plain(self.iter()))
    }
}

/// A walk over rows.
pub enum Each<'a, T> {
    /// Over rows as they are.
    Plain(std::slice::Iter<'a, T>),
    /// Over bytes.
    Packed(InBytes),
}

impl<T: Copy + DeserializeOwned> Iterator for Each<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match self {
            Each::Plain(rows) => rows.next().copied(),
            Each::Packed(rows) => rows.next(),
        }
    }
}

/// Packed rows that have not been reached.
pub struct InBytes {
    bytes: Arc<Vec<u8>>,
    /// How many are left, and where they begin.
    left: usize,
    at: usize,
}

impl InBytes {
    fn of(bytes: Arc<Vec<u8>>) -> InBytes {
        let (left, at) = postcard::take_from_bytes(&bytes).map_or((0, 0), |(left, rest)| (left, bytes.len() - rest.len()));
        InBytes { bytes, left, at }
    }

    fn next<T: DeserializeOwned>(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        let (row, rest) = postcard::take_from_bytes(self.bytes.get(self.at..)?).ok()?;
        self.at = self.bytes.len() - rest.len();
        Some(row)
    }

    /// All of them, in one list that need not grow; none where the bytes are damaged.
    fn all<T: DeserializeOwned>(mut self) -> Vec<T> {
        // A damaged number asks for no more room than its bytes may hold.
        let mut all = Vec::with_capacity(self.left.min(self.bytes.len() / 4));
        while self.left > 0 {
            match self.next() {
                Some(row) => all.push(row),
                None => return Vec::new(),
            }
        }
        all
    }
}

impl<T: Clone + DeserializeOwned> Clone for Rows<T> {
    fn clone(&self) -> Rows<T> {
        self.of_bytes(|bytes| Rows::from(Arc::clone(bytes))).unwrap_or_else(|| Rows::from((**self).clone()))
    }
}

impl<T: DeserializeOwned> Deref for Rows<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        self.packed.as_ref().map_or(&self.plain, |packed| {
            packed.shown.get_or_init(|| InBytes::of(take(&mut *packed.bytes.lock().unwrap_or_else(PoisonError::into_inner))).all())
        })
    }
}

impl<T: DeserializeOwned> DerefMut for Rows<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        if let Some(packed) = self.packed.take() {
            let Packed { bytes, shown } = *packed;
            let bytes = bytes.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.plain = shown.into_inner().unwrap_or_else(|| InBytes::of(bytes).all());
        }
        &mut self.plain
    }
}

impl<'a, T: DeserializeOwned> IntoIterator for &'a Rows<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: DeserializeOwned> IntoIterator for &'a mut Rows<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
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

impl<T: Serialize + DeserializeOwned> Serialize for Rows<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes = self.of_bytes(Arc::clone).unwrap_or_else(|| Arc::new(packed(&**self).into_vec()));
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de, T> Deserialize<'de> for Rows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rows<T>, D::Error> {
        // Many an element has no rows of one kind or another.
        deserializer.deserialize_byte_buf(AsBytes).map(|bytes| if *bytes == NO_ROWS { Rows::default() } else { Rows::from(bytes) })
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
    use super::super::pack::unpacked;
    use super::*;

    #[test]
    fn rows_come_back_as_they_were() {
        let mut rows = Rows::from(vec![1_u64, 1 << 40]);
        let mut again: Rows<u64> = unpacked(&packed(&rows));
        assert_eq!((packed(&again), again.len(), again.is_empty()), (packed(&rows), 2, false));
        assert_eq!((again.clone().len(), Rows::<u64>::default().len()), (2, 0));
        assert_eq!((&again, again.last()), (&rows, Some(&(1 << 40))));
        [&mut rows, &mut again].into_iter().for_each(|rows| rows.push(7));
        assert_eq!((again.len(), unpacked::<Rows<u64>>(&packed(&again))), (3, rows));
    }

    #[test]
    fn rows_that_come_one_by_one_are_all_there() {
        for expected in [0, 3, MANY_ROWS + 1] {
            let mut coming = Coming::expecting(expected);
            assert!(coming.is_empty());
            (0..300_u64).for_each(|row| coming.push(row));
            assert!(!coming.is_empty());
            let rows = coming.rows();
            assert_eq!((rows.packed.is_some(), rows.len()), (expected > MANY_ROWS, 300));
            assert!(rows.each().eq(0..300));
            assert_eq!(rows.of_bytes(|_| ()).is_some(), expected > MANY_ROWS, "a walk leaves them bytes");
            assert_eq!(*rows, (0..300).collect::<Vec<u64>>());
        }
    }
}
