//! `docs/validation.md`: every claim as a row, made from recorded sessions. `CTXSIM_WRITE=1 cargo test --release --test it validation_page` writes it.

use crate::conformance::tallies;
use crate::support::{ctxsim, project, shared, skip};
use ctxsim::catalog::Scenario;
use ctxsim::experiment::validate::{Run, Sides, validate};
use ctxsim::statistics::Chance;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const BEFORE: &str = "60000,80000,128000,200000";

/// So many tasks are drawn for each pair of arms.
const DRAWN: [usize; 2] = [20, 5];

/// So often.
const TIMES: usize = 40;

fn json(words: &[&str]) -> Value {
    ctxsim(words).args(["--json", "--quiet"]).json()
}

/// A row of a table.
fn row(page: &mut String, cells: &[String]) {
    writeln!(page, "| {} |", cells.join(" | ")).unwrap();
}

fn head(page: &mut String, cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
    row(page, &cells);
    row(page, &cells.iter().map(|_| "---".to_owned()).collect::<Vec<_>>());
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn change(now: f64, before: f64) -> String {
    format!("{:+.0} %", (now / before - 1.0) * 100.0)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn measure<'v>(arm: &'v Value, key: &str) -> &'v Value {
    arm["measures"].as_array().unwrap().iter().find(|found| found["measure"] == key).unwrap()
}

fn arms(report: &Value) -> &Vec<Value> {
    report["arms"].as_array().unwrap()
}

/// The whole page, and its summary in front.
fn page(shared: &Path) -> String {
    let root = project();
    let folders: Vec<String> =
        [shared.join("transcripts"), shared.join("transcripts-2")].iter().map(|folder| folder.display().to_string()).collect();
    let logs: Vec<&str> = folders.iter().map(String::as_str).collect();
    let (mut claims, mut page) = (Vec::new(), String::new());
    vectors(&mut claims, &mut page);
    backtest(&logs, &mut claims, &mut page);
    bills(&logs, &mut claims, &mut page);
    closed_loop(root, shared, &mut claims, &mut page);
    lengths(&mut claims, &mut page);
    coverage(shared, &mut claims, &mut page);
    let mut top = fs::read_to_string(root.join("tests/data/validation-head.md")).unwrap();
    head(&mut top, &["claim", "figure", "it holds"]);
    claims.iter().for_each(|claim: &[String; 3]| row(&mut top, claim));
    top + &page + &fs::read_to_string(root.join("tests/data/validation-tail.md")).unwrap()
}

type Claims = Vec<[String; 3]>;

fn claim(claims: &mut Claims, what: &str, figure: String, holds: &str) {
    claims.push([what.to_owned(), figure, holds.to_owned()]);
}

fn vectors(claims: &mut Claims, page: &mut String) {
    page.push_str("\n## Golden vectors\n\nInputs and outputs of the systems' own code, through the presets ([what is not modelled](fidelity.md)).\n\n");
    head(page, &["system", "vectors that pass", "not modelled"]);
    let tallies = tallies();
    for (system, (passed, all)) in &tallies {
        row(page, &[system.clone(), format!("{passed} of {all}"), (all - passed).to_string()]);
    }
    let (passed, all) = tallies.values().fold((0, 0), |(passed, all), tally| (passed + tally.0, all + tally.1));
    claim(claims, "presets act as the systems' own code", format!("{passed} of {all} vectors"), "yes, none is answered wrongly");
}

