//! All questions about drift, asked of one corpus.

use super::along::{STRETCHES, Stretch};
use super::buffer::{Buffer, buffers};
use super::calibrate::{Calibrated, calibrate};
use super::consequence::{Consequence, consequences};
use super::estimators::{Estimates, PUBLIC, Rule, Uncounted, built_in, counted, estimates};
use super::figures::{Figures, Pair, PairList, Recorded};
use super::fit::{FamilyCosts, family_costs, shipped_for};
use super::halves::{Deal, Half, deal};
use super::hidden::{Overhead, Spread, at_first, spreads};
use super::predict::{Prediction, families, predictions};
use super::regression::Basis;
use super::sample::{LeftOut, Session, observe};
use super::separate::{Separated, Separating};
use crate::catalog::{Catalog, Family};
use crate::corpus::{Corpus, Vocabularies};
use crate::experiment::origin::{lineages, origins};
use crate::experiment::replay::{Ready, ReplaySettings, ready};
use crate::list::{Gather, List, on_all_cores, place_or_push};
use crate::policy::{Policy, PolicyError};
use crate::statistics::Origin;
use crate::trace::Trace;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is asked beside the logs.
pub struct DriftSettings<'a> {
    /// Policies whose own estimators are compared.
    pub compared: &'a [Policy],
    /// Policies whose late and early triggers are counted.
    pub replayed: &'a [Policy],
    /// The catalogue, and the window to take.
    pub replay: ReplaySettings<'a>,
    /// The unit of calibrated estimators.
    pub basis: Basis,
    /// The exact counts that estimators are compared with, as far as the corpus has them.
    pub vocabularies: Vocabularies,
}

/// An estimator beside recorded usage.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Name of the estimator.
    pub estimator: String,
    /// The family; `None` for all.
    pub family: Option<Family>,
    /// The source; `None` for all.
    pub source: Option<String>,
    /// The estimator's error over these calls.
    pub figures: Figures,
}

/// An estimator's error by place in the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Along {
    /// Name of the estimator.
    pub estimator: String,
    /// The stretch of the session that the calls lie in.
    pub stretch: Stretch,
    /// The estimator's error over these calls.
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
    /// Name of the estimator.
    pub estimator: String,
    /// On whole requests, or on top of recorded usage.
    pub used: Use,
    /// The family; `None` for all.
    pub family: Option<Family>,
    /// A buffer for each level.
    pub buffers: Vec<Buffer>,
}

/// All that a corpus shows about estimates and recorded prompts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Calls that are compared, and their sessions.
    pub compared: (u64, u64),
    /// Calls that are not, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// Steps of sessions whose growth says nothing about what content costs.
    pub implausible: u64,
    /// Estimators that are missing.
    pub uncounted: Vec<Uncounted>,
    /// Estimators over all families, by family, by source.
    pub comparisons: Vec<Comparison>,
    /// Estimators along the session.
    pub along: Vec<Along>,
    /// Estimators' bias taken apart, by family.
    pub parts: Vec<Separated>,
    /// Hidden overheads by source, family and version.
    pub hidden: Vec<Spread>,
    /// Fitted costs of content, by family and unit.
    pub costs: Vec<FamilyCosts>,
    /// How well prompts can be predicted.
    pub predictions: Vec<Prediction>,
    /// Safety buffers by estimator, use and family.
    pub buffers: Vec<Buffers>,
    /// Late and early triggers of policies.
    pub consequences: Vec<Consequence>,
    /// The fitted estimator of each family, as `[estimator]` tables.
    pub calibrated: Vec<Calibrated>,
}

/// An estimator's pairs, one a compared call, and the safety buffers that they need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paired {
    /// Name of the estimator.
    pub estimator: String,
    /// On whole requests, or on top of recorded usage.
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
    /// Estimators that are missing.
    pub uncounted: Vec<Uncounted>,
}

/// So many estimators share a walk through the sessions: what they say of all of them is held together.
const TOLD: usize = 3;

/// So many sessions are looked at together where no more is wanted of them than their pairs.
const TOGETHER: usize = 64;

/// A pair, with the family of its call.
type Compared = (Pair, Family);

