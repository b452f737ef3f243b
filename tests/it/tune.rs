//! `ctxsim tune`: the optimum of an exhaustive grid, held-out sessions, what is refused, and a recommendation that reads back the same.

use crate::made::{Native, Tables, call};
use crate::support::{ctxsim, project};
use ctxsim::catalog::Catalog;
use ctxsim::corpus::{Corpus, ReadSettings, read};
use ctxsim::cost::CacheKind;
use ctxsim::experiment::tune::{Axis, Bound, Decided, Part, Split, Trial, Tune, Tuned, Verdict, split};
use ctxsim::experiment::{
    Billing, Constraint, Design, Dimension, Direction, Measure, Objective, ReplaySettings, Row, Sampling, Setting, Sums, Sweep, by_session,
    settings,
};
use ctxsim::policy::Policy;
use ctxsim::render::markdown;
use ctxsim::report::{Found, tune};
use ctxsim::sim::{EventKind, Refetching};
use ctxsim::statistics::{Bars, Keeping, Sample, Within};
use ctxsim::trace::Trace;
use serde_json::json;
use std::collections::BTreeSet;

fn samples(catalog: &Catalog) -> Corpus {
    let folder = project().join("transcripts");
    let settings = ReadSettings::new(catalog);
    read(&[folder.to_string_lossy().into_owned()], &settings).unwrap()
}

fn conditions(tables: &Tables) -> ReplaySettings<'_> {
    ReplaySettings { window: Some(60_000), ..ReplaySettings::new(&tables.catalog) }
}

fn tuned(tables: &Tables, policy: &Policy, axes: &[Axis], bounds: &[Bound], split: &Split, sought: &str) -> Tuned {
    let objective = Objective { direction: Direction::Minimise, measure: Measure::parse(sought).unwrap() };
    let (tariff, replay) = (tables.tariff(), conditions(tables));
    let billing = Billing { tariff: &tariff, cache: CacheKind::Modelled, refetch: Refetching::Lost };
    Tune { policy, axes, objective, bounds, worth: 0.02, replay: &replay, billing, coarse: 30, resamples: 200, seed: 1, watch: &() }
        .run(split)
        .unwrap()
}

