//! `ctxsim inspect`: what a file or folder holds.

use super::door::Door;
use super::failure::Failure;
use super::known::catalog;
use super::logs::Logs;
use super::output::Output;
use crate::corpus::Vocabularies;
use crate::measure::Wanted;
use crate::report;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  ctxsim inspect logs/             what is in there?
  ctxsim inspect session.jsonl --json
                                   one object for the corpus, one for each
                                   session
  ctxsim inspect logs/ --strict    end with 1 if anything cannot be used";

/// What logs hold: agents, sessions, messages, models, calls with usage, recorded compactions, damage. No policy looks at them
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Inspect {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    output: Output,
}

impl Inspect {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "inspect")?;
        // Who names a vocabulary wants its counts; what was recorded can be told without any.
        let vocabularies = if self.logs.tokenizer.is_some() { Vocabularies::Own } else { Vocabularies::None };
        let corpus = self.logs.read_in(vocabularies, Wanted::SIZES)?;
        let step = |words: &[&str], shows| self.logs.step(words, &[], shows);
        let next =
            [step(&["replay"], "what each policy would have sent"), step(&["inspect", "--details"], "models, messages, all columns")];
        let catalog = catalog()?;
        let report = |parts| report::inspect(&corpus, catalog, parts).then(next.to_vec());
        self.output.give_parts(door, "inspect", self.logs.command(&["inspect"], &[]), report)?;
        Failure::checked(self.logs.complaints(&corpus))
    }
}
