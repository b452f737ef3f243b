use assert_cmd::assert::Assert;
use std::fs;
use std::path::Path;

const SESSION: &str = "tests/data/cli/session.jsonl";

fn ctxsim(folder: &Path, arguments: &[&str]) -> Assert {
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("ctxsim");
    command.args(arguments).current_dir(folder).env_remove("COLUMNS").env_remove("CTXSIM_CONFIG").assert()
}

fn stdout(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).expect("UTF-8")
}

fn stderr(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).expect("UTF-8")
}

/// A project with a log, a file of defaults, and a folder below it.
fn project(defaults: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    fs::create_dir_all(folder.path().join("logs")).expect("folder");
    fs::create_dir_all(folder.path().join("src/deep")).expect("folder");
    // Settings above a folder hold within one repository.
    fs::create_dir_all(folder.path().join(".git")).expect("folder");
    fs::copy(SESSION, folder.path().join("logs/session.jsonl")).expect("copied");
    fs::write(folder.path().join("ctxsim.toml"), defaults).expect("written");
    folder
}

#[test]
fn defaults_are_found_above_and_meant_from_their_own_folder() {
    let project = project("logs = [\"logs/\"]\npolicy = [\"none\", \"pi\"]\nwindow = \"1k\"\n\n[replay]\nreserve = 200\n");
    let deep = project.path().join("src/deep");
    let replayed = stdout(&ctxsim(&deep, &["replay", "--csv"]).code(0));
    let policies: Vec<&str> = replayed.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(policies, ["recorded", "none", "pi@1.5"], "{replayed}");
    let json: serde_json::Value = serde_json::from_str(&stdout(&ctxsim(&deep, &["replay", "--json"]).code(0))).expect("JSON");
    assert_eq!(json["policies"][0]["over_budget"], 2, "the reserve of [replay] and the window hold");
    let alone = stdout(&ctxsim(&deep, &[]).code(0));
    assert!(alone.lines().next().unwrap().contains("1 session, 4 recorded calls") && alone.contains("Next:  ctxsim"), "{alone}");
    let shown = stdout(&ctxsim(&deep, &["config"]).code(0));
    assert!(shown.starts_with("../../ctxsim.toml\n"), "{shown}");
    assert!(shown.contains("LOGS ../../logs/") && shown.contains("ctxsim replay\n  --reserve 200"), "{shown}");
}

#[test]
fn what_is_typed_goes_first() {
    let project = project("policy = [\"none\", \"pi\"]\n");
    let one = stdout(&ctxsim(project.path(), &["replay", "logs/", "--policy", "none", "--json"]).code(0));
    let json: serde_json::Value = serde_json::from_str(&one).expect("JSON");
    assert_eq!(json["policies"].as_array().map(Vec::len), Some(1));
}

#[test]
fn wrong_defaults_are_named_with_what_was_meant() {
    let cases = [
        ("windw = \"1k\"\n", "`windw` is no option; did you mean `window`?"),
        ("[replai]\nreserve = 3\n", "`[replai]` is named after no command; did you mean `replay`?"),
        ("[replay]\nvary = \"a=1\"\n", "`vary` is no option"),
        ("window = { size = 3 }\n", "`[window]` is named after no command"),
        ("policy = [[\"none\"]]\n", "takes a text, a number, true or false, or a list of them"),
        ("resume = true\n", "`resume` says what is written"),
        ("policy = [\n", "ctxsim.toml"),
        ("window = \"much\"\n", "ctxsim.toml: `window`: `--window much`: a number of tokens is written"),
        ("window = [1, 2]\n", "ctxsim.toml: `window`: it takes one value"),
        ("quiet = 3\n", "ctxsim.toml: `quiet`: it is either true or false"),
        ("[sweep]\nresamples = 3\n", "ctxsim.toml: [sweep] `resamples`: `--resamples 3`: 3 is not in 20..=10000"),
        ("policy = [\"opncode\"]\n", "ctxsim.toml: `policy`: `opncode` is neither"),
        ("set = [\"pi:reserveTokns=3\"]\n", "ctxsim.toml: `set`:"),
    ];
    for (defaults, words) in cases {
        let project = project(defaults);
        let failed = ctxsim(project.path(), &["replay", "logs/"]).code(2);
        assert!(stderr(&failed).contains("ctxsim.toml"), "{defaults}: {}", stderr(&failed));
        assert!(stderr(&failed).contains(words), "{defaults}: {}", stderr(&failed));
        assert!(stdout(&ctxsim(project.path(), &["replay", "--help"]).code(0)).contains("--policy"), "help is there all the same");
    }
    let project = project("window = \"much\"\n");
    let failed = ctxsim(project.path(), &["replay", "logs/"]).code(2);
    assert!(stderr(&failed).contains("a number of tokens is written as"), "{}", stderr(&failed));
}

