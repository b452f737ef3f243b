//! `ctxsim idle`: what pauses cost, and what would have helped.

use super::door::Door;
use super::failure::Failure;
use super::logs::Logs;
use super::output::Output;
use super::pricing::PriceTable;
use crate::experiment::idle::idle;
use crate::measure::Wanted;
use crate::report;
use clap::Args;

const EXAMPLES: &str = "\
Examples:
  ctxsim idle logs/                what do pauses cost, and would pings or a
                                   compaction be cheaper?
  ctxsim idle logs/ --details      by session, and where each remedy begins to
                                   pay

docs/cost.md says how the figures are made.";

/// Pauses between calls: what going cold cost, and what pings or a compaction before the cache expires would have cost instead
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Idle {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    prices: PriceTable,
    #[command(flatten)]
    output: Output,
}

impl Idle {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "idle")?;
        let tables = self.prices.tables()?;
        let corpus = self.logs.read_for(Wanted::SIZES)?;
        let found = idle(&corpus, &tables.tariff(self.logs.model.clone(), 0));
        let prices = self.prices.words();
        let step = |words: &[&str], shows: &str| self.logs.step(words, &prices, shows);
        let next = [step(&["cache"], "every break of the cache"), step(&["idle", "--details"], "by session and model, notes")];
        let report = |parts| report::idle(&corpus, &found, parts).then(next.to_vec());
        self.output.give_parts(door, "idle", self.logs.command(&["idle"], &prices), report)?;
        Failure::checked(self.logs.complaints(&corpus))
    }
}
