//! One convention for what is written: each command takes a form and a place, or refuses it with a sentence that says what it can do.

use crate::help::{helps, prepared};
use crate::support::{ctxsim, project};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const FORMS: [&str; 12] = ["table", "json", "csv", "markdown", "html", "junit", "github", "svg", "png", "jsonl", "toml", "ctxtrace"];
const ENDINGS: [&str; 10] = ["json", "jsonl", "csv", "md", "html", "svg", "png", "txt", "toml", "ctxtrace"];
const REPORT: &str = "table json csv markdown html";
const FILES: &str = "txt json csv md html";

/// Each command with the words that it needs, the forms that it takes, and the endings of files that it writes.
const COMMANDS: [(&str, &str, &str, &str); 38] = [
    ("inspect", "logs/", REPORT, FILES),
    ("replay", "logs/ -p none", REPORT, FILES),
    ("cost", "logs/ -p none", REPORT, FILES),
    ("cache", "logs/", REPORT, FILES),
    ("idle", "logs/", REPORT, FILES),
    ("explain", "4f2a logs/ -p codex", REPORT, FILES),
    ("drift", "logs/", REPORT, FILES),
    ("backtest", "logs/", REPORT, FILES),
    ("diff", "logs/ -p codex -p pi", REPORT, FILES),
    ("sweep", "logs/ -p pi --vary keepRecentTokens=1k,2k", REPORT, FILES),
    ("tune", "logs/ -p pi --params keepRecentTokens=1k..4k --held-out 50", REPORT, FILES),
    ("validate", "before/ --with after/ -p codex --pair-by file", REPORT, FILES),
    ("curve", "logs/", REPORT, FILES),
    ("gate", "logs/ -p codex --baseline base.json", "table json csv markdown html junit github", FILES),
    ("report", "logs/ -p none", "json markdown html", "json md html"),
    ("chart", "peaks logs/ -p none", "svg png csv", "svg png csv"),
    ("trace build", "logs/", "ctxtrace", "ctxtrace"),
    ("convert", "logs/", "jsonl", "jsonl"),
    ("formats", "", REPORT, FILES),
    ("models", "gpt-5", REPORT, FILES),
    ("policy list", "", REPORT, FILES),
    ("policy show", "codex", "json toml", "json toml"),
    ("policy new", "--extends codex", "toml", "toml"),
    ("policy diff", "codex pi", "", ""),
    ("policy schema", "", "", ""),
    ("policy check", "codex", "", ""),
    ("demo", "", "", ""),
    ("config", "", "", ""),
    ("completions", "bash", "", ""),
    ("man", "", "", ""),
    ("metrics", "", REPORT, FILES),
    ("", "", "", ""),
    ("trace", "", "", ""),
    ("policy", "", "", ""),
    ("worker", "", "", ""),
    ("worker measure", "", "", ""),
    ("worker merge", "", "", ""),
    ("worker simulate", "", "", ""),
];

/// Those that only lead to others, and those that hand rows to an engine.
const GROUPS: [&str; 7] = ["", "trace", "policy", "worker", "worker measure", "worker merge", "worker simulate"];

fn typed<'a>(command: &'a str, rest: &'a str) -> Vec<&'a str> {
    command.split_whitespace().chain(rest.split_whitespace()).collect()
}

/// Is this text of that form?
fn is(form: &str, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
    match form {
        "json" => json(&text),
        "jsonl" => text.lines().all(json) && !text.is_empty(),
        "html" => text.starts_with("<!doctype html>") || text.starts_with("<!DOCTYPE html>"),
        "svg" => text.starts_with("<svg"),
        "png" => bytes.starts_with(b"\x89PNG"),
        "junit" => text.starts_with("<?xml"),
        "github" => text.contains("::"),
        "toml" => text.parse::<toml::Table>().is_ok(),
        "csv" => text.lines().next().is_some_and(|head| head.contains(',') && !head.contains(' ')),
        "markdown" | "md" => text.starts_with("**") || text.starts_with("<!--"),
        "ctxtrace" => bytes.len() > 20 && !json(&text),
        _ => text.lines().count() > 1 && !json(&text),
    }
}

/// What a refusal of something that a command cannot write has to name.
fn says_what_is_written(said: &str, wanted: &[&str]) -> bool {
    said.starts_with("error: ")
        && said.lines().count() == 1
        && if wanted.is_empty() { said.contains("prints one text") } else { wanted.iter().all(|word| said.contains(word)) }
}

#[test]
fn each_command_takes_a_form_or_says_what_it_can_write() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepared(folder);
    ctxsim(&typed("gate", "logs/ -q -p codex --baseline base.json --update-baseline")).within(folder).code(0);
    let all = helps();
    let known: BTreeSet<&str> = COMMANDS.iter().map(|(command, ..)| *command).collect();
    let missing: Vec<&String> = all.iter().map(|(command, _)| command).filter(|command| !known.contains(command.as_str())).collect();
    assert!(missing.is_empty() && known.len() >= all.len(), "not in the table: {missing:?}");
    for (command, words, forms, endings) in COMMANDS.iter().filter(|(command, ..)| !GROUPS.contains(command)) {
        let (forms, endings): (Vec<&str>, Vec<&str>) = (forms.split_whitespace().collect(), endings.split_whitespace().collect());
        let to_a_place = ["convert", "trace build", "chart"].contains(command);
        for form in FORMS {
            let place: &[&str] = if to_a_place { &["-o", "-"] } else { &[] };
            let ran = ctxsim(&[&typed(command, words), &["--format", form][..], place].concat()).within(folder).run();
            let said = ran.stderr();
            if forms.contains(&form) {
                assert_eq!(ran.status.code(), Some(0), "{command} --format {form}: {said}");
                assert!(is(form, &ran.stdout), "{command} --format {form}: {}", ran.stdout());
            } else {
                assert_eq!(ran.status.code(), Some(2), "{command} --format {form}");
                assert!(says_what_is_written(&said, &forms), "{command} --format {form}: {said}");
            }
        }
        for ending in ENDINGS {
            let name = format!("{}-as-{ending}.{ending}", command.replace(' ', "-"));
            let ran = ctxsim(&[&typed(command, words), &["-o", &name][..]].concat()).within(folder).run();
            let said = ran.stderr();
            if endings.contains(&ending) {
                assert_eq!(ran.status.code(), Some(0), "{command} -o {name}: {said}");
                assert!(is(ending, &fs::read(folder.join(&name)).unwrap()), "{command} -o {name}");
            } else {
                assert_eq!(ran.status.code(), Some(2), "{command} -o {name}");
                let files: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
                let named: Vec<&str> = files.iter().map(String::as_str).collect();
                let is_folder = ["demo", "man"].contains(command);
                assert!(
                    if is_folder { said.contains("a folder with `/`") } else { says_what_is_written(&said, &named) },
                    "{command} -o {name}: {said}"
                );
                assert!(!folder.join(&name).exists(), "{name}");
            }
        }
    }
}

