//! Elements as bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What can be packed into bytes and comes back as it was.
pub trait Pack: Clone + Default + Send + Sync + Serialize + DeserializeOwned {
    /// The value as bytes.
    fn pack(self) -> Box<[u8]> {
        packed(&self)
    }

    /// The value that was packed; the default where the bytes are damaged.
    fn unpack(bytes: &[u8]) -> Self {
        unpacked(bytes)
    }
}

/// The bytes of a value. Nothing can go wrong on the way into memory.
pub fn packed(value: &impl Serialize) -> Box<[u8]> {
    postcard::to_io(value, Vec::new()).unwrap_or_default().into_boxed_slice()
}

/// The value of these bytes; the default where they are damaged.
pub fn unpacked<T: DeserializeOwned + Default>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).unwrap_or_default()
}
