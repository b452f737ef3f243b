//! Content that was packed with Zstandard: all frames of it, and of a frame that breaks off all blocks that are whole.

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, Cursor, Read};

/// The first four bytes of each packed frame.
pub const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A block that says nothing and ends its frame, with the checksum that may have to follow.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// The unpacked content of a stream.
pub struct Unpacked<R: Read> {
    packed: R,
    frame: FrameDecoder,
    /// What is wrong behind the blocks that are still to be handed out.
    damage: Option<io::Error>,
    /// Nothing more can be unpacked.
    ended: bool,
}

impl<R: Read> Unpacked<R> {
    /// Begins with the first frame.
    pub fn new(packed: R) -> io::Result<Unpacked<R>> {
        let mut unpacked = Unpacked { packed, frame: FrameDecoder::new(), damage: None, ended: false };
        unpacked.ended = !unpacked.next_frame()?;
        Ok(unpacked)
    }

    /// Goes on to the next frame, where there is one. Frames between them that hold no content are passed over.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            let mut first = Vec::new();
            if (&mut self.packed).take(1).read_to_end(&mut first)? == 0 {
                return Ok(false);
            }
            match self.frame.reset(Cursor::new(first).chain(&mut self.packed)) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut (&mut self.packed).take(u64::from(length)), &mut io::sink())?;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }

    /// Unpacks one more block. The decoder keeps the last blocks back, as later ones refer to them; where none can follow, they are set free.
    fn next_block(&mut self) {
        if let Err(error) = self.frame.decode_blocks(&mut self.packed, BlockDecodingStrategy::UptoBlocks(1)) {
            self.damage = Some(io::Error::other(error));
            let _ = self.frame.decode_blocks(LAST_BLOCK.as_slice(), BlockDecodingStrategy::UptoBlocks(1));
        }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !self.ended && self.frame.can_collect() == 0 {
            if let Some(damage) = self.damage.take() {
                self.ended = true;
                return Err(damage);
            } else if self.frame.is_finished() {
                self.ended = !self.next_frame().inspect_err(|_| self.ended = true)?;
            } else {
                self.next_block();
            }
        }
        if self.ended { Ok(0) } else { self.frame.read(buffer) }
    }
}
