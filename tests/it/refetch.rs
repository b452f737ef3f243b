//! The closed loop: the session that `docs/references.md` works by hand, and what holds for all.

use crate::made::Native;
use crate::references::{WIDE, masking, read, worked};
use crate::support::{ctxsim, files, project, shared};
use ctxsim::measure::Definition;
use ctxsim::policy::{Facts, Plan, Policy};
use ctxsim::sim::{Conditions, EventKind, MOST_IN_A_CALL, Outcome, Refetching, simulate};
use ctxsim::trace::{Evidence, Trace};
use serde_json::json;

fn closed(trace: &Trace, plan: &Plan, conditions: &Conditions) -> Outcome {
    simulate(trace, plan, &Conditions { refetch: Refetching::Lost, ..conditions.clone() })
}

#[test]
fn the_session_worked_by_hand() {
    let trace = worked();
    let open = simulate(&trace, &masking(1), &WIDE);
    assert_eq!(open.calls.iter().map(|call| call.actual).collect::<Vec<_>>(), [300, 640, 651, 442, 553]);
    assert_eq!((open.totals.prompt_tokens, open.totals.saved_vs_none()), (2_586, 1_464));

    let closed = closed(&trace, &masking(1), &WIDE);
    let calls: Vec<(u64, u64)> = closed.calls.iter().map(|call| (call.actual, call.prefix)).collect();
    assert_eq!(calls, [(300, 0), (640, 300), (712, 371), (483, 412), (805, 494)]);
    let again: Vec<(u32, u32, u64, u64, u64, u64)> = closed
        .refetches
        .iter()
        .map(|one| (one.call, one.source, one.request.actual, one.request.prefix, one.request.output, one.result_tokens))
        .collect();
    assert_eq!(again, [(2, 2, 651, 340, 40, 300), (4, 4, 594, 473, 30, 280)]);
    let totals = &closed.totals;
    assert_eq!((totals.calls, totals.prompt_tokens, totals.saved_vs_none()), (7, 4_185, -135));
    assert_eq!((totals.retention.of(Evidence::Line).kept, totals.retention.broken_calls), (3, 0));
    let refetches = &totals.refetches;
    assert_eq!((refetches.calls, refetches.prompt_tokens, refetches.output_tokens, refetches.result_tokens), (2, 1_245, 70, 580));
    assert_eq!((refetches.sources, refetches.sources_again, refetches.in_vain, refetches.passed_over), (2, 0, 0, 0));
    assert_eq!(totals.events_of(EventKind::Refetch), 2);
}

#[test]
fn which_rule_broke_what() {
    let trace = worked();
    let broken = simulate(&trace, &masking(1), &WIDE);
    let by_rule: Vec<(&str, u64, u64)> = broken
        .totals
        .retention
        .by_rule
        .iter()
        .filter(|((kind, _), _)| *kind == Evidence::Line)
        .map(|((_, rule), fates)| (rule.as_str(), fates.cleared, fates.broken()))
        .collect();
    assert_eq!(by_rule, [("mask", 2, 2)]);
    assert!(broken.broken.iter().all(|broken| broken.rule.as_deref() == Some("mask") && broken.path.is_none()));
}

/// A limit that cuts what comes in, and would cut it again.
#[test]
fn what_a_limit_cuts_is_read_again_in_the_piece_that_is_needed() {
    let path = std::env::temp_dir().join(format!("ctxsim-refetch-{}.jsonl", std::process::id()));
    let line = "    let rounded = half_to_even(price * 100.0);";
    let long: String = (0..2_000).map(|number| if number == 1_000 { format!("{line}\n") } else { format!("row {number}\n") }).collect();
    let call = json!({"call": {"id": "1", "name": "read", "arguments": {"path": "a.rs"}}});
    let log = Native::new(json!({"window": 100_000}))
        .line(json!({"role": "user", "text": "mend it"}))
        .line(json!({"role": "assistant", "parts": [call], "usage": {"prompt": 300, "output": 40}}))
        .line(json!({"role": "tool", "parts": [{"result": {"id": "1", "text": long}}]}))
        .line(json!({"role": "assistant", "text": format!("It is:\n{line}\n"), "usage": {"prompt": 9_000, "output": 30}}))
        .asked("again", &format!("Still:\n{line}\n"), 9_100, 30);
    std::fs::write(&path, log.text()).unwrap();
    let trace = read(&path, Definition::Refined).remove(0);
    std::fs::remove_file(&path).unwrap();
    let limit = "name = \"limit\"\n[[rule]]\nid = \"cap\"\nat = \"ingest\"\ntruncate = { max = 2000, unit = \"utf16\", head = 0.5 }\n";
    let plan = Policy::parse("limit.toml", limit).unwrap().plan(&Facts { window: Some(100_000), ..Facts::default() }).unwrap();
    let open = simulate(&trace, &plan, &WIDE).totals;
    assert!(open.retention.of(Evidence::Line).truncated >= 1);
    let outcome = closed(&trace, &plan, &WIDE);
    // One more reading, of what the limit lets through; the piece stays, so the second reply needs no other one.
    let sizes: Vec<(u32, u32)> = outcome.refetches.iter().map(|one| (one.call, one.source)).collect();
    assert_eq!(sizes, [(1, 2)]);
    assert!(outcome.refetches[0].result_tokens < 3_000);
    assert_eq!(outcome.totals.retention.of(Evidence::Line).broken(), 0);
}

