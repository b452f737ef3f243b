//! The rules of the house, kept by reading its source: who may know whom, and what no room may hold.

use crate::support::{project, skip};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

/// The floors from the ground up. A room may use those of lower floors alone; rooms of one floor are strangers to each other.
const FLOORS: [&[&str]; 15] = [
    &["units", "names", "reading", "statistics", "list", "decode"],
    &["catalog"],
    &["transcript"],
    &["trace"],
    &["format"],
    &["estimate"],
    &["context"],
    &["policy", "measure"],
    &["advice", "sim"],
    &["corpus", "cost"],
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

/// The folders of formats. What lies directly in them is a format, and knows no other.
const FORMATS: [&str; 3] = ["agents", "benchmarks", "traffic"];

/// Breaches that are known, each with the reason why it stands: the path below `src`, and a part of the line, or `length`.
const ALLOWED: [(&str, &str); 0] = [];

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

    /// Its path among the modules.
    fn module(&self) -> Vec<String> {
        let name = self.name.trim_end_matches(".rs");
        segments(&name.strip_suffix("/mod").unwrap_or(name).replace('/', "::"))
    }

    /// The modules that it names, by `use` or in a path.
    fn used(&self, modules: &BTreeSet<Vec<String>>) -> BTreeSet<Vec<String>> {
        let text: String = self.lines.iter().map(|(_, line)| format!("{line}\n")).collect();
        let own = self.module();
        let mut found = BTreeSet::new();
        let mut paths = Vec::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find("use ") {
            let begins = rest[..at].chars().next_back().is_none_or(char::is_whitespace);
            rest = &rest[at + 4..];
            if begins && let Some((tree, _)) = rest.split_once(';') {
                let tree = tree.split_whitespace().collect::<Vec<_>>().join(" ");
                paths.extend(
                    leaves(&tree).into_iter().filter(|path| {
                        path.chars().all(|letter| letter == '_' || letter == ':' || letter == '*' || letter.is_alphanumeric())
                    }),
                );
            }
        }
        for start in ["crate::", "ctxsim::", "super::"] {
            for (at, _) in text.match_indices(start) {
                let inside = text[..at].ends_with("::") || text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
                let path = text[at..].split(|letter: char| letter != '_' && letter != ':' && !letter.is_alphanumeric()).next().unwrap();
                if !inside && !path.ends_with("::") {
                    paths.push(path.to_owned());
                }
            }
        }
        for path in paths {
            let path = segments(&path);
            let ups = path.iter().take_while(|segment| *segment == "super").count();
            let mut full = match path.first().map(String::as_str) {
                Some("crate" | "ctxsim") => path[1..].to_vec(),
                Some("super") if ups <= own.len() => [&own[..own.len() - ups], &path[ups..]].concat(),
                Some("self") => [&own[..], &path[1..]].concat(),
                _ => [&own[..], &path[..]].concat(),
            };
            let named = full.len();
            while !full.is_empty() && !modules.contains(&full) {
                full.pop();
            }
            // A path that begins with neither is one of a library, unless it leads to a module below.
            if !full.is_empty()
                && (full.len() > own.len() || named == full.len() || ["crate", "ctxsim", "super", "self"].contains(&path[0].as_str()))
            {
                found.insert(full);
            }
        }
        found
    }

    /// Lines with any of these marks that are not allowed by name.
    fn lines_with<'c>(&'c self, marks: &'c [&str]) -> impl Iterator<Item = String> + 'c {
        let marked = self.lines.iter().filter(|(_, line)| marks.iter().any(|mark| line.contains(mark)));
        let allowed = |line: &str| ALLOWED.iter().any(|(name, part)| *name == self.name && line.contains(part));
        marked.filter(move |(_, line)| !allowed(line)).map(|(number, line)| format!("src/{}:{number}: {}", self.name, line.trim()))
    }
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(str::to_owned).collect()
}

/// Each path of a tree of `use`: `a::{self, b::{c as d}}` gives `a` and `a::b::c`.
fn leaves(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap().trim();
        return vec![path.strip_suffix("::self").unwrap_or(path).to_owned()];
    };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let mut depth = 0;
    let items = inner.split(|letter: char| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        depth == 0 && letter == ','
    });
    items.map(str::trim).filter(|item| !item.is_empty()).flat_map(|item| leaves(&format!("{}{item}", before.trim()))).collect()
}

