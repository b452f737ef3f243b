//! `.ctxtrace`: a measured corpus in one file. It holds numbers, names and ids, and no content.

use super::gathered::Corpus;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, BufWriter, Read, Write};

/// First bytes of the file; the digit is the version of what follows.
const MAGIC: &[u8] = b"ctxtrace/11\n";

/// A file holds no more bytes than this once it is unpacked: 4 GiB, some millions of calls. What claims to hold more would fill the memory.
pub const LARGEST_TRACE_FILE: u64 = 4 << 30;

/// Why a trace file gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is none, or one of another version.
    #[error("not a trace file of this version (ctxtrace/11); build it again from the logs")]
    Foreign,
    /// It unpacks to more than the limit.
    #[error("unpacks to more than {0} bytes, which is the most that a trace file may hold; build several of them from parts of the logs")]
    TooLarge(u64),
    /// It cannot be unpacked.
    #[error("trace file is cut off or damaged: {0}")]
    Packed(io::Error),
    /// It is cut or damaged.
    #[error("trace file is damaged: {0}")]
    Damaged(#[from] postcard::Error),
}

/// Does a file begin like a trace file, of whatever version?
pub fn is_trace_file(head: &[u8]) -> bool {
    head.starts_with(b"ctxtrace/")
}

/// Writes a corpus. The same corpus gives the same bytes.
pub fn write_traces(corpus: &Corpus, out: &mut dyn Write) -> Result<(), TraceFileError> {
    out.write_all(MAGIC)?;
    // What could not be read back is not written.
    if postcard::experimental::serialized_size(corpus)? as u64 > LARGEST_TRACE_FILE {
        return Err(TraceFileError::TooLarge(LARGEST_TRACE_FILE));
    }
    let packed = BufWriter::new(GzEncoder::new(out, Compression::fast()));
    let packed = postcard::to_io(corpus, packed)?.into_inner().map_err(io::IntoInnerError::into_error)?;
    packed.finish()?.flush()?;
    Ok(())
}

/// Reads a corpus back.
pub fn read_traces(stream: impl Read) -> Result<Corpus, TraceFileError> {
    read_traces_up_to(stream, LARGEST_TRACE_FILE)
}

/// The same, of a file that unpacks to so many bytes at most.
pub fn read_traces_up_to(mut stream: impl Read, largest: u64) -> Result<Corpus, TraceFileError> {
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Err(TraceFileError::Foreign);
    }
    let mut bytes = Vec::new();
    GzDecoder::new(stream).take(largest.saturating_add(1)).read_to_end(&mut bytes).map_err(TraceFileError::Packed)?;
    if bytes.len() as u64 > largest {
        return Err(TraceFileError::TooLarge(largest));
    }
    Ok(postcard::from_bytes(&bytes)?)
}
