//! SQLite databases: the bytes of one, or statements that make one. A database is opened by its path, so each input becomes a file.
#![no_main]

use ctxsim::format::{Claim, READERS, Source};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

const MAGIC: &[u8] = b"SQLite format 3\0";

/// One file for the whole run. `TMPDIR` may name a folder in memory.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| std::env::temp_dir().join(format!("ctxsim-fuzz-{}.db", std::process::id())));

/// Makes a database of statements, up to the first that is none. Nothing may be attached, and no statement runs long.
fn make(statements: &str) -> Option<()> {
    let mut connection = rusqlite::Connection::open(&*FILE).ok()?;
    connection.set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_ATTACHED, 0).ok()?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA max_page_count = 256").ok()?;
    connection.progress_handler(100_000, Some(|| true)).ok()?;
    let _ = connection.execute_batch(statements);
    Some(())
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = fs::remove_file(&*FILE);
    if bytes.starts_with(MAGIC) {
        let _ = fs::write(&*FILE, bytes);
    } else if let Ok(statements) = std::str::from_utf8(bytes) {
        let _ = make(statements);
    }
    let Ok(source) = Source::open(&FILE) else { return };
    for reader in READERS.iter().filter(|reader| (reader.claims)(&source) != Claim::No) {
        let Ok(source) = Source::open(&FILE) else { return };
        ctxsim_fuzz::read_source_with(reader, source);
    }
});
