//! The first screen of each command: the answer within thirty lines, whatever the page.

use crate::support::ctxsim;
use crate::{home, support};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
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

const COMMANDS: [&[&str]; 22] = [
    &["transcripts/"],
    &["replay", "transcripts/", "-p", "pi", "-p", "codex", "--window", "128k,200k"],
    &["replay", "transcripts/", "--by", "day"],
    &["replay", "transcripts/", "--by", "block"],
    &["explain", "22485d98", "transcripts/", "-p", "pi", "--at", "60"],
    &["explain", "22485d98", "transcripts/", "-p", "pi", "--lost"],
    &["replay", "transcripts/", "-p", "none"],
    &["replay", "transcripts/", "--by", "session"],
    &["replay", "transcripts/", "--by", "tool"],
    &["replay", "transcripts/", "--by", "reference"],
    &["explain", "22485d98", "transcripts/", "-p", "pi"],
    &["backtest", "transcripts/"],
    &["drift", "transcripts/"],
    &["diff", "transcripts/", "-p", "codex", "-p", "opencode"],
    &["cost", "transcripts/"],
    &["cache", "transcripts/"],
    &["cache", "transcripts/", "--by", "session"],
    &["idle", "transcripts/"],
    &["curve", "transcripts/"],
    &["inspect", "transcripts/"],
    &["sweep", "transcripts/", "-p", "pi", "--vary", "keepRecentTokens=5k..60k:1k"],
    &["tune", "transcripts/", "-p", "pi", "--params", "keepRecentTokens=10k..30k", "--held-out", "50"],
];

/// The same over a made home.
const AT_HOME: [(&str, &[&str]); 13] = [
    ("replay", &["replay", "home.ctxtrace"]),
    ("by_session", &["replay", "home.ctxtrace", "--by", "session"]),
    ("by_project", &["replay", "home.ctxtrace", "--by", "project"]),
    ("by_block", &["replay", "home.ctxtrace", "--by", "block"]),
    ("explain", &["explain", "2c1735f4", "home.ctxtrace", "-p", "claude-code"]),
    ("backtest", &["backtest", "home.ctxtrace"]),
    ("drift", &["drift", "home.ctxtrace"]),
    ("diff", &["diff", "home.ctxtrace", "-p", "claude-code", "-p", "pi"]),
    ("cost", &["cost", "home.ctxtrace"]),
    ("curve", &["curve", "home.ctxtrace"]),
    ("inspect", &["inspect", "home.ctxtrace"]),
    ("sweep", &["sweep", "home.ctxtrace", "-p", "pi", "--vary", "keepRecentTokens=10k..40k:5k"]),
    ("tune", &["tune", "home.ctxtrace", "-p", "pi", "--params", "keepRecentTokens=10k..40k"]),
];

fn is_a_screen(arguments: &[&str], shown: &str) {
    let lines = shown.lines().count();
    assert!((3..=30).contains(&lines), "{arguments:?}: {lines} lines\n{shown}");
}

fn is_no_wider(arguments: &[&str], shown: &str, width: usize) {
    let widest = shown.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
    assert!(widest <= width, "{arguments:?} at {width}: {widest}\n{shown}");
}

#[test]
fn each_command_answers_within_thirty_lines() {
    for arguments in COMMANDS {
        let shown = shown(&[arguments, &["--quiet"]].concat(), 80);
        is_a_screen(arguments, &shown);
        is_no_wider(arguments, &shown, 80);
    }
}

#[test]
fn no_line_is_wider_than_the_page() {
    for width in [60, 120] {
        for arguments in COMMANDS {
            is_no_wider(arguments, &shown(&[arguments, &["--quiet"][..]].concat(), width), width);
        }
        for (_, arguments) in AT_HOME {
            is_no_wider(arguments, &shown_in(made(), &[arguments, &["--quiet"][..]].concat(), width), width);
        }
    }
}

