//! `ctxsim gate`: limits in words, baselines, what moved, and every form and exit code.

use crate::made::Native;
use crate::population::{Population, Session};
use crate::support::{Ran, ctxsim, project};
use ctxsim::corpus::Corpus;
use ctxsim::experiment::Value;
use ctxsim::experiment::gate::{Allowance, Baseline, BaselineSession, SCHEMA, compare, fails_all};
use ctxsim::report::Gated;
use ctxsim::statistics::Chance;
use ctxsim::statistics::Part;
use serde_json::json;

fn gate(words: &[&str]) -> Ran {
    ctxsim(&["gate", "-q"]).args(words).run()
}

fn value(part: i64) -> Value {
    Value { part, whole: 1 }
}

#[test]
fn limits_in_words() {
    let allows = |words: &str, baseline: i64, now: i64| Allowance::parse(words).unwrap().allows(value(baseline), value(now));
    assert!(allows("tokens +2%", 1_000, 1_020) && !allows("tokens +2%", 1_000, 1_021) && allows("tokens +2 %", 1_000, 0));
    assert!(allows("overflows +0", 3, 3) && !allows("overflows +0", 3, 4) && allows("overflows +2", 3, 5));
    assert!(allows("tokens saved -10%", 100, 90) && !allows("tokens saved -10%", 100, 89));
    // What was negative has as much room as what was positive.
    assert!(allows("tokens saved -10%", -100, -110) && !allows("tokens saved -10%", -100, -111));
    // Money is limited in dollars and counted in thousand-millionths of one.
    assert!(allows("cost +$1", 5_000_000_000, 6_000_000_000) && !allows("cost +1", 5_000_000_000, 6_000_000_001));
    let share = Allowance::parse("cache_hit_rate -5%").unwrap();
    assert!(share.allows(Value { part: 80, whole: 100 }, Value { part: 76, whole: 100 }));
    assert!(!share.allows(Value { part: 80, whole: 100 }, Value { part: 75, whole: 100 }));
    let turned = Allowance::parse("cost -$1").unwrap_err().to_string();
    assert!(turned.ends_with("`cost +$1` is the limit"), "{turned}");
    // Units fit what is counted.
    for wrong in ["overflows +$1", "tokens +$1", "cost +$1%", "cache_hit_rate -$1pp"] {
        assert!(Allowance::parse(wrong).unwrap_err().to_string().contains("dollars are for amounts of money"), "{wrong}");
    }
    // Percent is percent of the baseline, points are points of the share: 5 % of 80 % are 4 points.
    let point = Allowance::parse("cache_hit_rate -5pp").unwrap();
    assert!(point.allows(Value { part: 80, whole: 100 }, Value { part: 75, whole: 100 }));
    assert!(!point.allows(Value { part: 80, whole: 100 }, Value { part: 74, whole: 100 }));
    let of_references = Allowance::parse("lost_lines +2 points").unwrap();
    assert_eq!(of_references.measure.name(), "lost_lines per line_reference");
    assert!(of_references.allows(Value { part: 10, whole: 100 }, Value { part: 12, whole: 100 }));
    assert!(allows("lost_lines +2%", 100, 102) && !allows("lost_lines +2%", 100, 103));
    // The heading of a column names its measure.
    for (typed, known) in [
        ("reused text kept -1pp", "references_kept_share"),
        ("line references lost +2%", "lost_lines"),
        ("cache hits -1pp", "cache_hit_rate"),
    ] {
        assert_eq!(Allowance::parse(typed).unwrap().measure.name(), known);
    }
    for unclear in ["cache_hit_rate -1", "tokens +2pp", "overflows +1pp", "compactions per session +1pp"] {
        assert!(Allowance::parse(unclear).unwrap_err().to_string().contains("share"), "{unclear}");
    }
    // A limit on what gets better lets it get worse.
    for (wrong, right) in [("cost -5%", "`cost +5%`"), ("overflows -1", "`overflows +1`")] {
        let said = Allowance::parse(wrong).unwrap_err().to_string();
        assert!(said.contains("get worse without limit") && said.contains(right), "{said}");
    }
    for wrong in ["tokens", "tokens 2%", "tokns +2%", "tokens +", "tokens +x", "+2%"] {
        assert!(Allowance::parse(wrong).is_err(), "{wrong}");
    }
}

