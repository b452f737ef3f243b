//! `ctxsim validate`: predictions beside runs that were made for it.

use crate::made::Native;
use crate::support::{self, project, python, shared};
use ctxsim::experiment::validate::{Run, Sides, validate};
use ctxsim::sim::EventKind;
use ctxsim::statistics::{Agreement, Chance};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// A run: each call's prompt is `base` and `growth` for each call before it. What a call adds is its reply, 10 tokens, and a result.
fn run(id: &str, base: u64, growth: u64, calls: u64) -> String {
    let begun = Native::new(json!({"session": id, "window": 100_000})).line(json!({"role": "user", "text": format!("do it: {id}")}));
    let log = (0..calls).fold(begun, |log, call| {
        let usage = json!({"prompt": base + growth * call, "output": 10});
        let asks = json!({"call": {"id": format!("c{call}"), "name": "read", "arguments": {"path": "a"}}});
        let result = json!({"result": {"id": format!("c{call}"), "text": format!("{id} {}", "word ".repeat(40))}});
        let reply = json!({"role": "assistant", "parts": [asks], "usage": usage});
        log.line(reply).line(json!({"role": "tool", "parts": [result]}))
    });
    log.text()
}

fn ctxsim(folder: &Path, words: &[&str]) -> String {
    support::ctxsim(words).within(folder).stdout()
}

fn json(folder: &Path, words: &[&str]) -> Value {
    serde_json::from_str(&ctxsim(folder, &[words, &["--json", "--quiet"]].concat())).unwrap()
}

fn measure<'v>(report: &'v Value, arm: usize, key: &str) -> &'v Value {
    report["arms"][arm]["measures"].as_array().unwrap().iter().find(|found| found["measure"] == key).unwrap()
}

/// Six tasks of other sizes, each once before and once after; the prompts after are four fifths as large.
fn six_tasks(folder: &Path) {
    for side in ["before", "after"] {
        fs::create_dir(folder.join(side)).unwrap();
    }
    for task in 0..6 {
        let (base, growth) = (1_000 + 500 * task, 100 * (task + 1));
        fs::write(folder.join(format!("before/t{task}.jsonl")), run(&format!("b{task}"), base, growth, 10)).unwrap();
        fs::write(folder.join(format!("after/t{task}.jsonl")), run(&format!("a{task}"), base * 4 / 5, growth * 4 / 5, 10)).unwrap();
    }
}

#[test]
fn runs_of_one_task_are_pairs() {
    let folder = tempfile::tempdir().unwrap();
    six_tasks(folder.path());
    let report = json(folder.path(), &["validate", "before/", "--with", "after/", "--pair-by", "file", "-p", "none"]);
    assert_eq!(
        (&report["schema"], &report["arms"][0]["tasks"], &report["arms"][0]["drawn_by"]),
        (&"ctxsim.validate/1".into(), &6.into(), &"tasks".into())
    );
    // Every task's prompts are four fifths: there is no uncertainty, and `none` predicts no change.
    let prompt = measure(&report, 0, "prompt_per_call");
    let near = |value: &Value, wanted: f64| assert!((value.as_f64().unwrap() - wanted).abs() < 1e-6, "{value} is not {wanted}");
    near(&prompt["intervals"]["measured_change"][0], -0.2);
    near(&prompt["intervals"]["measured_change"][1], -0.2);
    let mean =
        |side: f64| (0..6).map(|task| side * f64::from(1_000 + 500 * task) + side * f64::from(100 * (task + 1)) * 4.5).sum::<f64>() / 6.0;
    near(&prompt["before"], mean(1.0));
    near(&prompt["predicted"], mean(1.0));
    near(&prompt["measured"], mean(0.8));
    near(&prompt["mean_error_by_task"], 0.25);
    assert_eq!((&prompt["verdict"], &measure(&report, 0, "calls")["predicted"]), (&"off".into(), &Value::Null));
    assert_eq!((&prompt["more_runs_10"], &measure(&report, 0, "prompt_tokens")["claim"]), (&0.into(), &"if_runs_stay_as_long".into()));
    // No compaction in 60 calls is no proof that there is never one: as few come by chance where three are to be expected.
    let compactions = &measure(&report, 0, "compactions_per_call")["intervals"]["measured"];
    near(&compactions[0], 0.0);
    assert!((compactions[1].as_f64().unwrap() * 60.0 - 2.996).abs() < 0.03, "{compactions}");
    // The same runs without pairs: tasks are so unlike that nothing can be told.
    let apart = json(folder.path(), &["validate", "before/", "--with", "after/", "-p", "none"]);
    assert_eq!(
        (&apart["arms"][0]["drawn_by"], &measure(&apart, 0, "prompt_per_call")["verdict"]),
        (&"runs".into(), &"cannot be told".into())
    );
    assert!(measure(&apart, 0, "prompt_per_call")["more_runs_10"].as_u64().unwrap() > 10);
}

