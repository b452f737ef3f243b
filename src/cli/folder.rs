//! Where a report of several files may be written.

use super::failure::Failure;
use ctxsim::experiment::homes;
use ctxsim::render::GENERATOR;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// May files be written among others that are no report?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strangers {
    /// They may.
    Accepted,
    /// They may not.
    Refused,
}

/// Nothing is written among an agent's logs, and nothing among files of others unless somebody insists.
pub fn check(folder: &Path, strangers: Strangers) -> Result<(), Failure> {
    let agents = homes(&|name| std::env::var(name).ok());
    let real = resolved(folder);
    if let Some(home) = agents.iter().find(|home| real.starts_with(resolved(&home.path))) {
        let sentence = format!("{} lies among the logs of {}, where nothing is ever written", folder.display(), home.agent);
        return Err(Failure::Usage(sentence));
    }
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    match is_empty || strangers == Strangers::Accepted || is_report(folder) {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "{} holds other things than a report of ctxsim: name another folder with -o, or write among them with --force",
            folder.display()
        ))),
    }
}

/// A path without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut missing = Vec::new();
    let mut there = whole.as_path();
    loop {
        if let Ok(real) = there.canonicalize() {
            return missing.iter().rev().fold(real, |path, name| path.join(name));
        }
        let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else { return whole };
        missing.push(name.to_owned());
        there = parent;
    }
}

/// Does the folder hold a page that ctxsim made?
fn is_report(folder: &Path) -> bool {
    let mut head = Vec::new();
    let read = fs::File::open(folder.join("index.html")).and_then(|file| file.take(4096).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains(GENERATOR)
}
