//! `ctxsim drift`: the example worked by hand, bars on recorded sessions, figures counted again, calibration.

use crate::made::Native;
use crate::support::{ctxsim, files, project, python, shared};
use ctxsim::catalog::{Catalog, Family};
use ctxsim::corpus::{Corpus, ReadSettings, Vocabularies, read};
use ctxsim::experiment::ReplaySettings;
use ctxsim::experiment::drift::{Basis, DriftSettings, Findings, Method, Use, drift, pairs};
use ctxsim::policy::{Facts, Policy};
use ctxsim::render::chart::{Look, svg};
use ctxsim::report::chart::{Drawing, Material, by_name};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What the program prints as JSON.
fn report(arguments: &[&str], logs: &[PathBuf]) -> Value {
    ctxsim(&["drift", "--json", "--quiet"]).args(arguments).args(logs).json()
}

fn row<'a>(rows: &'a Value, wanted: &[(&str, &str)]) -> &'a Value {
    let fits = |row: &&Value| wanted.iter().all(|(key, value)| row[*key].as_str() == Some(*value));
    rows.as_array().unwrap().iter().find(fits).unwrap_or_else(|| panic!("no row {wanted:?} in {rows}"))
}

fn corpus(catalog: &Catalog, paths: &[PathBuf]) -> Corpus {
    let paths: Vec<String> = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let settings = ReadSettings { vocabularies: Vocabularies::Public, ..ReadSettings::new(catalog) };
    read(&paths, &settings).unwrap()
}

fn findings(paths: &[PathBuf]) -> Findings {
    let catalog = Catalog::builtin().unwrap();
    let corpus = corpus(&catalog, paths);
    let replay = ReplaySettings::new(&catalog);
    drift(&corpus, &DriftSettings { compared: &[], replayed: &[], replay, basis: Basis::Tokens, vocabularies: Vocabularies::Public })
        .unwrap()
}

/// The example of docs/drift.md, number by number.
#[test]
fn the_worked_example_is_right() {
    let report = report(&[], &[project().join("tests/data/drift/worked.jsonl")]);
    let chars = row(&report["estimators"], &[("estimator", "chars/4 floor"), ("family", "all")]);
    // 40 / 4 = 10 before the first call; 10 + 21 / 4 + 42 / 4 = 25 before the second.
    assert_eq!(
        (chars["calls"].as_u64(), chars["estimated_tokens"].as_u64(), chars["recorded_tokens"].as_u64()),
        (Some(2), Some(35), Some(245))
    );
    let close = |found: &Value, wanted: f64| assert!((found.as_f64().unwrap() - wanted).abs() < 1e-5, "{found} is not {wanted}");
    close(&chars["bias"], (35.0 - 245.0) / 245.0);
    close(&chars["mape"], (100.0 / 110.0 + 110.0 / 135.0) / 2.0);
    close(&chars["p50"], 5.4);
    close(&chars["p95"], 11.0);
    assert_eq!((chars["worst"]["call"].as_u64(), chars["worst"]["session"].as_str()), (Some(2), Some("worked")));
    let parts = row(&report["separation"], &[("estimator", "chars/4 floor")]);
    let sum = ["hidden", "messages", "texts"].iter().map(|part| parts[*part].as_f64().unwrap()).sum::<f64>();
    assert!((sum - parts["bias"].as_f64().unwrap()).abs() < 1e-9);
    // 110 less 10 tokens of text and 4 for its message.
    assert_eq!(row(&report["hidden"], &[("agent", "demo")])["median_tokens"].as_u64(), Some(96));
    let page = std::fs::read_to_string(project().join("docs/drift.md")).unwrap();
    for number in ["40 / 4 = 10", "35 - 245", "-85.7 %", "86.2 %", "5.400", "11.000", "96"] {
        assert!(page.contains(number), "docs/drift.md lacks {number}");
    }
}

/// Bias, MAPE and quantiles against a few lines of Python that read the raw files.
fn counted_again(folder: &Path) {
    let Some(counted) = python("drift.py", [folder]) else { return };
    let wanted: Value = serde_json::from_str(&counted).unwrap();
    let report = report(&[], &[folder.to_owned()]);
    let found = row(&report["estimators"], &[("estimator", "chars/4 floor"), ("family", "all")]);
    assert_eq!(found["calls"], wanted["calls"]);
    for figure in ["bias", "mape", "p05", "p50", "p95", "p99"] {
        let (found, wanted) = (found[figure].as_f64().unwrap(), wanted[figure].as_f64().unwrap());
        assert!((found - wanted).abs() < 6e-4, "{figure}: {found}, counted again {wanted}");
    }
}

