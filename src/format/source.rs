//! A file as readers see it: its path, its first bytes, a stream of its decompressed content, and the list of what was lost.

use super::json::{CUT_OFF, close};
use super::lines::{HALF_CHARACTER, LONGEST_LINE, Line, Lines, NOT_UTF8, whole_characters};
use super::outline::Outline;
use super::zstd;
use crate::transcript::Loss;
use serde::de::IgnoredAny;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// How much of a file is looked at to tell its format.
const HEAD_BYTES: usize = 64 * 1024;

/// A document that has to be held as a whole may be no larger than a line may be.
const LARGEST_DOCUMENT: u64 = LONGEST_LINE as u64;

/// The reason for the loss of what is not there any more behind the place where a stream breaks off, as packed content does that was cut off.
pub const BROKEN_OFF: &str = "file broken off";

/// Why a file gave nothing at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be opened or read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The content is not what the format promises; nothing of it is usable.
    #[error("{0}")]
    Damaged(String),
}

/// One file, opened for reading and never for writing.
pub struct Source {
    /// Where it lies; `-` for standard input.
    pub path: PathBuf,
    /// Is this file alone wanted? Others that go on with its sessions are not read then.
    pub alone: bool,
    head: Vec<u8>,
    head_text: OnceLock<String>,
    outline: OnceLock<Outline>,
    stream: Option<Box<dyn Read + Send>>,
    losses: Vec<Loss>,
}

impl Source {
    /// Opens a file; `.gz` and `.zst` content is known by its first bytes and decompressed on the fly.
    pub fn open(path: &Path) -> Result<Source, ReadError> {
        let file = File::open(path)?;
        Source::from_reader(path, Box::new(file))
    }

    /// Reads from any stream, under a name.
    pub fn from_reader(path: &Path, mut raw: Box<dyn Read + Send>) -> Result<Source, ReadError> {
        let magic = read_up_to(&mut raw, 4)?;
        let chained: Box<dyn Read + Send> = Box::new(Cursor::new(magic.clone()).chain(raw));
        let mut stream: Box<dyn Read + Send> = match magic.as_slice() {
            [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(chained)),
            magic if magic == zstd::MAGIC => {
                Box::new(zstd::Unpacked::new(chained).map_err(|error| ReadError::Damaged(format!("not a zstd stream: {error}")))?)
            }
            _ => chained,
        };
        let mut head = Vec::new();
        let rest: Box<dyn Read + Send> = match (&mut stream).take(HEAD_BYTES as u64).read_to_end(&mut head) {
            Ok(_) => stream,
            Err(error) if head.is_empty() => return Err(error.into()),
            Err(error) => Box::new(Broken(Some(error))),
        };
        let stream: Box<dyn Read + Send> = Box::new(Cursor::new(head.clone()).chain(rest));
        Ok(Source {
            path: path.to_owned(),
            alone: false,
            head,
            head_text: OnceLock::new(),
            outline: OnceLock::new(),
            stream: Some(stream),
            losses: Vec::new(),
        })
    }

    /// The first bytes of the (decompressed) content.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The same as text. What is no UTF-8 is replaced; a mark of the byte order is left out.
    pub fn head_text(&self) -> &str {
        self.head_text.get_or_init(|| {
            let head = self.head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.head);
            String::from_utf8_lossy(head).into_owned()
        })
    }

    /// The keys of the first JSON value of the content, as far as the first bytes show it.
    pub fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::of(self.head_text()))
    }

    /// The file's name without its folders, for ids of sessions that have none.
    pub fn name(&self) -> String {
        self.path.file_name().map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Is the file one JSON document, printed over many lines? Its first line is then no value by itself.
    pub fn is_printed_over_lines(&self) -> bool {
        let mut lines = self.head.split(|byte| *byte == b'\n');
        let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return false };
        let first = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii();
        let unfinished = serde_json::from_slice::<IgnoredAny>(first).is_err_and(|error| error.is_eof());
        // A whole value after a long beginning tells that the first line is a broken record of many.
        unfinished && (first.len() <= 2 || serde_json::from_slice::<IgnoredAny>(second).is_err())
    }

    /// The content as a stream, from its first byte. It can be taken once.
    pub fn stream(&mut self) -> Box<dyn Read + Send> {
        self.stream.take().unwrap_or_else(|| Box::new(io::empty()))
    }

    /// The content line by line. It can be taken once.
    pub fn lines(&mut self) -> Lines {
        Lines::new(self.stream())
    }

    /// Hands over each line in turn. What is wrong with a line is counted here; a stream that breaks off ends the file, but loses
    /// nothing that was read before. It can be called once.
    pub fn each_line(&mut self, mut handle: impl FnMut(&mut Source, &Line)) -> Result<(), ReadError> {
        let mut lines = self.lines();
        let mut last = 0;
        loop {
            match lines.next_line() {
                Ok(Some(line)) => {
                    last = line.number;
                    if let Some(damage) = line.damage {
                        self.lose(line.number, damage);
                    }
                    handle(self, &line);
                }
                Ok(None) => return Ok(()),
                Err(error) if last == 0 => return Err(error.into()),
                Err(_) => {
                    self.lose(last + 1, BROKEN_OFF);
                    return Ok(());
                }
            }
        }
    }

    /// The whole content as one text, for formats that are one JSON document. One that was cut off is closed, and that is counted.
    /// It can be taken once.
    pub fn document(&mut self) -> Result<String, ReadError> {
        let mut bytes = Vec::new();
        match self.stream().take(LARGEST_DOCUMENT + 1).read_to_end(&mut bytes) {
            Err(error) if bytes.is_empty() => return Err(error.into()),
            Err(_) => self.lose(0, BROKEN_OFF),
            Ok(_) => {}
        }
        if bytes.len() as u64 > LARGEST_DOCUMENT {
            return Err(ReadError::Damaged("document larger than 64 MiB".to_owned()));
        }
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            self.lose(0, NOT_UTF8);
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        let text = match whole_characters(&text) {
            Some(mended) => {
                self.lose(0, HALF_CHARACTER);
                mended
            }
            None => text,
        };
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        Ok(match close(&text) {
            Some(closed) => {
                self.lose(0, CUT_OFF);
                closed
            }
            None => text,
        })
    }

    /// Reports something that could not be used. Losses of the same reason are counted together, and what broke off is not counted once more as cut off.
    pub fn lose(&mut self, line: u64, reason: &str) {
        if reason == CUT_OFF && self.losses.iter().any(|loss| loss.reason == BROKEN_OFF) {
            return;
        }
        match self.losses.iter_mut().find(|loss| loss.reason == reason) {
            Some(loss) => loss.count += 1,
            None => self.losses.push(Loss { reason: reason.to_owned(), count: 1, first_line: line }),
        }
    }

    /// What was lost so far.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }
}

/// What is left of a stream that breaks off: the news that it does.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

fn read_up_to(stream: &mut dyn Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
