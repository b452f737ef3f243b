//! Of many policies a chart shows those that tell most, and says how many there are; a few are all shown.

use crate::made::{Native, Tables};
use crate::support::{project, rows};
use crate::truth::corpus;
use ctxsim::corpus::Corpus;
use ctxsim::cost::{CacheKind, Split, Tariff};
use ctxsim::experiment::{Replay, ReplaySettings, price, reads, replay};
use ctxsim::policy::{Policy, presets};
use ctxsim::render::chart::{Look, svg};
use ctxsim::report::Cell;
use ctxsim::report::chart::{Bar, Chart, Drawing, Form, Hue, Material, Series, by_name};
use serde_json::json;
use std::collections::BTreeSet;

/// A small corpus under all presets, priced.
fn replayed(check: impl Fn(&Corpus, &[Replay], &Tariff<'_>)) {
    let tables = Tables::builtin();
    let corpus = corpus(&tables.catalog, &[&project().join("transcripts/pi"), &project().join("transcripts/codex")]);
    let policies: Vec<Policy> = presets().iter().map(|preset| Policy::load(preset.name).unwrap()).collect();
    let mut replays = replay(&corpus, &policies, &ReplaySettings::new(&tables.catalog)).unwrap();
    let tariff = tables.tariff();
    price(&corpus, &mut replays, &tariff);
    check(&corpus, &replays, &tariff);
}

fn drawn(kind: &str, corpus: &Corpus, replays: &[Replay]) -> Chart {
    let material = Material { replays, cache: CacheKind::Modelled, ..Material::of(corpus) };
    by_name(kind).unwrap().chart(&material).unwrap()
}

fn cached(corpus: &Corpus, reads: &[(&Replay, Vec<Split>)]) -> Chart {
    by_name("cache").unwrap().chart(&Material { reads, ..Material::of(corpus) }).unwrap()
}

fn series(chart: &Chart) -> &[Series] {
    let Drawing::Plot(plot) = &chart.drawing else { panic!("{} is no plot", chart.kind) };
    &plot.series
}

fn policies(chart: &Chart) -> Vec<&Series> {
    series(chart).iter().filter(|series| matches!(series.hue, Hue::Other(_))).collect()
}

fn in_data(chart: &Chart) -> usize {
    let name = |row: &Vec<Cell>| match row.first() {
        Some(Cell::Name(name)) => name.clone(),
        other => panic!("{other:?}"),
    };
    chart.data.rows.iter().map(name).collect::<BTreeSet<String>>().len()
}

#[test]
fn twelve_of_many_policies_are_drawn_and_the_others_counted() {
    replayed(|corpus, replays, tariff| {
        let all = replays.len();
        assert!(all > 40, "{all}");
        let told = format!("And {} more: of {all} policies the 6 best and the 6 worst by", all - 12);
        let read = reads(corpus, replays.iter(), tariff);
        for chart in [
            drawn("survival", corpus, replays),
            cached(corpus, &read),
            drawn("cost", corpus, replays),
            drawn("references", corpus, replays),
        ] {
            assert_eq!(policies(&chart).len(), 12, "{}", chart.kind);
            assert!(chart.notes[0].starts_with(&told), "{}: {}", chart.kind, chart.notes[0]);
            assert!(in_data(&chart) >= all, "{}: the data holds all of them", chart.kind);
            // Whoever the title speaks of can be seen.
            let spoken = replays.iter().filter(|replay| chart.title.split([' ', ';', ':', ',']).any(|word| word == replay.policy));
            for replay in spoken {
                assert!(policies(&chart).iter().any(|series| series.name == replay.policy), "{}: {}", chart.title, replay.policy);
            }
        }
        for chart in [drawn("peaks", corpus, replays), drawn("stages", corpus, replays)] {
            let Drawing::Bars(bars) = &chart.drawing else { panic!("{}", chart.kind) };
            assert!((24..=25).contains(&bars.rows.len()), "{}", bars.rows.len());
            assert!(chart.notes[0].contains("the 12 best and the 12 worst"), "{}", chart.notes[0]);
        }
        // A few are all there, and nothing is said.
        let few = drawn("survival", corpus, &replays[..12]);
        assert!(policies(&few).len() == 12 && !few.notes[0].starts_with("And"), "{}", few.notes[0]);
    });
}

#[test]
fn no_dot_stands_beyond_the_front_and_the_oracle_has_a_mark_of_its_own() {
    replayed(|corpus, replays, _| {
        for some in [&replays[..1], &replays[..4], replays] {
            let chart = drawn("cost", corpus, some);
            let front = series(&chart).iter().find(|series| series.form == Form::Steps).unwrap();
            // The height of the front above a cost: that of the last step up to it.
            let height = |cost: f64| front.points.iter().filter(|(x, _)| *x <= cost).map(|(_, y)| *y).fold(f64::MIN, f64::max);
            let dots: Vec<(f64, f64)> =
                series(&chart).iter().filter(|series| series.form == Form::Dots).flat_map(|series| series.points.clone()).collect();
            assert_eq!(dots.len(), some.len());
            assert!(dots.iter().all(|(cost, saved)| *saved <= height(*cost) && *cost >= front.points[0].0), "{:?} {dots:?}", front.points);
            assert!(front.points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1), "{:?}", front.points);
        }
        let chart = drawn("references", corpus, &replays[..6]);
        let oracle: Vec<&Series> = series(&chart).iter().filter(|series| series.hue == Hue::Recorded).collect();
        assert!(oracle.len() == 1 && oracle[0].points.len() == 6 && oracle[0].name.contains("best possible"));
    });
}