/// Sessions of real agents, as far as they are there.
fn sessions() -> Vec<Trace> {
    let Some(folder) = shared() else { return vec![worked()] };
    let folders = ["transcripts/claude-code", "transcripts/pi"].map(|name| folder.join(name));
    folders.iter().flat_map(|folder| files(folder)).take(16).flat_map(|path| read(&path, Definition::Refined)).collect()
}

#[test]
fn who_loses_nothing_reads_nothing_again() {
    for trace in sessions() {
        let open = simulate(&trace, &Plan::default(), &WIDE);
        assert_eq!(closed(&trace, &Plan::default(), &WIDE), open);
    }
}

#[test]
fn reading_again_adds_calls_and_mends_references() {
    for trace in sessions() {
        let presets = ["baseagent", "opencode", "codex", "pi", "picoclaw", "anthropic@context-editing"];
        let plans =
            presets.iter().map(|name| Policy::load(name).unwrap().plan(&Facts { window: Some(60_000), ..Facts::default() }).unwrap());
        for plan in plans.chain([1, 3, 10].map(masking)) {
            let conditions = Conditions { window: 60_000, prompt_limit: 60_000, ..WIDE };
            let open = simulate(&trace, &plan, &conditions);
            let closed = closed(&trace, &plan, &conditions);
            let (sum, all) = (&closed.totals.refetches, &closed.totals);
            // The two loops may fail a session at different calls.
            assert_eq!(all.calls, closed.answered().len() as u64 + sum.calls);
            assert_eq!(sum.calls as usize, closed.refetches.len());
            if open.ended_at().is_none() && closed.ended_at().is_none() {
                assert_eq!(all.baseline_tokens, open.totals.baseline_tokens);
            }
            let answered = closed.answered().iter().chain(closed.refetches.iter().map(|refetch| &refetch.request));
            assert_eq!(all.prompt_tokens, answered.map(|call| call.actual).sum::<u64>());
            assert!(closed.requests().all(|call| call.prefix <= call.actual));
            assert!(sum.sources <= sum.calls && sum.sources_again <= sum.sources);
            // Whatever is still broken has its reason.
            let lines = all.retention.of(Evidence::Line);
            assert_eq!(lines.broken(), sum.in_vain + sum.beyond_reach + sum.at_risk + sum.passed_over);
            let of_call = |call: u32| closed.refetches.iter().filter(|one| one.call == call).count();
            assert!(closed.refetches.iter().all(|one| of_call(one.call) <= MOST_IN_A_CALL));
            // An open loop of the same conditions is what it was.
            assert_eq!(open.totals.refetches, Default::default());
            assert!(sum.calls == 0 || open.totals.retention.of(Evidence::Line).broken() > 0);
        }
    }
}

fn program(arguments: &[&str]) -> String {
    let data = project().join("tests/data/references");
    let form = if arguments.iter().any(|word| ["--json", "--csv"].contains(word)) { None } else { Some("--details") };
    ctxsim(arguments).within(&data).columns(200).args(form).args(["-p", "newest_result.toml", "-q"]).stdout()
}

