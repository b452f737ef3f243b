//! Files that only grow: each write is in them whole, or not at all.

use super::spot::{Spot, There};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// A file or standard output that takes rows.
pub enum Rows {
    /// To a new file, or to standard output.
    New(Box<dyn Write>),
    /// Behind what a file holds already.
    There(File, PathBuf),
}

/// A file that holds whole writes alone.
pub struct Lines {
    file: File,
    place: PathBuf,
    whole: u64,
}

impl Lines {
    /// Goes on behind so many bytes; what follows them is cut off.
    pub fn behind(mut file: File, place: PathBuf, whole: u64) -> io::Result<Lines> {
        file.set_len(whole)?;
        file.seek(SeekFrom::Start(whole))?;
        Ok(Lines { file, place, whole })
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.file.write_all(bytes).and_then(|()| self.file.sync_data()) {
            // What is there in part is taken back; of a file without a single line nothing is left.
            let _ = self.file.set_len(self.whole);
            if self.whole == 0 {
                let _ = fs::remove_file(&self.place);
            }
            return Err(error);
        }
        self.whole += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A new file; one that is there and may be written over goes first.
pub(super) fn new(spot: &Spot) -> io::Result<Rows> {
    if spot.there == There::File {
        fs::remove_file(&spot.real)?;
    }
    let file = OpenOptions::new().write(true).create_new(true).open(&spot.real)?;
    Ok(Rows::New(Box::new(Lines { file, place: spot.real.clone(), whole: 0 })))
}

/// The file that is there.
pub(super) fn there(spot: &Spot) -> io::Result<Rows> {
    let file = OpenOptions::new().read(true).write(true).open(&spot.real)?;
    Ok(Rows::There(file, spot.real.clone()))
}
