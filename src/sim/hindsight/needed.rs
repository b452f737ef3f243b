//! What any policy must carry to keep references.

use super::lookahead::first_call_after;
use super::needs::{Need, needs};
use crate::trace::Trace;

/// What the references to lines of the first so many calls cost at least, in tokens times calls, the cheapest first: the size of a source, times the calls from its last use, or
/// its arrival, to the call that refers to it. Where several parts hold the evidence, the cheapest counts; references of one call share the cost of a part.
pub fn costs(trace: &Trace, calls: usize) -> Vec<u64> {
    let (needs, _) = needs(trace);
    let size = |part: u32| trace.parts.get(part as usize).map_or(0, |row| row.truth);
    let cost = |need: &Need| {
        let ways = need.ways.iter().map(|way| {
            let from = way.from.max(first_call_after(trace, way.source));
            size(way.source) * u64::from((need.call + 1).saturating_sub(from)) / u64::from(way.shared.max(1))
        });
        ways.min()
    };
    let mut costs: Vec<u64> = needs.iter().take_while(|need| (need.call as usize) < calls).filter_map(cost).collect();
    costs.sort_unstable();
    costs
}