#[test]
fn both_loops_stand_side_by_side() {
    let text = program(&["replay", "worked.jsonl", "--refetch"]);
    for words in ["saved, closed", "reading again eats the saving, 36.1 % before and -3.3 % after it", "Closed loop: before a call"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let record: serde_json::Value = serde_json::from_str(&program(&["replay", "worked.jsonl", "--refetch", "--json"])).unwrap();
    let (open, closed) = (&record["policies"][0], &record["policies"][0]["closed_loop"]);
    assert_eq!((&open["tokens_saved"], &closed["tokens_saved"]), (&1_464.into(), &(-135).into()));
    assert_eq!((&closed["refetches"]["calls"], &open["refetches"]), (&2.into(), &serde_json::Value::Null));
    assert_eq!(open["broken_by_rule"][0]["rule"], "mask");
    let csv = program(&["replay", "worked.jsonl", "--refetch", "--csv"]);
    assert!(csv.lines().next().unwrap().contains("closed_tokens_saved") && csv.contains(",-135,"), "{csv}");
    let cost = program(&["cost", "worked.jsonl", "--refetch"]);
    assert!(cost.contains("Open and closed loop") && cost.contains("reading again costs $"), "{cost}");
    let bill: serde_json::Value = serde_json::from_str(&program(&["cost", "worked.jsonl", "--refetch", "--json"])).unwrap();
    let calls = (&bill["policies"][0]["calls"], &bill["policies"][0]["closed_loop"]["calls"]);
    assert_eq!(calls, (&5.into(), &7.into()));
    let life = program(&["explain", "worked", "worked.jsonl", "--refetch"]);
    assert!(life.contains("reads message 3 again (tool results of read): one more request of 651 tokens brings 300"), "{life}");
    assert!(life.contains("closed loop: 2 calls reading 2 sources again"), "{life}");
}

/// What is read again, and the cost with that, stand in the first table of whoever asks for them.
#[test]
fn the_first_table_has_both_loops() {
    let data = project().join("tests/data/references");
    for command in ["replay", "cost"] {
        let shown = |more: &[&str]| {
            let words = [&[command, "worked.jsonl", "-p", "newest_result.toml", "-q"], more].concat();
            ctxsim(&words).within(&data).columns(80).stdout()
        };
        let (open, closed) = (shown(&[]), shown(&["--refetch"]));
        let cells = |text: &str| {
            let row = text.lines().find(|line| line.starts_with("newest-result")).expect("its row");
            row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert!(closed.contains("again") && closed.contains("net") && !open.contains("again"), "{closed}");
        assert!(cells(&closed).contains(&"2".to_owned()) && cells(&closed) != cells(&open), "{closed}");
    }
}

#[test]
fn paths_are_named_only_where_they_are_asked_for() {
    let rules = program(&["replay", "worked.jsonl", "--by", "rule"]);
    assert!(rules.contains("mask"), "{rules}");
    let without = program(&["replay", "worked.jsonl", "--by", "reference"]);
    assert!(without.contains("What was lost, by rule") && !without.contains("round.rs"), "{without}");
    assert!(program(&["replay", "worked.jsonl", "--by", "reference", "--with-paths"]).contains("src/prices/round.rs"));
}

/// What a recorded summary repeats, a simulated one is taken to hold.
#[test]
fn what_a_summary_repeats_is_held_by_it() {
    let rule = "name = \"sum\"\n[summary]\nmodel = \"fixed\"\ntokens = 20\n[[rule]]\nid = \"sum\"\nat = \"pre_call\"\n\
                when.level = { of = \"est_request\", gt = 1 }\nselect = { tail = [{ n = 1, unit = \"messages\" }] }\nsummarise = {}\n";
    let plan = Policy::parse("sum.toml", rule).unwrap().plan(&Facts { window: Some(100_000), ..Facts::default() }).unwrap();
    let mut trace = worked();
    let before = simulate(&trace, &plan, &WIDE).totals.retention.of(Evidence::Line);
    assert!(before.summarised > 0, "{before:?}");
    trace.references.iter_mut().for_each(|reference| reference.summary = Some(0));
    let after = simulate(&trace, &plan, &WIDE).totals.retention.of(Evidence::Line);
    assert_eq!((after.summarised, after.kept), (0, before.kept + before.summarised));
}

/// Summaries may hold what is needed again: it is read again where that is asked for.
#[test]
fn what_was_summarised_is_read_again_where_all_is() {
    let found = |what: &str| {
        let record = ctxsim(&["replay", "transcripts/pi", "-q", "-p", "pi", "--window", "60k", what, "--json"]).json();
        let refetches = &record["policies"][0]["closed_loop"]["refetches"];
        ["calls", "at_risk"].map(|key| refetches[key].as_u64().unwrap())
    };
    let [lost, all] = ["--refetch=lost", "--refetch=all"].map(found);
    assert!(lost[0] == 0 && lost[1] > 0, "{lost:?}");
    assert!(all[0] > 0 && all[1] == 0, "{all:?}");
    assert_eq!(found("--refetch"), lost);
}

/// What summaries took leaves open how much is read again: what is known is a lower bound, and where more is open than known there is no net cost.
#[test]
fn what_summaries_took_leaves_the_closed_loop_open() {
    let row = |policy: &str, window: &str| {
        let words = ["replay", "transcripts/", "-q", "-p", policy, "--window", window, "--refetch"];
        let shown = ctxsim(&words).columns(120).stdout();
        let row = shown.lines().find(|line| line.starts_with(policy)).expect("its row").to_owned();
        (row, shown.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (few, told) = row("picoclaw", "30k");
    assert!(few.contains("≥ ") && !few.contains("not known") && told.contains(" that were summarised"), "{few}\n{told}");
    let (many, told) = row("picoclaw", "60k");
    assert!(many.contains("≥ ") && many.contains("not known") && told.contains("picoclaw not known beyond"), "{many}\n{told}");
    let (all, _) = row("opencode", "60k");
    assert!(!all.contains("≥ ") && all.matches("not known").count() == 2, "{all}");
}
