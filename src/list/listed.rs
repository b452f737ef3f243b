//! Rows that are written down as a list, one after the other.

use super::rows::Rows;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes the rows.
pub fn serialize<T: Serialize + DeserializeOwned, S: Serializer>(rows: &Rows<T>, serializer: S) -> Result<S::Ok, S::Error> {
    (**rows).serialize(serializer)
}

/// Reads what [`serialize`] wrote.
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Rows<T>, D::Error> {
    Vec::deserialize(deserializer).map(Rows::from)
}
