//! The SQLite database of versions since 1.2.

use crate::format::ground::source::Source;
use crate::format::ground::sqlite;

#[cfg(feature = "sqlite")]
pub use super::rows::read;

/// The tables that make a database OpenCode's. The archived Go program of that name has `sessions` and `messages`.
const TABLES: [&str; 3] = ["session", "message", "part"];

/// Is this the log or the index of a database of OpenCode?
pub fn is_side_file(source: &Source) -> bool {
    sqlite::is_side_file(source, &TABLES)
}

/// Does the database hold OpenCode's tables? Where it does not, they may still wait in its log.
pub fn is_of_opencode(source: &Source) -> bool {
    sqlite::holds(source, &TABLES)
}

/// Without SQLite there is nothing to read.
#[cfg(not(feature = "sqlite"))]
pub use sqlite::read;