#[test]
fn finds_what_an_exhaustive_grid_finds() {
    let tables = Tables::builtin();
    let policy = Policy::load("pi").unwrap();
    let axes = ["keepRecentTokens=2000..40000", "reserveTokens=4000..30000"].map(|text| Axis::parse(text, &policy).unwrap());
    let bounds = [Bound::parse("lost_lines <= default").unwrap()];
    let mut corpus = samples(&tables.catalog);
    // Sessions of hundreds of calls would take minutes without optimisation and say the same.
    corpus.traces.keep(|_, trace| trace().calls.len() < 80);
    let split = split(corpus, [&[]; 2], 34, 1);
    let found = tuned(&tables, &policy, &axes, &bounds, &split, "net_cost");
    let best = found.best.as_ref().unwrap();
    // A full grid, over the same sessions, with the default's broken references as a limit.
    let (tariff, replay) = (tables.tariff(), conditions(&tables));
    let limit = found.default.training.value(&Measure::parse("lost_lines").unwrap()).part;
    let constraint = Constraint::parse(&format!("lost_lines <= {limit}")).unwrap();
    let objective = Objective { direction: Direction::Minimise, measure: Measure::parse("net_cost").unwrap() };
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
        watch: &(),
    };
    let mut least = i64::MAX;
    sweep
        .run(0, &sweep.sampling(), &mut |rows| {
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
    let ended = Measure::parse("net failed sessions").unwrap();
    let sum: i64 = sessions.iter().map(|session| session.value(ended.part)).sum();
    assert_eq!(sum, best.held_out.value(&ended).part);
}

#[test]
fn what_is_sought_in_a_closed_loop_must_not_end_in_it() {
    let words = |sought: &str| {
        let objective = Objective { direction: Direction::Minimise, measure: Measure::parse(sought).unwrap() };
        Bound::usual(&objective).unwrap().iter().map(Bound::words).collect::<Vec<_>>()
    };
    assert_eq!(words("tokens"), ["overflows = 0", "no more lost line references than the defaults"]);
    assert_eq!(words("cost"), words("tokens"));
    assert_eq!(words("net_cost"), ["overflows = 0", "no more lost line references than the defaults", "net_failed_sessions = 0"]);
    // A setting that overflows for good in that loop alone breaks the last of them, and no other.
    let mut row = Row::default();
    row.charges.net_failed_sessions = 1;
    let objective = Objective { direction: Direction::Minimise, measure: Measure::parse("net_cost").unwrap() };
    let broken = Bound::usual(&objective).unwrap().into_iter().filter(|bound| !bound.holds(0, &row, &Row::default(), 0.0));
    assert_eq!(broken.map(|bound| bound.words()).collect::<Vec<_>>(), ["net_failed_sessions = 0"]);
}

/// A report on a setting and the defaults, with figures made for it, in one line.
fn report_of(verdict: Verdict, default: &Trial, best: Option<Trial>, decided: Option<&[Decided]>) -> String {
    let policy = Policy::load("pi").unwrap();
    let objective = Objective { direction: Direction::Minimise, measure: Measure::parse("net_cost").unwrap() };
    let bounds = Bound::usual(&objective).unwrap();
    let (keeping, difference, bars, drawn) = (Vec::new(), None, Bars::default(), Sample::default());
    let tuned =
        Tuned { objective, bounds, tried: 9, default: default.clone(), best, keeping, difference, summarised: None, bars, drawn, verdict };
    let found = Found {
        policy: &policy,
        axes: &[],
        split: &Split::default(),
        tuned: &tuned,
        decided,
        yours: None,
        thresholds: &[],
        chance: (20, 1),
    };
    markdown(&tune(&found)).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Overflows of both parts, and sessions that end in the open and in the closed loop.
fn trial(values: &[(&str, &str)], overflows: [u64; 2], ended: [u64; 2]) -> Trial {
    let part = |overflows: u64| {
        let mut row = Row::default();
        (row.totals.sessions, row.totals.overflows, row.totals.failed_sessions) = (6, overflows, ended[0]);
        row.charges.net_failed_sessions = ended[1];
        row
    };
    let values = values.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Trial { setting: Setting { base: 0, values }, training: part(overflows[0]), held_out: part(overflows[1]) }
}

#[test]
fn a_headline_says_that_the_defaults_break_the_constraints_themselves() {
    let (sound, broken) = (trial(&[], [0, 0], [0, 0]), trial(&[], [646, 388], [5, 5]));
    let best = trial(&[("reserveTokens", "9000")], [0, 0], [0, 0]);
    let breaks = "The defaults themselves break overflows = 0 (646) and net\\_failed\\_sessions = 0 (5) on the training sessions, and overflows = 0 (388)";
    for verdict in [
        Verdict::Recommended,
        Verdict::NoDifference(Within::Sampling, None),
        Verdict::Worse,
        Verdict::TooFew(3),
        Verdict::NoneAllowed(vec![]),
    ] {
        let said = report_of(verdict.clone(), &broken, Some(best.clone()), None);
        assert!(said.contains(breaks), "{verdict:?} {said}");
        assert!(!said.contains("Keep the defaults"), "{verdict:?} {said}");
        assert!(!report_of(verdict, &sound, Some(best.clone()), None).contains("The defaults themselves"));
    }
    assert!(report_of(Verdict::Worse, &sound, Some(best), None).contains("Keep the defaults"));
}

#[test]
fn sessions_that_end_are_named_with_the_setting_under_which_they_do() {
    let sound = trial(&[], [0, 0], [0, 0]);
    let said = report_of(Verdict::Recommended, &sound, Some(trial(&[("reserveTokens", "9000")], [0, 0], [1, 2])), None);
    let expected = "Failed sessions: reserveTokens=9000 1 (2 in the closed loop) of 6 training sessions and 1 (2 in the";
    assert!(said.contains(expected), "{said}");
    assert!(!report_of(Verdict::Recommended, &sound, Some(sound.clone()), None).contains("Failed sessions"));
}

#[test]
fn what_decided_nothing_is_not_said_to_have_decided() {
    let (sound, best) = (trial(&[], [0, 0], [0, 0]), trial(&[("reserveTokens", "9000")], [0, 0], [0, 0]));
    let session = |name: &str, best: i64| Decided {
        part: Part::HeldOut,
        session: name.to_owned(),
        source: "log".to_owned(),
        agent: "pi".to_owned(),
        default: 7_000_000_000,
        best,
    };
    let (tied, moved) = ([session("one", 7_000_000_000)], [session("two", 3_000_000_000), session("one", 7_000_000_000)]);
    let none = report_of(Verdict::NoneAllowed(vec![]), &sound, None, Some(&[]));
    assert!(none.contains("Sessions that decided it - None did: there is no setting to hold against the defaults."), "{none}");
    let same = report_of(Verdict::DefaultIsBest, &sound, Some(sound.clone()), Some(&tied));
    assert!(same.contains("None did: the defaults are the best setting themselves."), "{same}");
    let tie = report_of(Verdict::NoDifference(Within::Sampling, None), &sound, Some(best.clone()), Some(&tied));
    assert!(tie.contains("None did: each comes to the same under both.") && !tie.contains("| one |"), "{tie}");
    let open = report_of(Verdict::NoDifference(Within::Sampling, Some(8)), &sound, Some(best.clone()), Some(&moved));
    assert!(open.contains("Nothing was decided; where reserveTokens=9000 differs most from the defaults"), "{open}");
    // Sessions that come to the same stand in no table.
    let yes = report_of(Verdict::Recommended, &sound, Some(best.clone()), Some(&moved));
    assert!(yes.contains("Sessions that decided it") && yes.contains("| two |") && !yes.contains("| one |"), "{yes}");
    assert!(!report_of(Verdict::Recommended, &sound, Some(best), None).contains("decided"));
}

#[test]
fn a_split_keeps_families_together_and_does_not_know_the_order_of_files() {
    let named = |id: usize, parent: Option<usize>| Trace {
        id: format!("s{id}"),
        parent: parent.map(|parent| format!("s{parent}")),
        agent: ["a", "b"][id % 2].to_owned(),
        ..Trace::default()
    };
    let mut traces: Vec<Trace> = (0..60).map(|id| named(id, (id % 6 == 4).then(|| id - 1))).collect();
    let ids = |corpus: &Corpus| {
        let mut ids: Vec<String> = corpus.traces.iter().map(|trace| trace.id.clone()).collect();
        ids.sort();
        ids
    };
    let one = split(Corpus { traces: traces.clone().into(), ..Corpus::default() }, [&[]; 2], 30, 7);
    traces.reverse();
    let other = split(Corpus { traces: traces.into(), ..Corpus::default() }, [&[]; 2], 30, 7);
    assert_eq!(ids(&one.held_out), ids(&other.held_out));
    assert_eq!(one.held_out.traces.len() + one.training.traces.len(), 60);
    assert!((12..=24).contains(&one.held_out.traces.len()), "{}", one.held_out.traces.len());
    // A sub-agent may be another agent.
    for part in [&one.held_out, &one.training] {
        assert!(part.traces.iter().filter_map(|trace| trace.parent.clone()).all(|parent| ids(part).contains(&parent)));
    }
    for agent in ["a", "b"] {
        assert!(one.held_out.traces.iter().any(|trace| trace.agent == agent));
    }
}

/// What is peculiar to a project must not be found in one part and confirmed in the other.
#[test]
fn whole_projects_are_held_out_where_there_are_enough() {
    let traces = |projects: u64| -> Vec<Trace> {
        // Projects of one to eight sessions.
        let sessions = (0..projects).flat_map(|project| (0..1 + project % 8).map(move |number| (project, number)));
        let trace = |(project, number)| Trace {
            id: format!("p{project}s{number}"),
            agent: "a".to_owned(),
            project: Some(project),
            calls: [call(0)].into_iter().collect(),
            ..Trace::default()
        };
        sessions.map(trace).collect()
    };
    let parts = |traces: &[Trace], seed| split(Corpus { traces: traces.to_vec().into(), ..Corpus::default() }, [&[]; 2], 34, seed);
    let projects = |corpus: &Corpus| corpus.traces.iter().filter_map(|trace| trace.project).collect::<BTreeSet<u64>>();
    for seed in 0..10 {
        let many = traces(40);
        let found = parts(&many, seed);
        assert_eq!((found.shared, projects(&found.held_out).intersection(&projects(&found.training)).count()), (0, 0));
        assert_eq!(projects(&found.held_out).len(), 13);
        // Large projects and small ones have their share: 180 sessions, of which a third is 61.
        assert!((42..=80).contains(&found.held_out.traces.len()), "{}", found.held_out.traces.len());
        let turned: Vec<Trace> = many.iter().rev().cloned().collect();
        assert_eq!(projects(&parts(&turned, seed).held_out), projects(&found.held_out));
    }
    // Sessions without a project take none of their places.
    let mut beside = traces(15);
    beside.extend((0..45).map(|id| Trace {
        id: format!("alone{id}"),
        agent: "a".to_owned(),
        calls: [call(0)].into_iter().collect(),
        ..Trace::default()
    }));
    for seed in 0..20 {
        assert_eq!(projects(&parts(&beside, seed).held_out).len(), 5, "{seed}");
    }
    // Of eight projects a third is too few to draw.
    let few = parts(&traces(8), 1);
    assert!(few.shared >= 4, "{}", few.shared);
    assert_eq!(few.held_out.traces.len(), 12);
}

#[test]
fn what_is_asked_for_stands_beside_the_guards() {
    let objective = Objective { direction: Direction::Minimise, measure: Measure::parse("tokens").unwrap() };
    let words = |asked: &[&str]| {
        let asked = asked.iter().map(|text| Bound::parse(text).unwrap()).collect();
        Bound::guards_and(&objective, asked).unwrap().iter().map(Bound::words).collect::<Vec<_>>()
    };
    let broken = "no more lost line references than the defaults";
    assert_eq!(words(&["compactions per session <= 2"]), ["overflows = 0", broken, "compactions per session <= 2"]);
    assert_eq!(words(&["overflows <= 3"]), [broken, "overflows <= 3"]);
}

/// One reference more decides nothing, many more in one session cannot be told, some more in all of them break.
#[test]
fn a_bound_is_kept_broken_or_cannot_be_told() {
    let bound = Bound::parse("lost_lines <= default").unwrap();
    let sampling = Sampling::of(Sample::apart(8), 400, 1);
    let row = |parts: [i64; 8]| Row { sums: vec![Sums { parts: parts.to_vec(), ..Sums::default() }], ..Row::default() };
    let keeping = |parts: [i64; 8]| bound.keeping(0, &row(parts), &row([10; 8]), &sampling, 0.02);
    assert_eq!(keeping([10, 10, 10, 11, 10, 10, 10, 10]), Keeping::Kept);
    assert_eq!(keeping([10, 10, 10, 10, 10, 10, 10, 10]), Keeping::Kept);
    assert_eq!(keeping([10, 10, 10, 60, 10, 10, 10, 10]), Keeping::CannotTell);
    assert_eq!(keeping([15, 16, 14, 15, 17, 13, 15, 15]), Keeping::Broken);
    assert_eq!(keeping([9, 8, 9, 7, 9, 9, 8, 9]), Keeping::Kept);
}

#[test]
fn both_parts_have_their_share_of_sessions_near_the_limits_and_of_those_with_a_price() {
    let traces: Vec<Trace> = (0..40).map(|id| Trace { id: format!("s{id}"), agent: "a".to_owned(), ..Trace::default() }).collect();
    let fifth: Vec<bool> = (0..40).map(|id| id % 5 == 0).collect();
    for (seed, marked) in (0..20).flat_map(|seed| [(seed, [&fifth[..], &[]]), (seed, [&[], &fifth[..]])]) {
        let parts = split(Corpus { traces: traces.clone().into(), ..Corpus::default() }, marked, 25, seed);
        let of_fifth = parts.held_out.traces.iter().filter(|trace| trace.id[1..].parse::<usize>().unwrap() % 5 == 0).count();
        assert_eq!((of_fifth, parts.held_out.traces.len()), (2, 10), "{seed}");
    }
}

/// What cannot be compared, for it has no price or no call, moves no other session from one part to the other.
#[test]
fn sessions_that_count_for_nothing_move_no_other() {
    let trace = |agent: &str, id: usize, calls: usize| Trace {
        id: format!("{agent}{id}"),
        agent: agent.to_owned(),
        calls: (0..calls).map(|_| call(0)).collect(),
        ..Trace::default()
    };
    let mut traces: Vec<Trace> = (0..30).map(|id| trace(["b", "c"][id % 2], id, 1)).collect();
    let held_out = |traces: &[Trace]| {
        let priced: Vec<bool> = traces.iter().map(|trace| trace.agent != "a" && !trace.calls.is_empty()).collect();
        let parts = split(Corpus { traces: traces.to_vec().into(), ..Corpus::default() }, [&[], &priced], 34, 3);
        let counts = |trace: &&Trace| trace.agent != "a" && !trace.calls.is_empty();
        let mut ids: Vec<String> = parts.held_out.traces.iter().filter(counts).map(|trace| trace.id.clone()).collect();
        ids.sort();
        ids
    };
    let alone = held_out(&traces);
    assert_eq!(alone.len(), 10);
    for id in 30..37 {
        traces.push(trace("a", id, id % 2));
        traces.push(trace("b", id, 0));
        assert_eq!(held_out(&traces), alone, "{id}");
    }
}

#[test]
fn summaries_are_as_large_as_recorded_unless_an_option_says_how_large() {
    let takes = |name: &str, set: &[&str]| {
        let policy = Policy::load(name).unwrap().with_recorded_summaries(&|param| set.contains(&param));
        policy.takes_recorded_summaries()
    };
    assert!(takes("opencode", &[]) && takes("opencode", &["tail_turns"]) && !takes("opencode", &["summary_tokens"]));
    assert!(!takes("none", &[]));
}

/// A recommendation needs sessions enough; the same sessions many times over are enough for the arithmetic.
fn many(corpus: &Corpus, times: usize) -> Corpus {
    let copy = |time: usize, trace: &Trace| Trace { id: format!("{} {time}", trace.id), parent: None, ..trace.clone() };
    let traces = (0..times).flat_map(|time| corpus.traces.iter().map(move |trace| copy(time, trace))).collect();
    Corpus { traces, facts: corpus.facts.clone() }
}

#[test]
fn recommends_where_the_sessions_bear_it_and_refuses_where_not() {
    let tables = Tables::builtin();
    let policy = Policy::load("pi").unwrap();
    let axes = [Axis::parse("keepRecentTokens=2000..60000", &policy).unwrap()];
    let mut samples = samples(&tables.catalog);
    samples.traces.keep(|_, trace| trace().calls.len() < 80);
    let few = Corpus { traces: samples.traces.iter().take(6).cloned().collect(), facts: samples.facts.clone() };
    let none: [Bound; 0] = [];
    let few = tuned(&tables, &policy, &axes, &none, &split(few, [&[]; 2], 34, 1), "tokens");
    assert!(matches!(few.verdict, Verdict::TooFew(more) if more >= 9), "{:?}", few.verdict);
    let enough = split(many(&samples, 6), [&[]; 2], 34, 1);
    let found = tuned(&tables, &policy, &axes, &none, &enough, "tokens");
    assert_eq!(found.verdict, Verdict::Recommended, "{:?}", found.difference);
    let difference = found.difference.unwrap();
    let share = difference.share;
    assert!(share.low <= share.value && share.value <= share.high && share.high < 0.0 && difference.amount(share.value) < 0);
    // Nothing can keep this.
    let impossible = [Bound::parse("tokens <= 1").unwrap()];
    let refused = tuned(&tables, &policy, &axes, &impossible, &enough, "tokens");
    assert!(matches!(&refused.verdict, Verdict::NoneAllowed(broken) if broken == &["tokens <= 1"]), "{:?}", refused.verdict);
    // Sessions in which the policy cuts results as before under either setting say nothing of them.
    let mut cutting = policy.clone();
    cutting.set("tool_max_bytes", "4000").unwrap();
    let mut short = samples.clone();
    short.traces.keep(|_, trace| trace().calls.len() < 8);
    let apart = Split { training: many(&samples, 6), held_out: many(&short, 20), ..enough.clone() };
    let found = tuned(&tables, &cutting, &axes, &none, &apart, "tokens");
    let best = found.best.as_ref().unwrap();
    assert!(best.held_out.totals.events_of(EventKind::Truncate) > 0 && best.held_out.is_as(&found.default.held_out));
    assert_eq!(found.verdict, Verdict::NotReached, "{:?}", found.difference);
    // A parameter that decides nothing is left as it is.
    let idle = [Axis::parse("grep_line_chars=400..600", &policy).unwrap()];
    let idle = tuned(&tables, &policy, &idle, &none, &enough, "tokens");
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

/// One session leaves a part without any: there is no setting to show, and no table over nothing.
#[test]
fn a_part_without_a_session_has_no_figures() {
    let folder = tempfile::tempdir().unwrap();
    let log = Native::new(json!({"window": 100_000})).asked("do it", "done", 1_000, 10).write(folder.path(), "a.jsonl");
    let words = ["tune", &log, "-p", "pi", "-q", "--settings", "4"];
    for form in [&[][..], &["--details"]] {
        let told = ctxsim(&words).args(form).code(0).stdout();
        let figures = ["best found", "On the sessions to test", "By least"].into_iter().filter(|words| told.contains(words)).count();
        assert!(told.contains("Cannot judge: ") && figures == 0 && !told.contains("--set "), "{told}");
    }
}

/// What too few sessions say of a value is no advice: how many more it takes is said, and no value named.
#[test]
fn no_value_is_proposed_where_nothing_can_be_judged() {
    let range = "keepRecentTokens=2000..30000";
    let words = ["tune", "transcripts/pi", "-q", "-p", "pi", "--params", range, "--settings", "4", "--held-out", "50"];
    let few = ctxsim(&words).code(0).stdout();
    assert!(few.contains("takes at least 8 more sessions") && few.contains("ctxsim tune --details "), "{few}");
    let named = ["best found", "--set ", "--explain"].into_iter().filter(|words| few.contains(words));
    // The range stands in the command alone.
    assert_eq!((named.collect::<Vec<_>>(), few.matches("keepRecentTokens").count()), (vec![], 1), "{few}");
}

/// What the user limits is what all sessions come to: each part is held to its share, and both together to all of it.
#[test]
fn a_limit_on_a_sum_is_one_on_all_sessions() {
    let limited = |text: &str, share: f64| Bound::parse(text).unwrap().of_part(share);
    let row = |overflows: u64| {
        let mut row = Row { sums: vec![Sums { parts: vec![1], ..Sums::default() }], ..Row::default() };
        row.totals.overflows = overflows;
        row
    };
    let holds = |bound: &Bound, overflows: u64| bound.holds(0, &row(overflows), &row(0), 0.0);
    let third = limited("overflows <= 40", 0.34);
    assert!(holds(&third, 14) && !holds(&third, 15));
    let none = limited("overflows = 0", 0.34);
    assert!(holds(&none, 0) && !holds(&none, 1));
    let all = limited("overflows <= 40", 1.0);
    assert!(all.holds_in_all(0, [&row(26), &row(14)]) && !all.holds_in_all(0, [&row(27), &row(14)]));
    assert!(Bound::parse("overflows = 40").is_err() && Bound::parse("overflows per session = 2").is_ok());
}

/// The lines that are lost must be no more than the limit in all sessions, not in each part of them.
#[test]
fn a_recommended_setting_keeps_a_sum_over_all_sessions() {
    let tables = Tables::builtin();
    let policy = Policy::load("pi").unwrap();
    let axes = [Axis::parse("keepRecentTokens=2000..60000", &policy).unwrap()];
    let mut samples = samples(&tables.catalog);
    samples.traces.keep(|_, trace| trace().calls.len() < 80);
    let enough = split(many(&samples, 6), [&[]; 2], 34, 1);
    let free = tuned(&tables, &policy, &axes, &[], &enough, "tokens");
    let both = |found: &Tuned| {
        let best = found.best.as_ref().unwrap();
        [&best.training, &best.held_out].map(|row| row.value(&Measure::parse("compactions").unwrap()).part)
    };
    let [training, held_out] = both(&free);
    // More than either part has, and less than both.
    let limit = training.max(held_out) + training.min(held_out) / 2;
    let bound = [Bound::parse(&format!("compactions <= {limit}")).unwrap()];
    let kept = tuned(&tables, &policy, &axes, &bound, &enough, "tokens");
    assert!(both(&kept).iter().sum::<i64>() <= limit || kept.verdict != Verdict::Recommended, "{:?} {:?}", both(&kept), kept.verdict);
    assert!(both(&free).iter().sum::<i64>() > limit);
}
