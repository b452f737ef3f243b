//! Policies as documents: the presets, inheritance, mistakes.

use ctxsim::policy::{Facts, Policy, PolicyError, presets};

const FACTS: Facts = Facts { window: Some(200_000), max_input: 0, max_output: 32_000, family: None, item_bytes: 0, sealed_thousandths: 0 };

#[test]
fn every_preset_parses_and_uses_its_parameters() {
    for preset in presets() {
        let declared = Policy::load(preset.name).unwrap_or_else(|error| panic!("{error}"));
        let mut policy = declared.clone();
        let mut turned = Vec::new();
        let switches = declared.params.iter().filter(|(_, parameter)| parameter.unit == "0 or 1");
        for (switch, parameter) in switches {
            // Off in some versions, together with all that depends on it.
            policy.set(switch, "1").unwrap();
            let mut alone = declared.clone();
            alone.set(switch, if parameter.number() == Some(0.0) { "1" } else { "0" }).unwrap();
            turned.push(alone);
        }
        // Some parameters matter where a switch is off, some where one alone is turned.
        let bases: Vec<&Policy> = [&policy, &declared].into_iter().chain(&turned).collect();
        assert_eq!(policy.name, preset.name);
        assert!(!policy.about.is_empty() && !policy.mirrors.is_empty(), "{}", preset.name);
        assert!(preset.name == "none" || !policy.not_modelled.is_empty(), "{}", preset.name);
        let facts = [
            FACTS,
            Facts { window: Some(1_000_000), ..FACTS },
            Facts { max_input: 150_000, ..FACTS },
            Facts { max_output: 8_000, ..FACTS },
        ];
        let plans = |policy: &Policy| facts.iter().map(|facts| policy.plan(facts).ok()).collect::<Vec<_>>();
        assert!(plans(&policy).iter().chain(&plans(&declared)).all(Option::is_some), "{}", preset.name);
        for (name, parameter) in &policy.params {
            assert!(!parameter.unit.is_empty() && !parameter.help.is_empty(), "{}: {name}", preset.name);
            let changes = ["0", "1", "0.123", "7000", "170000", "1m"].iter().any(|value| {
                bases.iter().any(|base| {
                    let mut changed = Policy::clone(base);
                    // A fraction of a token is none.
                    changed.set(name, value).is_ok() && plans(&changed) != plans(base)
                })
            });
            assert!(changes, "{}: nothing depends on {name}", preset.name);
        }
    }
}

#[test]
fn bare_names_mean_the_newest_version() {
    for (bare, newest) in [("pi", "pi@1.5"), ("codex", "codex@2026-06"), ("opencode", "opencode@1.18"), ("mycoder", "mycoder@1.7")] {
        assert_eq!(Policy::load(bare).unwrap().name, newest);
    }
    assert_eq!(Policy::load("opencod").unwrap_err().to_string().split("; ").nth(1), Some("did you mean `opencode`?"));
}

