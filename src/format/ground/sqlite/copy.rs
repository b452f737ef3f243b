//! Copies of databases that cannot be read in their place, in folders of our own that are removed with them.
//!
//! A program that is killed removes nothing. So each folder holds a file that its program has locked: a folder whose lock can be had belongs to a
//! program that is gone, and the next one removes it.

use super::place::beside;
use crate::reading;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// How the names of the folders begin.
const PREFIX: &str = "ctxsim-database-";

const LOCK: &str = "lock";

/// The folders that are there now.
static THERE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn there() -> MutexGuard<'static, Vec<PathBuf>> {
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// So often a folder is removed that something is still put into.
const TRIES: usize = 100;

/// Removes all copies of databases, for a signal that ends the run: no more are made. One that is being made may put a file into a folder that is half removed.
pub fn remove_copies() {
    let there = there();
    let is_gone = |folder: &PathBuf| fs::remove_dir_all(folder).is_ok() || !folder.exists();
    for folder in there.iter() {
        let _ = (0..TRIES).any(|_| is_gone(folder));
    }
    std::mem::forget(there);
}

/// A folder for the copy of one database.
pub struct CopyFolder {
    folder: TempDir,
    /// Held as long as the folder is needed.
    _lock: File,
}

impl CopyFolder {
    /// A new folder that no other user can read.
    pub fn new() -> io::Result<CopyFolder> {
        loop {
            let mut there = there();
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
            there.push(folder.path().to_owned());
            drop(there);
            remove_abandoned(folder.path());
            let lock = File::create(folder.path().join(LOCK))?;
            // Where files cannot be locked, nothing that was abandoned is removed either.
            let _ = lock.lock();
            // Another program may have taken it for abandoned before it was locked.
            if folder.path().join(LOCK).is_file() {
                return Ok(CopyFolder { folder, _lock: lock });
            }
        }
    }

    /// Copies what is read into a file of the folder: so many bytes. Where the folder is full, the error names it, for the log is not at fault.
    pub fn take(&self, mut read: impl io::Read, name: &str) -> io::Result<u64> {
        let copied = File::create(self.path().join(name)).and_then(|mut file| io::copy(&mut read, &mut file));
        copied.map_err(|error| match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                let above = self.path().parent().unwrap_or(self.path());
                io::Error::new(error.kind(), format!("the temporary folder {} has no room for its copy: {error}", above.display()))
            }
            _ => error,
        })
    }

    /// The path of the folder, which is removed with this value.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for CopyFolder {
    fn drop(&mut self) {
        there().retain(|folder| folder != self.folder.path());
    }
}

/// Removes the folders beside this one whose programs are gone. What cannot be removed stays.
fn remove_abandoned(own: &Path) {
    let Some(Ok(entries)) = own.parent().map(fs::read_dir) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| path != own) {
        let named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        let Some(lock) = (named && is_of_one_owner(&path, own)).then(|| reading::beside(&path.join(LOCK)).ok()).flatten() else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// A folder that another user has put there, and a link, are left alone.
fn is_of_one_owner(path: &Path, own: &Path) -> bool {
    let owner = |path: &Path| fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir).map(|data| owner_of(&data));
    owner(path).is_some_and(|one| owner(own) == Some(one))
}

#[cfg(unix)]
fn owner_of(data: &fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::uid(data)
}

#[cfg(not(unix))]
fn owner_of(_: &fs::Metadata) -> u32 {
    0
}

/// Copies the content of a database or of a file beside it: the copy of a file that is read-only must be writable.
pub fn copy(database: &Path, ending: &str, folder: &CopyFolder) -> io::Result<()> {
    let opened = if ending.is_empty() { reading::regular(database) } else { reading::beside(&beside(database, ending)) };
    match opened {
        Ok(file) => folder.take(file, &format!("copy{ending}")).map(|_| ()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}
