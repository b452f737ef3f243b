//! Charts: each kind as it is drawn from the sample corpus; words that never meet and are never cut; the same bytes; files from outside.

use crate::support::{Program, project};
use ctxsim::catalog::{CacheRules, Catalog, Prices};
use ctxsim::corpus::{Corpus, ReadSettings, Vocabularies, read};
use ctxsim::cost::{CacheKind, Tariff};
use ctxsim::experiment::drift::{Basis, DriftSettings, Use, pairs};
use ctxsim::experiment::validate::{PairBy, Sides, labels, predicted, recorded as recorded_runs, validate};
use ctxsim::experiment::{
    Design, Dimension, Direction, Measure, Objective, ReplaySettings, Sweep, check_model, own_agents, plan_for, price, reads, recorders,
    recording, replay, settings, with_own,
};
use ctxsim::measure::{Kinds, Recall, Wanted};
use ctxsim::policy::Policy;
use ctxsim::render::chart::{Look, Size, Theme, csv, png, svg};
use ctxsim::report::chart::{
    Axis, Chart, Drawing, Form, Hue, KINDS, Life, Limit, Marks, Material, Named, Place, Plot, Quantity, Scale, Series, Symbol, by_name,
};
use ctxsim::report::{Baselines, Body, Provenance, Swept, Table, curve};
use std::fs;
use std::sync::OnceLock;

const SIZES: [Size; 4] = [Size::LEAST, Size::SMALL, Size::MEDIUM, Size::LARGE];

/// A chart of each kind over the sample corpus, made once.
fn charts() -> &'static [Chart] {
    static CHARTS: OnceLock<Vec<Chart>> = OnceLock::new();
    CHARTS.get_or_init(|| {
        let catalog = Catalog::builtin().unwrap();
        of_every_kind(&catalog, &samples(&catalog))
    })
}

fn samples(catalog: &Catalog) -> Corpus {
    let settings = ReadSettings {
        vocabularies: Vocabularies::Public,
        wanted: Wanted { references: Recall::References, kinds: Kinds::Told },
        ..ReadSettings::new(catalog)
    };
    read(&[project().join("transcripts").to_string_lossy().into_owned()], &settings).unwrap()
}

/// A sentence that generalises needs five cases, and five sessions, to do so from.
#[test]
fn few_cases_are_told_as_such() {
    let catalog = Catalog::builtin().unwrap();
    let mut corpus = samples(&catalog);
    let lines = |corpus: &Corpus| match curve(corpus, 200_000).sections.swap_remove(0).body {
        Body::Lines(lines) => lines.join("\n"),
        _ => String::new(),
    };
    let title = |corpus: &Corpus| drawn("reuse", &Material::of(corpus)).title;
    assert!(lines(&corpus).contains("the curve bends at") && !lines(&corpus).contains("too few"), "{}", lines(&corpus));
    assert!(title(&corpus).contains(" % of the reused lines of tool results"), "{}", title(&corpus));
    // Hundreds of references of one session are one case.
    let fullest = corpus.traces.iter().map(|trace| trace.calls.len()).max().unwrap();
    corpus.traces.keep(|_, trace| trace().calls.len() == fullest);
    let few = "to tool results in 1 session: too few to say where a limit should stand (5 of both at the least)";
    assert!(lines(&corpus).contains(few) && !lines(&corpus).contains("bends"), "{}", lines(&corpus));
    let screen = format!("{:?}", curve(&corpus, 200_000).screen);
    assert!(screen.contains("too few to say") && !screen.contains("newest presets would keep"), "{screen}");
    assert!(title(&corpus).ends_with("in 1 session: too few to conclude from"), "{}", title(&corpus));

    let none = [Policy::load("none").unwrap()];
    let conditions = ReplaySettings { window: Some(20_000), ..ReplaySettings::new(&catalog) };
    let title = |corpus: &Corpus| {
        let replays = replay(corpus, &none, &conditions).unwrap();
        drawn("survival", &Material { replays: &replays, ..Material::of(corpus) }).title
    };
    assert_eq!(title(&corpus), "1 of 1 session hits the window without a policy");
    let half = title(&samples(&catalog));
    assert!(half.starts_with("Half of the sessions hit the window before call "), "{half}");
}

