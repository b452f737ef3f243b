//! `ctxsim sweep`: the same bytes however it is run, killed and resumed; designs; constraints; what is best and what cannot be told.

use crate::backtest::Made;
use crate::made::call;
use crate::support::{Ran, ctxsim, project, rows};
use ctxsim::experiment::{
    Adherence, Constraint, Design, Dimension, Direction, Judgement, Judging, Measure, Objective, Row, Sampling, Setting, Standing, Sums,
    judgements, sample, sample_of, settings, with_own,
};
use ctxsim::policy::Policy;
use ctxsim::sim::Totals;
use ctxsim::statistics::{Bars, DrawnBy, Finding, Keeping, Origin, Part, Sample, Within};
use ctxsim::trace::{CallRow, Trace};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;

const LOGS: &str = "transcripts";

fn sweep(words: &[&str]) -> Ran {
    ctxsim(&["sweep"]).args(words).run()
}

fn grid<'a>(rows: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let vary = ["--vary", "auto_compact_threshold=0.1..0.9:0.02", "--vary", "prune_protect=1k..60k:1k"];
    let base =
        [LOGS, "-q", "-p", "baseagent", "--window", "40k", "--set", "model_context_limit=40k", "--set", "output_token_max=4k", "--csv"];
    let objective = ["--minimise", "tokens", "--subject-to", "compactions per session <= 2", "--rows", rows];
    base.into_iter().chain(vary).chain(objective).chain(more.iter().copied()).collect()
}

#[test]
fn same_bytes_with_one_and_two_threads_and_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (one, two, killed) = (place("one.jsonl"), place("two.jsonl"), place("killed.jsonl"));
    let first = sweep(&grid(&one, &["--threads", "1"]));
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let second = sweep(&grid(&two, &["--threads", "2"]));
    assert_eq!(first.stdout, second.stdout);
    let rows = std::fs::read(&one).unwrap();
    assert!(rows == std::fs::read(&two).unwrap());
    // Killed after random times, among them while it reads and while it writes; then resumed to the end.
    for milliseconds in [30, 150, 400, 800] {
        let mut running = ctxsim(&["sweep"]).args(grid(&killed, &["--resume"])).command();
        let mut child = running.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let resumed = sweep(&grid(&killed, &["--resume"]));
    assert_eq!(resumed.stdout, first.stdout);
    assert!(rows == std::fs::read(&killed).unwrap());
    // Torn in the midst of any line, the first among them; a line that lies is no line.
    for length in [0, 10, rows.len() / 3, rows.len() / 2, rows.len() - 1] {
        std::fs::write(&killed, &rows[..length]).unwrap();
        assert!(sweep(&grid(&killed, &["--resume"])).status.success());
        assert!(rows == std::fs::read(&killed).unwrap(), "cut at {length}");
    }
    // Another sweep's rows are left alone.
    let other = sweep(&grid(&killed, &["--resume", "--subject-to", "overflows = 0"]));
    assert_eq!(other.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&other.stderr).contains("objective"));
    assert!(sweep(&grid(&killed, &[])).status.code() == Some(2), "a file that is there is not written over");
    assert!(rows == std::fs::read(&killed).unwrap());
}

/// A row of the sweep is what `replay` says of the same setting, with summaries as large as recorded and as one policy is told.
#[test]
fn a_row_is_what_replay_counts() {
    let asked = [LOGS, "-q", "-p", "baseagent", "-p", "opencode", "--window", "30k", "--set", "opencode:summary_tokens=1500"];
    let asked = [&asked[..], &["--minimise", "tokens", "--csv"]].concat();
    let swept = sweep(&asked.iter().copied().chain(["--vary", "prune_protect=2k,20k"]).collect::<Vec<_>>());
    let swept = swept.stdout();
    let rows = rows(&swept);
    let cells = rows.iter().flat_map(|row| ["difference", "difference_low", "difference_high"].map(|key| &row[key]));
    let numbers = cells.filter(|cell| !cell.is_empty());
    assert!(numbers.clone().count() > 0 && numbers.map(|cell| cell.parse::<f64>()).all(|number| number.is_ok()), "{swept}");
    assert_eq!(rows.len(), 6, "two settings of each policy, and its own one");
    for row in rows.iter().filter(|row| !row["setting"].is_empty()) {
        let (set, policy) = (&row["setting"], &row["policy"]);
        let size = if policy.starts_with("opencode") { &["--set", "summary_tokens=1500"][..] } else { &[] };
        let replay = ctxsim(&["replay", LOGS, "-q", "-p", policy, "--window", "30k", "--set", set, "--json"]).args(size).json();
        let model = replay["policies"][0]["summary_model"].as_str().unwrap();
        assert_eq!(model.starts_with("fixed"), policy.starts_with("opencode"), "{model}");
        for key in
            ["calls", "overflows", "reply_cut", "over_budget", "missed", "early", "peak_tokens", "prompt_tokens", "summariser_tokens"]
        {
            assert_eq!(replay["policies"][0][key].to_string(), row[key], "{key} of {set}");
        }
    }
}

