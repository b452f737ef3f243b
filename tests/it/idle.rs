//! Pauses between calls: remedies by hand, sessions that were never resumed, and an independent script over real files.

use crate::cache::{Log, with};
use crate::made::Native;
use crate::support::{ctxsim, files, project, scripted, shared};
use ctxsim::corpus::Corpus;
use ctxsim::cost::Tariff;
use ctxsim::experiment::idle::{Idle, Remedy, Spent, idle};
use ctxsim::report::chart::{Drawing, Material, by_name};
use serde_json::json;
use std::path::PathBuf;

/// A pause of twelve minutes behind 100,000 tokens that are kept for five; then the session ends.
fn paused() -> Log {
    let mut log = Log::new("claude-opus-4-6");
    log.user(0).says(0, 100_000).user(12 * 60).says(0, 100_500);
    log
}

fn found(logs: &[Log]) -> Idle {
    written(logs, idle)
}

fn written<T>(logs: &[Log], look: impl Fn(&Corpus, &Tariff<'_>) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    for (place, log) in logs.iter().enumerate() {
        log.write_as(&folder.path().join(format!("s{place}.jsonl")), &format!("s{place}"));
    }
    with(&[folder.path().to_owned()], look)
}

/// Reading costs 500 thousand-millionths of a dollar a token, writing 6,250, output 25,000. A ping goes out after four and a half minutes.
#[test]
fn remedies_by_hand() {
    let found = found(&[paused()]);
    let class = found.classes.iter().find(|class| class.floor == 0).unwrap();
    assert_eq!((class.lifetime, class.resumed, class.cold, class.never), (300_000, 1, 1, 1));
    let spent = |remedy: Remedy| class.spent[&remedy];
    let (read, read_at_end) = (50_000_000, 50_250_000);
    assert_eq!(spent(Remedy::Nothing), Spent { resumed: 575_000_000, never: 0 });
    // One ping keeps the prompt for nine and a half minutes: it is paid for without effect.
    assert_eq!(spent(Remedy::Pings(1)), Spent { resumed: read + 575_000_000, never: read_at_end });
    assert_eq!(spent(Remedy::Pings(2)), Spent { resumed: 2 * read, never: 2 * read_at_end });
    assert_eq!(spent(Remedy::Pings(5)), Spent { resumed: 2 * read, never: 5 * read_at_end });
    // The summary of 3,000 tokens, and a prompt that is no smaller than before: the session's first one and what is put back.
    assert_eq!(spent(Remedy::Compact), Spent { resumed: 3_000 * 25_000 + 625_000_000, never: read_at_end + 3_000 * 25_000 });
    let [point] = found.break_even.as_slice() else { panic!("{:?}", found.break_even) };
    // (6.25 - 0.50) / 0.50 is 11.5: eleven pings, one after 4.5 minutes each, and as long again before a twelfth is due.
    assert_eq!((point.pings, point.gap), (Some(11), Some(12 * 270_000)));
    // Where no log says more, a summary of 3,000 tokens, 2,000 beside it and five files of 5,000 come back.
    assert_eq!(point.tokens, Some((3_000 * 25_000 + 130_003 * 6_250) / 5_750));
    let cold = |found: &Idle| (found.recorded_cold().breaks, found.recorded_cold().nano_usd);
    assert_eq!(cold(&found), (1, 575_000_000));
}

/// A cache may keep what it holds for longer than it promises: a pause whose next call reads it costs nothing, one whose next call reads half of it half as much.
#[test]
fn a_pause_costs_what_the_next_call_paid_for_again() {
    let read = |tokens: u64| {
        let mut log = Log::new("claude-opus-4-6");
        log.user(0).says(0, 100_000).user(12 * 60).says(tokens, 100_500 - tokens);
        log
    };
    let sums = |log: Log| {
        let found = found(&[log]);
        let class = found.classes.iter().find(|class| class.floor == 0).unwrap();
        let resumed = |remedy: Remedy| class.spent[&remedy].resumed;
        assert!(found.pauses.iter().filter(|pause| pause.length.is_some()).all(|pause| pause.outlasts()));
        assert_eq!(resumed(Remedy::Nothing), found.recorded_cold().nano_usd);
        (class.cold, resumed(Remedy::Nothing), resumed(Remedy::Pings(1)))
    };
    assert_eq!(sums(read(100_000)), (0, 0, 50_000_000));
    assert_eq!(sums(read(99_000)), (0, 0, 50_000_000));
    assert_eq!(sums(read(50_000)), (1, 287_500_000, 337_500_000));
}

