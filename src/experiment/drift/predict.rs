//! How well recorded prompts can be predicted: from the call before, from the first call on, and from other sessions alone.

use super::figures::{Figures, Pair};
use super::fit::{Steps, from_growth, from_steps, shipped_for, since_first, steps};
use super::halves::{Half, deal};
use super::hidden::over_calls;
use super::regression::{Basis, Costs, Normal};
use super::sample::{Growth, Session};
use crate::catalog::{Catalog, Family};
use crate::corpus::expected_overhead;
use std::collections::{BTreeMap, BTreeSet};

/// A way to predict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// The recorded prompt of the call before, and what came since by the session's calibration up to there.
    Previous,
    /// The recorded prompt of the session's first call, and all that came since by the costs that ship with the program.
    Shipped,
    /// The same by costs fitted on the other half of the family's sessions.
    Fitted,
    /// Overhead and costs from the other half of the source's sessions; nothing recorded of the session itself.
    Source,
    /// The same, counted in characters.
    SourceChars,
}

impl Method {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Method::Previous => "call before",
            Method::Shipped => "first call, shipped",
            Method::Fitted => "first call, fitted",
            Method::Source => "other half, tokens",
            Method::SourceChars => "other half, chars",
        }
    }
}

/// How one way of predicting did.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The way.
    pub method: Method,
    /// The family of the models.
    pub family: Family,
    /// Where the sessions come from; `None` for all sources of the family.
    pub source: Option<String>,
    /// Predicted beside recorded.
    pub figures: Figures,
}

/// Sources of fewer sessions are not halved.
const FEWEST: usize = 4;

/// All predictions, family by family.
pub(super) fn predictions(sessions: &[Session<'_>], catalog: &Catalog) -> Vec<Prediction> {
    let mut predictions = Vec::new();
    for family in families(sessions) {
        let all: Vec<&Session<'_>> = sessions.iter().filter(|session| of_family(session, family)).collect();
        let row = |method, pairs: &[Pair]| Prediction { method, family, source: None, figures: Figures::of(pairs) };
        let previous: Vec<Pair> = all.iter().flat_map(|session| from_previous(session, family)).collect();
        predictions.push(row(Method::Previous, &previous));
        let costs = |session: &Session<'_>| shipped_for(session, family, Basis::Tokens, catalog);
        let shipped: Vec<Pair> = all.iter().flat_map(|session| from_first(session, family, &costs(session))).collect();
        predictions.push(row(Method::Shipped, &shipped));
        if all.len() >= FEWEST {
            predictions.push(row(Method::Fitted, &fitted(&all, family, catalog)));
        }
        let mut sources: BTreeMap<String, Vec<&Session<'_>>> = BTreeMap::new();
        all.iter().for_each(|session| sources.entry(session.source()).or_default().push(session));
        for (source, of_source) in sources.into_iter().filter(|(_, sessions)| sessions.len() >= FEWEST) {
            for (method, basis) in [(Method::Source, Basis::Tokens), (Method::SourceChars, Basis::Chars)] {
                let figures = Figures::of(&calibrated(&of_source, family, basis, catalog));
                predictions.push(Prediction { method, family, source: Some(source.clone()), figures });
            }
        }
    }
    predictions.retain(|prediction| prediction.figures.calls > 0);
    predictions
}

/// The families of which calls are compared.
pub(super) fn families(sessions: &[Session<'_>]) -> BTreeSet<Family> {
    sessions.iter().flat_map(Session::compared).map(|observation| observation.family).collect()
}

fn of_family(session: &Session<'_>, family: Family) -> bool {
    session.compared().any(|observation| observation.family == family)
}

fn from_previous(session: &Session<'_>, family: Family) -> Vec<Pair> {
    let mut before: Option<u64> = None;
    let mut pairs = Vec::new();
    for observation in session.compared().filter(|observation| observation.family == family) {
        let grown = session.trace.calls.get(observation.call).and_then(|call| call.predicted_growth);
        if let (Some(before), Some(grown), Some(_)) = (before, grown, observation.growth) {
            pairs.push(Pair { estimated: before + grown, recorded: observation.recorded, session: session.place, call: observation.call });
        }
        before = Some(observation.recorded);
    }
    pairs
}

/// Goes on from the first call's recorded prompt until the chain breaks.
fn from_first(session: &Session<'_>, family: Family, costs: &Costs) -> Vec<Pair> {
    let mut observations = session.compared().filter(|observation| observation.family == family);
    let Some(first) = observations.next() else { return Vec::new() };
    let mut predicted = first.recorded;
    let mut pairs = Vec::new();
    for observation in observations {
        let Some(Growth { reply, sent, arrived, expired, .. }) = observation.growth else { break };
        let reply = sent.unwrap_or_else(|| costs.tokens(&reply, Basis::Tokens));
        predicted = (predicted + reply + costs.tokens(&arrived, Basis::Tokens)).saturating_sub(expired);
        pairs.push(Pair { estimated: predicted, recorded: observation.recorded, session: session.place, call: observation.call });
    }
    pairs
}

fn fitted(sessions: &[&Session<'_>], family: Family, catalog: &Catalog) -> Vec<Pair> {
    let halves = deal(&sessions.iter().map(|session| session.card()).collect::<Vec<_>>());
    let costs: Vec<Costs> = sessions.iter().map(|session| shipped_for(session, family, Basis::Tokens, catalog)).collect();
    let all: Vec<Steps> = sessions.iter().zip(&costs).map(|(session, costs)| steps(session, family, Basis::Tokens, costs)).collect();
    let mut pairs = Vec::new();
    for half in Half::ALL {
        let others = all.iter().zip(&halves).filter(|(_, of)| **of == half.other()).map(|(steps, _)| steps);
        let Some(believed) = costs.first() else { break };
        let fitted = from_steps(others, believed);
        for (session, _) in sessions.iter().zip(&halves).filter(|(_, of)| **of == half) {
            pairs.extend(from_first(session, family, &fitted));
        }
    }
    pairs
}

fn calibrated(sessions: &[&Session<'_>], family: Family, basis: Basis, catalog: &Catalog) -> Vec<Pair> {
    let halves = deal(&sessions.iter().map(|session| session.card()).collect::<Vec<_>>());
    let growth: Vec<Normal> = sessions.iter().map(|session| since_first(session, family, basis)).collect();
    let mut pairs = Vec::new();
    for half in Half::ALL {
        let in_half = |wanted: Half| sessions.iter().zip(&halves).filter(move |(_, of)| **of == wanted).map(|(session, _)| *session);
        let Some(believed) = sessions.first().map(|session| shipped_for(session, family, basis, catalog)) else { break };
        let others = growth.iter().zip(&halves).filter(|(_, of)| **of == half.other()).map(|(normal, _)| normal);
        let costs = from_growth(others, &believed);
        let known: Vec<(String, u64)> = in_half(half.other())
            .filter_map(|session| Some((session.trace.version.clone(), over_calls(session, family, &costs, basis)?)))
            .collect();
        for session in in_half(half) {
            let Some(overhead) = expected_overhead(&known, &session.trace.version) else { continue };
            for observation in session.compared().filter(|observation| observation.family == family) {
                let estimated = overhead + costs.tokens(&observation.standing, basis);
                pairs.push(Pair { estimated, recorded: observation.recorded, session: session.place, call: observation.call });
            }
        }
    }
    pairs
}
