//! What a reader is.

use super::ground::{ReadError, Source, sqlite};
use super::usage::placeholders;
use crate::transcript::{Scale, Transcript};

/// How sure a reader is that a file is its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// The file is not of this format.
    No,
    /// The general shape fits, and something beside it belongs to other formats: where no other reader wants the file, it is this format.
    Perhaps,
    /// The general shape fits; a more specific reader goes first.
    Maybe,
    /// A companion of another file (a part of a storage tree, an index): belongs to the format, is read with its main file.
    Companion,
    /// The file is of this format.
    Yes,
}

impl Claim {
    /// It is this format where that holds, and is not where it does not.
    pub fn when(holds: bool) -> Claim {
        if holds { Claim::Yes } else { Claim::No }
    }

    /// The claim on a database that holds these tables, or on the log or index of one; `None` for other files.
    pub fn of_database(source: &Source, tables: &[&str]) -> Option<Claim> {
        if sqlite::has_magic(source.head()) {
            return Some(Claim::when(sqlite::holds(source, tables)));
        }
        sqlite::is_side_file(source, tables).then_some(Claim::Companion)
    }
}

/// A recorded format: how files of it are told from others, and read.
pub struct Reader {
    /// The name used by `--format` and in reports.
    pub name: &'static str,
    /// What `ctxsim formats` says of the format, in one line.
    pub about: &'static str,
    /// Decides by the head of the file (the first 64 KiB, decompressed) and, where content cannot tell, by its path.
    pub claims: fn(&Source) -> Claim,
    /// Reads all sessions of the file, handing over each as soon as it is complete. [`Reader::sessions`] names those without an id.
    pub read: Read,
}

impl Reader {
    /// Reads all sessions of a source. One that its log gives no id has the file's name, and a number where the file holds more of them. Outputs that cannot be
    /// those of their replies are no recorded ones.
    pub fn sessions(&self, source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
        let name = source.name();
        let mut unnamed = 0;
        (self.read)(source, scale, &mut |mut transcript| {
            if transcript.id.is_empty() {
                unnamed += 1;
                transcript.id = if unnamed == 1 { name.clone() } else { format!("{name}#{unnamed}") };
            }
            // Claude Code's reader knows better: there the model writes a plan into a call's arguments, which its output does not count.
            let untrue = if transcript.agent == "claude-code" { Vec::new() } else { placeholders(&transcript.messages) };
            for place in untrue {
                let call = transcript.messages.get_mut(place).and_then(|message| message.call.as_mut());
                call.and_then(|call| call.usage.as_mut()).into_iter().for_each(|usage| usage.output_is_final = false);
            }
            hand_over(transcript);
        })
    }
}

/// Reads all sessions of a source, weighs their texts on the scale, and hands each session over.
pub type Read = fn(&mut Source, &dyn Scale, &mut dyn FnMut(Transcript)) -> Result<(), ReadError>;
