//! The rules of the house, kept by reading its source: who may know whom, and what no room may hold.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The floors from the ground up. A room may use those of lower floors alone; rooms of one floor are strangers to each other.
const FLOORS: [&[&str]; 15] = [
    &["units", "reading", "statistics"],
    &["catalog"],
    &["transcript"],
    &["trace"],
    &["format"],
    &["estimate"],
    &["context"],
    &["policy", "measure"],
    &["sim"],
    &["cost"],
    &["experiment"],
    &["report"],
    &["render"],
    &["cli"],
    &["main"],
];

/// What a room may not use although it lies lower. A policy cannot look at the truth.
const FORBIDDEN: [(&str, &[&str]); 4] = [
    ("policy", &["trace", "measure", "format"]),
    ("catalog", &["transcript"]),
    ("transcript", &["catalog"]),
    ("format", &["trace", "catalog", "estimate"]),
];

/// What the formats share. All else under `src/format` is a format, and knows no other.
const SHARED_BY_FORMATS: [&str; 21] = [
    "anthropic",
    "blocks",
    "branches",
    "chat",
    "count",
    "exchange",
    "google",
    "image",
    "json",
    "lines",
    "marks",
    "outline",
    "pieces",
    "source",
    "sqlite",
    "time",
    "usage",
    "words",
    "yaml",
    "zstd",
    "mod",
];

/// Breaches that are known, each with the reason why it stands: the path below `src`, and a part of the line, or `length`.
const ALLOWED: [(&str, &str); 2] = [
    // Being rewritten when this test was written: both are to be cut into files of their own, and these lines to go.
    ("context.rs", "length"),
    ("policy/plan.rs", "length"),
];

/// Only these may print, ask for the environment or the time, or end the process.
const OUTWARD: [&str; 2] = ["cli/", "main.rs"];

struct Code {
    /// Below `src`, with slashes.
    name: String,
    /// Number and text of each line before the tests of the file, comments left out.
    lines: Vec<(usize, String)>,
    /// Lines in all.
    length: usize,
}

impl Code {
    fn room(&self) -> &str {
        self.name.split(['/', '.']).next().unwrap()
    }

    /// Lines with any of these marks that are not allowed by name.
    fn lines_with<'c>(&'c self, marks: &'c [&str]) -> impl Iterator<Item = String> + 'c {
        let marked = self.lines.iter().filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)));
        let allowed = |line: &str| ALLOWED.iter().any(|(name, part)| *name == self.name && line.contains(part));
        marked.filter(move |(_, line)| !allowed(line)).map(|(number, line)| format!("src/{}:{number}: {}", self.name, line.trim()))
    }
}

fn code() -> Vec<Code> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![source.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
                let before_tests = text.lines().enumerate().take_while(|(_, line)| line.trim() != "#[cfg(test)]");
                let lines = before_tests.filter(|(_, line)| !line.trim_start().starts_with("//"));
                found.push(Code { name, lines: lines.map(|(at, line)| (at + 1, line.to_owned())).collect(), length: text.lines().count() });
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(found.len() > 20);
    found
}

fn assert_none(breaches: Vec<String>) {
    assert!(breaches.is_empty(), "\n{}", breaches.join("\n"));
}

/// The rooms that a line names: `crate::room`, `ctxsim::room`, and each of `use crate::{room, other::Thing}`.
fn rooms_of(line: &str) -> Vec<&str> {
    let mut rooms = Vec::new();
    for (at, _) in line.match_indices("crate::").chain(line.match_indices("ctxsim::")) {
        let path = line[at..].split_once("::").unwrap().1;
        match path.strip_prefix('{') {
            Some(list) => {
                let mut depth = 0;
                let outer = list.split(|character: char| {
                    depth += i32::from(character == '{') - i32::from(character == '}');
                    depth == 0 && character == ','
                });
                rooms.extend(outer.map(|item| first_word(item.trim())));
            }
            None => rooms.push(first_word(path)),
        }
    }
    rooms
}

fn first_word(text: &str) -> &str {
    text.split(|character: char| !character.is_alphanumeric() && character != '_').next().unwrap()
}

#[test]
fn every_arrow_between_rooms_points_down() {
    let floor = |room: &str| FLOORS.iter().position(|rooms| rooms.contains(&room));
    let mut breaches = Vec::new();
    for code in code() {
        let Some(here) = floor(code.room()) else {
            assert_eq!(code.name, "lib.rs", "a room without a floor");
            continue;
        };
        for line in code.lines_with(&["crate::", "ctxsim::"]) {
            let text = line.split_once(": ").unwrap().1;
            for room in rooms_of(text).into_iter().filter(|room| *room != code.room()) {
                let forbidden = FORBIDDEN.iter().any(|(above, below)| *above == code.room() && below.contains(&room));
                if forbidden || floor(room).is_some_and(|there| there >= here) {
                    breaches.push(format!("{line}  ({} may not use {room})", code.room()));
                }
            }
        }
    }
    assert_none(breaches);
}

