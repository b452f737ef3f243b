//! Bytes in a temporary file. A corpus of many small sessions puts many small elements there and walks over them again and again, so that they are written
//! many at a time and read ahead.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Longer elements have no place in the file: a place has 24 bits for the length and 40 for the offset.
pub const LONGEST: usize = (1 << 24) - 1;

/// So many bytes are written at once, or more.
const WRITTEN: usize = 256 << 10;

/// So many bytes a walk reads at once.
const AHEAD: u64 = 64 << 10;

/// Walks that a thread reads ahead for: one may go over several lists at a time.
const WALKS: usize = 4;

thread_local! {
    static WALKING: RefCell<([Stretch; WALKS], usize)> = RefCell::default();
}

/// A file without a name, which is gone with the process.
pub struct Spill {
    file: File,
    /// What lies before this offset is in the file.
    written: AtomicU64,
    tail: Mutex<Tail>,
}

/// What is not in the file yet.
#[derive(Default)]
struct Tail {
    bytes: Vec<u8>,
    /// The file took no more: nothing comes behind these bytes, which stay in memory.
    full: bool,
}

/// A stretch of the file that a walk has read.
#[derive(Default)]
struct Stretch {
    start: u64,
    bytes: Vec<u8>,
}

impl Spill {
    /// An empty file; `None` where none can be made.
    pub fn new() -> Option<Spill> {
        // Offset 0 is no place.
        tempfile::tempfile().ok().map(|file| Spill { file, written: AtomicU64::new(1), tail: Mutex::default() })
    }

    /// Puts bytes behind all others: their place, or nothing where the file or a place cannot take them.
    pub fn put(&self, bytes: &[u8]) -> Option<NonZeroU64> {
        let mut tail = self.tail();
        if bytes.len() > LONGEST || tail.full {
            return None;
        }
        let offset = self.written.load(Ordering::Relaxed) + tail.bytes.len() as u64;
        let place = place(offset, bytes.len())?;
        if tail.bytes.len() + bytes.len() >= WRITTEN {
            tail.full = write_at(&self.file, &tail.bytes, offset - tail.bytes.len() as u64).is_err();
            if tail.full {
                return None;
            }
            tail.bytes.clear();
            self.written.store(offset, Ordering::Release);
        }
        // What is long is not copied first.
        if bytes.len() >= WRITTEN {
            write_at(&self.file, bytes, offset).ok()?;
            self.written.store(offset + bytes.len() as u64, Ordering::Release);
        } else {
            tail.bytes.extend_from_slice(bytes);
        }
        Some(place)
    }

    /// The bytes at a place.
    pub fn get(&self, place: u64) -> io::Result<Vec<u8>> {
        let (offset, length) = (place >> 24, place & LONGEST as u64);
        if offset + length > self.written.load(Ordering::Acquire) {
            let tail = self.tail();
            // They may have been written by now.
            if let Some(start) = offset.checked_sub(self.written.load(Ordering::Acquire)) {
                let range = start as usize..(start + length) as usize;
                return tail.bytes.get(range).map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into());
            }
        }
        WALKING.with_borrow_mut(|(walks, last)| {
            let within = |walk: &Stretch| walk.of(offset, length).map(<[u8]>::to_vec);
            if let Some(found) = walks.iter().find_map(within) {
                return Ok(found);
            }
            let goes_on = |walk: &Stretch| offset >= walk.start && offset < walk.start + walk.bytes.len() as u64 + AHEAD;
            let known = walks.iter().position(goes_on);
            let ahead = if known.is_some() { AHEAD } else { 0 };
            *last = known.unwrap_or((*last + 1) % WALKS);
            let Some(walk) = walks.get_mut(*last) else { return Err(io::ErrorKind::NotFound.into()) };
            walk.start = offset;
            walk.bytes.resize(length.max(ahead.min(self.written.load(Ordering::Acquire) - offset)) as usize, 0);
            if let Err(error) = read_at(&self.file, &mut walk.bytes, offset) {
                walk.bytes.clear();
                return Err(error);
            }
            walk.of(offset, length).map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
        })
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stretch {
    fn of(&self, offset: u64, length: u64) -> Option<&[u8]> {
        let start = offset.checked_sub(self.start)?;
        self.bytes.get(start as usize..(start + length) as usize)
    }
}

/// The place of so many bytes, never 0; nothing where it has too few bits for the offset.
fn place(offset: u64, length: usize) -> Option<NonZeroU64> {
    NonZeroU64::new(offset << 24 | length as u64).filter(|_| offset >> 40 == 0)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, offset)?;
        bytes = bytes.get(written..).filter(|_| written > 0).ok_or(std::io::ErrorKind::WriteZero)?;
        offset += written as u64;
    }
    Ok(())
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let rest = bytes.get_mut(done..).unwrap_or_default();
        match std::os::windows::fs::FileExt::seek_read(file, rest, offset + done as u64)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => done += read,
        }
    }
    Ok(())
}

#[cfg(not(any(unix, windows)))]
fn write_at(_: &File, _: &[u8], _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(not(any(unix, windows)))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