#[test]
fn titles_keys_and_sizes_say_what_is_there() {
    replayed(|corpus, replays, tariff| {
        // Without an overflow the key names none.
        let calm = replays.iter().find(|replay| replay.totals.overflows == 0).unwrap();
        let chart = drawn("overflows", corpus, std::slice::from_ref(calm));
        let Drawing::HeatMap(map) = &chart.drawing else { panic!() };
        assert!(map.alarm.is_none() && chart.title.contains("no call of"), "{}", chart.title);
        let worst = replays.iter().find(|replay| replay.totals.overflows > 0).unwrap();
        let Drawing::HeatMap(map) = &drawn("overflows", corpus, std::slice::from_ref(worst)).drawing else { panic!() };
        assert!(map.alarm.is_some());
        // The cache's chart says what was found, of one policy and of several.
        let read = reads(corpus, replays.iter(), tariff);
        assert!(cached(corpus, &read[..1]).title.starts_with("The modelled cache reads "));
        let title = cached(corpus, &read).title;
        assert!(title.matches('%').count() == 2 && title.contains(" under "), "{title}");
    });
}

#[test]
fn letters_that_the_font_lacks_stay_in_the_svg() {
    let folder = tempfile::tempdir().unwrap();
    let log = Native::new(json!({"session": "会话一", "agent": "pi", "window": 8000}));
    log.asked("a question", "an answer", 300, 4).write(folder.path(), "log.jsonl");
    let tables = Tables::builtin();
    let corpus = corpus(&tables.catalog, &[folder.path()]);
    let policies = [Policy::load("none").unwrap()];
    let replays = replay(&corpus, &policies, &ReplaySettings::new(&tables.catalog)).unwrap();
    let chart = drawn("overflows", &corpus, &replays[..1]);
    let text = svg(&chart, Look::default());
    assert!(text.contains("会话一") && !text.contains("Frames stand"), "{text}");
    // The PNG is taller in notes: it says what its frames are, which a chart of the same letters as Latin ones does not.
    let png = |chart: &Chart| ctxsim::render::chart::png(chart, Look::default()).unwrap();
    let mut latin = chart.clone();
    if let Drawing::HeatMap(map) = &mut latin.drawing {
        map.rows = vec!["abc".to_owned()];
    }
    let mut told = latin.clone();
    told.notes.insert(
        0,
        "Frames stand for letters that the font of this picture lacks; the same chart as SVG shows them, and so does the data beside it."
            .to_owned(),
    );
    assert!(png(&latin) != png(&told));
    assert!(png(&chart).len() > png(&latin).len() + 1_000, "{} {}", png(&chart).len(), png(&latin).len());
    let peak = drawn("peaks", &corpus, &replays);
    let Drawing::Bars(bars) = &peak.drawing else { panic!() };
    assert!(bars.rows.iter().all(|row| row.value == "median 300"), "small contexts are not rounded to nothing");
}

