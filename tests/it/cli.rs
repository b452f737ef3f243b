//! The program from outside: forms, exit codes, and the sentences that users see.

use crate::made::Native;
use crate::support::{ctxsim, project};
use serde_json::{Value, json};
use std::fs;

const SESSION: &str = "tests/data/cli/session.jsonl";
const HOSTILE: &str = "tests/data/cli/hostile.jsonl";
const MASK: &str = "tests/data/cli/mask.toml";

/// The session that the semantics work by hand: policy `none` reproduces its recorded prompts, call by call.
#[test]
fn the_session_worked_by_hand() {
    let words = ["replay", SESSION, "--policy", "none", "--policy", MASK, "--window", "1k", "--reserve", "200", "--json", "--series"];
    let value = ctxsim(&words).json();
    let none = &value["policies"][0];
    assert_eq!(none["prompt_tokens"], 2_890);
    assert_eq!((&none["over_budget"], &none["reply_cut"], &none["overflows"]), (&2.into(), &1.into(), &0.into()));
    let sizes: Vec<u64> =
        none["sessions"][0]["series"].as_array().expect("series").iter().filter_map(|call| call["actual"].as_u64()).collect();
    assert_eq!(sizes, [300, 640, 950, 1000]);
    let mask = &value["policies"][1];
    assert_eq!(mask["events"]["prune"], 1);
    assert_eq!(mask["events"]["no_gain"], 1);
    assert_eq!(
        mask["saved_vs_none"].as_u64(),
        mask["baseline_tokens"].as_u64().zip(mask["prompt_tokens"].as_u64()).map(|(all, prompt)| all - prompt)
    );
    assert_eq!(value["corpus"]["recorded_prompt_tokens"], 2_890);
    assert_eq!(value["corpus"]["max_prompt_tokens"], 1_000);
    assert_eq!(value.get("command"), None, "whoever has typed it need not be told");
}

#[test]
fn a_folder_gets_all_forms_at_once() {
    let folder = tempfile::tempdir().expect("folder");
    let out = folder.path().join("reports");
    let shown =
        ctxsim(&["replay", SESSION, "--policy", "none", "--quiet", "--threads", "2", "--details", "-o", &format!("{}/", out.display())])
            .code(0);
    let mut names: Vec<String> =
        fs::read_dir(&out).expect("written").flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    assert_eq!(
        names,
        [".ctxsim-manifest.json", "replay.csv", "replay.html", "replay.json", "replay.md", "replay.txt"],
        "and nothing half-written beside them"
    );
    let text = fs::read_to_string(out.join("replay.txt")).expect("text");
    let command = "ctxsim replay tests/data/cli/session.jsonl --policy none";
    assert_eq!(text.lines().next(), Some(format!("$ {command}").as_str()), "threads and places change no result");
    assert!(text.ends_with(&shown.stdout()), "the same report as on stdout");
    let json: Value = serde_json::from_str(&fs::read_to_string(out.join("replay.json")).expect("json")).expect("JSON");
    assert_eq!(json["command"], command);
}

/// One file in the form that its name ends in; what has another name works, and a hint says the new one.
#[test]
fn a_file_gets_the_form_that_its_name_ends_in() {
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    for (name, form) in
        [("x.json", "--json"), ("x.csv", "--csv"), ("x.md", "--markdown"), ("x.html", "--html"), ("x.txt", "--format=table")]
    {
        let written = ctxsim(&["inspect", SESSION, "-o", &at(name)]).code(0);
        assert_eq!((written.stdout(), written.stderr()), (String::new(), format!("ctxsim: wrote {}\n", at(name))));
        let (file, shown) = (fs::read_to_string(at(name)).expect("written"), ctxsim(&["inspect", SESSION, form]).stdout());
        let line = |text: &str| text.lines().find(|line| line.contains("by-hand")).map(str::trim).map(str::to_owned);
        assert!(name == "x.json" || name == "x.txt" || line(&file) == line(&shown), "{name}");
    }
    assert!(fs::read_to_string(at("x.json")).expect("written").contains("\"command\": \"ctxsim inspect"));
    assert_eq!(ctxsim(&["inspect", SESSION, "--json"]).stdout(), ctxsim(&["inspect", SESSION, "--format", "json"]).stdout());
    let former = ctxsim(&["inspect", SESSION, "--out", &at("y.csv")]).code(0);
    assert!(former.stderr().contains("`--out` is the former name: it is -o or --output now"), "{}", former.stderr());
    assert!(fs::metadata(at("y.csv")).is_ok());
    assert!(!ctxsim(&["inspect", SESSION, "-q", "--out", &at("z.csv")]).code(0).stderr().contains("former"));
}

