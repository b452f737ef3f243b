//! What a reader is.

use super::ground::{ReadError, Source};
use crate::transcript::{Scale, Transcript};

/// How sure a reader is that a file is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// Not this format.
    No,
    /// A companion of another file (a part of a storage tree, an index): belongs to the format, is read with its main file.
    Companion,
    /// The general shape fits; a more specific reader goes first.
    Maybe,
    /// It is this format.
    Yes,
}

impl Claim {
    /// It is this format where that holds, and is not where it does not.
    pub fn when(holds: bool) -> Claim {
        if holds { Claim::Yes } else { Claim::No }
    }
}

/// One recorded format.
pub struct Reader {
    /// The name used by `--format` and in reports.
    pub name: &'static str,
    /// One line for `ctxsim formats`.
    pub about: &'static str,
    /// Decides by the head of the file (the first 64 KiB, decompressed) and, where content cannot tell, by its path.
    pub claims: fn(&Source) -> Claim,
    /// Reads all sessions of the file, handing over each as soon as it is complete.
    pub read: Read,
}

/// Reads all sessions of a source, weighs their texts on the scale, and hands each session over.
pub type Read = fn(&mut Source, &dyn Scale, &mut dyn FnMut(Transcript)) -> Result<(), ReadError>;
