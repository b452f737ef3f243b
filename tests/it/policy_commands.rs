//! `ctxsim policy`: what two policies do differently, the schema, a document to start from, what cannot work.

use crate::support::{ctxsim, fits};
use ctxsim::advice::{Gravity, differences};
use ctxsim::policy::{Facts, Policy, presets, schema};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const MASK: &str = "tests/data/cli/mask.toml";

fn window(tokens: u64) -> Facts {
    Facts { window: Some(tokens), ..Facts::default() }
}

/// Findings as "gravity keys: sentence".
fn findings(policy: &Policy, facts: &Facts) -> Vec<String> {
    let told = |gravity| if gravity == Gravity::Defect { "defect" } else { "doubt" };
    policy
        .advise(facts)
        .iter()
        .map(|finding| format!("{} {}: {}", told(finding.gravity), finding.keys.join(", "), finding.sentence))
        .collect()
}

fn document(text: &str) -> Policy {
    Policy::parse("mine", text).unwrap()
}

#[track_caller]
fn finds(policy: &Policy, facts: &Facts, parts: &[&str]) {
    let found = findings(policy, facts);
    assert!(found.iter().any(|finding| parts.iter().all(|part| finding.contains(part))), "{parts:?} in\n{}", found.join("\n"));
}

#[test]
fn a_reserve_larger_than_the_window_leaves_nothing() {
    let opencode = Policy::load("opencode").unwrap();
    finds(&opencode, &window(32_000), &["defect window.reserve:", "= 32,000", "a window of 32,000"]);
    finds(&opencode, &window(32_000), &["rule.compact.when.level.ge", "always fires"]);
    assert!(findings(&opencode, &window(200_000)).is_empty());
    // A negative limit, as systems on small windows have it.
    let negative = document(
        "[params]\nreserve = 16_384\n[[rule]]\nid = \"a\"\nat = \"pre_call\"\nwhen.level = { of = \"usage_total\", gt = \"=window - reserve\" }\nsummarise = {}\n",
    );
    finds(
        &negative,
        &window(8_000),
        &["defect rule.a.when.level.gt", "always fires", "`window - reserve` = -8,384", "reserve = 16,384", "window = 8,000"],
    );
    // Where a number must not be negative at all, the formula is named.
    let tail = document(
        "[[rule]]\nid = \"a\"\nat = \"overflow\"\nselect = { protect = [{ tokens = \"=window - 16384\" }] }\ndrop = {}\n[reactive]\nretries = 1\n",
    );
    finds(&tail, &window(8_000), &["rule.a.select.protect.0.tokens", "below zero", "-8,384"]);
}

#[test]
fn a_trigger_above_what_the_provider_takes_never_fires() {
    // A threshold for a window of 1,000,000 where the model's input ends earlier.
    let policy = document(
        "[[rule]]\nid = \"compact\"\nat = \"pre_call\"\nwhen.level = { of = \"usage_plus_pending\", ge = \"=0.95 * window\" }\nsummarise = {}\n",
    );
    let million = Facts { window: Some(1_000_000), max_input: 900_000, max_output: 100_000, family: None, ..Facts::default() };
    finds(
        &policy,
        &million,
        &["rule.compact.when.level.ge", "never fires", "`0.95 * window` = 950,000", "input limit 900,000, window 1,000,000"],
    );
    assert!(findings(&policy, &Facts { max_input: 0, ..million }).is_empty());
    // One that is a constant for 1,000,000 on a model with less.
    let mut baseagent = Policy::load("baseagent").unwrap();
    baseagent.set("model_context_limit", "1m").unwrap();
    finds(
        &baseagent,
        &window(200_000),
        &["rule.compact.when.level.gt", "never fires", "= 822,800", "model_context_limit = 1,000,000", "above 200,000"],
    );
    // What is reported cannot exceed the window; an estimate can.
    let level = |of: &str| {
        document(&format!("[[rule]]\nid = \"a\"\nat = \"pre_call\"\nwhen.level = {{ of = \"{of}\", gt = \"=window\" }}\ndrop = {{}}\n"))
    };
    finds(&level("usage_total"), &window(200_000), &["never fires"]);
    assert!(findings(&level("est_request"), &window(200_000)).is_empty());
}

