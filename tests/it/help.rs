//! `--help` of every command: its lines fit a terminal of 80 columns, and its examples run.

use crate::made::Native;
use crate::support::{ctxsim, shell};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// The help of each command, with the words that ask for it.
pub fn helps() -> &'static [(String, String)] {
    static HELPS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
        let (folder, mut all) = (tempfile::tempdir().unwrap(), Vec::new());
        ask(folder.path(), &[], &mut all);
        all
    });
    &HELPS
}

/// The help of a command and of all below it.
fn ask(folder: &Path, path: &[String], all: &mut Vec<(String, String)>) {
    let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = ctxsim(&words).within(folder).columns(80).run().stdout();
    let below = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| line.starts_with("  "));
    // Names stand at two spaces; what is said of them may go on further to the right.
    let names: Vec<String> = below
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect();
    for name in names {
        ask(folder, &[path, &[name]].concat(), all);
    }
    all.push((path.join(" "), help));
}

/// The examples, each as it would be typed.
fn examples(help: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in help.lines().skip_while(|line| *line != "Examples:").skip(1).take_while(|line| !line.is_empty()) {
        let before = found.last().filter(|known| known.ends_with('\\')).is_some();
        match line.strip_prefix("  ") {
            Some(typed) if typed == "ctxsim" || typed.starts_with("ctxsim ") => {
                // What follows after a gap says what it is for.
                found.push(typed.split("  ").next().unwrap().to_owned());
            }
            Some(rest) if rest.starts_with("    ") && before => {
                let last = found.last_mut().unwrap();
                *last = format!("{} {}", last.trim_end_matches('\\'), rest.trim());
            }
            Some(rest) => {
                assert!(rest.starts_with("        "), "neither an example nor what is said of one, or broken by a narrow page: {line}")
            }
            None => panic!("stands at the edge: {line}"),
        }
    }
    found
}

/// What the examples speak of.
pub fn prepared(folder: &Path) {
    let log = (1..9).fold(Native::new(json!({"session": "4f2a77", "agent": "pi", "window": 8000})), |log, call| {
        log.asked(&format!("question {call} of line {call}"), &format!("answer {call}"), 900 * call, 40)
    });
    for name in ["logs", "transcripts", "before", "after", "small", "large"] {
        fs::create_dir(folder.join(name)).unwrap();
        log.write(&folder.join(name), "session.jsonl");
    }
    log.write(folder, "session.jsonl");
    for name in ["files.rows", "measured.rows", "corpus.rows", "sessions.rows"] {
        fs::write(folder.join(name), "").unwrap();
    }
    for name in ["mine.toml", "estimator.toml"] {
        fs::write(folder.join(name), "extends = \"codex\"\nabout = \"mine\"\n").unwrap();
    }
    fs::write(folder.join("runs.tsv"), "file\tlimit\nlogs/session.jsonl\tnone\ntranscripts/session.jsonl\t4000\n").unwrap();
    let prices =
        "{\"claude-opus-4-6\":{\"litellm_provider\":\"anthropic\",\"input_cost_per_token\":5e-6,\"output_cost_per_token\":2.5e-5}}";
    fs::write(folder.join("prices.json"), prices).unwrap();
    ctxsim(&["trace", "build", "logs/", "-q", "-o", "corpus.ctxtrace"]).within(folder).code(0);
}

#[test]
fn every_example_of_every_help_runs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepared(folder);
    let (mut done, mut wrong) = (BTreeSet::new(), Vec::new());
    for example in helps().iter().flat_map(|(_, help)| examples(help)) {
        // Neither a redirection nor a pager is ours; and each is tried once.
        let own = example.split(" > ").next().unwrap().split(" | ").next().unwrap().to_owned();
        if !done.insert(own.clone()) {
            continue;
        }
        // A file that is there is not written over: it goes aside, and comes back where the example writes none.
        let words: Vec<&str> = own.split_whitespace().collect();
        let places = words.windows(2).filter(|pair| ["-o", "--output", "--calibrate"].contains(&pair[0])).map(|pair| folder.join(pair[1]));
        let aside: Vec<_> = places
            .flat_map(|place| [place.with_extension("csv"), place])
            .filter_map(|place| {
                let bytes = fs::read(&place).ok()?;
                fs::remove_file(&place).unwrap();
                Some((place, bytes))
            })
            .collect();
        let run = shell("sh", &own).current_dir(folder).env("HOME", folder.join("home")).output().unwrap();
        aside.into_iter().filter(|(place, _)| !place.exists()).for_each(|(place, bytes)| fs::write(place, bytes).unwrap());
        // 1 is a check that failed, 3 nothing readable; 2 is a wrong word.
        if !matches!(run.status.code(), Some(0 | 1 | 3)) {
            wrong.push(format!("{own}\n{}", String::from_utf8_lossy(&run.stderr)));
        }
    }
    assert!(done.len() > 60, "{}", done.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn help_fits_a_terminal_of_80_columns_and_says_what_an_option_means_there() {
    let all = helps();
    assert!(all.len() > 25, "{}", all.len());
    for (name, help) in all {
        let examples = help.lines().skip_while(|line| *line != "Examples:");
        for line in examples {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
    }
    let of = |name: &str| &all.iter().find(|(known, _)| known == name).unwrap().1;
    assert!(of("diff").contains("The two policies that are compared"));
    assert!(of("tune").contains("The policy that is tuned"));
    assert!(of("replay").contains("`oracle` gives each of them a row") && !of("cost").contains("oracle"));
    assert!(of("cost").contains("in `ctxsim replay`") && of("replay").contains("apart too where a row"));
    assert!(of("").contains("a limit of `gate`") && of("").contains("a finding of `policy check`"));
    // One name for where things are written.
    for name in ["replay", "report", "chart", "convert", "trace build", "demo", "man", "drift", "inspect"] {
        let help = of(name);
        assert!(help.contains("-o, --output <") && !help.contains("--out ") && !help.contains("--write"), "{name}");
    }
}
