//! Hidden overhead: what every call carries and no log shows, session by session, version by version.

use super::regression::{Basis, Costs};
use super::sample::Session;
use crate::catalog::Family;
use crate::corpus::version;
use crate::statistics::{Interval, Origin, Sample, intervals, median, quantile, rank, sorted};
use std::collections::BTreeMap;

/// The hidden overhead of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overhead {
    /// The agent that recorded the session; its sub-agents apart.
    pub source: String,
    /// The agent's version; empty where unknown.
    pub version: String,
    /// Family of the session's model.
    pub family: Family,
    /// Estimated: the recorded prompt less what the log shows, in tokens.
    pub tokens: u64,
    /// The session's origin, for clusters of related sessions.
    pub origin: Origin,
}

/// The spread of the hidden overhead over sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Where the sessions come from.
    pub source: String,
    /// The agent's version; `None` for all versions together.
    pub version: Option<String>,
    /// Family of the sessions' models.
    pub family: Family,
    /// Number of sessions.
    pub sessions: u64,
    /// Tokens: 5th percentile over sessions.
    pub p05: u64,
    /// Median over sessions, in tokens.
    pub median: u64,
    /// The interval of the median; absent for fewer than two sessions.
    pub interval: Option<Interval<i64>>,
    /// 95th percentile over sessions, in tokens.
    pub p95: u64,
}

/// What the first compared call carried beside what it shows, by these costs; absent where nothing of the session is compared.
pub(super) fn at_first(session: &Session, costs: &Costs, basis: Basis) -> Option<u64> {
    session.compared().next().map(|first| first.recorded.saturating_sub(costs.tokens(&first.standing, basis)))
}

/// What the session's calls carried beside what they show: the median over its calls.
pub(super) fn over_calls(session: &Session, family: Family, costs: &Costs, basis: Basis) -> Option<u64> {
    median(
        session
            .compared_of(family)
            .map(|observation| observation.recorded.saturating_sub(costs.tokens(&observation.standing, basis)))
            .collect(),
    )
}

/// Spreads by source and family, then by version where there are several.
pub(super) fn spreads<'a>(overheads: impl Iterator<Item = &'a Overhead>) -> Vec<Spread> {
    let mut sources: BTreeMap<(&str, Family), Vec<&Overhead>> = BTreeMap::new();
    for overhead in overheads {
        sources.entry((&overhead.source, overhead.family)).or_default().push(overhead);
    }
    let mut spreads = Vec::new();
    for of_source in sources.into_values() {
        spreads.extend(spread(&of_source, None));
        let mut versions: BTreeMap<(Vec<u64>, &str), Vec<&Overhead>> = BTreeMap::new();
        for overhead in &of_source {
            versions.entry((version(&overhead.version), &overhead.version)).or_default().push(overhead);
        }
        if versions.len() > 1 {
            spreads.extend(versions.iter().filter_map(|((_, name), overheads)| spread(overheads, Some((*name).to_owned()))));
        }
    }
    spreads
}

fn spread(overheads: &[&Overhead], version: Option<String>) -> Option<Spread> {
    let first = overheads.first()?;
    let tokens = sorted(overheads.iter().map(|overhead| overhead.tokens));
    let sample = Sample::new(overheads.iter().map(|overhead| overhead.origin));
    let clusters = sorted(overheads.iter().enumerate().map(|(place, one)| (one.tokens, sample.of(place))));
    let interval = intervals(&sample, |times| {
        let times = |cluster: usize| times.get(cluster).copied().map_or(0, u64::from);
        let middle = rank(clusters.iter().map(|(_, cluster)| times(*cluster)).sum(), 500);
        let mut below = 0;
        let median = clusters.iter().find(|(_, cluster)| {
            below += times(*cluster);
            below >= middle
        });
        [median.and_then(|(tokens, _)| i64::try_from(*tokens).ok()).unwrap_or_default()]
    });
    Some(Spread {
        source: first.source.clone(),
        version,
        family: first.family,
        sessions: tokens.len() as u64,
        p05: quantile(&tokens, 50)?,
        median: quantile(&tokens, 500)?,
        interval: interval.map(|[interval]| interval),
        p95: quantile(&tokens, 950)?,
    })
}