#[test]
fn what_protects_everything_leaves_nothing_to_take() {
    finds(
        &Policy::load("pi").unwrap(),
        &window(32_000),
        &["defect rule.compact.select.tail.0.n", "keepRecentTokens = 20,000", "fires at 15,616"],
    );
    assert!(findings(&Policy::load("pi").unwrap(), &window(200_000)).is_empty());
    let opencode = Policy::load("opencode@2025-12").unwrap();
    finds(
        &opencode,
        &window(50_000),
        &["rule.prune.min_saving.tokens", "40,000 protected and 20,000 to be saved make 60,000", "50,000 at most"],
    );
    // Prune that never finds anything in a run of a single instruction.
    finds(
        &Policy::load("baseagent").unwrap(),
        &window(200_000),
        &["doubt rule.prune.select.tail.0.n", "protect_last_turns = 2", "single instruction"],
    );
    let mut fixed = Policy::load("baseagent").unwrap();
    fixed.set("protect_last_turns", "0").unwrap();
    assert!(findings(&fixed, &window(200_000)).is_empty());
    // A check between turns alone.
    finds(&Policy::load("goose@without-pairs").unwrap(), &window(200_000), &["doubt rule.compact.at", "between turns alone"]);
}

#[test]
fn a_summary_and_a_fallback_must_shrink() {
    let mut aider = Policy::load("aider").unwrap();
    aider.set("summary_tokens", "5000").unwrap();
    // What is thrown away need not be smaller than what it is of.
    assert!(findings(&aider, &window(200_000)).iter().all(|finding| !finding.contains("leaves 4,097")));
    aider.set("discards_summaries", "0").unwrap();
    finds(&aider, &window(200_000), &["defect summary.tokens, rule.summarise.summarise", "make 5,000", "leaves 4,097 to replace"]);
    let overflow =
        |summarise: &str| format!("[reactive]\nretries = 1\n[[rule]]\nid = \"o\"\nat = \"overflow\"\nsummarise = {{ {summarise} }}\n");
    finds(&document(&overflow("")), &window(200_000), &["rule.o.summarise.input", "cannot shrink"]);
    assert!(findings(&document(&overflow("input = \"selection\"")), &window(200_000)).is_empty());
    assert!(findings(&document(&overflow("on_overflow = \"drop_oldest\"")), &window(200_000)).is_empty());
    finds(&document("[reactive]\nretries = 2\n"), &window(200_000), &["reactive.retries", "2 times"]);
    finds(&document(&overflow("input = \"selection\"").replace("retries = 1", "retries = 0")), &window(200_000), &["never run"]);
    let keeps = "[reactive]\nretries = 1\n[[rule]]\nid = \"o\"\nat = \"overflow\"\nselect = { tail = [{ n = 300_000, unit = \"tokens\" }] }\ndrop = {}\n";
    finds(&document(keeps), &window(200_000), &["rule.o.select.tail.0.n", "nothing is left to take"]);
    let inject = "[reactive]\nretries = 1\n[[rule]]\nid = \"o\"\nat = \"overflow\"\ninject = [{ what = \"x\", tokens = 5 }]\n";
    finds(&document(inject), &window(200_000), &["takes nothing out"]);
    let unnamed = "[[rule]]\nid = \"m\"\nat = \"manual\"\ndrop = {}\n";
    finds(&document(unnamed), &window(200_000), &["rule.m.at", "none does"]);
    finds(&document("[[rule]]\nid = \"s\"\nat = \"pre_call\"\nsummarise = {}\n"), &window(200_000), &["rule.s.when", "always fires"]);
}

#[test]
fn presets_work_on_the_windows_that_they_are_made_for() {
    for preset in presets() {
        let policy = Policy::load(preset.name).unwrap();
        let defects: Vec<String> =
            findings(&policy, &Facts::default()).into_iter().filter(|finding| finding.starts_with("defect")).collect();
        assert!(defects.is_empty(), "{}: {defects:?}", preset.name);
        for tokens in [1, 1_000, 8_000, 2_000_000] {
            policy.advise(&window(tokens));
        }
    }
}