#[test]
fn a_trace_gives_the_same_bytes_as_its_logs() {
    let folder = tempfile::tempdir().expect("folder");
    let trace = folder.path().join("corpus.ctxtrace").to_string_lossy().into_owned();
    ctxsim(&["trace", "build", SESSION, HOSTILE, "-o", &trace]).code(0);
    for form in ["--json", "--csv", "--markdown", "--by=session"] {
        let of = |logs: &[&str]| ctxsim(&[&["replay", "--policy", "none", "--policy", MASK, form], logs].concat()).stdout();
        assert_eq!(of(&[SESSION, HOSTILE]), of(&[&trace]), "{form}");
        assert_eq!(of(&[SESSION, HOSTILE]), of(&[HOSTILE, SESSION, "--threads", "1"]), "{form}");
    }
    let bytes = fs::read(&trace).expect("trace");
    assert!(!bytes.windows(9).any(|window| window == b"one two t"), "no content");
}

#[test]
fn a_trace_cannot_be_counted_anew() {
    let folder = tempfile::tempdir().expect("folder");
    let trace = folder.path().join("corpus.ctxtrace").to_string_lossy().into_owned();
    ctxsim(&["trace", "build", SESSION, "-o", &trace]).code(0);
    for option in ["--tokenizer=cl100k_base", "--tokenizer=reference", "--input-format=pi"] {
        let refused = ctxsim(&["replay", &trace, "--policy", "none", option]).code(3).stderr();
        assert!(refused.contains("is measured already: --input-format and --tokenizer come too late for it"), "{option}: {refused}");
    }
}