fn of_every_kind(catalog: &Catalog, corpus: &Corpus) -> Vec<Chart> {
    let policies: Vec<Policy> = ["none", "baseagent", "opencode", "codex", "pi", "picoclaw"].map(|name| Policy::load(name).unwrap()).into();
    let conditions = ReplaySettings::new(catalog);
    let mut replays = replay(corpus, &policies, &conditions).unwrap();
    let (prices, caches) = (Prices::builtin().unwrap(), CacheRules::builtin().unwrap());
    let tariff = Tariff { catalog, prices: &prices, caches: &caches, model: None, gap_millis: 0 };
    price(corpus, &mut replays, &tariff);
    let mut own = own_agents(corpus, &recorders().unwrap(), &[], &conditions).unwrap();
    own.iter_mut().for_each(|own| price(corpus, std::slice::from_mut(&mut own.replay), &tariff));
    let (recorded, checks) = (recording(corpus, &tariff), check_model(corpus, &tariff));
    let fullest = (0..corpus.traces.len()).max_by_key(|place| corpus.traces[*place].largest_prompt()).unwrap();
    let opencode = replays.iter().zip(&policies).skip(2).take(1);
    let lives: Vec<Life<'_>> = opencode
        .map(|(replay, policy)| {
            let (plan, conditions) = plan_for(corpus, policy, &conditions, fullest).unwrap().unwrap();
            Life { replay, plan, conditions, is_own: false }
        })
        .collect();
    let drift_settings = DriftSettings {
        compared: &policies[1..],
        replayed: &[],
        replay: ReplaySettings::new(catalog),
        basis: Basis::Tokens,
        vocabularies: Vocabularies::Public,
    };
    let paired = pairs(corpus, &drift_settings).unwrap();
    let baselines = Baselines { recording: Some(&recorded), own: own.as_ref() };
    let read = reads(corpus, baselines.with_own(&replays), &tariff);
    let paused = ctxsim::experiment::idle::idle(corpus, &tariff);
    // The sessions held against themselves: what a policy changes was not measured.
    let labels = labels(corpus, Some(PairBy::Id));
    let untouched = recorded_runs(corpus, &tariff, &labels);
    let side = |policy: &Policy| Sides {
        name: policy.name.clone(),
        before: untouched.clone(),
        predicted: predicted(corpus, policy, &conditions, (&tariff, CacheKind::Modelled), &labels).unwrap(),
        after: untouched.clone(),
    };
    let held = validate(policies.iter().skip(1).map(side).collect());
    let material = Material {
        idle: Some(&paused),
        validation: Some(&held),
        replays: &replays,
        baselines,
        checks: Some(&checks),
        cache: CacheKind::Modelled,
        reads: &read,
        pairs: Some(&paired),
        used: Use::Request,
        session: (fullest, &lives),
        ..Material::of(corpus)
    };
    let varied: [&[&str]; 2] =
        [&["auto_compact_threshold=0.4..0.9:0.1"], &["auto_compact_threshold=0.4..0.9:0.1", "prune_protect=10k..80k:10k"]];
    let of_kind = |name: &'static str| match name {
        "sweep" | "sweep-trade" => swept(material, &conditions, varied[0], name),
        "sweep-map" => swept(material, &conditions, varied[1], name),
        "overflows" => drawn(name, &Material { replays: &replays[..1], ..material }),
        _ => drawn(name, &material),
    };
    KINDS.map(|kind| of_kind(kind.name)).into()
}

fn drawn(kind: &str, material: &Material<'_>) -> Chart {
    by_name(kind).unwrap().chart(material).unwrap()
}

