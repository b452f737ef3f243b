//! Counts that are of a part of the prompt, which no log notes: a server cut it at a limit of its own, or reported a fraction.

use crate::trace::{CallRow, PartKind, Trace};
use crate::transcript::{Trust, Usage};
use rustc_hash::FxHashMap;

/// Of so many prompts in a row that are equal, though a reply and what followed it came between them, none holds all of its conversation. Two may be one
/// request that was sent again. A limit is also the largest prompt of the model: an agent that goes back to one state again and again has larger ones before.
const EQUAL: usize = 3;

/// A prompt that falls below so many hundredths of the one before.
const FALL: u64 = 80;

/// So many such prompts may follow each other.
const IN_A_ROW: usize = 6;

/// The most tokens that a picture is reckoned with.
const PICTURE: u64 = 3_000;

/// Marks the usage of prompts that are known in part.
pub(super) fn mark(trace: &mut Trace) {
    mark_dips(trace);
    mark_cut(trace);
}

/// Marks counts that fall and are back soon, at a call before which no half of that growth came: nothing was removed. Gateways report to Codex, for a reply of `n`
/// parallel calls, an `n`th of the prompt.
fn mark_dips(trace: &mut Trace) {
    let mut calls = std::mem::take(&mut trace.calls);
    let shown = |from: u32, to: u32| {
        let parts = trace.messages.get(from as usize..to as usize).unwrap_or_default().iter().flat_map(|row| trace.parts_of(row));
        parts
            .map(|part| if part.kind == PartKind::Image { PICTURE } else { u64::from(part.text.tokens.max(part.sealed_bytes / 4)) })
            .sum::<u64>()
    };
    let prompt = |call: &CallRow| call.anchor().map(|usage| usage.prompt);
    let is_dip = |calls: &[CallRow]| {
        let [before, fallen @ .., after] = calls else { return false };
        let (Some(last), Some(next), Some(here)) = (prompt(before), prompt(after), fallen.last()) else { return false };
        let between = before.message as usize + 1..after.message as usize + 1;
        fallen.iter().all(|call| prompt(call).is_some_and(|prompt| prompt * 100 < last * FALL))
            && next >= last
            && fallen.iter().chain([after]).all(|call| call.model.get() == before.model.get() && call.chained)
            && trace.messages.get(between.clone()).unwrap_or_default().iter().all(|row| row.rewind.get().is_none() && !row.copy)
            && trace.compactions_before(between).is_empty()
            && prompt(here).is_some_and(|prompt| next - prompt > 2 * shown(here.message, after.message))
    };
    let mut place = 1;
    while place < calls.len() {
        let dip = (1..=IN_A_ROW).find(|fallen| calls.get(place - 1..=place + fallen).is_some_and(is_dip));
        let dip = dip.map_or(0..0, |fallen| place..place + fallen);
        place = dip.end.max(place + 1);
        calls.get_mut(dip).into_iter().flatten().for_each(in_part);
    }
    trace.calls = calls;
}

/// The usage of the call is of a part of its prompt.
fn in_part(call: &mut CallRow) {
    call.usage = call.usage.get().map(|usage| Usage { trust: Trust::Partial, ..usage }).into();
}

/// Marks the usage of prompts that a server cut (Ollama at its `num_ctx`, 4,096 if nothing else is set): it is of a part of the prompt, and tells no growth.
fn mark_cut(trace: &mut Trace) {
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
            in_part(call);
        }
    }
    trace.calls = calls;
}
