//! The SQLite database of versions since 1.2, read without a trace: nothing in the agent's folder is created, changed or locked.
//!
//! A database at rest is opened as `immutable`, which makes SQLite neither look for a log nor write one. What a running or crashed
//! agent has not merged yet lies in a write-ahead log; database and log are then copied to a folder of our own and merged there.

use crate::format::Source;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

#[cfg(feature = "sqlite")]
mod rows;

#[cfg(feature = "sqlite")]
pub use rows::read;

/// The tables that make a database OpenCode's. The archived Go program of that name has `sessions` and `messages`.
const TABLES: [&str; 3] = ["session", "message", "part"];

/// Is this the head of a SQLite database?
pub fn has_magic(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0")
}

/// Is this the log or the index of a database of OpenCode?
pub fn is_side_file(path: &Path) -> bool {
    let name = path.to_string_lossy();
    let main = name.strip_suffix("-wal").or_else(|| name.strip_suffix("-shm"));
    main.is_some_and(|main| Source::open(Path::new(main)).is_ok_and(|main| has_magic(main.head()) && is_of_opencode(&main)))
}

/// Does the database hold OpenCode's tables? Where it does not, they may still wait in its log.
pub fn is_of_opencode(source: &Source) -> bool {
    #[cfg(feature = "sqlite")]
    if rows::has_tables(&source.path) {
        return true;
    }
    #[cfg(not(feature = "sqlite"))]
    if mentions_tables(&source.path) {
        return true;
    }
    mentions(source.head(), &TABLES).iter().all(|found| *found) || mentions_tables(&log_of(&source.path))
}

/// Without SQLite there is nothing to read.
#[cfg(not(feature = "sqlite"))]
pub fn read(
    _: &mut Source,
    _: &dyn crate::transcript::Scale,
    _: &mut dyn FnMut(crate::transcript::Transcript),
) -> Result<(), crate::format::ReadError> {
    Err(crate::format::ReadError::Damaged("this build reads no SQLite".to_owned()))
}

fn log_of(database: &Path) -> PathBuf {
    beside(database, "-wal")
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Looks for the definitions of the tables in the bytes of a file: SQLite keeps them as text.
fn mentions_tables(path: &Path) -> bool {
    const CHUNK: usize = 1 << 20;
    const OVERLAP: usize = 64;
    let Ok(mut file) = File::open(path) else { return false };
    let mut window = Vec::new();
    let mut found = [false; TABLES.len()];
    loop {
        let kept = window.len().min(OVERLAP);
        window.drain(..window.len() - kept);
        match (&mut file).take(CHUNK as u64).read_to_end(&mut window) {
            Ok(read) if read > 0 => {}
            _ => return false,
        }
        for (found, here) in found.iter_mut().zip(mentions(&window, &TABLES)) {
            *found |= here;
        }
        if found.iter().all(|found| *found) {
            return true;
        }
    }
}

fn mentions(bytes: &[u8], tables: &[&str; 3]) -> [bool; 3] {
    tables.map(|table| {
        [format!("CREATE TABLE `{table}`"), format!("CREATE TABLE \"{table}\""), format!("CREATE TABLE {table} (")]
            .iter()
            .any(|definition| memchr::memmem::find(bytes, definition.as_bytes()).is_some())
    })
}
