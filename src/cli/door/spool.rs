//! Files that wait beside their places, and what becomes of them when the run is ended from outside.

use super::spot::{Spot, There};
use crate::cli::content::{Content, Unwritten};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, NamedTempFile, TempDir};

/// How the names of waiting files begin and end. Between them stand random letters, so that no other program can put a link there first.
const ENDS: (&str, &str) = (".ctxsim-", ".part");

/// What was made and is not in place yet.
#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
    /// In the order in which they were made.
    folders: Vec<PathBuf>,
    scratch: Vec<PathBuf>,
    watched: bool,
}

/// All of it, shared with the thread that waits for signals.
#[derive(Clone, Default)]
pub struct Spool(Arc<Mutex<Made>>);

/// A file that is whole and waits beside its place. One that is never put there is removed.
pub struct Waiting {
    file: NamedTempFile<File>,
    hash: Vec<u8>,
    place: PathBuf,
    there: There,
}

impl Waiting {
    /// The SHA-256 of what it holds.
    pub fn hash(&self) -> &[u8] {
        &self.hash
    }
}

/// A file that is hashed as it is written.
struct Hashed<'a>(&'a mut File, Sha256);

impl Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1.update(bytes.get(..written).unwrap_or_default());
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A folder that is removed when it is no longer needed.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file into it, or into folders below it, which are made. A name that leads elsewhere is refused.
    pub fn write(&self, name: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
        let name = name.as_ref();
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the name leads out of its folder"));
        }
        if let Some(folder) = name.parent() {
            fs::create_dir_all(self.path().join(folder))?;
        }
        OpenOptions::new().write(true).create_new(true).open(self.path().join(name))?.write_all(bytes)
    }
}

impl Spool {
    fn made(&self) -> MutexGuard<'_, Made> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !made.watched {
            made.watched = true;
            let spool = self.clone();
            at_the_end(Box::new(move || {
                let mut made = spool.0.lock().unwrap_or_else(PoisonError::into_inner);
                made.take_back();
                // Locked until the end: nothing more is made.
                std::mem::forget(made);
            }));
        }
        made
    }

    /// Writes a file beside its place.
    pub fn write(&self, spot: &Spot, content: &Content<'_>) -> Result<Waiting, Unwritten> {
        let folder = spot.real.parent().unwrap_or(&spot.real);
        // A name stands in the list before a signal can end the run: the list is locked until it does.
        let mut made = self.made();
        let file = Builder::new().prefix(ENDS.0).suffix(ENDS.1).rand_bytes(16).make_in(folder, |path| {
            let file = OpenOptions::new().write(true).create_new(true).open(path)?;
            made.files.push(path.to_owned());
            Ok(file)
        });
        drop(made);
        let mut file = file.map_err(Unwritten::Place)?;
        // The file itself: an error then names its place, and not where it waits.
        let mut hashed = Hashed(file.as_file_mut(), Sha256::new());
        content.write(&mut hashed)?;
        let hash = hashed.1.finalize().to_vec();
        file.as_file().sync_all().map_err(Unwritten::Place)?;
        Ok(Waiting { file, hash, place: spot.real.clone(), there: spot.there })
    }

    /// Puts files in place, all of them or, where a signal comes before, none. A place that was free must still be free.
    pub fn settle(&self, waiting: Vec<Waiting>) -> Result<(), (PathBuf, io::Error)> {
        let mut made = self.made();
        for one in waiting {
            let beside = one.file.path().to_owned();
            let failed = |error: tempfile::PersistError<File>| (one.place.clone(), error.error);
            if one.there == There::Nothing {
                if let Err(error) = one.file.persist_noclobber(&one.place) {
                    // Some file systems can neither link nor rename without replacing.
                    let is_taken = fs::symlink_metadata(&one.place).is_ok() || error.error.kind() == ErrorKind::AlreadyExists;
                    if is_taken {
                        return Err(failed(error));
                    }
                    error.file.persist(&one.place).map_err(failed)?;
                }
            } else {
                one.file.persist(&one.place).map_err(failed)?;
            }
            made.files.retain(|known| *known != beside);
        }
        made.folders.clear();
        Ok(())
    }

    /// Makes a folder and those above it.
    pub fn folder(&self, folder: &Path) -> io::Result<()> {
        let mut made = self.made();
        let mut missing: Vec<&Path> = folder.ancestors().take_while(|above| !above.as_os_str().is_empty() && !above.exists()).collect();
        while let Some(next) = missing.pop() {
            fs::create_dir(next)?;
            made.folders.push(next.to_owned());
        }
        Ok(())
    }

    /// Removes the folders that were made and hold nothing.
    pub fn take_back_folders(&self) {
        self.made().take_back_folders();
    }

    /// A folder for what is read in this run alone.
    pub fn scratch(&self) -> io::Result<Scratch> {
        let mut made = self.made();
        let folder = Builder::new().prefix("ctxsim-").tempdir()?;
        made.scratch.push(folder.path().to_owned());
        Ok(Scratch(folder))
    }
}

impl Made {
    fn take_back_folders(&mut self) {
        // One in which something else was put meanwhile stays.
        self.folders.drain(..).rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }

    /// Removes whatever is not in place.
    #[cfg(unix)]
    fn take_back(&mut self) {
        self.files.drain(..).for_each(|file| drop(fs::remove_file(file)));
        self.scratch.drain(..).for_each(|folder| drop(fs::remove_dir_all(folder)));
        self.take_back_folders();
    }
}

/// Is it a file that waited beside its place when a run was killed?
pub fn is_leftover(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with(ENDS.0) && name.ends_with(ENDS.1)
}

/// What is done before a signal ends the run.
type Ending = Box<dyn Fn() + Send>;

/// All of that. The first entry has begun to wait for signals.
static ENDINGS: Mutex<Vec<Ending>> = Mutex::new(Vec::new());

/// Does this before a signal ends the run.
pub fn before_the_end(run: fn()) {
    at_the_end(Box::new(run));
}

fn at_the_end(ending: Ending) {
    let mut endings = ENDINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if endings.is_empty() {
        watch();
    }
    endings.push(ending);
}

/// Waits for the signals that end a run, cleans up, and lets them end it.
#[cfg(unix)]
fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    // Who starts a program in the background may want it to go on at Ctrl-C, or when the terminal is closed.
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal))) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            ENDINGS.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|ending| ending());
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// Takes a limit on the size of files for an error of the write, which is said, and for no reason to be ended in the midst.
#[cfg(unix)]
pub fn withstand_limits() {
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Was the program started with this signal ignored? Where the system does not tell, it was not.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Elsewhere waiting files are removed where a run ends by itself, and ignored where it was ended.
#[cfg(not(unix))]
fn watch() {}

/// Elsewhere no signal comes.
#[cfg(not(unix))]
pub fn withstand_limits() {}
