//! The folders of agents and of their sessions. Nothing is ever written there.

use super::discover::{Home, homes};
use crate::format::{Source, sniff};
use std::fs;
use std::path::{Path, PathBuf};

/// Agents whose sessions lie where a project or an editor says, and in no folder of their own below the home.
const WITHOUT_HOME: [&str; 7] = ["aider", "baseagent", "crush", "deepseek-harness", "mycoder", "picoclaw", "vscode-chat"];

/// What the root of a project holds. Some agents keep their sessions there, among all that a person works on.
const ROOTS: [&str; 5] = [".git", ".hg", ".jj", ".svn", "ctxsim.toml"];

/// So many files of a folder are looked at.
const LOOKED_AT: usize = 1_000;

/// The agent in whose folder a place lies; `None` outside all of them. `place` has no links in it. It is the folder of an agent that [`homes`] knows, moved by the
/// variables or not, and that of its sessions below any other home, so that sessions of another account, or a copy of a home, are safe too.
pub fn store_of(place: &Path, variable: &dyn Fn(&str) -> Option<String>) -> Option<&'static str> {
    // Whoever moved a store by a variable may still have older sessions where it was.
    let unmoved = |name: &str| variable(name).filter(|_| matches!(name, "HOME" | "USERPROFILE" | "APPDATA"));
    let is_in = |folder: &Path| place.starts_with(folder) || folder.canonicalize().is_ok_and(|real| place.starts_with(real));
    let lies_in = |home: &Home| is_in(home.folder()) || is_in(&home.path);
    if let Some(home) = homes(variable).into_iter().chain(homes(&unmoved)).find(lies_in) {
        return Some(home.agent);
    }
    let anywhere = Path::new(if cfg!(windows) { "C:\\" } else { "/" });
    let at_root = |name: &str| (name == "HOME").then(|| anywhere.to_string_lossy().into_owned());
    homes(&at_root).into_iter().find_map(|home| {
        let below: Vec<_> = home.path.strip_prefix(anywhere).ok()?.components().collect();
        let parts: Vec<_> = place.components().collect();
        parts.windows(below.len().max(1)).any(|window| window == below.as_slice()).then_some(home.agent)
    })
}

/// A session that an agent keeps directly in this folder, and the agent; `None` where there is none, and for the root of a project. What is `ours` is
/// no agent's.
pub fn session_in(folder: &Path, ours: &dyn Fn(&Path) -> bool) -> Option<(&'static str, PathBuf)> {
    if ROOTS.iter().any(|name| folder.join(name).exists()) {
        return None;
    }
    // Neither a pipe nor a device is opened, and no link is followed.
    let is_plain = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let mut files: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().filter(is_plain).map(|entry| entry.path()).collect();
    files.sort();
    let agents = homes(&|name| (name == "HOME").then(|| "/".to_owned()));
    files.into_iter().take(LOOKED_AT).find_map(|file| {
        let name = sniff(&Source::open(&file).ok()?)?.0.name;
        let is_agent = WITHOUT_HOME.contains(&name) || agents.iter().any(|home| home.agent == name);
        (is_agent && !ours(&file)).then_some((name, file))
    })
}

/// Is the file a log that some reader knows, and no work of `ctxsim convert`?
pub fn is_log(file: &Path) -> bool {
    let claimed = Source::open(file).ok().and_then(|source| sniff(&source).map(|(reader, _)| reader.name));
    claimed.is_some_and(|name| !["native", "openai-chat"].contains(&name))
}
