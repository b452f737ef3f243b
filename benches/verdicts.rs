//! How sure verdicts are: 5,000 corpora each of 5 to 500 sessions of a made population of which the truth is known. How many of the 90 % intervals hold the truth,
//! how wide they are beside the ideal ones, how often a true difference is found, and how often a true zero is recommended. Beside it random halves of
//! recorded sessions, by agent: how often the interval of the one half holds what the other half comes to. That one has noise of its own, so that of two halves of one population
//! some 75 to 80 of 100 would be right; sessions are few, and no bar is set.
//!
//!     CTXSIM_SHARED=../shared cargo bench --bench verdicts [-- CORPORA]

#[path = "../tests/it/population.rs"]
mod population;

use ctxsim::catalog::Catalog;
use ctxsim::corpus::{Corpus, ReadSettings, read};
use ctxsim::experiment::{ReplaySettings, by_session, sample};
use ctxsim::policy::Policy;
use ctxsim::statistics::{Chance, RESAMPLES, Resamples, SEED};
use ctxsim::trace::Trace;
use population::{Population, judge};
use std::path::PathBuf;

/// Two policies whose prompt tokens are compared on recorded sessions.
const COMPARED: [&str; 2] = ["pi", "baseagent"];

/// Random halves of the sessions of an agent.
const HALVES: usize = 200;

/// A population of which so much is the true difference.
type Made = dyn Fn(f64) -> Population;

fn main() {
    let corpora = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(5_000);
    println!("{corpora} corpora each\n");
    println!(
        "| sessions | drawn | effective number | contain the truth | width / ideal | difference | found | true zero recommended | and called worse |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let rows: [(&str, &Made, f64, usize); 11] = [
        ("apart", &Population::apart, -0.05, 5),
        ("apart", &Population::apart, -0.05, 10),
        ("by project or session", &Population::new, -0.05, 20),
        ("by project", &Population::new, -0.05, 100),
        ("by project", &Population::new, -0.05, 500),
        ("apart", &Population::apart, -0.05, 100),
        ("apart", &Population::apart, -0.05, 400),
        ("apart, skewed", &Population::skewed, -0.3, 5),
        ("apart, skewed", &Population::skewed, -0.3, 10),
        ("apart, skewed", &Population::skewed, -0.3, 20),
        ("apart, skewed", &Population::skewed, -0.3, 100),
    ];
    for (drawn, of, difference, sessions) in rows {
        let (true_one, zero) = (judge(&of(difference), corpora, sessions, None), judge(&of(0.0), corpora, sessions, None));
        println!(
            "| {sessions} | {drawn} | {:.0} | {:.1} % | {:.2} | {:.0} % | {:.1} % | {:.1} % | {:.1} % |",
            true_one.effective,
            true_one.coverage * 100.0,
            true_one.width,
            difference * 100.0,
            true_one.better * 100.0,
            zero.better * 100.0,
            zero.worse * 100.0
        );
    }
    halves();
}

/// Random halves of recorded sessions.
fn halves() {
    let logs = PathBuf::from(std::env::var("CTXSIM_SHARED").unwrap_or_else(|_| "../shared".to_owned())).join("transcripts");
    if !logs.exists() {
        println!("\nskipped: there is no {} (set CTXSIM_SHARED)", logs.display());
        return;
    }
    let catalog = Catalog::builtin().expect("the catalogue parses");
    let corpus = read(&[logs.to_string_lossy().into_owned()], &ReadSettings::new(&catalog)).expect("the vocabulary loads");
    let mut agents: Vec<&str> = corpus.traces.iter().map(|trace| trace.agent.as_str()).collect();
    agents.sort_unstable();
    agents.dedup();
    println!("\n{} against {}, prompt tokens, {HALVES} random halves each\n", COMPARED[1], COMPARED[0]);
    println!("| agent | sessions | difference | intervals of a half that hold the other half |");
    println!("|---|---|---|---|");
    for agent in agents {
        let traces: Vec<Trace> = corpus.traces.iter().filter(|trace| trace.agent == agent).cloned().collect();
        if traces.len() < 20 {
            continue;
        }
        let corpus = Corpus { traces: traces.into(), ..Corpus::default() };
        let tokens = COMPARED.map(|name| {
            let policy = Policy::load(name).expect("a preset");
            let sessions = by_session(&corpus, &policy, &ReplaySettings::new(&catalog), None).expect("it replays");
            sessions.iter().map(|session| session.totals.prompt_tokens as i64).collect::<Vec<i64>>()
        });
        let (held, judged) = (0..HALVES).fold((0, 0), |(held, judged), seed| {
            let order = Chance::new(seed as u64).order(corpus.traces.len());
            let (one, other) = order.split_at(order.len() / 2);
            let sum = |half: &[usize], of: &[i64]| half.iter().map(|place| of[*place]).sum::<i64>() as f64;
            let there = sum(other, &tokens[1]) / sum(other, &tokens[0]).max(1.0) - 1.0;
            let mut half = one.to_vec();
            half.sort_unstable();
            let sample = sample(half.iter().map(|place| &corpus.traces[*place]));
            let parts = sample.sums(half.iter().map(|place| tokens[1][*place] - tokens[0][*place]));
            let wholes = sample.sums(half.iter().map(|place| tokens[0][*place]));
            match Resamples::new(sample.clusters(), RESAMPLES, SEED).change(&parts, &wholes) {
                Some(here) => (held + usize::from(here.low <= there && there <= here.high), judged + 1),
                None => (held, judged),
            }
        });
        let all = tokens.each_ref().map(|tokens| tokens.iter().sum::<i64>() as f64);
        let share = held as f64 * 100.0 / judged.max(1) as f64;
        println!("| {agent} | {} | {:+.1} % | {share:.0} % |", corpus.traces.len(), (all[1] / all[0] - 1.0) * 100.0);
    }
}