#[test]
fn figures_of_the_samples_are_counted_again() {
    counted_again(&project().join("transcripts/mini-swe-agent"));
}

#[test]
fn figures_of_recorded_sessions_are_counted_again() {
    let Some(shared) = shared() else { return };
    counted_again(&shared.join("transcripts/mini_swe_traj"));
}

/// Mean error in percent, and on how many calls.
fn error(findings: &Findings, method: Method, family: Family, source: Option<&str>) -> (f64, u64) {
    let fits = |source: Option<&str>, found: Option<&str>| source == found;
    let rows = findings.predictions.iter();
    let mut rows = rows.filter(|row| row.method == method && row.family == family && fits(source, row.source.as_deref()));
    rows.next().map_or((0.0, 0), |row| (row.figures.mape_millionths as f64 / 1e4, row.figures.calls))
}

#[test]
fn predictions_keep_to_their_bars() {
    let Some(shared) = shared() else { return };
    // The folder of fixtures holds usage that was made up.
    let folders: Vec<PathBuf> =
        files(&shared.join("transcripts")).into_iter().filter(|path| path.is_dir() && !path.ends_with("fixtures")).collect();
    let findings = findings(&folders);
    for (family, bar) in [(Family::Gpt, 5.0), (Family::Gemini, 6.0), (Family::ClaudeOld, 10.0), (Family::ClaudeNew, 10.0)] {
        for method in [Method::Shipped, Method::Fitted] {
            let (error, calls) = error(&findings, method, family, None);
            println!("{} {}: {error:.2} % of {calls} calls", family.name(), method.name());
            assert!(calls > 0 && error <= bar, "{} {}: {error} %", family.name(), method.name());
        }
    }
    for (family, source, bar) in [(Family::Gemini, "mini-swe-agent", 5.0), (Family::ClaudeOld, "claude-code", 10.0)] {
        let (error, calls) = error(&findings, Method::Source, family, Some(source));
        println!("{source}: {error:.2} % of {calls} calls");
        assert!(calls > 0 && error <= bar, "{source}: {error} %");
    }
    for buffers in findings.buffers.iter().filter(|row| row.used == Use::SinceUsage && row.family.is_none()) {
        let buffer = buffers.buffers.iter().find(|buffer| buffer.level == 990).unwrap();
        let share = |(within, all): (u64, u64)| within as f64 * 100.0 / all as f64;
        let both = share((buffer.covered.0 + buffer.swapped_covered.0, buffer.covered.1 + buffer.swapped_covered.1));
        println!("{}: P99 covers {both:.2} %", buffers.estimator);
        assert!((both - 99.0).abs() <= 1.0, "{}: {both} %", buffers.estimator);
    }
}

#[test]
fn a_report_depends_on_the_logs_alone() {
    let logs: Vec<PathBuf> = files(&project().join("transcripts")).into_iter().filter(|path| path.is_dir()).collect();
    let one = report(&["--threads", "1"], &logs);
    let mut reversed = logs.clone();
    reversed.reverse();
    assert_eq!(report(&["--threads", "3"], &reversed), one);
    let folder = tempfile::tempdir().unwrap();
    let traces = folder.path().join("corpus.ctxtrace");
    ctxsim(&["trace", "build", "--quiet", "-o"]).args([&traces]).args(&logs).code(0);
    assert_eq!(report(&[], &[traces]), one);
}

#[test]
fn a_calibrated_estimator_is_a_policy() {
    let folder = tempfile::tempdir().unwrap();
    for (unit, base) in [("tokens", None), ("chars", Some("codex"))] {
        let file = folder.path().join(format!("{unit}.toml"));
        let fitted = ctxsim(&["drift", "transcripts/mini-swe-agent", "--quiet", "--unit", unit, "--calibrate"]).args([&file]);
        fitted.args(base.into_iter().flat_map(|base| ["--policy", base])).code(0);
        let policy = Policy::load(&file.to_string_lossy()).unwrap();
        let facts = |family| Facts { window: Some(200_000), max_input: 0, max_output: 32_000, family, ..Facts::default() };
        let (known, unknown) = (policy.plan(&facts(Some(Family::Gpt))).unwrap(), policy.plan(&facts(None)).unwrap());
        assert_ne!(known.estimator.weights, unknown.estimator.weights);
        assert!(known.estimator.families.is_empty());
        assert_eq!(known.rule.is_empty(), base.is_none());
        let replayed = ctxsim(&["replay", "transcripts/mini-swe-agent", "--quiet", "--json", "--policy"]).args([&file]).json();
        let bias = replayed["policies"][0]["estimator_drift"]["bias"].as_f64().unwrap();
        assert!(base.is_some() || bias.abs() < 0.1, "{unit}: {bias}");
    }
    // A file that cannot be written leaves nothing behind.
    ctxsim(&["drift", "transcripts/mini-swe-agent", "--quiet", "--calibrate", "/no/such/folder/out.toml"]).code(2);
}

