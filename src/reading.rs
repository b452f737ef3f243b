//! THE DOOR FOR READING: every file that the program reads is opened here, by one rule.
//!
//! A file that is named is a regular file, behind a link or not, or a stream: standard input, a fifo, what a shell's `<(command)` names. A
//! file that lies beside a named one is a regular file and no link, so that a folder from outside can lead nowhere else. A device, a
//! socket and a folder are refused. How much is read has bounds.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How much is read at most. Each bound is raised by an option of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of one line, and of one document or record that has to be held as a whole.
    pub line: usize,
    /// Bytes that one packed file or one stream may come to.
    pub unpacked: u64,
    /// Lines of one file, and messages of one session.
    pub records: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { line: 64 << 20, unpacked: 4 << 30, records: 10_000_000 }
    }
}

/// A file of settings, prices or a policy holds no more bytes than this.
const LARGEST_TEXT: u64 = 16 << 20;

impl Bounds {
    /// The reason for the loss of a line, document or record that is larger than it may be.
    pub fn too_long(&self, what: &str) -> String {
        format!("{what} than {} (--max-line)", size(self.line as u64))
    }

    /// The reason for the loss of what lies behind the last line that is read.
    pub fn too_many_lines(&self) -> String {
        format!("more than {} lines (--max-records)", self.records)
    }

    /// The reason for the loss of a session that is longer than it may be.
    pub fn too_many_messages(&self) -> String {
        format!("session of more than {} messages (--max-records)", self.records)
    }

    /// The stream, which ends in an error where it comes to more than packed content may.
    pub fn bounded(&self, stream: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        Box::new(Bounded { stream, left: self.unpacked, most: self.unpacked })
    }
}

/// A number of bytes as people write it.
pub fn size(bytes: u64) -> String {
    let unit =
        [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")].into_iter().find(|(unit, _)| bytes > 0 && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes} bytes"), |(unit, name)| format!("{} {name}", bytes / unit))
}

/// Packed content or a stream that comes to more than it may.
#[derive(Debug, thiserror::Error)]
#[error("content of more than {} (--max-unpacked)", size(*.0))]
pub struct TooMuch(pub u64);

impl TooMuch {
    /// Is this why a stream ended? If so, how it is told.
    pub fn among(error: &io::Error) -> Option<String> {
        error.get_ref()?.downcast_ref::<TooMuch>().map(TooMuch::to_string)
    }
}

struct Bounded<R> {
    stream: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.stream.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| io::Error::other(TooMuch(self.most)))?;
        Ok(read)
    }
}

/// What the name of a file leads to.
pub enum Named {
    /// A regular file, which can be read again.
    File(File),
    /// Standard input, a fifo or a process substitution, which cannot.
    Stream(Box<dyn Read + Send>),
}

/// What is added to a byte of a name that is not UTF-8, for the character that stands for it: one of a plane that no text uses.
#[cfg(unix)]
const RAW: u32 = 0x10_ff00 - 0x100;

/// A name as text. Names of files need not be UTF-8: [`path_of`] gives the same name back.
pub fn name_of(name: &OsStr) -> String {
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(name);
    #[cfg(not(unix))]
    let bytes = name.as_encoded_bytes();
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        #[cfg(unix)]
        text.extend(chunk.invalid().iter().filter_map(|byte| char::from_u32(RAW + u32::from(*byte))));
        #[cfg(not(unix))]
        text.push_str(if chunk.invalid().is_empty() { "" } else { "\u{fffd}" });
    }
    text
}

/// The path that a name stands for.
#[cfg(unix)]
pub fn path_of(name: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(name.len());
    for letter in name.chars() {
        match (letter as u32).checked_sub(RAW).and_then(|byte| u8::try_from(byte).ok()).filter(|byte| *byte >= 0x80) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
}

/// The path that a name stands for.
#[cfg(not(unix))]
pub fn path_of(name: &str) -> PathBuf {
    PathBuf::from(name)
}

/// Does the name stand for standard input?
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdin")
}

/// Does the name lead to something that can be read: a regular file or a stream?
pub fn is_readable(path: &Path) -> bool {
    is_standard_input(path) || fs::metadata(path).is_ok_and(|data| data.is_file() || is_fifo(data.file_type()))
}

/// Opens what is named. A link is followed, because whoever typed its name means what it leads to.
pub fn named(path: &Path) -> io::Result<Named> {
    if is_standard_input(path) {
        return Ok(Named::Stream(Box::new(io::stdin())));
    }
    if is_fifo(fs::metadata(path)?.file_type()) {
        return Ok(Named::Stream(Box::new(File::open(path)?)));
    }
    regular(path).map(Named::File)
}

/// Opens a regular file. Nothing else is opened at all: to open a fifo waits for a writer.
pub fn regular(path: &Path) -> io::Result<File> {
    refuse(fs::metadata(path)?.file_type())?;
    let file = File::open(path)?;
    refuse(file.metadata()?.file_type())?;
    Ok(file)
}

/// Opens a file that the user did not name, because it lies beside one that was named or is listed in it.
pub fn beside(path: &Path) -> io::Result<File> {
    refuse(fs::symlink_metadata(path)?.file_type())?;
    regular(path)
}

/// Is there a file that [`beside`] opens?
pub fn is_beside(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|data| data.is_file())
}

/// What lies in a folder that the user did not name. A link to a folder is not followed.
pub fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    if fs::symlink_metadata(folder)?.is_symlink() {
        return Err(io::Error::other(LINK));
    }
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}

/// The text of a small file: settings, prices, a policy.
pub fn text(path: &Path) -> io::Result<String> {
    text_within(path, LARGEST_TEXT)
}

/// The text of a file of so many bytes at most.
pub fn text_within(path: &Path, most: u64) -> io::Result<String> {
    match named(path)? {
        Named::File(file) => whole(file, most),
        Named::Stream(stream) => whole(stream, most),
    }
}

/// The text of such a file that another one names, or that is looked for: a stream is none.
pub fn regular_text(path: &Path) -> io::Result<String> {
    whole(regular(path)?, LARGEST_TEXT)
}

fn whole(stream: impl Read, most: u64) -> io::Result<String> {
    let mut text = String::new();
    stream.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("is larger than {}, which is the most that such a file may be", size(most))));
    }
    // Editors of one system mark UTF-8 by these bytes, which are no part of the text.
    text.drain(..if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 });
    Ok(text)
}

const BYTE_ORDER_MARK: char = '\u{feff}';

const LINK: &str = "is a symbolic link beside a log, which is not followed";

fn refuse(kind: fs::FileType) -> io::Result<()> {
    match kind {
        kind if kind.is_file() => Ok(()),
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        kind if kind.is_symlink() => Err(io::Error::other(LINK)),
        kind if is_fifo(kind) => Err(io::Error::other("is a fifo, which is read where it is named itself")),
        _ => Err(io::Error::other("is a device or a socket, which is not read")),
    }
}

#[cfg(unix)]
fn is_fifo(kind: fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&kind)
}

#[cfg(not(unix))]
fn is_fifo(_: fs::FileType) -> bool {
    false
}
