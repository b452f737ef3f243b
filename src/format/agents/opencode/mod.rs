//! Sessions of OpenCode, in all forms in which they are found: a file of `opencode export`, what `opencode run` prints, the tree of small JSON files of versions
//! before 1.2, and the SQLite database of versions since. OpenCode 2 has messages of another shape, in a table of their own.

mod export;
pub mod history;
mod printed;
mod record;
#[cfg(feature = "sqlite")]
mod rows;
mod second;
mod session;
mod sniff;
mod tree;
mod usage;

use crate::format::ground::{ReadError, Source};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::transcript::{Scale, Transcript};
use session::AGENT;
use sniff::Form;

#[cfg(not(feature = "sqlite"))]
use crate::format::ground::sqlite as rows;

/// Reads the sessions of OpenCode.
pub const READER: Reader = Reader {
    name: AGENT,
    about: "OpenCode: exported sessions (*.json), storage/session trees, opencode.db, run --format json",
    claims,
    read,
};

fn claims(source: &Source) -> Claim {
    match sniff::form(source) {
        Form::Unknown => Claim::No,
        Form::Companion => Claim::Companion,
        Form::Export | Form::Printed | Form::Tree | Form::Database => Claim::Yes,
    }
}

/// What the texts say. Later versions have a flag beside them.
const MARKS: &[Mark] = &[
    Mark::Line("(Output was truncated due to length limit)"),
    Mark::Line("(File has more lines. Use 'offset' parameter to read beyond line #)"),
    Mark::Line("(Results are truncated. Consider using a more specific path or pattern.)"),
    Mark::Line("(Output capped at # KB."),
    Mark::Line("...# bytes truncated..."),
    Mark::Line("...# lines truncated..."),
    Mark::Line("...output truncated..."),
];

/// Kilo Code, a fork with a database of its own name.
const KILO: (&str, &str) = ("kilo.db", "kilo");

fn read(source: &mut Source, scale: &dyn Scale, give: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let (database, name) = KILO;
    let of_kilo = source.name() == database;
    let give: &mut dyn FnMut(Transcript) = &mut |mut transcript| {
        if of_kilo {
            name.clone_into(&mut transcript.agent);
        }
        give(transcript);
    };
    match sniff::form(source) {
        Form::Export => export::read(source, scale, give),
        Form::Printed => printed::read(source, scale, give),
        Form::Tree => tree::read(source, scale, give),
        Form::Database => rows::read(source, scale, give),
        Form::Companion => Err(ReadError::Damaged("belongs to a session, and is read with the session's own file".to_owned())),
        Form::Unknown => Err(ReadError::Damaged("not a session of OpenCode".to_owned())),
    }
}