#[test]
fn names_of_rooms_are_found_in_any_form_of_use() {
    assert_eq!(rooms_of("use crate::format::{self, Claim};"), ["format"]);
    assert_eq!(rooms_of("use crate::{units::{Size, Tokens}, trace};"), ["units", "trace"]);
    assert_eq!(rooms_of("fn f(a: crate::trace::Trace, b: &crate::units::Tokens)"), ["trace", "units"]);
}

#[test]
fn no_format_knows_another() {
    let mut breaches = Vec::new();
    for code in code().iter().filter(|code| code.room() == "format") {
        let inside = code.name.trim_start_matches("format/");
        let own = inside.split(['/', '.']).next().unwrap();
        let is_format = |name: &str| !SHARED_BY_FORMATS.contains(&name) && name.starts_with(|first: char| first.is_lowercase());
        // The ground stands below all formats, and knows none either; the list of readers knows them all.
        if own == "mod" {
            continue;
        }
        // A file of the format's own folder reaches the ground by the crate's name; in the folder of formats, by `super`.
        let marks: &[&str] =
            if inside.contains('/') { &["crate::format::", "super::super::super::"] } else { &["super::", "crate::format::"] };
        let marks: &[&str] = if inside == format!("{own}/mod.rs") { &["super::", "crate::format::"] } else { marks };
        for line in code.lines_with(marks) {
            for mark in marks {
                for (at, _) in line.match_indices(mark) {
                    let name = first_word(&line[at + mark.len()..]);
                    let children = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/format");
                    let exists = children.join(name).is_dir() || children.join(format!("{name}.rs")).is_file();
                    if exists && is_format(name) && name != own {
                        breaches.push(format!("{line}  ({own} may not use {name})"));
                    }
                }
            }
        }
    }
    assert_none(breaches);
}

#[test]
fn files_are_short_and_named_for_what_they_are() {
    let mut breaches = Vec::new();
    for code in code() {
        if code.length > 500 && !ALLOWED.contains(&(code.name.as_str(), "length")) {
            breaches.push(format!("src/{} has {} lines", code.name, code.length));
        }
        let parts = code.name.trim_end_matches(".rs").split('/');
        if parts.clone().any(|part| ["utils", "util", "helpers", "common", "types", "errors"].contains(&part)) {
            breaches.push(format!("src/{} is named for nothing", code.name));
        }
    }
    assert_none(breaches);
}

#[test]
fn nothing_can_panic_and_nothing_is_unsafe() {
    let marks =
        [".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!(", "unreachable!(", "unsafe {", "unsafe fn", "unsafe impl", "dbg!("];
    assert_none(code().iter().flat_map(|code| code.lines_with(&marks).collect::<Vec<_>>()).collect());
}

#[test]
fn only_the_command_speaks_to_the_outside() {
    let marks = ["println!(", "print!(", "std::env", "env::var", "process::exit", "SystemTime::now", "Instant::now", "Timestamp::now"];
    let inward = code().into_iter().filter(|code| !OUTWARD.iter().any(|outward| code.name.starts_with(outward)));
    assert_none(inward.flat_map(|code| code.lines_with(&marks).collect::<Vec<_>>()).collect());
}

/// Whatever is written goes through the door. Readers copy databases into a temporary folder that is theirs.
#[test]
fn only_the_door_writes_files() {
    let marks = [
        "fs::write",
        "File::create",
        "OpenOptions",
        "create_dir",
        "fs::rename",
        "remove_file",
        "remove_dir",
        "fs::copy",
        "hard_link",
        "fs::symlink(",
        "set_permissions",
        "set_len(",
        "tempfile",
        "tempdir",
        "NamedTempFile",
    ];
    let others = code().into_iter().filter(|code| !code.name.starts_with("cli/door/") && code.name != "format/sqlite/opened.rs");
    assert_none(others.flat_map(|code| code.lines_with(&marks).collect::<Vec<_>>()).collect());
}

/// Paths of a machine and addresses of registries say where the project was made, which is nobody's business. The lock file is cargo's.
#[test]
fn no_file_names_a_machine() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Ok(listed) = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output() else {
        return println!("skipped: no git");
    };
    if !listed.status.success() {
        return println!("skipped: not a working copy of git");
    }
    // Put together here, so that this file does not hold them.
    let marks =
        [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat(), ["/tmp", "/bash"].concat(), ["/Use", "rs/"].concat(), ["farm", "-"].concat()];
    let marks = marks.into_iter().chain([["art", "ifactory"].concat(), ["nex", "us."].concat(), [".libr", "ary/"].concat()]);
    let marks: Vec<String> = marks.collect();
    let mut breaches = Vec::new();
    for name in String::from_utf8_lossy(&listed.stdout).split('\0').filter(|name| !name.is_empty() && *name != "Cargo.lock") {
        let Ok(bytes) = std::fs::read(root.join(name)) else { continue };
        for mark in &marks {
            if let Some(at) = memchr::memmem::find(&bytes, mark.as_bytes()) {
                let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
                let context = String::from_utf8_lossy(&bytes[at.saturating_sub(30)..bytes.len().min(at + 40)]).replace('\n', " ");
                breaches.push(format!("{name}:{line}: {mark} in: {context}"));
            }
        }
    }
    assert_none(breaches);
}