#[test]
fn what_a_view_cannot_show_is_said() {
    let project = project("");
    let failed = ctxsim(project.path(), &["replay", "logs/", "-p", "pi", "-p", "oracle", "--by", "tool"]).code(2);
    assert!(stderr(&failed).contains("`--by tool` has no rows of policies"), "{}", stderr(&failed));
    let told = |words: &[&str]| stderr(&ctxsim(project.path(), words).code(0)).contains("--subagents separate");
    assert!(told(&["replay", "logs/", "-p", "pi", "--subagents", "separate", "--by", "tool"]));
    assert!(told(&["drift", "logs/", "--subagents", "separate"]));
    assert!(!told(&["replay", "logs/", "-p", "pi", "--subagents", "separate"]));
}

#[test]
fn the_template_is_a_file_of_defaults() {
    let template = stdout(&ctxsim(Path::new("."), &["config", "--template"]).code(0));
    assert!(template.contains("#policy = ") && template.contains("#[sweep]") && !template.contains("#resume"), "{template}");
    let project = project(&template);
    assert!(stderr(&ctxsim(project.path(), &["config"]).code(0)).is_empty());
}

#[test]
fn the_environment_names_another_file_or_none() {
    let project = project("windw = 1\n");
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("ctxsim");
    let without = command.args(["replay", "logs/", "-p", "none"]).current_dir(project.path()).env("CTXSIM_CONFIG", "").assert();
    without.code(0);
    let mut command = assert_cmd::cargo::cargo_bin_cmd!("ctxsim");
    let missing = command.args(["replay", "logs/"]).current_dir(project.path()).env("CTXSIM_CONFIG", "other.toml").assert().code(2);
    assert!(stderr(&missing).contains("other.toml"), "{}", stderr(&missing));
}

#[test]
fn the_demo_needs_no_data() {
    let folder = tempfile::tempdir().expect("folder");
    let shown = stdout(&ctxsim(folder.path(), &["demo"]).code(0));
    assert!(shown.contains(" 6 sessions, "), "{shown}");
    assert_eq!(fs::read_dir(folder.path()).expect("folder").count(), 0, "nothing is left behind");
    let written = stdout(&ctxsim(folder.path(), &["demo", "-o", "logs/"]).code(0));
    // What it proposes works as it stands.
    let proposals = written.lines().filter_map(|line| line.trim_start_matches("Next:").trim().strip_prefix("ctxsim "));
    let mut tried = 0;
    for proposal in proposals {
        ctxsim(folder.path(), &proposal.split_whitespace().collect::<Vec<_>>()).code(0);
        tried += 1;
    }
    assert_eq!(tried, 4, "{written}");
    // The sweep that it proposes shows a difference.
    let sweep = written.lines().find_map(|line| line.trim().strip_prefix("ctxsim sweep ")).expect("a sweep");
    let rows = stdout(&ctxsim(folder.path(), &["sweep", "--csv"].into_iter().chain(sweep.split_whitespace()).collect::<Vec<_>>()).code(0));
    let objectives: std::collections::BTreeSet<&str> = rows.lines().skip(1).filter_map(|line| line.split(',').nth(4)).collect();
    assert!(objectives.len() > 3, "{rows}");
    let again = ctxsim(folder.path(), &["demo", "--write", "logs"]).code(2);
    assert!(stderr(&again).contains("holds sessions of claude-code"), "{}", stderr(&again));
}

#[test]
fn completions_and_manual_pages() {
    for (shell, words) in [("bash", "-F _ctxsim"), ("zsh", "#compdef ctxsim"), ("fish", "complete -c ctxsim"), ("elvish", "ctxsim;replay")]
    {
        let script = stdout(&ctxsim(Path::new("."), &["completions", shell]).code(0));
        assert!(script.contains(words) && (shell == "elvish" || script.contains("ctxsim complete ")), "{shell}: {script}");
    }
    let folder = tempfile::tempdir().expect("folder");
    ctxsim(folder.path(), &["man", "-o", "man/"]).code(0);
    let page = fs::read_to_string(folder.path().join("man/ctxsim-replay.1")).expect("a page a command");
    assert!(page.contains(".TH ctxsim-replay 1") && page.contains("\\-\\-policy"), "{page}");
    assert!(fs::read_to_string(folder.path().join("man/ctxsim-policy-show.1")).is_ok());
    assert!(stdout(&ctxsim(folder.path(), &["man"]).code(0)).contains(".TH ctxsim 1"));
}
