//! `ctxsim curve`: from how far back the model repeats texts.

use super::door::Door;
use super::failure::Failure;
use super::logs::Logs;
use super::output::Output;
use super::policies::window;
use super::shell::option;
use crate::corpus::Corpus;
use crate::measure::{Kinds, Recall, Wanted};
use crate::policy::FALLBACK_WINDOW;
use crate::report;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  ctxsim curve logs/               where should a protect limit stand?
  ctxsim curve logs/ --window 1m --csv
                                   every point, for a plot";

/// From how far back replies take up earlier texts again: what the newest N tokens or messages would keep, and where the presets stand
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Curve {
    #[command(flatten)]
    logs: Logs,
    /// Work the presets' limits out for a window of so many tokens [default: 200000]
    #[arg(long, value_name = "TOKENS", value_parser = window)]
    window: Option<u64>,
    #[command(flatten)]
    output: Output,
}

impl Curve {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "curve")?;
        let corpus = self.logs.read_for(Wanted { references: Recall::References, kinds: Kinds::Untold })?;
        let window = self.window.unwrap_or(FALLBACK_WINDOW);
        self.output.give(door, "curve", self.command(), || report::curve(&corpus, window).then(self.next(&corpus)))?;
        Failure::checked(self.logs.complaints(&corpus))
    }

    /// What to type next. Where nothing is reused there is no curve to draw.
    fn next(&self, corpus: &Corpus) -> Vec<(String, String)> {
        let step = |words: &[&str], shows| self.logs.step(words, &[], shows);
        let drawn = corpus.traces.each().any(|trace| !trace.references.is_empty());
        let drawn = drawn.then(|| step(&["chart", "reuse"], "the curve, with presets' limits"));
        drawn.into_iter().chain([step(&["curve", "--details"], "messages, presets, agents, tools")]).collect()
    }

    fn command(&self) -> String {
        self.logs.command(&["curve"], &option("--window", self.window))
    }
}