#[test]
fn mistakes_are_named_with_their_place_and_the_nearest_word() {
    let mut policy = Policy::load("opencode").unwrap();
    let error = policy.set("prune_protct", "1").unwrap_err().to_string();
    assert!(error.contains("did you mean `prune_protect`?"), "{error}");

    let wrong = |text: &str| Policy::parse("mine.toml", text).unwrap_err().to_string();
    assert_eq!(
        wrong("extends = \"codex\"\n[window]\nreserv = 3\n"),
        "mine.toml:3:1: unknown field `reserv`, expected one of `default`, `reserve`, `safety_buffer`; did you mean `reserve`?"
    );
    assert!(wrong("extends = \"codex\"\nwithout = [\"shel-limit\"]\n").starts_with("mine.toml:2:13: `without` names `shel-limit`"));
    let rule = |rest: &str| format!("[[rule]]\nid = \"a\"\nat = \"pre_call\"\n{rest}\n");
    assert!(wrong(&rule("when.level = { of = \"usage_total\" }\ndrop = {}")).contains("either `gt` or `ge`"));
    for (rest, reason) in [
        ("", "no action"),
        ("drop = {}\nmask = { text = \"\" }", "more than one action"),
        ("drop = {}\nelse = \"a\"", "leads back"),
        ("drop = {}\nelse = \"b\"", "no rule"),
    ] {
        let error = wrong(&rule(rest));
        assert!(error.starts_with("mine.toml:2:7: rule `a`: ") && error.contains(reason), "{error}");
    }
    // Two of a document's own rules with one id: neither replaces the other, whatever stands in what it extends.
    let twice = format!("extends = \"opencode\"\n{}{}", rule("drop = {}"), rule("mask = { text = \"\" }"));
    assert!(wrong(&twice).contains("two rules have the id `a`"), "{}", wrong(&twice));
    for (rest, reason) in [
        ("drop = {}\nselect.tail = [{ n = -1, unit = \"messages\" }]", "mine.toml:5:18: `n` is -1"),
        ("drop = {}\nselect.take.share = 5.0", "`take` is a share of 5"),
        ("truncate = { max = 10, unit = \"bytes\", marker = \"{removd_bytes} {x\" }", "a marker names `removd_bytes`"),
    ] {
        let error = wrong(&rule(rest));
        assert!(error.contains(reason), "{error}");
    }
    for (summary, reason) in
        [("ratio = -1", "`ratio` is -1"), ("ratio = 1.5", "from 0 to 1"), ("min = 5000\nmax = 5", "more than its `max` of 5")]
    {
        let error = wrong(&format!("[summary]\nmodel = \"share\"\n{summary}\n{}", rule("summarise = {}")));
        assert!(error.contains(reason), "{error}");
    }
    let unknown = "mine.toml:2:12: `opencod` is neither a preset nor a readable policy file; did you mean `opencode`?";
    assert_eq!(wrong("# mine\nextends = \"opencod\"\n"), unknown);
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one.toml", "other.toml"].map(|name| folder.path().join(name));
    std::fs::write(&one, "extends = \"other.toml\"\n").unwrap();
    std::fs::write(&other, "extends = \"one.toml\"\n").unwrap();
    let ring = Policy::load(&one.to_string_lossy()).unwrap_err().to_string();
    assert!(ring.contains("one.toml:1:12: policy `") && ring.contains("extends itself"), "{ring}");
    assert!(matches!(Policy::load("no-such-file.toml"), Err(PolicyError::Unknown { .. })));
}

#[test]
fn a_document_changes_what_it_extends() {
    let text = "extends = \"opencode@2025-12\"\nwithout = [\"prune\", \"prune_protect\", \"prune_minimum\"]\n[params]\noutput_token_max = 16_000\n";
    let policy = Policy::parse("mine", text).unwrap();
    let plan = policy.plan(&FACTS).unwrap();
    assert_eq!(plan.window.reserve, 16_000);
    assert!(plan.rule.iter().all(|rule| rule.id != "prune"));
    assert_eq!(policy.params["output_token_max"].unit, "tokens");
}

#[test]
fn the_example_of_the_documentation_holds() {
    let page = include_str!("../../docs/policies.md");
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let plan = Policy::parse("mine.toml", example).unwrap().plan(&FACTS).unwrap();
    let ids: Vec<&str> = plan.rule.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(ids, ["bash-limit", "list-limit", "compact", "prune", "emergency"]);
    assert_eq!(plan.reactive.retries, 1);
}

/// A document takes the numbers that `--set` takes, and no others.
#[test]
fn a_number_that_cannot_be_is_refused_wherever_it_is_written() {
    let written = |line: &str| Policy::parse("mine.toml", &format!("extends = \"opencode\"\n[params]\n{line}\n")).map(drop);
    for (param, value, reason) in [
        ("prune_protect", "-5", "`prune_protect`: `-5` is below 0; it counts tokens"),
        ("prune_protect", "-0.5", "`prune_protect`: `-0.5` is below 0; it counts tokens"),
        ("prune", "2", "`prune`: `2` is neither 0 (off) nor 1 (on)"),
    ] {
        let set = Policy::load("opencode").unwrap().set(param, value).unwrap_err().to_string();
        assert!(set.ends_with(reason), "{set}");
        let parsed = written(&format!("{param} = {value}")).unwrap_err().to_string();
        assert_eq!(parsed, format!("mine.toml:3:1: {reason}"));
    }
    assert!(written("prune_protect = 0").is_ok() && written("prune = 1").is_ok());
    // What is described without a unit keeps the inherited one, with all else that it does not name.
    let described = written("prune_protect = { value = -5 }").unwrap_err().to_string();
    assert_eq!(described, "mine.toml:3:1: `prune_protect`: `-5` is below 0; it counts tokens");
    let kept = Policy::parse("mine.toml", "extends = \"opencode\"\n[params]\nprune_protect = { range = [10, 20] }\n").unwrap();
    let before = Policy::load("opencode").unwrap();
    let shown = |policy: &Policy| (policy.params["prune_protect"].number(), policy.params["prune_protect"].help.clone());
    assert_eq!(shown(&kept), shown(&before));
    assert_ne!(kept.params["prune_protect"].range, before.params["prune_protect"].range);
    // A description of its own is held to its own unit.
    let own = Policy::parse("own.toml", "[params]\nn = { value = -1, unit = \"messages\" }\n").unwrap_err().to_string();
    assert_eq!(own, "own.toml:2:1: `n`: `-1` is below 0; it counts messages");
    assert!(Policy::parse("own.toml", "[params]\nn = { value = -1, unit = \"factor\" }\n").is_ok());
}