fn swept(material: Material<'_>, replay: &ReplaySettings<'_>, vary: &[&str], kind: &str) -> Chart {
    let corpus = material.corpus;
    let bases = [Policy::load("baseagent").unwrap()];
    let dimensions: Vec<Dimension> = vary.iter().map(|text| Dimension::parse(text).unwrap()).collect();
    let mut settings = settings(&bases, &dimensions, Design::Grid).unwrap();
    let own = with_own(&mut settings, &bases);
    let objective = Objective { direction: Direction::Minimise, measure: Measure::parse("tokens").unwrap() };
    let run = Sweep {
        corpus,
        bases: &bases,
        settings: &settings,
        replay,
        measures: &[objective.measure],
        resamples: 50,
        seed: 1,
        billing: None,
        watch: &(),
    };
    let sampling = run.sampling();
    let rows = run.all(&sampling).unwrap();
    let swept = Swept {
        corpus,
        bases: &bases,
        settings: &settings,
        rows: &rows,
        objective,
        constraints: &[],
        sampling: &sampling,
        own: &own,
        yours: &[],
        mixed: None,
        thresholds: &[],
        bars: Default::default(),
        chance: (50, 1),
        billed: false,
    };
    drawn(kind, &Material { swept: Some(&swept), ..material })
}

/// Kinds whose pictures of the same sessions stand in `reports/charts`: the test of the sample report holds them.
const IN_THE_REPORT: [&str; 8] = ["cache", "drift", "overflows", "peaks", "references", "reuse", "stages", "survival"];

/// To renew: INSTA_UPDATE=always, and look at what has changed.
#[test]
fn each_kind_as_it_is_drawn() {
    let kinds: Vec<&str> = charts().iter().map(|chart| chart.kind).collect();
    assert_eq!(kinds, KINDS.map(|kind| kind.name), "a golden picture for each kind");
    let report = project().join("reports/charts");
    assert!(IN_THE_REPORT.iter().all(|kind| report.join(kind).with_extension("svg").is_file()));
    for chart in charts().iter().filter(|chart| !IN_THE_REPORT.contains(&chart.kind)) {
        insta::assert_snapshot!(format!("chart_{}", chart.kind), svg(chart, Look::default()));
    }
}

/// What happened, and what the user has, can be found in every chart of policies and of settings.
#[test]
fn the_recording_and_the_own_setting_are_marked() {
    let of = |kind: &str| charts().iter().find(|chart| chart.kind == kind).unwrap();
    let plot = |kind: &str| match &of(kind).drawing {
        Drawing::Plot(plot) => plot.clone(),
        _ => panic!("{kind} is no plot"),
    };
    let count = |kind: &str, hue: Hue| plot(kind).series.iter().filter(|series| series.hue == hue).count();
    for kind in ["cost", "cache", "references", "survival"] {
        assert_eq!(count(kind, Hue::Own), 1, "{kind}");
    }
    assert_eq!((count("cost", Hue::Recorded), count("cache", Hue::Recorded)), (1, 1));
    // No policy keeps more than there is, in whichever sessions.
    assert!(plot("references").series.iter().flat_map(|series| &series.points).all(|(_, kept)| (0.0..=1.0).contains(kept)));
    let Drawing::Bars(peaks) = &of("peaks").drawing else { panic!() };
    assert_eq!(peaks.rows[0].name, "recorded");
    let own = |marks: &[Marks]| marks.iter().filter(|marks| marks.hue == Hue::Own).map(|marks| marks.points.len()).sum::<usize>();
    let Drawing::HeatMap(map) = &of("sweep-map").drawing else { panic!() };
    assert_eq!((own(&plot("sweep").marks), own(&map.marks)), (1, 1), "the defaults, 0.85 and 40,000: on the line, and between two columns");
    // Calls behind the end of a failed session are there, without a value.
    let Drawing::HeatMap(map) = &of("overflows").drawing else { panic!() };
    assert!(map.cells.iter().flatten().flatten().any(|cell| cell.is_nan()));
}

/// The box of a text: its width is that which the text is given, ascent and descent are those of the font's letters.
#[derive(Debug)]
struct Words {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    text: String,
}

fn attribute(element: &str, name: &str) -> Option<String> {
    let (_, after) = element.split_once(&format!(" {name}=\""))?;
    after.split_once('"').map(|(value, _)| value.to_owned())
}