/// Policies with a perfect estimator: nothing that is left is the estimator's fault.
#[test]
fn consequences_are_counted_with_and_without_drift() {
    let report = report(&["--policy", "baseagent", "--policy", "none", "--window", "24k"], &[project().join("transcripts")]);
    let row = row(&report["consequences"], &[("policy", "baseagent")]);
    assert!(row["own"]["calls"].as_u64() > Some(0) && row["own"]["calls"] == row["perfect"]["calls"]);
    assert!(row["perfect"]["late"].as_u64() <= row["own"]["late"].as_u64(), "{row}");
}

/// A session without a compared call keeps no estimator out, and one with such calls is named.
#[test]
fn an_estimator_is_missing_where_a_compared_session_lacks_its_counts() {
    let catalog = Catalog::builtin().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let session = |name: &str, usage: Value| {
        let log = Native::new(json!({"session": name, "model": "gpt-5"})).line(json!({"role": "user", "text": "count the words"}));
        log.line(json!({"role": "assistant", "text": "three", "usage": usage})).write(folder.path(), &format!("{name}.jsonl"));
    };
    session("compared", json!({"prompt": 100, "output": 5}));
    session("silent", Value::Null);
    let whole = corpus(&catalog, &[folder.path().to_owned()]);
    let without = |id: &str| {
        let mut corpus = whole.clone();
        corpus.traces = whole
            .traces
            .each()
            .map(|trace| {
                let mut trace = trace.into_owned();
                let lost = trace.id == id;
                trace.parts.change_each(|part| part.text.counts = part.text.counts.filter(|_| !lost));
                trace
            })
            .collect();
        let settings = in_tokens(&catalog);
        let (found, paired) = (drift(&corpus, &settings).unwrap(), pairs(&corpus, &settings).unwrap());
        assert_eq!(found.uncounted, paired.uncounted);
        let chart = by_name("drift").unwrap().chart(&Material { pairs: Some(&paired), ..Material::of(&corpus) }).unwrap();
        let Drawing::Plot(plot) = &chart.drawing else { panic!() };
        (plot.series.iter().map(|series| series.name.clone()).collect::<Vec<String>>().join(", "), chart.notes.join(" "))
    };
    assert_eq!(without("silent").0, "chars/4 floor, o200k_base");
    let (drawn, notes) = without("compared");
    assert_eq!(drawn, "chars/4 floor");
    assert!(notes.contains("o200k_base is missing: texts of 1 compared session were not counted in it (compared)."), "{notes}");
}

/// Estimators alone, in tokens of public vocabularies.
fn in_tokens(catalog: &Catalog) -> DriftSettings<'_> {
    DriftSettings {
        compared: &[],
        replayed: &[],
        replay: ReplaySettings::new(catalog),
        basis: Basis::Tokens,
        vocabularies: Vocabularies::Public,
    }
}

/// Where all estimates are on one side of what was recorded, the line where both are equal is neither drawn nor in the key.
#[test]
fn the_line_of_equal_prompts_is_named_where_it_is_drawn() {
    let catalog = Catalog::builtin().unwrap();
    let drawn = |prompts: [u64; 2]| {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Native::new(json!({"session": "s", "model": "gpt-5"}));
        for prompt in prompts {
            log = log.asked(&"count the words ".repeat(30), "three", prompt, 5);
        }
        log.write(folder.path(), "s.jsonl");
        let corpus = corpus(&catalog, &[folder.path().to_owned()]);
        let settings = in_tokens(&catalog);
        let paired = pairs(&corpus, &settings).unwrap();
        let chart = by_name("drift").unwrap().chart(&Material { pairs: Some(&paired), ..Material::of(&corpus) }).unwrap();
        svg(&chart, Look::default())
    };
    let (far, near) = (drawn([22_000, 25_000]), drawn([130, 300]));
    assert!(!far.contains("both are equal<") && far.contains("lies outside of the picture"), "{far}");
    assert!(near.contains(">both are equal<") && near.contains("Above the line"), "{near}");
    // Between 20,000 and 50,000 the axis still has round values, in thousands.
    assert!([">23<", ">24<", ">25<"].iter().all(|tick| far.contains(*tick)), "{far}");
}