fn backtest(logs: &[&str], claims: &mut Claims, page: &mut String) {
    let report = json(&[&["backtest"], logs, &["--by", "agent,version"]].concat());
    let mut agents: BTreeMap<String, [u64; 3]> = BTreeMap::new();
    page.push_str("\n## Recorded compactions, predicted\n\n`ctxsim backtest --by agent,version`: automatic compactions and prunings that the agent's own preset predicts within one call.\n\n");
    head(page, &["agent", "version", "sessions", "predicted", "missed", "false alarms"]);
    for group in report["groups"].as_array().unwrap() {
        let of = |key: &str| group[key].as_u64().unwrap();
        let (hits, missed, alarms) = (of("hits"), of("missed"), of("false_alarms"));
        if hits + missed + alarms == 0 {
            continue;
        }
        let agent = group["by"]["agent"].as_str().unwrap();
        let sum = agents.entry(agent.to_owned()).or_default();
        *sum = [sum[0] + hits, sum[1] + missed, sum[2] + alarms];
        let counts = [of("sessions"), hits, missed, alarms].map(|count| count.to_string());
        row(page, &[&[agent.to_owned(), group["by"]["version"].as_str().unwrap().to_owned()][..], &counts].concat());
    }
    let [hits, missed, alarms] = agents.values().fold([0; 3], |sum, own| [sum[0] + own[0], sum[1] + own[1], sum[2] + own[2]]);
    let by_agent: Vec<String> = agents.iter().map(|(agent, own)| format!("{agent} {} of {}", own[0], own[0] + own[1])).collect();
    claim(claims, "compactions are predicted within one call", format!("{hits} of {} ({})", hits + missed, by_agent.join(", ")), "yes");
    claim(
        claims,
        "no compaction is predicted that did not happen",
        format!("{alarms} false alarms"),
        if alarms == 0 { "yes" } else { "mostly" },
    );
    let events = report["events"].as_array().unwrap();
    let hits = || events.iter().filter(|event| event["verdict"] == "hit");
    let system = |event: &Value| event["policy"].as_str().unwrap().split('@').next().unwrap().to_owned();
    let median = |mut errors: Vec<f64>| {
        errors.sort_by(f64::total_cmp);
        errors.get((errors.len().max(1) - 1) / 2).copied()
    };
    let of_codex = hits().filter(|event| system(event) == "codex");
    let of_codex = of_codex.filter_map(|event| Some(event["distance_tokens"].as_f64()?.abs() / number(&event["recorded_tokens"])));
    let codex = median(of_codex.collect()).map_or(String::new(), |error| format!(" (codex {:.1} %)", error * 100.0));
    let error = format!("{:.2} % of the trigger's tokens, the median of the hits{codex}", number(&report["median_token_error"]) * 100.0);
    claim(claims, "sizes are anchored on recorded usage", error, "yes");
    let mut after: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for event in hits() {
        if let Some((predicted, recorded)) = event["predicted_after_tokens"].as_f64().zip(event["recorded_after_tokens"].as_f64()) {
            after.entry(system(event)).or_default().push((predicted - recorded).abs() / recorded);
        }
    }
    let worst = after.values().flatten().copied().fold(0.0, f64::max);
    let by_agent = after.into_iter().filter_map(|(system, errors)| Some(format!("{system} {}", percent(median(errors)?))));
    let by_agent: Vec<String> = by_agent.collect();
    let error = percent(number(&report["median_after_error"]));
    let error = format!("off by {error} in the median of the hits ({}), {} at worst", by_agent.join(", "), percent(worst));
    claim(claims, "the prompt after a predicted compaction is predicted", error, "roughly: what an agent reads back is its own choice");
}

