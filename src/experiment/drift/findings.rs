//! All questions about drift, asked of one corpus.

use super::along::{STRETCHES, Stretch};
use super::buffer::{Buffer, buffers};
use super::calibrate::{Calibrated, calibrate};
use super::consequence::{Consequence, consequences};
use super::estimators::{Compared, built_in, is_counted, own};
use super::figures::{Figures, Pair, PairList, Recorded};
use super::fit::{FamilyCosts, family_costs, shipped_for};
use super::halves::{Half, deal};
use super::hidden::{Overhead, Spread, at_first, spreads};
use super::predict::{Prediction, families, predictions};
use super::regression::Basis;
use super::sample::{LeftOut, Session, observe};
use super::separate::{Separated, separate};
use crate::catalog::{Catalog, Family};
use crate::corpus::Corpus;
use crate::experiment::origin::origins;
use crate::experiment::replay::{Ready, ReplaySettings};
use crate::policy::{Policy, PolicyError};
use crate::statistics::Origin;
use crate::trace::Trace;
use rayon::prelude::*;
use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is asked beside the logs.
pub struct DriftSettings<'a> {
    /// Policies whose own estimators are compared.
    pub compared: &'a [Policy],
    /// Policies whose late and early triggers are counted.
    pub replayed: &'a [Policy],
    /// Models and windows.
    pub replay: ReplaySettings<'a>,
    /// What calibrated estimators count in.
    pub basis: Basis,
}

/// An estimator beside recorded usage.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The estimator.
    pub estimator: String,
    /// The family; `None` for all.
    pub family: Option<Family>,
    /// The source; `None` for all.
    pub source: Option<String>,
    /// The figures.
    pub figures: Figures,
}

/// An estimator's error by place in the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Along {
    /// The estimator.
    pub estimator: String,
    /// Which calls.
    pub stretch: Stretch,
    /// The figures.
    pub figures: Figures,
}

/// How an estimator is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Over the whole request.
    Request,
    /// Over what came since the last recorded usage, on top of that.
    SinceUsage,
}

/// The safety buffers that an estimator needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffers {
    /// The estimator.
    pub estimator: String,
    /// How it is used.
    pub used: Use,
    /// The family; `None` for all.
    pub family: Option<Family>,
    /// A buffer for each level.
    pub buffers: Vec<Buffer>,
}

/// What was found out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Calls that are compared, and their sessions.
    pub compared: (u64, u64),
    /// Calls that are not, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// Steps of sessions whose growth says nothing about what content costs.
    pub implausible: u64,
    /// Are `o200k_base` and `cl100k_base` among the estimators?
    pub counted: bool,
    /// Estimators over all families, by family, by source.
    pub comparisons: Vec<Comparison>,
    /// Estimators along the session.
    pub along: Vec<Along>,
    /// Estimators' bias taken apart, by family.
    pub parts: Vec<Separated>,
    /// Hidden overheads.
    pub hidden: Vec<Spread>,
    /// What content costs.
    pub costs: Vec<FamilyCosts>,
    /// How well prompts can be predicted.
    pub predictions: Vec<Prediction>,
    /// Safety buffers.
    pub buffers: Vec<Buffers>,
    /// What drift did to policies.
    pub consequences: Vec<Consequence>,
    /// Coefficients for an estimator.
    pub calibrated: Vec<Calibrated>,
}

/// An estimator's pairs, one a compared call, and the safety buffers that they need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paired {
    /// The estimator.
    pub estimator: String,
    /// How it is used.
    pub used: Use,
    /// The pairs, in the order of sessions and calls.
    pub pairs: PairList,
    /// A buffer for each level.
    pub buffers: Vec<Buffer>,
}

/// The pairs of all estimators, and what has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairs {
    /// By estimator and use.
    pub estimators: Vec<Paired>,
    /// Calls with recorded usage that are not compared, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
}

/// So many sessions are looked at together where no more is wanted of them than their pairs.
const TOGETHER: usize = 4_096;