/// The pairs that [`drift`] sums up, for charts.
pub fn pairs(corpus: &Corpus, settings: &DriftSettings<'_>) -> Result<Pairs, PolicyError> {
    let own = own_estimators(corpus, settings)?;
    let (counted, uncounted) = settings.counted(corpus);
    let rules = estimators(&own, counted);
    let (mut left, mut deal) = (BTreeMap::new(), Deal::default());
    // What was recorded, by use; and by estimator and use what was estimated.
    let mut recorded: [Vec<Recorded>; 2] = Default::default();
    let mut estimated: Vec<[Vec<u64>; 2]> = rules.iter().map(|_| Default::default()).collect();
    for first in (0..corpus.traces.len()).step_by(TOGETHER) {
        let traces: Vec<Cow<'_, Trace>> = (first..first + TOGETHER).map_while(|place| corpus.traces.at(place)).collect();
        let sessions = on_all_cores(traces.len(), &|place| Some(settings.observe(traces.get(place)?, first + place)));
        let told = on_all_cores(traces.len(), &|place| Some(estimates(&rules, sessions.get(place)?, traces.get(place)?)));
        for (place, columns) in estimated.iter_mut().enumerate() {
            let mut uses = <[Vec<Compared>; 2]>::default();
            for (session, told) in sessions.iter().zip(&told) {
                told.get(place).into_iter().for_each(|estimates| compared(session, estimates, &mut uses));
            }
            for ((column, pairs), recorded) in columns.iter_mut().zip(&uses).zip(&mut recorded) {
                column.extend(pairs.iter().map(|(pair, _)| pair.estimated));
                recorded.extend(pairs.iter().filter(|_| place == 0).map(|(pair, _)| pair.known()));
            }
        }
        for session in &sessions {
            session.left_out.iter().for_each(|(reason, calls)| *left.entry(*reason).or_default() += calls);
            deal.add(session);
        }
    }
    let halves = deal.halves();
    let recorded = recorded.map(Arc::new);
    let paired = |((estimator, _), columns): (&(&str, Rule<'_>), [Vec<u64>; 2])| {
        let uses = [Use::Request, Use::SinceUsage].into_iter().zip(columns).zip(&recorded);
        let paired = |((used, estimated), recorded)| {
            let pairs = PairList::of(recorded, estimated);
            Paired { estimator: (*estimator).to_owned(), used, buffers: buffers(pairs.iter(), &halves), pairs }
        };
        uses.map(paired).collect::<Vec<_>>()
    };
    Ok(Pairs { estimators: rules.iter().zip(estimated).flat_map(paired).collect(), left_out: left, uncounted })
}

impl DriftSettings<'_> {
    /// By public vocabulary: were all texts counted in it of the sessions with a compared call? And the estimators that are missing for want of that.
    fn counted(&self, corpus: &Corpus) -> ([bool; 2], Vec<Uncounted>) {
        let wanted =
            [matches!(self.vocabularies, Vocabularies::O200kBase | Vocabularies::Public), self.vocabularies == Vocabularies::Public];
        let lacks = |place: usize| {
            let trace = corpus.traces.at(place)?;
            let here = counted(&trace);
            let lacks = here.iter().zip(wanted).any(|(here, wanted)| wanted && !here);
            (lacks && self.observe(&trace, place).compared().next().is_some()).then_some((place, here))
        };
        let lacking = on_all_cores(corpus.traces.len(), &lacks);
        let without = |is_counted: fn(&[bool; 2]) -> bool| {
            lacking.iter().filter(|(_, here)| !is_counted(here)).map(|(place, _)| *place).collect::<Vec<usize>>()
        };
        let without = [without(|[first, _]| *first), without(|[_, second]| *second)];
        let all = [wanted[0] && without[0].is_empty(), wanted[1] && without[1].is_empty()];
        let missing = PUBLIC.into_iter().zip(without).zip(wanted).filter(|((_, sessions), wanted)| *wanted && !sessions.is_empty());
        (all, missing.map(|((estimator, sessions), _)| Uncounted { estimator, sessions }).collect())
    }

    /// The recorded calls of the session at this place in the corpus.
    fn observe(&self, trace: &Trace, place: usize) -> Session {
        let catalog = self.replay.catalog;
        observe(trace, place, catalog, self.replay.model.as_deref().and_then(|model| catalog.find(model)))
    }
}

/// The policies whose own estimators are compared, by their names.
type Own<'a> = Vec<(&'a str, Ready<'a>)>;

fn own_estimators<'a>(corpus: &Corpus, settings: &'a DriftSettings<'_>) -> Result<Own<'a>, PolicyError> {
    let ready = ready(corpus, settings.compared, &settings.replay)?;
    Ok(settings.compared.iter().map(|policy| policy.name.as_str()).zip(ready).collect())
}