fn bills(logs: &[&str], claims: &mut Claims, page: &mut String) {
    let report = json(&[&["cost"], logs, &["-p", "none"]].concat());
    page.push_str("\n## The unchanged recording\n\n`ctxsim cost`: what the bill of the recording is off, each call with the cache factors of its session's other calls, and the calls at which the modelled cache reads what the recorded one did, within 1,024 tokens, of those at which either reads anything.\n\n");
    head(page, &["agent", "calls", "bill off", "cache reads met", "of calls"]);
    let (mut within, mut reads) = (0, 0);
    let mut errors = Vec::new();
    for agent in report["agents"].as_array().unwrap() {
        let error = &agent["cost_error"];
        let of = |key: &str| error[key].as_u64().unwrap();
        if of("cache_reads") == 0 {
            continue;
        }
        (within, reads) = (within + of("cache_reads_within"), reads + of("cache_reads"));
        // Where no priced call has a count of its cache, the recorded price has none, and nothing tells which of both is right.
        let is_counted = agent["modelled"]["cost"] != agent["held_out"]["cost"];
        if of("cache_reads") >= 20 && is_counted {
            errors.extend(error["recorded"].as_f64().map(f64::abs));
        }
        let off = error["recorded"].as_f64().map_or_else(|| "no price".to_owned(), |off| format!("{:+.1} %", off * 100.0));
        let share = percent(of("cache_reads_within") as f64 / of("cache_reads") as f64);
        row(page, &[agent["agent"].as_str().unwrap().to_owned(), agent["calls"].to_string(), off, share, of("cache_reads").to_string()]);
    }
    errors.sort_by(f64::total_cmp);
    let (median, worst) = (errors[errors.len() / 2], errors[errors.len() - 1]);
    claim(
        claims,
        "bills of the recording are met",
        format!(
            "off by {} in the median over agents with 20 calls or more whose cache is counted, {} at worst",
            percent(median),
            percent(worst)
        ),
        "for most agents",
    );
    claim(
        claims,
        "cache reads are met within 1,024 tokens and a tenth of the prompt",
        format!("{within} of {reads} calls, {}", percent(within as f64 / reads as f64)),
        "by agent: explicit caches yes, implicit ones miss at random",
    );
}