#[test]
fn the_words_of_a_log_reach_no_terminal() {
    for arguments in [&["--by", "session"][..], &["--by", "tool"], &["--csv"], &["--json"], &["--markdown"], &[]] {
        let shown = ctxsim(&[&["replay", HOSTILE, "--policy", "none", "--quiet"], arguments].concat()).code(0);
        let bytes = shown.stdout() + &shown.stderr();
        assert!(!bytes.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{arguments:?}: {bytes:?}");
    }
}

#[test]
fn explain_tells_a_life() {
    let told = ctxsim(&["explain", "by-h", "--policy", MASK, "--window", "1000", SESSION, "--details"]).stdout();
    assert!(told.starts_with("Session by-hand under mask\n"), "{told}");
    for words in ["mask: estimated 670, limit 560", "recovered ", "no gain", "recorded 950"] {
        assert!(told.contains(words), "{words}:\n{told}");
    }
    let value = ctxsim(&["explain", "session.jsonl", "--policy", MASK, SESSION, "--json"]).json();
    assert_eq!(value["schema"], "ctxsim.explain/3");
    assert_eq!(value["series"].as_array().map(Vec::len), Some(4));
}

#[test]
fn overflows_have_a_cause() {
    let value = ctxsim(&["replay", SESSION, "--policy", "none", "--window", "900", "--json"]).json();
    assert_eq!(value["policies"][0]["overflows"], 1);
    assert_eq!(value["policies"][0]["causes"]["no_trigger"], 1);
    assert_eq!(value["policies"][0]["failed_sessions"], 1);
    let small = ctxsim(&["replay", SESSION, "--policy", "none", "--window", "100", "--details"]).stdout();
    assert!(small.contains("In 1 of 1 session the window (100 tokens) is smaller than the hidden overhead"), "{small}");
}

#[test]
fn checks_that_were_asked_for() {
    let failed =
        ctxsim(&["replay", SESSION, "--policy", "none", "--window", "900", "--fail-on", "overflows", "--fail-on", "reply_cut"]).code(1);
    assert!(failed.stdout().contains("no policy"), "the report comes all the same");
    assert!(
        failed.stderr().contains("error: policy none: overflows = 1 (calls whose prompt the provider would have refused)"),
        "{}",
        failed.stderr()
    );
    ctxsim(&["replay", SESSION, "--policy", "none", "--fail-on", "overflow"]).code(0);
    let strict = ctxsim(&["replay", SESSION, HOSTILE, "--policy", "none", "--strict"]).code(1);
    assert!(strict.stderr().contains("tests/data/cli/hostile.jsonl:6: "), "{}", strict.stderr());
    ctxsim(&["replay", SESSION, "--policy", "none", "--strict"]).code(0);
}

#[test]
fn mistakes_are_named_with_what_was_meant() {
    let cases: &[(&[&str], &str)] = &[
        (&["replay", SESSION, "--policy", "nonee"], "did you mean `none`?"),
        (
            &["replay", SESSION, "--policy", "none", "--set", "reservee=3"],
            "policy `none` has no parameter `reservee`; did you mean `reserve`?",
        ),
        (&["replay", SESSION, "--policy", "none", "--set", "reserve"], "lacks a value"),
        (&["replay", SESSION, "--policy", "none", "--set", "codex:x=3"], "names the policy `codex`, which is not replayed"),
        (&["replay", SESSION, "--policy", "none", "--input-format", "natve"], "did you mean `native`?"),
        (&["replay", SESSION, "--policy", "none", "--tokenizer", "o200k_bse"], "did you mean `o200k_base`?"),
        (&["replay", SESSION, "--policy", "none", "--model", "gpt-55"], "did you mean `gpt-5`?"),
        (&["replay", SESSION, "--policy", "none", "--window", "0"], "a window holds at least one token"),
        (&["curve", SESSION, "--window", "0"], "a window holds at least one token"),
        (&["replay", SESSION, "--policy", "none", "--window", "50%"], "a number of tokens is written as"),
        (&["replay", SESSION, "--policy", "none", "--json", "--csv"], "cannot be used with"),
        (&["explain", "by-hnd", "--policy", "none", SESSION], "did you mean `by-hand`?"),
        (&["explain", "by-hand", "-p", "pi", "-p", "codex", SESSION], "several are named"),
        (&["policy", "show", "nnone"], "did you mean `none`?"),
        (&["replya"], "did you mean `replay`?"),
        (&["replay", SESSION, "--policy", "none", "--format", "claude-code"], "--input-format claude-code names the reader of the logs"),
        (&["convert", SESSION, "--format", "native", "-o", "-"], "--input-format native names the reader of the logs"),
        (&["replay", SESSION, "--by", "sesion"], "`sesion` is no value of --by; did you mean `session`?"),
        (&["replay", SESSION, "--polcy", "none"], "`--polcy` is no option of this command; did you mean `--policy`?"),
        (&["diff", SESSION, "none"], "diff compares two policies"),
        (&["replay", SESSION, "-o", "nowhere"], "its name says neither a folder nor what kind of file"),
        (&["replay", SESSION, "-o", "x.csv", "--json"], "is written in the form that its name ends in"),
        (&["convert", SESSION], "--output <PATH> is missing"),
        (&["replay", SESSION, "--columns", "cots"], "`cots` is no value of --columns; did you mean `cost`?"),
        (&["replay", SESSION, "-p", "pi", "--set", "keepRecentTokens=20kb"], "it is written 20000, 20_000, 20k or 0.02m"),
        (&["replay", SESSION, "-p", "pi", "--set", "keepRecentTokens=yes"], "`yes` is for a switch; it counts tokens"),
        (&["replay", SESSION, "-p", "pi", "--set", "keepRecentTokens=2.5"], "`2.5` is no whole number; it counts tokens"),
        (&["replay", SESSION, "-p", "pi", "--set", "keepRecentTokens=10k-80k"], "`-70000` is below 0; it counts tokens"),
        (
            &["replay", SESSION, "-p", "opencode", "--set", "prune=maybe"],
            "`maybe` is neither on nor off: a switch takes yes or no, on or off, 1 or 0",
        ),
        (
            &["replay", SESSION, "-p", "pi", "--set", "keepRecentTokens=window-2m"],
            "is below 0; it counts tokens (`window-2m` at a window of",
        ),
        (
            &["sweep", SESSION, "-p", "pi", "--vary", "keepRecentTokens=1k,window-2m"],
            "is below 0; it counts tokens (`window-2m` at a window of",
        ),
        (&["tune", SESSION, "-p", "pi", "--set", "reserveTokens=0-window", "--params", "keepRecentTokens=10k..80k"], "is below 0"),
        (&["replay", SESSION, "-p", "opencode", "--set", "prune=window*1"], "is neither 0 (off) nor 1 (on) (`window*1` at a window of"),
        (&["sweep", SESSION, "-p", "pi", "--vary", "keepRecentTokens=10k-80k"], "a range is written keepRecentTokens=10k..80k:STEP"),
        (&["sweep", SESSION, "-p", "pi", "--vary", "keepRecentTokens=10k…80k:5k"], "a range is written keepRecentTokens=10k..80k:STEP"),
        (&["tune", SESSION, "-p", "pi", "--params", "keepRecentTokens=10k-80k"], "a range is written 10k..80k"),
        (&["tune", SESSION, "-p", "pi", "--params", "keepRecentTokens=10kb..20k"], "`10kb` is no number: it is written 20000"),
        (&["sweep", SESSION, "-p", "pi", "--vary", "keepRecentTokens=1k,2kb"], "`2kb` is no number"),
        (&["replay", SESSION, "--window", "-1"], "`-1`: no option of this command takes a number below 0"),
        (&["tune", SESSION, "-p", "pi", "--held-out", "0"], "`--held-out 0`: it takes a whole number from 5 to 95"),
        (&["tune", SESSION, "-p", "pi", "--settings", "ten"], "`--settings ten`: it takes a whole number from 4 to 10,000"),
        (&["replay", SESSION, "--threads", "1025"], "`--threads 1025`: it takes a whole number from 1 to 1,024"),
        (&["explain", "s", SESSION, "--at", "0"], "`--at 0`: it takes a whole number from 1 on"),
        (&["replay", SESSION, "--gap", "1e300"], "`--gap 1e300`: it takes a whole number"),
        (&["sweep", SESSION, "--seed", "99999999999999999999"], "the number is too large"),
    ];
    for (arguments, words) in cases {
        let failed = ctxsim(arguments).code(2);
        assert!(failed.stderr().contains(words), "{arguments:?}: {}", failed.stderr());
        assert!(failed.stderr().starts_with("error: ") && failed.stderr().lines().count() == 1, "{arguments:?}: {}", failed.stderr());
        assert_eq!(failed.stdout(), "", "{arguments:?}");
    }
}

/// A word of any length is not said again as a whole.
/// Options in front of a command are its own; a value that is called like a command is no command.
#[test]
fn options_stand_in_front_of_the_command_as_well() {
    let said = |words: &[&str]| ctxsim(words).code(0).stdout();
    assert_eq!(said(&["-q", "inspect", "transcripts", "--json"]), said(&["inspect", "-q", "transcripts", "--json"]));
    assert_eq!(said(&["--model", "cache", "-q", "inspect", "transcripts"]), said(&["inspect", "--model", "cache", "-q", "transcripts"]));
    assert_eq!(said(&["-q", "-p", "none", "transcripts"]), said(&["replay", "-q", "-p", "none", "transcripts"]));
}

#[test]
fn long_words_are_shortened() {
    let said = ctxsim(&["replay", "transcripts", "--model", &"x".repeat(100_000)]).code(2).stderr();
    assert!(said.len() < 3_000 && said.starts_with("error: ") && said.contains(" … "), "{} bytes", said.len());
}

#[test]
fn what_holds_nothing_readable_is_said() {
    let folder = tempfile::tempdir().expect("folder");
    let home = folder.path().to_string_lossy().into_owned();
    let empty = ctxsim(&["replay", "--policy", "none", &home]).code(3);
    assert!(empty.stderr().contains("no session in"), "{}", empty.stderr());
    let missing = ctxsim(&["replay", "--policy", "none", "no/such/file"]).code(3);
    assert!(missing.stderr().contains("no/such/file: no such file or folder"), "{}", missing.stderr());
    // Beside a good one it is mistyped; what a pattern or a folder lacks is not.
    let beside = ctxsim(&["replay", "--policy", "none", "transcripts", "no/such/file", "no/such/file2"]).code(2).stderr();
    assert!(beside.contains("no such file or folder: no/such/file, no/such/file2"), "{beside}");
    let toml = ctxsim(&["replay", "--policy", "none", MASK]).code(3);
    assert!(toml.stderr().contains("no reader knows its format"), "{}", toml.stderr());
    let homeless = ctxsim(&["replay", "--policy", "none"]).alone().env("HOME", &home).code(3);
    assert!(homeless.stderr().contains("  claude-code: ") && homeless.stderr().contains(".claude/projects"), "{}", homeless.stderr());
    assert!(homeless.stderr().contains("`ctxsim demo`") && homeless.stderr().lines().count() < 20, "{}", homeless.stderr());
    assert!(cfg!(target_os = "macos") || !homeless.stderr().contains("Library"), "{}", homeless.stderr());
}

#[test]
fn logs_are_found_at_home() {
    let folder = tempfile::tempdir().expect("folder");
    let sessions = folder.path().join(".codex/sessions");
    fs::create_dir_all(&sessions).expect("folder");
    fs::copy(project().join(SESSION), sessions.join("session.jsonl")).expect("copied");
    let found = ctxsim(&["replay", "--policy", "none"]).alone().env("HOME", folder.path()).code(0);
    assert!(found.stderr().contains("looking for codex sessions in"), "{}", found.stderr());
    assert!(found.stdout().lines().next().unwrap().contains("1 session, 4 recorded calls"), "{}", found.stdout());
}

/// Hidden folders are read where they are named, and a line says that there are some; those of version control hold no logs.
#[test]
fn hidden_folders_are_named_where_they_are_passed_over() {
    let folder = tempfile::tempdir().expect("folder");
    let logs = folder.path().join("logs");
    for name in [".git", ".claude-home", "within/.codex"] {
        fs::create_dir_all(logs.join(name)).expect("folder");
    }
    let run = |words: &[&str]| ctxsim(words).within(folder.path());
    let nothing = run(&["replay", "logs", "-p", "none"]).code(3).stderr();
    let hint = "hidden folders are read where they are named: logs/.claude-home, logs/within/.codex\n";
    assert!(nothing.contains(hint), "{nothing}");
    fs::copy(project().join(SESSION), logs.join("session.jsonl")).expect("copied");
    let told = |words: &[&str]| run(&[&["inspect", "logs"], words].concat()).columns(200).stdout();
    assert!(told(&[]).contains("2 hidden folders passed over (.claude-home)"), "{}", told(&[]));
    assert!(told(&["--details"]).contains("2 hidden folders passed over: logs/.claude-home, logs/within/.codex."));
    let one = told(&["logs/.claude-home"]);
    assert!(one.contains("1 hidden folder passed over (.codex)"), "{one}");
    // They are no complaint.
    run(&["inspect", "logs", "--strict"]).code(0);
}

/// A session that was gone on with in a second file has one id in both: the file tells which is meant, however its path is typed.
#[test]
fn sessions_of_one_id_are_told_apart_by_their_files() {
    let folder = tempfile::tempdir().expect("folder");
    for (name, words) in [("a.jsonl", "the first"), ("b.jsonl", "the second")] {
        Native::new(json!({"session": "7740a707", "agent": "mine"}))
            .asked(words, &format!("{words} reply"), 9_000, 9)
            .write(folder.path(), name);
    }
    let run = |session: &str| ctxsim(&["explain", session, ".", "-p", "none", "-q"]).within(folder.path());
    let said = run("7740").code(2).stderr();
    assert!(said.contains("`7740` may be 2 sessions of one id; name the file of one instead: ./a.jsonl, ./b.jsonl"), "{said}");
    let whole = folder.path().join("b.jsonl").to_string_lossy().into_owned();
    ["a.jsonl", "./b.jsonl", &whole].into_iter().for_each(|file| drop(run(file).code(0)));
}

/// A folder of an agent without a session is none that holds sessions.
#[test]
fn an_empty_home_is_said_to_be_empty() {
    let folder = tempfile::tempdir().expect("folder");
    fs::create_dir_all(folder.path().join(".claude/projects")).expect("folder");
    let said = ctxsim(&["replay", "--policy", "none"]).alone().env("HOME", folder.path()).code(3).stderr();
    assert!(said.contains("error: no session in ") && said.contains(".claude/projects; ") && said.contains("`ctxsim demo`"), "{said}");
    assert!(!said.contains("found ") && !said.contains("hidden"), "{said}");
}

/// What is proposed over made-up sessions begins with the command that writes them.
#[test]
fn a_demo_is_written_before_it_is_looked_at() {
    let said = ctxsim(&["demo"]).columns(80).stdout();
    let (_, next) = said.split_once("\nNext:  ").unwrap_or_else(|| panic!("{said}"));
    assert!(next.starts_with("ctxsim demo -o demo-logs/ ") && next.contains(" demo-logs"), "{said}");
}

#[test]
fn lists_hold_what_they_name() {
    assert!(ctxsim(&["policy", "list"]).stdout().contains("none, "));
    assert!(ctxsim(&["policy", "show", "none"]).stdout().contains("[params]"));
    assert!(ctxsim(&["formats"]).stdout().contains("native"));
    assert!(ctxsim(&["models", "gpt-5"]).stdout().contains("400k"));
    let help = ctxsim(&["replay", "--help"]).stdout();
    assert!(help.contains("Examples:"), "{help}");
}

#[test]
fn a_page_of_eighty_columns_where_no_terminal_says_more() {
    for arguments in [&["--by", "session"][..], &["--by", "tool"], &["--by", "region"], &[]] {
        let shown = ctxsim(&[&["replay", SESSION, HOSTILE, "--policy", "none", "--policy", MASK], arguments].concat()).stdout();
        let widest = shown.lines().map(|line| line.chars().count()).max();
        assert!(widest.is_some_and(|widest| widest <= 80), "{shown}");
    }
}

#[test]
fn a_policy_that_is_named_twice_has_one_row() {
    let shown = ctxsim(&["replay", SESSION, "-p", "none", "-p", MASK, "-p", "none", "--json"]).code(0);
    assert_eq!(shown.json()["policies"].as_array().map(Vec::len), Some(2));
    assert!(shown.stderr().contains("policy none is named more than once"), "{}", shown.stderr());
    let quiet = ctxsim(&["replay", SESSION, "-p", "none", "-p", "none", "--quiet"]).code(0);
    assert_eq!(quiet.stderr(), "");
}

/// No document passes for a row of the program's own, and two of one name are told apart.
#[test]
fn rows_are_told_apart() {
    let folder = tempfile::tempdir().expect("folder");
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).expect("folder");
        fs::write(&path, text).expect("written");
        path.to_string_lossy().into_owned()
    };
    for name in ["recorded", "none", "no policy", "own agents (defaults)", "pi (yours)", "oracle (pi)"] {
        let file = path(&format!("{name}.toml"), "extends = \"pi\"\n");
        let said = ctxsim(&["replay", SESSION, "-p", &file]).code(2).stderr();
        assert!(said.contains(&format!("a row of the program's own is called `{name}`")), "{said}");
    }
    let files = ["one/mine.toml", "other/mine.toml"].map(|name| path(name, "extends = \"pi\"\n"));
    let shown = ctxsim(&["replay", SESSION, "-p", &files[0], "-p", &files[1], "--json"]).json();
    let named = |place: usize| shown["policies"][place]["policy"].as_str().map(str::to_owned);
    let two = [0, 1].map(|place: usize| format!("mine ({})", files[place]));
    assert_eq!([named(0), named(1)], two.clone().map(Some));
    // In every command that takes several, and what is set by the common name is set in both.
    let both = ["-p", &*files[0], "-p", &*files[1]];
    let diff = ctxsim(&[&["diff", SESSION], &both[..]].concat()).stdout().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(two.iter().all(|name| diff.contains(name)), "{diff}");
    let sweep = ctxsim(&[&["sweep", SESSION, "--vary", "keepRecentTokens=1k,2k", "--csv"], &both[..]].concat()).stdout();
    assert!(two.iter().all(|name| sweep.matches(name).count() >= 2), "{sweep}");
    let set = ctxsim(&[&["replay", SESSION, "--set", "mine:keepRecentTokens=1k"], &both[..]].concat()).stdout();
    assert!(set.matches("with keepRecentTokens=1k").count() == 2, "{set}");
    // One file by two paths is one policy.
    let again = files[0].replace("one/mine", "one/../one/mine");
    let once = ctxsim(&["replay", SESSION, "-p", &files[0], "-p", &again, "--json"]).json();
    assert_eq!((once["policies"].as_array().map(Vec::len), &once["policies"][0]["policy"]), (Some(1), &"mine".into()));
    let drift = ctxsim(&["drift", SESSION, "-p", "codex", "-p", "codex"]).code(0);
    assert!(drift.stderr().contains("is named more than once"), "{}", drift.stderr());
}

