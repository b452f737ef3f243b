//! What recorded compactions left.

use crate::trace::{CallRow, Trace};
use crate::transcript::CompactionKind;
use rustc_hash::FxHashMap;

/// By model the smallest prompt that was recorded first behind a recorded compaction, under `None` that of any model: it held all of the hidden overhead.
pub(super) fn behind_compactions(trace: &Trace, calls: &[CallRow]) -> FxHashMap<Option<u32>, u64> {
    let mut least = FxHashMap::default();
    let mut compacted = trace.compactions.iter().filter(|event| event.kind == CompactionKind::Compact).peekable();
    if compacted.peek().is_none() {
        return least;
    }
    let recorded: Vec<_> = calls.iter().filter_map(|call| Some((call.message, call.model.get(), call.anchor()?.prompt))).collect();
    for event in compacted {
        let behind = recorded.get(recorded.partition_point(|(message, ..)| *message < event.before));
        for (model, prompt) in behind.into_iter().flat_map(|(_, model, prompt)| [(None, *prompt), (*model, *prompt)]) {
            least.entry(model).and_modify(|least: &mut u64| *least = prompt.min(*least)).or_insert(prompt);
        }
    }
    least
}
