//! `ctxsim tune`: the optimum of an exhaustive grid, held-out sessions, what is refused, and a recommendation that reads back the same.

use ctxsim::catalog::{CacheRules, Catalog, Prices};
use ctxsim::cost::{CacheKind, Tariff};
use ctxsim::estimate::Engine;
use ctxsim::experiment::tune::{Axis, Bound, Split, Tune, Tuned, Verdict, split};
use ctxsim::experiment::{
    Billing, Constraint, Corpus, Design, Dimension, Direction, Measure, Objective, Progress, ReadSettings, ReplaySettings, Sweep,
    by_session, read, settings,
};
use ctxsim::policy::Policy;
use ctxsim::sim::Refetching;
use ctxsim::trace::Trace;
use std::path::Path;

struct Unwatched;

impl Progress for Unwatched {
    fn files(&self, _: usize) {}
    fn file_done(&self) {}
}

fn samples(catalog: &Catalog) -> Corpus {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let settings = ReadSettings {
        catalog,
        model: None,
        format: None,
        engine: Engine::default(),
        vocabulary: None,
        vocabularies: Default::default(),
        wanted: Default::default(),
        progress: &Unwatched,
    };
    read(&[folder.to_string_lossy().into_owned()], &settings).unwrap()
}

/// What all tests stand on: models, prices, caches.
struct Ground {
    catalog: Catalog,
    prices: Prices,
    caches: CacheRules,
}

impl Ground {
    fn new() -> Ground {
        Ground { catalog: Catalog::builtin().unwrap(), prices: Prices::builtin().unwrap(), caches: CacheRules::builtin().unwrap() }
    }

    fn tariff(&self) -> Tariff<'_> {
        Tariff { catalog: &self.catalog, prices: &self.prices, caches: &self.caches, model: None, gap_millis: 0 }
    }

    fn replay(&self, window: u64) -> ReplaySettings<'_> {
        ReplaySettings { catalog: &self.catalog, window: Some(window), model: None, reserve: None }
    }
}

const WINDOW: u64 = 60_000;

fn tuned(ground: &Ground, policy: &Policy, axes: &[Axis], bounds: &[Bound], split: &Split, sought: &str) -> Tuned {
    let objective = Some(Objective { direction: Direction::Minimise, measure: Measure::parse(sought).unwrap() });
    let (tariff, replay) = (ground.tariff(), ground.replay(WINDOW));
    let billing = Billing { tariff: &tariff, cache: CacheKind::Modelled, refetch: Refetching::Lost };
    Tune { policy, axes, objective, bounds: Some(bounds), replay: &replay, billing, coarse: 30, resamples: 200, seed: 1 }
        .run(split)
        .unwrap()
}

#[test]
fn finds_what_an_exhaustive_grid_finds() {
    let ground = Ground::new();
    let policy = Policy::load("pi").unwrap();
    let axes = ["keepRecentTokens=2000..40000", "reserveTokens=4000..30000"].map(|text| Axis::parse(text, &policy).unwrap());
    let bounds = [Bound::parse("broken references <= default").unwrap()];
    let mut corpus = samples(&ground.catalog);
    // Sessions of hundreds of calls would take minutes without optimisation and say the same.
    corpus.traces.retain(|trace| trace.calls.len() < 80);
    let split = split(corpus, 34, 1);
    let found = tuned(&ground, &policy, &axes, &bounds, &split, "net cost");
    let best = found.best.as_ref().unwrap();
    // A full grid, over the same sessions, with the default's broken references as a limit.
    let (tariff, replay) = (ground.tariff(), ground.replay(WINDOW));
    let limit = found.default.training.value(&Measure::parse("broken references").unwrap()).part;
    let constraint = Constraint::parse(&format!("broken references <= {limit}")).unwrap();
    let objective = Objective { direction: Direction::Minimise, measure: Measure::parse("net cost").unwrap() };
    let dimensions = ["keepRecentTokens=2k..40k:2k", "reserveTokens=4k..28k:6k"].map(|text| Dimension::parse(text).unwrap());
    let grid = settings(std::slice::from_ref(&policy), &dimensions, Design::Grid).unwrap();
    let sweep = Sweep {
        corpus: &split.training,
        bases: std::slice::from_ref(&policy),
        settings: &grid,
        replay: &replay,
        measures: &[objective.measure],
        resamples: 20,
        seed: 1,
        billing: Some(Billing { tariff: &tariff, cache: CacheKind::Modelled, refetch: Refetching::Lost }),
    };
    let mut least = i64::MAX;
    sweep
        .run(0, &mut |rows| {
            let allowed = rows.iter().filter(|row| constraint.holds(row.value(&constraint.measure)));
            least = least.min(allowed.map(|row| row.value(&objective.measure).part).min().unwrap_or(i64::MAX));
            Ok(())
        })
        .unwrap();
    let reached = best.training.value(&objective.measure).part;
    println!("exhaustive grid of {}: {least}; tuned over {}: {reached}", grid.len(), found.tried);
    assert!(!grid.is_empty());
    assert!(reached <= least, "tuned {reached}, exhaustive {least}");
    // What the search says of a setting is what a replay of that setting says, session by session.
    let turned = best.setting.policy(std::slice::from_ref(&policy)).unwrap();
    let billing = Billing { tariff: &tariff, cache: CacheKind::Modelled, refetch: Refetching::Lost };
    let sessions = by_session(&split.held_out, &turned, &replay, Some(billing)).unwrap();
    let sum: i64 = sessions.iter().map(|session| session.value(objective.measure.part)).sum();
    assert_eq!(sum, best.held_out.value(&objective.measure).part);
}

