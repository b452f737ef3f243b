//! Where reports and files may be written.

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
    outside_of_agents(folder)?;
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    match is_empty || strangers == Strangers::Accepted || is_report(folder) {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "{} holds other things than a report of ctxsim: name another folder with -o, or write among them with --force",
            folder.display()
        ))),
    }
}

/// The same for one file: what is there already is written over where it is of our `own` kind, or somebody insists.
pub fn check_file(file: &Path, strangers: Strangers, own: &dyn Fn(&Path) -> bool) -> Result<(), Failure> {
    outside_of_agents(file)?;
    if !file.is_file() || strangers == Strangers::Accepted || own(file) {
        return Ok(());
    }
    Err(Failure::Usage(format!("{} is there already: name another file with -o, or write over it with --force", file.display())))
}

fn outside_of_agents(place: &Path) -> Result<(), Failure> {
    let agents = homes(&|name| std::env::var(name).ok());
    let real = resolved(place);
    match agents.iter().find(|home| real.starts_with(resolved(&home.path))) {
        Some(home) => {
            let sentence = format!("{} lies among the logs of {}, where nothing is ever written", place.display(), home.agent);
            Err(Failure::Usage(sentence))
        }
        None => Ok(()),
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