#[test]
fn a_design_has_so_many_settings() {
    let bases = [Policy::load("baseagent").unwrap(), Policy::load("none").unwrap()];
    let count = |vary: &[&str], design| {
        let dimensions: Vec<Dimension> = vary.iter().map(|text| Dimension::parse(text).unwrap()).collect();
        settings(&bases, &dimensions, design).map(|settings| settings.len())
    };
    // `none` has none of the parameters and stands there once.
    assert_eq!(count(&["prune_protect=10k..80k:10k"], Design::Grid).unwrap(), 9);
    assert_eq!(count(&["prune_protect=1k..1m:x10", "auto_compact_threshold=0.1..0.9:0.1"], Design::Grid).unwrap(), 4 * 9 + 1);
    assert_eq!(count(&["prune_protect=1..1m", "auto_compact_threshold=0.1..0.9"], Design::Latin(50, 3)).unwrap(), 51);
    assert!(count(&["prune_protect=1..1m"], Design::Grid).unwrap_err().to_string().contains("--sample"));
    assert!(count(&["prune_protct=1,2"], Design::Grid).unwrap_err().to_string().contains("prune_protect"));
    for wrong in ["prune_protect", "prune_protect=", "p=9..1:1", "p=1..9:0", "p=1..9:x1", "p=a..b:1"] {
        assert!(Dimension::parse(wrong).is_err(), "{wrong}");
    }
    // In a Latin hypercube each tenth of the range is drawn from once.
    let dimension = Dimension::parse("prune_protect=0..999").unwrap();
    let drawn = settings(&bases[..1], &[dimension], Design::Latin(10, 5)).unwrap();
    let mut tenths: Vec<u64> = drawn.iter().map(|setting| setting.values[0].1.parse::<u64>().unwrap() / 100).collect();
    tenths.sort_unstable();
    assert_eq!(tenths, (0..10).collect::<Vec<u64>>());
}

/// A setting over eight sessions of so many tokens each.
fn row(setting: usize, overflows: u64, tokens: [i64; 8]) -> Row {
    let prompt_tokens = tokens.iter().sum::<i64>() as u64;
    let totals = Totals { sessions: 8, prompt_tokens, overflows, ..Totals::default() };
    let sums = vec![Sums { parts: tokens.to_vec(), ..Sums::default() }];
    Row { setting, totals, charges: Default::default(), spread: Default::default(), sums }
}

fn judged(rows: &[Row], constraints: &[Constraint], distance: &[f64], own: &[Option<usize>]) -> Vec<Judgement> {
    let objective = &Objective { direction: Direction::Minimise, measure: Measure::parse("tokens").unwrap() };
    let sampling = &Sampling::of(Sample::apart(8), 200, 1);
    judgements(rows, &Judging { objective, constraints, distance, own, sampling, bars: Bars { worth: 0.02, ..Bars::default() } })
}