/// The runs of plugsuits under its limits, beside its own policy and a crude one.
fn closed_loop(root: &Path, shared: &Path, claims: &mut Claims, page: &mut String) {
    let folder = shared.join("closed-loop/plugsuits");
    let text = fs::read_to_string(folder.join("index.tsv")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let with_settings = scratch.path().join("index.tsv");
    let mut table = String::new();
    let mut place = 0;
    for (number, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.split('\t').collect();
        if number == 0 {
            place = cells.iter().position(|cell| *cell == "context_limit").unwrap();
            writeln!(table, "{line}\ttrigger\tkeep").unwrap();
        } else {
            let limit: u64 = cells[place].parse().unwrap();
            let share = [(16_000, 45), (32_000, 50), (64_000, 55), (128_000, 60)]
                .iter()
                .find(|(most, _)| limit <= *most)
                .map_or(65, |(_, share)| *share);
            writeln!(table, "{}\t{}\t{}", folder.join(line).display(), limit * share / 100, limit * 3 / 10).unwrap();
        }
    }
    fs::write(&with_settings, table).unwrap();
    let asked = |index: &Path, policy: &Path, settings: &[&str]| {
        let words =
            ["validate", "--arm", "context_limit", "--before", BEFORE, "--index", index.to_str().unwrap(), "-p", policy.to_str().unwrap()];
        json(&[&words[..], settings].concat())
    };
    let own = asked(
        &folder.join("index.tsv"),
        &root.join("examples/policies/plugsuits.toml"),
        &["--set", "as_logged=1", "--set-by", "limit=context_limit"],
    );
    let crude =
        asked(&with_settings, &shared.join("closed-loop/crude-policy.toml"), &["--set-by", "trigger=trigger", "--set-by", "keep=keep"]);
    page.push_str(&fs::read_to_string(root.join("tests/data/validation-closed-loop.md")).unwrap());
    head(
        page,
        &[
            "limit",
            "runs",
            "measured",
            "90 %",
            "own policy",
            "crude",
            "measured / own",
            "/ crude",
            "error by task: own",
            "crude",
            "no change",
            "verdict: own",
            "crude",
        ],
    );
    let mut errors = [0.0; 3];
    for (arm, other) in arms(&own).iter().zip(arms(&crude)) {
        let [found, crude] = [arm, other].map(|arm| measure(arm, "prompt_per_call"));
        let before = number(&found["before"]);
        let bounds = found["intervals"]["measured_change"].as_array().map_or_else(String::new, |bounds| {
            bounds.iter().map(|bound| format!("{:+.0}", number(bound) * 100.0)).collect::<Vec<_>>().join(" to ")
        });
        let by_task = [&found["mean_error_by_task"], &crude["mean_error_by_task"], &found["unchanged_mean_error_by_task"]].map(number);
        errors.iter_mut().zip(by_task).for_each(|(sum, error)| *sum += error / arms(&own).len() as f64);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let cells = [
            text(&arm["arm"]),
            arm["runs_after"].to_string(),
            change(number(&found["measured"]), before),
            bounds,
            change(number(&found["predicted"]), before),
            change(number(&crude["predicted"]), before),
        ];
        let ratios = [found, crude].map(|found| {
            let [low, high] = [0, 1].map(|end| number(&found["intervals"]["measured_over_predicted"][end]));
            format!("{low:.2} to {high:.2}")
        });
        row(page, &[&cells[..], &ratios, &by_task.map(percent), &[text(&found["verdict"]), text(&crude["verdict"])]].concat());
    }
    page.push_str(
        "\nCompactions per call, calls, and tokens per run (predicted: if runs stay as long), and how many more runs an arm needs:\n\n",
    );
    head(
        page,
        &[
            "limit",
            "compactions per call: measured",
            "90 %",
            "own policy",
            "crude",
            "calls per run",
            "tokens per run",
            "own policy",
            "more runs for 10 %, for 20 %",
        ],
    );
    for (arm, other) in arms(&own).iter().zip(arms(&crude)) {
        let [found, crude] = [arm, other].map(|arm| measure(arm, "compactions_per_call"));
        let (calls, tokens) = (measure(arm, "calls"), measure(arm, "prompt_tokens"));
        let bounds = found["intervals"]["measured"]
            .as_array()
            .map_or_else(String::new, |bounds| bounds.iter().map(|bound| format!("{:.2}", number(bound))).collect::<Vec<_>>().join(" to "));
        let of = |found: &Value, key: &str| change(number(&found[key]), number(&found["before"]));
        let more = |key: &str| tokens[key].to_string();
        row(
            page,
            &[
                arm["arm"].as_str().unwrap().to_owned(),
                format!("{:.2}", number(&found["measured"])),
                bounds,
                format!("{:.2}", number(&found["predicted"])),
                format!("{:.2}", number(&crude["predicted"])),
                of(calls, "measured"),
                of(tokens, "measured"),
                of(tokens, "predicted"),
                format!("{}, {}", more("more_runs_10"), more("more_runs_20")),
            ],
        );
    }
    let first = &arms(&own)[0];
    let noise = |key: &str| percent(number(&measure(first, key)["noise"]));
    writeln!(page, "\nTwo random halves of the runs before (A/A) differ by up to {} in the prompt per call and {} in tokens per run, in nine of ten splits.", noise("prompt_per_call"), noise("prompt_tokens")).unwrap();
    for (name, report) in [("agent's own", &own), ("crude", &crude)] {
        let missed: Vec<String> = arms(report)
            .iter()
            .flat_map(|arm| {
                arm["measures"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|found| found["verdict"] == "off")
                    .map(move |found| format!("{} at {}", found["measure"].as_str().unwrap(), arm["arm"].as_str().unwrap()))
            })
            .collect();
        writeln!(page, "\nThe interval misses the prediction of the {name} policy in {} cells: {}.", missed.len(), missed.join(", "))
            .unwrap();
    }
    let verdicts = |key: &str| {
        let count = |said: &str| arms(&own).iter().filter(|arm| measure(arm, key)["verdict"] == said).count();
        format!("{} limits confirmed, {} off, {} cannot be told", count("confirmed"), count("off"), count("cannot be told"))
    };
    let [own_error, crude_error, unchanged] = errors.map(percent);
    claim(
        claims,
        "the prompt per call under another policy is predicted",
        format!(
            "off by {own_error} in the mean over limits and tasks, {}; crude policy {crude_error}, \"nothing changes\" {unchanged}",
            verdicts("prompt_per_call")
        ),
        "for one agent and model, where the interval is narrower than the effect",
    );
    let rank = |report: &Value| {
        report["rank_correlations"]
            .as_array()
            .unwrap()
            .iter()
            .find(|rank| rank["measure"] == "compactions_per_call")
            .map(|rank| (number(&rank["rank_correlation"]), rank["cells"].to_string()))
    };
    let ((own_rank, cells), (crude_rank, _)) = (rank(&own).unwrap(), rank(&crude).unwrap());
    claim(
        claims,
        "the rate of compactions transfers",
        format!("rank correlation {own_rank:.2} over {cells} cells of limit and task; crude policy {crude_rank:.2}"),
        "as an order; the rate itself where runs do not loop",
    );
    claim(claims, "total tokens of a run are predicted", verdicts("prompt_tokens"), "**no**: how long a run gets is not known");
}

fn lengths(claims: &mut Claims, page: &mut String) {
    page.push_str("\n## Length of runs\n\n`catalog/run_length.toml`, made by `tests/independent/run_length.py` from the costs of The Complexity Trap and the runs of plugsuits: turns with a policy over turns without, over pairs of runs of one task (plugsuits: the means of a task's runs).\n\n");
    head(page, &["policy", "agent", "model", "setting", "times the turns", "90 %", "pairs"]);
    let scenarios = Scenario::builtin().unwrap();
    for one in &scenarios {
        row(
            page,
            &[
                format!("{:?}", one.strategy).to_lowercase(),
                one.scaffold.clone(),
                one.model.clone(),
                one.setting.clone(),
                format!("{:.2}", one.ratio),
                format!("{:.2} to {:.2}", one.low, one.high),
                one.pairs.to_string(),
            ],
        );
    }
    let longer = scenarios.iter().filter(|one| one.low > 1.0).count();
    let shorter = scenarios.iter().filter(|one| one.high < 1.0).count();
    claim(
        claims,
        "runs stay as long under another policy",
        format!("longer in {longer}, shorter in {shorter} of {} experiments", scenarios.len()),
        "**no**; a scenario line stands beside totals",
    );
}

/// Calls, prompt tokens and dollars of a run, and what caches read where the table has that, by task.
type Recorded = BTreeMap<String, Figures>;
type Figures = (f64, f64, f64, Option<f64>);

fn recorded(path: &Path, arm: &[&str], task: &str, of: impl Fn(&dyn Fn(&str) -> f64) -> Figures) -> BTreeMap<String, Recorded> {
    let mut arms: BTreeMap<String, Recorded> = BTreeMap::new();
    let mut reader = csv::Reader::from_path(path).unwrap();
    let heads = reader.headers().unwrap().clone();
    for one in reader.records() {
        let one = one.unwrap();
        let cell = |key: &str| one.get(heads.iter().position(|head| head == key).unwrap()).unwrap().to_owned();
        let figures = of(&|key: &str| cell(key).parse().unwrap_or(0.0));
        if figures.0 > 0.0 {
            arms.entry(arm.iter().map(|key| cell(key)).collect()).or_default().insert(cell(task), figures);
        }
    }
    arms
}

fn run((task, figures): (&String, &Figures)) -> Run {
    let mut run = Run { task: Some(task.clone()), is_priced: true, tells_of_cache: figures.3.is_some(), ..Run::default() };
    (run.figures.totals.calls, run.figures.totals.prompt_tokens) = (figures.0 as u64, figures.1 as u64);
    run.figures.charges.nano_usd = (figures.2 * 1e9) as u64;
    (run.figures.charges.cache_read, run.figures.charges.prompt_tokens) = (figures.3.unwrap_or(0.0) as u64, figures.1 as u64);
    run
}

/// How many of the intervals from a few tasks hold what all tasks come to.
fn coverage(shared: &Path, claims: &mut Claims, page: &mut String) {
    let folder = shared.join("closed-loop");
    let compression = recorded(&folder.join("code-compression-paired.csv"), &["arm"], "instance", |of| {
        (of("calls"), of("input_tokens"), of("cost_usd"), Some(of("cache_read")))
    });
    let mut pairs: Vec<(Recorded, Recorded)> =
        compression.iter().filter(|(arm, _)| *arm != "A0").map(|(_, runs)| (compression["A0"].clone(), runs.clone())).collect();
    let trap = recorded(&folder.join("complexity-trap-costs.csv"), &["experiment"], "instance_id", |of| {
        (of("turn_count"), of("turn_count") * of("mean_prompt_tokens"), of("cost"), None)
    });
    for (name, runs) in trap.iter().filter(|(name, _)| name.contains("baseline_raw")) {
        pairs.extend(trap.get(&name.replace("baseline_raw", "baseline_N_1_M_10")).map(|masked| (runs.clone(), masked.clone())));
    }
    let mut held: BTreeMap<&str, [(usize, usize); DRAWN.len()]> = BTreeMap::new();
    let mut chance = Chance::new(7);
    for ((size, tasks), (before, after)) in DRAWN.iter().enumerate().flat_map(|drawn| pairs.iter().map(move |pair| (drawn, pair))) {
        let both: Vec<&String> = before.keys().filter(|task| after.contains_key(*task)).collect();
        let sides = |tasks: &[&String]| {
            let of = |runs: &Recorded| tasks.iter().filter_map(|task| runs.get_key_value(*task)).map(run).collect::<Vec<Run>>();
            validate(vec![Sides { name: String::new(), before: of(before), predicted: Vec::new(), after: of(after) }])
        };
        let whole = sides(&both);
        for _ in 0..TIMES {
            let drawn: Vec<&String> = chance.order(both.len()).into_iter().take(*tasks).map(|place| both[place]).collect();
            for (found, whole) in sides(&drawn).arms[0].measures.iter().zip(&whole.arms[0].measures) {
                let (Some(known), Some(after)) = (&found.intervals, whole.after) else { continue };
                // These tables count no compaction, and no peak.
                if found.measure.counts_events() || found.measure.key == "peak_tokens" {
                    continue;
                }
                let (known, truth) =
                    if found.measure.is_rate { (known.after, Some(after)) } else { (known.measured_change, whole.change(after)) };
                let Some(truth) = truth else { continue };
                let own = &mut held.entry(found.measure.name).or_default()[size];
                *own = (own.0 + usize::from((known.low..=known.high).contains(&truth)), own.1 + 1);
            }
        }
    }
    let [many, few] = DRAWN;
    writeln!(page, "\n## Do intervals hold?\n\n{many} tasks and {few}, drawn {TIMES} times from each of {} pairs of arms (five of code-compression-bench, five of The Complexity Trap, 100 to 500 tasks): how many of the 90 % intervals of `validate` hold what all tasks come to. The tables count no compactions: their rate has the interval of a number of independent events as well, and a test holds verdicts on it to the truth (at most one in ten `off` where the prediction is right, of 0 to 6 events). Cache hits are of the five of code-compression-bench.\n", pairs.len()).unwrap();
    let share = |(hold, all): &(usize, usize)| percent(*hold as f64 / *all as f64);
    head(page, &["measure", "of", &format!("hold, from {many} tasks"), "share", &format!("from {few}"), "share"]);
    for (name, [by_many, by_few]) in &held {
        row(page, &[(*name).to_owned(), by_many.1.to_string(), by_many.0.to_string(), share(by_many), by_few.0.to_string(), share(by_few)]);
    }
    let sum = |size: usize| held.values().map(|own| own[size]).fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    claim(
        claims,
        "90 % intervals hold 90 of 100",
        format!("{} of {}, from {many} tasks; {} from {few}", share(&sum(0)), sum(0).1, share(&sum(1))),
        "yes, of what the tables count: no compactions; a little wide, since tasks are drawn without being put back",
    );
}

#[test]
fn the_page_of_trust_is_what_the_data_say() {
    let Some(shared) = shared() else { return };
    if !shared.join("closed-loop").is_dir() {
        return skip("CTXSIM_REQUIRE_SHARED", "no runs under a policy");
    }
    let shared = shared.canonicalize().unwrap();
    let made = page(&shared);
    let path = project().join("docs/validation.md");
    if std::env::var_os("CTXSIM_WRITE").is_some_and(|value| value == "1") {
        fs::write(&path, &made).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == made,
        "docs/validation.md: CTXSIM_WRITE=1 cargo test --release --test it validation_page"
    );
}
