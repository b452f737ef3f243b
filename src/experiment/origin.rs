//! Which sessions belong together: those of one project, those that a session started, those that take up the end of another, and forks, which begin with
//! copies of the same replies.

use crate::list::{Gather, List};
use crate::statistics::{Origin, Part, Sample};
use crate::trace::Trace;
use crate::transcript::Role;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use xxhash_rust::xxh3::xxh3_64;

/// A family tree deeper than this is a ring.
const DEEPEST: usize = 64;

/// The clusters in which the sessions that have a call are drawn.
pub fn sample(traces: impl IntoIterator<Item = impl Borrow<Trace>> + Clone) -> Sample {
    let parts: Vec<Part> = traces.clone().into_iter().map(|trace| part(trace.borrow())).collect();
    sample_of(traces, parts)
}

/// The part of a session that is judged if it has a call.
pub fn part(trace: &Trace) -> Part {
    if trace.calls.is_empty() { Part::Out } else { Part::Judged }
}

/// The clusters of sessions that have these parts.
pub fn sample_of(traces: impl IntoIterator<Item = impl Borrow<Trace>> + Clone, parts: impl IntoIterator<Item = Part>) -> Sample {
    Sample::of_parts(origins(lineages(traces)).into_iter().zip(parts))
}

/// What of a session is known among others. Ids are kept as hashes: there is one of each session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lineage {
    id: u64,
    parent: Option<u64>,
    project: Option<u64>,
    /// What the first reply is known by, the first copied one in a copy; `None` without an id.
    begin: Option<u64>,
    is_copy: bool,
}

/// The replies of a session that have an id: what each is known by, and whether another session has it as its own.
fn replies(trace: &Trace) -> impl Iterator<Item = (u64, bool)> {
    let replies = trace.messages.iter().filter(|message| message.role == Role::Assistant);
    replies.filter_map(|message| Some((message.key?.get() as u64, message.copy)))
}

impl Lineage {
    fn of(trace: &Trace) -> Lineage {
        let hash = |id: &str| xxh3_64(id.as_bytes());
        let copied = replies(trace).find(|(_, copy)| *copy);
        let begin = copied.or_else(|| replies(trace).next()).map(|(reply, _)| reply);
        Lineage {
            id: hash(&trace.id),
            parent: trace.parent.as_deref().or(trace.takes_up.as_deref()).map(hash),
            project: trace.project,
            begin,
            is_copy: copied.is_some(),
        }
    }
}

/// What of each session is known among others. A fork whose log lacks the beginning of its session has that of the session that holds the first reply that it copies.
pub(super) fn lineages(traces: impl IntoIterator<Item = impl Borrow<Trace>> + Clone) -> Vec<Lineage> {
    let mut all: Vec<Lineage> = traces.clone().into_iter().map(|trace| Lineage::of(trace.borrow())).collect();
    let begun: BTreeSet<u64> = all.iter().filter(|one| !one.is_copy).filter_map(|one| one.begin).gather();
    let lacking = all.iter().filter(|one| one.is_copy).filter_map(|one| one.begin).filter(|begin| !begun.contains(begin));
    let mut held_by: BTreeMap<u64, Option<u64>> = lacking.map(|begin| (begin, None)).gather();
    if held_by.is_empty() {
        return all;
    }
    for (trace, lineage) in traces.into_iter().zip(&all) {
        for (reply, _) in replies(trace.borrow()).filter(|(_, copy)| !copy) {
            held_by.entry(reply).and_modify(|held_by| *held_by = lineage.begin);
        }
    }
    for one in all.iter_mut().filter(|one| one.is_copy) {
        for _ in 0..DEEPEST {
            let Some(begin) = one.begin.and_then(|begin| *held_by.get(&begin)?) else { break };
            one.begin = Some(begin);
        }
    }
    all
}

/// Where each session belongs. A family is numbered by the rank of the session that started it.
pub(super) fn origins(all: impl IntoIterator<Item = Lineage>) -> Vec<Origin> {
    let mut all: Vec<Lineage> = all.into_iter().collect();
    join_forks(&mut all);
    origins_of(&all)
}

/// Forks that nothing else started go back to the first session that begins as they do.
fn join_forks(all: &mut [Lineage]) {
    let forks: BTreeSet<u64> = all.iter().filter(|one| one.is_copy).filter_map(|one| one.begin).gather();
    let mut founders: BTreeMap<u64, u64> = BTreeMap::new();
    for one in all {
        let Some(begin) = one.begin.filter(|begin| forks.contains(begin)) else { continue };
        match founders.get(&begin) {
            Some(founder) => one.parent = one.parent.or(Some(*founder)),
            None => _ = founders.insert(begin, one.id),
        }
    }
}

// Compiled once, whatever the sessions come from.
fn origins_of(all: &[Lineage]) -> Vec<Origin> {
    let parents: BTreeMap<u64, u64> = all.iter().filter_map(|lineage| Some((lineage.id, lineage.parent?))).gather();
    let root = |lineage: &Lineage| root_of(lineage.id, lineage.parent, &parents);
    let roots: BTreeSet<u64> = all.iter().filter(|lineage| lineage.parent.is_some()).map(root).gather();
    // Of several sessions of one id the first is taken for the one that started others.
    let numbered = all.iter().enumerate().rev().filter(|(_, lineage)| roots.contains(&lineage.id));
    let mut founders: BTreeMap<u64, usize> = numbered.map(|(place, lineage)| (lineage.id, place)).gather();
    let family = |(place, lineage): (usize, &Lineage)| match lineage.parent {
        None => Origin { project: lineage.project, family: place as u64 },
        Some(_) => {
            let founder = *founders.entry(root(lineage)).or_insert(place);
            let project = all.get(founder).and_then(|lineage| lineage.project).or(lineage.project);
            Origin { project, family: founder as u64 }
        }
    };
    all.iter().enumerate().map(family).collect()
}

/// For each session the id of the first one of its family, and its project.
pub(super) fn roots(traces: &List<Trace>) -> Vec<(String, Option<u64>)> {
    let ids: Vec<String> = traces.each().map(|trace| trace.id.clone()).collect();
    let families = origins(lineages(traces.each()));
    families.iter().map(|origin| (ids.get(origin.family as usize).cloned().unwrap_or_default(), origin.project)).collect()
}

fn root_of(id: u64, parent: Option<u64>, parents: &BTreeMap<u64, u64>) -> u64 {
    let mut root = parent.unwrap_or(id);
    for _ in 0..DEEPEST {
        let Some(parent) = parents.get(&root) else { break };
        root = *parent;
    }
    root
}