#[test]
fn best_front_and_what_cannot_be_told() {
    let constraint = Constraint::parse("overflows = 0").unwrap();
    let rows = [
        row(0, 0, [100, 110, 90, 105, 95, 102, 98, 100]),
        row(1, 0, [109, 101, 99, 97, 104, 95, 106, 97]),
        row(2, 0, [150, 160, 140, 155, 145, 152, 148, 150]),
        row(3, 2, [50, 60, 40, 55, 45, 52, 48, 50]),
        row(4, 3, [60, 70, 50, 65, 55, 62, 58, 60]),
    ];
    let found = judged(&rows, &[constraint], &[], &[Some(2); 5]);
    let standing: Vec<Standing> = found.iter().map(|verdict| verdict.standing).collect();
    assert_eq!(standing, [Standing::Best, Standing::NoDifference(Within::Sampling), Standing::Worse, Standing::Breaks, Standing::Breaks]);
    let against = |found: &[Judgement]| found.iter().map(|verdict| verdict.own.map(|own| own.finding)).collect::<Vec<_>>();
    assert_eq!(against(&found), [Some(Finding::Better), Some(Finding::Better), None, Some(Finding::Better), Some(Finding::Better)]);
    let beside_first = judged(&rows[..3], &[], &[], &[Some(0); 3]);
    assert_eq!(against(&beside_first), [None, Some(Finding::NoDifference(Within::Sampling)), Some(Finding::Worse)]);
    let front: Vec<bool> = found.iter().map(|verdict| verdict.on_front).collect();
    assert_eq!(front, [true, false, false, true, false]);
    // Of equals the one nearest to what the policy has by itself is the best.
    let of = |tokens: i64| [tokens; 8];
    let equal = [row(0, 0, of(100)), row(1, 0, of(100)), row(2, 0, of(103)), row(3, 0, of(100))];
    let best_of =
        |distance: &[f64]| -> Vec<Standing> { judged(&equal, &[], distance, &[]).iter().map(|verdict| verdict.standing).collect() };
    assert_eq!(best_of(&[]), [Standing::Best, Standing::Equal, Standing::Worse, Standing::Equal]);
    assert_eq!(best_of(&[0.5, 0.2, 0.0, 0.1]), [Standing::Equal, Standing::Equal, Standing::Worse, Standing::Best]);
    let bases = [Policy::load("baseagent").unwrap()];
    let distance = |values: &[(&str, &str)]| {
        let values = values.iter().map(|(param, value)| ((*param).to_owned(), (*value).to_owned())).collect();
        Setting { base: 0, values }.distance(&bases)
    };
    assert_eq!(distance(&[("prune_protect", "40k")]), 0.0);
    assert_eq!(distance(&[("prune_protect", "20k"), ("prune_minimum", "40k")]), 1.0);
    assert_eq!(distance(&[("prune_protect", "=window")]), 1.0);
    let share = Constraint::parse("overflows per session <= 25 %").unwrap();
    assert!(share.holds(rows[3].value(&share.measure)) && !share.holds(rows[4].value(&share.measure)));
    // The own setting is always there, once.
    let vary = Dimension::parse("prune_protect=20k,40k").unwrap();
    let mut both = settings(&bases, &[vary], Design::Grid).unwrap();
    assert_eq!((with_own(&mut both, &bases), both.len()), (vec![1], 2));
    both.remove(1);
    assert_eq!((with_own(&mut both, &bases), both.len(), both[1].words()), (vec![1], 2, String::new()));
    assert!(Constraint::parse("overflow <= 2").is_ok() && Constraint::parse("overflws <= 2").is_err());
}

