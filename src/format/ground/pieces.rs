//! One large JSON document, piece by piece: no more of it is held than one element of its outermost lists, or one field.

use super::json::CUT_OFF;
use super::lines::{HALF_CHARACTER, NOT_UTF8, whole_characters};
use super::odd::odd;
use super::source::{Lose, ReadError, Source};
use serde::Deserialize;
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

/// How a field of the document is handed over. Fields that are not asked for are passed over without being held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// The value of the field in one piece.
    Whole,
    /// One element of its list at a time; a field that holds no list gives nothing.
    Elements,
}

/// A field of the document, or one element of a list.
pub struct Piece<'a> {
    /// The field that it is, or is an element of; empty for the elements of a document that is a list itself.
    pub key: &'a str,
    /// Its number among the elements of this list, from 1; 0 of a whole field.
    pub number: u64,
    /// The JSON text of the piece.
    pub text: &'a str,
}

impl<'a> Piece<'a> {
    /// Takes what it says; one that does not decode is counted.
    pub fn take<T: Deserialize<'a>>(&self, source: &mut Source, take: impl FnOnce(T, Lose)) {
        match serde_json::from_str::<T>(self.text) {
            Ok(said) => take(said, &mut |reason| source.lose(self.number, reason)),
            Err(error) => source.lose(self.number, &odd(&error, false, self.text)),
        }
    }
}

impl Source {
    /// Hands over the texts of a file: the elements of these lists of a document, where there are any, or else the document, if it is printed over lines, or
    /// the lines. The last argument says that nothing follows a text, so that it may have been cut off.
    pub fn each_text(&mut self, lists: &[&str], mut handle: impl FnMut(&mut Source, &str, u64, bool)) -> Result<(), ReadError> {
        if !lists.is_empty() {
            let wanted: Vec<(&str, Take)> = lists.iter().map(|key| (*key, Take::Elements)).collect();
            each_piece(self, &wanted, |source, piece| handle(source, piece.text, piece.number, false));
            return Ok(());
        }
        if self.is_printed_over_lines() {
            let text = self.document()?;
            handle(self, &text, 1, true);
            return Ok(());
        }
        self.each_line(|source, line| handle(source, &line.text, line.number, line.last_unterminated))
    }
}

/// Hands over the wanted fields of a document that is an object, and all elements of one that is a list, in their order. A document
/// that breaks off loses what is broken and nothing before it.
pub fn each_piece(source: &mut Source, wanted: &[(&str, Take)], mut handle: impl FnMut(&mut Source, Piece)) {
    let scanner =
        Scanner { stream: BufReader::with_capacity(256 * 1024, source.stream()), held: Vec::new(), largest: source.bounds().line };
    let mut document = Document { scanner, source, handle: &mut handle };
    match document.value(wanted) {
        Ok(()) => {}
        Err(Stop::Cut) => source.lose(0, CUT_OFF),
        Err(Stop::NoJson) => source.lose(0, "not JSON"),
        Err(Stop::Io(error)) => source.lose_rest(0, &error),
    }
}

/// Why the document is read no further.
enum Stop {
    Cut,
    NoJson,
    Io(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Io(error)
    }
}

struct Document<'d, H> {
    scanner: Scanner,
    source: &'d mut Source,
    handle: &'d mut H,
}

