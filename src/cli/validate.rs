//! `ctxsim validate`: what a policy was predicted to change, held against runs that were made under it.

use super::arms::{self, Arms};
use super::door::Door;
use super::failure::Failure;
use super::logs::Logs;
use super::output::Output;
use super::policies::Policies;
use super::pricing::Pricing;
use crate::catalog::Scenario;
use crate::cost::CacheKind;
use crate::experiment::check_model;
use crate::report::{self, Validated};
use clap::Args;

const POLICIES: &str =
    "The policy that the runs after were made under: a preset or a policy file, one at most [default: nothing is predicted]";

/// What the logs are here.
const LOGS: &str = "Runs without the policy, as for all commands";

const EXAMPLES: &str = "\
Examples:
  ctxsim validate before/ --with after/ -p pi --set keepRecentTokens=10k
                                   did the setting do what was predicted?
  ctxsim validate before/ --with small/ --with large/ -p mine.toml \\
      --pair-by file
                                   two arms; files of one name are of one task
  ctxsim validate --index runs.tsv --arm limit --before none -p mine.toml \\
      --set-by limit=limit
                                   arms and tasks as a table names them

The table has a head line; its cells are parted by tabs. `file` names a log
beside it, `task` (or the column of --pair-by) what the run was asked to do,
`arm` (or the column of --arm) the arm. A column `compactions` counts where a
log notes none.";

/// Compare what a policy was predicted to change with runs that were made under it: per call, per run, each with its interval
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)), mut_arg("logs", |option| option.help(LOGS)))]
pub struct Validate {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    arms: Arms,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    pricing: Pricing,
    #[command(flatten)]
    output: Output,
}

impl Validate {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "validate")?;
        self.policies.check_model(&self.logs)?;
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, self.logs.model.clone());
        let (logs, policies, pricing) = (&self.logs, &self.policies, &self.pricing);
        let held = self.arms.compared(&arms::ReadWith { logs, policies, pricing, tariff: &tariff })?;
        let (before, cache) = (&held.before, self.pricing.cache);
        let checks = check_model(before, &tariff);
        let hits = self.policies.predicted(before, &self.logs)?;
        let scenarios = Scenario::builtin()?;
        let asked = Validated {
            corpus: before,
            validation: &held.validation,
            policy: held.policy.as_ref().map(|policy| policy.name.as_str()),
            arm: self.arms.named_by(),
            notes: &held.notes,
            scenarios: &scenarios,
            // Without a count of reads there is no bill with a cache to hold against the recording.
            cache: if before.traces.each().any(|trace| trace.tells_of_cache()) { cache } else { CacheKind::None },
            checks: &checks,
            predicted: hits,
        };
        self.output.give(door, "validate", self.command(), || report::validate(&asked))?;
        Failure::checked(held.complaints)
    }

    fn command(&self) -> String {
        self.logs.command(&["validate"], &[self.arms.words(), self.policies.words(), self.pricing.words()].concat())
    }
}