/// A log without times has pauses of unknown length, and calls of no day.
#[test]
fn calls_without_a_time_are_said_to_have_none() {
    let folder = tempfile::tempdir().expect("folder");
    let usage = json!({"prompt": 20_000, "output": 200, "cache_read": 9_000, "cache_write": 9_000});
    let reply = json!({"role": "assistant", "text": "yes", "usage": usage});
    let user = json!({"role": "user", "text": "go on"});
    let log = Native::new(json!({"session": "-rf", "model": "claude-opus-4-6", "window": 200_000}));
    log.line(user.clone()).line(reply.clone()).line(user).line(reply).write(folder.path(), "s.jsonl");
    let shown = |words: &[&str]| ctxsim(words).within(folder.path()).columns(200).stdout();
    let idle = shown(&["idle", "s.jsonl"]);
    assert!(
        idle.contains("2 of 2 calls have no time") && idle.contains("1 session was never resumed") && !idle.contains("outlasted"),
        "{idle}"
    );
    assert!(shown(&["replay", "s.jsonl", "--by", "day"]).contains("is not known: calls without a time: 40.0k of 40.0k"));
    // Nor is an id an option.
    let next = shown(&["replay", "s.jsonl", "-p", "pi", "--window", "15k"]);
    assert!(next.contains("ctxsim explain -p pi --window 15000 -- -rf s.jsonl"), "{next}");
    ctxsim(&["explain", "-p", "pi", "--", "-rf", "s.jsonl"]).within(folder.path()).code(0);
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_are_named() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("folder");
    fs::copy(project().join(SESSION), folder.path().join("session.jsonl")).expect("copied");
    symlink("gone.jsonl", folder.path().join("dangling.jsonl")).expect("link");
    symlink("session.jsonl", folder.path().join("inside.jsonl")).expect("link");
    symlink(fs::canonicalize(project().join(HOSTILE)).expect("path"), folder.path().join("outside.jsonl")).expect("link");
    let value = ctxsim(&["replay", &folder.path().to_string_lossy(), "-p", "none", "--json"]).json();
    let skipped: Vec<String> = value["corpus"]["skipped"].as_array().expect("skipped").iter().map(|one| one.to_string()).collect();
    assert_eq!(skipped.len(), 2, "{skipped:?}");
    assert!(skipped[0].contains("dangling.jsonl") && skipped[0].contains("leads nowhere"), "{skipped:?}");
    assert!(skipped[1].contains("outside.jsonl") && skipped[1].contains("not followed"), "{skipped:?}");
}

