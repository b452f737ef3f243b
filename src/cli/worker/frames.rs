//! Rows on standard input and output: the lengths of what follows, a header in JSON, and the bytes that go with it (docs/worker.md).

use crate::cli::failure::Failure;
use crate::cli::print::print_content;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read};

/// A header is a line about a row, and no place for content.
const LARGEST_HEADER: u32 = 64 << 20;

/// Rows as they come in.
pub struct Frames<R> {
    stream: R,
    /// Number of rows read so far.
    rows: u64,
    /// The most bytes that go with a row.
    largest: u64,
}

/// A row, or why it cannot be used: that costs the row, and not those behind it.
pub type Row<H> = Result<(H, Vec<u8>), String>;

impl<R: Read> Frames<R> {
    /// Rows with so many bytes at most.
    pub fn new(stream: R, largest: u64) -> Frames<R> {
        Frames { stream, rows: 0, largest }
    }

    /// The next row; `None` where the stream ends between two rows.
    pub fn next<H: DeserializeOwned>(&mut self) -> Result<Option<Row<H>>, Failure> {
        let mut lengths = [0; 12];
        let read = self.fill(&mut lengths)?;
        if read == 0 {
            return Ok(None);
        }
        self.rows += 1;
        let (head, body) = lengths.split_at(4);
        let (Ok(head), Ok(body)) = (head.try_into().map(u32::from_le_bytes), body.try_into().map(u64::from_le_bytes)) else {
            return Err(self.broken());
        };
        if read < lengths.len() || head > LARGEST_HEADER {
            return Err(self.broken());
        }
        let header = self.take(u64::from(head))?;
        if body > self.largest {
            let passed = io::copy(&mut self.stream.by_ref().take(body), &mut io::sink()).map_err(|_| self.broken())?;
            let reason = format!("{body} bytes, more than the {} of --max-row", self.largest);
            return if passed == body { Ok(Some(Err(reason))) } else { Err(self.broken()) };
        }
        let payload = self.take(body)?;
        Ok(Some(serde_json::from_slice(&header).map(|header| (header, payload)).map_err(|error| format!("header is none: {error}"))))
    }

    fn take(&mut self, length: u64) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let read = self.stream.by_ref().take(length).read_to_end(&mut bytes).map_err(|_| self.broken())?;
        if read as u64 == length { Ok(bytes) } else { Err(self.broken()) }
    }

    /// Reads as much as there is.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.stream.read(rest).map_err(|_| self.broken())? {
                0 => break,
                read => filled += read,
            }
        }
        Ok(filled)
    }

    fn broken(&self) -> Failure {
        Failure::Usage(format!("standard input breaks off within row {}, or holds no rows (docs/worker.md)", self.rows))
    }
}

/// Prints a row: both lengths, the header, the bytes.
pub fn put(header: &impl Serialize, payload: &[u8]) -> Result<(), Failure> {
    let header = serde_json::to_vec(header).map_err(|error| Failure::Usage(error.to_string()))?;
    let head = u32::try_from(header.len()).map_err(|error| Failure::Usage(error.to_string()))?;
    let mut row = Vec::with_capacity(12 + header.len() + payload.len());
    row.extend(head.to_le_bytes());
    row.extend((payload.len() as u64).to_le_bytes());
    row.extend(header);
    row.extend(payload);
    print_content(&row.into())
}
