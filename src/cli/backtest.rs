//! `ctxsim backtest`: what the recording agents did to their contexts, beside what their own policies would have done.

use super::choices::{Choices, one_of};
use super::door::Door;
use super::failure::Failure;
use super::logs::Logs;
use super::output::Output;
use super::policies::Policies;
use super::shell::{flag, option};
use crate::corpus::Corpus;
use crate::experiment::{self, BacktestSettings, Mode, TestedSession, Verdict, backtest};
use crate::measure::Recall;
use crate::report::{self, Grouping};
use clap::Args;

const POLICIES: &str = "The policy that is held against all logs: a preset or a policy file; one at most [default: for each session the preset of its agent and \
     version]";

/// What a row can stand for.
const ROWS: Choices<Grouping> = &[
    ("policy", Grouping::Policy, "The policy that was held against them"),
    ("agent", Grouping::Agent, "The agent that recorded them"),
    ("version", Grouping::Version, "The version of that agent"),
    ("date", Grouping::Date, "The day on which they began"),
];

const EXAMPLES: &str = "\
Examples:
  ctxsim backtest logs/            each session under the preset of its own
                                   agent and version
  ctxsim backtest logs/ -p codex --set model_auto_compact_token_limit=150k
                                   all of them under one policy, as it was set
  ctxsim backtest logs/ --free     the whole session as one replay: errors add
                                   up
  ctxsim backtest logs/ --by agent,version,date
                                   how well each of these is predicted

Without --policy, --set turns a parameter of every preset that has it;
--set claude-code:output_reserve=32k of one system.";

/// Hold each agent's own preset against its logs: for every recorded compaction and pruning the predicted one, misses and false alarms
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)))]
pub struct Backtest {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    output: Output,
    /// Predict from the simulated context instead of the one that the recorded compaction before had left
    #[arg(long)]
    free: bool,
    /// What the sessions of a row have in common, in the table of how well they are predicted; several with commas [default: policy]
    #[arg(long, value_name = "ROW", value_delimiter = ',', value_parser = one_of(ROWS))]
    by: Vec<Grouping>,
}

impl Backtest {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "backtest")?;
        let policies = self.policies.one_or_recorders(&self.logs)?;
        self.policies.check_model(&self.logs)?;
        let corpus = self.logs.read_for(Policies::wanted(&policies, Recall::References))?;
        let replay = self.policies.settings(&self.logs)?;
        let mode = if self.free { Mode::Free } else { Mode::Conditioned };
        let phase = self.logs.phase("simulating");
        let result = backtest(&corpus, &policies, &BacktestSettings { replay: &replay, mode })?;
        drop(phase);
        self.output.give(door, "backtest", self.command(), || {
            report::backtest(&corpus, &result, mode, &self.by).then(self.next(&corpus, &result))
        })?;
        Failure::checked(self.logs.complaints(&corpus))
    }

    /// What to type next: the first session of which an event was not predicted.
    fn next(&self, corpus: &Corpus, tested: &experiment::Backtest) -> Vec<(String, String)> {
        let is_wrong =
            |session: &&TestedSession| session.events.iter().any(|event| matches!(event.verdict, Verdict::Missed | Verdict::FalseAlarm));
        let wrong = tested.sessions.iter().find(is_wrong).and_then(|session| Some((corpus.traces.at(session.place)?, &session.policy)));
        let step = wrong.map(|(trace, policy)| {
            // A policy of the user's is known by the word that was typed, not by its name.
            let named = option("-p", Some(policy).filter(|_| self.policies.policies.is_empty()));
            let policy = [named, self.policies.words()].concat();
            self.logs.explaining(&trace, corpus, &policy, "an event that was not predicted")
        });
        step.into_iter().collect()
    }

    fn command(&self) -> String {
        let by = option("--by", self.by.iter().map(|by| by.name()));
        self.logs.command(&["backtest"], &[self.policies.words(), flag("--free", self.free), by].concat())
    }
}