/// A pattern speaks of its own links alone: those that it matches, and those to folders in which it may match something.
#[cfg(unix)]
#[test]
fn a_pattern_says_nothing_of_other_links() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name);
    let elsewhere = tempfile::tempdir().expect("folder");
    fs::create_dir(at("logs")).expect("folder");
    fs::copy(project().join(SESSION), at("logs/session.jsonl")).expect("copied");
    symlink("gone", at("logs/dangling.txt")).expect("link");
    symlink("gone", at("logs/dangling.jsonl")).expect("link");
    symlink(elsewhere.path(), at("logs/outside")).expect("link");
    let said = |pattern: &str, code: i32| ctxsim(&["inspect", "-q", "--strict", &at(pattern).to_string_lossy()]).code(code).stderr();
    let nothing = said("logs/*.log", 3);
    assert!(nothing.trim_end().ends_with("*.log: no file matches the pattern"), "{nothing}");
    let matched = said("logs/*.jsonl", 1);
    assert!(matched.contains("dangling.jsonl: is a symbolic link that leads nowhere"), "{matched}");
    assert!(!matched.contains("dangling.txt") && !matched.contains("outside"), "{matched}");
    for pattern in ["logs/*/*.jsonl", "**/*.log"] {
        let below = said(pattern, 3);
        assert!(below.contains("outside: is a symbolic link out of the folder") && !below.contains("dangling.txt"), "{below}");
    }
}

