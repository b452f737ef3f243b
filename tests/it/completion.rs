//! What shells complete: the program is asked as the scripts ask it, and bash is driven with its own script.

use crate::support::{ctxsim, path_with_program, project};
use std::path::Path;
use std::process::Command;

/// What can stand at the last of these words.
fn complete(folder: &Path, words: &[&str]) -> Vec<String> {
    let place = words.len().to_string();
    ctxsim(&["complete", &place, "ctxsim"]).args(words).within(folder).stdout().lines().map(str::to_owned).collect()
}

#[test]
fn names_are_completed_where_they_stand() {
    let root = project();
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
    assert_eq!(of(&["inspect", "--input-format", "claude"]), ["claude-code", "claude-managed-agents"]);
    assert_eq!(of(&["replay", "--color", "n"]), ["never"]);
    assert!(of(&["sweep", "-p", "baseagent", "--vary", "prune_p"]).contains(&"prune_protect=".to_owned()));
    // Options of the command that is meant; those of `replay` where none is named.
    assert!(of(&["tune", "--held"]) == ["--held-out"] && of(&["replay", "--held"]).is_empty());
    assert!(of(&["transcripts/", "--fail"]) == ["--fail-on"]);
    assert!(of(&["replay", "--o"]) == ["--output"], "former names stay unsaid");
    // Ids of the sessions in the logs that are named.
    let ids = of(&["explain", "--policy", "pi", "tests/data/cli/session.jsonl", "--session"]);
    assert!(ids.is_empty(), "{ids:?}");
    let behind = ctxsim(&["complete", "2", "ctxsim", "explain", "by-", "tests/data/cli/session.jsonl"]).stdout();
    assert_eq!(behind, "by-hand\n", "logs stand behind the session");
    assert_eq!(of(&["chart", "context", "tests/data/cli/session.jsonl", "--session", "by-"]), ["by-hand"]);
}

#[test]
fn bash_asks_the_program() {
    if Command::new("bash").arg("--version").output().is_err() {
        return crate::support::skip("CTXSIM_REQUIRE_BASH", "no bash");
    }
    let drive = "source <(ctxsim completions bash); COMP_WORDS=(ctxsim chart surv); COMP_CWORD=2; _ctxsim; echo \"${COMPREPLY[*]}\"; complete -p ctxsim";
    let output = crate::support::shell("bash", drive).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text, "survival\ncomplete -o default -F _ctxsim ctxsim\n", "{}", String::from_utf8_lossy(&output.stderr));
}

/// What is typed, and what it becomes.
const DRIVEN: [(&str, &str); 5] = [
    ("ctxsim replay -p pi@0.5", "pi@0.58"),
    ("ctxsim chart surv", "survival"),
    ("ctxsim replay --format js", "json"),
    ("ctxsim sweep --minimise cache_h", "cache_hit_rate"),
    ("ctxsim chart context tests/data/cli/session.jsonl --session by-", "by-hand"),
];

/// A shell that runs this, with the program on its path; `None` where there is none.
fn driven(shell: &str, words: &[&str]) -> Option<String> {
    if Command::new(shell).arg("--version").output().is_err() {
        crate::support::skip(&format!("CTXSIM_REQUIRE_{}", shell.to_uppercase()), &format!("no {shell}"));
        return None;
    }
    let mut command = Command::new(shell);
    let output = command.args(words).current_dir(project()).env("PATH", path_with_program()).env("CTXSIM_CONFIG", "").output().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

/// Names stand alone where there are names, and files where there are none.
#[test]
fn fish_asks_the_program() {
    let files = ("ctxsim replay transcripts/p", "transcripts/pi/");
    for (typed, wanted) in DRIVEN.into_iter().chain([files]) {
        let script = format!("source (ctxsim completions fish | psub); complete -C '{typed}'");
        let Some(found) = driven("fish", &["--no-config", "-c", &script]) else { return };
        assert!(found.lines().any(|line| line == wanted), "{typed}: {found}");
        assert!(typed == files.0 || found.lines().count() == 1, "{typed}: {found}");
    }
}

/// In a terminal of its own, loaded as the help says: from a file among the functions, at the first key.
#[test]
fn zsh_asks_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let zsh = folder.path().display();
    std::fs::write(folder.path().join("_ctxsim"), ctxsim(&["completions", "zsh"]).stdout()).unwrap();
    for (typed, wanted) in DRIVEN {
        // What the line has become is printed by a key of its own, so that no time has to be waited for.
        let script = format!(
            "zmodload zsh/zpty; zpty z 'TERM=dumb zsh -f -i'
            zpty -w z 'fpath=({zsh} $fpath); autoload -Uz compinit; compinit -u -d {zsh}/dump; bindkey \"^I\" complete-word
            shown() {{ print; print -r -- \"<$BUFFER>\" }}; zle -N shown; bindkey \"^X\" shown; print rea\"\"dy'
            zpty -r z out '*ready*'; zpty -n -w z '{typed}'$'\\t'$'\\x18'; zpty -r z out '*<*>*'; print -r -- ${{(V)out}}; zpty -d z"
        );
        let Some(shown) = driven("zsh", &["-f", "-c", &script]) else { return };
        assert!(shown.contains(&format!("{wanted} >")), "{typed}: {shown}");
    }
}
