//! The files in a ZIP archive, one after the other as they lie in it: neither the archive nor its list of files is held, and one that was
//! cut off gives what it has.

use crate::format::ground::{CUT_OFF, HALF_CHARACTER, NOT_UTF8, Source, whole_characters};
use crate::reading::TooMuch;
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read};

/// How the head of each file begins.
const FILE: u64 = 0x0403_4b50;
/// How each entry of the list of files begins, which stands behind them.
const LIST: u64 = 0x0201_4b50;
/// How the end of the list begins, in its short and its long form.
const END: u64 = 0x0605_4b50;
const END_64: u64 = 0x0606_4b50;
/// How the optional note of sizes behind a file begins.
const SIZES: u64 = 0x0807_4b50;
/// What stands in the place of a size that needs 64 bits.
const IN_EXTRA: u64 = 0xffff_ffff;

/// Is this an archive of Inspect's?
pub fn is_one(head: &[u8]) -> bool {
    let name = head.get(30..).unwrap_or_default();
    let names: [&[u8]; 4] = [b"_journal/", b"header.json", b"samples/", b"summaries.json"];
    head.starts_with(b"PK\x03\x04") && names.iter().any(|start| name.starts_with(start))
}

/// A file of the archive.
pub struct Entry<'a> {
    /// The file's path within the archive.
    pub name: &'a str,
    /// Its number in the archive, from 1.
    pub number: u64,
    /// The file's content, unpacked.
    pub text: &'a str,
}

/// Hands over the files whose names are wanted. What the archive's own list of files names and is not there is counted as lost, and so is a file
/// whose checksum does not fit.
pub fn each_entry(source: &mut Source, wanted: impl Fn(&str) -> bool, mut handle: impl FnMut(&mut Source, Entry)) {
    let mut stream = BufReader::with_capacity(256 * 1024, source.stream());
    let mut seen = BTreeSet::new();
    let bounds = source.bounds();
    let mut left = bounds.unpacked;
    let mut entry = 0;
    let mut mark = number(&mut stream, 4);
    loop {
        match mark {
            Ok(FILE) => {}
            Ok(LIST | END | END_64) => {
                check_list(&mut stream, mark, |name| wanted(name) && !seen.contains(name), source);
                return;
            }
            Ok(_) => {
                source.lose(entry, "archive that is damaged between its files");
                mark = next_mark(&mut stream);
                continue;
            }
            Err(_) => {
                source.lose(entry + 1, CUT_OFF);
                return;
            }
        }
        entry += 1;
        match next(&mut stream, &wanted, bounds.line) {
            Ok((name, Some(Content::Whole(bytes)))) => {
                let Some(rest) = left.checked_sub(bytes.len() as u64) else {
                    source.lose(entry, &TooMuch(bounds.unpacked).to_string());
                    return;
                };
                left = rest;
                let text = String::from_utf8(bytes).unwrap_or_else(|error| {
                    source.lose(entry, NOT_UTF8);
                    String::from_utf8_lossy(error.as_bytes()).into_owned()
                });
                let mended = whole_characters(&text);
                if mended.is_some() {
                    source.lose(entry, HALF_CHARACTER);
                }
                handle(source, Entry { name: &name, number: entry, text: mended.as_ref().unwrap_or(&text) });
                seen.insert(name);
            }
            Ok((name, content)) => {
                match content {
                    Some(Content::TooLarge) => source.lose(entry, &bounds.too_long("sample larger")),
                    Some(Content::Damaged) => source.lose(entry, "sample that cannot be decompressed"),
                    Some(Content::Altered) => source.lose(entry, "sample whose checksum does not fit"),
                    Some(Content::Whole(_)) | None => {}
                }
                seen.insert(name);
            }
            Err(_) => {
                source.lose(entry, CUT_OFF);
                return;
            }
        }
        mark = number(&mut stream, 4);
    }
}

