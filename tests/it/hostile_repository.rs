//! A repository of another person: its settings, its names, its links and pipes. Whatever is run in it, the home stays as it is.

use crate::door::{log, snapshot};
use crate::help::helps;
use crate::support::{Ran, ctxsim, skip};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every command, with words that make it do what it can do in the repository.
const COMMANDS: [&str; 50] = [
    "worker measure",
    "worker merge",
    "worker simulate -p pi",
    "inspect",
    "inspect logs --output out/ --force",
    "replay",
    "replay logs --output reports/ --force",
    "replay logs --by session --output links/out/ --force",
    "report",
    "report logs --force",
    "report logs -o out/ --force",
    "cost --bill --output out/ --force",
    "explain 4f2a -p pi --output out/ --force",
    "drift",
    "drift logs --calibrate estimator.toml --force",
    "drift logs --calibrate pipe.toml --force",
    "drift logs --calibrate out/.bashrc --force",
    "backtest --output out/ --force",
    "diff -p none -p pi --output out/ --force",
    "sweep -p pi --vary keepRecentTokens=10k,20k --rows rows.jsonl --resume",
    "sweep -p pi --vary keepRecentTokens=10k,20k --rows rows.jsonl --force",
    "sweep -p pi --vary keepRecentTokens=10k,20k --rows out/.profile --resume",
    "tune -p pi --settings 4 --output out/ --force",
    "gate logs -p pi --update-baseline",
    "gate logs -p pi",
    "gate logs -p pi --baseline estimator.toml --update-baseline --force",
    "curve --output out/ --force",
    "cache logs",
    "idle logs",
    "validate logs --with logs",
    "chart survival",
    "chart survival --force",
    "chart context logs -p pi --session 4f2a -o out/x.svg --force",
    "chart list",
    "trace build logs -o all.ctxtrace --force",
    "trace build logs -o out/x.ctxtrace --force",
    "convert logs -o rows.jsonl --force",
    "convert logs --redact -o out/x.jsonl --force",
    "policy list",
    "policy show pi",
    "policy new --extends pi",
    "policy check pi",
    "policy diff pi codex",
    "policy schema",
    "formats",
    "models",
    "demo --output out/ --force",
    "config",
    "completions bash",
    "man --output out/ --force",
];

/// What a file of settings may not say, each with a value that would do harm.
const FORBIDDEN: [&str; 14] = [
    "output = \"../..\"",
    "force = true",
    "[drift]\ncalibrate = \"../../.bashrc\"",
    "[sweep]\nrows = \"../../.bashrc\"",
    "[sweep]\nresume = true",
    "[gate]\nupdate-baseline = true",
    "[convert]\nredact = false",
    "[convert]\nto = \"openai-chat\"",
    "[trace]\noutput = \"../../.bashrc\"",
    "[chart]\noutput = \"../../x.svg\"",
    "[demo]\noutput = \"../../demo\"",
    "[man]\noutput = \"../../man\"",
    "with-paths = true",
    "[report]\nwith-content = true",
];

fn run(home: &Path, folder: &Path, words: &str) -> Ran {
    ctxsim(&words.split(' ').collect::<Vec<_>>()).within(folder).at_home(home).without(&["CTXSIM_CONFIG"]).run()
}

