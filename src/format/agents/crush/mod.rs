//! Crush (`<project>/.crush/crush.db`) and the archived Go program of the name OpenCode (`<project>/.opencode/opencode.db`): SQLite
//! databases of one descent.
//!
//! Usage is kept per session, and is that of the last call, overwritten each time. For some providers what was read from the cache is
//! counted to the reply. It therefore says nothing of a single call, and is counted as such.

#[cfg(feature = "sqlite")]
mod rows;
#[cfg(feature = "sqlite")]
mod session;

use crate::format::ground::Source;
use crate::format::ground::sqlite;
use crate::format::reader::{Claim, Reader};

#[cfg(feature = "sqlite")]
use rows::read;
#[cfg(not(feature = "sqlite"))]
use sqlite::read;

/// Databases of Crush and of the archived Go OpenCode.
pub const READER: Reader =
    Reader { name: "crush", about: "Crush and the archived Go OpenCode (.crush/crush.db, .opencode/opencode.db)", claims, read };

/// The tables that make a database one of this family. Its migrations are kept by a tool that has the name of another agent.
const TABLES: [&str; 4] = ["sessions", "messages", "files", "goose_db_version"];

fn claims(source: &Source) -> Claim {
    if sqlite::has_magic(source.head()) {
        return Claim::when(sqlite::holds(source, &TABLES));
    }
    if sqlite::is_side_file(source, &TABLES) { Claim::Companion } else { Claim::No }
}
