//! Crush (`<project>/.crush/crush.db`) and the archived Go program of the name OpenCode (`<project>/.opencode/opencode.db`): SQLite
//! databases of one descent.
//!
//! Usage is kept per session, and is that of the last call, overwritten each time; before May 2025 the sum of all. For some providers what was read from the cache is
//! counted to the reply. It therefore says nothing of a single call, and is counted as such.

#[cfg(feature = "sqlite")]
mod rows;
#[cfg(feature = "sqlite")]
mod session;

use crate::format::ground::Source;
use crate::format::reader::{Claim, Reader};

#[cfg(not(feature = "sqlite"))]
use crate::format::ground::sqlite::read;
#[cfg(feature = "sqlite")]
use rows::read;

/// Databases of Crush and of the archived Go OpenCode.
pub const READER: Reader =
    Reader { name: "crush", about: "Crush and the archived Go OpenCode (.crush/crush.db, .opencode/opencode.db)", claims, read };

/// The tables that make a database one of this family. Its migrations are kept by a tool that has the name of another agent.
const TABLES: [&str; 4] = ["sessions", "messages", "files", "goose_db_version"];

fn claims(source: &Source) -> Claim {
    Claim::of_database(source, &TABLES).unwrap_or(Claim::No)
}
