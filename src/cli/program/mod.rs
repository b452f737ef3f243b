//! PROGRAMS THAT DECIDE FOR POLICIES: started from documents that are named on the command line, and from nowhere else.
//!
//! To read: `process` (one process, its limits), `pool` (who is asked, and what is known of the answers), `texts` (what it sees of logs), `kept`
//! (answers over runs). What is asked stands in the library's `policy` room.

mod kept;
mod pool;
mod process;
mod texts;

use super::door::{Door, SHOWS, WRITES, before_the_end};
use super::failure::{Failure, tell};
use super::shell::flag;
use crate::format::Reader;
use crate::policy::{Decider, Policy};
use clap::Args;
use pool::{Pool, PoolDecider, Settings};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use texts::Texts;
use xxhash_rust::xxh3::{xxh3_128, xxh3_128_with_seed};

/// Programs of policies: what they see, and where their answers are kept.
#[derive(Args, Clone, Debug, Default)]
pub struct Programs {
    /// Hand the texts of the logs to the programs of policies; without it they see lengths and names
    #[arg(long, help_heading = SHOWS)]
    pub with_content: bool,
    /// Keep the answers of policy programs in this folder and reuse them
    #[arg(long, value_name = "DIR", help_heading = WRITES)]
    program_cache: Option<PathBuf>,
}

/// All programs of this run, and the folders that their answers are kept in.
static STARTED: Mutex<Vec<(Arc<Pool>, Option<PathBuf>)>> = Mutex::new(Vec::new());

/// Does a project's file name the policies?
static BORROWED: OnceLock<bool> = OnceLock::new();

/// A run begins: no program is started where a project's file names the policies, and nothing is asked where answers cannot be kept in the folder
/// that is named for them.
pub fn begin(door: &Door, cache: Option<&Path>) -> Result<(), Failure> {
    let _ = BORROWED.set(door.typed("policies").is_err());
    cache.map_or(Ok(()), |folder| kept::may_keep(door, folder))
}

/// What becomes of a program's stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errors {
    Shown,
    Dropped,
}

impl Programs {
    /// The policy with its program, where it has one. `name` is how the document was named.
    pub fn attach(&self, policy: Policy, name: &str, reader: Option<&'static Reader>, errors: Errors) -> Result<Policy, Failure> {
        let Some(program) = policy.program() else { return Ok(policy) };
        if BORROWED.get() == Some(&true) {
            return Err(Failure::Usage(format!(
                "{name} starts a program, and stands in a project's file, which starts none: name it with --policy"
            )));
        }
        let folder = Path::new(name).parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = folder.canonicalize().map_err(|error| Failure::Usage(format!("{}: {error}", folder.display())))?;
        let key = key_of(&program.command, &folder);
        let settings = Settings {
            policy: policy.name.clone(),
            words: program.command,
            folder,
            patience: Duration::from_secs_f64(program.seconds),
            shows_errors: errors == Errors::Shown,
            texts: self.with_content.then(|| Texts::new(reader)),
            key,
        };
        let answers = self.program_cache.as_deref().map(|folder| kept::kept(folder, key)).unwrap_or_default();
        let broken = || Failure::Usage("the tokenizer for a program's texts cannot be loaded".to_owned());
        let pool = Pool::new(settings, answers).ok_or_else(broken)?;
        let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
        if started.is_empty() {
            before_the_end(|| STARTED.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|(pool, _)| pool.kill()));
        }
        started.push((Arc::clone(&pool), self.program_cache.clone()));
        Ok(policy.asking(Decider(Arc::new(PoolDecider(pool)))))
    }

    /// The options as they would be typed again, but for what does not change the report.
    pub fn words(&self) -> Vec<String> {
        flag("--with-content", self.with_content)
    }
}

/// A number for a command and the content of the files that it names.
fn key_of(words: &[String], folder: &Path) -> u128 {
    words.iter().fold(0, |key, word| {
        let content = std::fs::read(folder.join(word)).map_or(0, |bytes| xxh3_128(&bytes));
        let mixed = [&key.to_le_bytes()[..], &content.to_le_bytes(), word.as_bytes()].concat();
        xxh3_128_with_seed(&mixed, words.len() as u64)
    })
}

/// The run is over: says what went wrong, keeps answers, ends all programs.
pub fn end(door: &Door) -> Result<(), Failure> {
    let started = std::mem::take(&mut *STARTED.lock().unwrap_or_else(PoisonError::into_inner));
    let mut kept = Ok(());
    for (pool, folder) in &started {
        pool.dismiss();
        // What makes figures wrong is said even where `--quiet` is typed.
        pool.complaints().iter().for_each(|sentence| tell(sentence));
        if let Some(folder) = folder.as_deref().filter(|_| kept.is_ok()) {
            kept = kept::keep(door, folder, pool);
        }
    }
    kept
}