/// The pairs that [`drift`] sums up, for charts.
pub fn pairs(corpus: &Corpus, settings: &DriftSettings<'_>) -> Result<Pairs, PolicyError> {
    let own = own_estimators(corpus, settings)?;
    let counted = counted(corpus);
    let (mut left, mut cards) = (BTreeMap::new(), Vec::new());
    // What was recorded, by use; and by estimator and use what was estimated.
    let mut recorded: [Vec<Recorded>; 2] = Default::default();
    let mut estimated: Vec<(String, [Vec<u64>; 2])> = Vec::new();
    for first in (0..corpus.traces.len()).step_by(TOGETHER) {
        let traces: Vec<Cow<'_, Trace>> = (first..first + TOGETHER).map_while(|place| corpus.traces.at(place)).collect();
        let sessions = observed(&traces, first, settings);
        for (place, compared) in estimators(&own, &sessions, counted).iter().enumerate() {
            if estimated.len() == place {
                estimated.push((compared.name.clone(), Default::default()));
            }
            let Some((_, columns)) = estimated.get_mut(place) else { continue };
            let uses = [requests(compared, &sessions), since_usage(compared, &sessions)];
            for ((pairs, column), known) in uses.iter().zip(columns).zip(&mut recorded) {
                column.extend(pairs.iter().map(|(pair, _)| pair.estimated));
                known.extend(pairs.iter().filter(|_| place == 0).map(|(pair, _)| pair.known()));
            }
        }
        left_out(&sessions).into_iter().for_each(|(reason, calls)| *left.entry(reason).or_default() += calls);
        cards.extend(sessions.iter().map(Session::card));
    }
    let halves = deal(&cards);
    let recorded = recorded.map(Arc::new);
    let paired = |(estimator, columns): (String, [Vec<u64>; 2])| {
        let uses = [Use::Request, Use::SinceUsage].into_iter().zip(columns).zip(&recorded);
        let paired = |((used, estimated), recorded)| {
            let pairs = PairList::of(recorded, estimated);
            Paired { estimator: estimator.clone(), used, buffers: buffers(pairs.iter(), &halves), pairs }
        };
        uses.map(paired).collect::<Vec<_>>()
    };
    Ok(Pairs { estimators: estimated.into_iter().flat_map(paired).collect(), left_out: left })
}

/// Calls that are not compared, by reason.
fn left_out(sessions: &[Session<'_>]) -> BTreeMap<LeftOut, u64> {
    let mut left_out: BTreeMap<LeftOut, u64> = BTreeMap::new();
    for (reason, calls) in sessions.iter().flat_map(|session| &session.left_out) {
        *left_out.entry(*reason).or_default() += calls;
    }
    left_out
}

/// The recorded calls of sessions, the first of which stands at this place in the corpus.
fn observed<'a, T: Borrow<Trace> + Sync>(traces: &'a [T], first: usize, settings: &DriftSettings<'_>) -> Vec<Session<'a>> {
    let catalog = settings.replay.catalog;
    let model = settings.replay.model.as_deref().and_then(|model| catalog.find(model));
    traces.par_iter().enumerate().map(|(place, trace)| observe(trace.borrow(), first + place, catalog, model)).collect()
}

/// Were all texts of a corpus counted in the public vocabularies?
fn counted(corpus: &Corpus) -> bool {
    corpus.traces.par_each().all(|trace| is_counted(&trace))
}

/// The policies whose own estimators are compared, by their names.
type Own<'a> = Vec<(&'a str, Ready<'a>)>;

fn own_estimators<'a>(corpus: &Corpus, settings: &'a DriftSettings<'_>) -> Result<Own<'a>, PolicyError> {
    settings.compared.iter().map(|policy| Ok((policy.name.as_str(), Ready::new(corpus, policy, &settings.replay)?))).collect()
}

/// All estimators that are compared: those that need no policy, then the policies' own.
fn estimators(policies: &Own<'_>, sessions: &[Session<'_>], counted: bool) -> Vec<Compared> {
    let mut all = built_in(sessions, counted);
    for (name, ready) in policies {
        let estimator = |session: &Session<'_>| ready.session(session.place).map(|(plan, _)| plan.estimator.clone()).unwrap_or_default();
        all.push(own(name, sessions, sessions.iter().map(estimator).collect()));
    }
    all
}

