//! Where the minimum of a prune should stand: the predicted optimum beside a measured one.

use super::price::price;
use super::replay::{Replay, ReplaySettings, replay};
use crate::corpus::Corpus;
use crate::cost::{CacheKind, Prunes, Tariff, prunes};
use crate::policy::{Policy, PolicyError};
use crate::statistics::distinct;

/// The minimums that are tried, in tokens.
const TRIED: [u64; 9] = [0, 2_500, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 320_000];

/// What a policy's minimum does to its cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BreakEven {
    /// Name of the policy.
    pub policy: String,
    /// The parameter that holds the minimum.
    pub param: String,
    /// Its value as the policy has it; absent where it is a formula.
    pub value: Option<u64>,
    /// The prunes under that value.
    pub prunes: Prunes,
    /// The policy under each minimum that was tried, in ascending order.
    pub tried: Vec<(u64, Replay)>,
}

/// Tries a row of minimums. `Err` where the policy lacks the parameter, or counts something other than tokens in it.
pub fn break_even(
    corpus: &Corpus,
    policy: &Policy,
    param: &str,
    settings: &ReplaySettings<'_>,
    tariff: &Tariff<'_>,
) -> Result<BreakEven, PolicyError> {
    let parameter = policy.params.get(param);
    if let Some(other) = parameter.filter(|parameter| !(parameter.unit.is_empty() || parameter.unit.starts_with("tokens"))) {
        let reason = format!("`{param}` counts {}; --break-even asks for a parameter that counts tokens", other.unit);
        return Err(PolicyError::Plan { policy: policy.name.clone(), reason });
    }
    let value = parameter.and_then(|parameter| parameter.value.as_integer()).and_then(|value| u64::try_from(value).ok());
    let minimums = distinct(TRIED.into_iter().chain(value));
    let mut tried = Vec::with_capacity(minimums.len());
    for minimum in minimums {
        let mut turned = policy.clone();
        turned.set(param, &minimum.to_string())?;
        tried.extend(replay(corpus, &[turned], settings)?.into_iter().map(|replay| (minimum, replay)));
    }
    for (_, replay) in &mut tried {
        price(corpus, std::slice::from_mut(replay), tariff);
    }
    let mut found = Prunes::default();
    for replay in replay(corpus, std::slice::from_ref(policy), settings)? {
        for (trace, outcome) in corpus.traces.each().zip(replay.outcomes.each()) {
            found += prunes(&trace, &outcome, tariff);
        }
    }
    Ok(BreakEven { policy: policy.name.clone(), param: param.to_owned(), value, prunes: found, tried })
}

impl BreakEven {
    /// The smallest minimum of least cost, of those that fail the fewest sessions.
    pub fn measured_best(&self, cache: CacheKind) -> Option<u64> {
        let priced = self.tried.iter().filter(|(_, replay)| replay.bill.is_priced());
        priced
            .min_by_key(|(minimum, replay)| (replay.totals.failed_sessions, replay.bill.with(cache).nano_usd(), *minimum))
            .map(|(minimum, _)| *minimum)
    }
}