/// A home with files that matter, and a repository in it that was cloned.
fn prepared() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let cloned = home.join("src/cloned");
    for below in [".claude/projects/p", ".codex/sessions", ".config/autostart", "src/cloned/.git", "src/cloned/logs", "src/cloned/links"] {
        fs::create_dir_all(home.join(below)).unwrap();
    }
    for name in [".bashrc", ".profile", ".claude/settings.json", "x.svg"] {
        fs::write(home.join(name), "my own\n").unwrap();
    }
    fs::write(home.join(".claude/projects/p/s.jsonl"), log()).unwrap();
    fs::write(cloned.join("logs/one.jsonl"), log()).unwrap();
    // Names that would begin lines of their own.
    fs::write(cloned.join("logs/x\n::error::NAME.jsonl"), log()).unwrap();
    fs::write(cloned.join("logs/junk\n::error::NAME.bin"), b"\0\x01junk").unwrap();
    let named = "p\ntouch PWNED #";
    fs::create_dir(cloned.join(named)).unwrap();
    fs::write(cloned.join(named).join("x.toml"), "extends = \"opencode\"\nname = \"a\\n::error::NAME\"\n").unwrap();
    // Where outputs usually go stand links into the home, and pipes.
    symlink("../..", cloned.join("out")).unwrap();
    symlink("../..", cloned.join("reports")).unwrap();
    symlink("../../..", cloned.join("links/out")).unwrap();
    for name in ["estimator.toml", "rows.jsonl", "all.ctxtrace", "survival.svg", "survival.csv"] {
        symlink("../../.bashrc", cloned.join(name)).unwrap();
    }
    for name in ["pipe.toml", "logs/pipe.jsonl"] {
        assert!(Command::new("mkfifo").arg(cloned.join(name)).status().unwrap().success());
    }
    (folder, home, cloned)
}

/// The home without the repository.
fn kept(home: &Path, cloned: &Path) -> Vec<(PathBuf, String)> {
    snapshot(home).into_iter().filter(|(path, _)| !path.starts_with(cloned)).collect()
}

#[test]
fn every_command_leaves_the_home_as_it_is() {
    let (_folder, home, cloned) = prepared();
    let policies =
        "policy = [\"none\", \"p\\ntouch PWNED #/x.toml\"]\nlogs = [\"logs\"]\nquiet = true\n\n[gate]\nbaseline = \"../../.bashrc\"\n";
    fs::write(cloned.join("ctxsim.toml"), policies).unwrap();
    let before = kept(&home, &cloned);
    for words in COMMANDS {
        let output = run(&home, &cloned, words);
        assert!(output.status.code().is_some_and(|code| code <= 3), "{words}: {:?}", output.status);
        assert!(before == kept(&home, &cloned), "ctxsim {words} changed the home");
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(stream).into_owned();
            let command = text.lines().find(|line| line.trim_start().starts_with("::") || line.contains("##["));
            assert_eq!(command, None, "{words}");
        }
    }
    // Help shows defaults, but none that is more than words.
    let help = run(&home, &cloned, "replay --help");
    assert!(!String::from_utf8_lossy(&help.stdout).contains("touch PWNED"), "{}", String::from_utf8_lossy(&help.stdout));
    // What the file sets is said, whatever it says of quiet; --quiet that is typed holds.
    let said = |words: &str| run(&home, &cloned, words).stderr();
    assert!(said("replay").starts_with("ctxsim: ctxsim.toml sets "), "{}", said("replay"));
    assert!(!said("replay --quiet").contains("sets"));
    // The fitted policy has the command in a comment, and no line of its own for the folder's name.
    let fitted = run(&home, &cloned, "drift logs/one.jsonl -q --calibrate fitted.toml");
    assert!(fitted.status.success(), "{}", String::from_utf8_lossy(&fitted.stderr));
    let text = fs::read_to_string(cloned.join("fitted.toml")).unwrap();
    assert!(text.contains("touch PWNED") && !text.lines().any(|line| line.starts_with("touch")), "{text}");
    assert!(before == kept(&home, &cloned));
}

#[test]
fn every_command_is_tried_here() {
    let all = helps();
    let is_leaf = |name: &str| !name.is_empty() && !all.iter().any(|(other, _)| other.starts_with(&format!("{name} ")));
    let known: BTreeSet<&str> = all.iter().map(|(name, _)| name.as_str()).filter(|name| is_leaf(name)).collect();
    let untried: Vec<&&str> =
        known.iter().filter(|name| !COMMANDS.iter().any(|words| words == *name || words.starts_with(&format!("{name} ")))).collect();
    assert!(untried.is_empty() && known.len() > 20, "{untried:?}");
}

