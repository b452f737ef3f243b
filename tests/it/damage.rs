//! A damaged file gives the same figures or names what was lost: fixtures of every reader, damaged with fixed seeds.
//!
//! Small here; more by hand: `CTXSIM_DAMAGE=200 cargo test --release --test it damage::`. What damage cannot be known is listed in [`UNKNOWABLE`].

use crate::support::{Drawn, PlainScale, ctxsim, files, project};
use ctxsim::format::{READERS, Reader, Source};
use std::collections::BTreeSet;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    /// It ends within its last quarter, or anywhere.
    Cut,
    /// The same of the packed file.
    PackedCut,
    PackedFlip,
    /// Bytes that are no text.
    NoText,
    /// A block of zeros.
    Zeros,
    /// A value nested 20,000 deep, and one with a line to itself.
    Deep,
    /// Numbers as large as there are.
    Huge,
}

const ALL: [Damage; 7] = [Damage::Cut, Damage::PackedCut, Damage::PackedFlip, Damage::NoText, Damage::Zeros, Damage::Deep, Damage::Huge];

/// Damage that no reader can know of, with the reason.
const UNKNOWABLE: [(&str, Damage, &str); 3] = [
    ("aider", Damage::Zeros, "a line of plain text may hold anything"),
    ("aider", Damage::Cut, "a chat history is plain text: a shorter one is a whole one"),
    ("aider", Damage::Huge, "numbers in plain text are words"),
];

/// Readers whose fixtures are databases, folders, or files with losses of their own. Tests of their own damage them: `bad_databases`,
/// `a_damaged_write_ahead_log_is_named`, `format::damaged`.
const NOT_COVERED: [&str; 4] = ["cline", "crush", "openai-agents", "crewai"];

/// What must not become less without a word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Figures {
    messages: usize,
    calls: usize,
    prompts: u64,
    /// Line and reason of each.
    losses: BTreeSet<String>,
}