#[test]
fn the_screens_of_a_made_home() {
    for (name, arguments) in AT_HOME {
        let shown = shown_in(made(), &[arguments, &["--quiet"][..]].concat(), 80);
        is_a_screen(arguments, &shown);
        is_no_wider(arguments, &shown, 80);
        insta::assert_snapshot!(format!("home_{name}"), shown);
    }
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
    let program = assert_cmd::cargo::cargo_bin!("ctxsim").display();
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
    assert!(details.contains("Calls are recorded.") && details.contains("again in context:") && !brief.contains("again in context:"));
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
    let csv = shown(&["replay", "transcripts/", "-p", "picoclaw", "-p", "pi", "--by", "session", "--csv", "--quiet"], 80);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().unwrap();
    let text = |row: &csv::StringRecord, key: &str| row[heads.iter().position(|head| head == key).unwrap()].to_owned();
    let number = |row: &csv::StringRecord, key: &str| text(row, key).parse::<f64>().unwrap_or(0.0);
    let ends = |row: &csv::StringRecord| number(row, "calls") > 0.0 && number(row, "failed_sessions") == 0.0;
    let (mut cost, mut kept, mut all) = ([0.0; 2], [0.0; 2], [0.0; 2]);
    for row in rows.iter().filter(|row| text(row, "policy") == "picoclaw") {
        let same = |other: &&csv::StringRecord| ["session", "source"].iter().all(|key| text(row, key) == text(other, key));
        let own = rows.iter().find(|other| text(other, "policy").starts_with("own agents") && same(other));
        let Some(own) = own.filter(|own| ends(row) && ends(own)) else { continue };
        for (place, row) in [row, own].into_iter().enumerate() {
            cost[place] += number(row, "cost");
            all[place] += number(row, "line_references");
            kept[place] += number(row, "line_references") - number(row, "lost_lines");
        }
    }
    let screen = shown(&["transcripts/", "-p", "picoclaw", "-p", "pi", "--quiet"], 200);
    let difference = format!("cheaper than your own agent, {:+.1} %", (cost[0] / cost[1] - 1.0) * 100.0);
    let trade = format!("keeps {:.1} % of the reused text instead of {:.1} %", kept[0] / all[0] * 100.0, kept[1] / all[1] * 100.0);
    assert!(screen.contains(&difference) && screen.contains(&trade), "{difference}; {trade}\n{screen}");
}

/// Each table of figures says where they come from.
#[test]
fn figures_are_recorded_estimated_or_simulated() {
    for arguments in COMMANDS.iter().filter(|arguments| !["drift"].contains(&arguments[0])) {
        let shown = shown(&[arguments, &["--quiet"][..]].concat(), 80);
        let words = shown.to_lowercase();
        assert!(["recorded", "estimated", "simulated"].iter().any(|word| words.contains(word)), "{arguments:?}: {shown}");
    }
}

/// What could not be read is said on the first screen too.
#[test]
fn what_was_not_used_stands_on_the_first_screen() {
    let folder = tempfile::tempdir().unwrap();
    let good = std::fs::read_to_string("tests/data/cli/session.jsonl").unwrap();
    std::fs::write(folder.path().join("cut.jsonl"), format!("{good}{{\"broken\": ")).unwrap();
    let path = folder.path().to_string_lossy().into_owned();
    for command in ["replay", "inspect", "cost", "curve", "drift", "backtest"] {
        let shown = shown(&[command, &path, "--quiet"], 80);
        assert!(shown.contains("! 1 record not used; `ctxsim inspect` says why."), "{command}: {shown}");
    }
}

#[test]
fn the_screens_of_the_samples() {
    insta::assert_snapshot!("replay", shown(&["transcripts/", "--quiet"], 80));
    insta::assert_snapshot!("explain", shown(&["explain", "22485d98", "transcripts/", "-p", "pi", "--quiet"], 80));
}