/// As a shell hands over what it matches, folders too.
#[test]
fn a_pattern_walks_the_folders_that_it_matches() {
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("logs/sub/deep")).expect("folder");
    for (number, name) in ["one.jsonl", "sub/two.jsonl", "sub/deep/three.jsonl"].iter().enumerate() {
        let session = fs::read_to_string(project().join(SESSION)).expect("session");
        fs::write(at("logs").join(name), format!("{session}{}", "\n".repeat(number))).expect("written");
    }
    let files = |pattern: &str| ctxsim(&["inspect", "--json", &at(pattern).to_string_lossy()]).code(0).json()["corpus"]["files"].clone();
    for (pattern, count) in [("logs/*", 3), ("logs/*.jsonl", 1), ("logs/s*", 2), ("logs/*/*.jsonl", 1), ("logs/**/*.jsonl", 3)] {
        assert_eq!(files(pattern), count, "{pattern}");
    }
}

#[test]
fn a_trace_may_leave_the_folders_out() {
    let folder = tempfile::tempdir().expect("folder");
    let of = |name: &str, flags: &[&str]| {
        let trace = folder.path().join(name).to_string_lossy().into_owned();
        ctxsim(&[&["trace", "build", SESSION, HOSTILE, "-o", &trace], flags].concat()).code(0);
        ctxsim(&["replay", &trace, "-p", "none", "--json"]).json()
    };
    let (whole, bare) = (of("whole.ctxtrace", &[]), of("bare.ctxtrace", &["--without-paths"]));
    assert_eq!(whole["policies"][0]["sessions"][0]["source"].as_str().map(|path| path.contains('/')), Some(true));
    assert!(!bare.to_string().contains("tests/data"), "{bare}");
    assert_eq!(whole["policies"][0]["prompt_tokens"], bare["policies"][0]["prompt_tokens"]);
}

