//! The command-line program: parse, run, turn the result into an exit code.

#![warn(clippy::indexing_slicing)]

use ctxsim::cli;

use std::process::ExitCode;

// A replay makes and drops many small lists.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // The allocator asks for pages of two megabytes, and small lists that live long lie far apart: a tenth of all memory stands empty. They bring no speed here.
    #[cfg(all(feature = "mimalloc", target_os = "linux"))]
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    match cli::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.exit(),
    }
}
