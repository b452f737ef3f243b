//! `ctxsim diff`: two policies side by side, and the call at which they part.

use super::door::Door;
use super::failure::Failure;
use super::logs::Logs;
use super::output::Output;
use super::policies::Policies;
use super::pricing::PriceTable;
use crate::corpus::Corpus;
use crate::experiment;
use crate::measure::Recall;
use crate::report;
use clap::Args;

const POLICIES: &str = "The two policies that are compared, presets or policy files: given twice";

const EXAMPLES: &str = "\
Examples:
  ctxsim diff logs/ --policy opencode --policy codex
  ctxsim diff logs/ --policy codex --policy mine.toml
                                   a file that `extends` codex and turns what
                                   you like
  ctxsim policy diff opencode codex
                                   what their documents say, without any log";

/// Compare two policies session by session: the first call at which they part, what each dropped there, and how their contexts go on
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, mut_arg("policies", |option| option.help(POLICIES)))]
pub struct Diff {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    prices: PriceTable,
    #[command(flatten)]
    output: Output,
}

impl Diff {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "diff")?;
        let named = self.policies.policies.len();
        if named != 2 {
            return Err(Failure::Usage(format!("diff compares two policies, not {named}: name both with --policy")));
        }
        let policies = self.policies.load(&self.logs)?;
        self.policies.check_model(&self.logs)?;
        let corpus = self.logs.read_for(Policies::wanted(&policies, Recall::References))?;
        let tables = self.prices.tables()?;
        let phase = self.logs.phase("simulating");
        let mut diff = self.policies.diff(&policies, &corpus, &self.logs)?;
        experiment::price(&corpus, &mut diff.replays, &tables.tariff(self.logs.model.clone(), 0));
        let check = self.policies.calibration(&corpus, &self.logs, None)?;
        drop(phase);
        self.output.give(door, "diff", self.command(), || {
            let report = report::diff(&corpus, &diff).said(self.policies.told_set(&policies)).then(self.next(&corpus, &diff));
            // Without a call there is nothing that could be checked.
            if corpus.facts.calls > 0 { report.opened_by(check) } else { report }
        })?;
        Failure::checked(self.logs.complaints(&corpus))
    }

    fn command(&self) -> String {
        self.logs.command(&["diff"], &[self.policies.words(), self.prices.words()].concat())
    }

    /// What to type next: the session that one of the two fails, or whose prompts differ most.
    fn next(&self, corpus: &Corpus, diff: &experiment::Diff) -> Vec<(String, String)> {
        let most = diff.parted().first().and_then(|place| corpus.traces.at(*place));
        // What is set may be of the other policy alone.
        let second = self.policies.policies.last().filter(|_| self.policies.set.is_empty());
        let words = second.map(|second| Policies { policies: vec![second.clone()], ..self.policies.clone() }.words());
        let step = most.zip(words).map(|(trace, words)| self.logs.explaining(&trace, corpus, &words, "where they differ most"));
        step.into_iter().collect()
    }
}
