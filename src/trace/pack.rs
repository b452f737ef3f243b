//! Sessions as bytes, while a corpus of many is held.

use super::parts::Held;
use super::{CallRow, MessageRow, Parts, Reference, SentPrompts, Trace, WholePrompt};
use crate::list::{Pack, Rows, packed, unpacked};
use crate::transcript::Standing;
use std::collections::BTreeMap;
use std::mem::take;

/// What of a session is never written down, and is held with it all the same.
type Beside = (Option<String>, bool, Option<SentPrompts>, BTreeMap<u32, u64>, Vec<u32>, BTreeMap<u32, String>);

/// What stays bytes until it is looked at.
type Rowed = (Rows<MessageRow>, Rows<Held>, Rows<CallRow>, Rows<Reference>, Rows<Standing>, Rows<WholePrompt>);

impl Trace {
    /// Bytes that its rows take in memory, without what hangs on them.
    pub fn row_bytes(&self) -> usize {
        let rows = size_of_val(&**self.messages) + self.parts.bytes() + size_of_val(&**self.calls);
        rows + size_of_val(&**self.references) + size_of_val(&**self.pieces)
    }
}

impl Pack for Trace {
    fn pack(mut self) -> Box<[u8]> {
        let Trace { messages, parts, calls, references, pieces, whole, .. } = &mut self;
        let rows: Rowed = (take(messages), take(parts).0, take(calls), take(references), take(pieces), take(whole));
        packed(&(&self, rows, (&self.folder, self.reports_cache, self.sent, &self.sent_sizes, &self.imposed, &self.paths)))
    }

    fn unpack(bytes: &[u8]) -> Trace {
        let (trace, rows, beside): (Trace, Rowed, Beside) = unpacked(bytes);
        let (messages, parts, calls, references, pieces, whole) = rows;
        let parts = Parts(parts);
        let (folder, reports_cache, sent, sent_sizes, imposed, paths) = beside;
        Trace { messages, parts, calls, references, pieces, whole, folder, reports_cache, sent, sent_sizes, imposed, paths, ..trace }
    }
}
