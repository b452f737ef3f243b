use crate::help::prepared;
use crate::made::Native;
use crate::support::{ctxsim, project, shell};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Output;

/// What the README and the example of tuning show is what their commands print today. To renew them: run the command that the test names and paste its output.
#[test]
fn the_reports_in_the_documents_are_real() {
    let root = project();
    for page in ["README.md", "docs/tuning.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let (_, after) = text.split_once("```text\n$ ctxsim ").unwrap();
        let (command, after) = after.split_once('\n').unwrap();
        let (shown, _) = after.split_once("```").unwrap();
        assert_eq!(ctxsim(&[]).args(command.split(' ')).columns(100).run().stdout(), shown, "{page}: COLUMNS=100 ctxsim {command}");
    }
}

/// The first set-up command of the README is the one that continuous integration runs.
#[test]
fn the_readme_and_continuous_integration_run_the_same_commands() {
    let root = project();
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let script = std::fs::read_to_string(root.join(".ci/run")).unwrap();
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("    cargo ")).collect();
    assert_eq!(commands.len(), 2);
    for command in commands {
        let arguments = command.trim_start_matches("run --release ").trim_start_matches("test --release");
        assert!(script.contains(arguments.trim()), "{command}");
    }
}

/// The README's lines, as they would be typed: what stands between backticks and begins with the program's name.
fn typed(readme: &str) -> Vec<String> {
    let spans = readme.split('`').skip(1).step_by(2).filter(|span| span.starts_with("ctxsim ") && !span.contains('\n'));
    spans.map(|span| span.replace("SESSION", "4f2a77")).collect()
}

fn run(folder: &Path, line: &str) -> Output {
    shell("sh", line).current_dir(folder).env("HOME", folder.join("home")).output().unwrap()
}

/// Every line of the README runs, one after the other, in a folder that holds logs and nothing else.
#[test]
fn the_lines_of_the_readme_run() {
    let readme = fs::read_to_string(project().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 120, "{} lines", readme.lines().count());
    let folder = tempfile::tempdir().unwrap();
    prepared(folder.path());
    for made in ["mine.toml", "estimator.toml", "prices.json", "session.jsonl", "corpus.ctxtrace"] {
        fs::remove_file(folder.path().join(made)).unwrap();
    }
    let lines = typed(&readme);
    assert!(lines.len() > 20, "{lines:?}");
    for line in lines {
        let ran = run(folder.path(), &line);
        assert_eq!(ran.status.code(), Some(0), "{line}\n{}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// The README's gate passes while nothing moves, and fails where a policy goes from no overflow to two.
#[test]
fn the_gate_of_the_readme_fails_on_new_overflows() {
    let readme = fs::read_to_string(project().join("README.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("logs")).unwrap();
    for session in ["a", "b"] {
        let log = (1..30).fold(Native::new(json!({"session": session, "agent": "pi", "window": 200_000})), |log, call| {
            log.asked(&format!("question {call} of {session}"), &format!("answer {call} to {session}"), 5_000 * call, 40)
        });
        log.write(&folder.join("logs"), &format!("{session}.jsonl"));
    }
    let policy = |text: &str| fs::write(folder.join("mine.toml"), text).unwrap();
    // In half of the recorded window, so that a policy that does nothing meets its end.
    let gates: Vec<String> =
        typed(&readme).into_iter().filter(|line| line.starts_with("ctxsim gate ")).map(|line| line + " --window 100k").collect();
    assert_eq!(gates.len(), 2, "{gates:?}");
    policy("extends = \"opencode\"\n");
    for gate in &gates {
        assert_eq!(run(folder, gate).status.code(), Some(0), "{gate}");
    }
    policy("extends = \"none\"\n");
    let failed = run(folder, &gates[1]);
    let said = String::from_utf8_lossy(&failed.stdout);
    assert_eq!(failed.status.code(), Some(1), "{said}");
    let overflows: Vec<&str> = said.lines().filter(|line| line.trim_start().starts_with("overflows")).collect();
    assert!(overflows.iter().any(|line| line.split_whitespace().filter(|word| ["0", "2", "+2"].contains(word)).count() >= 2), "{said}");
}

/// The picture on top of the README is what its command draws: `ctxsim chart context transcripts/ --session 32252a7f --policy
/// claude-code@early -o - > docs/pictures/context.svg`.
#[test]
fn the_picture_of_the_readme_is_real() {
    let root = project();
    let words = ["chart", "context", "transcripts/", "--session", "32252a7f", "--policy", "claude-code@early", "-o", "-"];
    let drawn = ctxsim(&words).run();
    let kept = root.join("docs/pictures/context.svg");
    if std::env::var_os("CTXSIM_WRITE").is_some() {
        fs::write(&kept, &drawn.stdout).unwrap();
        return;
    }
    assert!(fs::read(kept).unwrap() == drawn.stdout, "CTXSIM_WRITE=1 cargo test --test it picture_of_the_readme");
}