/// A limit takes the place of the usual one of its own measure. One on a quotient leaves the sum's in force; points are of the sum.
#[test]
fn a_limit_on_a_quotient_leaves_that_on_the_sum() {
    let limits = |words: &str| {
        let all = Allowance::usual_and(vec![Allowance::parse(words).unwrap()]).unwrap();
        all.into_iter().map(|limit| limit.words).collect::<Vec<_>>().join(", ")
    };
    let usual = ["tokens +2%", "overflows +0", "failed_sessions +0", "lost_lines +2%"].join(", ");
    for quotient in ["overflows per session +50%", "tokens per call +50%", "lost_lines per line_reference +50%"] {
        assert_eq!(limits(quotient), format!("{usual}, {quotient}"));
    }
    assert_eq!(limits("tokens +5%"), "overflows +0, failed_sessions +0, lost_lines +2%, tokens +5%");
    assert_eq!(limits("lost_lines +2pp"), "tokens +2%, overflows +0, failed_sessions +0, lost_lines +2pp");
}

/// A run over made sessions: what they cost, or what they cost under the other setting.
fn run(corpus: &[Session], of: fn(&Session) -> i64) -> Baseline {
    let session = |(place, session): (usize, &Session)| BaselineSession {
        session: format!("s{place:04}"),
        digest: format!("{place:04}"),
        values: [of(session)].into_iter().collect(),
        free: false,
        origin: (session.origin, Part::Judged),
        unpriced_calls: 0,
    };
    Baseline {
        schema: SCHEMA.to_owned(),
        version: String::new(),
        measured: String::new(),
        policy: String::new(),
        policy_digest: String::new(),
        prices_digest: String::new(),
        conditions: String::new(),
        metrics: vec!["tokens".to_owned()],
        totals: [corpus.iter().map(of).sum()].into_iter().collect(),
        sessions: corpus.iter().enumerate().map(session).collect(),
    }
}

/// Runs that differ by chance alone: what they come to in truth is just what the limit allows.
#[test]
fn false_alarms_are_no_more_than_stated() {
    let limit = [Allowance::parse("tokens +2%").unwrap()];
    let chance = &mut Chance::new(11);
    let mut alarms = |difference: f64, runs: usize| {
        let fails = |_: &usize| {
            let corpus = Population::new(difference).corpus(60, chance);
            compare(&run(&corpus, |session| session.cost), &run(&corpus, |session| session.other), &limit).unwrap().fails()
        };
        (0..runs).filter(fails).count()
    };
    let (by_chance, by_far) = (alarms(0.02, 150), alarms(0.3, 20));
    println!("{by_chance} false alarms of 150, {by_far} of 20 true ones");
    // One in twenty is stated: the limit may lie below the interval of a true difference as often.
    assert!(by_chance <= 14, "{by_chance}");
    assert!(by_far >= 18, "{by_far}");
    // What may not happen at all is no matter of chance.
    let mut corpus: Vec<Session> =
        Population::new(0.0).corpus(60, chance).into_iter().map(|one| Session { other: one.cost, ..one }).collect();
    let was = run(&corpus, |session| session.cost);
    corpus[7].cost += 1;
    let now = run(&corpus, |session| session.cost);
    assert!(compare(&was, &now, &[Allowance::parse("tokens +0").unwrap()]).unwrap().fails());
    assert!(!compare(&was, &now, &limit).unwrap().fails());
}