/// All estimators that are compared: those that need no policy, then the policies' own.
fn estimators<'a>(policies: &'a Own<'_>, counted: [bool; 2]) -> Vec<(&'a str, Rule<'a>)> {
    let mut all = built_in(counted);
    all.extend(policies.iter().map(|(name, ready)| (*name, Rule::Own(ready))));
    all
}

/// Compares all estimators with the recorded usage of a corpus, and replays policies for the consequences.
pub fn drift(corpus: &Corpus, settings: &DriftSettings<'_>) -> Result<Findings, PolicyError> {
    let catalog = settings.replay.catalog;
    let lineages = lineages(corpus.traces.each());
    let observed = |place: usize| {
        let (trace, lineage) = corpus.traces.at(place).zip(lineages.get(place))?;
        let mut session = settings.observe(&trace, place);
        session.lineage = *lineage;
        Some(session)
    };
    let sessions = List::made(&corpus.traces, |place| observed(place).unwrap_or_default());
    let halves = deal(sessions.each());
    let own = own_estimators(corpus, settings)?;
    let (counted, uncounted) = settings.counted(corpus);
    let rules = estimators(&own, counted);
    let mut found = Findings { uncounted, ..Findings::default() };
    for session in sessions.each() {
        session.left_out.iter().for_each(|(reason, calls)| *found.left_out.entry(*reason).or_default() += calls);
        let calls = session.compared().count() as u64;
        found.compared.0 += calls;
        found.compared.1 += u64::from(calls > 0);
    }
    found.costs = [Basis::Tokens, Basis::Chars]
        .into_iter()
        .flat_map(|basis| families(&sessions).into_iter().map(move |family| (family, basis)))
        .filter_map(|(family, basis)| family_costs(&sessions, family, basis, catalog))
        .collect();
    found.implausible = found.costs.iter().filter(|costs| costs.basis == Basis::Tokens).map(|costs| costs.implausible).sum();
    found.predictions = predictions(&sessions, catalog);
    let overheads = overheads(&sessions, &found.costs, catalog);
    found.hidden = spreads(overheads.iter().flatten());
    found.consequences = consequences(corpus, &sessions, &halves, settings.replayed, &settings.replay)?;
    found.calibrated = calibrate(&sessions, &found.predictions, settings.basis, catalog);
    let sources = Sources::of(&sessions);
    // What an estimator says of each session is held no longer than it is looked at.
    let of_rule = |(name, _): &(&str, Rule<'_>), estimates: &List<Estimates>| {
        let (mut uses, mut apart) = (<[Vec<Compared>; 2]>::default(), Separating::of(name, &found.costs));
        for ((session, estimates), overhead) in sessions.each().zip(estimates.each()).zip(&overheads) {
            compared(&session, &estimates, &mut uses);
            overhead.iter().for_each(|overhead| apart.add(&session, &estimates, overhead));
        }
        let [requests, since_usage] = &uses;
        let rows = buffers_of(name, [(Use::Request, requests), (Use::SinceUsage, since_usage)], &halves);
        (comparisons(name, requests, &sources), along(name, requests), apart.separated(), rows)
    };
    for rules in rules.chunks(TOLD) {
        let of = |place: usize| Some(estimates(rules, &*sessions.at(place)?, &*corpus.traces.at(place)?));
        let told =
            List::made_together(&sessions, rules.len(), false, |place, give| of(place).unwrap_or_default().into_iter().for_each(give));
        let all = on_all_cores(rules.len(), &|place| Some(of_rule(rules.get(place)?, told.get(place)?)));
        for (comparisons, along, parts, buffers) in all {
            found.comparisons.extend(comparisons);
            found.along.extend(along);
            found.parts.extend(parts);
            found.buffers.extend(buffers);
        }
    }
    Ok(found)
}

/// The hidden overhead of each session, at the first compared call and for that call's family.
fn overheads(sessions: &List<Session>, costs: &[FamilyCosts], catalog: &Catalog) -> Vec<Option<Overhead>> {
    let origins = origins(sessions.each().map(|session| session.lineage));
    let of = |(session, origin): (Cow<'_, Session>, Origin)| {
        let family = session.compared().next()?.family;
        let fitted = costs.iter().find(|costs| costs.family == family && costs.basis == Basis::Tokens).map(|costs| costs.costs);
        let costs = fitted.unwrap_or_else(|| shipped_for(&session, family, Basis::Tokens, catalog));
        let tokens = at_first(&session, &costs, Basis::Tokens)?;
        Some(Overhead { source: session.source.clone(), version: session.version.clone(), family, tokens, origin })
    };
    sessions.each().zip(origins).map(of).collect()
}

