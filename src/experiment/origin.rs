//! Which sessions belong together: those of one project, and those that a session started.

use crate::statistics::{Origin, Sample};
use crate::trace::Trace;
use std::collections::BTreeMap;

/// A family tree deeper than this is a ring.
const DEEPEST: usize = 64;

/// The clusters in which sessions are drawn.
pub fn sample<'a>(traces: impl IntoIterator<Item = &'a Trace>) -> Sample {
    Sample::new(origins(&traces.into_iter().collect::<Vec<_>>()))
}

/// Where each session belongs. A family is numbered by the rank of the session that started it.
pub(super) fn origins<'a>(traces: &[&'a Trace]) -> Vec<Origin> {
    let parents: BTreeMap<&str, &str> = traces.iter().filter_map(|trace| Some((trace.id.as_str(), trace.parent.as_deref()?))).collect();
    // Of several sessions of one id the first is taken for the one that started others.
    let mut founders: BTreeMap<&str, usize> = traces.iter().enumerate().rev().map(|(place, trace)| (trace.id.as_str(), place)).collect();
    let family = |(place, trace): (usize, &&'a Trace)| match &trace.parent {
        None => Origin { project: trace.project, family: place as u64 },
        Some(_) => {
            let founder = *founders.entry(root(trace, &parents)).or_insert(place);
            let project = traces.get(founder).and_then(|founder| founder.project).or(trace.project);
            Origin { project, family: founder as u64 }
        }
    };
    traces.iter().enumerate().map(family).collect()
}

/// The id of the session that a session goes back to; its own where nothing started it.
pub(super) fn root<'a>(trace: &'a Trace, parents: &BTreeMap<&'a str, &'a str>) -> &'a str {
    let mut root = trace.parent.as_deref().unwrap_or(&trace.id);
    for _ in 0..DEEPEST {
        let Some(parent) = parents.get(root) else { break };
        root = parent;
    }
    root
}