fn texts(svg: &str) -> Vec<Words> {
    let number = |element: &str, name: &str| attribute(element, name).unwrap().parse::<f64>().unwrap();
    let words = |element: &str| {
        let (x, y, size, width) = (number(element, "x"), number(element, "y"), number(element, "font-size"), number(element, "textLength"));
        let left = match attribute(element, "text-anchor").as_deref() {
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            _ => x,
        };
        let text = element.rsplit_once("</text>").unwrap().0.rsplit('>').next().unwrap().to_owned();
        Words { left, top: y - size * 0.74, right: left + width, bottom: y + size * 0.22, text }
    };
    svg.lines().filter(|line| line.starts_with("<text ")).map(words).collect()
}

fn assert_laid_out(chart: &Chart, size: Size) {
    let drawn = svg(chart, Look { size, theme: Theme::Light });
    let texts = texts(&drawn);
    assert!(texts.iter().filter(|words| !words.text.is_empty()).count() > 5, "{}", chart.kind);
    let (width, height) = (f64::from(size.width), f64::from(size.height));
    for (place, one) in texts.iter().enumerate() {
        let inside = one.left >= 0.0 && one.top >= 0.0 && one.right <= width && one.bottom <= height;
        assert!(inside, "{} at {size:?}: cut: {one:?}", chart.kind);
        for other in &texts[place + 1..] {
            let apart = one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top;
            assert!(apart, "{} at {size:?}: {one:?} and {other:?} overlap", chart.kind);
        }
    }
}

#[test]
fn no_words_overlap_and_none_are_cut_at_any_size() {
    for chart in charts() {
        SIZES.into_iter().for_each(|size| assert_laid_out(chart, size));
    }
}

/// A line across without its name says nothing.
#[test]
fn every_limit_across_is_named_at_every_usual_size() {
    for chart in charts() {
        let Drawing::Plot(plot) = &chart.drawing else { continue };
        let across = plot.limits.iter().filter(|limit| matches!(limit.place, Place::Across(_)));
        let names: Vec<&str> = across.map(|limit| limit.name.as_str()).collect();
        for size in [Size::SMALL, Size::MEDIUM, Size::LARGE] {
            let drawn = svg(chart, Look { size, theme: Theme::Light });
            let missing: Vec<&&str> = names.iter().filter(|name| !drawn.contains(&format!(">{name}<"))).collect();
            assert!(missing.is_empty(), "{} at {size:?} lacks {missing:?}", chart.kind);
        }
    }
}

#[test]
fn the_same_chart_gives_the_same_bytes() {
    for chart in charts() {
        for theme in [Theme::Light, Theme::Dark] {
            let look = Look { size: Size::SMALL, theme };
            assert_eq!(svg(chart, look), svg(&chart.clone(), look), "{}", chart.kind);
        }
        assert_eq!(png(chart, Look::default()).unwrap(), png(chart, Look::default()).unwrap(), "{}", chart.kind);
        assert!(csv(chart).unwrap().lines().count() > 1, "{} has no data", chart.kind);
    }
}

/// A chart of nothing but trouble.
fn hostile() -> Chart {
    let evil = "</text><script>alert(1)</script>\u{1b}[31m\u{202e}\"'&<b> a name that goes on and on, longer than any picture is wide, 漢字漢字漢字 ".repeat(3);
    let series = |place: usize, form: Form, named: Named| Series {
        name: format!("{place} {evil}"),
        hue: Hue::Other(place),
        form,
        provenance: Provenance::Simulated,
        points: vec![(1.0, f64::NAN), (2.0, 5.0), (f64::INFINITY, 3.0), (3.0, 5.0 + place as f64 * 1e-9)],
        band: Vec::new(),
        named,
    };
    let lines = (0..9).map(|place| series(place, Form::Line, Named::Beside));
    let dots = (9..30).map(|place| series(place, Form::Dots, Named::Beside));
    let limit = |place: Place| Limit { name: evil.clone(), hue: Hue::Limit, place };
    Chart {
        kind: "hostile",
        title: evil.clone(),
        subtitle: evil.clone(),
        drawing: Drawing::Plot(Plot {
            x: Axis::of(&evil, Quantity::Count),
            y: Axis::of(&evil, Quantity::Tokens),
            series: lines.chain(dots).chain([series(31, Form::Faint, Named::Key)]).collect(),
            limits: vec![limit(Place::Height(4.0)), limit(Place::Across(2.0)), limit(Place::Across(2.5)), limit(Place::Identity)],
            marks: vec![Marks { name: evil.clone(), symbol: Symbol::Cross, hue: Hue::Alarm, points: vec![(2.0, 5.0)] }],
        }),
        notes: vec![evil.clone(), evil],
        rests_on: Vec::new(),
        data: Table::default(),
    }
}

