//! The summary-size model `recorded`: fitted from the summaries that the recording agents of a corpus made.
//!
//! With fewer than [`ENOUGH`] events whose replaced tokens are known, a summary has the median of the recorded sizes. With more, it is the median
//! share of what it replaces, within the smallest and the largest recorded size, if that comes nearer to the recorded sizes (by the sum of
//! distances) than the median does. An agent with summaries of its own has a model of its own; every other session takes that of all.

use crate::sim::RecordedSummary;
use crate::statistics::{median, quantile};
use crate::trace::{CompactionRow, Trace};
use crate::transcript::CompactionKind;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Below this number of events nothing is said about shares.
pub const ENOUGH: usize = 8;

/// A model and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fitted {
    /// A fixed size, or a share of what a summary replaces.
    pub model: RecordedSummary,
    /// Number of recorded summaries that the model rests on.
    pub events: u64,
}

/// The models of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedSummaries {
    by_agent: BTreeMap<String, Fitted>,
    all: Option<Fitted>,
}

/// One recorded summary: its size, and what it replaced where that is known.
#[derive(Clone, Copy)]
struct Sample {
    tokens: u64,
    replaced: Option<u64>,
}

impl RecordedSummaries {
    /// Fits one model per agent, and one for all agents together.
    pub fn fit(traces: impl IntoIterator<Item = impl Borrow<Trace>>) -> RecordedSummaries {
        let mut samples: BTreeMap<String, Vec<Sample>> = BTreeMap::new();
        for trace in traces {
            let trace = trace.borrow();
            let here = trace.compactions.iter().filter_map(|event| sample(trace, event));
            samples.entry(trace.agent.clone()).or_default().extend(here);
        }
        let all: Vec<Sample> = samples.values().flatten().copied().collect();
        let by_agent = samples.iter().filter_map(|(agent, samples)| Some((agent.clone(), fitted(samples)?))).collect();
        RecordedSummaries { by_agent, all: fitted(&all) }
    }

    /// The model for a session; `None` where the corpus records no summary.
    pub fn model(&self, trace: &Trace) -> Option<RecordedSummary> {
        self.by_agent.get(&trace.agent).or(self.all.as_ref()).map(|fitted| fitted.model)
    }

    /// Each agent that made summaries, with its model.
    pub fn by_agent(&self) -> impl Iterator<Item = (&str, Fitted)> {
        self.by_agent.iter().map(|(agent, fitted)| (agent.as_str(), *fitted))
    }

    /// The model for sessions of all other agents.
    pub fn all(&self) -> Option<Fitted> {
        self.all
    }

    /// The models in words; `None` where the corpus records no summary.
    pub fn describe(&self) -> Option<String> {
        let all = self.all?;
        let words = |fitted: Fitted| match fitted.model {
            RecordedSummary::Constant(tokens) => format!("the median of {}, {tokens} tokens", fitted.events),
            RecordedSummary::Share { millionths, min, max } => {
                let (whole, rest) = (millionths / 10_000, millionths % 10_000 / 100);
                format!("the median share of {}, {whole}.{rest:02} % of what it replaces, {min} to {max} tokens", fitted.events)
            }
        };
        let agents: Vec<String> = self.by_agent.iter().map(|(agent, fitted)| format!("{agent} {}", words(*fitted))).collect();
        Some(match agents.as_slice() {
            [_] => format!("recorded summaries: {}", words(all)),
            _ => format!("recorded summaries: {}; other agents {}", agents.join(", "), words(all)),
        })
    }
}

/// Calibrated tokens of a recorded summary; where its text is not in the log, what the summariser's request replied, without its reasoning.
pub fn summary_of(trace: &Trace, event: &CompactionRow) -> Option<u64> {
    event
        .summary_tokens
        .map(|tokens| tokens * trace.calibration_thousandths / 1000)
        .or_else(|| event.usage.and_then(|usage| usage.written()))
}

fn sample(trace: &Trace, event: &CompactionRow) -> Option<Sample> {
    if event.kind != CompactionKind::Compact || event.copy {
        return None;
    }
    let tokens = summary_of(trace, event)?;
    let next = trace.calls.partition_point(|call| call.message < event.before);
    // What no call followed was in no prompt.
    trace.calls.get(next)?;
    let usage = |index: usize| trace.calls.get(index).and_then(|call| call.usage);
    let before = event.tokens_before.or_else(|| usage(next.checked_sub(1)?).map(|usage| usage.prompt + usage.output));
    let after = usage(next).map(|usage| usage.prompt).or(event.tokens_after);
    // What went is what the context lost, and the summary that came in its place.
    let replaced = before.zip(after).and_then(|(before, after)| (before + tokens).checked_sub(after));
    Some(Sample { tokens, replaced: replaced.filter(|replaced| *replaced > 0) })
}

fn fitted(samples: &[Sample]) -> Option<Fitted> {
    let sizes = sorted(samples.iter().map(|sample| sample.tokens));
    let (min, max) = (*sizes.first()?, *sizes.last()?);
    let constant = RecordedSummary::Constant(quantile(&sizes, 500)?);
    let pairs: Vec<(u64, u64)> = samples.iter().filter_map(|sample| Some((sample.replaced?, sample.tokens))).collect();
    let ratios = pairs.iter().map(|(replaced, tokens)| ratio(*tokens, *replaced)).collect();
    let share = median(ratios).map(|millionths| RecordedSummary::Share { millionths, min, max });
    let miss = |model: RecordedSummary| pairs.iter().map(|(replaced, tokens)| model.tokens(*replaced).abs_diff(*tokens)).sum::<u64>();
    let better = share.filter(|share| pairs.len() >= ENOUGH && miss(*share) < miss(constant));
    Some(Fitted { model: better.unwrap_or(constant), events: samples.len() as u64 })
}

fn ratio(tokens: u64, replaced: u64) -> u64 {
    u64::try_from(u128::from(tokens) * 1_000_000 / u128::from(replaced.max(1))).unwrap_or(u64::MAX)
}

fn sorted(values: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(pairs: &[(u64, u64)]) -> Vec<Sample> {
        pairs.iter().map(|(replaced, tokens)| Sample { tokens: *tokens, replaced: Some(*replaced) }).collect()
    }

    #[test]
    fn few_summaries_give_their_median() {
        let fitted = fitted(&samples(&[(100_000, 1_000), (200_000, 2_000), (300_000, 3_000)])).unwrap();
        assert_eq!(fitted, Fitted { model: RecordedSummary::Constant(2_000), events: 3 });
    }

    #[test]
    fn many_in_proportion_give_a_share_and_many_alike_do_not() {
        let growing: Vec<(u64, u64)> = (1..=10).map(|n| (n * 10_000, n * 100)).collect();
        let share = RecordedSummary::Share { millionths: 10_000, min: 100, max: 1_000 };
        assert_eq!(fitted(&samples(&growing)).unwrap().model, share);
        assert_eq!((share.tokens(50_000), share.tokens(5), share.tokens(900_000)), (500, 100, 1_000));
        let alike: Vec<(u64, u64)> = (1..=10).map(|n| (n * 10_000, 700)).collect();
        assert_eq!(fitted(&samples(&alike)).unwrap().model, RecordedSummary::Constant(700));
    }
}
