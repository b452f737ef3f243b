//! A report depends on nothing but the logs and the policies.

use crate::support::{files, shared};
use std::path::{Path, PathBuf};

/// What `ctxsim replay --json` prints for these logs.
fn report(logs: &[PathBuf], threads: &str) -> String {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("ctxsim");
    command.args(["replay", "--json", "--quiet", "--threads", threads]);
    command.args(["--policy", "none", "--policy", "codex", "--policy", "opencode", "--policy", "baseagent"]).args(logs);
    let shown = command.assert().code(0);
    String::from_utf8(shown.get_output().stdout.clone()).expect("UTF-8")
}

fn assert_one_report(logs: &[PathBuf]) {
    let one = report(logs, "1");
    assert!(one.contains("\"calls\""), "{one}");
    for threads in ["2", "8"] {
        assert!(report(logs, threads) == one, "{threads} threads");
    }
    let mut shuffled = logs.to_vec();
    shuffled.reverse();
    shuffled.rotate_left(logs.len() / 3);
    assert!(report(&shuffled, "2") == one, "another order of files");
    let folder = tempfile::tempdir().expect("folder");
    let traces = folder.path().join("corpus.ctxtrace");
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("ctxsim");
    command.args(["trace", "build", "--quiet", "-o"]).arg(&traces).args(&shuffled).assert().code(0);
    assert!(report(&[traces], "2") == one, "from measured traces");
}

#[test]
fn samples_give_one_report() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let folders: Vec<PathBuf> = files(&folder).into_iter().filter(|path| path.is_dir()).collect();
    assert_one_report(&if folders.is_empty() { vec![folder] } else { folders });
}

#[test]
fn recorded_sessions_give_one_report() {
    let Some(shared) = shared() else { return };
    let formats =
        ["claude-code", "codex", "pi", "gemini-cli", "copilot-cli", "dsh", "aider", "crush-sqlite", "openai_chat_jsonl", "mini_swe_traj"];
    let logs: Vec<PathBuf> = formats.iter().flat_map(|format| files(&shared.join("transcripts").join(format))).collect();
    assert_one_report(&logs);
}
