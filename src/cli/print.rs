//! What goes to stdout.

use super::failure::Failure;
use ctxsim::render::{Emphasis, Figures, Page};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;

/// The width of a page where the terminal does not say it.
pub const USUAL_WIDTH: usize = 80;

/// The page that stdout is.
pub fn page() -> Page {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let terminal = io::stdout().is_terminal();
    let wished = set("COLUMNS").and_then(|columns| columns.parse().ok());
    let measured = || terminal_size::terminal_size().filter(|_| terminal).map(|(width, _)| usize::from(width.0));
    let emphasis = if terminal && set("NO_COLOR").is_none() { Emphasis::Bold } else { Emphasis::Plain };
    Page { width: wished.or_else(measured).unwrap_or(USUAL_WIDTH), emphasis, figures: Figures::Exact }
}

/// Prints to stdout. A reader who goes away early has had enough: that is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    print_bytes(text.as_bytes())
}

/// The same of bytes.
pub fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Enough),
        Err(error) => Err(Failure::writing(Path::new("standard output"), &error)),
    }
}
