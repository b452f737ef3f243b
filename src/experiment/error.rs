//! Why there is no answer: what was asked for cannot be, or the rows of a sweep are not as they were written.

use crate::policy::PolicyError;

/// Why a sweep, a search or a gate cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// What was asked for makes no sense; a sentence.
    #[error("{0}")]
    Asked(String),
    /// A policy refuses a parameter or a value.
    #[error("{0}")]
    Policy(#[from] PolicyError),
    /// The file of the rows cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file's name, as errors show it.
        path: String,
        /// The operating system's error.
        error: std::io::Error,
    },
    /// A row is not as the sweep wrote it.
    #[error("{path} is not as its sweep wrote it: a row does not fit its checksum; name another file")]
    Changed {
        /// The file's name.
        path: String,
    },
    /// The file of the rows is one of another sweep.
    #[error("{path} holds the rows of another sweep, with another {what}; name another file, or sweep as before")]
    Foreign {
        /// The file's name.
        path: String,
        /// The part of the header that differs: `corpus`, `settings`.
        what: &'static str,
    },
}