#[test]
fn hostile_names_stay_words_and_in_their_place() {
    let chart = hostile();
    for size in SIZES {
        assert_laid_out(&chart, size);
        let drawn = svg(&chart, Look { size, theme: Theme::Dark });
        assert!(!drawn.contains("<script") && !drawn.contains(['\u{1b}', '\u{202e}']), "{drawn}");
        assert_eq!(drawn.matches("<text ").count(), drawn.matches("</text>").count());
        assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        png(&chart, Look { size, theme: Theme::Dark }).unwrap();
    }
}

fn ctxsim(folder: &std::path::Path, arguments: &[&str]) -> Program {
    let logs = project().join("tests/data/cli/session.jsonl");
    let program = crate::support::ctxsim(&["chart"]).within(folder).args(arguments);
    if arguments == ["list"] { program } else { program.args([logs]) }
}

#[test]
fn a_chart_stands_beside_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let said = ctxsim(folder.path(), &["context", "-p", "none", "--window", "1k", "-o", "one.svg", "-q"]).code(0).stderr();
    assert_eq!(said, "");
    let drawn = fs::read_to_string(at("one.svg")).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.contains("session by-hand") && drawn.ends_with("</svg>\n"));
    let data = fs::read_to_string(at("one.csv")).unwrap();
    let columns = |line: &str| line.split(',').take(4).collect::<Vec<&str>>().join(",");
    let rows: Vec<String> = data.lines().map(columns).collect();
    assert_eq!(rows, ["policy,call,recorded,context", "none,1,300,300", "none,2,640,640", "none,3,950,950", "none,4,1000,1000"]);
    assert_eq!(ctxsim(folder.path(), &["context", "-p", "none", "-o", "-", "--window", "1k"]).stdout(), drawn);
    ctxsim(folder.path(), &["survival", "-p", "none", "-o", "two.PNG", "--size", "700x420", "--theme", "dark"]).code(0);
    let bytes = fs::read(at("two.PNG")).unwrap();
    let side = |from: usize| u32::from_be_bytes(bytes[from..from + 4].try_into().unwrap());
    assert_eq!((&bytes[1..4], side(16), side(20)), (b"PNG".as_slice(), 700, 420));
    let pixels = tiny_skia::Pixmap::decode_png(&bytes).unwrap();
    let mut seen: Vec<u32> =
        pixels.pixels().iter().map(|pixel| u32::from_be_bytes([0, pixel.red(), pixel.green(), pixel.blue()])).collect();
    assert_eq!(seen[0], 0x14181e, "a dark ground");
    seen.sort_unstable();
    seen.dedup();
    assert!(seen.len() > 50, "something is drawn");
    let left: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(left.len(), 4, "nothing half-written is left: {left:?}");
}

