//! Costs of content fitted to recorded usage: from what each step of a session added, and from how whole sessions grew.

use super::regression::{Basis, COSTS, Costs, Normal, row};
use super::sample::{Growth, Observation, Session};
use crate::catalog::{Catalog, ContentCosts, Family};
use crate::estimate::ContentKind;
use crate::experiment::origin::origins;
use crate::list::List;
use crate::statistics::{Interval, Sample, intervals};
use std::borrow::Borrow;

/// A step whose growth is this many times what it is expected to be, or as small a part of it, holds something that the log does not show.
const PLAUSIBLE: f64 = 3.0;

/// So many tokens more or less are plausible at any rate.
const SLACK: f64 = 200.0;

/// The error of a small step: its weight is 1 / (its tokens + this).
const NOISE: f64 = 50.0;

/// The prior weighs as much as a text of so many tokens.
const BELIEF: f64 = 2_000.0;

/// Kinds of which fewer tokens were seen have no cost of their own.
pub const EVIDENCE: u64 = 2_000;

/// What a family's content costs.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilyCosts {
    /// Family of the models.
    pub family: Family,
    /// The unit of content: tokens or code points.
    pub basis: Basis,
    /// The fitted costs; of kinds without evidence, the prior.
    pub costs: Costs,
    /// The intervals of the costs, in their order, messages last. Absent for fewer than two sessions.
    pub intervals: Option<[Interval<i64>; COSTS]>,
    /// Tokens (of the vocabulary that sessions were measured in) of each kind that the fit rests on.
    pub evidence: [u64; ContentKind::ALL.len()],
    /// Sessions that the fit rests on.
    pub sessions: u64,
    /// Steps between calls that the fit rests on.
    pub steps: u64,
    /// Steps that were left out because they hold more, or less, than the log shows.
    pub implausible: u64,
}

/// The prior of a family, before any log is read: the costs that ship with the program.
pub(super) fn shipped(family: Family, basis: Basis, catalog: &Catalog) -> Costs {
    let facts = catalog.family(family);
    let message = facts.per_message * 1000;
    let flat = Costs::flat(facts.tokens_per_1000_o200k, message);
    let kinds = match basis {
        Basis::Tokens => facts.tokens,
        // A family that has not been fitted gets four characters to a token.
        Basis::Chars => Some(facts.chars.unwrap_or(ContentCosts::flat(250))),
    };
    let Some(kinds) = kinds else { return with_pictures(flat) };
    let all = [kinds.prose, kinds.code, kinds.json, kinds.tool_output, kinds.cjk, kinds.thinking, 1000];
    Costs { kinds: all, message }
}

fn with_pictures(mut costs: Costs) -> Costs {
    if let Some(picture) = costs.kinds.get_mut(ContentKind::Image.place()) {
        *picture = 1000;
    }
    costs
}

/// The shipped costs for a session: where it was measured in its model's own vocabulary, a token is a token.
pub(super) fn shipped_for(session: &Session, family: Family, basis: Basis, catalog: &Catalog) -> Costs {
    let shipped = shipped(family, basis, catalog);
    let own = session.counted_as == Some(family);
    if own && basis == Basis::Tokens && catalog.family(family).tokens.is_none() { Costs::flat(1000, shipped.message) } else { shipped }
}

/// The steps of one session, summed.
#[derive(Clone, Debug, Default)]
pub(super) struct Steps {
    pub normal: Normal,
    pub evidence: [u64; ContentKind::ALL.len()],
    pub steps: u64,
    pub implausible: u64,
}

