//! The values of a session as a baseline holds them: a corpus has many sessions, and most values of a short one are 0 or small.

use crate::list::packed;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Whole numbers in as little room as they take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(Box<[u8]>);

/// The last byte of a number is below this, and no other one.
const GOES_ON: u8 = 128;

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.iter().filter(|byte| **byte < GOES_ON).count()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        self.0.split_inclusive(|byte| *byte < GOES_ON).map(|bytes| postcard::from_bytes(bytes).unwrap_or_default())
    }

    /// The value at a place; `None` behind the last one.
    pub fn get(&self, place: usize) -> Option<i64> {
        let bytes = self.0.split_inclusive(|byte| *byte < GOES_ON).nth(place)?;
        postcard::from_bytes(bytes).ok()
    }
}

impl FromIterator<i64> for Values {
    fn from_iter<I: IntoIterator<Item = i64>>(values: I) -> Values {
        Values(values.into_iter().flat_map(|value| packed(&value)).collect())
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Values, D::Error> {
        Vec::<i64>::deserialize(deserializer).map(Values::from_iter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_as_they_were() {
        let all = [0, 1, -1, 63, 64, -65, i64::MAX, i64::MIN, 0];
        let values = Values::from_iter(all);
        assert_eq!((values.iter().collect::<Vec<i64>>(), values.len()), (all.to_vec(), all.len()));
        assert_eq!((values.get(3), values.get(8), values.get(9)), (Some(63), Some(0), None));
        let text = serde_json::to_string(&values).unwrap();
        assert_eq!(
            (text, values),
            (serde_json::to_string(&all).unwrap(), serde_json::from_str(&serde_json::to_string(&all).unwrap()).unwrap())
        );
        assert!(Values::default().is_empty());
    }
}
