//! Remembers what texts came to: agents send the same instructions in every session, read the same files, and copy old messages into new logs.

use crate::transcript::Text;
use rustc_hash::FxHashMap;
use std::mem;

/// A shorter text is measured as fast as it is looked up.
pub const SHORTEST: usize = 64;

/// So much memory, about, is held for the texts met last, and as much for those before them.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// What is held for a text without pieces and shape.
const EACH: usize = 256;

/// Measured texts, by hashes of the words and of the way in which they were measured. What has not been met for long is forgotten.
#[derive(Default)]
pub struct Known {
    recent: FxHashMap<u128, Text>,
    older: FxHashMap<u128, Text>,
    /// Bytes held by `recent`.
    held: usize,
}

impl Known {
    /// What a text came to, if it is remembered.
    pub fn get(&mut self, key: u128) -> Option<Text> {
        if let Some(text) = self.recent.get(&key) {
            return Some(text.clone());
        }
        let text = self.older.remove(&key)?;
        self.keep(key, text.clone());
        Some(text)
    }

    /// Remembers what a text came to.
    pub fn keep(&mut self, key: u128, text: Text) {
        if self.held > MOST_BYTES {
            self.older = mem::take(&mut self.recent);
            self.held = 0;
        }
        let pieces = text.evidence.as_ref().map_or(0, |evidence| mem::size_of_val(&*evidence.units));
        let shape = text.shape.as_ref().map_or(0, |_| text.length.bytes as usize / 32);
        self.held += EACH + pieces + shape;
        self.recent.insert(key, text);
    }
}
