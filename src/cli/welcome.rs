//! `ctxsim` alone: finds logs, replays them under the main presets, and says what to type next.

use super::door::Door;
use super::failure::Failure;
use super::logs::Logs;
use super::output::Output;
use super::own::OwnAgents;
use super::policies::Policies;
use super::pricing::Pricing;
use super::print::print;
use clap::Args;
use ctxsim::catalog::Catalog;
use ctxsim::corpus::Corpus;
use ctxsim::experiment::{Replay, check_model, price, recording};
use ctxsim::report::{self, Asked, Baselines};
use ctxsim::trace::Trace;

/// What `ctxsim` alone goes by: the defaults of all options, the project's where it has its own.
#[derive(Args, Debug, Default)]
pub struct Welcome {
    #[command(flatten)]
    logs: Logs,
    #[command(flatten)]
    policies: Policies,
    #[command(flatten)]
    pricing: Pricing,
    #[command(flatten)]
    own: OwnAgents,
}

impl Welcome {
    /// Does it.
    pub fn run(&self, door: &Door) -> Result<(), Failure> {
        let catalog = Catalog::builtin()?;
        let corpus = self.read(&catalog)?;
        let replays = self.show(door, &catalog, &corpus, "ctxsim")?;
        print(&next(&corpus, &replays))
    }

    /// The logs that are found, under the main presets.
    pub fn of(logs: Logs) -> Welcome {
        Welcome { logs, ..Welcome::default() }
    }

    /// Reads them.
    pub fn read(&self, catalog: &Catalog) -> Result<Corpus, Failure> {
        self.logs.read(catalog)
    }

    /// Replays a corpus and prints the report.
    pub fn show(&self, door: &Door, catalog: &Catalog, corpus: &Corpus, command: &str) -> Result<Vec<Replay>, Failure> {
        let policies = self.policies.load(&self.logs)?;
        let mut replays = self.policies.replay(&policies, corpus, catalog, &self.logs)?;
        let tables = self.pricing.tables()?;
        let tariff = self.pricing.tariff(&tables, catalog, None);
        price(corpus, &mut replays, &tariff);
        let recording = recording(corpus, &tariff);
        let own = self.own.replay(corpus, &self.policies, catalog, &self.logs, &tariff)?;
        let baselines = Baselines { recording: Some(&recording), own: own.as_ref() };
        let checks = Some(&check_model(corpus, &tariff));
        let asked = |command| Asked { checks, command, ..Asked::default() };
        Output::default()
            .give(door, "replay", command.to_owned(), |command| report::replay(corpus, &replays, baselines, &asked(command)))?;
        Ok(replays)
    }
}

/// The command that shows the most remarkable session: the one with the largest context.
fn next(corpus: &Corpus, replays: &[Replay]) -> String {
    let Some(replay) = replays.get(1).or_else(|| replays.first()) else { return String::new() };
    let worst =
        corpus.traces.iter().zip(&replay.outcomes).max_by_key(|(_, outcome)| (outcome.totals.overflows, outcome.totals.peak_tokens));
    let id = |(trace, _): (&Trace, _)| super::shell::quoted(std::slice::from_ref(&trace.id));
    let id = worst.map(id).map(|id| ctxsim::render::escape(&id).into_owned()).unwrap_or_default();
    format!("\nNext: ctxsim replay --by session\n      ctxsim explain {id} --policy {}\n", replay.policy)
}
