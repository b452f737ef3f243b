//! The one door for writing: every option of every command that writes, found from `--help`, against whatever must not be written over.

use crate::help::helps;
use crate::made::Native;
use crate::support::{self, ctxsim, project, skip};
use ctxsim::corpus::homes;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// What an option writes: a file of this name, or a folder with a file of this name in it.
#[derive(Clone, Copy)]
enum Wrote {
    File(&'static str),
    Folder(&'static str),
}

/// An option that writes, and a command line on which it does: `LOG` stands for the log, `OUT` for the place.
struct Writer {
    command: &'static str,
    option: &'static str,
    wrote: Wrote,
    words: &'static str,
}

const fn writer(command: &'static str, option: &'static str, wrote: Wrote, words: &'static str) -> Writer {
    Writer { command, option, wrote, words }
}

/// All of them. A test compares the list with `--help`.
const WRITERS: [Writer; 28] = [
    writer("inspect", "--output", Wrote::Folder("inspect.json"), "inspect LOG --output OUT"),
    writer("replay", "--output", Wrote::Folder("replay.json"), "replay LOG -p none --output OUT"),
    writer("cost", "--output", Wrote::Folder("cost.json"), "cost LOG -p pi --output OUT"),
    writer("cache", "--output", Wrote::Folder("cache.json"), "cache LOG --output OUT"),
    writer("idle", "--output", Wrote::Folder("idle.json"), "idle LOG --output OUT"),
    writer("explain", "--output", Wrote::Folder("explain.json"), "explain 4f2a -p pi LOG --output OUT"),
    writer("drift", "--output", Wrote::Folder("drift.json"), "drift LOG --output OUT"),
    writer("backtest", "--output", Wrote::Folder("backtest.json"), "backtest LOG --output OUT"),
    writer("diff", "--output", Wrote::Folder("diff.json"), "diff LOG -p none -p pi --output OUT"),
    writer("sweep", "--output", Wrote::Folder("sweep.json"), "sweep LOG -p pi --vary keepRecentTokens=10k,20k --output OUT"),
    writer("tune", "--output", Wrote::Folder("tune.json"), "tune LOG -p pi --settings 4 --output OUT"),
    writer("curve", "--output", Wrote::Folder("curve.json"), "curve LOG --output OUT"),
    writer("validate", "--output", Wrote::Folder("validate.json"), "validate LOG --with LOG -p pi --output OUT"),
    writer("report", "--output", Wrote::Folder("index.html"), "report LOG -p none -p pi --output OUT"),
    writer("drift", "--calibrate", Wrote::File("x.toml"), "drift LOG --calibrate OUT"),
    writer("sweep", "--rows", Wrote::File("x.jsonl"), "sweep LOG -p pi --vary keepRecentTokens=10k,20k --rows OUT"),
    writer("gate", "--update-baseline", Wrote::File("x.json"), "gate LOG -p pi --baseline OUT --update-baseline"),
    writer("chart", "--output", Wrote::File("x.svg"), "chart survival LOG -p none --output OUT"),
    writer("convert", "--output", Wrote::File("x.jsonl"), "convert LOG --output OUT"),
    writer("trace build", "--output", Wrote::File("x.ctxtrace"), "trace build LOG --output OUT"),
    writer("demo", "--output", Wrote::Folder("pi.jsonl"), "demo --output OUT"),
    writer("man", "--output", Wrote::Folder("ctxsim.1"), "man --output OUT"),
    writer("gate", "--output", Wrote::Folder("gate.json"), "gate LOG -p pi --baseline BASELINE --output OUT"),
    writer("formats", "--output", Wrote::File("x.json"), "formats --output OUT"),
    writer("models", "--output", Wrote::File("x.json"), "models gpt-5 --output OUT"),
    writer("policy list", "--output", Wrote::File("x.json"), "policy list --output OUT"),
    writer("policy show", "--output", Wrote::File("x.toml"), "policy show pi --output OUT"),
    writer("policy new", "--output", Wrote::File("x.toml"), "policy new --extends pi --output OUT"),
];

/// Options under the heading that name no place: they say how the others write. The folder of a program's answers, which many commands fill in one
/// way, has a test of its own in `programs.rs`.
const MODIFIERS: [&str; 7] = ["--format", "--force", "--resume", "--redact", "--without-paths", "--to", "--program-cache"];

/// Options that take a file and read it.
const READ: [&str; 7] = ["--config", "--policy", "--prices", "--baseline", "--agent-config", "--with", "--index"];

impl Writer {
    /// The command line. Folders get all their files below the place.
    fn words(&self, log: &Path, place: &Path) -> Vec<String> {
        let word = |word: &str| match word {
            "LOG" => log.to_string_lossy().into_owned(),
            "OUT" => place.to_string_lossy().into_owned(),
            "BASELINE" => baseline().to_string_lossy().into_owned(),
            other => other.to_owned(),
        };
        self.words.split(' ').map(word).collect()
    }

    fn reads(&self) -> bool {
        self.words.contains("LOG")
    }

    fn name(&self) -> String {
        format!("{} {}", self.command, self.option)
    }

    /// The place to name so that this file in this folder is the first that is written.
    fn place(&self, folder: &Path) -> (PathBuf, PathBuf) {
        match self.wrote {
            Wrote::File(name) => (folder.join(name), folder.join(name)),
            // A folder that is not there yet is one by the separator at its end.
            Wrote::Folder(name) => (folder.join(""), folder.join(name)),
        }
    }
}

/// A baseline of [`log`], in a folder of its own.
fn baseline() -> &'static Path {
    static MADE: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("log.jsonl"), log()).unwrap();
        ctxsim(&["gate", "log.jsonl", "-q", "-p", "pi", "--baseline", "base.json", "--update-baseline"]).within(folder.path()).code(0);
        let path = folder.path().join("base.json");
        (folder, path)
    });
    path
}

