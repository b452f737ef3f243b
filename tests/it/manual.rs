use assert_cmd::Command;
use std::path::Path;

/// The report in the README is what its command prints today. To renew it: run the command that the test names and paste its output.
#[test]
fn the_report_in_the_readme_is_real() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let (_, after) = readme.split_once("```text\n$ ctxsim ").unwrap();
    let (command, after) = after.split_once('\n').unwrap();
    let (shown, _) = after.split_once("```").unwrap();
    let mut program = Command::cargo_bin("ctxsim").unwrap();
    let output = program.current_dir(root).env("COLUMNS", "100").args(command.split(' ')).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), shown, "COLUMNS=100 ctxsim {command}");
}

/// The first set-up command of the README is the one that continuous integration runs.
#[test]
fn the_readme_and_continuous_integration_run_the_same_commands() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let script = std::fs::read_to_string(root.join(".ci/run")).unwrap();
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("    cargo ")).collect();
    assert_eq!(commands.len(), 2);
    for command in commands {
        let arguments = command.trim_start_matches("run --release ").trim_start_matches("test --release");
        assert!(script.contains(arguments.trim()), "{command}");
    }
}
