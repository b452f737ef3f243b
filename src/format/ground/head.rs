//! The first bytes of a file, by which its format is told. What tells it may stand behind a text of any length: what is left of it is passed over.

use super::json::{closing_quote, unclosed_string};
use std::io::{self, Cursor, Read};

/// How much of a file is looked at to tell its format.
const HEAD_BYTES: usize = 64 * 1024;

/// How much is kept of further long strings.
const SHOWN: usize = 1024;

/// The head of a stream.
#[derive(Default)]
pub struct Head {
    /// The first bytes, without what was passed over.
    pub shown: Vec<u8>,
    /// All bytes of the stream that were read for the head.
    pub read: Vec<u8>,
}

impl Head {
    /// Reads a head, for which no more than so many bytes are passed over. What was read before an error stays.
    pub fn fill(&mut self, stream: &mut dyn Read, most: usize) -> io::Result<()> {
        // What was read up to `at` is shown, or passed over.
        let (mut at, mut room) = (0, HEAD_BYTES);
        loop {
            let wanted = at + room - self.shown.len();
            let outcome = self.read_to(stream, wanted);
            let end = wanted.min(self.read.len());
            self.shown.extend_from_slice(self.read.get(at..end).unwrap_or_default());
            at = end;
            outcome?;
            let first = room == HEAD_BYTES;
            // A string that begins at the very end leaves no room for what follows it.
            let long = unclosed_string(&self.shown).filter(|start| at == wanted && (first || start + SHOWN < room));
            let Some(start) = long else { return Ok(()) };
            let quote = loop {
                if let Some(quote) = closing_quote(&self.read, at) {
                    break quote;
                }
                at = self.read.len();
                if at >= most || self.read_to(stream, at + HEAD_BYTES)? == 0 {
                    return Ok(());
                }
            };
            self.shown.truncate(if first { room } else { start + SHOWN });
            room = 2 * HEAD_BYTES;
            // An escape is not cut through: what stands behind it is another character's then.
            let string = self.shown.get(start + 1..).unwrap_or_default();
            if let Some(back) = string.iter().rev().take(ESCAPE).position(|byte| *byte == b'\\') {
                let run = string.iter().rev().skip(back).take_while(|byte| **byte == b'\\').count();
                self.shown.truncate(self.shown.len() - back - run);
            }
            at = quote;
        }
    }

    /// Reads on up to this length, and tells how much has come.
    fn read_to(&mut self, stream: &mut dyn Read, length: usize) -> io::Result<usize> {
        stream.take(length.saturating_sub(self.read.len()) as u64).read_to_end(&mut self.read)
    }
}

/// No escape is longer (`\u12ab`).
const ESCAPE: usize = 6;

/// A stream from its first byte: what was read of it already, which is let go as soon as it has been read once more, and the rest.
pub struct Whole {
    /// The bytes that were read of the stream; empty once they have been read again.
    pub held: Cursor<Vec<u8>>,
    /// The stream behind those bytes.
    pub rest: Box<dyn Read + Send>,
}

impl Read for Whole {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.held.read(into)?;
        if read > 0 || into.is_empty() {
            return Ok(read);
        }
        self.held = Cursor::default();
        self.rest.read(into)
    }
}