#[test]
fn a_baseline_is_kept_passed_and_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("base.json").to_string_lossy().into_owned();
    let asked = ["transcripts/claude-code", "--policy", "pi", "--window", "60k", "--baseline", &base];
    let with = |more: &[&str]| gate(&asked.iter().chain(more).copied().collect::<Vec<_>>());
    let absent = with(&[]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&absent.stderr).contains("--update-baseline"));
    assert!(with(&["--update-baseline"]).status.success());
    let first = std::fs::read(&base).unwrap();
    // Nothing has moved, and nothing moves with the number of threads.
    let kept = with(&[]);
    assert_eq!(kept.status.code(), Some(0), "{}", String::from_utf8_lossy(&kept.stderr));
    assert!(with(&["--update-baseline"]).status.success());
    assert!(first == std::fs::read(&base).unwrap());
    // Another setting moves it; the policy may change, and that is said.
    let turned = ["--set", "keepRecentTokens=40k", "--allow", "tokens +2%", "--allow", "overflows +0", "--allow", "cost +5%"];
    let shut = with(&turned);
    assert_eq!(shut.status.code(), Some(1));
    let text = String::from_utf8_lossy(&shut.stdout).into_owned();
    assert!(text.contains("FAIL: ") && text.contains("exceeded") && text.contains("has changed since the baseline"), "{text}");
    let form = |form: &str| {
        let told = with(&[&turned[..], &[&format!("--{form}"), "--threads", "1"]].concat()).stdout();
        assert_eq!(told, with(&[&turned[..], &["--format", form]].concat()).stdout(), "both ways to say it");
        told
    };
    let github = form("github");
    assert!(
        github.lines().all(|line| ["::error title=", "::warning title=", "::notice title="].iter().any(|start| line.starts_with(start))),
        "{github}"
    );
    assert!(github.contains("tokens +2%25::"), "{github}");
    let junit = form("junit");
    assert!(junit.contains("tests=\"5\"") && junit.contains("<failure message=") && junit.trim_end().ends_with("</testsuites>"), "{junit}");
    let record: serde_json::Value = serde_json::from_str(&form("json")).unwrap();
    assert_eq!((record["schema"].as_str(), record["passed"].as_bool()), (Some("ctxsim.gate/2"), Some(false)));
    // In spreadsheets differences and their bounds are numbers.
    let text = form("csv");
    let mut sheet = csv::Reader::from_reader(text.as_bytes());
    let keys = sheet.headers().unwrap().clone();
    assert_eq!(keys.iter().skip(3).take(4).collect::<Vec<_>>(), ["difference", "change", "change_low", "change_high"]);
    for row in sheet.records().map(Result::unwrap) {
        assert!(row.iter().skip(1).take(6).all(|cell| cell.is_empty() || cell.parse::<f64>().is_ok()), "{row:?}");
    }
    // What is shown is what is judged: the difference, and its share of the baseline.
    let points = with(&[&turned[..2], &["--allow", "cache_hit_rate -0pp", "--allow", "cache_hit_rate -0.01%", "--details"]].concat());
    let text = String::from_utf8_lossy(&points.stdout).into_owned();
    let measures = record["measures"].as_array().unwrap();
    let tokens = measures.iter().find(|moved| moved["measure"] == "tokens").unwrap();
    let relative = (tokens["now"].as_f64().unwrap() / tokens["baseline"].as_f64().unwrap() - 1.0) * 100.0;
    let shown = (relative.abs() * 100.0).ceil() / 100.0;
    assert!(text.contains(&format!("{}{shown:.2} %", if relative < 0.0 { "-" } else { "+" })), "{shown}: {text}");
    assert!(text.contains(" pp ") && text.contains("change"), "{text}");
    // What moved in sessions adds up to what moved in all of them.
    let tokens = record["measures"].as_array().unwrap().iter().find(|moved| moved["measure"] == "tokens").unwrap();
    let moved = |one: &serde_json::Value| one["now"].as_f64().unwrap() - one["baseline"].as_f64().unwrap();
    let sum: f64 = tokens["sessions"].as_array().unwrap().iter().map(moved).sum();
    assert_eq!(sum, moved(tokens));
    // Other sessions or conditions are no comparison.
    for other in [["--corpus", "transcripts/pi"], ["--model", "gpt-5"], ["--tokenizer", "cl100k_base"], ["--subagents", "exclude"]] {
        let output = with(&other);
        assert_eq!(output.status.code(), Some(2), "{other:?}");
    }
    // Totals that are not those of the sessions are none that can be compared with.
    let written = first;
    let mut forged: serde_json::Value = serde_json::from_slice(&written).unwrap();
    forged["totals"][0] = 5.into();
    std::fs::write(&base, forged.to_string()).unwrap();
    let refused = with(&[]);
    assert_eq!((refused.status.code(), refused.stderr().contains("totals are not those of its sessions")), (Some(2), true));
    // So are sums beyond what a number holds, and counts below zero, which would let anything pass.
    let place = forged["metrics"].as_array().unwrap().iter().position(|name| name == "overflows").unwrap();
    for [first, second, total] in [[i64::MAX, 1, i64::MIN], [-5, 5, 0]] {
        forged = serde_json::from_slice(&written).unwrap();
        let sessions = forged["sessions"].as_array_mut().unwrap();
        sessions.iter_mut().for_each(|session| session["values"][place] = 0.into());
        sessions[0]["values"][place] = first.into();
        sessions[1]["values"][place] = second.into();
        forged["totals"][place] = total.into();
        std::fs::write(&base, forged.to_string()).unwrap();
        let refused = with(&[]);
        assert_eq!((refused.status.code(), refused.stderr().contains("are not those of its sessions")), (Some(2), true), "{first}");
    }
    std::fs::write(&base, "{}").unwrap();
    assert_eq!(with(&[]).status.code(), Some(2));
}

