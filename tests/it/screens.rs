//! The first screen of each command: the answer within thirty lines, whatever the page.

use crate::support::ctxsim;
use unicode_width::UnicodeWidthStr;

fn shown(arguments: &[&str], width: usize) -> String {
    ctxsim(arguments).columns(width).stdout()
}

const COMMANDS: [&[&str]; 17] = [
    &["transcripts/"],
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

#[test]
fn each_command_answers_within_thirty_lines() {
    for arguments in COMMANDS {
        let shown = shown(&[arguments, &["--quiet"]].concat(), 80);
        let lines = shown.lines().count();
        assert!((3..=30).contains(&lines), "{arguments:?}: {lines} lines\n{shown}");
    }
}

#[test]
fn no_line_is_wider_than_the_page() {
    for width in [60, 120] {
        for arguments in COMMANDS.iter().filter(|arguments| !["sweep", "tune", "drift"].contains(&arguments[0])) {
            let shown = shown(&[arguments, &["--quiet"][..]].concat(), width);
            let widest = shown.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
            assert!(widest <= width, "{arguments:?} at {width}: {widest}\n{shown}");
        }
    }
}

/// What is behind the first screen is one option away, and nothing of it is lost.
#[test]
fn details_have_all_tables_and_all_rows() {
    let arguments = ["replay", "transcripts/", "--by", "session", "--quiet"];
    let of = |option: &str| shown(&[&arguments[..], &[option]].concat(), 80);
    let (brief, rows, details) = (shown(&arguments, 80), of("--all"), of("--details"));
    let more = brief.lines().find_map(|line| line.strip_prefix("… ")?.strip_suffix(" more: --all")).unwrap();
    let sessions = |text: &str| text.lines().filter(|line| line.contains("baseagent") && line.contains('▁') || line.contains('█')).count();
    assert!(more.parse::<usize>().unwrap() > 50 && sessions(&rows) > sessions(&brief) && rows.lines().count() > 90);
    assert!(details.contains("Calls are recorded.") && details.contains("early:") && !brief.contains("early:"));
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
        assert!(["recorded", "estimated", "simulated"].iter().any(|word| shown.contains(word)), "{arguments:?}: {shown}");
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
