//! The rows of a sweep in a file that only grows: a line that pins the sweep, then a line a setting. A sweep that was killed goes on
//! behind the last whole line.

use super::SweepError;
use super::run::Row;
use crate::experiment::corpus::Corpus;
use crate::policy::Policy;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Seek, SeekFrom, Write};
use std::path::Path;
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

/// The file.
pub struct Store {
    path: String,
    file: File,
    /// The checksum of the last line, which the next one goes on from.
    sum: u64,
}

impl Header {
    /// The hash of a corpus.
    pub fn corpus_hash(corpus: &Corpus) -> String {
        let mut sink = Sink(Xxh3::new());
        // Nothing can go wrong on the way into a hash; if something did, the hash would differ, and no row would be believed.
        let ended = postcard::to_io(&corpus.traces, &mut sink).is_ok();
        format!("{:032x}{}", sink.0.digest128(), if ended { "" } else { "?" })
    }

    /// The hash of base policies.
    pub fn policies_hash(bases: &[Policy]) -> String {
        format!("{:032x}", xxh3_128(format!("{bases:?}").as_bytes()))
    }

    /// The hash of settings.
    pub fn settings_hash(settings: &[super::Setting]) -> String {
        format!("{:032x}", xxh3_128(format!("{settings:?}").as_bytes()))
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
    /// Begins a file. One that is there already is not touched.
    pub fn begin(path: &Path, header: &Header) -> Result<Store, SweepError> {
        let name = path.to_string_lossy().into_owned();
        let opened = OpenOptions::new().write(true).create_new(true).open(path);
        let file = opened.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                SweepError::Asked(format!("{name} is there already: --resume goes on with it, another name begins a new one"))
            }
            _ => SweepError::File { path: name.clone(), error },
        })?;
        let mut store = Store { path: name, file, sum: 0 };
        store.head(header)?;
        Ok(store)
    }

    /// Goes on with a file: hands over the rows that are whole, and cuts off what is not. Begins one where there is none.
    pub fn resume(path: &Path, header: &Header) -> Result<(Store, Vec<Row>), SweepError> {
        let name = path.to_string_lossy().into_owned();
        let failed = |error: std::io::Error| SweepError::File { path: name.clone(), error };
        let mut file = match OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Store::begin(path, header)?, Vec::new())),
            Err(error) => return Err(failed(error)),
        };
        let mut reader = BufReader::new(&file);
        let mut text = Vec::new();
        let length = reader.read_until(b'\n', &mut text).map_err(failed)?;
        let mut rows: Vec<Row> = Vec::new();
        let (mut whole, mut sum) = (0, 0);
        if text.ends_with(b"\n") {
            let found: Header = serde_json::from_slice(&text).map_err(|_| foreign(&name, "form"))?;
            if let Some(what) = header.difference(&found) {
                return Err(foreign(&name, what));
            }
            (whole, sum) = (length as u64, xxh3_64_with_seed(&text, 0));
            loop {
                text.clear();
                let length = reader.read_until(b'\n', &mut text).map_err(failed)?;
                // A line that was cut off when the sweep was killed is worked out again; one that was changed is not believed.
                let Some(written) = text.strip_suffix(b"\n") else { break };
                let (row, next) = checked(written, sum).filter(|(row, _)| row.setting == rows.len()).ok_or_else(|| SweepError::Changed { path: name.clone() })?;
                sum = next;
                rows.push(row);
                whole += length as u64;
            }
        } else if !text.is_empty() && !line(header).map_err(failed)?.starts_with(&text) {
            // Not the beginning of our own first line: somebody else's file, which is left alone.
            return Err(foreign(&name, "form"));
        }
        file.set_len(whole).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let mut store = Store { path: name.clone(), file, sum };
        if whole == 0 {
            store.head(header)?;
        }
        Ok((store, rows))
    }

    /// Adds rows.
    pub fn append(&mut self, rows: &[Row]) -> Result<(), SweepError> {
        let mut lines = Vec::new();
        for row in rows {
            let body = serde_json::to_vec(row).map_err(|error| SweepError::File { path: self.path.clone(), error: error.into() })?;
            let body = body.strip_suffix(b"}").unwrap_or(&body);
            self.sum = xxh3_64_with_seed(body, self.sum);
            lines.push([body, CHECK, format!("{:016x}", self.sum).as_bytes(), b"\"}\n"].concat());
        }
        self.write(Ok(lines))
    }

    fn head(&mut self, header: &Header) -> Result<(), SweepError> {
        let line = line(header);
        self.sum = line.as_ref().map_or(0, |line| xxh3_64_with_seed(line, 0));
        self.write([line].into_iter().collect())
    }

    fn write(&mut self, lines: std::io::Result<Vec<Vec<u8>>>) -> Result<(), SweepError> {
        let written = lines.and_then(|lines| self.file.write_all(&lines.concat())).and_then(|()| self.file.sync_data());
        written.map_err(|error| SweepError::File { path: self.path.clone(), error })
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