/// Shares above one work, and are hardly ever meant.
#[test]
fn shares_and_percentages_that_are_hardly_meant_are_doubted() {
    let doubts = |policy: &str, param: &str, value: &str| {
        let mut policy = Policy::load(policy).unwrap();
        policy.set(param, value).unwrap();
        policy.doubts().into_iter().map(|(name, why)| format!("{name} {why}")).collect::<Vec<_>>().join("; ")
    };
    let expected = "auto_compact_threshold 85 (unit: share) is 8,500 %; did you mean 0.85?";
    assert_eq!(doubts("baseagent", "auto_compact_threshold", "85"), expected);
    assert_eq!(doubts("baseagent", "auto_compact_threshold", "1.5"), "auto_compact_threshold 1.5 (unit: share) is 150 %");
    assert_eq!(doubts("baseagent", "auto_compact_threshold", "250"), "auto_compact_threshold 250 (unit: share) is 25,000 %");
    assert_eq!(doubts("baseagent", "auto_compact_threshold", "85%"), "");
    assert_eq!(doubts("baseagent", "auto_compact_threshold", "1"), "");
    assert_eq!(doubts("baseagent", "prune_protect", "85"), "");
    let expected = "high_usage_percent 0.5 (unit: percent of the window) is less than 1 %; did you mean 50?";
    assert_eq!(doubts("mycoder", "high_usage_percent", "0.5"), expected);
    assert_eq!(doubts("mycoder", "high_usage_percent", "0"), "");
    for preset in presets() {
        assert_eq!(Policy::load(preset.name).unwrap().doubts(), [], "{}", preset.name);
    }
}

/// A parameter that nothing uses is a slip of the pen.
#[test]
fn a_new_parameter_is_used_by_a_formula() {
    let slip = Policy::parse("mine.toml", "extends = \"opencode\"\n[params]\nprune_protct = 3\n").unwrap_err().to_string();
    assert!(slip.starts_with("mine.toml:3:1: `opencode` has no parameter `prune_protct`; did you mean `prune_protect`?"), "{slip}");
    let used = "extends = \"opencode\"\n[params]\nshare = 0.5\nprune_protect = \"=share * window\"\n";
    assert!(Policy::parse("mine.toml", used).is_ok());
    let nothing = Policy::load("pi").unwrap().set("keepRecentTokens", "").unwrap_err().to_string();
    assert!(nothing.contains("`keepRecentTokens`: no value is given"), "{nothing}");
}

/// No preset has a formula that comes to what its parameter cannot have, whatever the model.
#[test]
fn formulas_of_presets_stay_within_their_units() {
    for preset in presets() {
        let policy = Policy::load(preset.name).unwrap();
        for window in [4_000, 16_000, 32_768, 128_000, 200_000, 1_048_576, 2_000_000] {
            for max_output in [0, 4_096, 32_000, 128_000] {
                for max_input in [0, window / 2, window] {
                    let facts = Facts { window: Some(window), max_input, max_output, family: None, ..Facts::default() };
                    assert!(policy.plan(&facts).is_ok(), "{} at {facts:?}: {:?}", preset.name, policy.plan(&facts).err());
                }
            }
        }
    }
}

