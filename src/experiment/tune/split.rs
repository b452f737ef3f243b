//! Which sessions a setting is sought on, and which it is judged on.

use crate::corpus::{Corpus, CorpusFacts};
use crate::experiment::origin::roots;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// So many sessions of a hundred are held out by default.
pub const HELD_OUT_PERCENT: u8 = 34;

/// A corpus in two parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Split {
    /// The facts of both parts together.
    pub facts: CorpusFacts,
    /// The sessions on which a setting is sought.
    pub training: Corpus,
    /// The sessions on which the setting is judged.
    pub held_out: Corpus,
    /// So many of a hundred sessions were to be held out.
    pub percent: u8,
}

/// Where a family stands: whether it has a price, and calls; its agent; whether it comes near the limits; the hash of its root's id, and that id.
type Stratum<'a> = (Reverse<[bool; 2]>, String, bool, u64, &'a str);

/// Splits a corpus. Sessions are gone through agent by agent, those that come near the policy's limits ([`near`](crate::experiment::near)) by themselves,
/// in the order of a hash of their ids, and so many of a hundred are held out at even distances: every agent has its share of all in both parts, and the order of
/// files decides nothing. First come those that have a price ([`priced`](crate::experiment::priced)), then those with calls alone, last those without: what cannot be
/// compared moves no other session from one part to the other. A session stays with its forks and those that it started.
pub fn split(corpus: Corpus, [near, priced]: [&[bool]; 2], percent: u8, seed: u64) -> Split {
    let roots: Vec<String> = roots(&corpus.traces);
    let has_calls: Vec<bool> = corpus.traces.each().map(|trace| !trace.calls.is_empty()).collect();
    // A family has what any of its sessions has.
    let families = [near, priced, &has_calls]
        .map(|marked| -> BTreeSet<&str> { roots.iter().zip(marked).filter(|(_, has)| **has).map(|(root, _)| root.as_str()).collect() });
    let mut groups: BTreeMap<Stratum<'_>, Vec<usize>> = BTreeMap::new();
    for ((place, trace), root) in corpus.traces.each().enumerate().zip(&roots) {
        let [near, priced, calls] = families.each_ref().map(|families| families.contains(root.as_str()));
        let stratum = (Reverse([priced, calls]), trace.agent.clone(), near, xxh3_64_with_seed(root.as_bytes(), seed), root.as_str());
        groups.entry(stratum).or_default().push(place);
    }
    let mut is_held_out = vec![false; corpus.traces.len()];
    // A group is held out where the share of those up to it passes a whole number.
    let passed = |count: usize| count * usize::from(percent) / 100;
    for (count, places) in groups.values().enumerate() {
        let held_out = passed(count + 1) > passed(count);
        for place in places.iter().filter(|_| held_out) {
            if let Some(mark) = is_held_out.get_mut(*place) {
                *mark = true;
            }
        }
    }
    let mut split = Split { facts: corpus.facts, percent, ..Split::default() };
    (split.held_out.traces, split.training.traces) = corpus.traces.parted(|place| is_held_out.get(place).copied().unwrap_or_default());
    split
}