/// The same sessions are the same corpus, whether they come from logs or from the trace file that was built of them.
#[test]
fn a_baseline_of_logs_holds_for_their_trace_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (base, built) = (path("base.json"), path("built.ctxtrace"));
    ctxsim(&["trace", "build", "-q", "transcripts/", "-o", &built]).code(0);
    for policy in ["codex", "baseagent", "goose"] {
        let written = gate(&["transcripts/", "--policy", policy, "--baseline", &base, "--update-baseline"]);
        assert!(written.status.success(), "{policy}");
        let compared = gate(&[&built, "--policy", policy, "--baseline", &base]);
        assert_eq!(compared.status.code(), Some(0), "{policy}: {}", String::from_utf8_lossy(&compared.stderr));
    }
}

#[test]
fn other_names_are_no_other_facts() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let root = project();
    std::fs::create_dir(path("logs")).unwrap();
    std::fs::copy(root.join("transcripts/pi/sudden-results.jsonl"), path("logs/one.jsonl")).unwrap();
    std::fs::write(path("one.toml"), "extends = \"pi\"\n").unwrap();
    std::fs::write(path("two.toml"), "extends = \"pi\"\n").unwrap();
    let base = path("base.json");
    let with =
        |policy: &str, more: &[&str]| gate(&[&[path("logs").as_str(), "--policy", &path(policy), "--baseline", &base], more].concat());
    assert!(with("one.toml", &["--update-baseline"]).status.success());
    std::fs::rename(path("logs/one.jsonl"), path("logs/two.jsonl")).unwrap();
    let output = with("two.toml", &[]);
    let text = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("all that it says is the same") && text.contains("1 had another name"), "{text}");
    let turned = with("two.toml", &["--set", "keepRecentTokens=1k"]);
    assert!(String::from_utf8_lossy(&turned.stdout).contains("another policy"), "{}", String::from_utf8_lossy(&turned.stdout));
}

/// The figures of a baseline are those of `replay` and `cost`.
#[test]
fn a_baseline_holds_what_replay_and_cost_count() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().join("base.json").to_string_lossy().into_owned();
    assert!(gate(&["transcripts", "--policy", "opencode", "--baseline", &base, "--update-baseline"]).status.success());
    let baseline: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&base).unwrap()).unwrap();
    let place = |name: &str| baseline["metrics"].as_array().unwrap().iter().position(|metric| metric == name).unwrap();
    let replay = ctxsim(&["replay", "transcripts", "-q", "-p", "opencode", "--json"]).json();
    let policy = &replay["policies"][0];
    for (metric, key) in
        [("prompt_tokens", "prompt_tokens"), ("calls", "calls"), ("peak_tokens", "peak_tokens"), ("overflows", "overflows")]
    {
        assert_eq!(baseline["totals"][place(metric)], policy[key], "{metric}");
    }
    let dollars: f64 = policy["cost"]["calibrated"]["cost"].as_str().unwrap().parse().unwrap();
    assert!((baseline["totals"][place("cost")].as_f64().unwrap() / 1e9 - dollars).abs() < 1e-9);
    assert_eq!(baseline["sessions"].as_array().unwrap().len(), policy["sessions"].as_array().unwrap().len());
}

