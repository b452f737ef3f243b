//! The estimators that are compared, and what each would have said at every call, on the road that policies use.

use super::sample::Session;
use crate::estimate::{Counting, Estimator, Guess, Rounding, Unit};
use crate::experiment::replay::Ready;
use crate::list::Pack;
use crate::policy::Plan;
use crate::sim::{Conditions, simulate};
use crate::trace::Trace;
use serde::{Deserialize, Serialize};

/// What an estimator said about a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl Pack for Estimates {}

/// How an estimator works.
pub(super) enum Rule<'a> {
    /// As a policy's.
    Arithmetic(Box<Estimator>),
    /// As that of a policy, which depends on the model.
    Own(&'a Ready<'a>),
    /// Four tokens for three words, once a message.
    Words,
    /// An exact count.
    O200kBase,
    /// An exact count.
    Cl100kBase,
}

/// The estimators that need no policy, by their names in reports. Those that count in a public vocabulary are there where all texts of the corpus were counted in it.
pub(super) fn built_in<'a>(counted: bool) -> Vec<(&'a str, Rule<'a>)> {
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
    if counted {
        rules.extend([(O200K_BASE, Rule::O200kBase), ("cl100k_base", Rule::Cl100kBase)]);
    }
    rules
}

/// The name of the estimator that counts in that vocabulary.
pub(super) const O200K_BASE: &str = "o200k_base";

/// All that the log shows, its units divided, each text by itself.
fn quotient(unit: Unit, numerator: u64, denominator: u64, rounding: Rounding) -> Estimator {
    Estimator { unit, numerator, denominator, rounding, tools: Counting::Counted, ..Estimator::default() }
}

/// Were the texts counted in the public vocabularies?
pub(super) fn is_counted(trace: &Trace) -> bool {
    trace.parts.iter().all(|part| part.text.counts.is_some() || part.text.length.bytes == 0)
}

impl Rule<'_> {
    /// What it says of a session.
    pub fn estimates(&self, session: &Session, trace: &Trace) -> Estimates {
        match self {
            Rule::Arithmetic(estimator) => arithmetic(session, trace, estimator),
            Rule::Own(ready) => {
                let estimator = ready.session(session.place).map(|(plan, _)| plan.estimator.clone()).unwrap_or_default();
                arithmetic(session, trace, &estimator)
            }
            Rule::Words => sums(session, |content| content.words * 4 / 3),
            Rule::O200kBase => sums(session, |content| content.o200k_base),
            Rule::Cl100kBase => sums(session, |content| content.cl100k_base),
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

fn arithmetic(session: &Session, trace: &Trace, estimator: &Estimator) -> Estimates {
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
