//! A file as readers see it: its path, its first bytes, a stream of its decompressed content, and the list of what was lost.

use super::head::{Head, Whole};
use super::json::{CUT_OFF, close, values};
use super::lines::{HALF_CHARACTER, Line, Lines, NOT_UTF8, TOO_LONG, whole_characters};
use super::odd::odd;
use super::outline::Outline;
use super::zstd;
use crate::reading::{self, Bounds, Named, TooMuch};
use crate::transcript::Loss;
use serde::de::{Deserialize, IgnoredAny};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

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

/// Takes the reason for something that could not be used.
pub type Lose<'a> = &'a mut dyn FnMut(&str);

/// One file, opened for reading and never for writing.
pub struct Source {
    /// Where it lies; `-` for standard input.
    pub path: PathBuf,
    /// Is this file alone wanted? Others that go on with its sessions are not read then.
    pub alone: bool,
    /// Bytes of the file as it lies there, packed or not; 0 of a stream.
    pub bytes: u64,
    head: Vec<u8>,
    head_text: OnceLock<String>,
    outline: OnceLock<Outline>,
    stream: Option<Box<dyn Read + Send>>,
    losses: Vec<Loss>,
    bounds: Bounds,
    origin: Origin,
}

/// Where the content can be had once more.
#[derive(Clone)]
enum Origin {
    File,
    /// A stream that was short enough to be held, as it was, packed or not.
    Held(Arc<[u8]>),
    Gone,
}

impl Source {
    /// Opens a file that was named; `.gz` and `.zst` content is known by its first bytes and decompressed on the fly.
    pub fn open(path: &Path) -> Result<Source, ReadError> {
        Source::open_within(path, Bounds::default())
    }

    /// The same, with bounds of one's own.
    pub fn open_within(path: &Path, bounds: Bounds) -> Result<Source, ReadError> {
        let mut stream = match reading::named(path)? {
            Named::File(file) => {
                let bytes = file.metadata().map_or(0, |metadata| metadata.len());
                return Ok(Source { bytes, ..Source::from_stream(path, Box::new(file), bounds, Origin::File)? });
            }
            Named::Stream(stream) => stream,
        };
        let mut held = Vec::new();
        (&mut stream).take(bounds.line as u64 + 1).read_to_end(&mut held)?;
        if held.len() > bounds.line {
            return Source::from_stream(path, bounds.bounded(Cursor::new(held).chain(stream)), bounds, Origin::Gone);
        }
        let held: Arc<[u8]> = held.into();
        Source::from_stream(path, Box::new(Cursor::new(held.clone())), bounds, Origin::Held(held))
    }

    /// Opens a file that was not named itself, because it lies beside this one.
    pub fn beside(&self, path: &Path) -> Result<Source, ReadError> {
        Source::open_beside(path, self.bounds)
    }

    /// The whole content of such a file, with what was lost of it; `None`, and counted for this reason, where it cannot be read.
    pub fn document_beside(&mut self, path: &Path, number: u64, reason: &str) -> Option<String> {
        let text = self.beside(path).and_then(|mut other| {
            let text = other.document();
            self.lose_all(number, other.losses());
            text
        });
        text.inspect_err(|_| self.lose(number, reason)).ok()
    }

    /// What such a file says; `None` where it is not there, and, which is counted for this reason, where it cannot be read.
    pub fn record_beside<'h, T: Deserialize<'h>>(&mut self, path: &Path, reason: &str, held: &'h mut String) -> Option<T> {
        *held = Some(path).filter(|path| reading::is_beside(path)).and_then(|path| self.document_beside(path, 0, reason))?;
        serde_json::from_str(held).inspect_err(|_| self.lose(0, reason)).ok()
    }

    /// Takes over what was lost of another file that belongs to this one.
    pub fn lose_all(&mut self, line: u64, losses: &[Loss]) {
        losses.iter().for_each(|loss| (0..loss.count).for_each(|_| self.lose(line, &loss.reason)));
    }

    /// Opens a file that lies beside one that was named.
    pub fn open_beside(path: &Path, bounds: Bounds) -> Result<Source, ReadError> {
        Source::from_stream(path, Box::new(reading::beside(path)?), bounds, Origin::File)
    }

    /// The same content from its beginning; `None` for a stream that is gone.
    pub fn again(&self) -> Option<Result<Source, ReadError>> {
        let again = match &self.origin {
            Origin::File => Source::open_within(&self.path, self.bounds),
            Origin::Held(held) => Source::from_stream(&self.path, Box::new(Cursor::new(held.clone())), self.bounds, self.origin.clone()),
            Origin::Gone => return None,
        };
        Some(again.map(|again| Source { alone: self.alone, ..again }))
    }

    /// Reads from any stream, under a name.
    pub fn from_reader(path: &Path, raw: Box<dyn Read + Send>) -> Result<Source, ReadError> {
        Source::from_stream(path, raw, Bounds::default(), Origin::Gone)
    }

    /// A document that stands within this file, packed or not.
    pub fn held(&self, content: Vec<u8>) -> Result<Source, ReadError> {
        Source::from_stream(&self.path, Box::new(Cursor::new(content)), self.bounds, Origin::Gone)
    }

