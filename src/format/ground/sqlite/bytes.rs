//! What the bytes of a database and its log hold, where SQLite is not asked.

use super::place::beside;
use crate::reading;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The write-ahead log of a database.
pub fn log_of(path: &Path) -> io::Result<File> {
    reading::beside(&beside(path, "-wal"))
}

/// Looks for all of these in the bytes of a file, which are read in pieces.
pub fn mentions_all(file: io::Result<File>, sought: &[&str], mentions: fn(&[u8], &str) -> bool) -> bool {
    const CHUNK: usize = 1 << 20;
    const OVERLAP: usize = 64;
    let Ok(mut file) = file else { return false };
    let mut window = Vec::new();
    let mut awaited = sought.to_vec();
    loop {
        let kept = window.len().min(OVERLAP);
        window.drain(..window.len() - kept);
        match (&mut file).take(CHUNK as u64).read_to_end(&mut window) {
            Ok(read) if read > 0 => {}
            _ => return false,
        }
        awaited.retain(|text| !mentions(&window, text));
        if awaited.is_empty() {
            return true;
        }
    }
}

/// Do these bytes hold the definition of a table? SQLite keeps it as text.
pub fn defines(bytes: &[u8], table: &str) -> bool {
    ["TABLE `#`", "TABLE \"#\"", "TABLE # (", "VIRTUAL TABLE # "]
        .iter()
        .any(|form| contains(bytes, &format!("CREATE {}", form.replace('#', table))))
}

pub fn contains(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}
