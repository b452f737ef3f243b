//! Answers that are kept over runs, in a folder of the user's: one file for each program, by its command.

use super::pool::Pool;
use crate::cli::door::{Company, Door};
use crate::cli::failure::Failure;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The option that names the folder.
const OPTION: &str = "program-cache";

/// One line of the file.
#[derive(Deserialize, Serialize)]
struct Kept {
    /// A number for the question and all before it, in hexadecimal digits.
    q: String,
    /// The answer as it was given.
    a: String,
}

fn name(key: u128) -> String {
    format!("program-{key:032x}.jsonl")
}

/// The answers that a folder holds for a program; none where there is no such file. A line that is none is left out.
pub fn kept(folder: &Path, key: u128) -> HashMap<u128, Arc<[u8]>> {
    let text = crate::reading::text(&folder.join(name(key))).unwrap_or_default();
    let entry = |line: &str| {
        let Kept { q, a } = serde_json::from_str(line).ok()?;
        Some((u128::from_str_radix(&q, 16).ok()?, Arc::from(a.as_bytes())))
    };
    text.lines().filter_map(entry).collect()
}

/// May answers be kept in this folder?
pub fn may_keep(door: &Door, folder: &Path) -> Result<(), Failure> {
    door.folder(OPTION, folder, Company::Any, &[]).map(drop)
}

/// Keeps all answers of a program, where some are new.
pub fn keep(door: &Door, folder: &Path, pool: &Pool) -> Result<(), Failure> {
    if !pool.has_new() {
        return Ok(());
    }
    let mut text = String::new();
    for (key, answer) in pool.answers() {
        let Ok(answer) = std::str::from_utf8(&answer) else { continue };
        text += &serde_json::to_string(&Kept { q: format!("{key:x}"), a: answer.to_owned() }).unwrap_or_default();
        text.push('\n');
    }
    door.fill(OPTION, folder, Company::Any, &[(name(pool.settings().key), text.into())]).map(drop)
}