fn code() -> Vec<Code> {
    let source = project().join("src");
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
    let all = code();
    let modules: BTreeSet<Vec<String>> = all.iter().map(Code::module).collect();
    let format_of = |module: &[String]| match module {
        [room, family, format, ..] if room == "format" && FORMATS.contains(&family.as_str()) => Some(format.clone()),
        _ => None,
    };
    let mut breaches = Vec::new();
    for code in all.iter().filter(|code| code.room() == "format") {
        let own = format_of(&code.module());
        let is_list = code.name == "format/mod.rs";
        for other in code.used(&modules).iter().filter_map(|module| format_of(module)) {
            if !is_list && own.as_ref() != Some(&other) {
                breaches.push(format!("src/{} may not use {other}", code.name));
            }
        }
    }
    assert_none(breaches);
}

/// What each module uses of its own room.
fn uses_within_rooms(all: &[Code]) -> Uses {
    let modules: BTreeSet<Vec<String>> = all.iter().map(Code::module).collect();
    let mut uses = Uses::new();
    for code in all {
        let own = code.module();
        let used = code.used(&modules).into_iter().filter(|module| module.first() == own.first() && *module != own);
        uses.entry(own.clone()).or_default().extend(used);
    }
    uses
}

type Uses = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

/// The modules from which `uses` leads back to themselves.
fn on_circles(uses: &Uses) -> Vec<String> {
    let is_on_one = |module: &&Vec<String>| {
        let mut reached = BTreeSet::new();
        let mut waiting: Vec<&Vec<String>> = uses[*module].iter().collect();
        while let Some(module) = waiting.pop() {
            if reached.insert(module) {
                waiting.extend(uses.get(module).into_iter().flatten());
            }
        }
        reached.contains(module)
    };
    uses.keys().filter(is_on_one).map(|module| module.join("::")).collect()
}

/// A file that uses another one of its room, which uses it, cannot be understood by itself. What a module's own file hands on (`pub use`) counts as
/// use of it, and what stands in `tests` does not count.
#[test]
fn no_circle_within_a_room() {
    assert_none(on_circles(&uses_within_rooms(&code())));
}

/// The same where a folder is one thing to what lies beside it, at any depth.
fn contracted(uses: &Uses) -> Uses {
    let mut folders = Uses::new();
    for (own, other) in uses.iter().flat_map(|(own, used)| used.iter().map(move |other| (own, other))) {
        let shared = own.iter().zip(other).take_while(|(own, other)| own == other).count();
        // A folder's own file uses what lies in the folder: that is no arrow between neighbours.
        if shared < own.len().min(other.len()) {
            folders.entry(own[..=shared].to_vec()).or_default().insert(other[..=shared].to_vec());
        }
    }
    folders
}

#[test]
fn no_circle_between_folders() {
    assert_none(on_circles(&contracted(&uses_within_rooms(&code()))));
    let path = |path: &str| segments(path);
    let uses = [("a::b::c", "a::d"), ("a::d", "a::b::e"), ("a::b", "a::b::c")];
    let uses = uses.iter().map(|(own, other)| (path(own), BTreeSet::from([path(other)]))).collect();
    assert_eq!(on_circles(&uses), [""; 0]);
    assert_eq!(on_circles(&contracted(&uses)), ["a::b", "a::d"]);
}

#[test]
fn what_a_file_uses_is_found() {
    let modules: BTreeSet<Vec<String>> = ["a", "a::b", "a::c", "a::c::d", "e"].iter().map(|path| segments(path)).collect();
    let text = "use super::c::{self, d::{Thing as Other, more}};\nuse crate::e::Room;\nfn f(x: super::c::d::X) { crate::a::b::go() }";
    let lines = text.lines().enumerate().map(|(at, line)| (at, line.to_owned())).collect();
    let code = Code { name: "a/b.rs".to_owned(), lines, length: 3 };
    let used: Vec<String> = code.used(&modules).iter().map(|module| module.join("::")).collect();
    assert_eq!(used, ["a::b", "a::c", "a::c::d", "e"]);
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

/// Whatever is written goes through the door. Readers copy databases into a temporary folder that is theirs, and long lists have a temporary file without a name.
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
    let theirs = ["cli/door/", "format/ground/sqlite/", "list/spill.rs"];
    let others = code().into_iter().filter(|code| !theirs.iter().any(|name| code.name.starts_with(name)));
    assert_none(others.flat_map(|code| code.lines_with(&marks).collect::<Vec<_>>()).collect());
}

/// Paths of a machine and addresses of registries say where the project was made, which no user needs to know. The lock file is cargo's.
#[test]
fn no_file_names_a_machine() {
    let root = project();
    let Ok(listed) = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output() else {
        return skip("CTXSIM_REQUIRE_PROGRAMS", "no git");
    };
    if !listed.status.success() {
        return skip("CTXSIM_REQUIRE_PROGRAMS", "not a working copy of git");
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