/// Without a policy each change has its interval, and nothing is marked as a prediction.
#[test]
fn measured_changes_have_their_intervals() {
    let folder = tempfile::tempdir().unwrap();
    six_tasks(folder.path());
    fs::create_dir(folder.path().join("other")).unwrap();
    for task in 0..6 {
        let log = run(&format!("o{task}"), 1_000 + 700 * task, 90 * (task + 1), 8 + task);
        fs::write(folder.path().join(format!("other/t{task}.jsonl")), log).unwrap();
    }
    let words = ["validate", "before/", "--with", "after/", "--with", "other/", "--pair-by", "file"];
    let (shown, report) = (ctxsim(folder.path(), &words), json(folder.path(), &words));
    assert!(shown.contains("Measured [90 %], as changes from 6 runs before") && !shown.contains('*'), "{shown}");
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for (arm, key) in [(0, "prompt_per_call"), (0, "prompt_tokens"), (1, "prompt_per_call"), (1, "prompt_tokens")] {
        let found = measure(&report, arm, key);
        let percent = |share: f64| format!("{:+.0}", share * 100.0);
        let change = found["measured"].as_f64().unwrap() / found["before"].as_f64().unwrap() - 1.0;
        let bounds = [0, 1].map(|bound| percent(found["intervals"]["measured_change"][bound].as_f64().unwrap()));
        let cell = format!("{} % [{}, {}]", percent(change), bounds[0], bounds[1]);
        assert!(flat.contains(&cell), "{key}: {cell}: {shown}");
    }
}

/// The chart has the verdicts of the table, and the rows of the table beside it. Other kinds refuse arms; without a policy there is nothing to draw.
#[test]
fn the_chart_holds_predictions_against_measurements() {
    let folder = tempfile::tempdir().unwrap();
    six_tasks(folder.path());
    let arms = ["before/", "--with", "after/", "--pair-by", "file", "--quiet"];
    let drawn = |policy: &[&str]| ctxsim(folder.path(), &[&["chart", "predicted", "-o", "p.svg", "--force"], &arms[..], policy].concat());
    drawn(&["-p", "none"]);
    let svg = fs::read_to_string(folder.path().join("p.svg")).unwrap();
    assert!(svg.contains("Prompt per call: 0 of 1 prediction confirmed"), "{svg}");
    let told = ctxsim(folder.path(), &[&["validate"], &arms[..], &["-p", "none", "--csv"]].concat());
    assert_eq!(fs::read_to_string(folder.path().join("p.csv")).unwrap(), told);
    let refused = |words: &[&str], code: i32| support::ctxsim(words).args(arms).within(folder.path()).code(code).stderr();
    assert!(refused(&["chart", "predicted", "-o", "q.svg"], 3).contains("no policy is named"));
    assert!(refused(&["chart", "context", "-o", "q.svg"], 2).contains("do not use --with; charts that do: predicted"));
    assert!(!folder.path().join("q.svg").exists());
}