impl<H: FnMut(&mut Source, Piece)> Document<'_, H> {
    fn value(&mut self, wanted: &[(&str, Take)]) -> Result<(), Stop> {
        // The mark of the byte order.
        while self.scanner.peek()?.is_some_and(|byte| byte >= 0x80) {
            self.scanner.stream.consume(1);
        }
        // A file may hold several, such as the pages of a list. A packed one says at its very end whether it is whole.
        while let Some(first) = self.scanner.peek()? {
            match first {
                b'[' => self.elements("")?,
                b'{' => self.fields(wanted)?,
                _ => return Err(Stop::NoJson),
            }
        }
        Ok(())
    }

    fn fields(&mut self, wanted: &[(&str, Take)]) -> Result<(), Stop> {
        self.scanner.stream.consume(1);
        loop {
            match self.scanner.peek()?.ok_or(Stop::Cut)? {
                b'}' => {
                    self.scanner.stream.consume(1);
                    return Ok(());
                }
                b',' => self.scanner.stream.consume(1),
                b'"' => self.field(wanted)?,
                _ => return Err(Stop::NoJson),
            }
        }
    }

    fn field(&mut self, wanted: &[(&str, Take)]) -> Result<(), Stop> {
        self.scanner.take(Keep::Held)?;
        let key = serde_json::from_slice::<String>(&self.scanner.held).unwrap_or_default();
        if self.scanner.peek()?.ok_or(Stop::Cut)? != b':' {
            return Err(Stop::NoJson);
        }
        self.scanner.stream.consume(1);
        let first = self.scanner.peek()?.ok_or(Stop::Cut)?;
        match wanted.iter().find(|(name, _)| *name == key) {
            Some((_, Take::Elements)) if first == b'[' => self.elements(&key),
            Some((_, Take::Whole)) => self.piece(&key, 0),
            Some((_, Take::Elements)) | None => self.scanner.take(Keep::Nothing),
        }
    }

    fn elements(&mut self, key: &str) -> Result<(), Stop> {
        self.scanner.stream.consume(1);
        let mut number = 0;
        loop {
            match self.scanner.peek()?.ok_or(Stop::Cut)? {
                b']' => {
                    self.scanner.stream.consume(1);
                    return Ok(());
                }
                b',' => self.scanner.stream.consume(1),
                b'}' | b':' => return Err(Stop::NoJson),
                _ => {
                    number += 1;
                    self.piece(key, number)?;
                }
            }
        }
    }

    fn piece(&mut self, key: &str, number: u64) -> Result<(), Stop> {
        self.scanner.take(Keep::Held)?;
        let held = &self.scanner.held;
        if held.len() > self.scanner.largest {
            self.source.lose(number, &self.source.bounds().too_long("record larger"));
            return Ok(());
        }
        let text = std::str::from_utf8(held).map_or_else(|_| String::from_utf8_lossy(held), Cow::Borrowed);
        if matches!(text, Cow::Owned(_)) {
            self.source.lose(number, NOT_UTF8);
        }
        let mended = whole_characters(&text);
        if mended.is_some() {
            self.source.lose(number, HALF_CHARACTER);
        }
        let text = mended.as_deref().unwrap_or(&text);
        (self.handle)(self.source, Piece { key, number, text });
        Ok(())
    }
}

/// What becomes of a value that the scanner passes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Held,
    Nothing,
}

/// Finds where values end, by their brackets and quotes alone.
struct Scanner {
    stream: BufReader<Box<dyn Read + Send>>,
    /// The last value that was to be held; longer than a line may be where it was too large.
    held: Vec<u8>,
    /// No value that is larger is held.
    largest: usize,
}

impl Scanner {
    /// The next byte that is no white space, left in the stream; `None` at the end.
    fn peek(&mut self) -> Result<Option<u8>, Stop> {
        loop {
            let chunk = self.stream.fill_buf()?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let blank = chunk.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let found = chunk.get(blank).copied();
            self.stream.consume(blank);
            if found.is_some() {
                return Ok(found);
            }
        }
    }

    /// Passes one JSON value. It is held where that is wanted, and no further than the largest size.
    fn take(&mut self, keep: Keep) -> Result<(), Stop> {
        self.held.clear();
        self.held.shrink_to(self.largest / 8);
        let mut place = Place { depth: 0, in_string: false, escaped: false };
        loop {
            let chunk = self.stream.fill_buf()?;
            if chunk.is_empty() {
                return Err(Stop::Cut);
            }
            let (passed, ended) = place.pass(chunk);
            if keep == Keep::Held && self.held.len() <= self.largest {
                self.held.extend_from_slice(chunk.get(..passed).unwrap_or_default());
            }
            self.stream.consume(passed);
            if ended {
                return Ok(());
            }
        }
    }
}

/// Where in a value the scanner stands.
struct Place {
    depth: u64,
    in_string: bool,
    escaped: bool,
}

impl Place {
    /// How many of these bytes belong to the value, and whether it ends with them.
    fn pass(&mut self, chunk: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = chunk.get(at) {
            if self.escaped {
                self.escaped = false;
            } else if self.in_string {
                let rest = chunk.get(at..).unwrap_or_default();
                let Some(found) = memchr::memchr2(b'"', b'\\', rest) else { return (chunk.len(), false) };
                at += found;
                if chunk.get(at) == Some(&b'\\') {
                    self.escaped = true;
                } else {
                    self.in_string = false;
                    if self.depth == 0 {
                        return (at + 1, true);
                    }
                }
            } else {
                match byte {
                    b'"' => self.in_string = true,
                    b'{' | b'[' => self.depth += 1,
                    // The bracket around a number, or what follows it.
                    b'}' | b']' | b',' | b':' if self.depth == 0 => return (at, true),
                    b'}' | b']' => {
                        self.depth -= 1;
                        if self.depth == 0 {
                            return (at + 1, true);
                        }
                    }
                    _ if self.depth == 0 && byte.is_ascii_whitespace() => return (at, true),
                    _ => {}
                }
            }
            at += 1;
        }
        (chunk.len(), false)
    }
}
