//! A report depends on nothing but the logs and the policies.

use crate::support::{below, ctxsim, files, project, shared};
use std::path::{Path, PathBuf};

/// What `ctxsim replay --json` prints for these logs.
fn report(logs: &[PathBuf], threads: &str) -> String {
    let policies = ["--policy", "none", "--policy", "codex", "--policy", "opencode", "--policy", "baseagent"];
    ctxsim(&["replay", "--json", "--quiet", "--threads", threads]).args(policies).args(logs).stdout()
}

fn assert_one_report(logs: &[PathBuf]) {
    let one = report(logs, "1");
    assert!(one.contains("\"calls\""), "{one}");
    assert!(report(logs, "2") == one, "two threads");
    let mut shuffled = logs.to_vec();
    shuffled.reverse();
    shuffled.rotate_left(logs.len() / 3);
    assert!(report(&shuffled, "2") == one, "another order of files");
    let folder = tempfile::tempdir().expect("folder");
    let traces = folder.path().join("corpus.ctxtrace");
    ctxsim(&["trace", "build", "--quiet", "-o"]).args([&traces]).args(&shuffled).code(0);
    assert!(report(&[traces], "2") == one, "from measured traces");
}

#[test]
fn samples_give_one_report() {
    let folder = project().join("transcripts");
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

/// Commands that read no logs.
const WITHOUT_LOGS: [&str; 9] = ["policy", "formats", "models", "demo", "config", "completions", "man", "help", "worker"];

/// Every other command, as it is tried. `LOGS` stands for the folders, `OUT` for a place to write to; what is written there is compared too.
const WITH_LOGS: [(&str, &[&str]); 24] = [
    ("inspect", &["LOGS", "--json"]),
    ("replay", &["LOGS", "--json", "--window", "40k", "-p", "none", "-p", "codex", "-p", "baseagent"]),
    ("replay", &["LOGS", "--csv", "--by", "session", "--window", "40k"]),
    ("replay", &["LOGS", "--csv", "--by", "tool", "--window", "40k", "-p", "none", "-p", "pi"]),
    ("report", &["LOGS", "-p", "none", "-p", "codex", "-p", "pi", "--window", "40k", "-o", "OUT/"]),
    ("cost", &["LOGS", "--json", "-p", "none", "-p", "opencode", "--window", "40k"]),
    ("cache", &["LOGS", "--json"]),
    ("idle", &["LOGS", "--json"]),
    ("explain", &["SESSION", "LOGS", "--json", "-p", "codex", "--window", "40k"]),
    ("drift", &["LOGS", "--json", "--policy", "codex", "--policy", "pi"]),
    ("drift", &["LOGS", "--calibrate", "OUT.toml"]),
    ("backtest", &["LOGS", "--json"]),
    ("diff", &["LOGS", "--json", "-p", "codex", "-p", "opencode", "--window", "40k"]),
    ("sweep", &["LOGS", "--json", "-p", "baseagent", "--vary", "prune_protect=1k..40k:10k", "--window", "40k", "--resamples", "50"]),
    ("tune", &["LOGS", "--json", "-p", "pi", "--params", "keepRecentTokens=1000..10000", "--settings", "4", "--window", "40k"]),
    ("gate", &["LOGS", "--json", "-p", "codex", "--baseline", "OUT", "--update-baseline", "--window", "40k"]),
    ("validate", &["LOGS", "--with", ".", "--json", "-p", "codex", "--window", "40k"]),
    ("curve", &["LOGS", "--json"]),
    ("chart", &["buffer", "LOGS", "-o", "OUT.svg"]),
    ("chart", &["cost", "LOGS", "-o", "OUT.svg", "--window", "40k"]),
    ("chart", &["survival", "LOGS", "-o", "OUT.svg", "--window", "40k"]),
    ("chart", &["reuse", "LOGS", "-o", "OUT.svg"]),
    ("convert", &["LOGS", "--redact", "-o", "OUT.jsonl"]),
    ("trace", &["build", "LOGS", "-o", "OUT.ctxtrace"]),
];

/// Samples of several agents, and the names that their folders have in the two layouts: other names, in another order.
const FOLDERS: [(&str, [&str; 2]); 4] =
    [("claude-code", ["alfa", "yoke"]), ("codex", ["bart", "xray"]), ("mini-swe-agent", ["cote", "walk"]), ("pi", ["dune", "vase"])];

/// Commands that the program itself lists.
pub fn listed() -> Vec<String> {
    let help = ctxsim(&["--help"]).stdout();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    commands
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// All that a command prints and writes, by what wrote it; names of folders are those of the samples, and lines stand in order.
fn traced(root: &Path, layout: usize, command: &str, words: &[&str], threads: &str) -> Vec<(String, Vec<String>)> {
    let out = root.join("out");
    std::fs::create_dir_all(&out).expect("folder");
    let mut folders: Vec<&str> = FOLDERS.iter().map(|(_, names)| names[layout]).collect();
    if layout == 1 {
        folders.rotate_left(1);
    }
    let mut arguments = vec![command.to_owned()];
    for word in words {
        match *word {
            "LOGS" if command == "gate" => arguments.push(".".to_owned()),
            "LOGS" => arguments.extend(folders.iter().map(|name| (*name).to_owned())),
            "SESSION" => arguments.push("c318ea21".to_owned()),
            word => arguments.push(word.replace("OUT", "out/made")),
        }
    }
    arguments.extend(["--quiet", "--threads", threads].map(str::to_owned));
    // What to type next names the logs as they were named.
    let printed = ctxsim(&[]).args(&arguments).within(root).stdout();
    let printed = printed.split("\nNext:").next().unwrap_or_default().as_bytes().to_vec();
    let mut all = vec![("printed".to_owned(), printed)];
    for path in below(&out) {
        let name = path.strip_prefix(&out).expect("below").to_string_lossy().into_owned();
        // The page packs each session; what it draws stands in the summary. Measured traces are compared by what they say below, and a manifest holds
        // hashes of the others.
        if !name.ends_with(".html") && !name.ends_with(".png") && !name.ends_with(".ctxtrace") && !name.ends_with("manifest.json") {
            all.push((name, std::fs::read(&path).expect("written")));
        }
    }
    if command == "trace" {
        let replayed = ctxsim(&["replay", "out/made.ctxtrace", "--json", "--quiet", "-p", "codex"]).within(root).stdout();
        all.push(("replayed".to_owned(), replayed.into_bytes()));
    }
    std::fs::remove_dir_all(&out).expect("removed");
    // The command is repeated as it was typed.
    let typed = format!("ctxsim {command} ");
    let told = |bytes: &[u8]| lines(&String::from_utf8_lossy(bytes), layout).into_iter().filter(|line| !line.contains(&typed)).collect();
    all.into_iter().map(|(name, bytes)| (name, told(&bytes))).collect()
}

/// Lines, or the values of JSON with their paths, sorted: reports may list sessions by the names of their files.
fn lines(text: &str, layout: usize) -> Vec<String> {
    let named = FOLDERS.iter().fold(text.to_owned(), |text, (sample, names)| text.replace(names[layout], sample));
    let mut lines: Vec<String> = match serde_json::from_str::<serde_json::Value>(&named) {
        Ok(value) => canonical(&value),
        Err(_) => named.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect(),
    };
    lines.sort();
    lines
}

/// The scalars of a value, each with its way from the root; elements of lists are told apart by their own content alone.
fn canonical(value: &serde_json::Value) -> Vec<String> {
    use serde_json::Value;
    match value {
        Value::Object(fields) => {
            fields.iter().flat_map(|(key, value)| canonical(value).into_iter().map(move |line| format!(".{key}{line}"))).collect()
        }
        Value::Array(values) => {
            let mut elements: Vec<String> = values.iter().map(|value| canonical(value).join(";")).collect();
            elements.sort();
            elements
        }
        scalar => vec![format!("={scalar}")],
    }
}

/// The names of folders, the order of files and the number of threads change no figure of any command.
#[test]
fn no_command_looks_at_names_of_folders() {
    let covered = |command: &String| WITHOUT_LOGS.contains(&command.as_str()) || WITH_LOGS.iter().any(|(known, _)| known == command);
    let missing: Vec<String> = listed().into_iter().filter(|command| !covered(command)).collect();
    assert!(missing.is_empty() && listed().len() > 15, "commands that are not tried: {missing:?}");
    let roots = [tempfile::tempdir().expect("folder"), tempfile::tempdir().expect("folder")];
    let samples = project().join("transcripts");
    for (layout, root) in roots.iter().enumerate() {
        for (sample, names) in FOLDERS {
            let to = root.path().join(names[layout]);
            std::fs::create_dir_all(&to).expect("folder");
            for path in std::fs::read_dir(samples.join(sample)).expect("samples").flatten().map(|entry| entry.path()) {
                if path.is_file() {
                    std::fs::copy(&path, to.join(path.file_name().expect("name"))).expect("copied");
                }
            }
        }
    }
    let mut wrong = Vec::new();
    for (command, words) in WITH_LOGS {
        let [one, other] = [(0, "1"), (1, "2")].map(|(layout, threads)| traced(roots[layout].path(), layout, command, words, threads));
        assert_eq!(
            one.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            other.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            "{command}"
        );
        for ((name, one), (_, other)) in one.iter().zip(&other) {
            let differ: Vec<(&String, &String)> = one.iter().zip(other).filter(|(one, other)| one != other).collect();
            if one.len() != other.len() || !differ.is_empty() {
                wrong.push(format!("{command} {words:?}, {name}: {} and {} lines; {:?}", one.len(), other.len(), differ.first()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
