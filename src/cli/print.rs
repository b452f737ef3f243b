//! What goes to stdout.

use super::content::{Content, Unwritten};
use super::failure::Failure;
use crate::render::{Emphasis, Figures, Page};
use clap::ValueEnum;
use std::io::{self, ErrorKind, IsTerminal};
use std::path::Path;
use std::sync::OnceLock;

/// The width of a page where the terminal does not say it.
pub const USUAL_WIDTH: usize = 80;

/// When output is emphasised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// In a terminal, as NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM=dumb have it
    #[default]
    Auto,
    /// In files and pipes too
    Always,
    /// Not even in a terminal
    Never,
}

static COLOR: OnceLock<Color> = OnceLock::new();

/// The page that stdout is.
pub fn page() -> Page {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let terminal = io::stdout().is_terminal();
    let wished = set("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
    let measured = || terminal_size::terminal_size().filter(|_| terminal).map(|(width, _)| usize::from(width.0));
    let color = COLOR.get().copied().unwrap_or_default();
    let emphasis = if color.is_on(terminal, &set) { Emphasis::Bold } else { Emphasis::Plain };
    Page { width: wished.or_else(measured).unwrap_or(USUAL_WIDTH), emphasis, figures: Figures::Exact }
}

/// Keeps what `--color` says, once for the run.
pub fn set_color(color: Color) {
    let _ = COLOR.set(color);
}

impl Color {
    /// Is output emphasised? `set` is a variable of the environment that holds something.
    fn is_on(self, terminal: bool, set: &dyn Fn(&str) -> Option<String>) -> bool {
        let is = |name: &str, value: &str| set(name).as_deref() == Some(value);
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if set("NO_COLOR").is_some() => false,
            Color::Auto if set("CLICOLOR_FORCE").is_some() && !is("CLICOLOR_FORCE", "0") => true,
            Color::Auto => terminal && !is("TERM", "dumb") && !is("CLICOLOR", "0"),
        }
    }
}

/// Prints to stdout. A reader who goes away early has had enough: that is no failure.
pub fn print(text: &str) -> Result<(), Failure> {
    print_content(&text.into())
}

/// The same of whatever a file may hold.
pub fn print_content(content: &Content<'_>) -> Result<(), Failure> {
    match content.write(&mut io::stdout().lock()) {
        Ok(()) => Ok(()),
        Err(Unwritten::Place(error)) if error.kind() == ErrorKind::BrokenPipe => Err(Failure::Enough),
        Err(unwritten) => Err(unwritten.of(Path::new("standard output"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_and_the_option_say_when_output_is_emphasised() {
        let auto = |terminal: bool, variables: &[(&str, &str)]| {
            let set = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            Color::Auto.is_on(terminal, &set)
        };
        assert!(auto(true, &[]) && !auto(false, &[]));
        assert!(!auto(true, &[("NO_COLOR", "1")]) && !auto(true, &[("TERM", "dumb")]) && !auto(true, &[("CLICOLOR", "0")]));
        assert!(auto(true, &[("CLICOLOR", "1")]) && auto(false, &[("CLICOLOR_FORCE", "1")]) && !auto(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!auto(true, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
        assert!(Color::Always.is_on(false, &|_| Some("1".to_owned())) && !Color::Never.is_on(true, &|_| None));
    }
}
