//! What shells complete: the program is asked as the scripts ask it, and bash is driven with its own script.

use std::path::Path;
use std::process::Command;

/// What can stand at the last of these words.
fn complete(folder: &Path, words: &[&str]) -> Vec<String> {
    let place = words.len().to_string();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ctxsim"));
    let output = command.current_dir(folder).env("CTXSIM_CONFIG", "").args(["complete", &place, "ctxsim"]).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn names_are_completed_where_they_stand() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of = |words: &[&str]| complete(root, words);
    assert_eq!(of(&["sw"]), ["sweep"]);
    assert_eq!(of(&["policy", "sh"]), ["show"]);
    assert_eq!(of(&["chart", "sur"]), ["survival"]);
    assert_eq!(of(&["chart", "survival", "logs/", ""]), [""; 0], "files are the shell's");
    assert_eq!(of(&["replay", "logs/", "-p", "pi@0.5"]), ["pi@0.58"]);
    assert_eq!(of(&["policy", "show", "qwen-code@0.2"]), ["qwen-code@0.24"]);
    assert_eq!(of(&["replay", "--format", "j"]), ["json"]);
    assert_eq!(of(&["gate", "--format", "jun"]), ["junit"]);
    assert_eq!(of(&["replay", "--format=j"]), ["--format=json"]);
    assert_eq!(of(&["replay", "--format", "=", "j"]), ["json"], "as bash parts words");
    assert_eq!(of(&["sweep", "--minimise", "cache_h"]), ["cache_hit_rate"]);
    assert_eq!(of(&["replay", "--fail-on", "fail"]), ["failed_sessions"]);
    assert_eq!(of(&["replay", "--columns", "anch"]), ["anchored_share"]);
    assert_eq!(of(&["inspect", "--input-format", "claude"]), ["claude-code"]);
    assert_eq!(of(&["replay", "--color", "n"]), ["never"]);
    assert!(of(&["sweep", "-p", "baseagent", "--vary", "prune_p"]).contains(&"prune_protect=".to_owned()));
    // Options of the command that is meant; those of `replay` where none is named.
    assert!(of(&["tune", "--held"]) == ["--held-out"] && of(&["replay", "--held"]).is_empty());
    assert!(of(&["transcripts/", "--fail"]) == ["--fail-on"]);
    assert!(of(&["replay", "--o"]) == ["--output"], "former names stay unsaid");
    // Ids of the sessions in the logs that are named.
    let ids = of(&["explain", "--policy", "pi", "tests/data/cli/session.jsonl", "--session"]);
    assert!(ids.is_empty(), "{ids:?}");
    assert_eq!(of(&["chart", "context", "tests/data/cli/session.jsonl", "--session", "by-"]), ["by-hand"]);
}

#[test]
fn bash_asks_the_program() {
    if Command::new("bash").arg("--version").output().is_err() {
        return crate::support::skip("CTXSIM_REQUIRE_BASH", "no bash");
    }
    let program = assert_cmd::cargo::cargo_bin!("ctxsim");
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let drive = "source <(ctxsim completions bash); COMP_WORDS=(ctxsim chart surv); COMP_CWORD=2; _ctxsim; echo \"${COMPREPLY[*]}\"; complete -p ctxsim";
    let output = Command::new("bash").args(["-c", drive]).env("PATH", path).env("CTXSIM_CONFIG", "").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text, "survival\ncomplete -o default -F _ctxsim ctxsim\n", "{}", String::from_utf8_lossy(&output.stderr));
}
