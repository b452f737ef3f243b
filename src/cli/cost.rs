//! `ctxsim cost`: what recorded sessions cost, and what policies would have made of it.

use super::door::Door;
use super::failure::Failure;
use super::known::catalog;
use super::logs::Logs;
use super::output::Output;
use super::own::OwnAgents;
use super::policies::Policies;
use super::pricing::Pricing;
use super::refetch::Refetch;
use super::shell::{flag, option};
use crate::experiment::{ReplaySettings, break_even, check_model, price, recording};
use crate::policy::Policy;
use crate::report::{self, Baselines, Priced};
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  ctxsim cost logs/                the main presets, and the model of the cache
                                   held against the logs
  ctxsim cost logs/ --policy opencode --bill
                                   with the breakdown by tier
  ctxsim cost logs/ -p anthropic@context-editing --break-even clear_at_least
  ctxsim cost logs/ --model claude-opus-4-6 --prices prices.json

docs/cost.md says how the figures are made.";

/// Price logs under policies: without a prompt cache, with the provider's, with a perfect one; recorded beside modelled
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Cost {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    pricing: Pricing,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    refetch: Refetch,
    #[command(flatten)]
    own: OwnAgents,
    /// Break each policy's bill down: fresh input, cache reads and writes, output, summariser
    #[arg(long)]
    bill: bool,
    /// Ask whether prunes pay, and where this parameter of the first policy (its smallest prune, in tokens) should stand
    #[arg(long, value_name = "PARAM")]
    break_even: Option<String>,
}

impl Cost {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "cost")?;
        let policies = self.policies.load_once_each(&self.logs, &[])?;
        let tables = self.pricing.tables()?;
        self.policies.check_model(&self.logs)?;
        let corpus = self.logs.read_for(self.refetch.wanted(&policies))?;
        let tariff = self.pricing.tariff(&tables, self.logs.model.clone());
        let phase = self.logs.phase("simulating");
        let mut replays = self.refetch.replay(&policies, &corpus, &self.policies.settings(&self.logs)?)?;
        price(&corpus, &mut replays, &tariff);
        let mut unchanged = self.policies.replay(&[Policy::load("none")?], &corpus, &self.logs)?;
        price(&corpus, &mut unchanged, &tariff);
        let checks = check_model(&corpus, &tariff);
        let recording = recording(&corpus, &tariff);
        let own = self.own.replay(&corpus, &self.policies, &self.logs, &tariff)?;
        let baselines = Baselines { recording: Some(&recording), own: own.as_ref() };
        let settings = ReplaySettings { window: self.policies.window(), model: self.logs.model.clone(), ..ReplaySettings::new(catalog()?) };
        let swept = match (&self.break_even, policies.first()) {
            (Some(param), Some(policy)) => Some(break_even(&corpus, policy, param, &settings, &tariff)?),
            _ => None,
        };
        drop(phase);
        if let Some(unchanged) = unchanged.first() {
            let (corpus, replays, checks, break_even) = (&corpus, replays.as_slice(), &checks, swept.as_ref());
            let cache = self.pricing.cache;
            let (predicted, breakdown) = (None, self.bill);
            let priced = Priced { corpus, replays, baselines, unchanged, checks, predicted, break_even, cache, breakdown };
            self.output
                .give(door, "cost", self.command(), || report::cost(&priced).said(self.policies.told_set(&policies)).then(self.next()))?;
        }
        Failure::checked(self.logs.complaints(&corpus))
    }

    /// What to type next.
    fn next(&self) -> Vec<(String, String)> {
        let prices = self.pricing.table.words();
        vec![self.logs.step(&["cache"], &prices, "what breaks the cache"), self.logs.step(&["idle"], &prices, "what pauses cost")]
    }

    fn command(&self) -> String {
        let (bill, break_even) = (flag("--bill", self.bill), option("--break-even", &self.break_even));
        let after = [self.policies.words(), self.pricing.words(), self.refetch.words(), self.own.words(), bill, break_even].concat();
        self.logs.command(&["cost"], &after)
    }
}