/// Pauses and dollars of both lifetimes add up to what the first sentence says, also where a call paid for its prompt as new input.
#[test]
fn the_classes_add_up_to_the_sentence() {
    let paused = |seconds: i64, tokens: u64, long: bool, write: u64| {
        let mut log = Log::new("claude-opus-4-6");
        log.user(0);
        if long {
            log.says_for_an_hour(0, tokens)
        } else {
            log.says(0, tokens)
        };
        log.user(seconds).says_with_input(tokens + 500 - write, write);
        log
    };
    let mut logs = vec![paused(12 * 60, 60_000, false, 60_500), paused(12 * 60, 60_000, false, 0), paused(285, 60_000, false, 60_500)];
    logs.extend((0..5).flat_map(|_| [paused(2 * 3_600, 110_000, true, 0), paused(20 * 3_600, 20_000, true, 0)]));
    let found = found(&logs);
    let all = || found.classes.iter().filter(|class| class.floor == 0);
    assert_eq!(all().map(|class| (class.lifetime, class.resumed, class.cold)).collect::<Vec<_>>(), [(300_000, 3, 2), (3_600_000, 10, 10)]);
    let cold = found.recorded_cold();
    assert_eq!((found.resumed(), cold.breaks), (13, 12));
    // New input costs 5,000 thousand-millionths of a dollar a token, and a read 500.
    let of_an_hour = 5 * (110_000 + 20_000) * 4_500;
    let input = 60_000 * 5_750 + 60_000 * 4_500 + of_an_hour;
    assert_eq!((all().map(|class| class.cost(Remedy::Nothing, true)).sum::<u64>(), cold.nano_usd), (input, input));
    // Pings pay in large contexts alone, and doing nothing costs what it costs in all.
    let advised = written(&logs, |corpus, tariff| {
        idle(corpus, tariff).recommended(corpus, 3_600_000, false).map(|one| (one.class.floor, one.nothing_nano_usd))
    });
    assert_eq!(advised, Some((100_000, of_an_hour)));
}

/// The call that ends a pause has a price of its own: here that of prompts above 200,000 tokens.
#[test]
fn the_call_that_ends_a_pause_pays_its_own_price() {
    let mut log = Log::new("claude-sonnet-4-5");
    log.user(0).says(0, 199_000).user(12 * 60).says(0, 210_000);
    let found = found(&[log]);
    let class = found.classes.iter().find(|class| class.floor == 0).unwrap();
    let resumed = |remedy: Remedy| class.spent[&remedy].resumed;
    let cold = found.recorded_cold();
    assert_eq!((resumed(Remedy::Nothing), cold.breaks, cold.nano_usd), (199_000 * 6_900, 1, 199_000 * 6_900));
    // Pings and the summary are requests within the pause, and what a compaction leaves is below the tier.
    assert_eq!(resumed(Remedy::Pings(1)), 199_000 * (300 + 6_900));
    assert_eq!(resumed(Remedy::Compact), 199_000 * (300 + 3_750 - 600) + 3_000 * 15_000);
}

