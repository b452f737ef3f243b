//! Sums that merge exactly.

use std::collections::BTreeMap;
use std::ops::AddAssign;

/// Adds what each key of one map stands for to what it stands for in another.
pub(super) fn merge<K: Ord + Clone, V: Default + Copy + AddAssign>(mine: &mut BTreeMap<K, V>, theirs: &BTreeMap<K, V>) {
    for (key, value) in theirs {
        *mine.entry(key.clone()).or_default() += *value;
    }
}