/// What is asked of one measure leaves the limits of all others in force.
#[test]
fn a_policy_that_begins_to_overflow_fails() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    // Replies fill the window of 8,000; a recorded summary makes room at 7,500, and the talk goes on.
    let compaction = json!({"compaction": {"kind": "compact", "automatic": true, "tokens_before": 7980, "summary": "so far"}});
    std::fs::create_dir(at("logs")).unwrap();
    for id in ["one", "two"] {
        let log = (1..=20).fold(Native::new(json!({"session": id, "agent": "pi", "window": 8000})), |log, place| {
            let log = if place == 16 { log.line(compaction.clone()) } else { log };
            let prompt = 500 * place - if place > 15 { 7_000 } else { 0 };
            log.asked(&format!("go on {id} {place}"), &format!("{id}{place} word ").repeat(160), prompt, 480)
        });
        log.write(folder.path(), &format!("logs/{id}.jsonl"));
    }
    // The one compacts in time; the other keeps everything until the provider refuses.
    std::fs::write(at("mine.toml"), "extends = \"codex\"\n").unwrap();
    let typed = ["gate", "logs/", "--policy", "mine.toml", "--baseline", "base.json", "--allow", "tokens +2%"];
    let gate = |more: &[&str]| ctxsim(&typed).args(more).within(folder.path()).run();
    let written = gate(&["--update-baseline"]);
    assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
    let pass = gate(&[]);
    let text = String::from_utf8_lossy(&pass.stdout).into_owned();
    assert!(
        pass.status.code() == Some(0) && text.starts_with("PASS: all 4 limits kept\n"),
        "{text}{}",
        String::from_utf8_lossy(&pass.stderr)
    );
    std::fs::write(at("mine.toml"), "extends = \"none\"\n").unwrap();
    let fail = gate(&[]);
    let text = String::from_utf8_lossy(&fail.stdout).into_owned();
    assert!(fail.status.code() == Some(1) && text.starts_with("FAIL: ") && text.contains("of 4 limits exceeded"), "{text}");
    assert!(String::from_utf8_lossy(&fail.stderr).contains("exceeds overflows +0"), "{}", String::from_utf8_lossy(&fail.stderr));
    let baseline: serde_json::Value = serde_json::from_slice(&std::fs::read(at("base.json")).unwrap()).unwrap();
    let place = baseline["metrics"].as_array().unwrap().iter().position(|name| name == "overflows").unwrap();
    assert_eq!(baseline["totals"][place], 0, "from none to {text}");
}

/// A baseline that an earlier version wrote, with the names of its time, is compared as ever.
#[test]
fn names_of_an_earlier_baseline_are_known() {
    let baseline = |schema: &str, metric: &str| Baseline {
        schema: schema.to_owned(),
        metrics: vec![metric.to_owned()],
        totals: [100].into_iter().collect(),
        version: String::new(),
        measured: String::new(),
        policy: String::new(),
        policy_digest: String::new(),
        prices_digest: String::new(),
        conditions: String::new(),
        sessions: vec![BaselineSession {
            session: "s".to_owned(),
            digest: "d".to_owned(),
            values: [100].into_iter().collect(),
            free: false,
            origin: Default::default(),
            unpriced_calls: 0,
        }],
    };
    let limit = [Allowance::parse("lost_lines +0").unwrap()];
    let (was, now) = (baseline("ctxsim.baseline/1", "broken references"), baseline(SCHEMA, "lost_lines"));
    assert!(!compare(&was, &now, &limit).unwrap().fails());
    let sessions = vec![BaselineSession { values: [101].into_iter().collect(), ..now.sessions[0].clone() }];
    let worse = Baseline { totals: [101].into_iter().collect(), sessions, ..now };
    assert!(compare(&was, &worse, &limit).unwrap().fails());
}

/// Sessions that another program measured are told from other sessions, with what to do.
#[test]
fn a_baseline_of_another_form_says_which() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base.json");
    let typed = ["tests/data/cli/session.jsonl", "-p", "pi", "--baseline", path.to_str().unwrap()];
    assert!(gate(&[&typed[..], &["--update-baseline"]].concat()).status.success());
    let mut baseline: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let form = baseline["measured"].as_str().unwrap().to_owned();
    assert!(form.starts_with("ctxtrace/"), "{form}");
    baseline["sessions"][0]["digest"] = "0".into();
    let said = |baseline: &serde_json::Value| {
        std::fs::write(&path, baseline.to_string()).unwrap();
        let ran = gate(&typed);
        assert_eq!(ran.status.code(), Some(2));
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    assert!(said(&baseline).contains("the corpus is another than the baseline's: its sessions: 0 new, 0 gone, 1 measured otherwise"));
    baseline["measured"] = "ctxtrace/14".into();
    let program = ctxsim(&["--version"]).stdout();
    let program = program.trim();
    let forms = format!("measured by {program} in the form ctxtrace/14, this is {program} in the form {form}: its sessions");
    let told = said(&baseline);
    assert!(told.contains(&forms) && told.contains("--update-baseline"), "{told}");
    // Files from before the form was noted.
    baseline.as_object_mut().unwrap().remove("measured");
    baseline["version"] = "0.1.0".into();
    assert!(said(&baseline).contains("measured by ctxsim 0.1.0 in an earlier form, this is"));
}

