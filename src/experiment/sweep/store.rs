//! The rows of a sweep in a file that only grows: a line that pins the sweep, then one line per setting. A sweep that was killed goes on
//! behind the last whole line.

use super::row::Row;
use crate::corpus::Corpus;
use crate::experiment::error::SweepError;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::io::{BufRead, BufReader, Read, Write};
use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed, xxh3_128};

/// What rows rest upon. Rows of another header are no rows of this sweep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The form of the file.
    pub schema: String,
    /// The version of the program.
    pub version: String,
    /// A hash of all sessions, as they were measured.
    pub corpus: String,
    /// A hash of the base policies, parameters and all.
    pub policies: String,
    /// A hash of the settings, in order.
    pub settings: String,
    /// Window, model and reserve that hold for all.
    pub conditions: String,
    /// What is asked for, the objective first.
    pub measures: Vec<String>,
    /// Resamples and their seed.
    pub chance: String,
}

/// What a file holds already.
#[derive(Default)]
pub struct Known {
    /// The rows whose line is whole.
    pub rows: Vec<Row>,
    /// How many bytes they take with the header.
    pub bytes: u64,
    /// The checksum of the last line.
    sum: u64,
}

/// The file that rows are appended to, line by line.
pub struct Store {
    name: String,
    out: Box<dyn Write>,
    /// The checksum of the last line, which the next one goes on from.
    sum: u64,
}

impl Header {
    /// The hash of a corpus.
    pub fn corpus_hash(corpus: &Corpus) -> String {
        let mut sink = Sink(Xxh3::new());
        // Nothing can go wrong on the way into a hash; if something did, the hash would differ, and no row would be taken over.
        let ended = postcard::to_io(&corpus.traces, &mut sink).is_ok();
        format!("{:032x}{}", sink.0.digest128(), if ended { "" } else { "?" })
    }

    /// The hash of base policies, or of settings.
    pub fn hash_of(asked: &impl Debug) -> String {
        format!("{:032x}", xxh3_128(format!("{asked:?}").as_bytes()))
    }

    fn difference(&self, other: &Header) -> Option<&'static str> {
        let differs = [
            (self.schema != other.schema, "form"),
            (self.version != other.version, "version of the program"),
            (self.corpus != other.corpus, "corpus"),
            (self.policies != other.policies, "base policies"),
            (self.settings != other.settings, "settings"),
            (self.conditions != other.conditions, "window, model or reserve"),
            (self.measures != other.measures, "objective or constraints"),
            (self.chance != other.chance, "resampling"),
        ];
        differs.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
    }
}

struct Sink(Xxh3);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Store {
    /// Begins a file, which is named so in errors.
    pub fn begin(name: String, out: Box<dyn Write>, header: &Header) -> Result<Store, SweepError> {
        let mut store = Store { name, out, sum: 0 };
        let line = line(header);
        store.sum = line.as_ref().map_or(0, |line| xxh3_64_with_seed(line, 0));
        store.write([line].into_iter().collect())?;
        Ok(store)
    }

    /// Goes on with a file, behind its last whole row.
    pub fn go_on(name: String, out: Box<dyn Write>, known: &Known) -> Store {
        Store { name, out, sum: known.sum }
    }

    /// The rows of a file that are whole. A file without a whole header, that may be the beginning of
    /// one, has none; any other file is not a sweep's.
    pub fn known(name: &str, file: impl Read, header: &Header) -> Result<Known, SweepError> {
        let failed = |error: std::io::Error| SweepError::File { path: name.to_owned(), error };
        let mut reader = BufReader::new(file);
        let mut text = Vec::new();
        let length = reader.read_until(b'\n', &mut text).map_err(failed)?;
        if !text.ends_with(b"\n") {
            let is_begun = text.is_empty() || line(header).map_err(failed)?.starts_with(&text);
            return if is_begun { Ok(Known::default()) } else { Err(foreign(name, "form")) };
        }
        let found: Header = serde_json::from_slice(&text).map_err(|_| foreign(name, "form"))?;
        if let Some(what) = header.difference(&found) {
            return Err(foreign(name, what));
        }
        let mut known = Known { rows: Vec::new(), bytes: length as u64, sum: xxh3_64_with_seed(&text, 0) };
        loop {
            text.clear();
            let length = reader.read_until(b'\n', &mut text).map_err(failed)?;
            // A line that was cut off when the sweep was killed is worked out again; one that was changed is not taken over.
            let Some(written) = text.strip_suffix(b"\n") else { return Ok(known) };
            let sound = checked(written, known.sum).filter(|(row, _)| row.setting == known.rows.len());
            let (row, sum) = sound.ok_or_else(|| SweepError::Changed { path: name.to_owned() })?;
            known.rows.push(row);
            known.sum = sum;
            known.bytes += length as u64;
        }
    }

    /// Appends rows, each with its checksum, in one write.
    pub fn append(&mut self, rows: &[Row]) -> Result<(), SweepError> {
        let mut lines = Vec::new();
        for row in rows {
            let body = serde_json::to_vec(row).map_err(|error| SweepError::File { path: self.name.clone(), error: error.into() })?;
            let body = body.strip_suffix(b"}").unwrap_or(&body);
            self.sum = xxh3_64_with_seed(body, self.sum);
            lines.push([body, CHECK, format!("{:016x}", self.sum).as_bytes(), b"\"}\n"].concat());
        }
        self.write(Ok(lines))
    }

    /// Writes lines at once, so that a door that takes a write whole or not at all takes them so.
    fn write(&mut self, lines: std::io::Result<Vec<Vec<u8>>>) -> Result<(), SweepError> {
        let written = lines.and_then(|lines| self.out.write_all(&lines.concat())).and_then(|()| self.out.flush());
        written.map_err(|error| SweepError::File { path: self.name.clone(), error })
    }
}

fn foreign(path: &str, what: &'static str) -> SweepError {
    SweepError::Foreign { path: path.to_owned(), what }
}

/// What stands between a row and its checksum, its last field.
const CHECK: &[u8] = b",\"check\":\"";

/// The row of a line and its checksum, which goes on from that of the line before; `None` where the line is not as it was written.
fn checked(line: &[u8], before: u64) -> Option<(Row, u64)> {
    let line = line.strip_suffix(b"\"}")?;
    let (rest, sum) = line.split_at_checked(line.len().checked_sub(16)?)?;
    let body = rest.strip_suffix(CHECK)?;
    let expected = xxh3_64_with_seed(body, before);
    let row = serde_json::from_slice(&[body, b"}"].concat()).ok()?;
    (sum == format!("{expected:016x}").as_bytes()).then_some((row, expected))
}

/// A line of JSON.
fn line(value: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}