/// A session in the program's own shape, which is no agent's.
pub fn log() -> String {
    // Prompts grow about as the texts do, so that an estimator can be fitted to them.
    let log = (1..9).fold(Native::new(json!({"session": "4f2a77", "agent": "pi", "window": 8000})), |log, call| {
        let words = ["alpha", "beta", "gamma", "delta"].map(|word| format!(" {word}{call}")).concat().repeat(20);
        log.asked(&format!("question {call} of line {call}:{words}"), &format!("answer {call}"), 2_000 + 300 * call, 40)
    });
    log.text()
}

fn program(folder: &Path) -> Command {
    ctxsim(&[]).within(folder).at_home(&folder.join("home")).command()
}

fn run(folder: &Path, words: &[String]) -> Output {
    program(folder).args(words).output().unwrap()
}

fn forced(mut words: Vec<String>) -> Vec<String> {
    words.push("--force".to_owned());
    words
}

/// Everything below a folder: what it is, and what it holds. Links are not followed.
pub fn snapshot(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode();
        let what = if kind.is_symlink() {
            format!("link to {}", fs::read_link(&path).unwrap().display())
        } else if kind.is_dir() {
            all.extend(snapshot(&path));
            "folder".to_owned()
        } else if kind.is_file() {
            format!("{:?}", fs::read(&path).unwrap())
        } else {
            format!("special {}", kind.is_fifo())
        };
        all.insert(path, format!("{mode:o} {what}"));
    }
    all
}

/// A fresh folder with a log in it, and a folder to work in that is not that one: a folder of logs is no place for outputs.
fn ground() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join("logs")).unwrap();
    fs::create_dir_all(root.join("home")).unwrap();
    fs::write(root.join("logs/in.jsonl"), log()).unwrap();
    let log = root.join("logs/in.jsonl");
    (folder, root, log)
}

