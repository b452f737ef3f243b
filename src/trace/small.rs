//! What most parts lack, or have little of, in little room: a long session has many parts.

use crate::transcript::Length;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What few parts have: its default takes no more room than an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rare<T>(Option<Box<T>>);

impl<T: Copy + Default> Rare<T> {
    /// What it is; the default for most.
    pub fn get(&self) -> T {
        self.0.as_deref().copied().unwrap_or_default()
    }
}

impl<T: Default + PartialEq> From<T> for Rare<T> {
    fn from(one: T) -> Rare<T> {
        Rare((one != T::default()).then(|| Box::new(one)))
    }
}

impl<T: Copy + Default + Serialize> Serialize for Rare<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}

impl<'de, T: Default + PartialEq + Deserialize<'de>> Deserialize<'de> for Rare<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rare<T>, D::Error> {
        T::deserialize(deserializer).map(Rare::from)
    }
}

/// The length of a name: one of more than 65,535 bytes counts as so long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Length", into = "Length")]
pub struct NameLength {
    bytes: u16,
    utf16: u16,
    chars: u16,
    newlines: u16,
}

impl NameLength {
    /// The same as the length of any text.
    pub fn get(self) -> Length {
        let NameLength { bytes, utf16, chars, newlines } = self;
        Length { bytes: bytes.into(), utf16: utf16.into(), chars: chars.into(), newlines: newlines.into() }
    }
}

impl From<Length> for NameLength {
    fn from(length: Length) -> NameLength {
        let short = |units: u32| u16::try_from(units).unwrap_or(u16::MAX);
        let Length { bytes, utf16, chars, newlines } = length;
        NameLength { bytes: short(bytes), utf16: short(utf16), chars: short(chars), newlines: short(newlines) }
    }
}

impl From<NameLength> for Length {
    fn from(length: NameLength) -> Length {
        length.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::{packed, unpacked};
    use crate::transcript::Image;

    #[test]
    fn what_takes_little_room_is_written_as_before() {
        for image in [Image::default(), Image { width: 7, address: 3, ..Image::default() }] {
            assert_eq!((Rare::from(image).get(), packed(&Rare::from(image))), (image, packed(&image)));
            assert_eq!(unpacked::<Rare<Image>>(&packed(&image)), Rare::from(image));
        }
        let length = Length { bytes: 9, utf16: 5, chars: 4, newlines: 1 };
        assert_eq!((NameLength::from(length).get(), packed(&NameLength::from(length))), (length, packed(&length)));
        assert_eq!(NameLength::from(Length { bytes: 1 << 20, ..length }).get(), Length { bytes: 65_535, ..length });
    }
}