#[test]
fn check_ends_with_1_where_something_cannot_work() {
    let small = ctxsim(&["policy", "check", "pi", "--window", "32k"]).code(1);
    assert!(small.stdout().contains("cannot work: rule.compact.select.tail.0.n"), "{}", small.stdout());
    assert!(ctxsim(&["policy", "check", "pi"]).stdout().contains("on a window of 32,000"), "told, and no reason to fail");
    assert!(ctxsim(&["policy", "check", MASK, "--window", "1k"]).stdout().contains("nothing found"));
    ctxsim(&["policy", "check", "baseagent"]).code(0);
    ctxsim(&["policy", "check", "baseagent", "--strict"]).code(1);
    // 400,000 less 33,000 is more than the 272,000 that this model takes.
    let narrow = ctxsim(&["policy", "check", "claude-code", "--model", "gpt-5"]).code(1).stdout();
    assert!(narrow.contains("367,000") && narrow.contains("272,000"), "{narrow}");
    ctxsim(&["policy", "check", "no-such"]).code(2);
    ctxsim(&["policy", "check", "pi", "--model", "gpt-55"]).code(2);
}

/// It is told on stderr by whatever takes the policy, once, and by `policy check`.
#[test]
fn a_share_above_one_is_told_and_taken() {
    let doubt = "policy baseagent: auto_compact_threshold = 85 (unit: share) is 8,500 %; did you mean 0.85?";
    let (set, log) = ("auto_compact_threshold=85", "transcripts/codex/small.jsonl");
    let replayed = ctxsim(&["replay", log, "-p", "baseagent", "-p", "none", "--set", set]).code(0);
    assert_eq!(replayed.stderr().matches(doubt).count(), 1, "{}", replayed.stderr());
    assert_eq!(ctxsim(&["replay", log, "-p", "baseagent", "--set", set, "--quiet"]).code(0).stderr(), "");
    let vary = "auto_compact_threshold=0.5,60,70,80,90";
    let swept = ctxsim(&["sweep", log, "-p", "baseagent", "--vary", vary]).code(0).stderr();
    assert!(swept.contains("auto_compact_threshold = 60 (unit: share)") && swept.contains("and 1 more value of this kind"), "{swept}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "extends = \"baseagent\"\n[params]\nauto_compact_threshold = 85\n").unwrap();
    let checked = ctxsim(&["policy", "check", &file.to_string_lossy()]).columns(1_000).code(1).stdout();
    assert!(checked.contains("doubt: params.auto_compact_threshold: 85 (unit: share) is 8,500 %; did you mean 0.85?"), "{checked}");
}

#[test]
fn diff_says_in_words_what_is_different() {
    let shown = ctxsim(&["policy", "diff", "pi@0.58", "pi@1.5"]).columns(1_000).stdout();
    assert!(shown.contains("only pi@1.5: between two steps of a turn, when the last reported usage with an estimate"), "{shown}");
    let shown = ctxsim(&["policy", "diff", "opencode@2025-12", "opencode@1.15"]).columns(1_000).stdout();
    assert!(shown.contains("prune: opencode@2025-12: on | opencode@1.15: off"), "{shown}");
    assert!(shown.contains("above 168,000") && shown.contains("at or above 168,000"), "{shown}");
    assert!(ctxsim(&["policy", "diff", "pi", "pi@1.5"]).stdout().contains("do the same"));
    let shown = ctxsim(&["policy", "diff", "aider", "goose"]).columns(1_000).stdout();
    assert!(shown.contains("paid for and thrown away"), "{shown}");
}

