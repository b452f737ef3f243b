//! The command-line program: parse, run, turn the result into an exit code.

#![warn(clippy::indexing_slicing)]

mod cli;

use std::process::ExitCode;

// A replay makes and drops many small lists.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.exit(),
    }
}
