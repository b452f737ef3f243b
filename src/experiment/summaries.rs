//! The summary-size model `recorded`: fitted from the summaries that the recording agents of a corpus made.
//!
//! With fewer than [`ENOUGH`] events whose replaced tokens are known, a summary has the median of the recorded sizes. With more, it is the median
//! share of what it replaces, within the smallest and the largest recorded size, if that comes nearer to the recorded sizes (by the sum of
//! distances) than the median does. Each agent has a model of its own. What others wrote says less of an agent than its policy: where it recorded no
//! summary, the policy says how large one is.

use crate::list::Gather;
use crate::sim::RecordedSummary;
use crate::statistics::median_place;
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
    /// Has the corpus sessions of agents that recorded none?
    others: bool,
}

/// The summaries that a corpus recorded, of which models are made.
#[derive(Clone, Debug, Default)]
pub struct SummarySamples {
    by_agent: BTreeMap<String, Samples>,
}

impl SummarySamples {
    /// The recorded summaries of sessions, by agent; of an agent that recorded none an empty list.
    pub fn of(traces: impl IntoIterator<Item = impl Borrow<Trace>>) -> SummarySamples {
        let mut found = SummarySamples::default();
        for trace in traces {
            let trace = trace.borrow();
            found.by_agent.entry(trace.agent.clone()).or_default().extend(&Samples::of(trace));
        }
        found.by_agent.values_mut().for_each(Samples::close);
        found
    }

    /// One model per agent.
    pub fn fit(&self) -> RecordedSummaries {
        let by_agent = self.by_agent.iter().filter_map(|(agent, samples)| Some((agent.clone(), samples.fitted?))).gather();
        RecordedSummaries { by_agent, others: self.by_agent.values().any(|samples| samples.fitted.is_none()) }
    }

    /// The model for one of the sessions that the samples come from, fitted without its own summaries: what is to be predicted takes no
    /// part in the prediction. `None` where no other session of its agent recorded a summary.
    pub fn model_without(&self, trace: &Trace) -> Option<RecordedSummary> {
        let mut own = Samples::of(trace);
        own.close();
        self.by_agent.get(&trace.agent)?.without(&own)
    }
}

/// Recorded summaries of one agent.
#[derive(Clone, Debug, Default)]
struct Samples {
    /// Their sizes in tokens.
    tokens: Vec<u64>,
    /// Tokens that a summary replaced, and its size, where both are known.
    pairs: Vec<(u64, u64)>,
    /// The sizes as shares of what was replaced, in millionths, of the same summaries.
    ratios: Vec<u64>,
    /// The model of them all.
    fitted: Option<Fitted>,
}

impl Samples {
    fn of(trace: &Trace) -> Samples {
        let mut samples = Samples::default();
        for (tokens, replaced) in trace.compactions.iter().filter_map(|event| sample(trace, event)) {
            samples.add(tokens, replaced);
        }
        samples
    }

    fn add(&mut self, tokens: u64, replaced: Option<u64>) {
        self.tokens.push(tokens);
        if let Some(replaced) = replaced {
            self.pairs.push((replaced, tokens));
            self.ratios.push(ratio(tokens, replaced));
        }
    }

    fn extend(&mut self, others: &Samples) {
        self.tokens.extend(&others.tokens);
        self.pairs.extend(&others.pairs);
        self.ratios.extend(&others.ratios);
    }

    /// Sorts them, and fits their model.
    fn close(&mut self) {
        self.tokens.sort_unstable();
        self.ratios.sort_unstable();
        let none = Samples::default();
        self.fitted = self.constant(&none).map(|constant| {
            let better = self.share(&none).filter(|share| self.miss(*share) < self.miss(constant));
            Fitted { model: better.unwrap_or(constant), events: self.tokens.len() as u64 }
        });
    }

    /// The model without some of the samples; which kind of model, all of them decide.
    fn without(&self, own: &Samples) -> Option<RecordedSummary> {
        let constant = self.constant(own)?;
        Some(match self.fitted?.model {
            RecordedSummary::Share { .. } => self.share(own).unwrap_or(constant),
            RecordedSummary::Constant(_) => constant,
        })
    }

    fn constant(&self, own: &Samples) -> Option<RecordedSummary> {
        middle_without(&self.tokens, &own.tokens).map(RecordedSummary::Constant)
    }

    /// `None` with fewer than [`ENOUGH`] summaries whose replaced tokens are known.
    fn share(&self, own: &Samples) -> Option<RecordedSummary> {
        let known = self.pairs.len().checked_sub(own.pairs.len()).filter(|known| *known >= ENOUGH);
        let millionths = known.and_then(|_| middle_without(&self.ratios, &own.ratios))?;
        let last = self.tokens.len().checked_sub(own.tokens.len())?.checked_sub(1)?;
        let (min, max) = (nth_without(&self.tokens, &own.tokens, 0)?, nth_without(&self.tokens, &own.tokens, last)?);
        Some(RecordedSummary::Share { millionths, min, max })
    }

    fn miss(&self, model: RecordedSummary) -> u64 {
        self.pairs.iter().map(|(replaced, tokens)| model.tokens(*replaced).abs_diff(*tokens)).sum()
    }
}

/// The median of what stands in a list and not in a part of it; both are sorted.
fn middle_without(all: &[u64], part: &[u64]) -> Option<u64> {
    nth_without(all, part, median_place(all.len().checked_sub(part.len())?))
}

/// The number at a place of what stands in a list and not in a part of it; both are sorted.
fn nth_without(all: &[u64], part: &[u64], place: usize) -> Option<u64> {
    let mut at = place;
    let mut equal = 0;
    let mut before = None;
    for number in part {
        equal = if before == Some(number) { equal + 1 } else { 0 };
        before = Some(number);
        // Each number of the part that stands at or before the place moves it on by one.
        at += usize::from(all.partition_point(|other| other < number) + equal <= at);
    }
    all.get(at).copied()
}

