//! How a database is known, and where its log lies.

use std::path::{Path, PathBuf};

/// Is this the head of a SQLite database?
pub fn has_magic(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0")
}

/// The log of a database lies beside the file itself, whatever links lead there.
pub fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.canonicalize().unwrap_or_else(|_| database.to_owned()).into_os_string();
    name.push(ending);
    PathBuf::from(name)
}
