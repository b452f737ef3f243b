//! Where a policy's document goes.

use crate::cli::door::{Door, NONE_IS_OWN, WRITES};
use crate::cli::failure::Failure;
use crate::cli::print::print;
use crate::cli::target::{Ending, OUTPUT, Target, Writes};
use clap::Args;
use std::path::{Path, PathBuf};

/// A file, or standard output.
#[derive(Args, Debug)]
pub struct Written {
    /// Write into this file instead, in the form that its name ends in: FILE.toml, or what --format names
    #[arg(long, short, value_name = "PATH", alias = "out", help_heading = WRITES)]
    output: Option<PathBuf>,
    /// Write over a file that is there already
    #[arg(long, help_heading = WRITES)]
    force: bool,
}

impl Written {
    /// Prints a text or writes it into a file: in the form that the file's name ends in, else in that which is asked for, else in the first one
    /// of these.
    pub fn give(
        &self,
        door: &Door,
        writes: &Writes,
        asked: Option<Ending>,
        text: impl FnOnce(Ending) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        let usual = asked.or(writes.files.first().copied()).unwrap_or(Ending::Txt);
        match Target::of(OUTPUT, self.output.as_deref().unwrap_or(Path::new("-")), writes, asked)? {
            Target::File(path, ending) => {
                let place = door.file("output", &path, NONE_IS_OWN)?;
                door.put(&[(&place, &text(ending)?.into())])?;
                door.tell(&format!("wrote {}", path.display()));
                Ok(())
            }
            _ => print(&text(usual)?),
        }
    }
}