    fn from_stream(path: &Path, mut raw: Box<dyn Read + Send>, bounds: Bounds, origin: Origin) -> Result<Source, ReadError> {
        let mut magic = Vec::new();
        (&mut raw).take(4).read_to_end(&mut magic)?;
        let chained: Box<dyn Read + Send> = Box::new(Cursor::new(magic.clone()).chain(raw));
        let mut stream: Box<dyn Read + Send> = match magic.as_slice() {
            [0x1f, 0x8b, ..] => bounds.bounded(flate2::read::MultiGzDecoder::new(chained)),
            magic if magic == zstd::MAGIC => {
                bounds.bounded(zstd::Unpacked::new(chained).map_err(|error| ReadError::Damaged(format!("not a zstd stream: {error}")))?)
            }
            _ => chained,
        };
        let mut head = Head::default();
        // It is held beside the beginning of a line.
        let passed_over = bounds.line / 32;
        let rest: Box<dyn Read + Send> = match head.fill(&mut stream, passed_over) {
            Ok(()) => stream,
            Err(error) if head.read.is_empty() => return Err(error.into()),
            Err(error) => Box::new(Broken(Some(error))),
        };
        let stream: Box<dyn Read + Send> = Box::new(Whole { held: Cursor::new(head.read), rest });
        Ok(Source {
            path: path.to_owned(),
            alone: false,
            bytes: 0,
            head: head.shown,
            head_text: OnceLock::new(),
            outline: OnceLock::new(),
            stream: Some(stream),
            losses: Vec::new(),
            bounds,
            origin,
        })
    }

    /// The bounds up to which the source is read.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// The first bytes of the (decompressed) content, without the rest of long strings among them.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The same as text. What is no UTF-8 is replaced; a mark of the byte order is left out.
    pub fn head_text(&self) -> &str {
        self.head_text.get_or_init(|| {
            let head = self.head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.head);
            // Checking the whole is several times as fast as looking for its broken pieces.
            std::str::from_utf8(head).map_or_else(|_| String::from_utf8_lossy(head).into_owned(), str::to_owned)
        })
    }

    /// The keys of the first JSON value of the content, as far as the first bytes show it.
    pub fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| Outline::of(self.head_text()))
    }

    /// Does one of the first lines that are not blank show one of these signatures?
    pub fn has_line(&self, most: usize, signatures: &[&str]) -> bool {
        let lines = self.head_text().lines().filter(|line| !line.trim().is_empty()).take(most);
        lines.map(Outline::of).any(|line| signatures.iter().any(|signature| line.shows(signature)))
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

    /// Passes over the first bytes of the content.
    pub fn pass_over(&mut self, bytes: usize) -> Result<(), ReadError> {
        if let Some(stream) = &mut self.stream {
            io::copy(&mut stream.take(bytes as u64), &mut io::sink())?;
        }
        Ok(())
    }

    /// Hands over each line in turn. What is wrong with a line is counted here; a stream that breaks off ends the file, but loses
    /// nothing that was read before. It can be called once.
    pub fn each_line(&mut self, mut handle: impl FnMut(&mut Source, &Line)) -> Result<(), ReadError> {
        let mut lines = Lines::new(self.stream(), self.bounds.line);
        let mut last = 0;
        loop {
            match lines.next_line() {
                Ok(Some(line)) if line.number > self.bounds.records => {
                    self.lose(line.number, &self.bounds.too_many_lines());
                    return Ok(());
                }
                Ok(Some(line)) => {
                    last = line.number;
                    match line.damage {
                        Some(TOO_LONG) => self.lose(line.number, &self.bounds.too_long("line longer")),
                        Some(damage) => self.lose(line.number, damage),
                        None => {}
                    }
                    handle(self, &line);
                }
                Ok(None) => return Ok(()),
                Err(error) if last == 0 => return Err(error.into()),
                Err(error) => {
                    self.lose_rest(last + 1, &error);
                    return Ok(());
                }
            }
        }
    }

    /// Takes each JSON value of a line.
    pub fn values<'l, T: Deserialize<'l> + 'l>(&mut self, line: &'l Line, take: impl FnMut(T, Lose)) {
        self.values_of(&line.text, line.number, line.last_unterminated, take);
    }

    /// Takes each JSON value of a text; `at_end`: nothing follows it, so that it may have been cut off.
    pub fn values_of<'l, T: Deserialize<'l> + 'l>(&mut self, text: &'l str, number: u64, at_end: bool, mut take: impl FnMut(T, Lose)) {
        for value in values(text) {
            match value {
                Ok(value) => take(value, &mut |reason| self.lose(number, reason)),
                Err(error) => self.lose(number, &odd(&error, at_end, text)),
            }
        }
    }

    /// The whole content, for formats that hold bytes. It can be taken once.
    pub fn content(&mut self) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        match self.stream().take(self.bounds.line as u64 + 1).read_to_end(&mut bytes) {
            Err(error) if bytes.is_empty() => return Err(error.into()),
            Err(error) => self.lose_rest(0, &error),
            Ok(_) => {}
        }
        if bytes.len() > self.bounds.line {
            return Err(ReadError::Damaged(self.bounds.too_long("document larger")));
        }
        Ok(bytes)
    }

    /// The whole content as one text, for formats that are one JSON document. One that was cut off is closed, and that is counted.
    /// It can be taken once.
    pub fn document(&mut self) -> Result<String, ReadError> {
        let bytes = self.content()?;
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
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
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

    /// Reports that the stream gave no more, and why.
    pub fn lose_rest(&mut self, line: u64, error: &io::Error) {
        self.lose(line, TooMuch::among(error).as_deref().unwrap_or(BROKEN_OFF));
    }

    /// What readers could not use so far, by reason.
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
