//! The files in a ZIP archive, one after the other as they lie in it: neither the archive nor its list of files is held, and one that was
//! cut off gives what it has.

use crate::format::json::CUT_OFF;
use crate::format::lines::{HALF_CHARACTER, LONGEST_LINE, NOT_UTF8, whole_characters};
use crate::format::{ReadError, Source};
use flate2::bufread::DeflateDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// How the head of each file begins.
const FILE: u32 = 0x0403_4b50;
/// How the optional note of sizes behind a file begins.
const SIZES: u32 = 0x0807_4b50;
/// What stands in the place of a size that needs 64 bits.
const IN_EXTRA: u64 = 0xffff_ffff;

/// Is this an archive of Inspect's?
pub fn is_one(head: &[u8]) -> bool {
    let name = head.get(30..).unwrap_or_default();
    let names: [&[u8]; 4] = [b"_journal/", b"header.json", b"samples/", b"summaries.json"];
    head.starts_with(&FILE.to_le_bytes()) && names.iter().any(|start| name.starts_with(start))
}

/// A file of the archive.
pub struct Entry<'a> {
    /// Its path.
    pub name: &'a str,
    /// Its number in the archive, from 1.
    pub number: u64,
    /// Its content.
    pub text: &'a str,
}

/// Hands over the files whose names are wanted.
pub fn each_entry(source: &mut Source, wanted: impl Fn(&str) -> bool, mut handle: impl FnMut(&mut Source, Entry)) -> Result<(), ReadError> {
    let mut stream = BufReader::with_capacity(256 * 1024, source.stream());
    for number in 1.. {
        match next(&mut stream, &wanted) {
            Ok(None) => break,
            Ok(Some((_, None))) => {}
            Ok(Some((name, Some(Content::Whole(bytes))))) => {
                let text = String::from_utf8(bytes).unwrap_or_else(|error| {
                    source.lose(number, NOT_UTF8);
                    String::from_utf8_lossy(error.as_bytes()).into_owned()
                });
                let mended = whole_characters(&text);
                if mended.is_some() {
                    source.lose(number, HALF_CHARACTER);
                }
                handle(source, Entry { name: &name, number, text: mended.as_ref().unwrap_or(&text) });
            }
            Ok(Some((_, Some(Content::TooLarge)))) => source.lose(number, "sample larger than 64 MiB"),
            Ok(Some((_, Some(Content::Damaged)))) => source.lose(number, "sample that cannot be decompressed"),
            Err(_) => {
                source.lose(number, CUT_OFF);
                break;
            }
        }
    }
    Ok(())
}

enum Content {
    Whole(Vec<u8>),
    TooLarge,
    Damaged,
}

/// The head of a file as far as it matters.
struct Head {
    flags: u64,
    method: u64,
    size: u64,
    name: String,
}

/// The next file: its name and, if it is wanted, what is in it. `None` where the list of files begins.
fn next(stream: &mut impl BufRead, wanted: &impl Fn(&str) -> bool) -> io::Result<Option<(String, Option<Content>)>> {
    if number(stream, 4)? != u64::from(FILE) {
        return Ok(None);
    }
    let head = head(stream)?;
    let is_wanted = wanted(&head.name);
    // A file written to a pipe has its size behind it; only what ends by itself can be read then.
    if head.flags & 8 != 0 && head.size == 0 {
        if head.method != 8 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let content = inflate(&mut *stream, head.method);
        sizes_behind(stream)?;
        return Ok(Some((head.name, is_wanted.then_some(content))));
    }
    let mut part = stream.take(head.size);
    let content = is_wanted.then(|| inflate(&mut part, head.method));
    let passed = io::copy(&mut part, &mut io::sink())?;
    if part.limit() > 0 && passed < head.size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some((head.name, content)))
}

fn head(stream: &mut impl BufRead) -> io::Result<Head> {
    let _version = number(stream, 2)?;
    let flags = number(stream, 2)?;
    let method = number(stream, 2)?;
    let _time_and_checksum = number(stream, 8)?;
    let mut size = number(stream, 4)?;
    let mut whole_size = number(stream, 4)?;
    let name_length = number(stream, 2)?;
    let extra_length = number(stream, 2)?;
    let name = String::from_utf8_lossy(&bytes(stream, name_length)?).into_owned();
    let extra = bytes(stream, extra_length)?;
    // Fields of a kind, a length and that many bytes; kind 1 holds the sizes of 64 bits, the whole one first.
    let mut rest = extra.as_slice();
    while let (Ok(kind), Ok(length)) = (number(&mut rest, 2), number(&mut rest, 2)) {
        let Ok(field) = bytes(&mut rest, length) else { break };
        let mut field = field.as_slice();
        if kind == 1 {
            if whole_size == IN_EXTRA {
                whole_size = number(&mut field, 8)?;
            }
            if size == IN_EXTRA {
                size = number(&mut field, 8)?;
            }
        }
    }
    Ok(Head { flags, method, size, name })
}

fn sizes_behind(stream: &mut impl BufRead) -> io::Result<()> {
    // The note may begin with a signature, and its sizes may have 32 or 64 bits: Python writes the signature and 32 bits.
    if number(stream, 4)? == u64::from(SIZES) {
        number(stream, 4)?;
    }
    number(stream, 8).map(|_| ())
}

fn inflate(packed: impl BufRead, method: u64) -> Content {
    let limit = LONGEST_LINE as u64 + 1;
    let mut whole = Vec::new();
    let read = match method {
        0 => packed.take(limit).read_to_end(&mut whole),
        8 => DeflateDecoder::new(packed).take(limit).read_to_end(&mut whole),
        93 => match StreamingDecoder::new(packed) {
            Ok(decoder) => decoder.take(limit).read_to_end(&mut whole),
            Err(_) => return Content::Damaged,
        },
        _ => return Content::Damaged,
    };
    match read {
        Ok(_) if whole.len() > LONGEST_LINE => Content::TooLarge,
        Ok(_) => Content::Whole(whole),
        Err(_) => Content::Damaged,
    }
}

/// A number of so many bytes, the lowest first.
fn number(stream: &mut impl Read, length: usize) -> io::Result<u64> {
    let mut bytes = [0; 8];
    let place = bytes.get_mut(..length).ok_or(io::ErrorKind::InvalidInput)?;
    stream.read_exact(place)?;
    Ok(u64::from_le_bytes(bytes))
}

fn bytes(stream: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