/// A policy that holds every prompt down is confirmed by runs in which prompts are so small, and by words.
#[test]
fn a_right_prediction_is_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    six_tasks(folder.path());
    let policy = "[[rule]]\nid = \"c\"\nat = \"pre_call\"\nwhen.level = { of = \"next_prompt\", ge = 3000 }\nselect = { tail = [{ n = 2, unit = \"messages\" }] }\n\
                  summarise = { place = \"head\", role = \"user\", input = \"selection\" }\n[summary]\ntokens = 100\n";
    fs::write(folder.path().join("p.toml"), policy).unwrap();
    let words = ["validate", "before/", "--with", "after/", "--pair-by", "file", "-p", "p.toml"];
    let report = json(folder.path(), &words);
    let prompt = measure(&report, 0, "prompt_per_call");
    // What is predicted is what a replay of the same logs says.
    let replay = json(folder.path(), &["replay", "before/", "-p", "p.toml"]);
    let replayed = &replay["policies"][0];
    let predicted = replayed["prompt_tokens"].as_f64().unwrap() / replayed["calls"].as_f64().unwrap();
    assert!((prompt["predicted"].as_f64().unwrap() - predicted).abs() < 1e-6 && predicted < prompt["before"].as_f64().unwrap());
    assert!(measure(&report, 0, "compactions_per_call")["predicted"].as_f64().unwrap() > 0.0);
    let shown = ctxsim(folder.path(), &[&words[..], &["--quiet"]].concat());
    assert!(shown.lines().any(|line| line.starts_with("prompt per call: predicted -")) && shown.contains("Check: "), "{shown}");
    assert!(shown.contains("if runs stay as long") && shown.contains("a replay keeps the recorded calls"), "{shown}");
    assert!(shown.lines().count() <= 30, "{shown}");
    // What the summariser takes stands beside the cost, as `cost` has it.
    let bill = json(folder.path(), &["cost", "before/", "-p", "p.toml", "--cache", "none"]);
    let summariser: f64 = bill["policies"][0]["uncached"]["tiers"]["summariser"]["cost"].as_str().unwrap().parse().unwrap();
    let cost = measure(&report, 0, "cost_per_call");
    assert!((cost["predicted_summarisers"].as_f64().unwrap() * 60.0 - summariser).abs() < 1e-6 && summariser > 0.0, "{cost}");
    assert_eq!((&cost["measured_summarisers"], &prompt["predicted_summarisers"]), (&Value::Null, &Value::Null));
    let told = |shown: &str| shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told(&shown).contains(" a call, which these logs lack), cost per call: predicted "), "{shown}");
    // Logs that hold the requests are compared by them: 1,000 tokens of prompt and 100 of reply in ten calls.
    for task in 0..6 {
        let path = folder.path().join(format!("after/t{task}.jsonl"));
        let log = fs::read_to_string(&path).unwrap();
        let request = json!({"id": format!("s{task}"), "usage": {"prompt": 1_000, "output": 100}});
        fs::write(path, format!("{log}{}\n", json!({"compaction": {"kind": "compact", "call": request}}))).unwrap();
    }
    let held = json(folder.path(), &words);
    let cost = measure(&held, 0, "cost_per_call");
    assert!((cost["measured_summarisers"].as_f64().unwrap() - 0.000_225).abs() < 1e-9, "{cost}");
    let shown = told(&ctxsim(folder.path(), &[&words[..], &["--quiet"]].concat()));
    let with = shown.split_once("With summarisers ($").unwrap_or_else(|| panic!("{shown}")).1;
    assert!(with.contains(" a call), cost per call: predicted ") && with.contains(" %, measured "), "{shown}");
    let rows = ctxsim(folder.path(), &[&words[..], &["--csv", "--quiet"]].concat());
    let rows = support::rows(&rows);
    let row = rows.iter().find(|row| row["measure"] == "cost per call").unwrap();
    assert_eq!(row["measured_summarisers"], "0.000225000");
}

/// Five tasks under a policy that compacts as often as is predicted, by chance: no more than one verdict in ten says that it does not.
#[test]
fn few_compactions_are_no_proof_of_another_rate() {
    let mut chance = Chance::new(3);
    let run = |task: usize, calls: u64, compactions: u64| {
        let mut run = Run { task: Some(task.to_string()), is_priced: true, ..Run::default() };
        (run.figures.totals.calls, run.figures.totals.prompt_tokens, run.figures.totals.anchored_tokens) =
            (calls, 1_000 * calls, 1_000 * calls);
        run.figures.totals.events.insert(EventKind::Compact, compactions);
        run
    };
    let verdict = |predicted: u64, after: [u64; 5]| {
        let side = |calls: u64, compactions: [u64; 5]| (0..5).map(|task| run(task, calls, compactions[task])).collect::<Vec<Run>>();
        let sides = Sides { name: String::new(), before: side(100, [0; 5]), predicted: side(100, [predicted; 5]), after: side(19, after) };
        let found =
            validate(vec![sides]).arms.remove(0).measures.into_iter().find(|found| found.measure.key == "compactions_per_call").unwrap();
        found.agreement.unwrap()
    };
    // Two where 4.75 are expected, and none where three are, say nothing; none where 9.5 are says that there are fewer.
    assert_eq!(verdict(5, [1, 0, 1, 0, 0]), Agreement::CannotTell);
    assert_eq!(verdict(3, [0; 5]), Agreement::CannotTell);
    assert_eq!(verdict(10, [0; 5]), Agreement::Off);
    for predicted in [1_u64, 2, 3, 4, 6] {
        let expected = 0.19 * predicted as f64;
        let mut drawn = || {
            // How many events come before a sum of waiting times is over.
            let (mut events, mut left) = (0, (-expected).exp());
            loop {
                left /= 1.0 - chance.share();
                if left > 1.0 {
                    return events;
                }
                events += 1;
            }
        };
        let off = (0..300).filter(|_| verdict(predicted, [0; 5].map(|_: u64| drawn())) == Agreement::Off).count();
        assert!(off <= 30, "{predicted}: {off} of 300");
    }
}

