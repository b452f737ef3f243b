//! The first screen of each command: the answer within thirty lines, whatever the page.

use crate::determinism::listed;
use crate::made::Native;
use crate::support::{ctxsim, project, rows};
use crate::{home, support};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use tempfile::TempDir;
use unicode_width::UnicodeWidthStr;

fn shown(arguments: &[&str], width: usize) -> String {
    ctxsim(arguments).columns(width).stdout()
}

fn shown_in(folder: &Path, arguments: &[&str], width: usize) -> String {
    ctxsim(arguments).within(folder).columns(width).stdout()
}

/// A made home of forty sessions, and its sessions measured in one file.
fn made() -> &'static Path {
    static HOME: OnceLock<TempDir> = OnceLock::new();
    let home = HOME.get_or_init(|| {
        let home = tempfile::tempdir().unwrap();
        home::write(home.path());
        shown_in(home.path(), &["trace", "build", ".claude", "-o", "home.ctxtrace", "--quiet"], 80);
        home
    });
    home.path()
}

/// Commands over logs, each with the name of its golden and what is typed: over the samples, with `LOGS` in their place, and over a made home.
const SCREENS: [(&str, &str); 32] = [
    ("replay", "LOGS"),
    ("windows", "replay LOGS -p pi -p codex --window 128k,200k"),
    ("none", "replay LOGS -p none"),
    ("by_session", "replay LOGS --by session"),
    ("by_tool", "replay LOGS --by tool"),
    ("by_region", "replay LOGS --by region"),
    ("by_reference", "replay LOGS --by reference"),
    ("by_rule", "replay LOGS --by rule"),
    ("by_file", "replay LOGS --by file"),
    ("by_day", "replay LOGS --by day"),
    ("by_project", "replay LOGS --by project"),
    ("by_agent", "replay LOGS --by agent"),
    ("by_block", "replay LOGS --by block"),
    ("refetch", "replay LOGS -p pi --refetch"),
    ("explain", "explain SESSION LOGS -p pi"),
    ("explain_at", "explain SESSION LOGS -p pi --at 53"),
    ("explain_lost", "explain SESSION LOGS -p pi --lost"),
    ("backtest", "backtest LOGS"),
    ("drift", "drift LOGS"),
    ("drift_policies", "drift LOGS -p codex -p pi"),
    ("diff", "diff LOGS -p codex -p opencode"),
    ("cost", "cost LOGS"),
    ("cache", "cache LOGS"),
    ("cache_by_session", "cache LOGS --by session"),
    ("idle", "idle LOGS"),
    ("curve", "curve LOGS"),
    ("inspect", "inspect LOGS"),
    ("sweep", "sweep LOGS -p pi --vary keepRecentTokens=5k..60k:1k"),
    ("tune", "tune LOGS -p pi --params keepRecentTokens=10k..30k --held-out 50"),
    ("gate", "gate LOGS -p pi --baseline BASELINE"),
    ("validate", "validate LOGS --with LOGS -p pi"),
    ("report", "report LOGS -p pi -o OUT/ --force"),
];

/// What is typed and prints no first screen, and why.
const OTHERS: [(&str, &str); 10] = [
    ("chart", "it draws into a file; `chart list` is the whole list"),
    ("trace", "it writes a file"),
    ("convert", "it writes a document"),
    ("policy", "documents to edit, and the whole list of presets"),
    ("formats", "a list of what is read"),
    ("models", "a list of what is known"),
    ("config", "settings as they stand in a file"),
    ("completions", "a script for a shell"),
    ("man", "a manual page"),
    ("worker", "rows for an engine"),
];

/// A baseline of the samples, and one of the home.
fn baselines() -> &'static Path {
    static WRITTEN: OnceLock<TempDir> = OnceLock::new();
    let folder = WRITTEN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        let write = |logs: &str, within: &Path, path: &str| {
            shown_in(within, &["gate", logs, "-p", "codex", "--baseline", path, "--update-baseline", "--quiet"], 80)
        };
        write("transcripts/", project(), &path("samples.json"));
        write("home.ctxtrace", made(), &path("home.json"));
        folder
    });
    folder.path()
}

