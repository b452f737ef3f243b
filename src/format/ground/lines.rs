//! Lines of a stream, one at a time, in bounded memory.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

/// A line buffer larger than this is given back after its line.
const KEPT_BUFFER: usize = 8 * 1024 * 1024;

/// One line of a file.
pub struct Line<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// Its text without the line end; bytes that are no UTF-8 are replaced.
    pub text: Cow<'a, str>,
    /// What is wrong with it, if anything: a reason to hand to `Source::lose`.
    pub damage: Option<&'static str>,
    /// True where the file ends without a newline after it: a cut line is to be expected here.
    pub last_unterminated: bool,
}

/// Hands out the non-blank lines of a stream.
pub struct Lines {
    stream: BufReader<Box<dyn Read + Send>>,
    buffer: Vec<u8>,
    number: u64,
    /// A longer line is passed over and counted: it bounds what one thread can be made to hold.
    longest: usize,
}

/// The damage of a line that was too long to hold.
pub const TOO_LONG: &str = "line too long";
/// The damage of a line that holds bytes that are no UTF-8.
pub const NOT_UTF8: &str = "bytes that are not UTF-8 (replaced)";
/// The damage of a line with an escape for half of a character. Programs that cut strings by UTF-16 units write them.
pub const HALF_CHARACTER: &str = "half of a surrogate pair (replaced)";

impl Lines {
    /// Lines of this stream, of so many bytes at most.
    pub fn new(stream: Box<dyn Read + Send>, longest: usize) -> Lines {
        Lines { stream: BufReader::with_capacity(256 * 1024, stream), buffer: Vec::new(), number: 0, longest }
    }

    /// The next line that is not blank; `None` at the end. A line with damage [`TOO_LONG`] has an empty text.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.buffer.clear();
            // A buffer that one long line has grown is not kept for the many short ones.
            self.buffer.shrink_to(KEPT_BUFFER);
            self.fill()?;
            if self.buffer.is_empty() {
                return Ok(None);
            }
            self.number += 1;
            let terminated = self.buffer.last() == Some(&b'\n');
            if !terminated && self.buffer.len() > self.longest {
                self.buffer = Vec::new();
                self.skip_to_line_end()?;
                return Ok(Some(Line { number: self.number, text: Cow::Borrowed(""), damage: Some(TOO_LONG), last_unterminated: false }));
            }
            if self.buffer.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            break Ok(Some(self.decode(terminated)));
        }
    }

    /// Reads up to the end of a line, or as far as is needed to know that it is too long.
    fn fill(&mut self) -> io::Result<()> {
        loop {
            let available = match self.stream.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                available => available?,
            };
            let end = memchr::memchr(b'\n', available).map(|end| end + 1);
            let wanted = end.unwrap_or(available.len()).min((self.longest + 1).saturating_sub(self.buffer.len()));
            self.buffer.extend_from_slice(available.get(..wanted).unwrap_or_default());
            self.stream.consume(wanted);
            if wanted == 0 || Some(wanted) == end || self.buffer.len() > self.longest {
                return Ok(());
            }
        }
    }

    fn decode(&self, terminated: bool) -> Line<'_> {
        let mut bytes = self.buffer.as_slice();
        if self.number == 1 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        // Checking a whole line is several times as fast as looking for its broken pieces.
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        let damage = matches!(text, Cow::Owned(_)).then_some(NOT_UTF8);
        let (text, damage) = match whole_characters(&text) {
            Some(mended) => (Cow::Owned(mended), Some(HALF_CHARACTER)),
            None => (text, damage),
        };
        Line { number: self.number, text, damage, last_unterminated: !terminated }
    }

    fn skip_to_line_end(&mut self) -> io::Result<()> {
        loop {
            let available = self.stream.fill_buf()?;
            if available.is_empty() {
                return Ok(());
            }
            match memchr::memchr(b'\n', available) {
                Some(end) => {
                    self.stream.consume(end + 1);
                    return Ok(());
                }
                None => {
                    let all = available.len();
                    self.stream.consume(all);
                }
            }
        }
    }
}

/// JSON cannot say half of a character: a `\u` escape of a surrogate without its partner makes the whole value unreadable. The text
/// with each such escape replaced by that of U+FFFD; `None` where there is none.
pub fn whole_characters(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"\\u").find(|at| matches!(bytes.get(at + 2), Some(b'd' | b'D')))?;
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut mended = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', bytes.get(at..)?) {
        at += found;
        at += match (unit(at), unit(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => 12,
            (Some(0xd800..0xe000), _) => {
                mended.push_str(text.get(copied..at)?);
                mended.push_str("\\ufffd");
                copied = at + 6;
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
    if copied == 0 {
        return None;
    }
    mended.push_str(text.get(copied..)?);
    Some(mended)
}