/// Runs beside themselves, under no policy: nothing is predicted to change, and nothing does.
#[test]
fn a_policy_that_never_acts_is_told_from_a_small_prediction() {
    let folder = tempfile::tempdir().unwrap();
    six_tasks(folder.path());
    let said = |policy: &str| ctxsim(folder.path(), &["validate", "before/", "--with", "after/", "--pair-by", "file", "-p", policy]);
    assert!(said("pi").contains("never acts in the runs before"), "{}", said("pi"));
    assert!(!said("none").contains("never acts"));
}

/// A run that asked nothing has no figure, and moves those of no other run.
#[test]
fn runs_without_a_call_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    six_tasks(folder.path());
    let words = ["validate", "before/", "--with", "after/", "-p", "none"];
    let alone = json(folder.path(), &words);
    for (side, runs) in [("before", 3), ("after", 2)] {
        (0..runs).for_each(|place| {
            fs::write(folder.path().join(format!("{side}/n{place}.jsonl")), run(&format!("{side}{place}"), 0, 0, 0)).unwrap()
        });
    }
    let beside = json(folder.path(), &words);
    let of = |report: &Value| {
        [report["arms"][0]["measures"].clone(), report["arms"][0]["runs_before"].clone(), report["arms"][0]["runs_after"].clone()]
    };
    assert_eq!(of(&alone), of(&beside));
    assert_eq!((&beside["arms"][0]["without_call_before"], &beside["arms"][0]["without_call_after"]), (&3.into(), &2.into()));
    fs::create_dir(folder.path().join("none")).unwrap();
    fs::write(folder.path().join("none/n.jsonl"), run("alone", 0, 0, 0)).unwrap();
    let nothing = json(folder.path(), &["validate", "none/", "--with", "after/", "-p", "none"]);
    let values = nothing["arms"][0]["measures"].as_array().unwrap().iter().flat_map(|found| [&found["before"], &found["predicted"]]);
    assert!(values.clone().all(Value::is_null), "{nothing}");
    let nothing = ctxsim(folder.path(), &["validate", "before/", "--with", "none/", "-p", "none", "--details"]);
    assert!(nothing.contains("nothing is compared") && !nothing.contains("$0.00"), "{nothing}");
}

/// A recording that stands on both sides is a run of neither, and one id in common pairs nothing.
#[test]
fn what_both_sides_share_is_left_out_of_both() {
    let folder = tempfile::tempdir().unwrap();
    six_tasks(folder.path());
    let words = ["validate", "before/", "--with", "after/", "-p", "none"];
    let told = || ctxsim(folder.path(), &[&words[..], &["--quiet"]].concat()).split_whitespace().collect::<Vec<_>>().join(" ");
    let of = |report: &Value| ["runs_before", "runs_after", "tasks"].map(|key| report["arms"][0][key].as_u64().unwrap());
    let alone = json(folder.path(), &words);
    assert_eq!(of(&alone), [6, 6, 0]);
    // Another run of one id.
    fs::write(folder.path().join("after/t5.jsonl"), run("b5", 900, 90, 10)).unwrap();
    assert_eq!(of(&json(folder.path(), &words)), [6, 6, 0]);
    // The very run.
    fs::copy(folder.path().join("before/t5.jsonl"), folder.path().join("after/t5.jsonl")).unwrap();
    assert_eq!(of(&json(folder.path(), &words)), [5, 5, 0]);
    assert!(told().contains("! Left out of both sides: 1 session that BEFORE and after/ share."), "{}", told());
    // Tasks that run under one id on both sides are pairs; what is left over is said on the first screen.
    for task in 0..5 {
        fs::write(folder.path().join(format!("after/t{task}.jsonl")), run(&format!("b{task}"), 900, 90, 10)).unwrap();
    }
    fs::write(folder.path().join("after/t5.jsonl"), run("other", 900, 90, 10)).unwrap();
    assert_eq!(of(&json(folder.path(), &words)), [5, 5, 5]);
    assert!(told().contains("! 1 run before and 1 after are of tasks that the other side lacks: left out."), "{}", told());
}

/// What is not told from no change is not confirmed, however near it comes.
#[test]
fn a_prediction_of_no_change_is_not_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    six_tasks(folder.path());
    let report = json(folder.path(), &["validate", "before/", "--with", "before/", "--pair-by", "file", "-p", "none"]);
    let prompt = measure(&report, 0, "prompt_per_call");
    assert_eq!(prompt["intervals"]["measured_over_predicted"], serde_json::json!([1.0, 1.0]));
    assert_eq!(prompt["verdict"], "cannot be told");
}

