//! A rule that fires without effect does so again at the next call, and the next: one sentence stands for such events.

use crate::sim::{Event, EventKind};
use std::collections::BTreeMap;

/// Fewer calls in a row are told one by one.
const FEW: u64 = 3;

/// How an event is told that belongs to others like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// It stands for all of them: the last of their calls, and the number of these calls.
    First {
        /// The last call, from 0.
        last: u32,
        /// Number of calls.
        calls: u64,
    },
    /// The first one stands for it.
    Told,
}

/// Events that changed nothing, of the same rule and at consecutive calls, by their place in the list.
pub fn folds(events: &[Event]) -> BTreeMap<usize, Fold> {
    let mut by_rule: BTreeMap<&str, Vec<(usize, u32)>> = BTreeMap::new();
    for (place, event) in events.iter().enumerate().filter(|(_, event)| matches!(event.kind, EventKind::NoGain | EventKind::Discard)) {
        by_rule.entry(&event.rule).or_default().push((place, event.call));
    }
    let mut folds = BTreeMap::new();
    for places in by_rule.values() {
        for run in places.chunk_by(|(_, call), (_, next)| *next <= call + 1) {
            let (Some((first, from)), Some((_, last))) = (run.first(), run.last()) else { continue };
            let calls = u64::from(last - from) + 1;
            if calls >= FEW {
                folds.extend(run.iter().map(|(place, _)| (*place, Fold::Told)));
                folds.insert(*first, Fold::First { last: *last, calls });
            }
        }
    }
    folds
}
