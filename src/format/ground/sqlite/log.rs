//! Is a write-ahead log whole? SQLite takes the first frame that is not as it should be for the end of the log, and says nothing of it.
//!
//! The form is that of <https://www.sqlite.org/fileformat2.html>, section 4: a header of 32 bytes, then frames of 24 bytes and a page. Each holds the two salts
//! of the header and a checksum over all before it. Frames of other salts are left over from an earlier log.

use crate::reading;
use std::io::{self, BufReader, Read};
use std::path::Path;

const MAGIC: u32 = 0x377f_0682;

/// Does a frame of this log, or its header, not hold what was written? A log that is not there, or empty, is whole.
pub fn is_damaged(log: &Path) -> io::Result<bool> {
    let mut file = match reading::beside(log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => BufReader::new(opened?),
    };
    let mut header = [0; 32];
    let read = fill(&mut file, &mut header)?;
    if read == 0 {
        return Ok(false);
    }
    let number = |bytes: &[u8], at: usize| bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_be_bytes);
    let is_big = number(&header, 0) == MAGIC | 1;
    let mut sums = checksum([0, 0], header.get(..24).unwrap_or_default(), is_big);
    let page = number(&header, 8) as usize;
    let sound = read == header.len() && number(&header, 0) & !1 == MAGIC && (512..=65_536).contains(&page);
    if !sound || sums != [number(&header, 24), number(&header, 28)] {
        return Ok(true);
    }
    let mut frame = vec![0; 24 + page];
    // A log that was begun anew overwrites the frames of the one before, whose last ones stay behind it.
    let mut ended = false;
    loop {
        let read = fill(&mut file, &mut frame)?;
        if read == 0 {
            return Ok(false);
        }
        if read < frame.len() {
            return Ok(true);
        }
        // An earlier log had two other salts. One alone that differs was changed.
        match [8, 12].map(|at| frame.get(at..at + 4) == header.get(at + 8..at + 12)) {
            [true, true] => {}
            [false, false] => {
                ended = true;
                continue;
            }
            _ => return Ok(true),
        }
        sums = checksum(sums, frame.get(..8).unwrap_or_default(), is_big);
        sums = checksum(sums, frame.get(24..).unwrap_or_default(), is_big);
        if ended || sums != [number(&frame, 16), number(&frame, 20)] {
            return Ok(true);
        }
    }
}

/// Reads as much as there is, up to the whole buffer; what is missing is zero.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    buffer.fill(0);
    let mut whole = Vec::new();
    let read = file.take(buffer.len() as u64).read_to_end(&mut whole)?;
    if let Some(start) = buffer.get_mut(..read) {
        start.copy_from_slice(&whole);
    }
    Ok(read)
}

fn checksum([mut one, mut other]: [u32; 2], bytes: &[u8], is_big: bool) -> [u32; 2] {
    let word = |four: &[u8]| four.try_into().map_or(0, if is_big { u32::from_be_bytes } else { u32::from_le_bytes });
    for eight in bytes.chunks(8) {
        let (first, second) = eight.split_at(4.min(eight.len()));
        one = one.wrapping_add(word(first)).wrapping_add(other);
        other = other.wrapping_add(word(second)).wrapping_add(one);
    }
    [one, other]
}