/// A prompt that falls without a note: a replay takes what went for gone under every policy, and says so.
#[test]
fn text_that_was_removed_without_a_note_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let policy = "params = { limit = 9200 }\n[[rule]]\nid = \"c\"\nat = \"pre_call\"\nwhen.level = { of = \"next_prompt\", gt = \"=limit\" }\ndrop = {}\n";
    fs::write(folder.path().join("p.toml"), policy).unwrap();
    let whole = run("f", 9_000, 500, 6);
    // A prompt that is back at the next call has lost nothing.
    let fell = |log: &str| {
        [(10_500, 5_000), (11_000, 5_500), (11_500, 6_000)]
            .iter()
            .fold(log.to_owned(), |log, (from, to)| log.replace(&format!("\"prompt\":{from}"), &format!("\"prompt\":{to}")))
    };
    fs::write(folder.path().join("whole.jsonl"), &whole).unwrap();
    fs::write(folder.path().join("fell.jsonl"), fell(&whole)).unwrap();
    fs::write(folder.path().join("back.jsonl"), whole.replace("\"prompt\":10500", "\"prompt\":5000")).unwrap();
    for (command, more) in [("replay", &[][..]), ("diff", &["-p", "none"]), ("sweep", &["--vary", "limit=50k", "--minimise", "tokens"])] {
        let said = |log: &str| {
            let shown = ctxsim(folder.path(), &[&[command, log, "-p", "p.toml", "-q"], more].concat());
            shown
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains("! In 1 session (6 of 6 calls) text was removed that the logs do not note")
        };
        assert!(said("fell.jsonl") && !said("whole.jsonl") && !said("back.jsonl"), "{command}");
    }
    // A half of a corpus has no facts of its own: `tune` counts the calls of both.
    for (fallen, caution) in [(1, None), (4, Some("! In 4 sessions (24 of 72 calls) text was removed"))] {
        let many = folder.path().join(fallen.to_string());
        fs::create_dir(&many).unwrap();
        for session in 0..12 {
            let log = run(&format!("s{session}"), 9_000, 500, 6);
            let log = if session < fallen { fell(&log) } else { log };
            fs::write(many.join(format!("{session}.jsonl")), log).unwrap();
        }
        let shown = ctxsim(
            &many,
            &["tune", ".", "-p", "../p.toml", "-q", "--params", "limit=1000..50000", "--settings", "4", "--minimise", "tokens"],
        );
        assert_eq!(shown.contains("text was removed"), caution.is_some(), "{shown}");
        assert!(caution.is_none_or(|caution| shown.contains(caution)), "{shown}");
    }
}