fn figures(reader: &Reader, path: &Path, bytes: Vec<u8>) -> Figures {
    let mut found = Figures::default();
    let Ok(mut source) = Source::from_reader(path, Box::new(Cursor::new(bytes))) else {
        return Figures { losses: ["refused".to_owned()].into(), ..found };
    };
    let read = (reader.read)(&mut source, &PlainScale { keep_content: false }, &mut |session| {
        found.messages += session.messages.len();
        let calls = session.messages.iter().filter_map(|message| message.call.as_deref()).chain(&session.side_calls);
        for usage in calls.filter_map(|call| call.usage) {
            found.calls += 1;
            found.prompts = found.prompts.saturating_add(usage.prompt);
        }
    });
    found.losses = source.losses().iter().map(|loss| format!("{loss:?}")).collect();
    // A file that gives nothing is named as skipped.
    if read.is_err() || found.messages == 0 {
        found.losses.insert("skipped".to_owned());
    }
    found
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The damaged bytes; `None` where the damage changes nothing that could be known, as at the end of a whole line.
fn damaged(bytes: &[u8], damage: Damage, drawn: &mut Drawn) -> Option<Vec<u8>> {
    let mut changed = bytes.to_vec();
    let place = drawn.below(bytes.len());
    match damage {
        Damage::Cut => {
            let end = if drawn.below(2) == 0 { place } else { bytes.len() - drawn.below(bytes.len() / 4) };
            changed.truncate(end);
            // A list of whole lines is a file too.
            let whole = |rest: &[u8]| rest.iter().find(|byte| !byte.is_ascii_whitespace()).is_none_or(|byte| matches!(byte, b'{' | b'['));
            let at_line = changed.iter().rev().find(|byte| **byte != b' ').is_none_or(|byte| *byte == b'\n');
            if (at_line && whole(&bytes[end..])) || serde_json::from_slice::<serde_json::Value>(last_line(&changed)).is_ok() {
                return None;
            }
        }
        Damage::PackedCut => {
            changed = packed(bytes);
            let end = changed.len() / 4 + drawn.below(changed.len() * 3 / 4 - 8);
            changed.truncate(end);
        }
        Damage::PackedFlip => {
            changed = packed(bytes);
            // The head of the packed file says nothing of its content.
            let at = 10 + drawn.below(changed.len() - 10);
            changed[at] ^= 1 << drawn.below(8);
        }
        Damage::NoText => {
            let bad: &[u8] = [&b"\xff\xfe"[..], b"\xc0\x80", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"][drawn.below(4)];
            changed.splice(place..place, bad.iter().copied());
        }
        Damage::Zeros => {
            let end = (place + 200).min(changed.len());
            changed[place..end].fill(0);
        }
        Damage::Deep => {
            let deep = [b"[".repeat(20_000), b"]".repeat(20_000), b"\n".to_vec()].concat();
            let at = bytes[..place].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
            changed.splice(at..at, deep);
        }
        Damage::Huge => {
            let key = [&b"input"[..], b"prompt", b"tokens"][drawn.below(3)];
            let found = bytes.windows(key.len()).enumerate().filter(|(_, window)| *window == key).map(|(at, _)| at).collect::<Vec<_>>();
            let at = *found.get(drawn.below(found.len()))?;
            let colon = at + bytes[at..].iter().position(|byte| *byte == b':')? + 1;
            let digit = colon + bytes[colon..].iter().take(2).position(u8::is_ascii_digit)?;
            let end = digit + bytes[digit..].iter().position(|byte| !byte.is_ascii_digit())?;
            changed.splice(digit..end, b"18446744073709551615".iter().copied());
        }
    }
    (changed != bytes).then_some(changed)
}

fn last_line(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default()
}

fn fixtures(reader: &Reader) -> Vec<PathBuf> {
    let data = project().join("tests/data");
    files(&data.join(reader.name))
        .into_iter()
        .filter(|path| path.is_file() && path.extension().is_none_or(|ending| ending != "sql"))
        .collect()
}

#[test]
fn damage_is_named_or_changes_nothing() {
    let tries = std::env::var("CTXSIM_DAMAGE").ok().and_then(|tries| tries.parse().ok()).unwrap_or(6);
    let mut unnamed = Vec::new();
    let mut runs = 0;
    let mut covered = BTreeSet::new();
    for reader in READERS {
        let read = fixtures(reader).into_iter().filter_map(|path| {
            let bytes = std::fs::read(&path).unwrap();
            let before = figures(reader, &path, bytes.clone());
            (before.messages > 0 && bytes.len() <= 1 << 20).then_some((path, bytes, before))
        });
        let mut read: Vec<_> = read.collect();
        // A loss that a file has already may hide a new one.
        if read.iter().any(|(_, _, before)| before.losses.is_empty()) {
            read.retain(|(_, _, before)| before.losses.is_empty());
        }
        for (path, bytes, before) in read {
            covered.insert(reader.name);
            for damage in ALL {
                if UNKNOWABLE.iter().any(|(name, known, _)| *name == reader.name && *known == damage) {
                    continue;
                }
                for seed in 0..tries {
                    let mut drawn = Drawn(seed * 7 + 1);
                    let Some(changed) = damaged(&bytes, damage, &mut drawn) else { continue };
                    let after = figures(reader, &path, changed);
                    runs += 1;
                    // A file that was cut off already, cut once more, says the same.
                    let less = after.messages < before.messages || after.calls < before.calls || after.prompts < before.prompts;
                    let more = after.prompts > before.prompts;
                    if (less || more)
                        && after.losses.is_subset(&before.losses)
                        && !after.losses.iter().any(|loss| loss.contains("cut off at"))
                    {
                        let name = path.file_name().unwrap().to_string_lossy().into_owned();
                        unnamed.push(format!("{} {name}: {damage:?} with seed {seed}: {before:?}, then {after:?}", reader.name));
                    }
                }
            }
        }
    }
    let missing: Vec<&str> = READERS.iter().map(|reader| reader.name).filter(|name| !covered.contains(name)).collect();
    println!("{runs} damaged files");
    assert!(runs > 500, "{runs}");
    assert_eq!(missing, NOT_COVERED);
    assert!(unnamed.is_empty(), "{} of {runs}:\n{}", unnamed.len(), unnamed.join("\n"));
}

/// Every byte of an archive, one bit at a time: its samples are as they were, or a loss is named.
#[test]
fn no_flipped_bit_of_an_archive_loses_a_sample_unnamed() {
    let reader = READERS.iter().find(|reader| reader.name == "inspect").unwrap();
    for name in ["log.eval", "zstd.eval"] {
        let path = project().join("tests/data/inspect").join(name);
        let bytes = std::fs::read(&path).unwrap();
        let before = figures(reader, &path, bytes.clone());
        assert!(before.losses.is_empty());
        let step = 1 + bytes.len() / 3_000;
        for place in (0..bytes.len()).step_by(step) {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << (place % 8);
            let after = figures(reader, &path, changed.clone());
            assert!(after == before || !after.losses.is_empty(), "{name}, byte {place}: {before:?}, then {after:?}");
            changed.truncate(place);
            let after = figures(reader, &path, changed);
            assert!(after == before || !after.losses.is_empty(), "{name}, cut at {place}: {before:?}, then {after:?}");
        }
    }
}

/// Every frame of a write-ahead log, flipped and cut: what is not merged is named.
#[cfg(feature = "sqlite")]
#[test]
fn a_damaged_write_ahead_log_is_named() {
    let statements = std::fs::read_to_string(project().join("tests/data/crush/crush.sql")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let made = folder.path().join("made.db");
    let connection = rusqlite::Connection::open(&made).unwrap();
    connection.execute_batch("PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;").unwrap();
    connection.execute_batch(&statements).unwrap();
    let (database, log) = (std::fs::read(&made).unwrap(), std::fs::read(folder.path().join("made.db-wal")).unwrap());
    let reader = READERS.iter().find(|reader| reader.name == "crush").unwrap();
    let path = folder.path().join("crush.db");
    let read = |log: &[u8]| {
        std::fs::write(&path, &database).unwrap();
        std::fs::write(folder.path().join("crush.db-wal"), log).unwrap();
        let mut messages = 0;
        let Ok(mut source) = Source::open(&path) else { return (0, true) };
        let read = (reader.read)(&mut source, &PlainScale { keep_content: false }, &mut |session| messages += session.messages.len());
        (messages, read.is_err() || source.losses().iter().any(|loss| loss.reason.contains("write-ahead log")))
    };
    let (whole, named) = read(&log);
    assert!(whole > 3 && !named);
    for place in (0..log.len()).step_by(1 + log.len() / 150) {
        let mut flipped = log.clone();
        flipped[place] ^= 4;
        let (messages, named) = read(&flipped);
        assert!(named || messages == whole, "byte {place} of {}: {messages} of {whole}", log.len());
        // A log of whole frames is a shorter log.
        if place > 32 && (place - 32) % 536 != 0 {
            let (messages, named) = read(&log[..place]);
            assert!(named || messages == whole, "cut at {place} of {}: {messages} of {whole}", log.len());
        }
    }
}

/// A program that was killed leaves the copy of a database behind; the next one removes it, and nothing that is in use.
#[cfg(all(feature = "sqlite", unix))]
#[test]
fn copies_that_a_killed_program_left_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("tmp");
    let names = ["ctxsim-database-gone", "ctxsim-database-used", "ctxsim-database-empty", "other"];
    for name in names {
        std::fs::create_dir_all(temporary.join(name)).unwrap();
    }
    for name in ["ctxsim-database-gone", "ctxsim-database-used"] {
        std::fs::write(temporary.join(name).join("copy"), "content").unwrap();
    }
    std::fs::write(temporary.join("ctxsim-database-gone/lock"), "").unwrap();
    let used = std::fs::File::create(temporary.join("ctxsim-database-used/lock")).unwrap();
    used.lock().unwrap();
    let (path, _agent) = waiting(folder.path(), "");
    ctxsim(&["inspect", &path.to_string_lossy(), "--quiet"]).env("TMPDIR", &temporary).code(0);
    let left = files(&temporary).into_iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect::<Vec<_>>();
    assert_eq!(left, ["ctxsim-database-empty", "ctxsim-database-used", "other"]);
}

/// A database whose content waits in its log, and the agent that has it open.
#[cfg(all(feature = "sqlite", unix))]
fn waiting(folder: &Path, more: &str) -> (PathBuf, rusqlite::Connection) {
    let path = folder.join("crush.db");
    let agent = rusqlite::Connection::open(&path).unwrap();
    agent.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;").unwrap();
    let statements = std::fs::read_to_string(project().join("tests/data/crush/crush.sql")).unwrap();
    agent.execute_batch(&format!("{statements};{more}")).unwrap();
    (path, agent)
}

/// A signal that ends a run while a copy is there.
#[cfg(all(feature = "sqlite", unix))]
#[test]
fn a_signal_leaves_no_copy_of_a_database() {
    use rustix::process::{Pid, Signal, kill_process};
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let (path, _agent) = waiting(folder.path(), "create table more (bytes blob); insert into more values (zeroblob(64 << 20));");
    let is_empty = || std::fs::read_dir(&temporary).unwrap().next().is_none();
    let mut child = ctxsim(&["inspect", &path.to_string_lossy(), "--quiet"]).env("TMPDIR", &temporary).command().spawn().unwrap();
    while is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_micros(100));
    }
    if child.try_wait().unwrap().is_none() {
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    }
    child.wait().unwrap();
    assert!(is_empty());
}