/// What is nothing in most sessions and more in all others is more: draws without any of it say nothing, and are no sign of no change.
#[test]
fn what_rises_wherever_it_is_fails() {
    let folder = tempfile::tempdir().unwrap();
    let baseline = folder.path().join("pi.json").to_string_lossy().into_owned();
    assert!(gate(&["transcripts", "-p", "pi", "--baseline", &baseline, "--update-baseline"]).status.success());
    let ran = gate(&["transcripts", "-p", "picoclaw", "--baseline", &baseline]);
    assert_eq!(ran.status.code(), Some(1), "{}", String::from_utf8_lossy(&ran.stdout));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("exceeds lost_lines"));
}

/// A baseline of these metrics, with a row of values for each session.
fn of_rows<const N: usize>(metrics: [&str; N], rows: &[[i64; N]]) -> Baseline {
    Baseline {
        schema: SCHEMA.to_owned(),
        metrics: metrics.map(str::to_owned).to_vec(),
        totals: (0..N).map(|place| rows.iter().map(|row| row[place]).sum::<i64>()).collect(),
        version: String::new(),
        measured: String::new(),
        policy: String::new(),
        policy_digest: String::new(),
        prices_digest: String::new(),
        conditions: String::new(),
        sessions: (0..)
            .zip(rows)
            .map(|(place, row)| BaselineSession {
                session: format!("s{place}"),
                digest: format!("{place}"),
                values: row.iter().copied().collect(),
                free: false,
                origin: (ctxsim::statistics::Origin { project: None, family: place }, Part::Judged),
                unpriced_calls: 0,
            })
            .collect(),
    }
}

#[test]
fn a_limit_on_money_is_not_judged_without_a_price() {
    let limits = ["cost +1%", "net_cost +0"].map(|words| Allowance::parse(words).unwrap());
    let metrics = ["cost", "net_cost", "calls"];
    let told = |rows: &[[i64; 3]]| {
        let run = of_rows(metrics, rows);
        compare(&run, &run, &limits).unwrap()
    };
    let found = told(&[[0, 0, 4], [0, 0, 0]]);
    for moved in &found.measures {
        assert_eq!((moved.untold.len(), moved.exceeded.len(), moved.unpriced), (1, 0, 1), "{}", moved.measure.name());
    }
    assert!(found.changes.iter().any(|said| said.contains("No price is known for 1 of 2 sessions")), "{:?}", found.changes);
    // A price in one of the runs alone is no difference of policies.
    let found = compare(&of_rows(metrics, &[[9, 9, 4]]), &of_rows(metrics, &[[0, 0, 4]]), &limits).unwrap();
    assert!(found.measures.iter().all(|moved| moved.untold.len() == 1 && moved.sessions.is_empty()));
    // A price of zero is one: there a limit on money is judged, and whoever costs something then exceeds it.
    let free = |rows: &[[i64; 3]]| {
        let mut run = of_rows(metrics, rows);
        run.sessions.iter_mut().for_each(|session| session.free = session.values.get(0) == Some(0));
        run
    };
    let found = compare(&free(&[[0, 0, 4]]), &free(&[[0, 0, 4]]), &limits).unwrap();
    assert!(found.measures.iter().all(|moved| (moved.untold.len(), moved.unpriced, moved.is_unjudged) == (0, 0, false)));
    assert!(compare(&free(&[[0, 0, 4]]), &free(&[[9, 9, 4]]), &limits).unwrap().fails());
    let found = compare(&free(&[[0, 0, 4]]), &of_rows(metrics, &[[0, 0, 4]]), &limits).unwrap();
    assert!(found.measures.iter().all(|moved| moved.is_unjudged && moved.unpriced == 1));
    // One that has a price is judged by, and the other one is counted.
    let found = told(&[[0, 0, 4], [7, 7, 4]]);
    assert!(found.measures.iter().all(|moved| moved.untold.is_empty() && moved.unpriced == 1));
}

/// Projects of sessions without a price are none where money is judged: four projects with a price are too few to draw projects.
#[test]
fn sessions_without_a_price_make_no_project_of_a_limit_on_money() {
    let limits = [Allowance::parse("cost +1%").unwrap()];
    let run = |moved: i64, unpriced: u64| {
        let rows: Vec<[i64; 3]> =
            (0..12).map(|row| [1_000 + moved * (row % 5 - 1), 0, 4]).chain((0..unpriced).map(|_| [0, 0, 4])).collect();
        let mut run = of_rows(["cost", "overflows", "calls"], &rows);
        for (place, session) in run.sessions.iter_mut().enumerate() {
            session.origin.0.project = Some(if place < 12 { place as u64 % 4 } else { place as u64 });
        }
        run
    };
    for unpriced in [0, 3] {
        let found = compare(&run(0, unpriced), &run(16, unpriced), &limits).unwrap();
        let [cost] = found.measures.as_slice() else { panic!("{} measures", found.measures.len()) };
        assert_eq!((cost.untold.len(), cost.exceeded.len(), cost.unpriced as u64), (1, 0, unpriced));
        assert_eq!(cost.difference.as_ref().map(|difference| difference.clusters), Some(12));
    }
}