/// A log that notes no compaction of a run in which text was removed is no proof that there was none. Agents that note theirs do not lose by it.
#[test]
fn what_logs_do_not_note_is_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    six_tasks(folder.path());
    let words = ["validate", "before/", "--with", "after/", "--pair-by", "file", "-p", "none"];
    let whole = json(folder.path(), &words);
    let fell = |side: &str, from: &str, agent: &str| {
        let path = folder.path().join(side).join("t0.jsonl");
        let log = fs::read_to_string(&path).unwrap();
        let named = log.replace("\"agent\":\"made\"", &format!("\"agent\":\"{agent}\""));
        fs::write(&path, named.replace(&format!("\"prompt\":{from}"), "\"prompt\":640")).unwrap();
        let report = json(folder.path(), &words);
        let told = ctxsim(folder.path(), &[&words[..], &["--quiet"]].concat());
        fs::write(&path, log).unwrap();
        (report, told.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let verdicts = |report: &Value| ["prompt_per_call", "compactions_per_call"].map(|key| measure(report, 0, key)["verdict"].clone());
    let (after, told) = fell("after", "1520", "mine");
    let compactions = measure(&after, 0, "compactions_per_call");
    assert_eq!(
        (&after["arms"][0]["uncounted_after"], &compactions["measured"], &compactions["before"]),
        (&1.into(), &Value::Null, &0.0.into())
    );
    assert_eq!(verdicts(&after), ["off".into(), Value::Null]);
    assert!(told.contains("compactions per call: predicted 0.00; not noted by these logs"), "{told}");
    assert!(told.contains("From 1 run after, text was removed that the logs do not note: their compactions are not compared."), "{told}");
    let (before, told) = fell("before", "1900", "mine");
    assert_eq!((&before["arms"][0]["unnoted_before"], &measure(&before, 0, "compactions_per_call")["before"]), (&1.into(), &Value::Null));
    assert_eq!(verdicts(&before), ["cannot be judged".into(), Value::Null]);
    assert!(
        told.contains("From 1 run before, text was removed that the logs do not note: what it was is not known, and nothing is judged."),
        "{told}"
    );
    for (side, from) in [("after", "1520"), ("before", "1900")] {
        let (noted, _) = fell(side, from, "claude-code");
        let arm = &noted["arms"][0];
        assert_eq!((&arm["unnoted_before"], &arm["uncounted_after"], verdicts(&noted)), (&0.into(), &0.into(), verdicts(&whole)));
    }
}

#[test]
fn a_null_experiment_predicts_nothing() {
    let samples = project().join("transcripts/mini-swe-agent");
    let folder = tempfile::tempdir().unwrap();
    for side in ["before", "after"] {
        fs::create_dir(folder.path().join(side)).unwrap();
        for file in support::files(&samples) {
            fs::copy(&file, folder.path().join(side).join(file.file_name().unwrap())).unwrap();
        }
    }
    let report = json(folder.path(), &["validate", "before/", "--with", "after/", "--pair-by", "file", "-p", "none"]);
    for key in ["prompt_per_call", "cost_per_call", "cache_hit_rate"] {
        let measure = measure(&report, 0, key);
        assert_eq!(measure["predicted"], measure["before"], "{measure}");
    }
}

#[test]
fn an_index_names_arms_tasks_and_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = "file\ttask\tlimit\tcompactions\n".to_owned();
    for task in 0..5 {
        for (arm, base) in [("none", 4_000), ("2000", 2_000), ("3000", 3_000)] {
            let name = format!("{arm}-{task}.jsonl");
            fs::write(folder.path().join(&name), run(&format!("{arm}{task}"), base, 0, 4)).unwrap();
            writeln!(index, "{name}\tt{task}\t{arm}\t{}", if arm == "2000" { 2 } else { 0 }).unwrap();
        }
    }
    // A task that the other side lacks, and a cell with too few runs.
    for (name, task, arm) in [("alone.jsonl", "other", "3000"), ("few.jsonl", "t0", "9000"), ("word.jsonl", "t0", "wide")] {
        fs::write(folder.path().join(name), run(name, 1_000, 0, 4)).unwrap();
        writeln!(index, "{name}\t{task}\t{arm}\t0").unwrap();
    }
    fs::write(folder.path().join("runs.tsv"), index).unwrap();
    let policy = "params = { limit = 1000 }\n[[rule]]\nid = \"c\"\nat = \"pre_call\"\nwhen.level = { of = \"next_prompt\", gt = \"=limit\" }\ndrop = {}\n";
    fs::write(folder.path().join("p.toml"), policy).unwrap();
    let words = ["validate", "--index", "runs.tsv", "--arm", "limit", "--before", "none,wide", "-p", "p.toml", "--set-by", "limit=limit"];
    let report = json(folder.path(), &words);
    let arms = report["arms"].as_array().unwrap();
    let names: Vec<&str> = arms.iter().map(|arm| arm["arm"].as_str().unwrap()).collect();
    assert_eq!(names, ["2000", "3000", "9000"]);
    assert_eq!((&arms[1]["left_out_after"], &arms[1]["runs_after"], &arms[1]["runs_before"]), (&1.into(), &5.into(), &6.into()));
    assert_eq!((&arms[2]["runs_before"], &measure(&report, 2, "prompt_per_call")["intervals"]), (&2.into(), &Value::Null));
    assert_eq!(measure(&report, 0, "compactions_per_call")["measured"], 0.5);
    // t0 has two runs before, of 4,000 and of 1,000; the mean over tasks counts it once.
    assert_eq!(measure(&report, 0, "prompt_per_call")["before"], 3_700.0);
    let index = fs::read_to_string(folder.path().join("runs.tsv")).unwrap();
    // The table counts compactions before, where the logs note none.
    fs::write(folder.path().join("shrunk.tsv"), index.replace("t0\tnone\t0", "t0\tnone\t1")).unwrap();
    let shrunk = json(folder.path(), &[&["validate", "--index", "shrunk.tsv"], &words[3..]].concat());
    assert_eq!(
        (&shrunk["arms"][0]["unnoted_before"], &measure(&shrunk, 0, "prompt_per_call")["verdict"]),
        (&1.into(), &"cannot be judged".into())
    );
    fs::write(folder.path().join("odd.tsv"), index.replace("word.jsonl\tt0\twide\t0", "word.jsonl\tt0\twide\t-3")).unwrap();
    let said = |index: &str| {
        let words = ["validate", "--index", index, "--arm", "limit", "--before", "none"];
        support::ctxsim(&words).within(folder.path()).code(2).stderr()
    };
    assert!(said("odd.tsv").contains("the row of `word.jsonl` counts `-3` compactions"), "{}", said("odd.tsv"));
    fs::write(folder.path().join("huge.tsv"), index.replace("word.jsonl\tt0\twide\t0", &format!("word.jsonl\tt0\twide\t{}", u64::MAX)))
        .unwrap();
    assert!(said("huge.tsv").contains("compactions, which is no whole number up to 4,294,967,295"), "{}", said("huge.tsv"));
    // Editors of one system put a mark before the first column.
    fs::write(folder.path().join("runs.tsv"), format!("\u{feff}{index}")).unwrap();
    assert_eq!(json(folder.path(), &words)["arms"], report["arms"]);
    for (wrong, said) in [
        (vec!["--before", "nine"], "`nine`"),
        (vec!["--before", "none", "--arm", "limt"], "limit"),
        (vec!["--before", "none", "--set-by", "limit=task"], "no single value"),
        (vec!["--before", "none", "--pair-by", "tusk"], "task"),
    ] {
        let words = &["validate", "--index", "runs.tsv", "-p", "p.toml", "--arm", "limit"][..if wrong.contains(&"--arm") { 5 } else { 7 }];
        let failed = support::ctxsim(words).args(&wrong).within(folder.path()).code(2);
        assert!(failed.stderr().contains(said), "{wrong:?}");
    }
}

