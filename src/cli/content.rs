//! What a file is to hold: bytes, or what is written as it is made, which may be longer than the memory is large.

use super::failure::Failure;
use crate::list::lost;
use crate::render::RenderError;
use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

/// What writes a content as it is made.
type Writes<'a> = dyn Fn(&mut dyn Write) -> Result<(), RenderError> + 'a;

/// The content of a file.
pub enum Content<'a> {
    Bytes(Cow<'a, [u8]>),
    /// Written as it is made, by this function.
    Made(Box<Writes<'a>>),
}

/// Why a content was not written.
pub enum Unwritten {
    /// The place took nothing more.
    Place(io::Error),
    /// The content could not be made.
    Content(RenderError),
    /// What it is made of was lost on the way.
    Lost(&'static str),
}

impl Unwritten {
    /// What the command says of a file with this name.
    pub fn of(self, name: &Path) -> Failure {
        match self {
            Unwritten::Place(error) => Failure::writing(name, &error),
            Unwritten::Content(error) => error.into(),
            Unwritten::Lost(why) => {
                Failure::Usage(format!("the temporary file of this run cannot be read again, so there are no figures: {why}"))
            }
        }
    }
}

impl<'a> Content<'a> {
    /// What a function writes.
    pub fn made(write: impl Fn(&mut dyn Write) -> Result<(), RenderError> + 'a) -> Content<'a> {
        Content::Made(Box::new(write))
    }

    pub fn write(&self, out: &mut dyn Write) -> Result<(), Unwritten> {
        lost().map_or(Ok(()), |why| Err(Unwritten::Lost(why)))?;
        let mut heard = Heard { out: io::BufWriter::new(out), failed: None };
        let made = match self {
            Content::Bytes(bytes) => heard.write_all(bytes).map_err(RenderError::from),
            Content::Made(write) => write(&mut heard),
        };
        let flushed = heard.flush();
        lost().map_or(Ok(()), |why| Err(Unwritten::Lost(why)))?;
        match (heard.failed, made) {
            (Some(error), _) => Err(Unwritten::Place(error)),
            (None, Err(error)) => Err(Unwritten::Content(error)),
            (None, Ok(())) => flushed.map_err(Unwritten::Place),
        }
    }
}

impl From<Vec<u8>> for Content<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Content::Bytes(bytes.into())
    }
}

impl From<String> for Content<'_> {
    fn from(text: String) -> Self {
        text.into_bytes().into()
    }
}

impl<'a> From<&'a str> for Content<'a> {
    fn from(text: &'a str) -> Self {
        Content::Bytes(text.as_bytes().into())
    }
}

impl<'a> From<&'a [u8]> for Content<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Content::Bytes(bytes.into())
    }
}

/// A place that remembers why it took nothing more: what is made on the way there says so in words of its own.
struct Heard<W: Write> {
    out: W,
    failed: Option<io::Error>,
}

impl<W: Write> Heard<W> {
    fn heard<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let kind = error.kind();
            // An interrupted write is tried again.
            if kind != ErrorKind::Interrupted {
                self.failed.get_or_insert(error);
            }
            kind.into()
        })
    }
}

impl<W: Write> Write for Heard<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.heard(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.heard(done)
    }
}