/// Where every session fails, or none has a call, no limit but that on failures is judged, and the headline says so.
#[test]
fn a_limit_over_no_session_is_not_kept() {
    let limits = ["tokens +2%", "failed_sessions +0"].map(|words| Allowance::parse(words).unwrap());
    let untold = |rows: &[[i64; 3]]| {
        let run = of_rows(["tokens", "failed_sessions", "calls"], rows);
        compare(&run, &run, &limits).unwrap().measures.iter().map(|moved| moved.is_unjudged).collect::<Vec<bool>>()
    };
    assert_eq!((untold(&[[5, 1, 4], [9, 1, 4]]), untold(&[[5, 1, 4], [9, 0, 4]])), (vec![true, false], vec![false, false]));
    assert_eq!(untold(&[[0, 0, 0]]), [true, true]);
    // Where the policy fails every session with a call, nothing is compared, however alike the runs are.
    let failing = of_rows(["tokens", "failed_sessions", "calls"], &[[5, 1, 4], [0, 0, 0]]);
    let comparison = compare(&failing, &failing, &limits).unwrap();
    let report = ctxsim::report::gate(&Gated { corpus: &Corpus::default(), policy: "p", comparison: &comparison });
    assert_eq!(report.title, "CANNOT TELL: no session with a call is brought to its end in both runs");
    assert!(fails_all(&failing) && !fails_all(&of_rows(["tokens", "failed_sessions", "calls"], &[[5, 1, 4], [9, 0, 4]])));
    let folder = tempfile::tempdir().unwrap();
    let log =
        Native::new(json!({"window": 100_000})).line(json!({"role": "user", "text": "nothing came of it"})).write(folder.path(), "a.jsonl");
    let baseline = folder.path().join("b.json");
    let words = [&log, "-p", "none", "--baseline", baseline.to_str().unwrap()];
    assert!(gate(&[&words[..], &["--update-baseline"]].concat()).status.success());
    let told = gate(&words).stdout();
    assert!(told.starts_with("CANNOT TELL: none of 4 limits can be judged\n") && !told.contains("kept"), "{told}");
}

/// A policy that mends a failed session is not taken for a dearer one: nothing but failures is compared of it.
#[test]
fn a_session_that_either_run_fails_is_left_out() {
    let baseline = |rows: &[[i64; 3]]| of_rows(["tokens", "failed_sessions", "calls"], rows);
    let limits = ["tokens +2%", "failed_sessions +0"].map(|words| Allowance::parse(words).unwrap());
    let (was, now) = (baseline(&[[5, 1, 0], [100, 0, 4]]), baseline(&[[9_000, 0, 40], [101, 0, 4]]));
    let found = compare(&was, &now, &limits).unwrap();
    let tokens = &found.measures[0];
    assert_eq!((found.fails(), tokens.baseline.part, tokens.now.part, tokens.compared), (false, 100, 101, 1));
    assert_eq!((found.measures[1].baseline.part, found.measures[1].now.part, found.measures[1].compared), (1, 0, 2));
    assert!(found.changes.iter().any(|said| said.contains("Both bring 1 of 2 sessions")), "{:?}", found.changes);
    assert!(compare(&now, &was, &limits).unwrap().fails(), "it fails a session more");
    // Sessions without a call are none to draw: three sessions are judged by what they come to.
    let sessions = |tokens: i64| baseline(&[[[tokens, 0, 4]; 3].as_slice(), &[[0; 3]; 8]].concat());
    assert!(compare(&sessions(100), &sessions(113), &limits).unwrap().fails());
}