/// Reads the list of files behind the files, which begins with this mark: each file that is missing is counted.
fn check_list(stream: &mut impl BufRead, mut mark: io::Result<u64>, is_missing: impl Fn(&str) -> bool, source: &mut Source) {
    while let Ok(LIST) = mark {
        let name = listed(stream);
        if name.as_deref().is_ok_and(&is_missing) {
            source.lose(0, "sample that the archive lists and does not hold");
        }
        mark = name.and_then(|_| number(stream, 4));
    }
    match mark {
        Ok(END | END_64) => {}
        Ok(_) => source.lose(0, "archive whose list of files is damaged"),
        Err(_) => source.lose(0, CUT_OFF),
    }
}

/// The name in an entry of the list.
fn listed(stream: &mut impl BufRead) -> io::Result<String> {
    bytes(stream, 24)?;
    let [name, extra, comment] = [number(stream, 2)?, number(stream, 2)?, number(stream, 2)?];
    bytes(stream, 12)?;
    let name = bytes(stream, name)?;
    bytes(stream, extra + comment)?;
    Ok(String::from_utf8_lossy(&name).into_owned())
}

/// Looks for the next mark of a file or of the list.
fn next_mark(stream: &mut impl BufRead) -> io::Result<u64> {
    let mut window = number(stream, 4)?;
    while !matches!(window, FILE | LIST | END) {
        window = window >> 8 | number(stream, 1)? << 24;
    }
    Ok(window)
}

enum Content {
    Whole(Vec<u8>),
    TooLarge,
    Damaged,
    Altered,
}

/// The head of a file as far as it matters.
struct Head {
    flags: u64,
    method: u64,
    checksum: u64,
    size: u64,
    name: String,
}

/// The next file, whose mark is read: its name and, if it is wanted, what is in it.
fn next(stream: &mut impl BufRead, wanted: &impl Fn(&str) -> bool, largest: usize) -> io::Result<(String, Option<Content>)> {
    let head = head(stream)?;
    let is_wanted = wanted(&head.name);
    // A file written to a pipe has its size and its checksum behind it; only what ends by itself can be read then.
    if head.flags & 8 != 0 && head.size == 0 {
        if head.method != 8 {
            return Ok((head.name, Some(Content::Damaged)));
        }
        let content = match inflate(&mut *stream, head.method, largest) {
            Content::Whole(whole) => checked(whole, sizes_behind(stream)?),
            // Where such a file ends is not known then.
            other => other,
        };
        return Ok((head.name, is_wanted.then_some(content)));
    }
    let mut part = stream.take(head.size);
    let content = is_wanted.then(|| match inflate(&mut part, head.method, largest) {
        Content::Whole(whole) => checked(whole, head.checksum),
        other => other,
    });
    let passed = io::copy(&mut part, &mut io::sink())?;
    if part.limit() > 0 && passed < head.size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok((head.name, content))
}

fn checked(whole: Vec<u8>, checksum: u64) -> Content {
    let mut sum = Crc::new();
    sum.update(&whole);
    if u64::from(sum.sum()) == checksum { Content::Whole(whole) } else { Content::Altered }
}

fn head(stream: &mut impl BufRead) -> io::Result<Head> {
    let _version = number(stream, 2)?;
    let flags = number(stream, 2)?;
    let method = number(stream, 2)?;
    let _time = number(stream, 4)?;
    let checksum = number(stream, 4)?;
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
    Ok(Head { flags, method, checksum, size, name })
}

/// Passes the note behind a file, and gives its checksum.
fn sizes_behind(stream: &mut impl BufRead) -> io::Result<u64> {
    // The note may begin with a signature, and its sizes may have 32 or 64 bits: Python writes the signature and 32 bits.
    let checksum = match number(stream, 4)? {
        SIZES => number(stream, 4)?,
        checksum => checksum,
    };
    number(stream, 8).map(|_| checksum)
}

fn inflate(packed: impl BufRead, method: u64, largest: usize) -> Content {
    let limit = largest as u64 + 1;
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
        Ok(_) if whole.len() > largest => Content::TooLarge,
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