/// One failed session less is no proof; a table says no more than the headline.
#[test]
fn a_setting_is_judged_by_all_that_is_known() {
    let fails = |row: Row, failed: i64| {
        let totals = Totals { failed_sessions: failed as u64, ..row.totals };
        let failures = Sums { parts: (0..8).map(|place| i64::from(place < failed)).collect(), ..Sums::default() };
        Row { totals, sums: [row.sums, vec![failures]].concat(), ..row }
    };
    let (cheap, dear) = ([100, 110, 90, 105, 95, 102, 98, 100], [300, 310, 290, 305, 295, 302, 298, 300]);
    let against = |failed: i64| {
        let found = judged(&[fails(row(0, 0, cheap), failed), fails(row(1, 0, dear), 0)], &[], &[], &[Some(0); 2]);
        (found[0].standing, found[1].standing, found[1].own.unwrap().finding)
    };
    assert_eq!(against(1), (Standing::CannotJudge, Standing::Best, Finding::Worse));
    assert_eq!(against(6), (Standing::Worse, Standing::Best, Finding::Better));
    let rows = [row(0, 0, cheap), row(1, 0, dear)];
    let standing = |bars: Bars, clusters: usize| {
        let objective = &Objective { direction: Direction::Minimise, measure: Measure::parse("tokens").unwrap() };
        let mut sample = Sample::apart(8);
        if clusters < 8 {
            sample = Sample::new((0..8).map(|place| Origin { project: None, family: place % clusters as u64 }));
        }
        let sampling = &Sampling::of(sample, 200, 1);
        let by = Judging { objective, constraints: &[], distance: &[], own: &[Some(1); 2], sampling, bars };
        let found = judgements(&rows, &by);
        (found[1].standing, found[0].own.unwrap().finding)
    };
    assert_eq!(standing(Bars::default(), 8), (Standing::Worse, Finding::Better));
    let own_error = Within::OwnError;
    assert_eq!(
        standing(Bars { own_error: Some(0.7), ..Bars::default() }, 8),
        (Standing::NoDifference(own_error), Finding::NoDifference(own_error)),
        "the error is a share of the dearer one"
    );
    assert_eq!(standing(Bars::default(), 4), (Standing::CannotJudge, Finding::CannotJudge));
    assert_eq!(standing(Bars { anchored: Some(0.4), ..Bars::default() }, 8), (Standing::CannotJudge, Finding::CannotJudge));
}

/// Where no setting keeps what is asked for, the first screen says so, and which settings break it.
#[test]
fn settings_that_break_what_is_asked_for_say_so() {
    let shown = |limit: &str| {
        let vary = ["--vary", "keepRecentTokens=10k,20k", "--window", "100k", "--subject-to", limit];
        String::from_utf8_lossy(&sweep(&[&[LOGS, "-q", "-p", "pi"][..], &vary].concat()).stdout).into_owned()
    };
    let (never, always) = (shown("compactions <= 0"), shown("compactions <= 99"));
    let none = "Nothing is recommended: no setting that was looked at keeps all constraints.";
    assert!(never.contains(none) && never.matches(" breaks").count() == 2, "{never}");
    assert!(!always.contains(none) && !always.contains("breaks"), "{always}");
    let help = String::from_utf8_lossy(&sweep(&["--help"]).stdout).into_owned();
    assert!(help.contains("`verdict` says how a setting stands to the first one that keeps all constraints"), "{help}");
}