/// An amount is held against what is counted, from `+0` on: both runs replay the same sessions. Percent speaks of sessions like these, and an excess within the uncertainty
/// is undecided.
#[test]
fn an_amount_is_held_against_what_is_counted() {
    let metrics = ["lost_lines", "calls", "cost"];
    let rows = |lost: [i64; 8]| lost.map(|lost| [lost, 4, 0]);
    let was = of_rows(metrics, &rows([10; 8]));
    let found = |more: i64, limit: &str| {
        let now = of_rows(metrics, &rows([10 + more, 10, 10, 10, 10, 10, 10, 10]));
        let comparison = compare(&was, &now, &[Allowance::parse(limit).unwrap()]).unwrap();
        (comparison.fails(), comparison.measures[0].untold.len())
    };
    let (kept, exceeded, undecided) = ((false, 0), (true, 0), (false, 1));
    for (limit, allowed) in [("lost_lines +0", 0), ("lost_lines +1", 1), ("lost_lines +2", 2), ("lost_lines +32", 32)] {
        assert_eq!([found(allowed, limit), found(allowed + 1, limit), found(33, limit)], [kept, exceeded, exceeded], "{limit}");
    }
    assert_eq!([found(33, "lost_lines +2%"), found(1, "lost_lines +2%"), found(1, "lost_lines +0%")], [undecided, kept, exceeded]);
}

/// A limit that is exceeded by no more than the uncertainty is named in the verdict. Where no limit is in money, nothing is said of prices.
#[test]
fn an_undecided_limit_is_named_in_the_verdict() {
    let metrics = ["tokens", "calls", "cost"];
    let rows = |tokens: [i64; 6]| tokens.map(|tokens| [tokens, 4, 0]);
    let (was, now) = (of_rows(metrics, &rows([100; 6])), of_rows(metrics, &rows([150, 90, 100, 95, 110, 101])));
    let report = |limits: &[&str]| {
        let limits = limits.iter().map(|words| Allowance::parse(words).unwrap()).collect::<Vec<_>>();
        let comparison = compare(&was, &now, &limits).unwrap();
        let report = ctxsim::report::gate(&Gated { corpus: &Corpus::default(), policy: "p", comparison: &comparison });
        (report.title, comparison.changes.join(" "))
    };
    let (title, changes) = report(&["tokens +2%"]);
    assert_eq!(title, "PASS, 1 limit undecided: tokens +7.67 % (limit +2 %) is within the uncertainty (90 %)");
    assert!(!changes.contains("No price"), "{changes}");
    assert!(report(&["tokens +2%", "cost +1%"]).1.contains("No price is known"));
    assert_eq!(report(&["tokens +10%"]).0, "PASS: all 1 limit kept");
}

/// What is left out is said of the figures that leave it out: fewer sessions may end where the agent reads again what it needs.
#[test]
fn net_figures_are_over_fewer_sessions() {
    let metrics = ["tokens", "net_cost", "failed_sessions", "net_failed_sessions", "calls"];
    let limits = ["tokens +2%", "net_cost +2%"].map(|words| Allowance::parse(words).unwrap());
    let said = |failed: i64, net: i64| {
        let rows: Vec<[i64; 5]> = (0..1_180).map(|place| [100, 50, i64::from(place < failed), i64::from(place < net), 4]).collect();
        let run = of_rows(metrics, &rows);
        let found = compare(&run, &run, &limits).unwrap();
        assert_eq!(found.measures.iter().map(|moved| moved.compared as i64).collect::<Vec<_>>(), [1_180 - failed, 1_180 - net]);
        found.changes.into_iter().find(|said| said.contains("to their end"))
    };
    let both = "of 1,180 sessions to their end";
    let over =
        |more: &str| Some(format!("Both bring 1,163 {both}: figures are over these, but for those of failures and overflows{more}."));
    assert_eq!([said(17, 20), said(17, 17)], [over("; net ones are over 1,160"), over("")]);
    let net = format!("Both bring 1,160 {both} where the agent reads again what it needs: net figures are over these.");
    assert_eq!([said(0, 20), said(0, 0)], [Some(net), None]);
}

/// A gate that no policy could fail passes, and says so.
#[test]
fn a_gate_over_sessions_in_which_nothing_happens_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("base.json");
    let title = |policy: &str, window: &str| {
        let typed = ["tests/data/cli/session.jsonl", "-p", policy, "--window", window, "--baseline", path.to_str().unwrap()];
        assert!(gate(&[&typed[..], &["--update-baseline"]].concat()).status.success());
        let ran = gate(&typed);
        let text = ran.stdout();
        let told = text.contains("they put no limit to the test");
        (ran.status.code(), text.lines().next().unwrap().to_owned(), told)
    };
    let idle = "PASS: all 4 limits kept, but neither run acts on any session";
    assert_eq!(title("pi", "200k"), (Some(0), idle.to_owned(), true));
    assert_eq!(title("tests/data/cli/mask.toml", "1k"), (Some(0), "PASS: all 4 limits kept".to_owned(), false));
}