#[test]
fn columns_are_chosen_by_their_names() {
    let of = |columns: &str| ctxsim(&["replay", SESSION, "-p", "none", "-p", MASK, "--columns", columns]).stdout();
    let chosen = of("overflows,peak_tokens");
    let head: Vec<&str> = chosen.lines().skip(2).take_while(|line| !line.starts_with('─')).flat_map(str::split_whitespace).collect();
    assert_eq!(head, ["over-", "peak", "policy", "flows", "context"], "{chosen}");
    assert!(chosen.lines().count() < 12, "{chosen}");
    // Those that do not stand side by side stand below each other: none that was named is left out.
    let many = of(
        "calls,overflows,failed_sessions,over_budget,compactions,prunes,peak_tokens,mean_tokens,prompt_tokens,tokens_saved,references_kept_share,anchored_share,summariser_tokens,cost",
    );
    let rows = |word: &str| many.lines().filter(|line| line.starts_with(word)).count();
    assert!(rows("none") > 1 && many.contains("cost") && many.lines().all(|line| line.chars().count() <= 80), "{many}");
    // What only spreadsheets have otherwise is in reach.
    let all = of("all");
    assert!(all.contains("compared sessions") || all.contains("compared"), "{all}");
    let csv = |more: &[&str]| ctxsim(&[&["replay", SESSION, "-p", "none", "--csv"], more].concat()).stdout();
    assert_eq!(csv(&["--columns", "cost"]), csv(&[]), "CSV is whole in any case");
}

