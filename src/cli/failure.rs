//! What can go wrong, and the exit code of each.

use crate::catalog::CatalogError;
use crate::corpus::{ConvertError, TraceFileError};
use crate::estimate::CounterError;
use crate::experiment::SweepError;
use crate::policy::PolicyError;
use crate::render::{RenderError, escape};
use crate::report::chart::NothingToDraw;
use std::borrow::Cow;
use std::io;
use std::process::ExitCode;

/// Why the program does not end with 0.
#[derive(Debug)]
pub enum Failure {
    /// A check that was asked for failed; a sentence for each.
    Check(Vec<String>),
    /// The command, a policy or the place for the output is wrong.
    Usage(String),
    /// There was nothing to read.
    NothingReadable(String),
    /// The same, with a list: a line each.
    NothingAmong(Vec<String>),
    /// Whoever read our output has had enough.
    Enough,
}

/// So many letters of a sentence are shown.
const LONGEST: usize = 2_000;

impl Failure {
    /// How a command ends whose checks found these complaints.
    pub fn checked(complaints: Vec<String>) -> Result<(), Failure> {
        if complaints.is_empty() { Ok(()) } else { Err(Failure::Check(complaints)) }
    }

    /// Says what is wrong, and gives the exit code.
    pub fn exit(self) -> ExitCode {
        let (sentences, code) = match self {
            Failure::Check(sentences) => (sentences, 1),
            Failure::Usage(sentence) => (vec![sentence], 2),
            Failure::NothingReadable(sentence) => (vec![sentence], 3),
            Failure::NothingAmong(lines) => {
                say("error", &lines);
                (Vec::new(), 3)
            }
            Failure::Enough => (Vec::new(), 0),
        };
        sentences.into_iter().for_each(|sentence| say("error", &[sentence]));
        ExitCode::from(code)
    }

    /// What happened to a file that was to be written.
    pub fn writing(path: &std::path::Path, error: &io::Error) -> Failure {
        Failure::Usage(format!("{} cannot be written: {error}", path.display()))
    }
}

/// Says a sentence on stderr, as one line: a name from outside that holds the end of a line begins none.
pub fn tell(sentence: &str) {
    say("ctxsim", &[sentence.to_owned()]);
}

/// The sentence; of one that repeats a word of any length, both ends.
fn shown(line: &str) -> Cow<'_, str> {
    let length = line.chars().count();
    if length <= LONGEST {
        return Cow::Borrowed(line);
    }
    let part = |from: usize| line.chars().skip(from).take(LONGEST / 2).collect::<String>();
    Cow::Owned(format!("{} … {}", part(0), part(length - LONGEST / 2)))
}

/// Says several lines, behind who says them or what they are.
fn say(what: &str, lines: &[String]) {
    use std::io::Write;
    let lines: Vec<_> = lines.iter().map(|line| escape(&shown(line)).into_owned()).collect();
    // No caller is left that could report a failure here.
    let _ = writeln!(io::stderr(), "{what}: {}", lines.join("\n"));
}

/// These errors are the user's to mend.
macro_rules! usage {
    ($($error:ty),+) => { $(impl From<$error> for Failure {
        fn from(error: $error) -> Failure {
            Failure::Usage(error.to_string())
        }
    })+ };
}
usage!(PolicyError, CatalogError, CounterError, RenderError, ConvertError, TraceFileError);

impl From<NothingToDraw> for Failure {
    fn from(nothing: NothingToDraw) -> Failure {
        match nothing {
            NothingToDraw::Nothing(_) => Failure::NothingReadable(nothing.to_string()),
            NothingToDraw::Asked(sentence) => Failure::Usage(sentence),
        }
    }
}

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Failure {
        match error {
            SweepError::File { path, error } if path == "-" && error.kind() == io::ErrorKind::BrokenPipe => Failure::Enough,
            other => Failure::Usage(other.to_string()),
        }
    }
}
