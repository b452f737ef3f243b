//! Which sessions belong together: those of one project, and those that a session started.

use crate::statistics::{Origin, Sample};
use crate::trace::Trace;
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// A family tree deeper than this is a ring.
const DEEPEST: usize = 64;

/// The clusters in which sessions are drawn.
pub fn sample(traces: impl IntoIterator<Item = impl Borrow<Trace>>) -> Sample {
    let kin = |trace: &Trace| Kin { id: trace.id.clone(), parent: trace.parent.clone(), project: trace.project };
    let kin: Vec<Kin> = traces.into_iter().map(|trace| kin(trace.borrow())).collect();
    Sample::new(among(&kin.iter().map(Kin::link).collect::<Vec<_>>()))
}

/// What of a session is known among others.
struct Kin {
    id: String,
    parent: Option<String>,
    project: Option<u64>,
}

/// The same: id, the session that started it, project.
type Link<'a> = (&'a str, Option<&'a str>, Option<u64>);

impl Kin {
    fn link(&self) -> Link<'_> {
        (&self.id, self.parent.as_deref(), self.project)
    }
}

/// Where each session belongs. A family is numbered by the rank of the session that started it.
pub(super) fn origins(traces: &[&Trace]) -> Vec<Origin> {
    among(&traces.iter().map(|trace| (trace.id.as_str(), trace.parent.as_deref(), trace.project)).collect::<Vec<_>>())
}

fn among<'a>(all: &[Link<'a>]) -> Vec<Origin> {
    let parents: BTreeMap<&str, &str> = all.iter().filter_map(|(id, parent, _)| Some((*id, (*parent)?))).collect();
    // Of several sessions of one id the first is taken for the one that started others.
    let mut founders: BTreeMap<&str, usize> = all.iter().enumerate().rev().map(|(place, (id, ..))| (*id, place)).collect();
    let family = |(place, (id, parent, project)): (usize, &Link<'a>)| match parent {
        None => Origin { project: *project, family: place as u64 },
        Some(_) => {
            let founder = *founders.entry(root_of(id, *parent, &parents)).or_insert(place);
            let project = all.get(founder).and_then(|(.., project)| *project).or(*project);
            Origin { project, family: founder as u64 }
        }
    };
    all.iter().enumerate().map(family).collect()
}

/// The id of the session that a session goes back to; its own where nothing started it.
pub(super) fn root<'a>(trace: &'a Trace, parents: &BTreeMap<&'a str, &'a str>) -> &'a str {
    root_of(&trace.id, trace.parent.as_deref(), parents)
}

fn root_of<'a>(id: &'a str, parent: Option<&'a str>, parents: &BTreeMap<&'a str, &'a str>) -> &'a str {
    let mut root = parent.unwrap_or(id);
    for _ in 0..DEEPEST {
        let Some(parent) = parents.get(root) else { break };
        root = parent;
    }
    root
}
