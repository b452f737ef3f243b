use crate::support::{self, Program};
use std::fs;
use std::path::Path;

const SESSION: &str = "tests/data/cli/session.jsonl";

/// The program in a folder, with the settings that lie there.
fn ctxsim(folder: &Path, arguments: &[&str]) -> Program {
    support::ctxsim(arguments).within(folder).without(&["CTXSIM_CONFIG"])
}

/// A project with a log, a file of defaults, and a folder below it.
fn project(defaults: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("folder");
    fs::create_dir_all(folder.path().join("logs")).expect("folder");
    fs::create_dir_all(folder.path().join("src/deep")).expect("folder");
    // Settings above a folder hold within one repository.
    fs::create_dir_all(folder.path().join(".git")).expect("folder");
    fs::copy(support::project().join(SESSION), folder.path().join("logs/session.jsonl")).expect("copied");
    fs::write(folder.path().join("ctxsim.toml"), defaults).expect("written");
    folder
}

#[test]
fn defaults_are_found_above_and_meant_from_their_own_folder() {
    let project = project("logs = [\"logs/\"]\npolicy = [\"none\", \"pi\"]\nwindow = \"1k\"\n\n[replay]\nreserve = 200\n");
    let deep = project.path().join("src/deep");
    let replayed = ctxsim(&deep, &["replay", "--csv"]).stdout();
    let policies: Vec<&str> = replayed.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(policies, ["recorded", "none", "pi@1.5"], "{replayed}");
    let json: serde_json::Value = serde_json::from_str(&ctxsim(&deep, &["replay", "--json"]).stdout()).expect("JSON");
    assert_eq!(json["policies"][0]["over_budget"], 2, "the reserve of [replay] and the window hold");
    let alone = ctxsim(&deep, &[]).stdout();
    assert!(alone.lines().next().unwrap().contains("1 session, 4 recorded calls") && alone.contains("Next:  ctxsim"), "{alone}");
    let shown = ctxsim(&deep, &["config"]).stdout();
    assert!(shown.starts_with("../../ctxsim.toml\n"), "{shown}");
    assert!(shown.contains("LOGS ../../logs/") && shown.contains("ctxsim replay\n  --reserve 200"), "{shown}");
}

#[test]
fn what_is_typed_goes_first() {
    let project = project("policy = [\"none\", \"pi\"]\n");
    let one = ctxsim(project.path(), &["replay", "logs/", "--policy", "none", "--json"]).stdout();
    let json: serde_json::Value = serde_json::from_str(&one).expect("JSON");
    assert_eq!(json["policies"].as_array().map(Vec::len), Some(1));
}

/// A form that is typed goes before one of the file, by whichever option either is said.
#[test]
fn a_typed_form_goes_before_that_of_the_file() {
    let begins = |defaults: &str, typed: &str| {
        let project = project(defaults);
        let ran = ctxsim(project.path(), &["inspect", "logs/", "-q"]).args(typed.split_whitespace()).code(0);
        ran.stdout().chars().take(4).collect::<String>()
    };
    let (json, csv, page) = (begins("", "--json"), begins("", "--csv"), begins("", "--html"));
    for defaults in ["json = true\n", "csv = true\n", "format = \"markdown\"\n", "[inspect]\njson = true\n"] {
        assert_eq!(begins(defaults, "--json"), json, "{defaults}");
        assert_eq!([begins(defaults, "--csv"), begins(defaults, "--format csv")], [csv.clone(), csv.clone()], "{defaults}");
        assert_eq!(begins(defaults, "--html"), page, "{defaults}");
    }
    assert_eq!(begins("json = true\n", "--details"), begins("", "--details"));
    assert_eq!(begins("json = true\n", ""), json);
    for defaults in ["json = true\n", "[inspect]\nformat = \"csv\"\n"] {
        let project = project(defaults);
        ctxsim(project.path(), &["inspect", "logs/", "-q", "-o", "x.md"]).code(0);
        assert!(fs::read_to_string(project.path().join("x.md")).expect("written").starts_with("<!-- "), "{defaults}");
        let both = ctxsim(project.path(), &["inspect", "logs/", "-q", "--json", "-o", "y.md"]).code(2);
        assert!(both.stderr().contains("leave out the other one"), "{}", both.stderr());
    }
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
        ("seed = [1, 2]\n", "ctxsim.toml: `seed`: it takes one value"),
        ("quiet = 3\n", "ctxsim.toml: `quiet`: it is either true or false"),
        ("[sweep]\nresamples = 3\n", "ctxsim.toml: [sweep] `resamples`: `--resamples 3`: it takes a whole number from 20 to 10,000"),
        ("policy = [\"opncode\"]\n", "ctxsim.toml: `policy`: `opncode` is neither"),
        ("refetch = true\n", "`refetch`: `true` is no value of --refetch; there are lost, all"),
        ("set = [\"pi:reserveTokns=3\"]\n", "ctxsim.toml: `set`:"),
    ];
    for (defaults, words) in cases {
        let project = project(defaults);
        let failed = ctxsim(project.path(), &["replay", "logs/"]).code(2);
        assert!(failed.stderr().contains("ctxsim.toml"), "{defaults}: {}", failed.stderr());
        assert!(failed.stderr().contains(words), "{defaults}: {}", failed.stderr());
        assert!(ctxsim(project.path(), &["replay", "--help"]).stdout().contains("--policy"), "help is there all the same");
    }
    let project = project("window = \"much\"\n");
    let failed = ctxsim(project.path(), &["replay", "logs/"]).code(2);
    assert!(failed.stderr().contains("a number of tokens is written as"), "{}", failed.stderr());
}