/// A place by another option is held to the same names, and the root is `replay`.
#[test]
fn other_options_that_write_know_the_same_endings() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepared(folder);
    let run = |words: &str| ctxsim(&words.split_whitespace().collect::<Vec<_>>()).within(folder).run();
    for (words, said) in [
        (
            "drift logs/ --calibrate fitted.json",
            "`--calibrate fitted.json`: no .json is written here; name a file that ends in .toml, or `-`",
        ),
        ("drift logs/ --calibrate logs/", "`--calibrate logs/`: it is a folder; name a file that ends in .toml"),
        (
            "sweep logs/ -p pi --vary keepRecentTokens=1k,2k --rows rows.csv",
            "`--rows rows.csv`: no .csv is written here; name a file that ends in .jsonl",
        ),
        ("sweep logs/ -p pi --vary keepRecentTokens=1k,2k --rows rows", "its name says neither a folder nor what kind of file"),
        ("logs/ --json -o x.csv", "`-o x.csv` is written in the form that its name ends in"),
        ("chart peaks logs/ --format png -o x.svg", "`-o x.svg` is written in the form that its name ends in"),
        ("policy show codex --as-config -o x.toml", "name a file that ends in .txt, or `-`"),
        ("gate logs/ -p codex --baseline base.json --junit -o x.json", "keep it with `> FILE`"),
    ] {
        let ran = run(words);
        assert_eq!(ran.status.code(), Some(2), "{words}");
        assert!(ran.stderr().contains(said), "{words}: {}", ran.stderr());
    }
    assert!(is("json", &run("logs/ --format json -q").stdout));
    let fitted = format!("drift {}/transcripts/pi --calibrate fitted.toml", project().display());
    for (words, written) in [
        (fitted.as_str(), "fitted.toml"),
        ("sweep logs/ -p pi --vary keepRecentTokens=1k,2k --rows rows.jsonl", "rows.jsonl"),
        ("policy show opencode --as-config -o pieces.txt", "pieces.txt"),
    ] {
        assert_eq!(run(words).status.code(), Some(0), "{words}");
        assert!(is(Path::new(written).extension().unwrap().to_str().unwrap(), &fs::read(folder.join(written)).unwrap()), "{written}");
    }
    // A folder gets all of it, whatever is printed beside.
    let ran = run("report logs/ -p none -o out/ --format json");
    assert!(is("json", &ran.stdout) && folder.join("out/index.html").is_file() && folder.join("out/summary.md").is_file());
}

/// A screen with each version behind its own system: `pi@1.5 @0.73` is `pi@1.5 pi@0.73`.
fn spelled_out(screen: &str) -> String {
    let mut system = "";
    let spelled = screen.split_whitespace().map(|word| {
        let is_version = word.starts_with('@');
        if !is_version {
            system = word.split(['@', ',']).next().unwrap();
        }
        format!("{}{word} ", if is_version { system } else { "" })
    });
    spelled.collect()
}

/// Lists are cut to a screen, and whole with `--all` and for programs.
#[test]
fn lists_are_screens() {
    for words in ["help metrics", "models", "formats", "policy list", "policy list --age"] {
        let run = |more: &str| ctxsim(&typed(words, more)).columns(80).stdout();
        let (screen, all, csv) = (run(""), run("--all"), run("--csv"));
        assert!(screen.lines().count() <= 30 && screen.contains(": --all"), "{words}: {screen}");
        assert!(screen.lines().chain(all.lines()).all(|line| line.chars().count() <= 80), "{words}");
        let rows = csv.lines().count() - 1;
        assert!(all.lines().count() > rows && !all.contains("--all"), "{words}");
        let named = |text: &str| csv.lines().skip(1).all(|line| text.contains(line.split(',').next().unwrap()));
        assert!(named(&all), "{words}");
        // Names alone fit a screen.
        assert_eq!(named(&spelled_out(&screen)), ["formats", "policy list"].contains(&words), "{words}: {screen}");
        let json: serde_json::Value = serde_json::from_str(&run("--json")).unwrap();
        assert_eq!(json["rows"].as_array().unwrap().len(), rows, "{words}");
    }
}

/// All rows of all tables keep to the width of the page.
#[test]
fn details_keep_to_the_width() {
    for command in ["inspect", "replay", "cost", "cache", "idle", "drift", "backtest", "curve", "diff -p pi -p codex"] {
        let shown = ctxsim(&typed(command, "transcripts/ --details -q")).columns(80).stdout();
        let wide: Vec<&str> = shown.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{command}: {wide:#?}");
    }
}
