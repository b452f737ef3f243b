//! `ctxsim backtest`: what the recording agents did to their contexts, beside what their own policies would have done.

use super::choices::{Choices, one_of};
use super::door::Door;
use super::failure::Failure;
use super::logs::Logs;
use super::output::Output;
use super::policies::Policies;
use clap::Args;
use ctxsim::catalog::Catalog;
use ctxsim::corpus::Corpus;
use ctxsim::experiment::{self, BacktestSettings, Mode, TestedSession, Verdict, backtest};
use ctxsim::measure::Recall;
use ctxsim::report::{self, Grouping};

/// What `--policy` means here.
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
        let catalog = Catalog::builtin()?;
        self.policies.check_model(&catalog, &self.logs)?;
        let corpus = self.logs.read_for(&catalog, Policies::wanted(&policies, Recall::References))?;
        let replay = self.policies.settings(&catalog, &self.logs);
        let mode = if self.free { Mode::Free } else { Mode::Conditioned };
        let phase = self.logs.phase("simulating");
        let result = backtest(&corpus, &policies, &BacktestSettings { replay: &replay, mode })?;
        drop(phase);
        self.output.give(door, "backtest", self.command(), || {
            report::backtest(&corpus, &result, mode, &self.by).then(self.next(&corpus, &result))
        })?;
        Failure::checked(self.logs.complaints(&corpus))
    }

    fn command(&self) -> String {
        self.logs.command(&["backtest"], &self.words())
    }

    /// What to type next: the first session of which an event was not predicted.
    fn next(&self, corpus: &Corpus, tested: &experiment::Backtest) -> Vec<(String, String)> {
        let is_wrong =
            |session: &&TestedSession| session.events.iter().any(|event| matches!(event.verdict, Verdict::Missed | Verdict::FalseAlarm));
        let wrong = tested.sessions.iter().find(is_wrong).and_then(|session| Some((corpus.traces.at(session.place)?, &session.policy)));
        let mut next: Vec<(String, String)> = Vec::new();
        next.extend(wrong.map(|(trace, policy)| {
            // A policy of the user's is known by the word that was typed, not by its name.
            let named = if self.policies.policies.is_empty() { vec!["-p".to_owned(), policy.clone()] } else { Vec::new() };
            let policy = [named, self.policies.words()].concat();
            self.logs.explaining(&trace.id, corpus, &policy, "an event that was not predicted")
        }));
        next
    }

    /// What follows the logs.
    fn words(&self) -> Vec<String> {
        let mut words = self.policies.words();
        words.extend(self.free.then(|| "--free".to_owned()));
        words.extend(self.by.iter().flat_map(|by| ["--by".to_owned(), by.name().to_owned()]));
        words
    }
}