#[test]
fn a_split_keeps_families_together_and_does_not_know_the_order_of_files() {
    let named = |id: usize, parent: Option<usize>| Trace {
        id: format!("s{id}"),
        parent: parent.map(|parent| format!("s{parent}")),
        agent: ["a", "b"][id % 2].to_owned(),
        ..Trace::default()
    };
    let mut traces: Vec<Trace> = (0..60).map(|id| named(id, (id % 6 == 4).then(|| id - 2))).collect();
    let ids = |corpus: &Corpus| {
        let mut ids: Vec<String> = corpus.traces.iter().map(|trace| trace.id.clone()).collect();
        ids.sort();
        ids
    };
    let one = split(Corpus { traces: traces.clone(), ..Corpus::default() }, 30, 7);
    traces.reverse();
    let other = split(Corpus { traces, ..Corpus::default() }, 30, 7);
    assert_eq!(ids(&one.held_out), ids(&other.held_out));
    assert_eq!(one.held_out.traces.len() + one.training.traces.len(), 60);
    assert!((12..=24).contains(&one.held_out.traces.len()), "{}", one.held_out.traces.len());
    for trace in one.held_out.traces.iter().filter_map(|trace| trace.parent.clone()) {
        assert!(ids(&one.held_out).contains(&trace));
    }
    for agent in ["a", "b"] {
        assert!(one.held_out.traces.iter().any(|trace| trace.agent == agent));
    }
}

/// A recommendation needs sessions enough; the same sessions many times over are enough for the arithmetic.
fn many(corpus: &Corpus, times: usize) -> Corpus {
    let copy = |time: usize, trace: &Trace| Trace { id: format!("{} {time}", trace.id), parent: None, ..trace.clone() };
    let traces = (0..times).flat_map(|time| corpus.traces.iter().map(move |trace| copy(time, trace))).collect();
    Corpus { traces, facts: corpus.facts.clone() }
}

#[test]
fn recommends_where_the_sessions_bear_it_and_refuses_where_not() {
    let ground = Ground::new();
    let policy = Policy::load("pi").unwrap();
    let axes = [Axis::parse("keepRecentTokens=2000..60000", &policy).unwrap()];
    let mut samples = samples(&ground.catalog);
    samples.traces.retain(|trace| trace.calls.len() < 80);
    let few = Corpus { traces: samples.traces.iter().take(6).cloned().collect(), facts: samples.facts.clone() };
    let none: [Bound; 0] = [];
    let few = tuned(&ground, &policy, &axes, &none, &split(few, 34, 1), "tokens");
    assert!(matches!(few.verdict, Verdict::TooFew(more) if more >= 9), "{:?}", few.verdict);
    let enough = split(many(&samples, 6), 34, 1);
    let found = tuned(&ground, &policy, &axes, &none, &enough, "tokens");
    assert_eq!(found.verdict, Verdict::Recommended, "{:?}", found.difference);
    let difference = found.difference.unwrap();
    assert!(difference.low <= difference.value && difference.value <= difference.high && difference.high < 0);
    // Nothing can keep this.
    let impossible = [Bound::parse("tokens <= 1").unwrap()];
    let refused = tuned(&ground, &policy, &axes, &impossible, &enough, "tokens");
    assert!(matches!(&refused.verdict, Verdict::NoneAllowed(broken) if broken == &["tokens <= 1"]), "{:?}", refused.verdict);
    // A parameter that decides nothing is left as it is.
    let idle = [Axis::parse("grep_line_chars=400..600", &policy).unwrap()];
    let idle = tuned(&ground, &policy, &idle, &none, &enough, "tokens");
    assert_eq!(idle.verdict, Verdict::DefaultIsBest, "{:?}", idle.best);
}

#[test]
fn what_is_asked_for_wrongly_is_said_so() {
    let policy = Policy::load("pi").unwrap();
    for wrong in ["keepRecentToken", "summary_tokens", "keepRecentTokens=9..1", "keepRecentTokens=a..b"] {
        assert!(Axis::parse(wrong, &policy).is_err(), "{wrong}");
    }
    assert!(Bound::parse("tokns <= default").is_err() && Bound::parse("tokens <= defaults").is_ok());
    assert!(Policy::parse("x", "[params]\na = { value = 1, range = [3, 1] }").is_err());
}