#[test]
fn a_file_of_settings_says_nothing_of_writing_or_showing() {
    for settings in FORBIDDEN {
        let (_folder, home, cloned) = prepared();
        fs::write(cloned.join("ctxsim.toml"), settings).unwrap();
        let before = kept(&home, &cloned);
        for words in ["replay logs", "report logs", "drift logs", "sweep logs -p pi --vary keepRecentTokens=10k", "demo"] {
            let output = run(&home, &cloned, words);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.code() == Some(2) && said.contains("stands in no file"), "{settings}: {words}: {said}");
        }
        assert!(before == kept(&home, &cloned), "{settings}");
    }
    // The template knows none of these options.
    let (_folder, home, cloned) = prepared();
    let template = run(&home, &cloned, "config --template").stdout();
    for setting in FORBIDDEN {
        let key = setting.lines().last().unwrap().split(' ').next().unwrap();
        assert!(!template.contains(&format!("#{key} =")), "{key}");
    }
    // A baseline may stand in it, to be compared with; it is written where it is typed.
    fs::write(cloned.join("ctxsim.toml"), "[gate]\nbaseline = \"base.json\"\n").unwrap();
    let gate = "gate logs/one.jsonl -p pi -q";
    let refused = run(&home, &cloned, &format!("{gate} --update-baseline"));
    assert!(refused.status.code() == Some(2) && String::from_utf8_lossy(&refused.stderr).contains("type it"));
    assert!(run(&home, &cloned, &format!("{gate} --update-baseline --baseline base.json")).status.success());
    assert!(run(&home, &cloned, gate).status.success());
}

#[test]
fn the_search_for_settings_ends_at_the_repository() {
    let (_folder, home, cloned) = prepared();
    let deep = cloned.join("logs");
    // Above the repository: not found from within. In a folder without one: not found from below.
    fs::write(home.join("src/ctxsim.toml"), "policy = [\"nosuch\"]\n").unwrap();
    assert!(run(&home, &deep, "replay one.jsonl -p none").status.success());
    assert!(run(&home, &deep, "replay one.jsonl -q").status.success());
    fs::create_dir(home.join("src/plain")).unwrap();
    assert!(run(&home, &home.join("src/plain"), "replay ../cloned/logs/one.jsonl").status.success());
    assert_eq!(run(&home, &home.join("src"), "replay cloned/logs/one.jsonl").status.code(), Some(2));
    // At the root of the repository it holds below it too.
    fs::write(cloned.join("ctxsim.toml"), "policy = [\"nosuch\"]\n").unwrap();
    assert_eq!(run(&home, &deep, "replay one.jsonl").status.code(), Some(2));
    // One that is a link is not obeyed, but where it is named.
    fs::remove_file(cloned.join("ctxsim.toml")).unwrap();
    symlink("../ctxsim.toml", cloned.join("ctxsim.toml")).unwrap();
    let ignored = run(&home, &cloned, "replay logs/one.jsonl -p none");
    let said = String::from_utf8_lossy(&ignored.stderr).into_owned();
    assert!(ignored.status.success() && said.contains("ctxsim.toml is ignored: it is a link"), "{said}");
    assert_eq!(run(&home, &cloned, "replay logs/one.jsonl --config ctxsim.toml").status.code(), Some(2));
    assert_eq!(run(&home, &cloned, "--config=../ctxsim.toml replay logs/one.jsonl").status.code(), Some(2));
}

/// Only the superuser can give a file away: elsewhere the test says that it skipped.
#[test]
fn settings_of_another_account_are_ignored() {
    let (_folder, home, cloned) = prepared();
    let file = cloned.join("ctxsim.toml");
    fs::write(&file, "policy = [\"nosuch\"]\n").unwrap();
    if std::os::unix::fs::chown(&file, Some(12_345), None).is_err() {
        return skip("CTXSIM_REQUIRE_ACCOUNT", "this account cannot give files away");
    }
    let ignored = run(&home, &cloned, "replay logs/one.jsonl");
    let said = String::from_utf8_lossy(&ignored.stderr).into_owned();
    assert!(ignored.status.success() && said.contains("ctxsim.toml is ignored: it belongs to another account"), "{said}");
    assert_eq!(run(&home, &cloned, "replay logs/one.jsonl --config ctxsim.toml").status.code(), Some(2));
}