/// The run is refused with a sentence, and nothing has changed.
fn assert_refused(what: &str, root: &Path, words: &[String]) -> String {
    let before = snapshot(root);
    let output = run(root, words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{what}: {words:?}\n{said}");
    assert!(said.starts_with("error: ") && said.lines().count() == 1, "{what}: {said}");
    assert!(before == snapshot(root), "{what}: {words:?} changed something");
    said
}

/// The options of a help under this heading, each with its value name.
fn options_under(help: &str, heading: &str) -> Vec<(String, String)> {
    let lines =
        help.lines().skip_while(|line| *line != format!("{heading}:")).skip(1).take_while(|line| line.starts_with(' ') || line.is_empty());
    lines.filter_map(option_of).collect()
}

fn option_of(line: &str) -> Option<(String, String)> {
    let line = line.trim_start();
    if !line.starts_with('-') {
        return None;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| word.starts_with("--"))?;
    let value = words.get(at + 1).filter(|word| word.starts_with('<')).copied().unwrap_or_default();
    Some((words[at].trim_end_matches("...").to_owned(), value.trim_end_matches("...").to_owned()))
}

#[test]
fn every_option_that_writes_is_known_here() {
    let mut found = BTreeSet::new();
    for (command, help) in helps() {
        let written = options_under(help, "What is written");
        let shown = options_under(help, "What is shown of the logs' content");
        for (option, value) in help.lines().filter_map(option_of) {
            let is_known = written.iter().chain(&shown).any(|(known, _)| *known == option) || READ.contains(&option.as_str());
            // Whatever takes a place is marked as writing, or is known to be read.
            let takes_place = ["FILE", "DIR", "FOLDER", "PATH"].iter().any(|name| value.contains(name));
            assert!(!takes_place || is_known, "{command} {option} takes a place: does it write?");
        }
        let places = written.into_iter().filter(|(option, _)| !MODIFIERS.contains(&option.as_str()));
        found.extend(places.map(|(option, _)| format!("{command} {option}")));
    }
    let known: BTreeSet<String> = WRITERS.iter().map(Writer::name).collect();
    assert_eq!(found, known);
}

#[test]
fn nothing_is_written_over_an_input() {
    for writer in WRITERS.iter().filter(|writer| writer.reads()) {
        let (_folder, root, log) = ground();
        let name = writer.name();
        // The input itself, a second name of it, and a link to it, as what would be written.
        let work = root.join("work");
        fs::create_dir_all(&work).unwrap();
        let (place, file) = writer.place(&work);
        fs::rename(&log, &file).unwrap();
        assert_refused(&name, &root, &writer.words(&file, &place));
        assert!(assert_refused(&name, &root, &forced(writer.words(&file, &place))).contains("is read by this run"), "{name}");
        fs::copy(&file, &log).unwrap();
        fs::remove_file(&file).unwrap();
        fs::hard_link(&log, &file).unwrap();
        assert!(assert_refused(&name, &root, &forced(writer.words(&log, &place))).contains("is read by this run"), "{name}");
        fs::remove_file(&file).unwrap();
        symlink(&log, &file).unwrap();
        assert!(assert_refused(&name, &root, &forced(writer.words(&log, &place))).contains("is read by this run"), "{name}");
        // A folder that is read, with the input in it.
        assert!(assert_refused(&name, &root, &forced(writer.words(&root.join("logs"), &place))).contains("is read by this run"), "{name}");
    }
    // Neither is a policy, a table of prices or a baseline; nor what standard input is taken from.
    let (_folder, root, log) = ground();
    let path = |name: &str| root.join(name).to_string_lossy().into_owned();
    fs::write(root.join("mine.toml"), "extends = \"pi\"\n").unwrap();
    let words = |text: &str| {
        text.split(' ').map(|word| if word == "LOG" { log.to_string_lossy().into_owned() } else { word.to_owned() }).collect::<Vec<_>>()
    };
    assert_refused("policy", &root, &words(&format!("drift LOG -p {0} --calibrate {0} --force", path("mine.toml"))));
    let before = snapshot(&root);
    let streamed = program(&root)
        .args(words(&format!("convert - --force -o {}", log.display())))
        .stdin(fs::File::open(&log).unwrap())
        .output()
        .unwrap();
    assert!(streamed.status.code() == Some(2) && before == snapshot(&root), "{}", String::from_utf8_lossy(&streamed.stderr));
}

#[test]
fn nothing_is_written_into_an_agents_store() {
    let (_folder, root, log) = ground();
    let home = root.join("home");
    let stores = homes(&|name| (name == "HOME").then(|| home.to_string_lossy().into_owned()));
    assert!(stores.len() > 15);
    let mut places: Vec<PathBuf> = stores.iter().map(|store| store.path.join("p")).collect();
    // The folders of the agents themselves, with their settings.
    places.extend(stores.iter().map(|store| store.folder().join("more")));
    // The stores of another home, and of a home that is linked.
    places.extend(stores.iter().map(|store| root.join("other").join(store.path.strip_prefix(&home).unwrap())));
    places.push(root.join("linked/.claude/projects/p"));
    places.iter().filter(|place| !place.starts_with(root.join("linked"))).for_each(|place| fs::create_dir_all(place).unwrap());
    symlink(&home, root.join("linked")).unwrap();
    for (turn, writer) in WRITERS.iter().enumerate() {
        // There is one door: the first tries all places, and each of the others five, from all kinds, in turns.
        let own: Vec<&PathBuf> =
            if turn == 0 { places.iter().collect() } else { (0..5).map(|place| &places[(turn + place * 18) % places.len()]).collect() };
        for (number, folder) in own.into_iter().enumerate() {
            let (place, file) = writer.place(folder);
            // In one store a file is there, in the next one none.
            if number % 2 == 0 {
                fs::write(&file, "a session").unwrap();
            }
            let said = assert_refused(&writer.name(), &root, &forced(writer.words(&log, &place)));
            assert!(said.contains("lies in the folder of"), "{said}");
            let _ = fs::remove_file(&file);
        }
        // By a way that goes up, and through a folder that is not there.
        let (place, _) = writer.place(&root.join("home/../home/.codex/sessions/p"));
        assert_refused(&writer.name(), &root, &forced(writer.words(&log, &place)));
        let (place, _) = writer.place(&root.join("nowhere/../home/.codex/sessions/p"));
        assert_refused(&writer.name(), &root, &forced(writer.words(&log, &place)));
    }
}

/// Sessions that lie elsewhere: the folder that holds them is a store, the root of a project is none.
#[test]
fn a_folder_that_holds_sessions_is_a_store() {
    let samples = project().join("transcripts");
    let mut agents = 0;
    for agent in ["claude-code", "codex", "gemini-cli", "opencode", "pi"] {
        let (_folder, root, log) = ground();
        let sample = fs::read_dir(samples.join(agent)).unwrap().flatten().map(|entry| entry.path()).find(|path| path.is_file()).unwrap();
        let store = root.join("backup");
        fs::create_dir(&store).unwrap();
        fs::copy(&sample, store.join(sample.file_name().unwrap())).unwrap();
        for writer in WRITERS.iter().take(if agent == "claude-code" { WRITERS.len() } else { 1 }) {
            let (place, _) = writer.place(&store);
            let said = assert_refused(&writer.name(), &root, &forced(writer.words(&log, &place)));
            assert!(said.contains(&format!("holds sessions of {agent}")), "{said}");
        }
        fs::create_dir(store.join(".git")).unwrap();
        let written = run(&root, &WRITERS.iter().find(|writer| writer.command == "convert").unwrap().words(&log, &store.join("x.jsonl")));
        assert!(written.status.success(), "{}", String::from_utf8_lossy(&written.stderr));
        agents += 1;
    }
    assert_eq!(agents, 5);
}

#[test]
fn nothing_is_written_over_what_is_there() {
    for writer in &WRITERS {
        let (_folder, root, log) = ground();
        let work = root.join("work");
        fs::create_dir_all(&work).unwrap();
        let (place, file) = writer.place(&work);
        fs::write(&file, "years of work").unwrap();
        let said = assert_refused(&writer.name(), &root, &writer.words(&log, &place));
        assert!(said.contains("--force"), "{said}");
        // With --force it is written over.
        let output = run(&root, &forced(writer.words(&log, &place)));
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {}", writer.name(), String::from_utf8_lossy(&output.stderr));
        assert_ne!(fs::read(&file).unwrap(), b"years of work", "{}", writer.name());
        // A folder of ours is written anew, until something in it is changed; a file is not, but for a baseline, which is asked for by its name.
        let again = run(&root, &writer.words(&log, &place));
        let list = fs::read_to_string(work.join(".ctxsim-manifest.json")).unwrap_or_default();
        assert_eq!(list.contains("\"made_by\": \"ctxsim\""), matches!(writer.wrote, Wrote::Folder(_)), "{}: {list}", writer.name());
        let is_ours = matches!(writer.wrote, Wrote::Folder(_)) && writer.command != "demo" || writer.command == "gate";
        assert_eq!(again.status.code() != Some(2), is_ours, "{}: {}", writer.name(), String::from_utf8_lossy(&again.stderr));
        if let Wrote::Folder(_) = writer.wrote {
            // What a run has left half written is ours, and sessions of ours are no agent's.
            fs::remove_file(&file).unwrap();
            let whole = run(&root, &forced(writer.words(&log, &place)));
            assert!(matches!(whole.status.code(), Some(0 | 1)), "{}: {}", writer.name(), String::from_utf8_lossy(&whole.stderr));
            fs::write(&file, "changed by hand").unwrap();
            assert_refused(&writer.name(), &root, &writer.words(&log, &place));
        }
    }
}

#[test]
fn devices_and_pipes_stay_what_they_are() {
    for writer in &WRITERS {
        let (_folder, root, log) = ground();
        let work = root.join("work");
        fs::create_dir_all(&work).unwrap();
        let (place, file) = writer.place(&work);
        let made = Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        assert_refused(&writer.name(), &root, &forced(writer.words(&log, &place)));
        if let Wrote::File(_) = writer.wrote {
            let output = run(&root, &forced(writer.words(&log, Path::new("/dev/null"))));
            assert!(writer.command == "chart" || output.status.success(), "{}: {}", writer.name(), String::from_utf8_lossy(&output.stderr));
            assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
            assert_refused(&writer.name(), &root, &forced(writer.words(&log, Path::new("/dev/full"))));
            // One meaning of `-`, and of the other names of standard output.
            let printed = ["-", "/dev/stdout"].map(|name| run(&root, &writer.words(&log, Path::new(name))));
            assert!(printed[0].status.success() && !printed[0].stdout.is_empty(), "{}", writer.name());
            assert!(printed[0].stdout == printed[1].stdout, "{}", writer.name());
        } else {
            let output = run(&root, &writer.words(&log, Path::new("-")));
            assert!(
                !output.stdout.is_empty() || writer.command == "demo",
                "{}: {}",
                writer.name(),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        assert!(!root.join("-").exists(), "{}", writer.name());
    }
}

#[test]
fn planted_links_lead_nowhere() {
    for writer in &WRITERS {
        let (_folder, root, log) = ground();
        let (work, victims) = (root.join("work"), root.join("victims"));
        for folder in [&work, &victims, &work.join("repository/.git")] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(victims.join("bashrc"), "my own").unwrap();
        let (place, file) = writer.place(&work);
        for target in ["../victims/bashrc", "../victims/not-there", "nowhere/at/all"] {
            symlink(target, &file).unwrap();
            assert_refused(&writer.name(), &root, &writer.words(&log, &place));
            let before = snapshot(&victims);
            run(&root, &forced(writer.words(&log, &place)));
            assert!(before == snapshot(&victims), "{} writes through a link", writer.name());
            fs::remove_dir_all(&work).unwrap();
            fs::create_dir_all(work.join("repository/.git")).unwrap();
        }
        // A folder that is a link out of the repository, or out of the folder that one works in.
        symlink("../../victims", work.join("repository/out")).unwrap();
        symlink("../victims", work.join("out")).unwrap();
        for folder in [work.join("repository/out"), PathBuf::from("out")] {
            let (place, _) = writer.place(&folder);
            let words = forced(writer.words(&log, &place));
            let before = snapshot(&root);
            let output = program(&work).args(&words).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.code() == Some(2) && said.contains("a link that leads out of"), "{}: {said}", writer.name());
            assert!(before == snapshot(&root), "{}", writer.name());
        }
    }
}

/// A limit on the size of files stands for a disk that is full: the write fails in the midst.
#[test]
fn a_full_disk_leaves_nothing_behind() {
    for writer in &WRITERS {
        // The limit is counted in blocks of half a kilobyte or a whole one: small files fit under the second, and must go all the same.
        for blocks in if matches!(writer.wrote, Wrote::Folder(_)) { &["0", "1"][..] } else { &["0"] } {
            let (_folder, root, log) = ground();
            let (place, _) = writer.place(&root.join("work"));
            if let Wrote::File(_) = writer.wrote {
                fs::create_dir(root.join("work")).unwrap();
            }
            let before = snapshot(&root);
            let mut limited = Command::new("sh");
            limited.args(["-c", &format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")]).arg(support::program());
            limited.args(writer.words(&log, &place)).current_dir(&root).env("CTXSIM_CONFIG", "").env("HOME", root.join("home"));
            let output = limited.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{} with {blocks}: {said}", writer.name());
            assert!(said.contains("File too large"), "{}: {said}", writer.name());
            assert!(before == snapshot(&root), "{} with {blocks} leaves something", writer.name());
        }
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    for writer in &WRITERS {
        let (_folder, root, log) = ground();
        let work = root.join("work");
        fs::create_dir_all(&work).unwrap();
        fs::set_permissions(&work, fs::Permissions::from_mode(0o555)).unwrap();
        if fs::write(work.join("probe"), "").is_ok() {
            return skip("CTXSIM_REQUIRE_ACCOUNT", "this account writes into folders that are read-only");
        }
        let (place, _) = writer.place(&work);
        assert!(assert_refused(&writer.name(), &root, &writer.words(&log, &place)).contains("cannot be written"));
    }
}

/// Ctrl-C, the signal that ends services and that of a closed terminal, while files wait beside their places.
#[test]
fn an_interrupt_leaves_whole_files_or_none() {
    use rustix::process::{Pid, Signal, kill_process};
    let mut caught = 0;
    let signals = [[Signal::INT, Signal::TERM], [Signal::INT, Signal::HUP]].into_iter().cycle();
    for (writer, signals) in WRITERS.iter().zip(signals) {
        let (_folder, root, log) = ground();
        let (place, file) = writer.place(&root.join("work"));
        fs::create_dir(root.join("work")).unwrap();
        assert!(matches!(run(&root, &writer.words(&log, &place)).status.code(), Some(0 | 1)), "{}", writer.name());
        let (whole, first) = (snapshot(&root), fs::read(&file).unwrap());
        for signal in signals {
            fs::remove_dir_all(root.join("work")).unwrap();
            fs::create_dir(root.join("work")).unwrap();
            let mut child = program(&root).args(writer.words(&log, &place)).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            let begun = Instant::now();
            let has_begun = || fs::read_dir(root.join("work")).unwrap().next().is_some();
            while !has_begun() && child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_micros(100));
            }
            if child.try_wait().unwrap().is_none() {
                kill_process(Pid::from_child(&child), signal).unwrap();
            }
            let ended = child.wait().unwrap();
            caught += u64::from(!ended.success() && ended.code().is_none());
            for (path, what) in snapshot(&root.join("work")) {
                // Rows are written as they are known, and gone on with: what is there is a beginning of the whole.
                let is_beginning = writer.option == "--rows" && first.starts_with(&fs::read(&path).unwrap());
                assert!(whole.get(&path) == Some(&what) || is_beginning, "{}: {} is left", writer.name(), path.display());
            }
            // And nothing stands in the way of the next run.
            let again = run(&root, &forced(writer.words(&log, &place)));
            assert!(matches!(again.status.code(), Some(0 | 1)), "{}: {}", writer.name(), String::from_utf8_lossy(&again.stderr));
        }
    }
    assert!(caught > 0, "no run was ended while it wrote");
}