/// Over which logs a screen is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Over {
    Samples,
    Home,
}

/// What a command shows over these logs, whether or not it passes. Several tests look at one screen, which is shown once.
fn screen(over: Over, typed: &str, width: usize) -> String {
    type Shown = BTreeMap<(Over, String, usize), Arc<OnceLock<String>>>;
    static SHOWN: Mutex<Shown> = Mutex::new(BTreeMap::new());
    let shown = SHOWN.lock().unwrap().entry((over, typed.to_owned(), width)).or_default().clone();
    shown.get_or_init(|| screen_anew(over, typed, width)).clone()
}

fn screen_anew(over: Over, typed: &str, width: usize) -> String {
    let (folder, logs, session, baseline) = match over {
        Over::Samples => (project(), "transcripts/", "22485d98", "samples.json"),
        Over::Home => (made(), "home.ctxtrace", "2c1735f4", "home.json"),
    };
    let out = baselines().join(format!("out-{width}-{logs}")).to_string_lossy().into_owned();
    let baseline = baselines().join(baseline).to_string_lossy().into_owned();
    let typed = typed.replace("LOGS", logs).replace("SESSION", session).replace("BASELINE", &baseline).replace("OUT", &out);
    let words: Vec<&str> = typed.split(' ').collect();
    let ran = ctxsim(&words).args(["--quiet"]).within(folder).columns(width).run();
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{typed}: {}", ran.stderr());
    ran.stdout().replace(&out, "OUT")
}

fn is_a_screen(arguments: &str, shown: &str) {
    let lines = shown.lines().count();
    assert!((3..=30).contains(&lines), "{arguments:?}: {lines} lines\n{shown}");
}

fn is_no_wider(arguments: &str, shown: &str, width: usize) {
    let widest = shown.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
    assert!(widest <= width, "{arguments:?} at {width}: {widest}\n{shown}");
}

/// All screens over the samples and over a home, as they are printed on a page of 80 columns.
#[test]
fn each_command_answers_within_thirty_lines() {
    for (over, of) in [(Over::Samples, "samples"), (Over::Home, "home")] {
        let mut all = String::new();
        for (name, typed) in SCREENS {
            let shown = screen(over, typed, 80);
            is_a_screen(typed, &shown);
            is_no_wider(typed, &shown, 80);
            all += &format!("\n=== {name}: {typed}\n\n{shown}");
        }
        insta::assert_snapshot!(of, all);
    }
}

/// A name that is longer than a line takes no more than one on any screen.
#[test]
fn long_names_leave_the_answer_on_the_screen() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("p.toml");
    std::fs::write(&policy, format!("extends = \"opencode\"\nname = \"{}\"\n", "name".repeat(750))).unwrap();
    let logs = project().join("transcripts");
    for command in ["replay", "cost", "tune", "diff", "drift", "sweep"] {
        let more: &[&str] = match command {
            "diff" => &["-p", "none"],
            "sweep" => &["--vary", "prune_protect=10k,40k"],
            _ => &[],
        };
        let shown = shown_in(folder.path(), &[&[command, &logs.to_string_lossy(), "-q", "-p", "p.toml"][..], more].concat(), 80);
        is_a_screen(command, &shown);
        is_no_wider(command, &shown, 80);
        assert!(!shown.contains(&"name".repeat(11)), "{command}: {shown}");
    }
}

