//! `.ctxtrace`: a measured corpus in one file. It holds numbers, names and ids, and no content.

use super::corpus::Corpus;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, BufWriter, Read, Write};

/// First bytes of the file; the digit is the version of what follows.
const MAGIC: &[u8] = b"ctxtrace/7\n";

/// Why a trace file gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum TraceFileError {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is none, or one of another version.
    #[error("not a trace file of this version (ctxtrace/7); build it again from the logs")]
    Foreign,
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
    let packed = BufWriter::new(GzEncoder::new(out, Compression::fast()));
    let packed = postcard::to_io(corpus, packed)?.into_inner().map_err(io::IntoInnerError::into_error)?;
    packed.finish()?.flush()?;
    Ok(())
}

/// Reads a corpus back.
pub fn read_traces(mut stream: impl Read) -> Result<Corpus, TraceFileError> {
    let mut magic = [0; MAGIC.len()];
    stream.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Err(TraceFileError::Foreign);
    }
    let mut bytes = Vec::new();
    GzDecoder::new(stream).read_to_end(&mut bytes)?;
    Ok(postcard::from_bytes(&bytes)?)
}
