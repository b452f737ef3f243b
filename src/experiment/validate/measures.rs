//! What is compared, and what each figure may claim. Values come from the one table of measures.

use super::run::Run;
use crate::experiment::metric::{KnownFrom, Metric, Unit, metric_of};

/// What a prediction of a measure claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// What a call comes to if the agent behaves as it did.
    PerCall,
    /// What a run comes to if runs stay as long.
    IfAsLong,
    /// Nothing: a replay keeps the recorded calls.
    Nothing,
}

/// A measure that is predicted and measured: a quotient of two sums over runs.
#[derive(Debug, PartialEq, Eq)]
pub struct Compared {
    /// The name for programs.
    pub key: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// The key of what is counted.
    part: &'static str,
    /// The key of what it is held against; `None` for runs.
    whole: Option<&'static str>,
    /// What a prediction of it claims.
    pub claim: Claim,
    /// Is it a rate of events, which may be zero before: values are compared, not changes?
    pub is_rate: bool,
}

const fn per_call(key: &'static str, name: &'static str, part: &'static str) -> Compared {
    Compared { key, name, part, whole: Some("calls"), claim: Claim::PerCall, is_rate: false }
}

const fn per_run(key: &'static str, name: &'static str, part: &'static str) -> Compared {
    Compared { key, name, part, whole: None, claim: Claim::IfAsLong, is_rate: false }
}

/// The measures, in the order of reports.
pub const COMPARED: [Compared; 9] = [
    per_call("prompt_per_call", "prompt per call", "prompt_tokens"),
    Compared { is_rate: true, ..per_call("compactions_per_call", "compactions per call", "compactions") },
    Compared { claim: Claim::PerCall, ..per_run("peak_tokens", "peak context", "peak_tokens") },
    Compared { whole: Some("billed_prompt_tokens"), is_rate: true, ..per_call("cache_hit_rate", "cache hits", "cache_read_tokens") },
    per_call("cost_per_call", "cost per call", "cost"),
    Compared { claim: Claim::Nothing, ..per_run("calls", "calls per run", "calls") },
    per_run("prompt_tokens", "prompt tokens per run", "prompt_tokens"),
    per_run("cost", "cost per run", "cost"),
    Compared {
        is_rate: true,
        ..per_call("compactions_without_gain_per_call", "compactions without gain per call", "compactions_without_gain")
    },
];

impl Compared {
    /// Part and whole of a run; whole is 1 for what is counted by run. `None` where the run does not tell: calls without a price, logs without counts of the cache, or of compactions.
    pub fn of(&self, run: &Run) -> Option<(f64, f64)> {
        let metric = self.metric()?;
        let is_known = match metric.key {
            "cost" => run.is_priced,
            "cache_read_tokens" => run.tells_of_cache,
            "compactions" => !run.is_uncounted,
            "compactions_without_gain" => run.is_simulated,
            _ => true,
        };
        let value = |metric: &Metric| run.figures.value(metric) as f64;
        let whole = self.whole.map_or(Some(1.0), |whole| metric_of(whole).map(value))?;
        is_known.then(|| (value(metric), whole))
    }

    /// What its values count: dollars are thousand-millionths.
    pub fn unit(&self) -> Unit {
        match self.metric() {
            Some(metric) if metric.known_from == KnownFrom::Bill && self.whole == Some("billed_prompt_tokens") => Unit::Share,
            Some(metric) => metric.unit,
            None => Unit::Count,
        }
    }

    /// Does it rest on the outputs of replies, too?
    pub fn is_cost(&self) -> bool {
        self.part == "cost"
    }

    /// Is it a rate of events?
    pub fn counts_events(&self) -> bool {
        self.is_rate && self.unit() == Unit::Count
    }

    /// What summarisers take beside a measure of cost, and the whole, of a run.
    pub fn beside(&self, run: &Run) -> Option<(f64, f64)> {
        let (_, whole) = self.of(run).filter(|_| self.is_cost())?;
        Some((run.summariser_nano_usd as f64, whole))
    }

    fn metric(&self) -> Option<&'static Metric> {
        metric_of(self.part)
    }
}