/// The sources of sessions, and the number of its own for each session.
struct Sources {
    names: Vec<String>,
    of: Vec<u32>,
}

impl Sources {
    fn of(sessions: &List<Session>) -> Sources {
        let mut sources = Sources { names: Vec::new(), of: Vec::with_capacity(sessions.len()) };
        for session in sessions.each() {
            let number = place_or_push(&mut sources.names, |name| *name == session.source, || session.source.clone());
            sources.of.push(number as u32);
        }
        sources
    }

    fn name(&self, session: usize) -> &str {
        self.of.get(session).and_then(|number| self.names.get(*number as usize)).map_or("", String::as_str)
    }
}

/// Adds what an estimator says of a session, call by call with their family: of whole requests, and where the agent knows the usage of the call before and
/// estimates the rest.
fn compared(session: &Session, estimates: &Estimates, [requests, since_usage]: &mut [Vec<Compared>; 2]) {
    let calls: Vec<_> = session.observations.iter().zip(estimates.requests.iter().zip(&estimates.replies)).collect();
    let wanted = calls.iter().filter(|(observation, _)| observation.left_out.is_none());
    requests.extend(wanted.map(|(observation, (estimated, _))| (observation.pair(session, **estimated), observation.family)));
    for pair in calls.windows(2) {
        let [(before, (first, reply)), (after, (second, _))] = *pair else { continue };
        // Only where a call follows the one before it: nothing was recorded in between otherwise.
        if after.left_out.is_some() || after.call != before.call + 1 {
            continue;
        }
        let arrived = second.saturating_sub(first + reply);
        let estimated = before.recorded + before.output.unwrap_or(*reply) + arrived;
        since_usage.push((after.pair(session, estimated), after.family));
    }
}

fn comparisons(estimator: &str, pairs: &[Compared], of: &Sources) -> Vec<Comparison> {
    let row = |family, source, pairs: &[Pair]| Comparison { estimator: estimator.to_owned(), family, source, figures: Figures::of(pairs) };
    let mut rows = vec![row(None, None, &pairs.iter().map(|(pair, _)| *pair).collect::<Vec<_>>())];
    for family in pairs.iter().map(|(_, family)| *family).gather::<BTreeSet<_>>() {
        let own: Vec<Pair> = pairs.iter().filter(|(_, of)| *of == family).map(|(pair, _)| *pair).collect();
        rows.push(row(Some(family), None, &own));
    }
    let mut sources: BTreeMap<&str, Vec<Pair>> = BTreeMap::new();
    for (pair, _) in pairs {
        sources.entry(of.name(pair.session)).or_default().push(*pair);
    }
    rows.extend(sources.into_iter().map(|(source, pairs)| row(None, Some(source.to_owned()), &pairs)));
    rows.retain(|row| row.figures.calls > 0);
    rows
}

fn along(estimator: &str, pairs: &[Compared]) -> Vec<Along> {
    let pairs: Vec<Pair> = pairs.iter().map(|(pair, _)| *pair).collect();
    let of = |stretch: Stretch| Along { estimator: estimator.to_owned(), stretch, figures: stretch.figures(&pairs) };
    STRETCHES.into_iter().map(of).filter(|along| along.figures.calls > 0).collect()
}

fn buffers_of(estimator: &str, uses: [(Use, &Vec<Compared>); 2], halves: &[Half]) -> Vec<Buffers> {
    let mut rows = Vec::new();
    for (used, pairs) in uses {
        let row = |family: Option<Family>| {
            let pairs = pairs.iter().filter(|(_, of)| family.is_none_or(|wanted| *of == wanted)).map(|(pair, _)| *pair);
            Buffers { estimator: estimator.to_owned(), used, family, buffers: buffers(pairs, halves) }
        };
        rows.push(row(None));
        rows.extend(pairs.iter().map(|(_, family)| *family).gather::<BTreeSet<_>>().into_iter().map(|family| row(Some(family))));
    }
    rows.retain(|row| !row.buffers.is_empty());
    rows
}