/// A value on top holds for the commands that take it: the others keep their own default, and say so.
#[test]
fn a_value_holds_for_the_commands_that_take_it() {
    let said = |defaults: &str, command: &str| ctxsim(project(defaults).path(), &[command, "logs/"]).code(0).stderr();
    let windows = "window = [\"1k\", \"2k\"]\npolicy = [\"none\"]\n";
    assert!(!said(windows, "replay").contains("does not hold"));
    for command in ["curve", "cost", "backtest"] {
        let sentence = format!("ctxsim.toml: `window` does not hold for `{command}`: it takes one value");
        assert!(said(windows, command).contains(&sentence), "{command}");
    }
    let by = "by = \"session\"\npolicy = [\"none\"]\n";
    assert!(!said(by, "replay").contains("does not hold"));
    assert!(said(by, "backtest").contains("`by` does not hold for `backtest`: `session` is no value of --by"));
}

#[test]
fn what_a_view_cannot_show_is_said() {
    let project = project("");
    let failed = ctxsim(project.path(), &["replay", "logs/", "-p", "pi", "-p", "oracle", "--by", "tool"]).code(2);
    assert!(failed.stderr().contains("`--by tool` has no rows of policies"), "{}", failed.stderr());
    let told = |words: &[&str]| ctxsim(project.path(), words).code(0).stderr().contains("--subagents separate");
    assert!(told(&["replay", "logs/", "-p", "pi", "--subagents", "separate", "--by", "tool"]));
    assert!(told(&["drift", "logs/", "--subagents", "separate"]));
    assert!(!told(&["replay", "logs/", "-p", "pi", "--subagents", "separate"]));
}

#[test]
fn the_template_is_a_file_of_defaults() {
    let template = ctxsim(Path::new("."), &["config", "--template"]).stdout();
    assert!(template.contains("#policy = ") && template.contains("#[sweep]") && !template.contains("#resume"), "{template}");
    let project = project(&template);
    assert!(ctxsim(project.path(), &["config"]).code(0).stderr().is_empty());
    // Each key may be uncommented as it stands, and all of them together.
    let keys = template.lines().map(|line| line.strip_prefix('#').filter(|line| !line.starts_with(' ')).unwrap_or(line));
    fs::write(project.path().join("ctxsim.toml"), keys.collect::<Vec<_>>().join("\n")).expect("written");
    for command in ["replay", "inspect", "cost", "drift", "curve"] {
        let ran = ctxsim(project.path(), &[command, "logs/"]).code(0);
        assert!(!ran.stderr().contains("does not hold"), "{}", ran.stderr());
    }
}

#[test]
fn the_environment_names_another_file_or_none() {
    let project = project("windw = 1\n");
    ctxsim(project.path(), &["replay", "logs/", "-p", "none"]).env("CTXSIM_CONFIG", "").code(0);
    let missing = ctxsim(project.path(), &["replay", "logs/"]).env("CTXSIM_CONFIG", "other.toml").code(2);
    assert!(missing.stderr().contains("other.toml"), "{}", missing.stderr());
}

#[test]
fn the_demo_needs_no_data() {
    let folder = tempfile::tempdir().expect("folder");
    let shown = ctxsim(folder.path(), &["demo"]).stdout();
    assert!(shown.contains(" 6 sessions, "), "{shown}");
    assert_eq!(fs::read_dir(folder.path()).expect("folder").count(), 0, "nothing is left behind");
    // What it proposes holds for the folder that its first proposal makes.
    assert!(shown.contains("ctxsim explain 22485d98 demo-logs") && shown.contains("demo -o demo-logs/"), "{shown}");
    let written = ctxsim(folder.path(), &["demo", "-o", "logs/"]).stdout();
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
    let rows = ctxsim(folder.path(), &["sweep", "--csv"].into_iter().chain(sweep.split_whitespace()).collect::<Vec<_>>()).stdout();
    let objectives: std::collections::BTreeSet<&str> = rows.lines().skip(1).filter_map(|line| line.split(',').nth(4)).collect();
    assert!(objectives.len() > 3, "{rows}");
    let again = ctxsim(folder.path(), &["demo", "--write", "logs"]).code(2);
    assert!(again.stderr().contains("logs is not empty"), "{}", again.stderr());
    ctxsim(folder.path(), &["demo", "--write", "logs", "--force"]).code(0);
}

#[test]
fn completions_and_manual_pages() {
    for (shell, words) in [("bash", "-F _ctxsim"), ("zsh", "#compdef ctxsim"), ("fish", "complete -c ctxsim"), ("elvish", "ctxsim;replay")]
    {
        let script = ctxsim(Path::new("."), &["completions", shell]).stdout();
        assert!(script.contains(words) && (shell == "elvish" || script.contains("ctxsim complete ")), "{shell}: {script}");
    }
    let folder = tempfile::tempdir().expect("folder");
    ctxsim(folder.path(), &["man", "-o", "man/"]).code(0);
    let page = fs::read_to_string(folder.path().join("man/ctxsim-replay.1")).expect("a page a command");
    assert!(page.contains(".TH ctxsim-replay 1") && page.contains("\\-\\-policy"), "{page}");
    assert!(fs::read_to_string(folder.path().join("man/ctxsim-policy-show.1")).is_ok());
    assert!(ctxsim(folder.path(), &["man"]).stdout().contains(".TH ctxsim 1"));
}
