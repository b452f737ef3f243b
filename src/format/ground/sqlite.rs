//! SQLite databases, read without a trace: nothing in the agent's folder is created, changed or locked.
//!
//! A database at rest is opened as `immutable`, which makes SQLite neither look for a log nor write one. What a running or crashed
//! agent has not merged yet lies in a write-ahead log; database and log are then copied to a folder of our own and merged there.

use super::source::Source;
#[cfg(not(feature = "sqlite"))]
use crate::reading;
use bytes::{defines, log_of, mentions_all};
use std::path::Path;

mod bytes;
#[cfg(feature = "sqlite")]
mod copy;
#[cfg(feature = "sqlite")]
mod log;
#[cfg(feature = "sqlite")]
mod opened;
mod place;

pub use place::has_magic;

#[cfg(feature = "sqlite")]
pub use copy::remove_copies;
#[cfg(feature = "sqlite")]
pub use opened::{Database, count, damaged, finds, loss_of, readable, tables_with, text};

/// Is this the log or the index of a database with these tables?
pub fn is_side_file(source: &Source, tables: &[&str]) -> bool {
    main_of(source).is_some_and(|main| holds(&main, tables))
}

/// The database whose log or index this is.
pub fn main_of(source: &Source) -> Option<Source> {
    let name = source.path.to_string_lossy();
    let main = name.strip_suffix("-wal").or_else(|| name.strip_suffix("-shm"))?;
    source.beside(Path::new(main)).ok().filter(|main| has_magic(main.head()))
}

/// Does the database hold these tables? Where it does not, they may still wait in its log.
pub fn holds(source: &Source, tables: &[&str]) -> bool {
    #[cfg(feature = "sqlite")]
    if opened::tables(&source.path).unwrap_or_default().iter().filter(|name| tables.contains(&name.as_str())).count() == tables.len() {
        return true;
    }
    #[cfg(not(feature = "sqlite"))]
    if mentions_all(reading::regular(&source.path), tables, defines) {
        return true;
    }
    tables.iter().all(|table| defines(source.head(), table)) || mentions_all(log_of(&source.path), tables, defines)
}

/// Why no reader claims this database; `None` for a file that is none. One that is cut off or damaged may not tell any more whose it was.
pub fn why_unclaimed(source: &Source) -> Option<String> {
    if !has_magic(source.head()) {
        return None;
    }
    #[cfg(feature = "sqlite")]
    if let Some(damage) = opened::damage(&source.path) {
        return Some(damage.to_string());
    }
    Some("is a SQLite database that no reader knows".to_owned())
}

/// Without SQLite nothing is found.
#[cfg(not(feature = "sqlite"))]
pub fn finds(_: &mut Source, _: &str, _: &str) -> bool {
    false
}

/// Without SQLite there is nothing to read.
#[cfg(not(feature = "sqlite"))]
pub fn read(
    _: &mut Source,
    _: &dyn crate::transcript::Scale,
    _: &mut dyn FnMut(crate::transcript::Transcript),
) -> Result<(), super::source::ReadError> {
    Err(super::source::ReadError::Damaged("this build reads no SQLite".to_owned()))
}