/// The session worked by hand (tests/data/cli/session.jsonl): the rule takes 298 tokens out at the third call. Where that is forgotten after
/// the request it takes them out again at the fourth: two events, and the same tokens.
#[test]
fn what_comes_back_after_each_request_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let mask = fs::read_to_string(project().join("tests/data/cli/mask.toml")).unwrap();
    for (mode, row) in [("commit", "mask,mask,prune,session,1,298,596"), ("view", "mask,mask,prune,request,2,298,596")] {
        fs::write(folder.path().join("mask.toml"), mask.replace("id = \"mask\"", &format!("id = \"mask\"\nmode = \"{mode}\""))).unwrap();
        ctxsim(folder.path(), &["stages", "-p", "mask.toml", "--window", "1000", "-q", "-o", "stages.svg", "--force"]).code(0);
        let data = fs::read_to_string(folder.path().join("stages.csv")).unwrap();
        assert_eq!(data.lines().nth(1), Some(row));
        let drawn = fs::read_to_string(folder.path().join("stages.svg")).unwrap();
        assert_eq!(drawn.contains("comes back"), mode == "view", "{mode}");
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let said = |arguments: &[&str], code: i32| ctxsim(folder.path(), arguments).code(code).stderr();
    assert!(said(&["survivl"], 2).contains("there is no chart `survivl`; did you mean `survival`?"));
    assert!(said(&["survival", "-o", "chart.pdf"], 2).contains("ends in .svg"));
    assert!(said(&["survival", "--size", "9x9"], 2).contains("480x300 to 8000x8000 pixels"));
    assert!(said(&["overflows", "-p", "none", "-p", "pi"], 2).contains("one policy"));
    assert!(said(&["sweep"], 2).contains("--vary"));
    assert!(said(&["sweep-map", "--vary", "prune_protect=10k,20k"], 2).contains("two parameters"));
    assert!(said(&["drift", "--estimator", "o200kbase"], 2).contains("did you mean `o200k_base`?"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no file without a chart");
    let listed = ctxsim(folder.path(), &["list"]).stdout();
    let named = |kind: &str| listed.lines().any(|line| line.split_whitespace().next() == Some(kind));
    assert!(KINDS.iter().all(|kind| named(kind.name)), "{listed}");
}

/// The sample sessions make 6 to 125 calls: six of the sixteen make more than half of that.
#[test]
fn a_chart_over_calls_says_how_few_sessions_reach_its_right_half() {
    let cache = charts().iter().find(|chart| chart.kind == "cache").unwrap();
    let told = "Of 16, 6 sessions make more than 63 calls: the right half rests on these.";
    assert!(cache.notes.iter().any(|note| note == told), "{:?}", cache.notes);
}

/// What comes out first is drawn or said, where it is a policy without the parameter: as a height in the plot, in a note below the map.
#[test]
fn what_comes_out_first_is_drawn_where_it_has_no_value() {
    let folder = tempfile::tempdir().unwrap();
    let vary = "opencode:preserve_recent_tokens=2000,4000";
    let logs = project().join("transcripts");
    let drawn = |words: &[&str]| {
        let program = crate::support::ctxsim(&["chart"]).within(folder.path()).args(words).args([&logs]);
        program.args(["-q", "-p", "opencode", "-p", "picoclaw", "--vary", vary, "-o", "one.svg", "--force"]).code(0);
        fs::read_to_string(folder.path().join("one.svg")).unwrap()
    };
    let plot = drawn(&["sweep"]);
    assert!(plot.contains(">best: picoclaw<") && plot.contains("Keep the defaults of picoclaw: "), "{plot}");
    let map = drawn(&["sweep-map", "--vary", "opencode:prune_protect=20000,40000"]);
    assert!(map.contains("picoclaw has no place among the values that are drawn, and no ring."), "{map}");
}

/// Values that span more than forty times the smallest stand on a logarithmic axis, others on an even one, as a value of 0 does.
#[test]
fn a_wide_range_of_settings_has_a_logarithmic_axis() {
    let catalog = Catalog::builtin().unwrap();
    let corpus = samples(&catalog);
    let scale = |vary: &str| {
        let chart = swept(Material::of(&corpus), &ReplaySettings::new(&catalog), &[vary], "sweep");
        let Drawing::Plot(plot) = chart.drawing else { panic!() };
        plot.x.scale
    };
    assert_eq!(scale("prune_protect=500,5k,80k"), Scale::Logarithmic);
    assert_eq!(scale("prune_protect=10k,20k,80k"), Scale::Even);
    assert_eq!(scale("prune_protect=0,5k,80k"), Scale::Even);
}