/// Asks everything.
pub fn drift(corpus: &Corpus, settings: &DriftSettings<'_>) -> Result<Findings, PolicyError> {
    let catalog = settings.replay.catalog;
    let sessions = observed(&corpus.traces, 0, settings);
    let halves = deal(&sessions.iter().map(Session::card).collect::<Vec<_>>());
    let all = estimators(&own_estimators(corpus, settings)?, &sessions, counted(corpus));
    let counted = all.iter().any(|compared| compared.name == "o200k_base");
    let costs: Vec<FamilyCosts> = [Basis::Tokens, Basis::Chars]
        .into_iter()
        .flat_map(|basis| families(&sessions).into_iter().map(move |family| (family, basis)))
        .filter_map(|(family, basis)| family_costs(&sessions, family, basis, catalog))
        .collect();
    let predictions = predictions(&sessions, catalog);
    let overheads = overheads(&sessions, &costs, catalog);
    Ok(Findings {
        compared: (
            sessions.iter().map(|session| session.compared().count() as u64).sum(),
            sessions.iter().filter(|session| session.compared().next().is_some()).count() as u64,
        ),
        left_out: left_out(&sessions),
        implausible: costs.iter().filter(|costs| costs.basis == Basis::Tokens).map(|costs| costs.implausible).sum(),
        counted,
        comparisons: all.par_iter().flat_map_iter(|compared| comparisons(compared, &sessions)).collect(),
        along: all.par_iter().flat_map_iter(|compared| along(compared, &sessions)).collect(),
        parts: parts(&all, &sessions, &overheads, &costs),
        hidden: spreads(&overheads.iter().flatten().cloned().collect::<Vec<_>>()),
        buffers: all.par_iter().flat_map_iter(|compared| buffers_of(compared, &sessions, &halves)).collect(),
        consequences: consequences(corpus, &sessions, &halves, settings.replayed, &settings.replay)?,
        calibrated: calibrate(&sessions, &predictions, settings.basis, catalog),
        costs,
        predictions,
    })
}

/// The hidden overhead of each session, at the first compared call and for that call's family.
fn overheads(sessions: &[Session<'_>], costs: &[FamilyCosts], catalog: &Catalog) -> Vec<Option<Overhead>> {
    let origins = origins(&sessions.iter().map(|session| session.trace).collect::<Vec<_>>());
    let of = |(session, origin): (&Session<'_>, Origin)| {
        let family = session.compared().next()?.family;
        let fitted = costs.iter().find(|costs| costs.family == family && costs.basis == Basis::Tokens).map(|costs| costs.costs);
        let costs = fitted.unwrap_or_else(|| shipped_for(session, family, Basis::Tokens, catalog));
        let tokens = at_first(session, &costs, Basis::Tokens)?;
        Some(Overhead { source: session.source(), version: session.trace.version.clone(), family, tokens, origin })
    };
    sessions.iter().zip(origins).map(of).collect()
}

/// The pairs of an estimator over whole requests, with their family and the session's source.
fn requests<'a>(compared: &'a Compared, sessions: &'a [Session<'a>]) -> Vec<(Pair, Family)> {
    let mut pairs = Vec::new();
    for (session, estimates) in sessions.iter().zip(&compared.sessions) {
        for (observation, estimated) in session.observations.iter().zip(&estimates.requests) {
            if observation.left_out.is_none() {
                let pair = Pair { estimated: *estimated, recorded: observation.recorded, session: session.place, call: observation.call };
                pairs.push((pair, observation.family));
            }
        }
    }
    pairs
}