#[test]
fn no_change_goes_untold() {
    let facts = Facts { window: Some(200_000), max_input: 0, max_output: 32_000, family: None, ..Facts::default() };
    for preset in presets() {
        let policy = Policy::load(preset.name).unwrap();
        assert_eq!(differences(&policy, &policy, &facts).unwrap(), [], "{}", preset.name);
        // Switches decide by their zero alone.
        let numbers = policy.params.iter().filter(|(_, parameter)| parameter.unit != "0 or 1");
        for (name, _) in numbers {
            let mut changed = policy.clone();
            changed.set(name, "1234").unwrap();
            let (Ok(before), Ok(after)) = (policy.plan(&facts), changed.plan(&facts)) else { continue };
            let told = differences(&policy, &changed, &facts).unwrap();
            assert_eq!(told.iter().any(|found| found.heading != "parameters"), before != after, "{}: {name}", preset.name);
        }
    }
}

#[test]
fn new_gives_a_document_that_does_the_same() {
    let facts = window(200_000);
    for preset in presets() {
        let text = ctxsim(&["policy", "new", "--extends", preset.name]).stdout();
        let policy = Policy::parse("mine", &text).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        assert_eq!(policy.plan(&facts).unwrap(), Policy::load(preset.name).unwrap().plan(&facts).unwrap(), "{}", preset.name);
        let shown = ctxsim(&["policy", "show", preset.name]).stdout();
        let policy = Policy::parse(preset.name, &shown).unwrap();
        assert!(policy.not_modelled.iter().all(|gap| shown.contains(gap.as_str())), "{}", preset.name);
    }
}

#[test]
fn every_preset_fits_the_schema() {
    let root: Value = serde_json::from_str(&ctxsim(&["policy", "schema"]).stdout()).unwrap();
    for preset in presets() {
        let document: toml::Table = preset.text.parse().unwrap();
        fits(&serde_json::to_value(document).unwrap(), &root, &root).unwrap_or_else(|reason| panic!("{}: {reason}", preset.name));
    }
    let mistaken: toml::Table = "[window]\nreserv = 3\n".parse().unwrap();
    assert!(fits(&serde_json::to_value(mistaken).unwrap(), &root, &root).is_err());
}

