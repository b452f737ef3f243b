//! `ctxsim cache`: every break of the recorded prompt cache, with its cause and its price.

use super::choices::{Choices, one_of};
use super::door::Door;
use super::failure::Failure;
use super::logs::Logs;
use super::output::Output;
use super::pricing::PriceTable;
use super::shell::option;
use crate::experiment::cache::cache_reads;
use crate::measure::Wanted;
use crate::report::{self, BreaksBy};
use clap::Args;

/// What breaks can have in common.
const ROWS: Choices<BreaksBy> = &[
    ("cause", BreaksBy::Cause, "Why the cache broke"),
    ("session", BreaksBy::Session, "The session that breaks are in"),
    ("agent", BreaksBy::Agent, "The agent that recorded it"),
    ("day", BreaksBy::Day, "The day of the call"),
];

const EXAMPLES: &str = "\
Examples:
  ctxsim cache logs/               where did the prompt cache break, why, and at
                                   what price?
  ctxsim cache logs/ --by session  the sessions that pay most
  ctxsim cache logs/ --csv         every break with all that is known of it

docs/cost.md says how breaks are found and named.";

/// Every break of the recorded prompt cache: its cause, tokens and dollars, the dearest session first
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Cache {
    #[command(flatten)]
    logs: Logs,
    /// What the breaks of a row have in common
    #[arg(long, value_name = "WHAT", default_value = "cause", value_parser = one_of(ROWS))]
    by: BreaksBy,
    #[command(flatten)]
    prices: PriceTable,
    #[command(flatten)]
    output: Output,
}

impl Cache {
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        self.output.check(door, "cache")?;
        let tables = self.prices.tables()?;
        let corpus = self.logs.read_for(Wanted::SIZES)?;
        let found = cache_reads(&corpus, &tables.tariff(self.logs.model.clone(), 0));
        let report = |parts| report::cache(&corpus, &found, self.by, parts).then(self.next());
        self.output.give_parts(door, "cache", self.command(), report)?;
        Failure::checked(self.logs.complaints(&corpus))
    }

    fn command(&self) -> String {
        let by = option("--by", (self.by != BreaksBy::default()).then(|| self.by.name()));
        self.logs.command(&["cache"], &[by, self.prices.words()].concat())
    }

    fn next(&self) -> Vec<(String, String)> {
        let prices = self.prices.words();
        let step = |words: &[&str], shows: &str| self.logs.step(words, &prices, shows);
        let other = if self.by == BreaksBy::Session { ("agent", "by agent") } else { ("session", "the sessions that pay most") };
        vec![step(&["cache", "--by", other.0], other.1), step(&["idle"], "what pauses cost, what would help")]
    }
}