/// What the steps of a session say about one family's content. Replies count by their recorded output, where that can be trusted.
pub(super) fn steps(session: &Session, family: Family, basis: Basis, shipped: &Costs) -> Steps {
    let mut steps = Steps::default();
    let growths = session.steps().filter(|(observation, _)| observation.family == family).filter_map(|(_, growth)| growth);
    for Growth { recorded, reply, sent, arrived, expired } in growths {
        let content = if sent.is_some() { arrived } else { arrived.plus(&reply) };
        let Some(added) = (recorded + expired).checked_sub(sent.unwrap_or(0)) else { continue };
        let expected = shipped.tokens(&content, basis) as f64;
        if content.amount().tokens == 0 {
            continue;
        }
        if added as f64 > expected * PLAUSIBLE + SLACK || (added as f64) < expected / PLAUSIBLE - SLACK {
            steps.implausible += 1;
            continue;
        }
        steps.steps += 1;
        steps.evidence.iter_mut().zip(content.kinds).for_each(|(sum, kind)| *sum += kind.tokens);
        steps.normal.add(&row(&content, basis), added as f64, 1.0 / (expected + NOISE));
    }
    steps
}

/// The costs that steps show together, drawn towards what ships.
pub(super) fn from_steps(steps: &Normal, shipped: &Costs) -> Costs {
    steps.solve(shipped, BELIEF)
}

/// A family's costs over all sessions, with how sure they are. Absent where no step shows anything.
pub(super) fn family_costs(sessions: &List<Session>, family: Family, basis: Basis, catalog: &Catalog) -> Option<FamilyCosts> {
    let shipped = shipped(family, basis, catalog);
    let of = |session: &Session| steps(session, family, basis, &shipped_for(session, family, basis, catalog));
    let tells = |steps: &Steps| steps.steps + steps.implausible > 0;
    let sample = Sample::new(origins(sessions.each().filter(|session| tells(&of(session))).map(|session| session.lineage)));
    let mut by_cluster = vec![Normal::default(); sample.clusters()];
    let mut all = Steps::default();
    let (mut told, mut evidence) = (0, [0; ContentKind::ALL.len()]);
    for steps in sessions.each().map(|session| of(&session)).filter(tells) {
        by_cluster.iter_mut().skip(sample.of(told)).take(1).for_each(|cluster| cluster.plus(&steps.normal, 1.0));
        all.normal.plus(&steps.normal, 1.0);
        all.steps += steps.steps;
        all.implausible += steps.implausible;
        evidence.iter_mut().zip(steps.evidence).for_each(|(sum, tokens)| *sum += tokens);
        told += 1;
    }
    let intervals = intervals(&sample, |times| {
        let mut normal = Normal::default();
        by_cluster.iter().zip(times).for_each(|(cluster, times)| normal.plus(cluster, f64::from(*times)));
        let costs = normal.solve(&shipped, BELIEF);
        let mut figures = [costs.message as i64; COSTS];
        figures.iter_mut().zip(costs.kinds).for_each(|(figure, cost)| *figure = cost as i64);
        figures
    });
    (all.steps > 0).then(|| FamilyCosts {
        family,
        basis,
        costs: from_steps(&all.normal, &shipped),
        intervals,
        evidence,
        sessions: told as u64,
        steps: all.steps,
        implausible: all.implausible,
    })
}

/// How a session grew since its first compared call, for a fit of slopes that leaves its hidden overhead out.
fn since_first(session: &Session, family: Family, basis: Basis) -> Normal {
    let mut normal = Normal::default();
    let observations: Vec<&Observation> = session.compared().filter(|observation| observation.family == family).collect();
    let Some((first, later)) = observations.split_first() else { return normal };
    let count = (later.len() as f64).sqrt();
    for observation in later {
        let Some(grown) = observation.recorded.checked_sub(first.recorded) else { continue };
        let content = observation.standing.less(&first.standing);
        normal.add(&row(&content, basis), grown as f64, 1.0 / (observation.recorded as f64 * count));
    }
    normal
}

/// The slopes that the growth of some sessions shows together.
pub(super) fn from_growth(growth: &Normal, believed: &Costs) -> Costs {
    growth.solve(believed, BELIEF / 10.0)
}

/// The growth of all these sessions since their first compared calls.
pub(super) fn grown(sessions: impl Iterator<Item = impl Borrow<Session>>, family: Family, basis: Basis) -> Normal {
    sessions.fold(Normal::default(), |mut all, session| {
        all.plus(&since_first(session.borrow(), family, basis), 1.0);
        all
    })
}