/// The words that the language itself expects at a place, from its own error.
fn expected(text: &str) -> BTreeSet<String> {
    let error = Policy::parse("mine", text).expect_err(text).to_string();
    let list = error.split("expected ").nth(1).unwrap_or_else(|| panic!("{error}")).split("; did").next().unwrap();
    list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_schema_knows_every_word_of_the_language() {
    let root: Value = serde_json::from_str(schema()).unwrap();
    let rule = |rest: &str| format!("[[rule]]\nid = \"a\"\nat = \"pre_call\"\n{rest}\n");
    let tables = [
        ("/properties/window", "[window]\nzzz = 1\n".to_owned()),
        ("/properties/estimator", "[estimator]\nzzz = 1\n".to_owned()),
        ("/properties/belief", "[belief]\nzzz = 1\n".to_owned()),
        ("/properties/summary", "[summary]\nzzz = 1\n".to_owned()),
        ("/properties/reactive", "[reactive]\nzzz = 1\n".to_owned()),
        ("", "zzz = 1\n".to_owned()),
        ("/$defs/rule", rule("zzz = 1")),
        ("/$defs/select", rule("select = { zzz = 1 }")),
        ("/$defs/end", rule("select = { head = [{ zzz = 1 }] }")),
        ("/$defs/snap", rule("select = { snap = { zzz = 1 } }")),
        ("/$defs/protect", rule("select = { protect = [{ zzz = 1 }] }")),
        ("/$defs/level", rule("when.level = { zzz = 1 }")),
        ("/$defs/count", rule("when.count = { zzz = 1 }")),
        ("/$defs/trigger", rule("when.zzz = 1")),
        ("/$defs/mask", rule("mask = { zzz = 1 }")),
        ("/$defs/preview", rule("mask = { text = \"\", preview = { zzz = 1 } }")),
        ("/$defs/truncate", rule("truncate = { zzz = 1 }")),
        ("/$defs/drop", rule("drop = { zzz = 1 }")),
        ("/$defs/truncate/properties/texts", rule("truncate = { texts = { zzz = 1 } }")),
        ("/$defs/summarise", rule("summarise = { zzz = 1 }")),
        ("/$defs/inject", rule("inject = [{ zzz = 1 }]")),
        ("/$defs/rule/properties/min_saving", rule("min_saving = { zzz = 1 }")),
        ("/$defs/rule/properties/max_fires", rule("max_fires = { zzz = 1 }")),
    ];
    for (place, text) in tables {
        let known: BTreeSet<String> = root.pointer(place).unwrap()["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(known, expected(&text), "{place}");
    }
    let variants = [
        ("/properties/estimator/properties/rounding", "[estimator]\nrounding = \"zzz\"\n".to_owned()),
        ("/properties/estimator/properties/round_at", "[estimator]\nround_at = \"zzz\"\n".to_owned()),
        ("/properties/belief/properties/after_rewrite", "[belief]\nafter_rewrite = \"zzz\"\n".to_owned()),
        ("/properties/belief/properties/after_overflow", "[belief]\nafter_overflow = \"zzz\"\n".to_owned()),
        ("/properties/summary/properties/model", "[summary]\nmodel = \"zzz\"\n".to_owned()),
        ("/$defs/counting", "[estimator]\nthinking = \"zzz\"\n".to_owned()),
        ("/properties/estimator/properties/ids", "[estimator]\nids = \"zzz\"\n".to_owned()),
        ("/$defs/select/properties/replay", rule("select = { replay = \"zzz\" }")),
        ("/$defs/select/properties/carried", rule("select = { carried = \"zzz\" }")),
        ("/$defs/unit", "[estimator]\nunit = \"zzz\"\n".to_owned()),
        ("/$defs/kind", rule("select = { kind = [\"zzz\"] }")),
        ("/$defs/end/properties/unit", rule("select = { head = [{ n = 1, unit = \"zzz\" }] }")),
        ("/$defs/select/properties/order", rule("select = { order = \"zzz\" }")),
        ("/$defs/select/properties/stop_at/items", rule("select = { stop_at = [\"zzz\"] }")),
        ("/$defs/select/properties/all_kept", rule("select = { all_kept = \"zzz\" }")),
        ("/$defs/level/properties/of/anyOf/0", rule("when.level = { of = \"zzz\" }")),
        ("/$defs/count/properties/of", rule("when.count = { of = \"zzz\" }")),
        ("/$defs/role", rule("summarise = { role = \"zzz\" }")),
        ("/$defs/place", rule("summarise = { place = \"zzz\" }")),
        ("/$defs/rule/properties/mode", rule("mode = \"zzz\"")),
        ("/$defs/rule/properties/event", rule("event = \"zzz\"")),
        ("/$defs/rule/properties/at", "[[rule]]\nid = \"a\"\nat = \"zzz\"\n".to_owned()),
    ];
    for (place, text) in variants {
        let known: BTreeSet<String> =
            root.pointer(place).unwrap()["enum"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect();
        assert_eq!(known, expected(&text), "{place}");
    }
    // One of the inputs takes a number.
    let inputs = &root["$defs"]["summarise"]["properties"]["input"]["anyOf"];
    let words = inputs[0]["enum"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned());
    let inputs: BTreeSet<String> = words.chain(inputs[1]["properties"].as_object().unwrap().keys().cloned()).collect();
    assert_eq!(inputs, expected(&rule("summarise = { input = \"zzz\" }")));
    let takes: BTreeSet<String> = root["$defs"]["take"]["anyOf"][1]["properties"].as_object().unwrap().keys().cloned().collect();
    let all = BTreeSet::from(["all".to_owned()]);
    assert_eq!(takes.union(&all).cloned().collect::<BTreeSet<_>>(), expected(&rule("select = { take = \"zzz\" }")));
}

/// The words of the language that a value uses, told by the schema: keys, and variants by name.
fn words_in(value: &Value, schema: &Value, root: &Value, found: &mut BTreeSet<String>) {
    if let Some(name) = schema["$ref"].as_str() {
        return words_in(value, root.pointer(name.trim_start_matches('#')).unwrap(), root, found);
    }
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    choices.for_each(|choice| words_in(value, choice, root, found));
    match value {
        Value::Object(table) => {
            for (key, inner) in table.iter().filter(|(key, _)| schema["properties"].get(*key).is_some()) {
                found.insert(key.clone());
                words_in(inner, &schema["properties"][key], root, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| words_in(inner, &schema["items"], root, found)),
        Value::String(word) if schema["enum"].as_array().is_some_and(|words| words.contains(value)) => {
            found.insert(word.clone());
        }
        _ => {}
    }
}

#[test]
fn the_manual_has_a_reason_for_each_word_of_one_system() {
    let root: Value = serde_json::from_str(schema()).unwrap();
    let mut users: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for preset in presets() {
        let document: Value = serde_json::to_value(preset.text.parse::<toml::Table>().unwrap()).unwrap();
        let mut found = BTreeSet::new();
        for (key, place) in ["window", "estimator", "belief", "summary", "reactive"].map(|key| (key, format!("/properties/{key}"))) {
            words_in(&document[key], root.pointer(&place).unwrap(), &root, &mut found);
        }
        document["rule"].as_array().into_iter().flatten().for_each(|rule| words_in(rule, &root["$defs"]["rule"], &root, &mut found));
        let system = preset.name.split('@').next().unwrap();
        for word in found {
            users.entry(word).or_default().insert(system);
        }
    }
    let of_one: BTreeMap<&str, &str> =
        users.iter().filter(|(_, systems)| systems.len() == 1).map(|(word, systems)| (word.as_str(), *systems.first().unwrap())).collect();
    let page = include_str!("../../docs/policies.md");
    let section = page.split("## Words of one system").nth(1).unwrap().split("## Presets").next().unwrap();
    let mut told = BTreeMap::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        assert!(cells[2].trim_end_matches(" |").len() > 10, "{row}");
        told.extend(cells[1].split('`').skip(1).step_by(2).map(|word| (word, cells[0].trim_matches(['|', ' ', '`']))));
    }
    assert_eq!(told, of_one);
}

/// The table of the manual is this one.
#[test]
fn the_manual_lists_every_preset() {
    let mut table = String::from("| preset | what it does |\n|---|---|\n");
    for preset in presets() {
        let policy = Policy::load(preset.name).unwrap();
        table += &format!("| `{}` | {} |\n", preset.name, policy.about.replace('|', "\\|"));
    }
    let page = include_str!("../../docs/policies.md").replace("\r\n", "\n");
    assert!(page.contains(&table), "docs/policies.md is to hold this table:\n{table}");
}

/// A parameter without effect is named with what takes its effect away, and no longer once that is turned on.
#[test]
fn parameters_without_effect_are_named() {
    let mut policy = Policy::load("opencode").unwrap();
    let facts = window(200_000);
    let told = |policy: &Policy| policy.without_effect(&facts).iter().map(|idle| idle.words()).collect::<Vec<_>>();
    assert!(told(&policy).contains(&"prune_protect has no effect while prune = 0".to_owned()), "{:?}", told(&policy));
    policy.set("prune", "1").unwrap();
    assert!(!told(&policy).iter().any(|words| words.starts_with("prune_")), "{:?}", told(&policy));
    assert!(ctxsim(&["policy", "check", "opencode"]).stdout().contains("  note: prune_protect has no effect while prune = 0\n"));
    let set = ctxsim(&["replay", "tests/data/cli/session.jsonl", "-p", "opencode", "--set", "prune_protect=20k"]).run();
    assert!(set.stderr().contains("policy opencode@1.18: prune_protect has no effect while prune = 0"), "{}", set.stderr());
    let swept = ["sweep", "tests/data/cli/session.jsonl", "-p", "opencode", "--vary", "prune_protect=10k..40k:10k", "--quiet"];
    let shown = ctxsim(&swept).columns(200).stdout();
    assert!(shown.contains("opencode@1.18: prune_protect has no effect while prune = 0."), "{shown}");
}
