//! Sessions as bytes, while a corpus of many is held.

use super::{SentPrompts, Trace, WholePrompt};
use crate::list::{Pack, packed, unpacked};
use std::collections::BTreeMap;

/// What of a session is never written down, and is held with it all the same.
type Beside = (Option<String>, bool, Option<SentPrompts>, BTreeMap<u32, u64>, Vec<WholePrompt>, Vec<u32>, BTreeMap<u32, String>);

impl Trace {
    /// Bytes that its rows take in memory, without what hangs on them.
    pub fn row_bytes(&self) -> usize {
        let rows = size_of_val(&*self.messages) + size_of_val(&*self.parts) + size_of_val(&*self.calls);
        rows + size_of_val(&*self.references) + size_of_val(&*self.pieces)
    }
}

impl Pack for Trace {
    fn pack(&self) -> Box<[u8]> {
        packed(&(self, (&self.folder, self.reports_cache, self.sent, &self.sent_sizes, &self.whole, &self.imposed, &self.paths)))
    }

    fn unpack(bytes: &[u8]) -> Trace {
        let (trace, (folder, reports_cache, sent, sent_sizes, whole, imposed, paths)): (Trace, Beside) = unpacked(bytes);
        Trace { folder, reports_cache, sent, sent_sizes, whole, imposed, paths, ..trace }
    }
}