#[test]
fn the_glossary_names_every_measure() {
    let glossary = ctxsim(&["help", "metrics", "--all"]).stdout();
    let head = ctxsim(&["replay", SESSION, "-p", "none", "--csv"]).stdout();
    let columns = head.lines().next().unwrap_or_default().split(',').skip(6);
    for name in columns {
        let line = glossary.lines().find(|line| line.split_whitespace().next() == Some(name));
        assert!(line.is_some_and(|line| line.split_whitespace().count() > 2), "{name}: {line:?}");
    }
    assert!(ctxsim(&["help", "replay"]).stdout().contains("--columns"), "help of commands stays what it is");
}

#[test]
fn bold_is_where_it_is_asked_for() {
    let shown = |words: &[&str]| ctxsim(&[&["replay", SESSION, "-p", "none", "-p", MASK, "--details"], words].concat()).stdout();
    assert!(shown(&["--color", "always"]).contains("\u{1b}[1m"));
    assert!(!shown(&["--color", "never"]).contains('\u{1b}') && !shown(&[]).contains('\u{1b}'));
    let words = ["--color=auto", "replay", SESSION, "-p", "none", "-p", MASK, "--details"];
    assert!(ctxsim(&words).env("CLICOLOR_FORCE", "1").stdout().contains("\u{1b}[1m"));
}

#[test]
fn switches_are_turned_by_words() {
    let events = |value: &str| {
        let set = format!("prune={value}");
        ctxsim(&["replay", SESSION, "-p", "opencode", "--set", &set, "--json"]).json()["policies"][0]["params"]["prune"].clone()
    };
    assert_eq!([events("yes"), events("on"), events("ON")], [events("1"), events("1"), events("1")]);
    assert_eq!([events("no"), events("off")], [events("0"), events("0")]);
}

/// What is named as it was before gets one hint, and means the same.
#[test]
fn measures_have_one_name() {
    let told = |words: &[&str]| {
        let shown = ctxsim(&[&["sweep", SESSION, "-p", "pi", "--vary", "keepRecentTokens=10k,20k", "--json"], words].concat()).code(0);
        (shown.stderr(), shown.json()["objective"]["measure"].clone())
    };
    assert_eq!(told(&["--minimise", "lost_lines"]), (String::new(), "lost_lines".into()));
    for (former, today) in [("broken references", "lost_lines"), ("peak context", "peak_tokens"), ("hit rate", "cache_hit_rate")] {
        let (said, measure) = told(&["--minimise", former]);
        assert_eq!((said, measure), (format!("ctxsim: the measure `{former}` is called {today} now\n"), today.into()));
    }
    let unknown = ctxsim(&["sweep", SESSION, "-p", "pi", "--vary", "keepRecentTokens=10k", "--minimise", "lost_limes"]).code(2).stderr();
    assert!(unknown.contains("`lost_limes` is no measure; did you mean `lost_lines`?"), "{unknown}");
    ctxsim(&["replay", SESSION, "-p", "none", "--fail-on", "failed-sessions", "--fail-on", "overflow"]).code(0);
}

/// Whoever reads the first lines and goes away has had what they wanted.
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    for words in [&["replay", SESSION, "-p", "none", "--json"][..], &["formats"], &["policy", "show", "pi"]] {
        let mut command = ctxsim(words).command();
        let mut child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(0), "{words:?}: {}", String::from_utf8_lossy(&ended.stderr));
    }
}

/// `NO_COLOR` stands above what forces colours, and a pipe has none by itself.
#[test]
fn colours_are_as_the_environment_has_them() {
    let elsewhere = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"];
    let is_coloured = |variables: &[(&str, &str)], more: &[&str]| {
        let program = ctxsim(&["replay", "transcripts/pi", "-p", "none", "-p", "pi", "-q"]).args(more).without(&elsewhere);
        variables.iter().fold(program, |program, (name, value)| program.env(name, value)).stdout().contains('\u{1b}')
    };
    assert!(is_coloured(&[("CLICOLOR_FORCE", "1"), ("TERM", "dumb")], &[]) && is_coloured(&[("NO_COLOR", "1")], &["--color", "always"]));
    assert!(!is_coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[]) && !is_coloured(&[("CLICOLOR_FORCE", "0")], &[]));
    assert!(!is_coloured(&[("CLICOLOR_FORCE", "1")], &["--color", "never"]));
}