/// What is cheapest depends on sessions that were never resumed.
#[test]
fn sessions_that_were_never_resumed_turn_the_answer_round() {
    let mut once = Log::new("claude-opus-4-6");
    once.user(0).says(0, 120_000);
    let mut logs: Vec<Log> = (0..40).map(|_| once.clone()).collect();
    logs.extend((0..5).map(|_| paused()));
    // Fewer than five sessions with a pause say nothing.
    let recommended = |logs: &[Log], with_never: bool| {
        written(logs, |corpus, tariff| idle(corpus, tariff).recommended(corpus, 300_000, with_never).map(|advice| advice.remedy().0))
    };
    assert_eq!(recommended(&logs[..44], true), None);
    assert_eq!((recommended(&logs, true), recommended(&logs, false)), (Some(Remedy::Nothing), Some(Remedy::Pings(2))));
    let folder = tempfile::tempdir().unwrap();
    for (place, log) in logs.iter().enumerate() {
        log.write_as(&folder.path().join(format!("s{place}.jsonl")), &format!("s{place}"));
    }
    let run = |arguments: &[&str]| ctxsim(arguments).within(folder.path()).columns(80).stdout();
    let screen = run(&["idle", ".", "--quiet"]);
    assert!(screen.contains("Without sessions never resumed: "), "{screen}");
    insta::assert_snapshot!("idle", screen);
    let record: serde_json::Value = serde_json::from_str(&run(&["idle", ".", "--quiet", "--json"])).unwrap();
    assert_eq!((&record["schema"], &record["recommended"][0]["changes"]), (&"ctxsim.idle/2".into(), &true.into()));
    assert_eq!(record["never_resumed"], 45);
    // All sessions with a pause have the same one: $0.100 instead of $0.575.
    let without = &record["recommended"][0]["without"];
    assert_eq!(["share", "share_p05", "share_p95"].map(|key| (without[key].as_f64().unwrap() * 1e3).round()), [-826.0; 3]);
    logs.truncate(43);
    std::fs::remove_dir_all(folder.path()).unwrap();
    std::fs::create_dir(folder.path()).unwrap();
    for (place, log) in logs.iter().enumerate() {
        log.write_as(&folder.path().join(format!("s{place}.jsonl")), &format!("s{place}"));
    }
    let few = run(&["idle", ".", "--quiet"]);
    assert!(few.contains("fewer than 5 independent sessions with a pause: too few to recommend") && !few.contains("instead of"), "{few}");
    // Five projects of which three have a pause are too few to draw projects: sessions are counted as before.
    for (place, path) in files(folder.path()).iter().enumerate() {
        let log = std::fs::read_to_string(path).unwrap();
        std::fs::write(path, log.replace("{\"type\":", &format!("{{\"cwd\":\"/home/p{}\",\"type\":", place % 5))).unwrap();
    }
    let few = run(&["idle", ".", "--quiet"]);
    assert!(few.contains("fewer than 5 independent sessions with a pause: too few to recommend"), "{few}");
}

/// A sub-agent that has ended waits for nothing.
#[test]
fn the_end_of_a_sub_agent_is_no_pause() {
    let found = with(&[project().join("transcripts/claude-code/inline-sub-agent.jsonl")], |corpus, tariff| {
        let ends: Vec<bool> = idle(corpus, tariff)
            .pauses
            .iter()
            .filter(|pause| pause.length.is_none())
            .map(|pause| corpus.traces[pause.session].parent.is_some())
            .collect();
        (corpus.traces.len(), ends)
    });
    assert!(found.0 > 1 && found.1.iter().all(|sub_agent| !sub_agent), "{found:?}");
}

/// The same pauses and sums, lifetime by lifetime and remedy by remedy.
#[test]
fn an_independent_script_comes_to_the_same_tables() {
    let root = project();
    let mut paths: Vec<PathBuf> = files(&root.join("transcripts/claude-code"));
    paths.extend(
        shared()
            .iter()
            .flat_map(|folder| ["transcripts", "transcripts-2"].map(|name| folder.join(name).join("claude-code")))
            .flat_map(|folder| files(&folder)),
    );
    paths.retain(|path| path.is_file());
    let found = with(&paths, idle);
    let rest = found.pauses[0].rest;
    assert!(found.pauses.iter().all(|pause| pause.rest == rest));
    let pings = found.break_even.iter().filter_map(|one| one.pings).max().unwrap();
    let Some(mut script) = scripted("idle.py") else { return };
    let output = script
        .arg(root.join("catalog"))
        .args(&paths)
        .env("IDLE_REST", format!("{},{}", rest.prompt, rest.summary))
        .env("IDLE_PINGS", pings.to_string())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mine: Vec<String> = found
        .classes
        .iter()
        .flat_map(|class| class.spent.iter().map(move |(remedy, spent)| (class, remedy, spent)))
        .map(|(class, remedy, spent)| {
            let name = match remedy {
                Remedy::Nothing => "nothing".to_owned(),
                Remedy::Pings(pings) => format!("pings {pings}"),
                Remedy::Compact => "compact".to_owned(),
            };
            let counts = format!("{}\t{}\t{}", class.resumed, class.cold, class.never);
            format!("{}\t{}\t{name}\t{counts}\t{}\t{}", class.lifetime / 1_000, class.floor, spent.resumed, spent.never)
        })
        .collect();
    let text = String::from_utf8(output.stdout).unwrap();
    let theirs: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(mine.len(), theirs.len());
    for (mine, theirs) in mine.iter().zip(theirs) {
        let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<String>>();
        let (mine, theirs) = (cells(mine), cells(theirs));
        assert_eq!(mine[..6], theirs[..6]);
        for place in 6..8 {
            let [one, other] = [&mine, &theirs].map(|cells| cells[place].parse::<f64>().unwrap());
            assert!((one - other).abs() <= 1e-6 * other + 100.0, "{mine:?}, {theirs:?}");
        }
    }
}

