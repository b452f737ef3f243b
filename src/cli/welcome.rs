//! `ctxsim` alone: finds logs, replays them under the main presets, and says what to type next.

use super::failure::Failure;
use super::logs::Logs;
use super::output::{Output, print};
use super::policies::Policies;
use super::pricing::Pricing;
use ctxsim::catalog::Catalog;
use ctxsim::experiment::{Corpus, Replay, price};
use ctxsim::report::{self, Asked};
use ctxsim::trace::Trace;

/// Does it.
pub fn run() -> Result<(), Failure> {
    let (logs, choice) = (Logs::default(), Policies::default());
    let policies = choice.load()?;
    let catalog = Catalog::builtin()?;
    let corpus = logs.read(&catalog)?;
    let mut replays = choice.replay(&policies, &corpus, &catalog, &logs)?;
    let pricing = Pricing::default();
    price(&corpus, &mut replays, &pricing.tariff(&pricing.tables()?, &catalog, None));
    let asked = |command| Asked { command, ..Asked::default() };
    Output::default().give("replay", "ctxsim".to_owned(), |command| report::replay(&corpus, &replays, &asked(command)))?;
    print(&next(&corpus, &replays))
}

/// The command that shows the most remarkable session: the one with the largest context.
fn next(corpus: &Corpus, replays: &[Replay]) -> String {
    let Some(replay) = replays.get(1).or_else(|| replays.first()) else { return String::new() };
    let worst =
        corpus.traces.iter().zip(&replay.outcomes).max_by_key(|(_, outcome)| (outcome.totals.overflows, outcome.totals.peak_tokens));
    let id = |(trace, _): (&Trace, _)| super::replay::quoted(std::slice::from_ref(&trace.id));
    let id = worst.map(id).map(|id| ctxsim::render::escape(&id).into_owned()).unwrap_or_default();
    format!("\nNext: ctxsim replay --by session\n      ctxsim explain {id} --policy {}\n", replay.policy)
}