/// What a screen says to type next is a command that does something, whatever lines it is broken into.
#[test]
fn what_to_type_next_can_be_typed() {
    let mut proposed: BTreeSet<String> = BTreeSet::new();
    // A wider page has room for all of them.
    for (width, (_, typed)) in [80, 120].into_iter().flat_map(|width| SCREENS.iter().map(move |row| (width, row))) {
        let shown = screen(Over::Samples, typed, width).replace(" \\\n         ", " ");
        let Some((_, next)) = shown.split_once("\nNext:") else { continue };
        // A column of its own says what the command shows.
        let commands = next.lines().filter_map(|line| line.trim().split("   ").next()?.strip_prefix("ctxsim "));
        proposed.extend(commands.map(|command| command.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    let of = |name: &str| proposed.iter().filter(|command| command.starts_with(name)).count();
    assert!(["tune", "explain", "chart sweep", "cache", "tune --details"].iter().all(|name| of(name) > 0), "{proposed:#?}");
    for command in proposed.iter().filter(|command| !command.starts_with("report")) {
        let ran = ctxsim(&command.split(' ').collect::<Vec<_>>()).args(["--quiet", "-o", "-"]).within(project()).run();
        assert!(matches!(ran.status.code(), Some(0 | 1)), "{command}: {}", ran.stderr());
    }
}

/// A new command has a row in one of the tables.
#[test]
fn no_command_is_forgotten() {
    let replays = |typed: &str| if typed == "LOGS" { "replay".to_owned() } else { typed.split(' ').next().unwrap().to_owned() };
    let known: BTreeSet<String> = SCREENS.iter().map(|(_, typed)| replays(typed)).collect();
    let others: BTreeSet<String> = OTHERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let listed = listed().into_iter().filter(|name| name != "help" && name != "demo").collect::<BTreeSet<String>>();
    assert_eq!(known.union(&others).cloned().collect::<BTreeSet<String>>(), listed);
    assert!(known.is_disjoint(&others));
}

/// Pages that are narrower or wider, and commands that are no screens of logs.
#[test]
fn no_line_is_wider_than_the_page() {
    for (over, width) in [(Over::Samples, 60), (Over::Samples, 120), (Over::Home, 60), (Over::Home, 120)] {
        SCREENS.iter().for_each(|(_, typed)| is_no_wider(typed, &screen(over, typed, width), width));
    }
    for width in [60, 80, 120] {
        let lists = [
            &["demo"][..],
            &["chart", "list"],
            &["formats"],
            &["models"],
            &["models", "--all"],
            &["policy", "list"],
            &["policy", "list", "--age"],
        ];
        for words in lists.into_iter().chain([
            &["policy", "list", "--all"][..],
            &["policy", "diff", "pi@0.58", "pi@1.5"],
            &["policy", "check", "pi"],
        ]) {
            is_no_wider(&words.join(" "), &shown(words, width), width);
        }
    }
    is_a_screen("demo", &shown(&["demo"], 80));
}

/// What the program knows fits a screen, too; models begin with the newest.
#[test]
fn lists_have_their_thirty_lines() {
    for words in [&["chart", "list"][..], &["formats"], &["models"], &["policy", "list"]] {
        is_a_screen(&words.join(" "), &shown(words, 80));
    }
    let models = shown(&["models", "claude", "--all"], 80);
    let place = |name: &str| models.find(&format!("\n{name} ")).unwrap();
    assert!(place("claude-opus-4-6") < place("claude-opus-4-5") && place("claude-opus-4") < place("claude-2.1"), "{models}");
}

/// In a terminal of 100 by 30 the line with the answer is still there when the command ends, for whoever looks at own logs, compares two policies before a release,
/// or has a check fail.
#[test]
fn the_answer_is_visible_in_a_terminal() {
    let roles = [
        ("", "Keep what you have|is cheaper than your own agent|Cannot judge"),
        ("diff home.ctxtrace -p pi@0.58 -p pi@1.5", "part in|never part"),
        ("replay home.ctxtrace -p none --fail-on overflows", "policy none: overflows = 5"),
    ];
    if Command::new("script").arg("--version").output().is_err() {
        return support::skip("CTXSIM_REQUIRE_TERMINAL", "no `script` (util-linux) to make a terminal with");
    }
    let home = made();
    let program = support::program().display();
    for (arguments, answers) in roles {
        let typed = format!("stty cols 100 rows 30; '{program}' {arguments}");
        let mut command = Command::new("script");
        command.args(["-qec", &typed, "/dev/null"]).current_dir(home).env("HOME", home).env("CTXSIM_CONFIG", "");
        let ran = command.env_remove("COLUMNS").env("TERM", "xterm").stdin(std::process::Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        // The last thirty lines are what the terminal shows.
        let lines: Vec<&str> = text.lines().collect();
        let visible = lines[lines.len().saturating_sub(30)..].join("\n");
        assert!(answers.split('|').any(|answer| visible.contains(answer)), "{arguments}: {visible}");
    }
}

/// What is behind the first screen is one option away, and nothing of it is lost.
#[test]
fn details_have_all_tables_and_all_rows() {
    let arguments = ["replay", "transcripts/", "--by", "file", "--quiet"];
    let of = |option: &str| shown(&[&arguments[..], &[option]].concat(), 80);
    let (brief, rows, details) = (shown(&arguments, 80), of("--all"), of("--details"));
    let more = brief.lines().find_map(|line| line.strip_prefix("… ")?.strip_suffix(" more: --all")).unwrap();
    let files = |text: &str| text.lines().filter(|line| line.contains(" file ")).count();
    assert_eq!(files(&rows), files(&brief) + more.parse::<usize>().unwrap());
    assert!(details.contains("Calls are recorded.") && details.contains("read again:") && !brief.contains("read again:"));
}

/// A path is enough: the root takes every option of `replay`.
#[test]
fn the_root_takes_logs() {
    let by_path = shown(&["transcripts/pi", "-p", "pi", "--quiet"], 80);
    assert_eq!(by_path, shown(&["replay", "transcripts/pi", "-p", "pi", "--quiet"], 80));
    assert_eq!(by_path, shown(&["--config", "", "transcripts/pi", "-p", "pi", "--quiet"], 80));
    assert!(shown(&["--version"], 80).starts_with("ctxsim "));
}

/// The verdict of the first screen, from the rows by session alone: what each session cost under a policy and under the own agents.
#[test]
fn the_verdict_is_what_the_sessions_come_to() {
    let typed = ["replay", "transcripts/", "-p", "codex", "-p", "pi", "--window", "128k,200k", "--quiet"];
    let csv = shown(&[typed.as_slice(), &["--by", "session", "--csv"]].concat(), 80);
    let rows = rows(&csv);
    let number = |row: &BTreeMap<String, String>, key: &str| row[key].parse::<f64>().unwrap_or(0.0);
    let ends = |row: &BTreeMap<String, String>| number(row, "calls") > 0.0 && number(row, "failed_sessions") == 0.0;
    let (mut cost, mut kept, mut all, mut compared) = ([0.0; 2], [0.0; 2], [0.0; 2], 0);
    for row in rows.iter().filter(|row| row["policy"].starts_with("codex") && row["policy"].ends_with("at 128k")) {
        let same = |other: &&BTreeMap<String, String>| ["session", "source"].iter().all(|key| row[*key] == other[*key]);
        let own = rows.iter().find(|other| other["policy"].starts_with("own agents") && same(other));
        let Some(own) = own.filter(|own| ends(row) && ends(own)) else { continue };
        compared += 1;
        for (place, row) in [row, own].into_iter().enumerate() {
            cost[place] += number(row, "cost");
            all[place] += number(row, "line_references");
            kept[place] += number(row, "line_references") - number(row, "lost_lines");
        }
    }
    let screen = shown(&typed, 200);
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let difference = format!("cheaper than your own agent over {compared} of 16 sessions, {:+.1} %", (cost[0] / cost[1] - 1.0) * 100.0);
    let trade = format!("keeps {:.1} % of their reused text, not {:.1} %", kept[0] / all[0] * 100.0, kept[1] / all[1] * 100.0);
    assert!(screen.contains(&difference) && screen.contains(&trade), "{difference}; {trade}\n{screen}");
}

/// Each table of figures says where they come from.
#[test]
fn figures_are_recorded_estimated_or_simulated() {
    for (_, typed) in SCREENS.iter().filter(|(name, _)| !["report"].contains(name)) {
        let shown = screen(Over::Samples, typed, 80);
        let words = shown.to_lowercase();
        assert!(["recorded", "estimated", "simulated"].iter().any(|word| words.contains(word)), "{typed}: {shown}");
    }
}

/// What could not be read is said on the first screen too.
#[test]
fn what_was_not_used_stands_on_the_first_screen() {
    let folder = tempfile::tempdir().unwrap();
    let good = std::fs::read_to_string(project().join("tests/data/cli/session.jsonl")).unwrap();
    std::fs::write(folder.path().join("cut.jsonl"), format!("{good}{{\"broken\": ")).unwrap();
    let path = folder.path().to_string_lossy().into_owned();
    for command in ["replay", "inspect", "cost", "curve", "drift", "backtest"] {
        let shown = shown(&[command, &path, "--quiet"], 80);
        let where_to = if command == "inspect" { "--details" } else { "`ctxsim inspect`" };
        assert!(shown.contains(&format!("! 1 record not used; {where_to} says why.")), "{command}: {shown}");
    }
}

/// Sessions that count once although they stand in two files are said to on the first screen.
#[test]
fn copies_stand_on_the_first_screen() {
    let folder = tempfile::tempdir().unwrap();
    let good = std::fs::read_to_string(project().join("tests/data/cli/session.jsonl")).unwrap();
    let path = folder.path().to_string_lossy().into_owned();
    std::fs::write(folder.path().join("one.jsonl"), &good).unwrap();
    for (name, said) in [("two.jsonl", "! 1 session left out as a copy; "), ("three.jsonl", "! 2 sessions left out as copies; ")] {
        std::fs::write(folder.path().join(name), &good).unwrap();
        for command in ["replay", "inspect", "cost"] {
            let shown = shown(&[command, &path, "--quiet"], 80);
            assert!(shown.contains(said), "{command}: {shown}");
        }
    }
}

/// However many policies are named and however much there is to caution of, the answer has its thirty lines: sentences give way, a line says where they are, and
/// there they stand.
#[test]
fn sentences_give_way_before_the_answer_does() {
    let folder = tempfile::tempdir().unwrap();
    let models = [("claude-code", "claude-opus-4-5", "99.1.0"), ("codex", "gpt-4o", "0.1.0"), ("pi", "zork-1", ""), ("mine", "gpt-4o", "")];
    for (place, (agent, model, version)) in models.into_iter().cycle().take(12).enumerate() {
        let log = Native::new(json!({"session": format!("s{place}"), "agent": agent, "model": model, "version": version}));
        let log = (1..=6).fold(log, |log, call| log.asked(&format!("step {call} of {place}"), "done as was asked", call * 24_000, 90));
        log.write(folder.path(), &format!("{place}.jsonl"));
    }
    let bare =
        Native::new(json!({"session": "bare", "agent": "mine", "model": "claude-opus-4-5"})).line(json!({"role": "user", "text": "hello"}));
    bare.line(json!({"role": "assistant", "text": "hi"})).write(folder.path(), "bare.jsonl");
    std::fs::write(folder.path().join("broken.jsonl"), "{\"broken\": ").unwrap();
    let named = ["picoclaw", "pi", "codex", "opencode", "baseagent", "cline", "none", "gemini-cli", "aider", "letta"]
        .map(|name| ["-p", name])
        .concat();
    let path = folder.path().to_string_lossy().into_owned();
    let mut spared = 0;
    for more in [&[][..], &["--refetch"], &["--window", "128k,200k,300k"]] {
        let typed = [&["replay", &path, "-q"][..], &named, more].concat();
        let screen = shown(&typed, 80);
        is_a_screen(&typed.join(" "), &screen);
        assert!(screen.contains("\nCheck: ") && screen.contains("\nrecorded "), "{screen}");
        let rows = named.iter().filter(|name| !["-p", "none"].contains(name)).filter(|name| screen.contains(&format!("\n{name}")));
        assert!(rows.count() >= 5, "{screen}");
        let Some(rest) = screen.lines().find(|line| line.contains("more sentence")) else { continue };
        assert!(rest.ends_with(": --details"), "{rest}");
        spared += 1;
        let details = shown(&[&typed[..], &["--details"]].concat(), 80).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(details.contains("without recorded usage and instructions: figures lack the system prompt"), "{details}");
    }
    assert!(spared > 0);
}

/// The same over recorded sessions of many agents.
#[test]
fn recorded_sessions_have_their_thirty_lines() {
    let Some(folder) = support::shared() else { return };
    let logs = folder.join("transcripts-2").to_string_lossy().into_owned();
    for more in [&[][..], &["-p", "picoclaw", "-p", "pi", "--refetch"]] {
        let screen = shown(&[&["replay", &logs, "-q"][..], more].concat(), 80);
        is_a_screen(&more.join(" "), &screen);
        assert!(screen.contains("\nNext:  ctxsim "), "{screen}");
    }
    let many =
        ["pi", "codex", "opencode", "claude-code", "baseagent", "aider", "goose", "gemini-cli", "crush"].map(|name| ["-p", name]).concat();
    for more in [&[][..], &["--window", "64k,128k,200k"]] {
        let screen = shown(&[&["replay", &logs, "-q"][..], &many, more].concat(), 80);
        is_a_screen(&more.join(" "), &screen);
        assert!(screen.contains("\npi") && screen.contains("\nrecorded "), "{screen}");
    }
    let named =
        ["picoclaw", "pi", "codex", "opencode", "baseagent", "cline", "gemini-cli", "aider", "letta"].map(|name| ["-p", name]).concat();
    for command in ["idle", "backtest"] {
        is_a_screen(command, &shown(&[command, &logs, "-q"], 80));
    }
    let drift = shown(&[&["drift", &logs, "-q"][..], &named].concat(), 80);
    is_a_screen("drift", &drift);
    let says_rest = drift.lines().any(|line| line.contains("more sentence") && line.ends_with(": --details"));
    assert!(drift.contains("Estimates by picoclaw are") && drift.contains("… ") && says_rest, "{drift}");
}

/// A title names no column that the page has no room for.
#[test]
fn titles_name_what_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    for (place, model) in ["a-model-with-a-name-that-takes-half-of-the-page", "gpt-4o"].into_iter().enumerate() {
        let log = Native::new(json!({"session": format!("s{place}"), "agent": "mine", "model": model}));
        log.asked("hello", "hi", 90_000, 9).write(folder.path(), &format!("{place}.jsonl"));
    }
    let path = folder.path().to_string_lossy().into_owned();
    for width in [60, 80, 120] {
        let screen = shown(&["replay", &path, "-p", "pi", "-q", "--by", "model"], width);
        // The heading says of its column alone that it is simulated.
        let has_column = screen.lines().any(|line| line.contains(", +") || line.contains(", 0.0 %") || line.contains(", -"));
        assert_eq!(screen.contains("simulated"), has_column, "{screen}");
        assert!(screen.contains("As recorded") && !screen.contains("policy that sends"), "{screen}");
    }
}

/// Of logs without prices there is no column of money, and what has none is named.
#[test]
fn bills_without_prices_say_which_models_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let log = Native::new(json!({"session": "s", "agent": "mine", "model": "zork-1", "window": 200_000}));
    (1..=3).fold(log, |log, call| log.asked("go on", "done", call * 9_000, 90)).write(folder.path(), "s.jsonl");
    let path = folder.path().to_string_lossy().into_owned();
    let screen = shown(&["cost", &path, "-p", "pi", "-q"], 80);
    assert!(screen.contains("No price is known for zork-1") && screen.contains("--prices"), "{screen}");
    let heading = screen.split_once("────").unwrap().0.rsplit_once("\n\n").unwrap().1;
    assert!(!["cost", "cache", "List prices"].iter().any(|word| heading.contains(word)) && heading.contains("failed"), "{screen}");
    // Spreadsheets have their columns all the same.
    assert!(shown(&["cost", &path, "-p", "pi", "-q", "--csv"], 80).lines().next().unwrap().contains(",cost,"));
}
