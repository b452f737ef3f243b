//! The estimators that are compared, and what each would have said at every call, on the road that policies use.

use super::sample::Session;
use crate::estimate::{Counting, Estimator, Guess, Rounding, Unit};
use crate::policy::Plan;
use crate::sim::{Conditions, simulate};
use crate::trace::Trace;
use rayon::prelude::*;

/// What an estimator said about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimates {
    /// The whole request, for each observation of the session.
    pub requests: Vec<u64>,
    /// The reply to it, likewise.
    pub replies: Vec<u64>,
    /// Tokens that it counts once a request for what a log hides.
    pub overhead: u64,
    /// Tokens that it adds for each message.
    pub per_message: u64,
}

/// An estimator over a corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Its name in reports.
    pub name: String,
    /// What it said, session by session.
    pub sessions: Vec<Estimates>,
}

/// How an estimator works.
#[derive(Clone, Debug, PartialEq)]
enum Rule {
    /// As a policy's.
    Arithmetic(Box<Estimator>),
    /// Four tokens for three words, once a message.
    Words,
    /// An exact count.
    O200kBase,
    /// An exact count.
    Cl100kBase,
}

/// The estimators that need no policy. Those that count in a public vocabulary are there where all texts of the corpus were counted in it.
pub(super) fn built_in(sessions: &[Session<'_>], counted: bool) -> Vec<Compared> {
    let units = [("chars/4", Unit::Chars), ("bytes/4", Unit::Bytes), ("UTF-16/4", Unit::Utf16)];
    let roundings = [("floor", Rounding::Floor), ("ceil", Rounding::Ceil), ("round", Rounding::Round)];
    let mut rules: Vec<(String, Rule)> = Vec::new();
    for (name, unit) in units {
        rules
            .extend(roundings.map(|(how, rounding)| (format!("{name} {how}"), Rule::Arithmetic(Box::new(quotient(unit, 1, 4, rounding))))));
    }
    rules.push(("chars*2/5".to_owned(), Rule::Arithmetic(Box::new(quotient(Unit::Chars, 2, 5, Rounding::Floor)))));
    rules.push(("words*4/3".to_owned(), Rule::Words));
    if counted {
        rules.extend([("o200k_base".to_owned(), Rule::O200kBase), ("cl100k_base".to_owned(), Rule::Cl100kBase)]);
    }
    let run = |(name, rule): (String, Rule)| Compared { name, sessions: sessions.iter().map(|session| rule.estimates(session)).collect() };
    rules.into_par_iter().map(run).collect()
}

/// A policy's own estimator, one for each session because it depends on the model.
pub(super) fn own(name: &str, sessions: &[Session<'_>], estimators: Vec<Estimator>) -> Compared {
    let estimates =
        sessions.par_iter().zip(estimators).map(|(session, estimator)| Rule::Arithmetic(Box::new(estimator)).estimates(session));
    Compared { name: name.to_owned(), sessions: estimates.collect() }
}

/// All that the log shows, its units divided, each text by itself.
fn quotient(unit: Unit, numerator: u64, denominator: u64, rounding: Rounding) -> Estimator {
    Estimator { unit, numerator, denominator, rounding, tools: Counting::Counted, ..Estimator::default() }
}

/// Were the texts counted in the public vocabularies?
pub(super) fn is_counted(trace: &Trace) -> bool {
    trace.parts.iter().all(|part| part.text.counts.is_some() || part.text.length.bytes == 0)
}

impl Rule {
    fn estimates(&self, session: &Session<'_>) -> Estimates {
        match self {
            Rule::Arithmetic(estimator) => arithmetic(session, estimator),
            Rule::Words => sums(session, |content| content.words * 4 / 3),
            Rule::O200kBase => sums(session, |content| content.o200k_base),
            Rule::Cl100kBase => sums(session, |content| content.cl100k_base),
        }
    }
}

fn sums(session: &Session<'_>, tokens: impl Fn(&super::sample::Content) -> u64) -> Estimates {
    let observations = &session.observations;
    Estimates {
        requests: observations.iter().map(|observation| tokens(&observation.standing)).collect(),
        replies: observations.iter().map(|observation| tokens(&observation.reply)).collect(),
        ..Estimates::default()
    }
}

fn arithmetic(session: &Session<'_>, estimator: &Estimator) -> Estimates {
    let trace = session.trace;
    let endless = Conditions { window: u64::MAX / 2, prompt_limit: u64::MAX / 2, ..Conditions::default() };
    let outcome = simulate(trace, &Plan { estimator: estimator.clone(), ..Plan::default() }, &endless);
    let request = |call: usize| outcome.calls.get(call).map_or(0, |row| row.estimated);
    let reply = |call: usize| {
        let row = trace.calls.get(call).and_then(|row| trace.messages.get(row.message as usize));
        row.map_or(0, |row| {
            let parts = trace.parts_of(row).iter().map(|part| estimator.part(part, &part.text, row.role));
            estimator.message(parts.fold(Guess::default(), Guess::plus), row.role)
        })
    };
    let calls = || session.observations.iter().map(|observation| observation.call);
    Estimates {
        requests: calls().map(request).collect(),
        replies: calls().map(reply).collect(),
        overhead: estimator.overhead,
        per_message: estimator.per_message,
    }
}