/// The policy of plugsuits worked by hand: prompts of 7,800, 11,300, 14,800 and 18,300; a call adds its reply, 10, and a result, 3,490. A summary takes 630.
#[test]
fn the_policy_of_plugsuits_acts_by_the_next_prompt() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("w.jsonl"), run("w", 7_800, 3_500, 4)).unwrap();
    let policy = project().join("examples/policies/plugsuits.toml");
    let policy = policy.to_str().unwrap();
    let of = |limit: &str, as_logged: &str| {
        let words = ["replay", "w.jsonl", "-p", policy, "--set", &format!("limit={limit}"), "--set", &format!("as_logged={as_logged}")];
        let report = json(folder.path(), &words);
        let replayed = &report["policies"][0];
        (replayed["prompt_tokens"].as_u64().unwrap(), replayed["events"]["compact"].as_u64().unwrap_or(0))
    };
    // Half of 20,000: from the second call on each prompt reaches it once more, and is summarised before it is sent.
    assert_eq!(of("20000", "0"), (7_800 + 3 * 8_430, 3));
    // Its logs hold the prompts before that: the next one has the summary, the reply and the result.
    assert_eq!(of("20000", "1"), (7_800 + 11_300 + 2 * (8_430 + 10 + 3_490), 3));
    // 45 % of 10,000 is less than instructions and tools: before and behind each request; before the first one there is nothing to summarise.
    assert_eq!(of("10000", "0").1, 7);
    // 51 % of 40,000 in the background, 55 % waited for: neither is reached.
    assert_eq!(of("40000", "0"), (7_800 + 11_300 + 14_800 + 18_300, 0));
}

/// The recorded runs of one agent under several limits, and what its policy predicts for them, beside a script that reads the logs and acts by that policy.
#[test]
fn recorded_arms_are_what_a_script_makes_of_them() {
    let Some(index) =
        shared().and_then(|folder| folder.join("closed-loop/plugsuits/index.tsv").canonicalize().ok()).filter(|index| index.is_file())
    else {
        return;
    };
    let policy = project().join("examples/policies/plugsuits.toml");
    let policy = policy.to_str().unwrap();
    let (folder, index_name) = (tempfile::tempdir().unwrap(), index.to_str().unwrap());
    let words = ["validate", "--index", index_name, "--arm", "context_limit", "--before", "60000,80000,128000,200000", "-p", policy];
    let set = ["--set", "as_logged=1", "--set-by", "limit=context_limit", "--json", "--quiet"];
    let report = folder.path().join("report.json");
    fs::write(&report, ctxsim(folder.path(), &[&words[..], &set].concat())).unwrap();
    // What holds for all six arms is said once.
    let screen = ctxsim(folder.path(), &[&words[..], &set[..4], &["--quiet"]].concat());
    assert!(screen.lines().count() <= 30 && screen.matches("rest on recorded usage").count() == 2, "{screen}");
    let Some(compared) = python("validate.py", [&index, &report]) else { return };
    assert!(compared.contains("predictions differ by") && !compared.contains("DIFFERS"), "{compared}");
}

