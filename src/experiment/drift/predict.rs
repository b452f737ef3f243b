//! How well recorded prompts can be predicted: from the call before, from the first call on, and from other sessions alone.

use super::figures::{Figures, Pair};
use super::fit::{from_growth, from_steps, grown, shipped_for, steps};
use super::halves::{Half, deal};
use super::hidden::over_calls;
use super::regression::{Basis, Costs, Normal};
use super::sample::{Growth, Observation, Session};
use crate::catalog::{Catalog, Family};
use crate::corpus::KnownOverheads;
use crate::list::{Gather, List};
use crate::names::named;
use crate::statistics::sorted;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

named! {
    /// From what a recorded prompt is predicted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Method: name {
        /// The recorded prompt of the call before, and what came since by the session's calibration up to there.
        Previous = "call before",
        /// The recorded prompt of the session's first call, and all that came since by the costs that ship with the program.
        Shipped = "first call, shipped",
        /// The same by costs fitted on the other half of the family's sessions.
        Fitted = "first call, fitted",
        /// Overhead and costs from the other half of the source's sessions; nothing recorded of the session itself.
        Source = "other half, tokens",
        /// As [`Method::Source`], counted in characters.
        SourceChars = "other half, chars",
    }
}

/// How one way of predicting did.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The way of predicting that is judged.
    pub method: Method,
    /// The family of the models.
    pub family: Family,
    /// Where the sessions come from; `None` for all sources of the family.
    pub source: Option<String>,
    /// The predictions' error beside recorded prompts.
    pub figures: Figures,
}

/// Sources of fewer sessions are not halved.
const FEWEST: usize = 4;

/// Sessions of a corpus, by their places in the list of all.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    all: &'a List<Session>,
    places: &'a [usize],
}

impl<'a> Chosen<'a> {
    fn each(self) -> impl Iterator<Item = Cow<'a, Session>> {
        self.places.iter().filter_map(move |place| self.all.at(*place))
    }

    /// The chosen sessions of one half.
    fn of(self, half: Half, halves: &'a [Half]) -> impl Iterator<Item = Cow<'a, Session>> {
        let in_half = self.places.iter().zip(halves).filter(move |(_, of)| **of == half);
        in_half.filter_map(move |(place, _)| self.all.at(*place))
    }
}

/// All predictions, family by family.
pub(super) fn predictions(sessions: &List<Session>, catalog: &Catalog) -> Vec<Prediction> {
    let mut predictions = Vec::new();
    for family in families(sessions) {
        let mut sources: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, session) in sessions.each().enumerate().filter(|(_, session)| session.compared_of(family).next().is_some()) {
            match sources.get_mut(&session.source) {
                Some(places) => places.push(place),
                None => drop(sources.insert(session.source.clone(), vec![place])),
            }
        }
        let places = sorted(sources.values().flatten().copied());
        let all = Chosen { all: sessions, places: &places };
        let row = |method, pairs: &[Pair]| Prediction { method, family, source: None, figures: Figures::of(pairs) };
        let previous: Vec<Pair> = all.each().flat_map(|session| from_previous(&session, family)).collect();
        predictions.push(row(Method::Previous, &previous));
        let costs = |session: &Session| shipped_for(session, family, Basis::Tokens, catalog);
        let shipped: Vec<Pair> = all.each().flat_map(|session| from_first(&session, family, &costs(&session))).collect();
        predictions.push(row(Method::Shipped, &shipped));
        if places.len() >= FEWEST {
            predictions.push(row(Method::Fitted, &fitted(all, family, catalog)));
        }
        for (source, places) in sources.iter().filter(|(_, places)| places.len() >= FEWEST) {
            for (method, basis) in [(Method::Source, Basis::Tokens), (Method::SourceChars, Basis::Chars)] {
                let figures = Figures::of(&calibrated(Chosen { all: sessions, places }, family, basis, catalog));
                predictions.push(Prediction { method, family, source: Some(source.clone()), figures });
            }
        }
    }
    predictions.retain(|prediction| prediction.figures.calls > 0);
    predictions
}

/// The families of which calls are compared.
pub(super) fn families(sessions: &List<Session>) -> BTreeSet<Family> {
    let of = |session: Cow<'_, Session>| session.compared().map(|observation| observation.family).gather::<BTreeSet<Family>>();
    sessions.each().flat_map(of).collect()
}

fn from_previous(session: &Session, family: Family) -> Vec<Pair> {
    let mut before: Option<u64> = None;
    let mut pairs = Vec::new();
    for observation in session.compared_of(family) {
        let grown = observation.predicted_growth;
        if let (Some(before), Some(grown), Some(_)) = (before, grown, observation.grown) {
            pairs.push(observation.pair(session, before + grown));
        }
        before = Some(observation.recorded);
    }
    pairs
}

/// Goes on from the first call's recorded prompt until the chain breaks.
fn from_first(session: &Session, family: Family, costs: &Costs) -> Vec<Pair> {
    let mut steps = session.steps().filter(|(observation, _)| observation.left_out.is_none() && observation.family == family);
    let Some((first, _)) = steps.next() else { return Vec::new() };
    let mut predicted = first.recorded;
    let mut pairs = Vec::new();
    for (observation, growth) in steps {
        let Some(Growth { reply, sent, arrived, expired, .. }) = growth else { break };
        let reply = sent.unwrap_or_else(|| costs.tokens(&reply, Basis::Tokens));
        predicted = (predicted + reply + costs.tokens(&arrived, Basis::Tokens)).saturating_sub(expired);
        pairs.push(observation.pair(session, predicted));
    }
    pairs
}

fn fitted(sessions: Chosen<'_>, family: Family, catalog: &Catalog) -> Vec<Pair> {
    let halves = deal(sessions.each());
    let costs = |session: &Session| shipped_for(session, family, Basis::Tokens, catalog);
    let mut pairs = Vec::new();
    for half in Half::ALL {
        let Some(believed) = sessions.each().next().map(|first| costs(&first)) else { break };
        let mut others = Normal::default();
        for session in sessions.of(half.other(), &halves) {
            others.plus(&steps(&session, family, Basis::Tokens, &costs(&session)).normal, 1.0);
        }
        let fitted = from_steps(&others, &believed);
        pairs.extend(sessions.of(half, &halves).flat_map(|session| from_first(&session, family, &fitted)));
    }
    pairs
}

fn calibrated(sessions: Chosen<'_>, family: Family, basis: Basis, catalog: &Catalog) -> Vec<Pair> {
    let halves = deal(sessions.each());
    let mut pairs = Vec::new();
    for half in Half::ALL {
        let Some(believed) = sessions.each().next().map(|first| shipped_for(&first, family, basis, catalog)) else { break };
        let costs = from_growth(&grown(sessions.of(half.other(), &halves), family, basis), &believed);
        let mut known = KnownOverheads::default();
        for session in sessions.of(half.other(), &halves) {
            over_calls(&session, family, &costs, basis).into_iter().for_each(|tokens| known.add(&session.version, tokens));
        }
        let expected = known.medians();
        for session in sessions.of(half, &halves) {
            let Some(overhead) = expected.of(&session.version) else { continue };
            let estimated = |observation: &Observation| overhead + costs.tokens(&observation.standing, basis);
            pairs.extend(session.compared_of(family).map(|observation| observation.pair(&session, estimated(observation))));
        }
    }
    pairs
}
