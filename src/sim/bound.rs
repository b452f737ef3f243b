//! The most references to lines that any policy could have kept with as much content in the context: an upper bound, from the whole session at once.
//!
//! To keep a reference, a policy must carry its source through every call from its last use (or its arrival) to the call that refers to it: size times
//! calls. Satisfying the cheapest first until as much is carried as the policy carried gives more than any policy can reach, since the stretches of one source do not
//! overlap and nothing else is ever carried. This is PFOO-L (Berger, Beckmann, Harchol-Balter, "Practical Bounds on Optimal Caching with Variable Object
//! Sizes", 2018). It holds for policies that keep a part whole or let it go for good.

use crate::trace::{Evidence, Reference, Trace};
use std::collections::BTreeMap;

/// How many references to lines could be kept by carrying so many tokens, summed over calls; the last one need not be paid in full.
pub fn bound(trace: &Trace, carried: u64) -> u64 {
    let mut left = carried;
    let mut kept = 0;
    for cost in costs(trace) {
        kept += 1;
        let Some(rest) = left.checked_sub(cost) else { break };
        left = rest;
    }
    kept
}

/// What the references to lines cost at least, in tokens times calls, the cheapest first.
pub fn costs(trace: &Trace) -> Vec<u64> {
    // The call of each source's last use so far.
    let mut used: BTreeMap<u32, u64> = BTreeMap::new();
    let mut costs = Vec::new();
    let mut references = trace.references.iter().filter(|reference| reference.kind == Evidence::Line).peekable();
    for (index, call) in trace.calls.iter().enumerate() {
        let mut mine: Vec<&Reference> = Vec::new();
        while let Some(reference) = references.next_if(|reference| reference.message <= call.message) {
            mine.extend(Some(reference).filter(|reference| reference.message == call.message));
        }
        // One carried source may serve several references of a call: they share its cost.
        let mut shared: BTreeMap<u32, u64> = BTreeMap::new();
        for place in mine.iter().flat_map(|reference| &reference.sources) {
            *shared.entry(place.part).or_default() += 1;
        }
        let cost_of = |part: u32| {
            let calls = match used.get(&part) {
                Some(last) => index as u64 - last,
                None => index as u64 + 1 - first_call_after(trace, part),
            };
            let size = trace.parts.get(part as usize).map_or(0, |row| row.truth);
            size * calls / shared.get(&part).copied().unwrap_or(1)
        };
        costs.extend(mine.iter().filter_map(|reference| reference.sources.iter().map(|place| cost_of(place.part)).min()));
        used.extend(shared.keys().map(|part| (*part, index as u64)));
    }
    costs.sort_unstable();
    costs
}

/// The first call whose prompt may hold a part.
fn first_call_after(trace: &Trace, part: u32) -> u64 {
    let message = trace.message_of(part).unwrap_or(0);
    trace.calls.partition_point(|call| call.message <= message) as u64
}
