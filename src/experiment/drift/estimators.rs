//! The estimators that are compared, and what each would have said at every call, on the road that policies use.

use super::sample::Session;
use crate::estimate::{Counting, Estimator, Guess, Rounding, Unit};
use crate::experiment::replay::Ready;
use crate::list::Pack;
use crate::sim::estimate_requests;
use crate::trace::{PartRow, Trace};
use crate::transcript::Counts;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What an estimator said about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Estimates {
    /// The whole request, for each observation of the session.
    pub requests: Vec<u64>,
    /// The reply, for each observation.
    pub replies: Vec<u64>,
    /// Tokens that it counts once a request for what a log hides.
    pub overhead: u64,
    /// Tokens that it adds for each message.
    pub per_message: u64,
}

impl Pack for Estimates {}

/// How an estimator works.
pub(super) enum Rule<'a> {
    /// Units of text, divided and rounded.
    Arithmetic(Box<Estimator>),
    /// As that of a policy, which depends on the model.
    Own(&'a Ready<'a>),
    /// Four tokens for three words, once a message.
    Words,
    /// An exact count in the vocabulary `o200k_base`.
    O200kBase,
    /// An exact count in the vocabulary `cl100k_base`.
    Cl100kBase,
}

/// Names of the estimators that count in a public vocabulary.
pub(super) const PUBLIC: [&str; 2] = ["o200k_base", "cl100k_base"];

/// An estimator that is missing: it did not count all texts of the sessions whose calls are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncounted {
    /// Name of the estimator.
    pub estimator: &'static str,
    /// The sessions with a compared call and a text that was not counted, by their places.
    pub sessions: Vec<usize>,
}

/// By public vocabulary: were all texts of a session counted in it?
pub(super) fn counted(trace: &Trace) -> [bool; 2] {
    let all = |is_counted: fn(Counts) -> bool| {
        let holds = |part: Cow<'_, PartRow>| part.text.length.bytes == 0 || part.text.counts.is_some_and(is_counted);
        trace.parts.iter().all(holds)
    };
    [all(|_| true), all(|counts| counts.cl100k_base > 0)]
}

/// The estimators that need no policy, by their names in reports. Those that count in a public vocabulary are there where all texts of compared sessions were counted in it.
pub(super) fn built_in<'a>(counted: [bool; 2]) -> Vec<(&'a str, Rule<'a>)> {
    use Rounding::{Ceil, Floor, Round};
    let arithmetic = |unit, numerator, denominator, rounding| Rule::Arithmetic(Box::new(quotient(unit, numerator, denominator, rounding)));
    let mut rules = vec![
        ("chars/4 floor", arithmetic(Unit::Chars, 1, 4, Floor)),
        ("chars/4 ceil", arithmetic(Unit::Chars, 1, 4, Ceil)),
        ("chars/4 round", arithmetic(Unit::Chars, 1, 4, Round)),
        ("bytes/4 floor", arithmetic(Unit::Bytes, 1, 4, Floor)),
        ("bytes/4 ceil", arithmetic(Unit::Bytes, 1, 4, Ceil)),
        ("bytes/4 round", arithmetic(Unit::Bytes, 1, 4, Round)),
        ("UTF-16/4 floor", arithmetic(Unit::Utf16, 1, 4, Floor)),
        ("UTF-16/4 ceil", arithmetic(Unit::Utf16, 1, 4, Ceil)),
        ("UTF-16/4 round", arithmetic(Unit::Utf16, 1, 4, Round)),
        ("chars*2/5", arithmetic(Unit::Chars, 2, 5, Floor)),
        ("words*4/3", Rule::Words),
    ];
    let exact = PUBLIC.into_iter().zip([Rule::O200kBase, Rule::Cl100kBase]).zip(counted);
    rules.extend(exact.filter_map(|(rule, counted)| counted.then_some(rule)));
    rules
}

/// All that the log shows, its units divided, each text by itself.
fn quotient(unit: Unit, numerator: u64, denominator: u64, rounding: Rounding) -> Estimator {
    Estimator { unit, numerator, denominator, rounding, tools: Counting::Counted, ..Estimator::default() }
}

/// What each of these says of a session.
pub(super) fn estimates(rules: &[(&str, Rule<'_>)], session: &Session, trace: &Trace) -> Vec<Estimates> {
    let own: Vec<Option<Estimator>> = rules.iter().map(|(_, rule)| rule.estimator(session)).collect();
    let mut arithmetic = arithmetic(session, trace, own.iter().flatten().collect()).into_iter();
    let of = |((_, rule), own): (&(&str, Rule<'_>), &Option<Estimator>)| match rule {
        _ if own.is_some() => arithmetic.next().unwrap_or_default(),
        Rule::Words => sums(session, |content| content.words * 4 / 3),
        Rule::Cl100kBase => sums(session, |content| content.cl100k_base),
        _ => sums(session, |content| content.o200k_base),
    };
    rules.iter().zip(&own).map(of).collect()
}

impl Rule<'_> {
    /// By what it estimates a session's items; `None` where it is none of a policy's kind.
    fn estimator(&self, session: &Session) -> Option<Estimator> {
        match self {
            Rule::Arithmetic(estimator) => Some((**estimator).clone()),
            Rule::Own(ready) => Some(ready.session(session.place).map(|(plan, _)| plan.estimator.clone()).unwrap_or_default()),
            Rule::Words | Rule::O200kBase | Rule::Cl100kBase => None,
        }
    }
}

fn sums(session: &Session, tokens: impl Fn(&super::sample::Content) -> u64) -> Estimates {
    let observations = &session.observations;
    Estimates {
        requests: observations.iter().map(|observation| tokens(&observation.standing)).collect(),
        replies: observations.iter().map(|observation| tokens(&observation.reply)).collect(),
        ..Estimates::default()
    }
}

fn arithmetic(session: &Session, trace: &Trace, estimators: Vec<&Estimator>) -> Vec<Estimates> {
    let requests = estimate_requests(trace, &estimators);
    let of = |(estimator, requests): (&&Estimator, Vec<u64>)| {
        let reply = |call: usize| {
            let row = trace.calls.get(call).and_then(|row| trace.messages.get(row.message as usize));
            row.map_or(0, |row| {
                let parts = trace.parts_of(row).map(|part| estimator.part(&part, &part.text, row.role));
                estimator.message(parts.fold(Guess::default(), Guess::plus), row.role)
            })
        };
        let calls = || session.observations.iter().map(|observation| observation.call);
        Estimates {
            requests: calls().map(|call| requests.get(call).copied().unwrap_or_default()).collect(),
            replies: calls().map(reply).collect(),
            overhead: estimator.overhead,
            per_message: estimator.per_message,
        }
    };
    estimators.iter().zip(requests).map(of).collect()
}