impl RecordedSummaries {
    /// Fits one model per agent.
    pub fn fit(traces: impl IntoIterator<Item = impl Borrow<Trace>>) -> RecordedSummaries {
        SummarySamples::of(traces).fit()
    }

    /// The model for a session; `None` where the corpus records no summary of its agent.
    pub fn model(&self, trace: &Trace) -> Option<RecordedSummary> {
        self.by_agent.get(&trace.agent).map(|fitted| fitted.model)
    }

    /// Each agent that made summaries, with its model.
    pub fn by_agent(&self) -> impl Iterator<Item = (&str, Fitted)> {
        self.by_agent.iter().map(|(agent, fitted)| (agent.as_str(), *fitted))
    }

    /// The models in words; `None` where the corpus records no summary.
    pub fn describe(&self) -> Option<String> {
        let words = |fitted: Fitted| match fitted.model {
            RecordedSummary::Constant(tokens) => format!("the median of {}, {tokens} tokens", fitted.events),
            RecordedSummary::Share { millionths, min, max } => {
                let (whole, rest) = (millionths / 10_000, millionths % 10_000 / 100);
                format!("the median share of {}, {whole}.{rest:02} % of what it replaces, {min} to {max} tokens", fitted.events)
            }
        };
        let agents: Vec<String> = self.by_agent.iter().map(|(agent, fitted)| format!("{agent} {}", words(*fitted))).collect();
        let alone = self.by_agent.values().next().filter(|_| agents.len() == 1 && !self.others);
        let agents = alone.map_or_else(|| agents.join(", "), |fitted| words(*fitted));
        let others = if self.others { "; for other agents what the policy says" } else { "" };
        (!agents.is_empty()).then(|| format!("recorded summaries: {agents}{others}"))
    }
}

/// Calibrated tokens of a recorded summary; where its text is not in the log, what the summariser's request replied, without its reasoning.
pub fn summary_of(trace: &Trace, event: &CompactionRow) -> Option<u64> {
    event
        .summary_tokens
        .map(|tokens| tokens * trace.calibration_thousandths / 1000)
        .or_else(|| event.usage.and_then(|usage| usage.written()))
}

/// The size of a recorded summary in tokens, and the tokens that it replaced where they are known.
fn sample(trace: &Trace, event: &CompactionRow) -> Option<(u64, Option<u64>)> {
    if event.kind != CompactionKind::Compact || event.copy {
        return None;
    }
    let tokens = summary_of(trace, event)?;
    let next = trace.calls.partition_point(|call| call.message < event.before);
    // What no call followed was in no prompt.
    trace.calls.get(next)?;
    let usage = |index: usize| trace.calls.get(index).and_then(|call| call.own_usage());
    let before = event.tokens_before.or_else(|| usage(next.checked_sub(1)?).map(|usage| usage.prompt + usage.output));
    let after = usage(next).map(|usage| usage.prompt).or(event.tokens_after);
    // What went is what the context lost, and the summary that came in its place.
    let replaced = before.zip(after).and_then(|(before, after)| (before + tokens).checked_sub(after));
    Some((tokens, replaced.filter(|replaced| *replaced > 0)))
}

fn ratio(tokens: u64, replaced: u64) -> u64 {
    u64::try_from(u128::from(tokens) * 1_000_000 / u128::from(replaced.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(pairs: &[(u64, u64)]) -> Samples {
        let mut samples = Samples::default();
        pairs.iter().for_each(|(replaced, tokens)| samples.add(*tokens, Some(*replaced)));
        samples.close();
        samples
    }

    #[test]
    fn few_summaries_give_their_median() {
        let fitted = samples(&[(100_000, 1_000), (200_000, 2_000), (300_000, 3_000)]).fitted.unwrap();
        assert_eq!(fitted, Fitted { model: RecordedSummary::Constant(2_000), events: 3 });
    }

    #[test]
    fn many_in_proportion_give_a_share_and_many_alike_do_not() {
        let growing: Vec<(u64, u64)> = (1..=10).map(|n| (n * 10_000, n * 100)).collect();
        let share = RecordedSummary::Share { millionths: 10_000, min: 100, max: 1_000 };
        assert_eq!(samples(&growing).fitted.unwrap().model, share);
        assert_eq!((share.tokens(50_000), share.tokens(5), share.tokens(900_000)), (500, 100, 1_000));
        let alike: Vec<(u64, u64)> = (1..=10).map(|n| (n * 10_000, 700)).collect();
        assert_eq!(samples(&alike).fitted.unwrap().model, RecordedSummary::Constant(700));
    }

    #[test]
    fn a_model_without_some_samples_is_that_of_the_others() {
        let all = [(50_000, 400), (60_000, 400), (70_000, 900), (80_000, 400), (90_000, 100), (10_000, 800)];
        for taken in 0..1_u32 << all.len() {
            let (own, others): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(place, _)| taken >> place & 1 == 1);
            let [own, others] = [own, others].map(|half| samples(&half.into_iter().map(|(_, pair)| *pair).collect::<Vec<_>>()));
            assert_eq!(samples(&all).without(&own), others.fitted.map(|fitted| fitted.model), "{taken:b}");
        }
        let growing: Vec<(u64, u64)> = (1..=10).map(|n| (n * 10_000, n * 100)).collect();
        let others = RecordedSummary::Share { millionths: 10_000, min: 200, max: 900 };
        assert_eq!(samples(&growing).without(&samples(&[(10_000, 100), (100_000, 1_000)])), Some(others));
    }
}