/// A document may leave no room in an ordinary window, as long as the model of a session has it.
#[test]
fn a_formula_is_held_to_the_models_of_the_logs() {
    let mut policy = Policy::load("pi").unwrap();
    policy.set("reserveTokens", "window-500k").unwrap();
    let at = |window| policy.plan(&Facts { window: Some(window), max_input: 0, max_output: 0, family: None, ..Facts::default() });
    assert!(at(1_000_000).is_ok());
    let refused = at(200_000).unwrap_err().to_string();
    assert!(refused.contains("`-300000` is below 0; it counts tokens (`window-500k` at a window of 200000)"), "{refused}");
    let text = "extends = \"pi\"\nabout = \"mine\"\n[params]\nreserveTokens = \"=window-500k\"\n";
    let written = Policy::parse("mine", text).unwrap();
    let plan = |window| written.plan(&Facts { window: Some(window), max_input: 0, max_output: 0, family: None, ..Facts::default() });
    assert!(plan(1_000_000).is_ok() && plan(200_000).is_err());
}

/// What is no parameter, no table and no divisor is refused where it stands, in words of the document; comments and headings with the same letters are passed over.
#[test]
fn mistakes_stand_where_they_are_written() {
    let of_pi = [
        (
            "[params]\nreserveTokens = { valeu = 1 }",
            "3:1: `reserveTokens`: unknown field `valeu`, expected one of `value`, `unit`, `help`, `range`; did you mean `value`?",
        ),
        ("[params]\nreserveTokens = { unit = \"tokens\" }", "3:1: `reserveTokens`: missing field `value`"),
        (
            "[[configuration]]\nfile = \"a.json\"\nsyntax = \"json\"\nkeys = { reserveTokns = \"reserve\" }",
            "5:10: `keys` names `reserveTokns`, which is no parameter of the policy; did you mean `reserveTokens`?",
        ),
        ("[[recorded_by]]\nagent = \"pi\"\nfrom = \"yesterday\"", "4:8: `yesterday` is neither a version nor a day such as `2026-03-15`"),
        (
            "[[recorded_by]]\nagent = \"pi\"\nbefore = \"2026-13-45\"",
            "4:10: `2026-13-45` is neither a version nor a day such as `2026-03-15`",
        ),
        ("[params]\nreserveTokens = [5]", "3:1: `reserveTokens`: a list: it takes a number, or a formula behind `=`"),
        (
            "[params]\nreserveTokens = { value = 5, range = [9, 1] }",
            "3:1: `reserveTokens`: its range is written [least, most], two numbers in that order",
        ),
        ("[params]\nreserveTokens = 99999999999999999999", "3:17: a number that is too large"),
        ("[estimator]\ndenominator = 0", "3:15: 0 cannot divide: a whole number from 1 on is expected"),
        ("estimator = []", "2:13: a list does not fit: a table is expected"),
        ("estimator = 7", "2:13: `7` does not fit: a table is expected"),
        ("window = 0.5", "2:10: `0.5` does not fit: a table is expected"),
        ("window.reserve = true", "2:18: `true` does not fit: a whole number from 0 on is expected"),
        ("window = [200_000]", "2:10: a list does not fit: a table is expected"),
        ("window.reserve = \"lots\"", "2:18: the text `lots` does not fit: a whole number from 0 on is expected"),
        ("window.reserve = 2026-01-01", "2:18: a date does not fit: a whole number from 0 on is expected"),
        ("mirrored = { version = \"1\", date = \"2026-13-45\" }", "2:36: `2026-13-45` is no day; it is written 2026-03-15"),
        (
            "about = \"keepRecentTokns\"\n[params]\n# keepRecentTokns\nkeepRecentTokns = 5",
            "5:1: `pi` has no parameter `keepRecentTokns`; did you mean `keepRecentTokens`?; a new one must be used by a formula of this document",
        ),
    ];
    for (text, expected) in of_pi {
        let error = Policy::parse("mine.toml", &format!("extends = \"pi\"\n{text}\n")).unwrap_err().to_string();
        assert_eq!(error, format!("mine.toml:{expected}"), "{text}");
    }
    let alone = [
        ("[params]\na = \"=b * 2\"\nb = \"=a * 2\"", "2:1: parameter `a` refers to itself"),
        (
            "# =b\n[params]\na = 5\n[window]\nreserve = \"=b\"",
            "5:13: `b` names `b`, which is neither a parameter nor a fact of the model; did you mean `a`?",
        ),
        (
            "[[rule]]\nid = \"a\"\nat = \"pre_call\"\ndrop = {}\n[[rule]]\nid = \"a\"\nat = \"pre_call\"\ndrop = {}",
            "2:7: two rules have the id `a`",
        ),
    ];
    for (text, expected) in alone {
        assert_eq!(Policy::parse("mine.toml", text).unwrap_err().to_string(), format!("mine.toml:{expected}"), "{text}");
    }
}
