//! `.ctxtrace`: a measured corpus in one file. It holds numbers, names and ids, and no content.

use super::gathered::Corpus;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use postcard::Deserializer;
use postcard::de_flavors::Flavor;
use serde::Deserialize;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

/// First line of the file: the form of measured sessions, with its version.
pub const TRACE_FORM: &str = "ctxtrace/21";

/// A file holds no more bytes than this once it is unpacked: 4 GiB, some millions of calls. What claims to hold more would fill the memory.
const LARGEST_TRACE_FILE: u64 = 4 << 30;

/// Why a trace file gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    /// The file cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is no trace file, or one of another version.
    #[error("not a trace file of this version ({}); build it again from the logs", TRACE_FORM)]
    Foreign,
    /// The file unpacks to more than the limit.
    #[error("unpacks to more than {0} bytes, which is the most that a trace file may hold; build several of them from parts of the logs")]
    TooLarge(u64),
    /// The compressed stream is cut off or damaged.
    #[error("trace file is cut off or damaged: {0}")]
    Packed(io::Error),
    /// The unpacked bytes are no corpus.
    #[error("trace file is damaged: {0}")]
    Damaged(#[from] postcard::Error),
}

/// Does a file begin like a trace file, of whatever version?
pub fn is_trace_file(head: &[u8]) -> bool {
    head.starts_with(b"ctxtrace/")
}

/// Writes a corpus. The same corpus gives the same bytes.
pub fn write_traces(corpus: &Corpus, out: &mut dyn Write) -> Result<(), TraceFileError> {
    writeln!(out, "{TRACE_FORM}")?;
    // What could not be read back is not written.
    if postcard::experimental::serialized_size(corpus)? as u64 > LARGEST_TRACE_FILE {
        return Err(TraceFileError::TooLarge(LARGEST_TRACE_FILE));
    }
    let packed = BufWriter::new(GzEncoder::new(out, Compression::fast()));
    let packed = postcard::to_io(corpus, packed)?.into_inner().map_err(io::IntoInnerError::into_error)?;
    packed.finish()?.flush()?;
    Ok(())
}

/// Reads a corpus from what [`write_traces`] wrote.
pub fn read_traces(stream: impl Read) -> Result<Corpus, TraceFileError> {
    read_traces_up_to(stream, LARGEST_TRACE_FILE)
}

/// The same, of a file that unpacks to so many bytes at most.
pub fn read_traces_up_to(mut stream: impl Read, largest: u64) -> Result<Corpus, TraceFileError> {
    let mut magic = [0; TRACE_FORM.len() + 1];
    stream.read_exact(&mut magic).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => TraceFileError::Foreign,
        _ => TraceFileError::Io(error),
    })?;
    if magic.strip_suffix(b"\n") != Some(TRACE_FORM.as_bytes()) {
        return Err(TraceFileError::Foreign);
    }
    let bytes = BufReader::with_capacity(1 << 16, GzDecoder::new(stream).take(largest.saturating_add(1)));
    let mut source = Deserializer::from_flavor(Unpacked { bytes, text: Vec::new(), failed: None });
    let corpus = Corpus::deserialize(&mut source);
    // A file that is damaged behind its sessions is damaged.
    let Unpacked { mut bytes, failed, .. } = source.finalize()?;
    failed.map_or_else(|| io::copy(&mut bytes, &mut io::sink()).map(drop), Err).map_err(TraceFileError::Packed)?;
    if bytes.get_ref().limit() == 0 {
        return Err(TraceFileError::TooLarge(largest));
    }
    Ok(corpus?)
}

/// What a file unpacks to, decoded while it comes: sessions are packed again one by one where there are many.
struct Unpacked<R> {
    bytes: R,
    text: Vec<u8>,
    /// The error after which nothing more is read; `None` so far.
    failed: Option<io::Error>,
}

impl<R: BufRead> Unpacked<R> {
    fn take<T>(&mut self, read: impl FnOnce(&mut R, &mut Vec<u8>) -> io::Result<Option<T>>) -> postcard::Result<T> {
        let read = read(&mut self.bytes, &mut self.text).unwrap_or_else(|error| {
            self.failed = Some(error);
            None
        });
        read.ok_or(postcard::Error::DeserializeUnexpectedEnd)
    }
}

impl<'de, R: BufRead + 'de> Flavor<'de> for Unpacked<R> {
    type Remainder = Self;
    type Source = Self;

    fn pop(&mut self) -> postcard::Result<u8> {
        self.take(|bytes, _| {
            let first = bytes.fill_buf()?.first().copied();
            bytes.consume(1);
            Ok(first)
        })
    }

    /// Nothing in a corpus borrows from its file.
    fn try_take_n(&mut self, _: usize) -> postcard::Result<&'de [u8]> {
        Err(postcard::Error::WontImplement)
    }

    fn try_take_n_temp<'a>(&'a mut self, count: usize) -> postcard::Result<&'a [u8]>
    where
        'de: 'a,
    {
        self.take(|bytes, text| {
            text.clear();
            let read = bytes.take(count as u64).read_to_end(text)?;
            Ok((read == count).then_some(()))
        })?;
        Ok(&self.text)
    }

    fn finalize(self) -> postcard::Result<Self> {
        Ok(self)
    }
}