/// A dot of `sweep-trade` is a row of `sweep --csv`: its cost, and the share of the reused lines that it keeps.
#[test]
fn a_trade_is_that_of_the_sweep() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = folder.path().join("trade.svg").to_string_lossy().into_owned();
    let sweep = ["transcripts/pi", "-p", "pi", "--window", "100k", "--vary", "keepRecentTokens=10k,20k,60k"];
    crate::support::ctxsim(&["chart", "sweep-trade"]).args(sweep).args(["-o", &drawn]).code(0);
    let told = crate::support::ctxsim(&["sweep"]).args(sweep).args(["--csv", "--quiet"]).stdout();
    let dots = std::fs::read_to_string(folder.path().join("trade.csv")).unwrap();
    let of = |text: &str, keys: [&str; 4]| -> Vec<Vec<String>> {
        let mut rows: Vec<Vec<String>> = rows(text).iter().map(|row| keys.map(|key| row[key].clone()).to_vec()).collect();
        rows.sort();
        rows
    };
    let dots = of(&dots, ["setting", "value", "kept_share", "failed_sessions"]);
    assert_eq!(dots, of(&told, ["setting", "objective", "references_kept_share", "failed_sessions"]));
    assert!(dots.len() == 3 && dots.iter().any(|dot| dot[3] != "0"), "{dots:?}");
}

/// Sessions with and without recorded usage, and one without a call.
fn partly_recorded() -> (tempfile::TempDir, Tables) {
    let folder = tempfile::tempdir().unwrap();
    for (name, prompt) in [("a", Some(1_000)), ("b", Some(3_000)), ("c", None)] {
        let log = Native::new(json!({"session": name})).line(json!({"role": "user", "text": format!("hello {name}")}));
        let usage = prompt.map(|prompt| json!({"prompt": prompt, "output": 5}));
        log.line(json!({"role": "assistant", "text": "hi", "usage": usage})).write(folder.path(), &format!("{name}.jsonl"));
    }
    let alone = Native::new(json!({"session": "d"})).line(json!({"role": "user", "text": "nothing came"}));
    alone.write(folder.path(), "d.jsonl");
    (folder, Tables::builtin())
}

/// What is recorded stands in the logs: a prompt that is estimated is in no row of that name.
#[test]
fn recorded_peaks_are_those_of_the_logs() {
    let (folder, tables) = partly_recorded();
    let corpus = corpus(&tables.catalog, &[folder.path()]);
    let replays = replay(&corpus, &[Policy::load("none").unwrap()], &ReplaySettings::new(&tables.catalog)).unwrap();
    let chart = drawn("peaks", &corpus, &replays);
    let Drawing::Bars(bars) = &chart.drawing else { panic!() };
    let singles = |row: usize| match &bars.rows[row].bar {
        Bar::Range { singles, .. } => singles.clone(),
        Bar::Stack(_) => Vec::new(),
    };
    assert_eq!((bars.rows[0].name.as_str(), singles(0)), ("recorded", vec![1_000.0, 3_000.0]));
    assert_eq!(singles(1).len(), 3);
    assert!(
        chart.notes.contains(&"Not in the row `recorded`: 1 session whose log holds no size of a prompt.".to_owned()),
        "{:?}",
        chart.notes
    );
}

/// Charts of overflows count the sessions that have a call.
#[test]
fn sessions_without_a_call_are_not_counted() {
    let (folder, tables) = partly_recorded();
    let corpus = corpus(&tables.catalog, &[folder.path()]);
    assert_eq!(corpus.traces.len(), 4);
    for (window, titles) in [
        (None, ["Without a policy no call of 3 sessions overflows", "No session hits the window under any of these policies"]),
        (Some(2_000), ["Without a policy, 1 overflow in 1 of 3 sessions", "1 of 3 sessions hits the window without a policy"]),
    ] {
        let settings = ReplaySettings { window, ..ReplaySettings::new(&tables.catalog) };
        let replays = replay(&corpus, &[Policy::load("none").unwrap()], &settings).unwrap();
        assert_eq!(["overflows", "survival"].map(|kind| drawn(kind, &corpus, &replays).title), titles);
    }
}