/// Logs without usage are estimates: nothing is judged by them, and both sides are named.
#[test]
fn what_is_estimated_is_not_taken_for_measured() {
    let folder = tempfile::tempdir().unwrap();
    six_tasks(folder.path());
    for task in 0..6 {
        let path = folder.path().join(format!("after/t{task}.jsonl"));
        let lines = fs::read_to_string(&path).unwrap();
        let bare = |line: &str| line.find(",\"usage\"").map_or(line.to_owned(), |at| format!("{}}}", &line[..at]));
        fs::write(&path, lines.lines().map(bare).collect::<Vec<_>>().join("\n")).unwrap();
    }
    let words = ["validate", "before/", "--with", "after/", "--pair-by", "file", "-p", "none"];
    let report = json(folder.path(), &words);
    let arm = &report["arms"][0];
    assert_eq!((arm["anchored_share_before"].as_f64(), arm["anchored_share_after"].as_f64()), (Some(1.0), Some(0.0)));
    assert_eq!(measure(&report, 0, "prompt_per_call")["verdict"], "cannot be judged");
    let told = |words: &[&str]| ctxsim(folder.path(), words).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told(&words).contains("100.0 % of tokens before and 0.0 % after"), "{}", told(&words));
    // Arms that are alike share a sentence, and those that are not are named.
    let arms = told(&["validate", "before/", "--with", "after/", "--with", "before/", "--pair-by", "file", "-p", "none"]);
    let sentence = |arm: &str, after: &str| {
        format!("Of the runs compared at {arm}, 100.0 % of tokens before and {after} after rest on recorded usage")
    };
    let (judged, not) = (sentence("before/", "100.0 %") + ".", sentence("after/", "0.0 %") + ": that is mostly estimated");
    assert!(arms.contains(&judged) && arms.contains(&not) && arms.matches("Of the runs compared").count() == 2, "{arms}");
}

/// Replies whose output the logs do not count are estimates, and cost rests on them as far as it is theirs.
#[test]
fn cost_of_estimated_replies_is_not_judged() {
    let folder = tempfile::tempdir().unwrap();
    let wordy = |id: &str, of: u64, is_placeholder: bool| {
        let begun = Native::new(json!({"session": id, "window": 100_000})).line(json!({"role": "user", "text": format!("do it: {id}")}));
        let log = (0..6).fold(begun, |log, call| {
            let usage = json!({"prompt": (1_000 + 600 * call) * of / 10, "output": 500, "output_is_placeholder": is_placeholder});
            let reply = json!({"role": "assistant", "text": format!("{id} {call} {}", "word ".repeat(500)), "usage": usage});
            log.line(reply).line(json!({"role": "user", "text": "Go on."}))
        });
        log.text()
    };
    let verdicts = |is_placeholder: bool| {
        for (side, of) in [("before", 10), ("after", 5)] {
            fs::create_dir_all(folder.path().join(side)).unwrap();
            for task in 0..6 {
                let path = folder.path().join(format!("{side}/t{task}.jsonl"));
                fs::write(path, wordy(&format!("{side}{task}"), of, is_placeholder && side == "before")).unwrap();
            }
        }
        let words = ["validate", "before/", "--with", "after/", "--pair-by", "file", "-p", "none"];
        let report = json(folder.path(), &words);
        let shown = ctxsim(folder.path(), &[&words[..], &["--quiet"]].concat()).split_whitespace().collect::<Vec<_>>().join(" ");
        let of = |key: &str| measure(&report, 0, key)["verdict"].as_str().unwrap().to_owned();
        let share = report["arms"][0]["recorded_cost_share_before"].as_f64().unwrap();
        (["prompt_per_call", "cost_per_call", "cost"].map(of), share, shown)
    };
    let (counted, share, shown) = verdicts(false);
    assert_eq!((counted[0].as_str(), share), ("off", 1.0));
    assert!(counted.iter().all(|verdict| verdict != "cannot be judged") && !shown.contains("Of cost"), "{counted:?} {shown}");
    let (estimated, share, shown) = verdicts(true);
    assert_eq!(estimated, ["off", "cannot be judged", "cannot be judged"]);
    let said = format!(
        "Of cost, {:.1} % before and 100.0 % after rests on it: most replies have no output of their own, and no cost is judged.",
        share * 100.0
    );
    assert!(share < 0.5 && shown.contains(&said), "{share} {shown}");
}