/// The same where the agent knows the usage of the call before and estimates the rest.
fn since_usage(compared: &Compared, sessions: &[Session<'_>]) -> Vec<(Pair, Family)> {
    let mut pairs = Vec::new();
    for (session, estimates) in sessions.iter().zip(&compared.sessions) {
        let calls: Vec<_> = session.observations.iter().zip(estimates.requests.iter().zip(&estimates.replies)).collect();
        for pair in calls.windows(2) {
            let [(before, (first, reply)), (after, (second, _))] = *pair else { continue };
            // Only where a call follows the one before it: nothing was recorded in between otherwise.
            if after.left_out.is_some() || after.call != before.call + 1 {
                continue;
            }
            let arrived = second.saturating_sub(first + reply);
            let estimated = before.recorded + before.output.unwrap_or(*reply) + arrived;
            let pair = Pair { estimated, recorded: after.recorded, session: session.place, call: after.call };
            pairs.push((pair, after.family));
        }
    }
    pairs
}

fn comparisons(compared: &Compared, sessions: &[Session<'_>]) -> Vec<Comparison> {
    let pairs = requests(compared, sessions);
    let row = |family, source, pairs: &[Pair]| Comparison { estimator: compared.name.clone(), family, source, figures: Figures::of(pairs) };
    let mut rows = vec![row(None, None, &pairs.iter().map(|(pair, _)| *pair).collect::<Vec<_>>())];
    for family in pairs.iter().map(|(_, family)| *family).collect::<BTreeSet<_>>() {
        rows.push(row(Some(family), None, &of_family(&pairs, family)));
    }
    let mut sources: BTreeMap<String, Vec<Pair>> = BTreeMap::new();
    for (pair, _) in &pairs {
        let source = sessions.get(pair.session).map(Session::source).unwrap_or_default();
        sources.entry(source).or_default().push(*pair);
    }
    rows.extend(sources.into_iter().map(|(source, pairs)| row(None, Some(source), &pairs)));
    rows.retain(|row| row.figures.calls > 0);
    rows
}

fn of_family(pairs: &[(Pair, Family)], wanted: Family) -> Vec<Pair> {
    pairs.iter().filter(|(_, family)| *family == wanted).map(|(pair, _)| *pair).collect()
}

fn along(compared: &Compared, sessions: &[Session<'_>]) -> Vec<Along> {
    let pairs: Vec<Pair> = requests(compared, sessions).into_iter().map(|(pair, _)| pair).collect();
    let of = |stretch: Stretch| Along { estimator: compared.name.clone(), stretch, figures: stretch.figures(&pairs) };
    STRETCHES.into_iter().map(of).filter(|along| along.figures.calls > 0).collect()
}

fn buffers_of(compared: &Compared, sessions: &[Session<'_>], halves: &[Half]) -> Vec<Buffers> {
    let mut rows = Vec::new();
    for (used, pairs) in [(Use::Request, requests(compared, sessions)), (Use::SinceUsage, since_usage(compared, sessions))] {
        let everything: Vec<Pair> = pairs.iter().map(|(pair, _)| *pair).collect();
        let row = |family, pairs: &[Pair]| Buffers {
            estimator: compared.name.clone(),
            used,
            family,
            buffers: buffers(pairs.iter().copied(), halves),
        };
        rows.push(row(None, &everything));
        for family in pairs.iter().map(|(_, family)| *family).collect::<BTreeSet<_>>() {
            rows.push(row(Some(family), &of_family(&pairs, family)));
        }
    }
    rows.retain(|row| !row.buffers.is_empty());
    rows
}

fn parts(all: &[Compared], sessions: &[Session<'_>], overheads: &[Option<Overhead>], costs: &[FamilyCosts]) -> Vec<Separated> {
    let hidden: Vec<Option<u64>> = overheads.iter().map(|overhead| overhead.as_ref().map(|overhead| overhead.tokens)).collect();
    let families: Vec<&FamilyCosts> = costs.iter().filter(|costs| costs.basis == Basis::Tokens).collect();
    let of = |compared: &Compared| -> Vec<Separated> {
        families.iter().filter_map(|costs| separate(compared, sessions, costs.family, &hidden, &costs.costs)).collect()
    };
    all.par_iter().flat_map_iter(of).collect()
}
