//! Which sessions a setting is sought on, and which it is judged on.

use crate::corpus::{Corpus, CorpusFacts};
use crate::experiment::origin::roots;
use crate::list::Gather;
use crate::statistics::{FEWEST_PROJECTS, quotient};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// So many sessions of a hundred are held out by default.
pub const HELD_OUT_PERCENT: u8 = 34;

/// Which part of a corpus a session belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The setting was sought on it.
    Training,
    /// The setting was judged on it.
    HeldOut,
}

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
    /// Projects with sessions in both parts.
    pub shared: usize,
    /// Are whole projects held out?
    pub by_project: bool,
}

impl Split {
    /// The share of the sessions that are of a part.
    pub fn share(&self, part: Part) -> f64 {
        let [training, held_out] = [&self.training, &self.held_out].map(|part| part.traces.len() as f64);
        quotient(if part == Part::Training { training } else { held_out }, training + held_out)
    }
}

/// Where a group stands: whether it has a price, and calls; its agent; whether it comes near the limits; how large it is; the hash of its name, and that name.
type Stratum<'a> = (Reverse<[bool; 2]>, &'a str, bool, u32, u64, &'a str);

/// Splits a corpus. Groups are gone through agent by agent, those that come near the policy's limits ([`near`](crate::experiment::near)) by themselves,
/// in the order of a hash of their names, and so many of a hundred are held out at even distances: every agent has its share of all in both parts, and the order of
/// files decides nothing. First come those that have a price ([`priced`](crate::experiment::priced)), then those with calls alone, last those without: what cannot be
/// compared moves no other group from one part to the other.
///
/// A group is a project, where both parts have five of them or more: what is peculiar to a project would be found in the one part and confirmed in the other. Large
/// projects and small ones have their share in both parts too. Else a group is a session with its forks and those that it started.
pub fn split(corpus: Corpus, [near, priced]: [&[bool]; 2], percent: u8, seed: u64) -> Split {
    // A group is held out where the share of those up to it passes a whole number.
    let passed = |count: usize| count * usize::from(percent) / 100;
    let origins = roots(&corpus.traces);
    let has_calls: Vec<bool> = corpus.traces.each().map(|trace| !trace.calls.is_empty()).collect();
    let is_priced = |place: usize| priced.get(place).copied().unwrap_or_default();
    let counts: Vec<bool> = match priced.contains(&true) {
        true => (0..origins.len()).map(is_priced).collect(),
        false => has_calls.clone(),
    };
    let counted = || origins.iter().zip(&counts).filter(|(_, counts)| **counts).map(|(origin, _)| origin);
    let projects = counted().filter_map(|(_, project)| *project).gather::<BTreeSet<u64>>().len();
    let by_project = passed(projects).min(projects - passed(projects)) >= FEWEST_PROJECTS;
    let name = |(root, project): &(String, Option<u64>)| match project {
        Some(project) if by_project => format!("project {project}"),
        _ => root.clone(),
    };
    let names: Vec<String> = origins.iter().map(name).collect();
    // A group has what any of its sessions has.
    let groups_with = [near, priced, &has_calls]
        .map(|marked| -> BTreeSet<&str> { names.iter().zip(marked).filter(|(_, has)| **has).map(|(name, _)| name.as_str()).gather() });
    let agents: Vec<String> = corpus.traces.each().map(|trace| trace.agent.clone()).collect();
    let mut agent_of: BTreeMap<&str, &str> = BTreeMap::new();
    let mut sizes: BTreeMap<&str, u32> = BTreeMap::new();
    for ((name, agent), counts) in names.iter().zip(&agents).zip(&counts) {
        agent_of.entry(name).and_modify(|first| *first = (*first).min(agent)).or_insert(agent);
        *sizes.entry(name).or_default() += u32::from(*counts);
    }
    let mut groups: BTreeMap<Stratum<'_>, Vec<usize>> = BTreeMap::new();
    for (place, name) in names.iter().enumerate() {
        let [near, priced, calls] = groups_with.each_ref().map(|groups| groups.contains(name.as_str()));
        let of_project = by_project && name.starts_with("project ");
        let agent = agent_of.get(name.as_str()).copied().unwrap_or_default();
        let size = if of_project { sizes.get(name.as_str()).copied().unwrap_or_default().checked_ilog2().unwrap_or_default() } else { 0 };
        let stratum = (Reverse([priced, calls]), agent, near, size, xxh3_64_with_seed(name.as_bytes(), seed), name.as_str());
        groups.entry(stratum).or_default().push(place);
    }
    let mut is_held_out = vec![false; corpus.traces.len()];
    // Projects by themselves, so that both parts have theirs, whatever stands between them.
    let (mut projects, mut others) = (0, 0);
    for ((.., name), places) in &groups {
        let count = if by_project && name.starts_with("project ") { &mut projects } else { &mut others };
        let held_out = passed(*count + 1) > passed(*count);
        *count += 1;
        for place in places.iter().filter(|_| held_out) {
            if let Some(mark) = is_held_out.get_mut(*place) {
                *mark = true;
            }
        }
    }
    let projects_of = |part: bool| -> BTreeSet<u64> {
        let there = origins.iter().zip(&is_held_out).zip(&counts).filter(|((_, held_out), counts)| **held_out == part && **counts);
        there.filter_map(|(((_, project), _), _)| *project).gather()
    };
    let shared = projects_of(true).intersection(&projects_of(false)).count();
    let mut split = Split { facts: corpus.facts, percent, shared, by_project, ..Split::default() };
    (split.held_out.traces, split.training.traces) = corpus.traces.parted(|place| is_held_out.get(place).copied().unwrap_or_default());
    split
}