/// Lines and title are of one model: that with most pauses, at its prices, with the median of its own contexts.
#[test]
fn the_chart_of_pauses_is_of_one_model() {
    let pauses = |model: &'static str, tokens: &[u64]| {
        let log = |tokens: &u64| {
            let mut log = Log::new(model);
            log.user(0).says(0, *tokens).user(12 * 60).says(0, *tokens);
            log
        };
        tokens.iter().map(log).collect::<Vec<Log>>()
    };
    let logs = [pauses("claude-haiku-4-5", &[120_000, 130_000, 140_000]), pauses("claude-opus-4-6", &[600_000, 700_000])].concat();
    let (chart, point) = written(&logs, |corpus, tariff| {
        let found = idle(corpus, tariff);
        let chart = by_name("pauses").unwrap().chart(&Material { idle: Some(&found), ..Material::of(corpus) }).unwrap();
        (chart, found.break_even.into_iter().next().unwrap())
    });
    assert_eq!((point.model.as_str(), point.typical.tokens), ("claude-haiku-4-5", 130_000));
    assert!(
        chart.title.starts_with("claude-haiku-4-5: ") && chart.subtitle.contains(": 130k tokens in a"),
        "{} {}",
        chart.title,
        chart.subtitle
    );
    let Drawing::Plot(plot) = &chart.drawing else { panic!() };
    // At the end of the pause that the title names pings cost no more than going cold, and behind it they do.
    let at = |name: &str, minutes: f64| {
        let line = plot.series.iter().find(|series| series.name == name).unwrap();
        line.points.iter().rev().find(|(x, _)| *x <= minutes).unwrap().1
    };
    let gap = point.gap.unwrap() as f64 / 60_000.0;
    let [before, behind] = [gap, gap + 0.1].map(|minutes| (at("pings as they come due", minutes), at("do nothing", minutes)));
    assert!(before.0 <= before.1 && behind.0 > behind.1, "{before:?} {behind:?}");
}

/// Without usage it is not the times that are lacking.
#[test]
fn logs_without_usage_are_told_from_logs_without_times() {
    let folder = tempfile::tempdir().unwrap();
    let log = |usage: bool| {
        let begun = Native::new(json!({"model": "claude-opus-4-6"}));
        let log = (0..3).fold(begun, |log, call| {
            let mut reply = json!({"role": "assistant", "text": "done", "time": 1_772_000_000_000_i64 + call * 900_000});
            if usage {
                reply["usage"] = json!({"prompt": 9_000, "output": 10});
            }
            log.line(json!({"role": "user", "text": "go on", "time": 1_772_000_000_000_i64 + call * 900_000 - 1_000})).line(reply)
        });
        ctxsim(&["idle", &log.write(folder.path(), "s.jsonl"), "-q"]).stdout()
    };
    let (without, with) = (log(false), log(true));
    assert!(without.contains("No log has recorded usage: what caches held in its pauses is not known."), "{without}");
    assert!(with.contains("No log has times and a cache that promises a lifetime."), "{with}");
}
