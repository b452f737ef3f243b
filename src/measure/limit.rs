//! Prompts that a server cut at a limit of its own, which no log notes.

use crate::trace::{CallRow, Trace};
use crate::transcript::{Trust, Usage};
use rustc_hash::FxHashMap;

/// Of so many prompts in a row that are equal, though a reply and what followed it came between them, none holds all of its conversation. Two may be one
/// request that was sent again. A limit is also the largest prompt of the model: an agent that goes back to one state again and again has larger ones before.
const EQUAL: usize = 3;

/// Marks the usage of prompts that a server cut (Ollama at its `num_ctx`, 4,096 if nothing else is set): it is of a part of the prompt, and tells no growth.
pub(super) fn mark(trace: &mut Trace) {
    let mut calls = std::mem::take(&mut trace.calls);
    let prompt = |call: &CallRow| call.anchor().map(|usage| usage.prompt);
    let grew = |one: &CallRow, other: &CallRow| {
        let replied = one.usage.get().is_some_and(|usage| usage.output_is_final && usage.output > 0);
        let between = one.message as usize + 1..other.message as usize + 1;
        let rows = trace.messages.get(between.clone()).unwrap_or_default();
        replied
            && rows.len() > 1
            && rows.iter().all(|row| row.rewind.get().is_none() && !row.copy)
            && trace.compactions_before(between).is_empty()
    };
    let equal = |one: &CallRow, other: &CallRow| prompt(one).is_some() && prompt(one) == prompt(other) && other.chained && grew(one, other);
    let mut largest: FxHashMap<Option<u32>, u64> = FxHashMap::default();
    for call in &calls {
        let most = largest.entry(call.model.get()).or_default();
        *most = (*most).max(prompt(call).unwrap_or(0));
    }
    let is_limit = |call: &CallRow| prompt(call) == largest.get(&call.model.get()).copied();
    for run in calls.chunk_by_mut(equal).filter(|run| run.len() >= EQUAL && run.first().is_some_and(is_limit)) {
        for call in run {
            call.chained = false;
            call.usage = call.usage.get().map(|usage| Usage { trust: Trust::Partial, ..usage }).into();
        }
    }
    trace.calls = calls;
}