/// Of settings of which it cannot be told whether they keep a constraint, those that keep it as counted stand before those that do not, whatever they come to; the first
/// screen has what is limited, and each setting's word on it.
#[test]
fn settings_that_keep_a_bound_as_counted_stand_before_those_that_do_not() {
    let limit = [Constraint::parse("overflows <= 8").unwrap()];
    let of = |setting: usize, overflows: [i64; 8], tokens: i64| {
        let row = row(setting, overflows.iter().sum::<i64>() as u64, [tokens; 8]);
        let counted = Sums { parts: overflows.to_vec(), events: true, ..Sums::default() };
        Row { sums: [row.sums, vec![counted]].concat(), ..row }
    };
    let rows = [of(0, [9; 8], 10), of(1, [1, 1, 1, 1, 1, 1, 1, 2], 50), of(2, [3, 0, 1, 0, 1, 0, 1, 1], 100), of(3, [0; 8], 200)];
    let found = judged(&rows, &limit, &[], &[]);
    let standing: Vec<(Adherence, Standing)> = found.iter().map(|found| (found.adherence, found.standing)).collect();
    let expected = [
        (Adherence::Broken, Standing::Breaks),
        (Adherence::BrokenAsCounted, Standing::CannotTell),
        (Adherence::KeptAsCounted, Standing::CannotTell),
        (Adherence::Kept, Standing::Best),
    ];
    assert_eq!(standing, expected);
    // Where none is known to keep it, the best is one that keeps it as counted.
    let standing: Vec<Standing> = judged(&rows[..3], &limit, &[], &[]).iter().map(|found| found.standing).collect();
    assert_eq!(standing, [Standing::Breaks, Standing::CannotTell, Standing::Best]);
    let vary = ["-q", "-p", "pi", "--window", "100k", "--vary", "keepRecentTokens=10k,40k,60k", "--subject-to", "compactions <= 20"];
    let json = ctxsim(&["sweep", LOGS]).args(vary).args(["--json"]).json();
    let settings = json["settings"].as_array().unwrap().iter();
    let order: Vec<(u64, &str)> =
        settings.map(|setting| (setting["compactions"].as_u64().unwrap(), setting["verdict"].as_str().unwrap())).collect();
    assert_eq!(order.iter().map(|(compactions, _)| *compactions).collect::<Vec<_>>(), [2, 16, 24, 68], "{order:?}");
    assert!(order[0].1 == "best" && order[1..].iter().all(|(_, verdict)| *verdict == "cannot tell compactions <= 20"), "{order:?}");
    let shown = ctxsim(&["sweep", LOGS]).args(vary).stdout();
    let row = |setting: &str| {
        let line = shown.lines().rfind(|line| line.starts_with(setting)).unwrap_or_default();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (kept, untold) = (row("keepRecentTokens=60k"), row("keepRecentTokens=10k"));
    assert!(
        kept.contains(" 2 5 5 ") && kept.ends_with(" best") && untold.contains(" 16 0 0 ") && untold.ends_with(" cannot tell"),
        "{shown}"
    );
    assert!(shown.contains("\nverdict: `cannot tell`: the 90 % interval lies on both sides of the limit.\n"), "{shown}");
}

/// A policy that stands beside the settings for comparison is not what is asked about, even where it comes out best.
#[test]
fn the_verdict_is_of_what_is_varied() {
    let vary = ["--vary", "opencode:preserve_recent_tokens=2000..8000:2000"];
    let shown = sweep(&[&[LOGS, "-q", "-p", "picoclaw", "-p", "opencode"][..], &vary].concat());
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let rows = text.split_once("By least net cost").expect("a table").1;
    let first = rows.lines().find(|line| line.contains('$')).expect("a row");
    assert!(first.starts_with("picoclaw"), "the comparison is to come out best: {first}");
    let verdict = text.lines().find(|line| line.starts_with("Keep") || line.contains("better than")).expect("a verdict");
    assert!(verdict.contains("opencode@") && !verdict.contains("picoclaw"), "{verdict}");
}

/// A sum over a session that one of the settings fails is one of fewer calls, and one without a call says nothing.
#[test]
fn sessions_that_either_setting_fails_and_those_without_a_call_are_not_compared() {
    let sampling = Sampling::of(Sample::apart(8), 200, 1);
    let sums = |parts: [i64; 8], failed: &[usize], empty: &[usize]| Sums {
        parts: parts.to_vec(),
        failed: failed.to_vec(),
        empty: empty.to_vec(),
        ..Sums::default()
    };
    let (one, other) = (sums([90, 91, 90, 89, 90, 900, 90, 0], &[], &[7]), sums([100, 100, 100, 100, 100, 10, 100, 0], &[5], &[7]));
    let found = sampling.difference(&one, &other).unwrap();
    assert_eq!((found.compared, found.left_out, found.clusters, found.values), (6, 1, 6, [540, 600]));
    assert!((found.share.value + 0.1).abs() < 1e-9 && found.share.high < -0.09, "{:?}", found.share);
    // Three sessions with calls are too few to judge by, however many there are beside them.
    let few = |value: i64| sums([value, value, value, 0, 0, 0, 0, 0], &[], &[3, 4, 5, 6, 7]);
    assert!(sampling.difference(&few(112), &few(100)).is_none());
}

/// Chance brings other events than those that came, and it may bring some where none came.
#[test]
fn few_events_are_no_surer_than_their_number() {
    let sampling = Sampling::of(Sample::apart(12), 400, 1);
    let sums = |events: &[i64]| {
        let parts = (0..12).map(|place| events.get(place).copied().unwrap_or_default()).collect();
        Sums { parts, events: true, ..Sums::default() }
    };
    let spread = |events: &[i64]| sampling.spread(&sums(events)).map(|found| (found.value, found.low, found.high)).unwrap();
    let (value, low, high) = spread(&[]);
    assert!(value == 0.0 && low == 0.0 && (2.9..3.1).contains(&high), "{low} to {high}");
    let (_, low, high) = spread(&[1, 1, 1]);
    assert!(low < 0.9 && high > 7.7, "{low} to {high}");
    // Tokens are no events.
    let tokens = sampling.spread(&Sums { parts: vec![7; 12], ..Sums::default() }).unwrap();
    assert_eq!((tokens.low, tokens.high), (84.0, 84.0));

    for (name, counts) in [("overflows", true), ("compactions", true), ("lost_lines", true), ("prompt_tokens", false), ("calls", false)] {
        assert_eq!(Measure::parse(name).unwrap().counts_events(), counts, "{name}");
    }

    let share = |one: &[i64], other: &[i64]| sampling.difference(&sums(one), &sums(other)).unwrap().share;
    let three = share(&[], &[1, 1, 1]);
    assert!(three.value == -1.0 && three.low == -1.0 && three.high > 0.0, "{three:?}");
    let six = share(&[], &[1; 6]);
    assert!(six.high < 0.0, "{six:?}");
    let same = share(&[1; 6], &[1; 6]);
    assert!(same.low < -0.4 && same.high > 0.4, "{same:?}");
    // Of what no session has more than once, twelve are the most.
    let all = share(&[1; 12], &[1]);
    let more = share(&[2; 12], &[1]);
    assert!(all.value == 11.0 && all.high == 12.0 && more.high > 24.0, "{all:?} {more:?}");

    let keeping = |limit: &str, events: &[i64]| {
        let sums = sums(events);
        let overflows = events.iter().sum::<i64>() as u64;
        let totals = Totals { sessions: 12, overflows, ..Totals::default() };
        let row = Row { totals, ..row(0, overflows, [0; 8]) };
        sampling.keeping(&Constraint::parse(limit).unwrap(), &row, Some(&sums))
    };
    for (limit, events, found) in [
        ("overflows <= 2", &[][..], Keeping::CannotTell),
        ("overflows <= 3", &[], Keeping::Kept),
        ("overflows <= 0", &[], Keeping::Kept),
        ("overflows < 1", &[], Keeping::Kept),
        ("overflows < 1", &[1, 1, 1], Keeping::Broken),
        ("overflows <= 1", &[9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], Keeping::Broken),
    ] {
        assert_eq!(keeping(limit, events), found, "{limit} {events:?}");
    }
}

/// What two sessions differ by is no sample of what others do.
#[test]
fn an_interval_over_two_sessions_that_differ_is_too_narrow() {
    let sampling = Sampling::of(Sample::apart(12), 400, 1);
    let sums = |moved: usize| Sums { parts: (0..12).map(|place| if place < moved { 700 } else { 500 }).collect(), ..Sums::default() };
    let found = |moved: usize| sampling.difference(&sums(moved), &sums(0)).unwrap();
    assert_eq!((found(2).deciding.differing, found(2).deciding.is_narrow, found(3).deciding.is_narrow), (2, true, false));
    // Chance knows more of events than draws do.
    let events = |moved: usize| Sums { parts: (0..12).map(|place| i64::from(place < moved)).collect(), events: true, ..Sums::default() };
    assert!(!sampling.difference(&events(2), &events(1)).unwrap().deciding.is_narrow);
}

/// What summarisers take in one session alone moves a difference, and its interval is that of what it comes to with them.
#[test]
fn a_difference_with_summarisers_has_an_interval_of_its_own() {
    let sampling = Sampling::of(Sample::apart(8), 400, 1);
    let prompts = Measure::parse("prompt_tokens").unwrap();
    let row = |prompts: [i64; 8], tokens: [i64; 8]| {
        let sums = [prompts, [0; 8], tokens].map(|parts| Sums { parts: parts.to_vec(), ..Sums::default() });
        Row { sums: sums.to_vec(), ..Row::default() }
    };
    let (own, best) = (row([100; 8], [100; 8]), row([90; 8], [90, 90, 90, 150, 90, 90, 90, 90]));
    let difference = best.difference(&own, &sampling).unwrap();
    let Some(summarised) = best.summarised(&own, &difference, &prompts, &sampling) else { panic!("{difference:?}") };
    let bars = Bars { worth: 0.02, ..Bars::default() };
    let found = [&difference, &summarised.with].map(|difference| difference.finding(Direction::Minimise, &bars));
    assert_eq!(found, [Finding::Better, Finding::NoDifference(Within::Sampling)]);
    assert_eq!((summarised.more, summarised.with.values), (60, [780, 800]));
    // What holds them already has no second figure, and what is hardly more is not told.
    assert_eq!(best.summarised(&own, &difference, &Measure::parse("tokens").unwrap(), &sampling), None);
    assert_eq!(row([90; 8], [91, 90, 90, 90, 90, 90, 90, 90]).summarised(&own, &difference, &prompts, &sampling), None);
}

/// The table calls a setting the best where the sentence above it calls it better, and no more than the least where something stands against that.
#[test]
fn the_table_says_no_more_than_the_sentence() {
    let verdicts = |words: &[&str]| {
        let words = [&[LOGS, "-q", "-p", "pi", "--window", "100k"], words].concat();
        let report: Value = serde_json::from_slice(&sweep(&[&words[..], &["--json"]].concat()).stdout).unwrap();
        let of = |setting: &Value| setting["verdict"].as_str().unwrap().to_owned();
        let text = String::from_utf8_lossy(&sweep(&words).stdout).split_whitespace().collect::<Vec<&str>>().join(" ");
        (text, report["settings"].as_array().unwrap().iter().map(of).collect::<Vec<String>>())
    };
    let (text, found) = verdicts(&["--vary", "keepRecentTokens=10k,20k"]);
    assert!(text.contains("comes to less than the defaults") && text.contains("; but it keeps"), "{text}");
    assert_eq!(found, ["least", "more"], "{text}");
    let (text, found) = verdicts(&["--vary", "reserveTokens=8k,16k", "--minimise", "compactions per call"]);
    assert!(text.contains("is better than the defaults"), "{text}");
    assert_eq!(found[0], "best", "{text}");
}

/// The session that `docs/references.md` works by hand, under as many results as stay.
fn worked(words: &[&str]) -> Ran {
    let folder = project().join("tests/data/references");
    let (policy, log) = (folder.join("newest_result.toml"), folder.join("worked.jsonl"));
    ctxsim(&words[..1]).args([&log]).args(["-q", "-p"]).args([&policy]).args(&words[1..]).code(0)
}

#[test]
fn what_is_sought_is_the_least_or_the_most() {
    // The least is what the policy has by itself: nothing is turned. Of one session nothing is called better.
    let cases = [("--minimise", "n=1,least", 2_586, json!(null)), ("--maximise", "n=3,most", 3_751, json!("3"))];
    for (direction, setting, tokens, turned) in cases {
        let csv = worked(&["sweep", "--vary", "n=1,2,3", direction, "tokens", "--csv"]).stdout();
        assert!(csv.lines().nth(1).unwrap().starts_with(&format!("newest-result,{setting},yes,{tokens},")), "{direction}: {csv}");
        let tuned = worked(&["tune", "--params", "n=1..3", "--settings", "4", direction, "tokens", "--json"]).json();
        assert_eq!(tuned["best"]["params"]["n"], turned, "{direction}");
    }
}

/// As many settings as values: a Latin hypercube takes each once, and chance takes some twice.
#[test]
fn a_sample_is_drawn_as_the_design_says() {
    let rows = |design: &str| {
        let csv = worked(&["sweep", "--vary", "n=2..9:1", "--sample", "8", "--design", design, "--csv"]).stdout();
        csv.lines().filter(|line| line.contains(",n=")).count()
    };
    assert_eq!(rows("latin"), 8);
    assert!(rows("random") < 8);
}

/// Where nothing looked at is better than the defaults, too few sessions judge that no more than they judge a better setting.
#[test]
fn the_defaults_are_judged_by_sessions_enough_too() {
    let verdict = |range: &str| {
        let vary = format!("reserveTokens={range}");
        let shown = sweep(&["transcripts/pi", "-q", "-p", "pi", "--vary", &vary]);
        let text = String::from_utf8_lossy(&shown.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("Cannot judge: it takes 5 sessions"), "{text}");
        assert!(!text.contains("Keep the defaults"), "{text}");
        text
    };
    let first = verdict("2k..16k:7k");
    assert!(first.contains("the defaults of pi@1.5 come out first") && !first.contains(" best "), "{first}");
}

#[test]
fn a_session_without_a_call_is_in_no_cluster() {
    let trace = |session: u64, project: u64, calls: &[CallRow]| Trace {
        id: format!("s{session}"),
        project: Some(project),
        calls: calls.to_vec().into(),
        ..Trace::default()
    };
    let one = [call(0)];
    let mut traces: Vec<Trace> = (0..12).map(|session| trace(session, session % 4, &one)).collect();
    let before = sample(&traces);
    assert_eq!((before.by, before.clusters(), before.projects), (DrawnBy::Sessions, 12, 4));
    traces.push(trace(12, 4, &[]));
    let after = sample(&traces);
    assert_eq!((after.by, after.clusters(), after.projects, after.sizes()), (DrawnBy::Sessions, 12, 4, before.sizes()));
    // One whose cost is not known makes no project, and one with a call that can be compared does.
    traces.push(trace(13, 5, &one));
    let (unpriced, all) = (
        sample_of(
            &traces,
            (0..14).map(|place| match place {
                12 => Part::Out,
                13 => Part::Drawn,
                _ => Part::Judged,
            }),
        ),
        sample(&traces),
    );
    assert_eq!((unpriced.by, unpriced.clusters(), all.by, all.clusters()), (DrawnBy::Sessions, 13, DrawnBy::Projects, 5));
}

/// What was typed with `--set` is no configuration of the agent's own, and the row that others are compared with is shown wherever it stands.
#[test]
fn what_is_compared_with_is_named_and_shown() {
    let shown = |words: &[&str]| {
        let shown = ctxsim(&["sweep", LOGS, "-q"]).args(words).columns(80).stdout();
        assert!(shown.lines().count() <= 30, "{shown}");
        (shown.split_whitespace().collect::<Vec<_>>().join(" "), shown)
    };
    let vary = ["-p", "opencode", "--vary", "prune_protect=1k..120k:1k"];
    let (given, table) = shown(&[&vary[..], &["--set", "prune=1"]].concat());
    assert!(given.contains("the settings given") && table.contains("given") && !given.contains("your"), "{table}");
    assert!(table.lines().any(|line| line.contains("(given)")) && table.contains(" more: --all"), "{table}");
    let (unset, table) = shown(&["-p", "codex", "--vary", "model_auto_compact_token_limit=50k..250k:50k"]);
    assert!(
        unset.contains("the defaults") && !unset.contains("given") && table.contains("(defaults)") | table.contains("\ndefaults"),
        "{table}"
    );
    assert!(!unset.contains(" against $") || unset.contains(" of codex@"), "{table}");
}

/// Where the agent's versions have several presets, what all of them cost stands beside the one that is swept.
#[test]
fn a_mix_of_versions_costs_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    for (version, prompts) in
        [("2.1.20", [20, 90, 140, 150, 151, 152, 153, 157, 160]), ("2.1.45", [21, 95, 141, 151, 157, 161, 165, 167, 170])]
    {
        Made::new(version, version).calls(&prompts).write(folder.path(), &format!("{version}.jsonl"));
    }
    let path = folder.path().to_string_lossy().into_owned();
    let shown = ctxsim(&["sweep", &path, "-q", "-p", "claude-code", "--vary", "buffer=5k..40k:5k"]).stdout();
    let replayed = ctxsim(&["replay", &path, "-q", "-p", "claude-code"]).columns(120).stdout();
    let row = |name: &str| replayed.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{replayed}"));
    let cost = |name: &str| row(name).split_whitespace().find(|word| word.starts_with('$')).unwrap_or_default().to_owned();
    let (mixed, alone) = (cost("claude-code (defaults)"), cost("claude-code@early"));
    let said =
        format!("Each session by the preset of its version (claude-code (defaults)) costs {mixed}, all by claude-code@early {alone}.");
    assert!(mixed != alone && shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(&said), "{said} {shown}");
}
