//! The rows of a sweep in a file that only grows: a line that pins the sweep, then a line a setting. A sweep that was killed goes on
//! behind the last whole line.

use super::SweepError;
use super::run::Row;
use crate::experiment::corpus::Corpus;
use crate::policy::Policy;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Write};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

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
    name: String,
    out: Box<dyn Write>,
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
    /// Begins a file, which is named so in errors.
    pub fn begin(name: String, out: Box<dyn Write>, header: &Header) -> Result<Store, SweepError> {
        let mut store = Store { name, out };
        store.write([line(header)].into_iter().collect())?;
        Ok(store)
    }

    /// Goes on with a file, behind its last whole row.
    pub fn go_on(name: String, out: Box<dyn Write>) -> Store {
        Store { name, out }
    }

    /// The rows of a file that are whole, and how many bytes they take with the header. A file without a whole header, that may be the beginning of
    /// one, has none; any other file is somebody else's.
    pub fn known(name: &str, file: impl Read, header: &Header) -> Result<(Vec<Row>, u64), SweepError> {
        let failed = |error: std::io::Error| SweepError::File { path: name.to_owned(), error };
        let mut reader = BufReader::new(file);
        let mut text = Vec::new();
        let length = reader.read_until(b'\n', &mut text).map_err(failed)?;
        if !text.ends_with(b"\n") {
            let is_begun = text.is_empty() || line(header).map_err(failed)?.starts_with(&text);
            return if is_begun { Ok((Vec::new(), 0)) } else { Err(foreign(name, "form")) };
        }
        let found: Header = serde_json::from_slice(&text).map_err(|_| foreign(name, "form"))?;
        if let Some(what) = header.difference(&found) {
            return Err(foreign(name, what));
        }
        let (mut rows, mut whole): (Vec<Row>, u64) = (Vec::new(), length as u64);
        loop {
            text.clear();
            let length = reader.read_until(b'\n', &mut text).map_err(failed)?;
            let row = serde_json::from_slice::<Row>(&text).ok().filter(|row| text.ends_with(b"\n") && row.setting == rows.len());
            let Some(row) = row else { return Ok((rows, whole)) };
            rows.push(row);
            whole += length as u64;
        }
    }

    /// Adds rows.
    pub fn append(&mut self, rows: &[Row]) -> Result<(), SweepError> {
        self.write(rows.iter().map(line).collect())
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

/// A line of JSON.
fn line(value: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}
